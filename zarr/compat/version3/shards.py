"""Shards as objects, for codecs, pipelines and programs that look into shards by themselves.

Arrays of this library read shards by their ``ShardLevel``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zarr.abc.store import ByteRequest
from zarr.buffer import Buffer, BufferPrototype, default_buffer_prototype
from zarr.codecs.base.shard_level import EMPTY
from zarr.storage.ranges import bounds_of

Coords = tuple[int, ...]
Places = np.ndarray[Any, np.dtype[np.uint64]]


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


@dataclass(frozen=True)
class ShardIndex:
    """Offset and length of each inner chunk of a shard.

    Attributes
    ----------
    chunks_per_shard
        The number of inner chunks along each axis.
    offsets_and_lengths
        Their offsets and lengths, of shape ``(*chunks_per_shard, 2)``; ``2**64 - 1`` for those that are not stored.

    Examples
    --------
    >>> index = ShardIndex.create_empty((2, 3))
    >>> index.set_chunk_slice((1, 0), slice(16, 48))
    >>> index.get_chunk_slice((1, 0)), index.get_chunk_slice((0, 0))
    ((16, 48), None)
    """

    chunks_per_shard: Coords
    offsets_and_lengths: Places

    @classmethod
    def create_empty(cls, chunks_per_shard: Coords) -> ShardIndex:
        """Return the index of a shard without a stored chunk."""
        return cls(chunks_per_shard, np.full((*chunks_per_shard, 2), EMPTY, dtype="<u8"))

    def get_full_chunk_map(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return for each inner chunk True if it is stored."""
        stored: np.ndarray[Any, np.dtype[np.bool_]] = self.offsets_and_lengths[..., 0] != EMPTY
        return stored

    def is_all_empty(self) -> bool:
        """Return True if no inner chunk is stored."""
        return not np.any(self.get_full_chunk_map())

    def is_dense(self, chunk_byte_length: int, *, data_section_start: int) -> bool:
        """Return True if all inner chunks are stored, with one length, one after the other, in any order.

        Parameters
        ----------
        chunk_byte_length
            The length of each of them.
        data_section_start
            The offset of the first of them.
        """
        places = self.offsets_and_lengths.reshape(-1, 2)
        wanted = data_section_start + chunk_byte_length * np.arange(len(places), dtype=np.uint64)
        return bool(np.all(places[:, 1] == chunk_byte_length) and np.array_equal(np.sort(places[:, 0]), wanted))

    def get_chunk_slice(self, chunk_coords: Coords) -> tuple[int, int] | None:
        """Return the start and the end of an inner chunk; None if it is not stored."""
        offset, length = self.offsets_and_lengths[self._localize_chunk(chunk_coords)].tolist()
        return None if offset == EMPTY and length == EMPTY else (offset, offset + length)

    def get_chunk_slices_vectorized(self, coords: np.ndarray[Any, Any]) -> tuple[Places, Places, Any]:
        """Return the starts and ends of inner chunks, given by rows of coordinates, and which of them are stored."""
        within = coords.astype(np.int64) % np.array(self.chunks_per_shard, dtype=np.int64)
        rows = self.offsets_and_lengths[tuple(within.T)].reshape(len(coords), 2)
        valid = rows[:, 0] != EMPTY
        return rows[:, 0], np.where(valid, rows.sum(axis=1, dtype=np.uint64), np.uint64(EMPTY)), valid

    def set_chunk_slice(self, chunk_coords: Coords, chunk_slice: slice | None) -> None:
        """Note the place of an inner chunk; None if it is not stored."""
        place = (EMPTY, EMPTY) if chunk_slice is None else (chunk_slice.start, chunk_slice.stop - chunk_slice.start)
        self.offsets_and_lengths[self._localize_chunk(chunk_coords)] = place

    def _localize_chunk(self, chunk_coords: Coords) -> Coords:
        return tuple(at % count for at, count in zip(chunk_coords, self.chunks_per_shard, strict=True))


class ShardReader(Mapping[Coords, "Buffer"]):
    """The stored inner chunks of a shard, by their coordinates."""

    buf: Buffer
    index: ShardIndex

    @classmethod
    async def from_bytes(cls, buf: Buffer, codec: Any, chunks_per_shard: Coords) -> ShardReader:
        """Return a shard of its bytes, its ``ShardingCodec`` and the number of inner chunks along each axis.

        Raises
        ------
        ChunkDecodeError
            If the index is cut off or its checksum is wrong.
        """
        reader = cls()
        reader.buf, reader.index = buf, ShardIndex(chunks_per_shard, codec.index_of(buf, chunks_per_shard))
        return reader

    @classmethod
    def create_empty(cls, chunks_per_shard: Coords, buffer_prototype: BufferPrototype | None = None) -> ShardReader:
        """Return a shard without a stored chunk.

        Parameters
        ----------
        chunks_per_shard
            The number of inner chunks along each axis.
        buffer_prototype
            The classes of its buffers; by default those that are configured.
        """
        reader = cls()
        reader.buf = (buffer_prototype or default_buffer_prototype()).buffer.create_zero_length()
        reader.index = ShardIndex.create_empty(chunks_per_shard)
        return reader

    def __getitem__(self, chunk_coords: Coords) -> Buffer:
        found = self.index.get_chunk_slice(chunk_coords)
        if found is None:
            raise KeyError(chunk_coords)
        return self.buf[found[0] : found[1]]

    def __iter__(self) -> Iterator[Coords]:
        return np.ndindex(self.index.chunks_per_shard)

    def __len__(self) -> int:
        return self.index.offsets_and_lengths.size // 2

    def to_dict_vectorized(self) -> dict[Coords, Buffer | None]:
        """Return all inner chunks; None for those that are not stored."""
        return {coords: self.get(coords) for coords in self}


_ShardingByteGetter, _ShardingByteSetter = ShardingByteGetter, ShardingByteSetter
_ShardIndex, _ShardReader = ShardIndex, ShardReader
