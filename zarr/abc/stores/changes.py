"""What every store can do by its own reads and writes: replace parts of values, and rename."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from zarr.abc.stores.overrides import takes_contents_first
from zarr.abc.stores.staging import Changes, stages
from zarr.buffer.core import default_buffer_prototype

if TYPE_CHECKING:
    from zarr.buffer.core import Buffer
    from zarr.types import BytesLike

PartialValue = tuple[str, int, "Buffer | BytesLike"]
"""A key, the offset in bytes at which to write, and what to write there."""

_DOCUMENTS: Final = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")
_SINGLE: Final = ("get", "set", "delete", "get_sync", "set_sync", "delete_sync")


def sees_to_values(cls: type, owner: type) -> bool:
    """Whether a class below ``owner`` reads or writes single values in its own way."""
    below = cls.__mro__[: cls.__mro__.index(owner)]
    return any(name in vars(base) for base in below for name in _SINGLE)


def by_key(values: Iterable[PartialValue]) -> dict[str, list[tuple[int, bytes]]]:
    """The parts to be written, by key; those of one key in their order.

    Raises
    ------
    ValueError
        An offset is negative.
    """
    found: dict[str, list[tuple[int, bytes]]] = {}
    for key, start, value in values:
        if start < 0:
            raise ValueError(f"key {key!r}: a value cannot be written at offset {start}; offsets begin at 0")
        data = value.to_bytes() if hasattr(value, "to_bytes") else bytes(value)
        found.setdefault(key, []).append((int(start), data))
    return found


def patched(key: str, stored: bytes, parts: Iterable[tuple[int, bytes]]) -> bytes:
    """A value with parts of it replaced; it grows where a part reaches beyond its end.

    Raises
    ------
    ValueError
        A part begins behind the end of the value.

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
    """Replace parts of one value; with ``compare``, again where the value was changed by somebody meanwhile."""
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
            compare = False  # this very store cannot, though others of its class can


async def names_to_move(store: Any, src: str, dest: str) -> dict[str, str]:
    """The keys that a renaming concerns, each with its new name; documents of nodes come last.

    Raises
    ------
    FileNotFoundError, FileExistsError, ValueError
        There is nothing to rename, something in its way, or a folder would come to lie in itself.
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
    """Whether a key is that of a document of a node."""
    return key.rpartition("/")[2] in _DOCUMENTS


def in_node_order(store: Any, keys: Iterable[str]) -> list[str]:
    """The keys of nodes as a store takes their values: contents first and the root's document last, or the reverse."""
    if takes_contents_first(store):
        return sorted(keys, key=lambda key: (is_document(key), -key.count("/") * is_document(key), key))
    return sorted(keys, key=lambda key: (not is_document(key), key.count("/"), key))


async def changes_of_move(store: Any, names: dict[str, str]) -> Changes:
    """A renaming as changes that are made in one step."""
    prototype = default_buffer_prototype()
    values: dict[str, Any] = dict.fromkeys(names)
    for key, new in names.items():
        values[new] = await store.get(key, prototype)
    return Changes(values=values, absent=list(names.values()))


def moves_in_one_step(store: Any) -> bool:
    """Whether a store can make many changes in one step."""
    return hasattr(store, "apply_sync") and stages(store)
