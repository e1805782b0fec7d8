"""Modules that are loaded at their first use, because many programs never come to it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

_unloaded: list[LazyModule] = []


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

    __slots__ = ("__dict__", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        if not self.find():
            _unloaded.append(self)

    def __getattr__(self, attribute: str) -> Any:
        module = importlib.import_module(self._name)
        # From now on its names are found like those of any module, and who replaces one, as tests do, replaces it here.
        self.__dict__ = vars(module)
        return getattr(module, attribute)

    def find(self) -> bool:
        """Stand for the module for good if somebody has loaded it."""
        module = sys.modules.get(self._name)
        if module is None:
            return False
        self.__dict__ = vars(module)
        return True

    def __repr__(self) -> str:
        return f"LazyModule({self._name!r})"


def load_all(*names: str) -> None:
    """Load modules that must be there before the interpreter ends, because finalizers cannot load any.

    Examples
    --------
    >>> load_all("json")
    """
    for name in names:
        importlib.import_module(name)
    _unloaded[:] = [lazy for lazy in _unloaded if not lazy.find()]


def instance_of(value: object, module: str, name: str) -> bool:
    """Whether a value is an instance of a class, without loading the module of the class: unloaded, it has none.

    Parameters
    ----------
    value
    module, name
        Where the class is.

    Examples
    --------
    >>> instance_of(1, "fractions", "Fraction")
    False
    """
    return isinstance(value, getattr(sys.modules.get(module), name, ()))


def loaded_class(module: str, name: str) -> Any:
    """A class to ask for with ``isinstance``, of a module that need not be loaded: unloaded, nothing is one of it.

    Examples
    --------
    >>> loaded_class("fractions", "no_such_class")
    ()
    """
    return getattr(sys.modules.get(module), name, ())


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
    if not name.startswith("__"):
        try:
            return importlib.import_module(f"{package}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":
                raise
    raise AttributeError(f"module {package!r} has no attribute {name!r}")


def _homes(names: Mapping[str, str]) -> dict[str, str]:
    """Return the module of each name."""
    return {name: module for module, listed in names.items() for name in listed.split()}


def lazy_names(
    package: str, names: Mapping[str, str], unlisted: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package whose names are loaded when somebody asks for them.

    The modules of the package answer, too, whether or not something has imported them before.

    Parameters
    ----------
    package
        Its name: ``__name__`` where this is called.
    names
        For each module the names that it defines, with blanks between them.
    unlisted
        The same of names that ``dir`` does not show.

    Examples
    --------
    >>> get, names = lazy_names("json", {"json.decoder": "JSONDecoder"})
    >>> get("JSONDecoder").__name__, get("scanner").__name__, "JSONDecoder" in names()
    ('JSONDecoder', 'json.scanner', True)
    """
    listed = _homes(names)
    homes = listed | _homes(unlisted or {})

    def __getattr__(name: str) -> Any:
        if name in homes:
            found = getattr(importlib.import_module(homes[name]), name)
            # Found once, it is a name like any other.
            vars(sys.modules[package])[name] = found
            return found
        return submodule(package, name)

    def __dir__() -> list[str]:
        loaded = vars(sys.modules[package]) if package in sys.modules else {}
        return sorted({*loaded, *listed})

    return __getattr__, __dir__
