"""Modules that are loaded at their first use, because many programs never come to it."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class LazyModule:
    """Stands for a module until somebody asks it for a name; the module itself answers then, and ever after.

    Parameters
    ----------
    name
        The module, which must be one that is always installed: a missing one would be noticed late.

    Examples
    --------
    >>> LazyModule("json").dumps([1])
    '[1]'
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        # Asked for each time: who replaces a function of the module, as tests do, replaces it here too.
        return getattr(importlib.import_module(self._name), attribute)

    def __repr__(self) -> str:
        return f"LazyModule({self._name!r})"


def submodule(package: str, name: str) -> ModuleType:
    """A module of a package that is asked for as an attribute before anybody has imported it.

    Raises
    ------
    AttributeError
        There is none of that name.

    Examples
    --------
    >>> submodule("zarr", "errors").__name__
    'zarr.errors'
    """
    if name.startswith("__") or find_spec(f"{package}.{name}") is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return importlib.import_module(f"{package}.{name}")
