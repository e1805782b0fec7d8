"""The version of the installed distribution."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _installed

try:
    version = _installed("zarr")
except PackageNotFoundError:  # a source tree that was never installed
    version = "3.4.2+core.0.1.0"

__version__ = version
