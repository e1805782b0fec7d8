"""Loads ``zarr_core/install.py`` alone, without the rest of ``zarr_core``: Python starts with ``ZARR_CORE=1``."""

from importlib.machinery import SourceFileLoader
from os.path import abspath, dirname, join
from types import ModuleType

_module = ModuleType("zarr_core.install")
_module.__file__ = join(dirname(abspath(__file__)), "zarr_core", "install.py")
SourceFileLoader(_module.__name__, _module.__file__).exec_module(_module)
