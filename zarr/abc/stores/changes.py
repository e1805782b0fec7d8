"""Changes of several values: parts that are replaced, a renaming, the order in which nodes are removed, stages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from zarr.abc.stores.abilities import OWN_NAMES, class_is_synchronous, takes_contents_first
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.types import METADATA_NAMES, BytesLike

PartialValue = tuple[str, int, "Buffer | BytesLike"]
"""A key, the offset in bytes, and the bytes to write there."""

_SINGLE: Final = ("get", "set", "delete", "get_sync", "set_sync", "delete_sync")


def sees_to_values(cls: type, owner: type, names: Iterable[str] = _SINGLE) -> bool:
    """Return True if a class below ``owner`` overrides reads or writes of single values, or methods of these names."""
    below = cls.__mro__[: cls.__mro__.index(owner)]
    return any(name in vars(base) for name in names for base in below)


def by_key(values: Iterable[PartialValue]) -> dict[str, list[tuple[int, bytes]]]:
    """Return the parts to write, by key; those of one key in their order.

    Raises
    ------
    ValueError
        If an offset is negative.
    """
    found: dict[str, list[tuple[int, bytes]]] = {}
    for key, start, value in values:
        if start < 0:
            raise ValueError(f"key {key!r}: a value cannot be written at offset {start}; offsets begin at 0")
        data = value.to_bytes() if hasattr(value, "to_bytes") else bytes(value)
        found.setdefault(key, []).append((int(start), data))
    return found


def patched(key: str, stored: bytes, parts: Iterable[tuple[int, bytes]]) -> bytes:
    """Return a value with parts of it replaced; it grows if a part reaches beyond its end.

    Raises
    ------
    ValueError
        If a part begins after the end of the value.

    Examples
    --------
    >>> patched("k", b"abcdef", [(1, b"XY"), (5, b"ZZ")])
    b'aXYdeZZ'
    """
    data = bytearray(stored)
    for start, part in parts:
        if start > len(data):
            raise ValueError(
                f"key {key!r} holds {len(data)} bytes: nothing can be written at offset {start}, it would leave a gap"
            )
        data[start : start + len(part)] = part
    return bytes(data)


async def set_parts(store: Any, key: str, parts: list[tuple[int, bytes]], compare: bool) -> None:
    """Replace parts of one value; with ``compare``, try again if another writer has changed the value meanwhile."""
    prototype = default_buffer_prototype()
    while True:
        stored = await store.get(key, prototype)
        new = prototype.buffer.from_bytes(patched(key, b"" if stored is None else stored.to_bytes(), parts))
        try:
            if not compare:
                await store.set(key, new)
            elif not await store.set_if_match(key, new, stored):
                continue
            return
        except NotImplementedError:
            if not compare:
                raise
            compare = False  # this store object cannot, though others of its class can


async def names_to_move(store: Any, src: str, dest: str) -> dict[str, str]:
    """Return the keys to rename, each with its new name; documents of nodes come last.

    Raises
    ------
    FileNotFoundError, FileExistsError, ValueError
        If there is nothing to rename, something is in its way, or the new path lies inside the folder.
    """
    if not src or not dest:
        raise ValueError(f"a key or a folder is renamed, and the root is neither: {src!r} to {dest!r}")
    if f"{dest}/".startswith(f"{src}/"):
        raise ValueError(f"{src!r} cannot be renamed to {dest!r}, which would lie in it")
    keys = [key async for key in store.list_prefix(f"{src}/")] if store.supports_listing else []
    if not keys and not await store.exists(src):
        raise FileNotFoundError(src)
    if await store.exists(dest) or (store.supports_listing and not await store.is_empty(dest)):
        raise FileExistsError(dest)
    keys = keys or [src]
    return {key: dest + key[len(src) :] for key in in_node_order(store, keys)}


def is_document(key: str) -> bool:
    """Return True if a key is that of a document of a node."""
    return key.rpartition("/")[2] in METADATA_NAMES


def in_node_order(store: Any, keys: Iterable[str]) -> list[str]:
    """Return the keys of nodes in the order of storing: contents first and the root's document last, or reversed."""
    if takes_contents_first(store):
        return sorted(keys, key=lambda key: (is_document(key), -key.count("/") * is_document(key), key))
    return sorted(keys, key=lambda key: (not is_document(key), key.count("/"), key))


