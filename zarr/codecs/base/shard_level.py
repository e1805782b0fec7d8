"""The shard level of an array: the places of inner chunks and of their index in one stored value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np

import zarr_core
from zarr._lazy import LazyModule, asyncio
from zarr.abc import store
from zarr.buffer import Buffer
from zarr.codecs.base.bound import AnyArray, as_bytes, core_message
from zarr.codecs.base.chain import CodecChain
from zarr.errors import ChunkDecodeError

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from concurrent import futures
else:
    futures = LazyModule("concurrent.futures")

IndexLocation: TypeAlias = Literal["start", "end"]
SubchunkWriteOrder: TypeAlias = Literal["morton", "unordered", "lexicographic", "colexicographic"]
ShardIndex: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
AnyBytes = TypeVar("AnyBytes", Buffer, AnyArray)

# The offset and the length in the index of an inner chunk that is not stored.
EMPTY = 2**64 - 1


def order_of_writing(write_order: SubchunkWriteOrder, counts: tuple[int, ...]) -> list[int]:
    """Return the places, in C order, of ``counts`` inner chunks in the order in which they are stored."""
    places = np.arange(math.prod(counts)).reshape(counts)
    if write_order == "morton" and counts:
        coords = zarr_core.morton_order(counts)
        return [int(place) for place in places[tuple(coords.T)]]
    order: Literal["C", "F"] = "F" if write_order == "colexicographic" else "C"
    return [int(place) for place in places.ravel(order=order)]


class ShardLevel:
    """The layout of a shard: how its inner chunks are found, read and written.

    Attributes
    ----------
    chunk_shape
        The shape of an inner chunk.
    chunks_per_shard
        The number of inner chunks along each axis, for shards of the shape of this level.
    grid
        The inner chunks of such a shard, for planning selections in it.
    chain
        The codecs of an inner chunk.
    index_location
        Place of the index: the start or the end of the shard.
    index_format
        The index format of the compiled core; None if its codecs are others than little-endian bytes and a checksum.
    write_order
        The order in which inner chunks are stored in a shard.
    """

    def __init__(
        self,
        shard_shape: tuple[int, ...],
        chain: CodecChain,
        index_chain: Callable[[], CodecChain],
        *,
        index_location: IndexLocation,
        index_format: zarr_core.IndexFormat | None,
        write_order: SubchunkWriteOrder,
    ) -> None:
        self.chain = chain
        self.chunk_shape = chain.spec.shape
        pairs = list(zip(shard_shape, self.chunk_shape, strict=True))
        self.grid = zarr_core.Grid([zarr_core.RegularAxis(length, chunk) for length, chunk in pairs])
        self.chunks_per_shard = tuple(length // chunk for length, chunk in pairs)
        self.nchunks = math.prod(self.chunks_per_shard)
        self.index_location = index_location
        self.index_format = index_format
        self.write_order = write_order
        self._make_index_chain = index_chain

    @cached_property
    def _index_chain(self) -> CodecChain:
        # Only for indexes that the compiled core does not support.
        return self._make_index_chain()

    def index_nbytes(self, nchunks: int | None = None) -> int:
        """Return the number of bytes of the index of so many inner chunks.

        Parameters
        ----------
        nchunks
            The number of inner chunks; by default that of ``chunks_per_shard``.
        """
        nchunks = self.nchunks if nchunks is None else nchunks
        if self.index_format is not None:
            return int(self.index_format.nbytes(nchunks))
        size = self._chain_for(nchunks).encoded_size()
        assert size is not None, "index codecs have a fixed size; ShardingCodec checks that"
        return size

    def index_range(self, nchunks: int | None = None) -> store.RangeByteRequest | store.SuffixByteRequest:
        """Return where the index of so many inner chunks lies in a shard."""
        nbytes = self.index_nbytes(nchunks)
        at_start = self.index_location == "start"
        return store.RangeByteRequest(0, nbytes) if at_start else store.SuffixByteRequest(nbytes)

    def index_bytes(self, shard: AnyBytes, nchunks: int | None = None) -> AnyBytes:
        """Return the bytes of the index of a shard that is in memory as a whole."""
        nbytes = self.index_nbytes(nchunks)
        return shard[:nbytes] if self.index_location == "start" else shard[-nbytes:]

    def parse_index(self, raw: Buffer | AnyArray | bytes, nchunks: int | None = None) -> ShardIndex:
        """Return an index as rows of offset and length, in C order of the inner chunks.

        Parameters
        ----------
        raw
            The bytes of the index.
        nchunks
            The number of inner chunks; by default that of ``chunks_per_shard``.

        Raises
        ------
        ChunkDecodeError
            If there are too many or too few bytes, or the checksum is wrong.
        """
        nchunks = self.nchunks if nchunks is None else nchunks
        data, expected = _numpy_bytes(raw), self.index_nbytes(nchunks)
        if data.size != expected:
            raise damaged_shard(
                f"the shard is too short to hold its index: {data.size} bytes where the index of {nchunks} inner "
                f"chunks takes {expected}"
            )
        try:
            if self.index_format is not None:
                return zarr_core.parse_index(data, nchunks, self.index_format)
            chain = self._chain_for(nchunks)
            buffer = chain.spec.prototype.buffer.from_array_like(data)
            return decode_index(chain, buffer).reshape(nchunks, 2).astype(np.uint64)
        except ValueError as error:
            raise damaged_shard(f"the shard index is damaged: {core_message(error)}") from error

    def build_index(self, pairs: AnyArray) -> bytes:
        """Return the bytes of an index from rows of offset and length."""
        rows = np.ascontiguousarray(pairs, dtype=np.uint64).reshape(-1, 2)
        if self.index_format is not None:
            return bytes(zarr_core.build_index(rows, self.index_format))
        chain = self._chain_for(len(rows))
        return encode_index(chain, rows.reshape(chain.spec.shape)).to_bytes()

    def order_of_writing(self, counts: tuple[int, ...] | None = None) -> list[int]:
        """Return the places, in C order, of the inner chunks in the order in which they are stored."""
        return order_of_writing(self.write_order, self.chunks_per_shard if counts is None else counts)

    def split(self, data: AnyArray) -> list[AnyArray | None]:
        """Return the stored bytes of every inner chunk of a whole shard; None for those that are not stored.

        Raises
        ------
        ChunkDecodeError
            If the shard is too short or its index points outside.
        """
        index = self.parse_index(self.index_bytes(data))
        return [self._stored_part(data, row, place) for place, row in enumerate(index.tolist())]

    def join(self, payloads: Sequence[AnyArray | None]) -> AnyArray:
        """Return a whole shard from the stored bytes of its inner chunks, in C order; None for missing ones."""
        index = np.full((len(payloads), 2), EMPTY, dtype=np.uint64)
        offset = self.index_nbytes() if self.index_location == "start" else 0
        parts: list[AnyArray] = []
        for place in self.order_of_writing():
            payload = payloads[place]
            if payload is not None:
                index[place] = offset, payload.size
                offset += payload.size
                parts.append(payload)
        parts.insert(0 if self.index_location == "start" else len(parts), as_bytes(self.build_index(index)))
        return np.concatenate(parts)

    def slices(self, place: int) -> tuple[slice, ...]:
        """Return the slices of a shard for an inner chunk, given by its place in C order."""
        coords = np.unravel_index(place, self.chunks_per_shard) if self.chunks_per_shard else ()
        return tuple(
            slice(int(at) * length, (int(at) + 1) * length) for at, length in zip(coords, self.chunk_shape, strict=True)
        )

    def _stored_part(self, data: AnyArray, row: list[int], place: int) -> AnyArray | None:
        offset, length = row
        if offset == EMPTY and length == EMPTY:
            return None
        if offset + length > data.size:
            raise damaged_shard(
                f"the shard index is damaged: inner chunk {place} has the offset {offset} and the length {length}, "
                f"in a shard of {data.size} bytes"
            )
        return data[offset : offset + length]

    def _chain_for(self, nchunks: int) -> CodecChain:
        if nchunks == self.nchunks:
            return self._index_chain
        if len(self._index_chain.codecs) and type(self._index_chain.codecs[0]).__name__ == "TransposeCodec":
            raise damaged_shard(f"this shard index is transposed; it has {self.nchunks} entries, not {nchunks}")
        return self._index_chain.for_shape((nchunks, *(1,) * (len(self.chunks_per_shard) - 1), 2))


def decode_index(chain: CodecChain, raw: Buffer) -> AnyArray:
    """Return the rows of a stored index, also where its codecs have coroutines only."""
    return _result_of(chain.decode_async(raw)) if chain.asynchronous else chain.decode(raw)


def encode_index(chain: CodecChain, rows: AnyArray) -> Buffer:
    """Return the bytes of an index, also where its codecs have coroutines only."""
    return _result_of(chain.encode_async(rows)) if chain.asynchronous else chain.encode(rows)


def _result_of(work: Coroutine[Any, Any, Any]) -> Any:
    # An index is parsed between two requests, perhaps in the thread of an event loop: another thread has its own loop.
    with futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def damaged_shard(what: str) -> ChunkDecodeError:
    """Return the error for a damaged shard.

    Examples
    --------
    >>> damaged_shard("the index is cut off").codec
    'sharding_indexed'
    """
    return ChunkDecodeError(f"while decoding with codec 'sharding_indexed': {what}", codec="sharding_indexed")


def _numpy_bytes(raw: Buffer | AnyArray | bytes) -> AnyArray:
    if isinstance(raw, (bytes, np.ndarray)):
        return as_bytes(raw)
    return raw.as_numpy_array()
