"""Modules that are loaded at their first use, because many programs never come to it."""

from __future__ import annotations

import importlib
import os
import sys
import time
from _thread import RLock, get_ident
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any, Final

FORK_WAIT_SECONDS: Final = 5.0
"""How long a fork waits for what other threads are loading: the child would wait for it for ever."""

_unloaded: list[LazyModule] = []

_loading: dict[object, int] = {}
"""What is being loaded now, and by which threads."""
_gate = RLock()
"""Held from the moment in which no other thread is loading anything until the process has been forked."""

KEPT: dict[str, ModuleType] = {}
"""What finalizers find that run after the interpreter has forgotten its modules."""


def load(name: str) -> ModuleType:
    """Load a module, or find it where it was kept for the time when nothing can be loaded any more.

    Examples
    --------
    >>> load("json").__name__
    'json'
    """
    kept = KEPT.get(name)
    if kept is not None:
        return kept
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
    for mine, thread in list(_loading.items()):
        if thread != me:
            del _loading[mine]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child
    )


def loaded(name: str) -> ModuleType | None:
    """Return a module if it was loaded before, else None.

    Examples
    --------
    >>> loaded("no_such_module") is None
    True
    """
    return KEPT.get(name) or sys.modules.get(name)


def keep_all(packages: Collection[str]) -> None:
    """Keep the modules of some packages for what runs after the interpreter has forgotten its own list of them.

    Parameters
    ----------
    packages
        Names without dots; all that was loaded of them is kept.
    """
    for lazy in tuple(_unloaded):
        if lazy.package in packages:
            with suppress(ImportError, RuntimeError):  # pools of threads refuse to be loaded when there are none
                lazy.stand_in()
    KEPT.update((name, module) for name, module in tuple(sys.modules.items()) if name.partition(".")[0] in packages)


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
        module = load(self._name)
        # From now on its names are found like those of any module, and who replaces one, as tests do, replaces it here.
        self.__dict__ = vars(module)
        return getattr(module, attribute)

    def find(self) -> bool:
        """Stand for the module for good if somebody has loaded it."""
        module = loaded(self._name)
        if module is None:
            return False
        self.__dict__ = vars(module)
        return True

    @property
    def package(self) -> str:
        """The package that the module belongs to."""
        return self._name.partition(".")[0]

    def stand_in(self) -> None:
        """Load the module now."""
        self.__dict__ = vars(load(self._name))

    def __repr__(self) -> str:
        return f"LazyModule({self._name!r})"


def load_all(*names: str) -> None:
    """Load modules that must be there before the interpreter ends, because finalizers cannot load any.

    Examples
    --------
    >>> load_all("json")
    """
    for name in names:
        load(name)
    _unloaded[:] = [lazy for lazy in _unloaded if not lazy.find()]


def instance_of(value: object, module: str, name: str) -> bool:
    """Return whether a value is an instance of a class, without loading the module of the class: unloaded, it has none.

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
    return isinstance(value, getattr(KEPT.get(module) or sys.modules.get(module), name, ()))


def loaded_class(module: str, name: str) -> Any:
    """Return a class to ask for with ``isinstance``, of a module that need not be loaded: nothing is one of it then.

    Examples
    --------
    >>> loaded_class("fractions", "no_such_class")
    ()
    """
    return getattr(KEPT.get(module) or sys.modules.get(module), name, ())


def submodule(package: str, name: str) -> ModuleType:
    """Return a module of a package that is asked for as an attribute before anybody has imported it.

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
            found = getattr(load(homes[name]), name)
            # Found once, it is a name like any other.
            vars(load(package))[name] = found
            return found
        return submodule(package, name)

    def __dir__() -> list[str]:
        known = loaded(package)
        return sorted({*(vars(known) if known else ()), *listed})

    return __getattr__, __dir__
