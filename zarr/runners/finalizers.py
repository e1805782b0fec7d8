"""The last calls: finalizers (``__del__``) that run when the interpreter has forgotten its modules.

Nothing can be loaded then any more, not even found that was loaded. So what they may need is loaded and kept when the
interpreter begins to end, which it tells by ``atexit``; where nobody has a finalizer to come, nothing is done.
"""

from __future__ import annotations

import gc
import sys
import warnings
from contextlib import suppress
from typing import Any, Final

import zarr_core
from zarr._lazy import keep_all, load

_PACKAGES: Final = frozenset({"zarr", "zarr_core", "numcodecs", "asyncio", "concurrent", "logging"})

_OWN: Final = frozenset({*sys.stdlib_module_names, "zarr", "zarr_core", "numpy", "numcodecs"})
"""Packages whose finalizers do not use arrays."""


_OF_COMPILERS: Final = "_cython_"

_HEAP_TYPE: Final = 1 << 9
"""Of the flags of a type: it was made by a ``class`` statement, or the like of it."""


def foreign_finalizers() -> tuple[type, ...]:
    """All classes with a ``__del__`` that may use arrays.

    Examples
    --------
    >>> class Late:
    ...     __module__ = "yours"
    ...     def __del__(self): ...
    >>> Late in foreign_finalizers()
    True
    """
    subclasses = type.__subclasses__
    found, seen, classes = [], {object}, [object]
    for cls in classes:
        for sub in subclasses(cls):
            if sub not in seen:
                seen.add(sub)
                classes.append(sub)
                if "__del__" in sub.__dict__ and (sub.__flags__ & _HEAP_TYPE):
                    found.append(sub)
    return tuple(cls for cls in found if not cls.__module__.startswith(_OF_COMPILERS) and _package(cls) not in _OWN)


def _package(cls: type) -> str:
    return cls.__module__.partition(".")[0]


def are_to_come() -> bool:
    """Whether there is an object whose finalizer may use arrays.

    Examples
    --------
    >>> import io
    >>> are_to_come() in (True, False)
    True
    """
    classes = foreign_finalizers()
    return bool(classes) and any(isinstance(found, classes) for found in gc.get_objects())


def prepare() -> None:
    """Load and keep what operations on arrays and groups may need, if there is a finalizer to come."""
    if not are_to_come():
        return
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for zarr_format in (2, 3):
            rehearse(zarr_format)
    for name in zarr_core.__all__:  # what is loaded only when it is asked for
        getattr(zarr_core, name)
    keep_all(_PACKAGES)


def rehearse(zarr_format: int) -> None:
    """Do the usual things once, in memory: NumPy, too, loads at the first use what a function needs."""
    library: Any = load("zarr")
    group = library.create_group({}, attributes={"a": 1}, zarr_format=zarr_format)
    shards = None if zarr_format == 2 else (4, 4)
    array = group.create_array("x", shape=(4, 4), chunks=(2, 2), shards=shards, dtype="f8")
    array.append(array[...])
    array.resize((4, 4))
    array[1:3, 1] = 5
    array.oindex[[0, 2], [1]] = array.oindex[[0, 2], [1]]
    array.vindex[[0, 2], [1, 3]] = array.vindex[[0, 2], [1, 3]]
    array.blocks[0, 0] = array.blocks[0, 0]
    array.read_many([(0, 1), (2, slice(None))])
    with array.batch():
        array[0] = 2
    array.attrs["b"] = 2
    group.attrs["b"] = 2
    group.create_group("y")["z"] = array[...]
    group.move("y", "u")
    str(group.tree())
    repr((array.info, array, array.dtype, array.metadata, array[...]))
    list(group.members())
    library.consolidate_metadata(group.store)
    with library.transaction(group.store) as staged:
        library.open_array(staged, path="x")[0] = 3
    del group["x"]
