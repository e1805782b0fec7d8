"""Abilities of a store, which decide how it is called: plain methods or coroutines, many keys at once, contents first.

A store of this library has several ways to one value: the coroutine, the plain method, and calls for many values at
once. They have the same effect unless one of them was replaced, in a subclass or on one store object. A method that a
subclass or a test has replaced is always called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, Literal, NamedTuple, cast

from zarr.buffer.core import Buffer
from zarr.types import BytesLike

_TWINS = (
    "get",
    "set",
    "delete",
    "exists",
    "getsize",
    "list",
    "list_prefix",
    "list_dir",
    "delete_dir",
    "set_if_not_exists",
    "get_ranges",
)
OWN_NAMES = frozenset([*_TWINS, *[f"{name}_sync" for name in _TWINS]])
ENDS: Final = ("", "_sync")


def _depth(cls: type, name: str) -> int:
    """Return the depth of the class that defines a name in the order of inheritance; a large number if none does.

    Classes marked ``passed_over`` only add the calls of zarr-python 2.
    """
    levels = (i for i, base in enumerate(cls.__mro__) if name in vars(base) and "passed_over" not in vars(base))
    return next(levels, 1 << 30)


def plain_method(store: object, name: str) -> Any:
    """Return a plain method of a store.

    Raises
    ------
    TypeError
        If the store has coroutines only.
    """
    method = getattr(store, name, None)
    if method is None:
        verb = name.removesuffix("_sync")
        raise TypeError(f"Store {type(store).__name__} does not support synchronous {verb}.")
    return method


def takes_contents_first(store: object) -> bool:
    """Return True if a store accepts chunks before their metadata document, as the stores of this library do.

    The attribute ``contents_first`` declares it; wrappers return that of the wrapped store. Readers of these stores
    never find a document without its data, and a killed writer leaves the old state or the new one. All other stores
    may compare chunks with the stored documents; they get the requests in the order of zarr-python.

    Parameters
    ----------
    store
        The store.

    Returns
    -------
    bool

    Examples
    --------
    >>> from zarr.abc.store import takes_contents_first
    >>> from zarr.storage import MemoryStore
    >>> takes_contents_first(MemoryStore()), takes_contents_first(object())
    (True, False)
    """
    return getattr(store, "contents_first", False) is True


@cache
def class_is_synchronous(cls: type) -> bool:
    """Return True if no coroutine of a class was overridden below the plain method with the same effect."""
    return all(_depth(cls, f"{name}_sync") <= min(_depth(cls, name), 1 << 29) for name in _TWINS)


def is_synchronous(store: object) -> bool:
    """Return True if the plain methods of a store have the same effect as its coroutines.

    That is so if each plain method is defined in the class that defines its coroutine, or below it: in a subclass that
    overrides only the coroutine ``get``, the coroutine must be called. A wrapper answers for the store that it wraps by
    an attribute ``synchronous``.

    Parameters
    ----------
    store
        The store.

    Returns
    -------
    bool

    Examples
    --------
    >>> from zarr.abc.store import is_synchronous
    >>> is_synchronous(object())
    False
    """
    kind: Any = type(store)
    if not class_is_synchronous(kind) or not getattr(store, "synchronous", True):
        return False
    own = getattr(store, "__dict__", {})
    if OWN_NAMES.isdisjoint(own):
        return True
    return not any(name in own and f"{name}_sync" not in own for name in _TWINS)


def _is_foreign(cls: type, method: str) -> bool:
    """Return True if a class outside this library defines a method."""
    return getattr(getattr(cls, method, None), "__module__", "zarr").partition(".")[0] != "zarr"


@cache
def class_opens_itself(cls: type) -> bool:
    """Return True if a store of a class may have to be opened before it is used; see ``opens_itself``."""
    return hasattr(cls, "synchronous") or _is_foreign(cls, "_open")


def opens_itself(store: Any) -> bool:
    """Return True if a class outside this library defines how a store is opened: then it is opened before it is used.

    The stores of this library open with their first request; a wrapper opens the store that it wraps.
    """
    cls: Any = type(store)
    if not class_opens_itself(cls):
        return False
    return _is_foreign(cls, "_open") or opens_itself(getattr(store, "_store", None))


_READS = frozenset(["get", "get_sync"])
_PARTIAL_READS = frozenset([*_READS, "get_ranges", "get_ranges_sync"])
_WHOLE_VALUES = frozenset([*_READS, "set", "set_sync"])
_MOVES = frozenset([*_PARTIAL_READS, "set", "set_sync", "delete", "delete_sync"])
_CREATIONS = frozenset(["set_if_not_exists", "set_if_not_exists_sync"])


@cache
def _class_serves(cls: type, method: str, simpler: frozenset[str]) -> bool:
    return _depth(cls, method) <= min(1 << 29, *(_depth(cls, name) for name in simpler))


def _serving(store: Any, method: str, simpler: frozenset[str]) -> Callable[..., Any] | None:
    """Return a method that replaces simpler ones; None if there is none, or a simpler one is overridden."""
    served = _class_serves(cast("Any", type(store)), method, simpler)
    return getattr(store, method) if served and simpler.isdisjoint(getattr(store, "__dict__", ())) else None


def get_many_of(store: Any) -> Callable[..., Sequence[Buffer | None]] | None:
    """Return the method ``get_many_sync`` of a store; None if there is none, or single reads are overridden.

    Parameters
    ----------
    store
        The store.

    Returns
    -------
    callable or None

    Examples
    --------
    >>> from zarr.abc.store import get_many_of
    >>> get_many_of(object()) is None
    True
    """
    return _serving(store, "get_many_sync", _READS)


def stamp_of_store(store: Any) -> Callable[[str], Any] | None:
    """Return the method ``stamp_sync`` of a store; None if there is none, or reads are overridden.

    A store may offer ``stamp_sync(key)``: an object that compares equal for one and the same value of the key only, or
    None if there is no such object. Decoded chunks are kept by it.

    Parameters
    ----------
    store
        The store.

    Returns
    -------
    callable or None

    Examples
    --------
    >>> from zarr.abc.store import stamp_of_store
    >>> stamp_of_store(object()) is None
    True
    """
    return _serving(store, "stamp_sync", _READS)


def gives_fresh_stamps(store: Any) -> bool:
    """Return True if a store has the method ``fresh_stamp_sync``, and neither reads nor writes are overridden.

    ``fresh_stamp_sync(key)`` returns the number of bytes of a value and a stamp. If the answer is equal just after
    the value was stored and later, the value is still the same. It is None if that cannot be known.

    Parameters
    ----------
    store
        The store.

    Examples
    --------
    >>> gives_fresh_stamps(object())
    False
    """
    return _serving(store, "fresh_stamp_sync", _WHOLE_VALUES) is not None


def versioned_of(store: Any) -> Callable[..., Any] | None:
    """Return the method ``get_versioned`` of a store; None if there is none, or reads are overridden.

    A store may offer ``get_versioned(key, prototype, byte_range, version)``, a coroutine that returns a range and the
    version of the value it was read from (None if the value has none). If a version is given, it raises
    :class:`zarr.errors.ValueReplacedError` unless the value still has it. A wrapper answers for the store that it wraps
    by an attribute ``gives_versions``; it is False, too, for one whose plain reads shall not come from that store.

    Parameters
    ----------
    store
        The store.

    Returns
    -------
    callable or None

    Examples
    --------
    >>> from zarr.abc.store import versioned_of
    >>> versioned_of(object()) is None
    True
    """
    return _serving(store, "get_versioned", _PARTIAL_READS) if getattr(store, "gives_versions", True) else None


def compares_versions(store: Any) -> bool:
    """Return True if a store replaces a value on the condition that it still has the version that was read.

    Besides ``get_versioned`` (see :func:`versioned_of`), which then takes None for the whole value, a store may offer
    ``set_if_version(key, value, version)``: a coroutine that stores the value if the key still has this version (None:
    no value), and returns True if it did. A wrapper answers for the store that it wraps by an attribute
    ``replaces_versions``.

    Parameters
    ----------
    store
        The store.

    Examples
    --------
    >>> compares_versions(object())
    False
    """
    if not getattr(store, "replaces_versions", True) or _serving(store, "set_if_version", _WHOLE_VALUES) is None:
        return False
    return _serving(store, "get_versioned", _PARTIAL_READS) is not None and bool(store.supports_set_if_match)


def open_value_of(store: Any) -> Callable[[str], Any] | None:
    """Return the method ``open_value_sync`` of a store; None if there is none, or reads are overridden.

    A store may offer ``open_value_sync(key)``: a context manager that gives a function which reads ranges of the
    present value of the key. The function reads that value also after another thread or process has replaced it. It is
    None if the key has no value.

    Parameters
    ----------
    store
        The store.

    Returns
    -------
    callable or None

    Examples
    --------
    >>> from zarr.abc.store import open_value_of
    >>> open_value_of(object()) is None
    True
    """
    return _serving(store, "open_value_sync", _PARTIAL_READS)


@cache
def _class_moves_in_bulk(cls: type) -> bool:
    return class_is_synchronous(cls) and _class_serves(cls, "bulk_access", _MOVES)


def bulk_access_of(store: Any) -> BulkAccess | None:
    """Return how a store moves many values at once; None if single reads, writes or deletions are overridden.

    They are overridden by a subclass, or by a test that replaced such a method on one store object: these methods must
    be called for every value.

    Parameters
    ----------
    store
        The store.

    Returns
    -------
    BulkAccess or None

    Examples
    --------
    >>> from zarr.abc.store import bulk_access_of
    >>> from zarr.storage import MemoryStore
    >>> class Counting(MemoryStore):
    ...     def get_sync(self, key, **options):
    ...         return super().get_sync(key, **options)
    >>> bulk_access_of(Counting()) is None, bulk_access_of(MemoryStore()).kind
    (True, 'buffers')
    """
    kind: Any = type(store)
    if not _class_moves_in_bulk(kind) or not OWN_NAMES.isdisjoint(getattr(store, "__dict__", ())):
        return None
    access: BulkAccess | None = store.bulk_access()
    return access


AT_HAND = ("files", "memory")
"""Kinds of bulk transfer of stores that may be listed without a request of the user: folders and memory."""


def bulk_kind(store: object) -> str | None:
    """Return how the chunks of a store are moved in bulk: "files", "memory", "buffers", or None for one by one.

    A store of coroutines gets many requests at a time.

    Parameters
    ----------
    store
        The store.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> bulk_kind(MemoryStore())
    'memory'
    """
    access = bulk_access_of(store)
    if access is not None:
        return "memory" if access.in_place else access.kind
    return None if is_synchronous(store) else "buffers"


@cache
def class_goes_by(cls: type, single: str, *others: str) -> bool:
    """Return the result of :func:`goes_by` for the stores of a class.

    Parameters
    ----------
    single : str
        The name of the simpler method.
    *others : str
        The names of the other methods.
    """
    coroutine, plain = (_depth(cls, f"{single}{end}") for end in ENDS)
    depth = min(_depth(cls, f"{other}{end}") for other in others for end in ENDS)
    if min(plain, coroutine) >= depth or depth == 1 << 30:
        return False
    if cls.__mro__[depth].__module__.startswith("zarr.abc."):
        return coroutine < plain < 1 << 30  # an inherited method calls the simpler one; the plain form, if there is one
    return True


def goes_by(store: Any, single: str, *others: str) -> bool:
    """Return True if a call must be replaced by simpler ones, since these are overridden and it is not.

    A subclass that overrides ``set`` receives new nodes, too, though ``set_if_not_exists`` could store them; one that
    overrides ``delete`` receives each key of a deleted group, though ``delete_dir`` could remove them all.

    Parameters
    ----------
    store
        The store.
    single
        The name of the simpler method.
    *others : str
        The names of the other methods.

    Returns
    -------
    bool

    Examples
    --------
    >>> from zarr.abc.store import goes_by
    >>> from zarr.storage import MemoryStore
    >>> class Counting(MemoryStore):
    ...     async def delete(self, key):
    ...         await super().delete(key)
    >>> goes_by(Counting(), "delete", "delete_dir"), goes_by(MemoryStore(), "delete", "delete_dir")
    (True, False)
    """
    own = getattr(store, "__dict__", ())
    if (single in own or f"{single}_sync" in own) and not any(f"{name}{end}" in own for name in others for end in ENDS):
        return True
    return class_goes_by(cast("Any", type(store)), single, *others)


def put_if_absent_of(store: Any) -> Callable[..., Any] | None:
    """Return the method ``put_if_absent`` of a store; None if there is none, or simpler writes are overridden.

    A store may offer ``put_if_absent(key, value)``: a coroutine that stores the value if the key has none, and returns
    True if this call stored it, which is so for one of several simultaneous calls.

    Parameters
    ----------
    store
        The store.

    Returns
    -------
    callable or None

    Examples
    --------
    >>> put_if_absent_of(object()) is None
    True
    """
    if goes_by(store, "set", "set_if_not_exists", "put_if_absent"):
        return None
    return _serving(store, "put_if_absent", _CREATIONS)


class BulkAccess(NamedTuple):
    """Access of the compiled core to many keys of a store at once.

    Parameters
    ----------
    kind
        "files": every key is a file below ``root``, and the core opens it itself. "buffers": the two functions pass the
        bytes of many keys.
    root
        The folder, for "files".
    get_many
        Takes keys, returns for each its bytes or None; for "buffers".
    set_many
        Takes pairs of a key and its bytes, or None to delete the key. None if the store is read-only.
    fsync
        If True, files are synchronised to the disk before they become visible; for "files".
    in_place
        If True, ``get_many`` returns memory without a copy, so that a small part of a large value is cheap.
    """

    kind: Literal["files", "buffers"]
    root: str | None = None
    get_many: Callable[[list[str]], list[BytesLike | None]] | None = None
    set_many: Callable[[list[tuple[str, BytesLike | None]]], None] | None = None
    fsync: bool = False
    in_place: bool = False