def removed_first(keys: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the documents of nodes among some keys, those of groups before those below them, and all other keys.

    A node is removed in this order. Else an array of which only the chunks are gone would be read as fill values.

    Examples
    --------
    >>> removed_first(["a/b/c/0", "a/b/zarr.json", "a/zarr.json"])
    (['a/zarr.json', 'a/b/zarr.json'], ['a/b/c/0'])
    """
    documents: list[str] = []
    others: list[str] = []
    for key in keys:
        (documents if is_document(key) else others).append(key)
    documents.sort(key=lambda key: key.count("/"))
    return documents, others


async def changes_of_move(store: Any, names: dict[str, str]) -> Changes:
    """Return a renaming as changes that are made in one step."""
    prototype = default_buffer_prototype()
    values: dict[str, Any] = dict.fromkeys(names)
    for key, new in names.items():
        values[new] = await store.get(key, prototype)
    return Changes(values=values, absent=list(names.values()))


def moves_in_one_step(store: Any) -> bool:
    """Return True if a store can make many changes in one step."""
    return hasattr(store, "apply_sync") and stages(store)


class TakenError(Exception):
    """A key holds another value than expected; nothing was published.

    Parameters
    ----------
    key : str
    """

    def __init__(self, key: str) -> None:
        super().__init__(f"key {key!r} was changed by another writer meanwhile")
        self.key = key


class Changes(NamedTuple):
    """Many changes of a store that belong together.

    Parameters
    ----------
    removed : sequence of str
        Folders that are removed with all below them, before the values are set; the root is ``""``.
    values : mapping of str to Buffer or None
        The new value of each key; None deletes it.
    absent : collection of str
        Keys that must have no value before.
    digests : mapping of str to bytes or None
        The values that keys must hold before, as :func:`zarr.storage.wrappers.overlay.is_expected` compares them;
        None: no value.
    defaults : collection of str
        Keys whose value is stored only if they have none; a value that another writer has stored meanwhile stays.
    """

    removed: Sequence[str] = ()
    values: Mapping[str, Buffer | None] = MappingProxyType({})
    absent: Collection[str] = ()
    digests: Mapping[str, bytes | None] = MappingProxyType({})
    defaults: Collection[str] = ()


class Stage(ABC):
    """A place for values before they are published. Its store shows the contents after the publication."""

    store: Any

    @abstractmethod
    def publish(self) -> None:
        """Publish the written values.

        Raises
        ------
        TakenError
            If a key that had to be absent has a value; nothing has changed then.
        """

    @abstractmethod
    def discard(self) -> None:
        """Discard the written values; after :meth:`publish` this has no effect."""


_OWN_WAYS: Final = frozenset(f"{name}{end}" for name in ("get", "set", "delete", "delete_dir") for end in ("", "_sync"))
_STAGING: Final = frozenset(("stage_sync", "apply_sync"))


@cache
def _class_stages(cls: type) -> bool:
    """Return True if no class below the one that stages overrides single reads or writes: these must be called."""
    own = next((base for base in cls.__mro__ if not _STAGING.isdisjoint(vars(base))), None)
    return own is not None and class_is_synchronous(cls) and not sees_to_values(cls, own, _OWN_WAYS)


def stages(store: object) -> bool:
    """Return True if a store can write many values aside and publish them in one step.

    Staging uses plain methods: a store with overridden coroutines is called for each value.

    Parameters
    ----------
    store

    Examples
    --------
    >>> from zarr.storage import LocalStore
    >>> stages(LocalStore("data")), stages(object())
    (True, False)
    """
    kind: Any = type(store)
    if not _class_stages(kind):
        return False
    return OWN_NAMES.isdisjoint(getattr(store, "__dict__", ()))
