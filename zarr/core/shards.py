"""Shards as objects, for codecs, pipelines and programs that look into shards by themselves.

Arrays of this library read shards by their ``ShardLevel``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zarr.abc.store import ByteGetter, ByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.buffer import Buffer, BufferPrototype, default_buffer_prototype
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.chain import CodecChain, evolve_codecs
from zarr.codecs.base.shard_level import EMPTY
from zarr.codecs.sharding import ShardingCodec, index_chain, index_spec
from zarr.core.chunk_utils import ChunkTransform
from zarr.storage import StorePath
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


# Methods of ``ShardingCodec`` for programs that write the inner chunks of a shard one by one, or read its index.


def _get_inner_chunk_transform(codec: ShardingCodec, shard_spec: ArraySpec) -> ChunkTransform:
    """Return the codecs of the inner chunks, with plain functions."""
    return ChunkTransform(codecs=evolve_codecs(codec.codecs, codec._get_chunk_spec(shard_spec)))


def _get_index_chunk_spec(codec: ShardingCodec, chunks_per_shard: Coords) -> ArraySpec:
    """Return the description of the index."""
    return index_spec(chunks_per_shard)


def _index_chain(codec: ShardingCodec, chunks_per_shard: Coords) -> CodecChain:
    return index_chain(codec.index_codecs, chunks_per_shard)


def _encode_shard_index_sync(codec: ShardingCodec, index: ShardIndex) -> Buffer:
    """Return the bytes to store for an index."""
    return _index_chain(codec, index.chunks_per_shard).encode(index.offsets_and_lengths)


async def _encode_shard_index(codec: ShardingCodec, index: ShardIndex) -> Buffer:
    """Return the bytes to store for an index; its codecs may have coroutines only."""
    return await _index_chain(codec, index.chunks_per_shard).encode_async(index.offsets_and_lengths)


def _decode_shard_index_sync(codec: ShardingCodec, index_bytes: Buffer, chunks_per_shard: Coords) -> ShardIndex:
    """Return the index of its stored bytes."""
    return ShardIndex(chunks_per_shard, _index_chain(codec, chunks_per_shard).decode(index_bytes))


async def _decode_shard_index(codec: ShardingCodec, index_bytes: Buffer, chunks_per_shard: Coords) -> ShardIndex:
    """Return the index of its stored bytes; its codecs may have coroutines only."""
    return ShardIndex(chunks_per_shard, await _index_chain(codec, chunks_per_shard).decode_async(index_bytes))


async def _load_shard_index_maybe(
    codec: ShardingCodec, byte_getter: ByteGetter, chunks_per_shard: Coords
) -> ShardIndex | None:
    """Read the index of a shard; None if there is no such shard."""
    size = codec._shard_index_size(chunks_per_shard)
    place = RangeByteRequest(0, size) if codec.index_location == "start" else SuffixByteRequest(size)
    found = await byte_getter.get(prototype=default_buffer_prototype(), byte_range=place)
    return None if found is None else await _decode_shard_index(codec, found, chunks_per_shard)


async def _load_full_shard_maybe(
    codec: ShardingCodec, byte_getter: ByteGetter, prototype: BufferPrototype, chunks_per_shard: Coords
) -> ShardReader | None:
    """Read a whole shard; None if there is no such shard."""
    found = await byte_getter.get(prototype=prototype)
    return None if found is None else await ShardReader.from_bytes(found, codec, chunks_per_shard)


async def _load_partial_shard_maybe(
    codec: Any,
    byte_getter: ByteGetter,
    prototype: BufferPrototype,
    chunks_per_shard: Coords,
    all_chunk_coords: Iterable[Coords],
    max_gap_bytes: int = 1 << 20,
    max_coalesced_bytes: int = 16 << 20,
) -> dict[Coords, Buffer] | None:
    """Read some inner chunks, those that are stored; None if there is no such shard.

    Parameters
    ----------
    codec
        The codec of the shard.
    byte_getter, prototype
        Where the shard is stored, and the classes of the buffers to return.
    chunks_per_shard, all_chunk_coords
        The number of inner chunks along each axis, and which are read.
    max_gap_bytes, max_coalesced_bytes
        Chunks with at most so many bytes between them are read as one, up to so many bytes.
    """
    index = await codec._load_shard_index_maybe(byte_getter, chunks_per_shard)
    if index is None:
        return None
    places = {coords: place for coords in all_chunk_coords if (place := index.get_chunk_slice(coords)) is not None}
    ranges = [RangeByteRequest(*place) for place in places.values()]
    if not ranges or not isinstance(byte_getter, StorePath):
        found = [await byte_getter.get(prototype, part) for part in ranges]
        return {coords: part for coords, part in zip(places, found, strict=True) if part is not None}
    limits = {"max_gap_bytes": max_gap_bytes, "max_coalesced_bytes": max_coalesced_bytes}
    parts: dict[int, Buffer | None] = {}
    try:
        async for group in byte_getter.store.get_ranges(byte_getter.path, ranges, prototype=prototype, **limits):
            parts.update(group)
    except BaseExceptionGroup as errors:
        others = errors.split(FileNotFoundError)[1]
        if others is not None:
            raise others from None
        return None  # removed after its index was read
    return {coords: part for at, coords in enumerate(places) if (part := parts.get(at)) is not None}


_ShardingByteGetter, _ShardingByteSetter = ShardingByteGetter, ShardingByteSetter
_ShardIndex, _ShardReader = ShardIndex, ShardReader
