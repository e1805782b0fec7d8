"""Load modules at their first use, because many programs never use them."""

from __future__ import annotations

import importlib
import sys
import time
from _thread import RLock, get_ident
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

from zarr._process import FORK_WAIT_SECONDS, at_fork

_loading: dict[object, int] = {}
"""The modules that are being loaded now, each with its thread."""
_gate = RLock()
"""Held by a fork from the moment in which no other thread loads a module, until the process has been forked."""


def load(name: str) -> ModuleType:
    """Load a module; a fork waits until it is loaded.

    Examples
    --------
    >>> load("json").__name__
    'json'
    """
    mine = object()
    try:
        with _gate:
            _loading[mine] = get_ident()
        return importlib.import_module(name)
    finally:
        _loading.pop(mine, None)


def _before_fork() -> None:
    me, deadline = get_ident(), time.monotonic() + FORK_WAIT_SECONDS
    while True:
        _gate.acquire()
        if all(thread == me for thread in list(_loading.values())) or time.monotonic() > deadline:
            return
        _gate.release()
        time.sleep(0.001)


def _after_fork_in_parent() -> None:
    with suppress(RuntimeError):  # Ctrl-C came while the fork waited
        _gate.release()


def _after_fork_in_child() -> None:
    global _gate
    _gate, me = RLock(), get_ident()
    for mine, thread in _loading.copy().items():
        if thread != me:
            del _loading[mine]


at_fork(_before_fork, _after_fork_in_parent, _after_fork_in_child)


def load_extra(name: str, extra: str, needed_by: str) -> Any:
    """Load a package that is installed with an extra of this library.

    Parameters
    ----------
    name, extra
        The package, and the extra that brings it.
    needed_by
        The feature that needs it, for the message.

    Raises
    ------
    ImportError
        If it is not installed (then ModuleNotFoundError) or cannot be loaded; the message says how to install it.
    """
    try:
        return load(name)
    except ImportError as error:
        message = f"{needed_by} needs the package {name.partition('.')[0]}: pip install 'zarr[{extra}]'"
        raise type(error)(message, name=name) from error


class LazyModule:
    """Stand for a module until one of its names is read; then load the module and read its names from there.

    Parameters
    ----------
    name
        The module, which must be one that is always installed; a missing module would be noticed late.

    Examples
    --------
    >>> LazyModule("json").dumps([1])
    '[1]'
    """

    __slots__ = ("__dict__", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        module = sys.modules.get(name)
        if module is not None:
            self.__dict__ = vars(module)

    def __getattr__(self, attribute: str) -> Any:
        module = load(self._name)
        # From now on its names are found like those of any module; a test that replaces a name replaces it here.
        self.__dict__ = vars(module)
        return getattr(module, attribute)

    def __repr__(self) -> str:
        return f"LazyModule({self._name!r})"


def instance_of(value: object, module: str, name: str) -> bool:
    """Return True if a value is an instance of a class, without loading its module; False if it is not loaded.

    Parameters
    ----------
    value
    module, name
        The module and the name of the class.

    Examples
    --------
    >>> instance_of(1, "fractions", "Fraction")
    False
    """
    return isinstance(value, getattr(sys.modules.get(module), name, ()))


def loaded_class(module: str, name: str) -> Any:
    """Return a class for ``isinstance`` if its module is loaded; else a class without instances.

    Examples
    --------
    >>> loaded_class("fractions", "no_such_class")
    ()
    """
    return getattr(sys.modules.get(module), name, ())


def submodule(package: str, name: str) -> ModuleType:
    """Return a module of a package that is read as an attribute before it was imported.

    Raises
    ------
    AttributeError
        If the package has no such module.

    Examples
    --------
    >>> submodule("zarr", "errors").__name__
    'zarr.errors'
    """
    if not name.startswith("__"):
        try:
            return load(f"{package}.{name}")
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
    """Return the ``__getattr__`` and ``__dir__`` of a package whose names are loaded at their first use.

    The modules of the package are found as attributes, also before any code has imported them.

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
            found = getattr(load(homes[name]), name)
            # After the first look-up it is a name like any other.
            vars(load(package))[name] = found
            return found
        return submodule(package, name)

    def __dir__() -> list[str]:
        return sorted({*vars(load(package)), *listed})

    return __getattr__, __dir__


def lazy_door(
    package: str, names: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__`` and ``__dir__`` of :func:`lazy_names`, and the ``__all__`` of the same names.

    Examples
    --------
    >>> lazy_door("json", {"json.encoder": "JSONEncoder", "json.decoder": "JSONDecoder"})[2]
    ['JSONDecoder', 'JSONEncoder']
    """
    return *lazy_names(package, names), sorted(_homes(names))


# Modules of other packages that are loaded at their first use: import them from here.
if TYPE_CHECKING:
    import asyncio as asyncio
    import base64 as base64
    import binascii as binascii
    import dataclasses as dataclasses
    import hashlib as hashlib
    import html as html
    import shutil as shutil
    from importlib import metadata as metadata

    import numcodecs as numcodecs
else:
    asyncio, base64, binascii = LazyModule("asyncio"), LazyModule("base64"), LazyModule("binascii")
    dataclasses, hashlib, html = LazyModule("dataclasses"), LazyModule("hashlib"), LazyModule("html")
    metadata, numcodecs, shutil = LazyModule("importlib.metadata"), LazyModule("numcodecs"), LazyModule("shutil")
