"""One inner chunk of a shard in memory as a source and a target of bytes.

Needed by codecs and pipelines of other libraries that call a pipeline on the inner chunks of a shard; arrays of this
library read shards by their ``ShardLevel``.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from zarr.abc.store import ByteRequest
from zarr.buffer.core import Buffer, BufferPrototype
from zarr.storage.ranges import bounds_of

Coords = tuple[int, ...]


class ShardingByteGetter:
    """The place of one inner chunk in a mapping of coordinates to bytes.

    Parameters
    ----------
    shard_dict
        The stored inner chunks of a shard; None stands for one that is not stored.
    chunk_coords
        The coordinates of the chunk in the shard.

    Examples
    --------
    >>> ShardingByteGetter({}, (0,)).get_sync() is None
    True
    """

    shard_dict: Mapping[Coords, Buffer | None]

    def __init__(self, shard_dict: Mapping[Coords, Buffer | None], chunk_coords: Coords) -> None:
        self.shard_dict = shard_dict
        self.chunk_coords = chunk_coords

    def get_sync(
        self, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the bytes of the chunk, or a range of them; None if it is not stored."""
        value = self.shard_dict.get(self.chunk_coords)
        if value is None or byte_range is None:
            return value
        return value[slice(*bounds_of(byte_range, len(value)))]

    async def get(self, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return what `get_sync` returns."""
        return self.get_sync(prototype, byte_range)


class ShardingByteSetter(ShardingByteGetter):
    """The place of one inner chunk in a mapping that may be changed.

    Examples
    --------
    >>> from zarr.buffer.cpu import Buffer
    >>> shard = {}
    >>> ShardingByteSetter(shard, (0,)).set_sync(Buffer.from_bytes(b"a"))
    >>> list(shard)
    [(0,)]
    """

    shard_dict: MutableMapping[Coords, Buffer | None]

    def set_sync(self, value: Buffer) -> None:
        """Store the bytes of the chunk."""
        self.shard_dict[self.chunk_coords] = value

    def delete_sync(self) -> None:
        """Remove the chunk."""
        del self.shard_dict[self.chunk_coords]

    async def set(self, value: Buffer, byte_range: Any = None) -> None:
        """Store the bytes of the chunk."""
        if byte_range is not None:
            raise NotImplementedError("an inner chunk can be stored as a whole only")
        self.set_sync(value)

    async def delete(self) -> None:
        """Remove the chunk."""
        self.delete_sync()

    async def set_if_not_exists(self, default: Buffer) -> None:
        """Store bytes for a chunk that is not stored."""
        if self.get_sync() is None:
            self.set_sync(default)


_ShardingByteGetter, _ShardingByteSetter = ShardingByteGetter, ShardingByteSetter
