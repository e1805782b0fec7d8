"""The ``sharding_indexed`` codec: several inner chunks and an index of their places, in one stored value.

Arrays read and write shards through their ``ShardLevel``. This module has the public description, and the bound codec
for a whole shard: for shards in shards, and for chains with other codecs around the shard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from types import MethodType
from typing import Any, ClassVar, Final, Self

import numpy as np

import zarr_core
from zarr._lazy import asyncio, lazy_names
from zarr.abc.codec import (
    ArrayBytesCodec,
    ArrayBytesCodecPartialDecodeMixin,
    ArrayBytesCodecPartialEncodeMixin,
    Codec,
    CodecPipeline,
    _codec_supports_sync,
)
from zarr.abc.store import ByteGetter, ByteSetter, RangeByteRequest
from zarr.buffer import Buffer, NDBuffer, numpy_buffer_prototype
from zarr.chunks import ChunkGridMetadata, RegularChunkGridMetadata
from zarr.chunks.shapes import parse_chunk_edge
from zarr.chunks.spec import ArrayConfig, ArraySpec
from zarr.codecs.base.adapters import PLAIN_METHODS
from zarr.codecs.base.bound import AnyArray, BoundBase, encoded_most, native_dtype, replace_spec
from zarr.codecs.base.chain import CodecChain, evolve_codecs, validate_codecs
from zarr.codecs.base.described import (
    ArrayBytesMethods,
    DeprecatedStrEnumMeta,
    one_of,
    parse_codecs,
    wrap_array,
    wrap_bytes,
)
from zarr.codecs.base.order import sort_codecs
from zarr.codecs.base.shard_level import (
    EMPTY,
    IndexLocation,
    ShardIndex,
    ShardLevel,
    SubchunkWriteOrder,
    decode_index,
    order_of_writing,
)
from zarr.codecs.bytes import BytesCodec
from zarr.codecs.crc32c_ import Crc32cCodec
from zarr.dtype import UInt64
from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType
from zarr.registry import get_pipeline_class
from zarr.types import JSON, SelectorTuple, ShapeLike, parse_shapelike

# Methods that other libraries call to read or write a shard by themselves, and classes that they import from here.
_METHODS: Final = (
    "_get_inner_chunk_transform _get_index_chunk_spec _encode_shard_index_sync _encode_shard_index "
    "_decode_shard_index_sync _decode_shard_index _load_shard_index_maybe _load_full_shard_maybe "
    "_load_partial_shard_maybe"
)
_CLASSES: Final = "_ShardIndex _ShardReader _ShardingByteGetter _ShardingByteSetter"
__getattr__, __dir__ = lazy_names(__name__, {}, {"zarr.core.shards": f"{_CLASSES} {_METHODS}"})

MAX_UINT_64: Final = EMPTY
_INNER_CONFIG: Final = ArrayConfig(order="C", write_empty_chunks=False)
INDEX_LOCATION: Final = ("start", "end")
SUBCHUNK_WRITE_ORDER: Final = ("morton", "unordered", "lexicographic", "colexicographic")


class ShardingCodecIndexLocation(metaclass=DeprecatedStrEnumMeta):
    """Deprecated names of the places of the index; give the strings instead.

    Examples
    --------
    >>> from zarr.codecs import ShardingCodecIndexLocation
    >>> ShardingCodecIndexLocation.end
    'end'
    """

    _members: ClassVar[dict[str, str]] = {"start": "start", "end": "end"}


# The bytes that the codecs of an inner chunk may add to it, even to a very small one.
_MOST_HEADER = 1 << 10


class BoundSharding(BoundBase):
    """A shard as one chunk: all inner chunks at once."""

    def __init__(self, spec: ArraySpec, level: ShardLevel) -> None:
        super().__init__("sharding_indexed", spec)
        self.level = level
        self.asynchronous = level.chain.asynchronous
        self._spec = spec
        self._dtype = native_dtype(spec)
        self._fill = np.empty((), dtype=self._dtype)
        self._fill[()] = spec.dtype.default_scalar() if spec.fill_value is None else spec.fill_value

    def decode(self, data: AnyArray) -> AnyArray:
        """Return the elements of a shard."""
        decode = self.level.chain.decode
        return self._place([None if raw is None else decode(raw) for raw in self._stored(data)])

    async def decode_async(self, data: AnyArray) -> AnyArray:
        """Return the elements of a shard, if an inner codec has coroutines only."""
        decode = self.level.chain.decode_async
        return self._place([None if raw is None else await decode(raw) for raw in self._stored(data)])

    def encode(self, data: AnyArray) -> AnyArray:
        """Return a shard; inner chunks of fill values only are left out, unless the array stores them."""
        encode = self.level.chain.encode
        return self._join([None if part is None else encode(part) for part in self._parts(data)])

    async def encode_async(self, data: AnyArray) -> AnyArray:
        """Return a shard, if an inner codec has coroutines only."""
        encode = self.level.chain.encode_async
        return self._join([None if part is None else await encode(part) for part in self._parts(data)])

    def is_filled(self, data: AnyArray) -> bool:
        """Return True if a shard holds the fill value only."""
        return bool(zarr_core.is_filled(data, self._fill))

    def encoded_most(self, nbytes: int) -> int:
        """Return the maximum encoded size of a shard of ``nbytes`` bytes: each inner chunk may have a header."""
        return encoded_most(nbytes) + self.level.nchunks * _MOST_HEADER + self.level.index_nbytes(self.level.nchunks)

    def _stored(self, data: AnyArray) -> list[Any]:
        wrap = self._spec.prototype.buffer.from_array_like
        return [None if part is None else wrap(part) for part in self.level.split(data)]

    def _place(self, chunks: list[AnyArray | None]) -> AnyArray:
        shard = np.empty(self._spec.shape, dtype=self._dtype)
        for place, chunk in enumerate(chunks):
            shard[self.level.slices(place)] = self._fill if chunk is None else chunk
        return shard

    def _parts(self, data: AnyArray) -> list[AnyArray | None]:
        parts = [data[self.level.slices(place)] for place in range(self.level.nchunks)]
        if self._spec.config.write_empty_chunks:
            return list(parts)
        return [None if zarr_core.is_filled(part, self._fill) else part for part in parts]

    def _join(self, payloads: list[Any]) -> AnyArray:
        return self.level.join([None if payload is None else payload.as_numpy_array() for payload in payloads])

    async def read_part(self, byte_getter: ByteGetter, selection: SelectorTuple) -> NDBuffer | None:
        """Return a part of a shard; read its index and the needed inner chunks; return None if there is no shard.

        Parameters
        ----------
        byte_getter
            The source of the bytes of the shard.
        selection
            The part, as a numpy selection.
        """
        plan = plan_part(self.level.grid, selection)
        if plan is None:
            raw = await byte_getter.get(prototype=self._spec.prototype)
            return None if raw is None else wrap_array((await self._decoded(raw))[selection], self._spec)
        index = await self._fetch_index(byte_getter)
        if index is None:
            return None
        out = np.empty(plan.shape, dtype=self._dtype)
        counts = self.level.chunks_per_shard
        places = [int(np.ravel_multi_index(plan.coords(i), counts)) if counts else 0 for i in range(plan.nslots)]
        chunks = await asyncio.gather(*(self._fetch_chunk(byte_getter, index[place].tolist()) for place in places))
        for i, chunk in enumerate(chunks):
            if chunk is None:
                zarr_core.fill(out, plan.slot(i), self._fill)
            else:
                zarr_core.scatter(chunk, plan.slot(i), out)
        return wrap_array(out, self._spec)

    async def write_part(self, byte_setter: ByteSetter, value: NDBuffer, selection: SelectorTuple) -> None:
        """Replace a part of a stored shard; delete a shard that becomes empty, unless the array stores such chunks.

        Parameters
        ----------
        byte_setter
            The place of the bytes of the shard.
        value
            The elements.
        selection
            The part, as a numpy selection.
        """
        spec = self._spec
        raw = await byte_setter.get(prototype=spec.prototype)
        if raw is None:
            shard = np.full(spec.shape, self._fill, dtype=self._dtype)
        else:
            shard = np.array(await self._decoded(raw))
        shard[selection] = value.as_numpy_array()
        if not spec.config.write_empty_chunks and self.is_filled(shard):
            await byte_setter.delete()
            return
        encoded = await self.encode_async(shard) if self.asynchronous else self.encode(shard)
        await byte_setter.set(wrap_bytes(encoded, spec))

    async def _decoded(self, raw: Buffer) -> AnyArray:
        data: Any = raw.as_numpy_array()
        return await self.decode_async(data) if self.asynchronous else self.decode(data)

    async def _fetch_index(self, byte_getter: ByteGetter) -> ShardIndex | None:
        raw = await byte_getter.get(prototype=self._spec.prototype, byte_range=self.level.index_range())
        return None if raw is None else self.level.parse_index(raw)

    async def _fetch_chunk(self, byte_getter: ByteGetter, row: list[int]) -> AnyArray | None:
        offset, length = row
        if offset == EMPTY and length == EMPTY:
            return None
        part = RangeByteRequest(offset, offset + length)
        raw = await byte_getter.get(prototype=self._spec.prototype, byte_range=part)
        if raw is None:
            raise FileNotFoundError("a shard went away while it was read")
        return await self.level.chain.decode_async(raw)


@dataclass(frozen=True)
class ShardingCodec(
    ArrayBytesMethods, ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin, ArrayBytesCodecPartialEncodeMixin
):
    """Store several inner chunks, and an index of them, as one value.

    Parameters
    ----------
    chunk_shape
        The shape of the inner chunks; it must divide the shape of the shard.
    codecs
        The codecs of an inner chunk.
    index_codecs
        The codecs of the index; their output must have a fixed size.
    index_location
        The place of the index, "start" or "end".
    subchunk_write_order
        The order in which inner chunks are stored in new shards; it is not part of the metadata.

    Examples
    --------
    >>> from zarr.codecs import ShardingCodec
    >>> ShardingCodec(chunk_shape=(2, 2)).to_dict()["configuration"]["index_location"]
    'end'
    """

    _name = "sharding_indexed"
    _in_thread = True

    chunk_shape: tuple[int, ...]
    codecs: tuple[Codec, ...]
    index_codecs: tuple[Codec, ...]
    index_location: IndexLocation = "end"
    subchunk_write_order: SubchunkWriteOrder = "morton"

    def __init__(
        self,
        *,
        chunk_shape: ShapeLike,
        codecs: Iterable[Codec | dict[str, JSON]] = (BytesCodec(endian="little"),),
        index_codecs: Iterable[Codec | dict[str, JSON]] = (BytesCodec(endian="little"), Crc32cCodec()),
        index_location: ShardingCodecIndexLocation | IndexLocation = "end",
        subchunk_write_order: SubchunkWriteOrder = "morton",
    ) -> None:
        if subchunk_write_order not in SUBCHUNK_WRITE_ORDER:
            raise ValueError(
                f"Unrecognized subchunk write order: {subchunk_write_order}. Only {SUBCHUNK_WRITE_ORDER} are allowed."
            )
        put = object.__setattr__
        lengths = [parse_chunk_edge(length, axis) for axis, length in enumerate(parse_shapelike(chunk_shape))]
        put(self, "chunk_shape", tuple(lengths))
        put(self, "codecs", parse_codecs(codecs))
        put(self, "index_codecs", _parse_index_codecs(index_codecs))
        put(self, "index_location", one_of(index_location, INDEX_LOCATION, "index_location", "ShardingCodec"))
        put(self, "subchunk_write_order", subchunk_write_order)

    def _configuration(self) -> dict[str, JSON]:
        return {name: value for name, value in super()._configuration().items() if name != "subchunk_write_order"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "configuration" in state:  # as zarr-python pickles it
            order = state.get("subchunk_write_order", "morton")
            state = vars(replace(type(self).from_dict(state), subchunk_write_order=order))
        self.__dict__.update(state)

    @property
    def codec_pipeline(self) -> CodecPipeline:
        """The codecs of an inner chunk as the configured pipeline."""
        return get_pipeline_class().from_codecs(self.codecs)

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return the codec with its inner codecs evolved for inner chunks."""
        codecs = evolve_codecs(self.codecs, self._get_chunk_spec(array_spec))
        return self if codecs == self.codecs else replace(self, codecs=codecs)

    def validate(
        self, *, shape: tuple[int, ...], dtype: ZDType[TBaseDType, TBaseScalar], chunk_grid: ChunkGridMetadata
    ) -> None:
        """Raise an error if the inner chunks do not divide the chunks of a grid.

        Raises
        ------
        ValueError
            If the numbers of dimensions differ, a chunk length is no multiple of the inner one, or a codec of the inner
            chunks does not fit them.
        TypeError
            If the grid has neither a chunk shape nor lists of lengths.
        """
        if len(self.chunk_shape) != len(shape):
            raise ValueError(
                "The shard's `chunk_shape` and array's `shape` need to have the same number of dimensions."
            )
        for axis, lengths in enumerate(_edge_lengths(chunk_grid)):
            for length in lengths:
                _check_divides(length, self.chunk_shape[axis], axis)
        inner = ArraySpec(self.chunk_shape, dtype, dtype.default_scalar(), _INNER_CONFIG, numpy_buffer_prototype())
        validate_codecs(self.codecs, inner, self.chunk_shape, RegularChunkGridMetadata(chunk_shape=self.chunk_shape))

    def bind(self, spec: ArraySpec) -> BoundSharding:
        """Return the codec bound to shards of one description."""
        return BoundSharding(spec, self.level_for(spec))

    def level_for(self, spec: ArraySpec) -> ShardLevel:
        """Return the shard level for shards of one description.

        Parameters
        ----------
        spec : ArraySpec
            The description of a shard.

        Returns
        -------
        ShardLevel

        Raises
        ------
        ValueError
            If the inner chunks do not divide the shard.
        """
        if len(spec.shape) != len(self.chunk_shape):
            raise ValueError(f"inner chunks of shape {self.chunk_shape} cannot divide a shard of shape {spec.shape}")
        for axis, (length, inner) in enumerate(zip(spec.shape, self.chunk_shape, strict=True)):
            _check_divides(length, inner, axis)
        counts = self._get_chunks_per_shard(spec)
        return ShardLevel(
            spec.shape,
            CodecChain.build(self.codecs, self._get_chunk_spec(spec)),
            lambda: index_chain(self.index_codecs, counts),
            index_location=self.index_location,
            index_format=_index_format(self.index_codecs, self.index_location),
            write_order=self.subchunk_write_order,
        )

    def index_of(self, shard: Buffer, counts: tuple[int, ...]) -> AnyArray:
        """Return the index of a shard: the offsets and lengths of its inner chunks.

        Parameters
        ----------
        shard : Buffer
            The bytes of the shard.
        counts : tuple of int
            The number of inner chunks along each axis.

        Returns
        -------
        numpy.ndarray
            Of type uint64 and shape ``(*counts, 2)``; ``2**64 - 1`` for those that are not stored.

        Raises
        ------
        ChunkDecodeError
            If the index is cut off or its checksum is wrong.
        """
        size = self._shard_index_size(counts)
        stored = shard[:size] if self.index_location == "start" else shard[len(shard) - size :]
        return decode_index(index_chain(self.index_codecs, counts), stored)

    def compute_encoded_size(self, input_byte_length: int, shard_spec: ArraySpec) -> int:
        """Return the size of a full shard of inner chunks that keep their size."""
        return input_byte_length + self._shard_index_size(self._get_chunks_per_shard(shard_spec))

    # Questions that programs for zarr-python ask by these names; further ones are added below.

    def _get_chunks_per_shard(self, shard_spec: ArraySpec) -> tuple[int, ...]:
        return tuple(length // inner for length, inner in zip(shard_spec.shape, self.chunk_shape, strict=True))

    def _get_chunk_spec(self, shard_spec: ArraySpec) -> ArraySpec:
        return replace_spec(shard_spec, shape=self.chunk_shape)

    def _shard_index_size(self, chunks_per_shard: tuple[int, ...]) -> int:
        size = index_chain(self.index_codecs, chunks_per_shard).encoded_size()
        assert size is not None, "index codecs have a fixed size; the constructor checks that"
        return size

    @property
    def _inner_codecs_fixed_size(self) -> bool:
        return all(codec.is_fixed_size for codec in self.codecs)

    def _is_total_shard(self, all_chunk_coords: Collection[tuple[int, ...]], chunks_per_shard: tuple[int, ...]) -> bool:
        return set(all_chunk_coords) == set(np.ndindex(chunks_per_shard))

    def _subchunk_order_iter(
        self, chunks_per_shard: tuple[int, ...], subchunk_write_order: SubchunkWriteOrder
    ) -> Iterator[tuple[int, ...]]:
        coords = list(np.ndindex(chunks_per_shard))
        return (coords[place] for place in order_of_writing(subchunk_write_order, chunks_per_shard))

    def _encode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        # None as other codecs of zarr-python return it: a shard of fill values need not be stored.
        if not chunk_spec.config.write_empty_chunks and self.bind(chunk_spec).is_filled(chunk_data.as_numpy_array()):
            return None
        return super()._encode_sync(chunk_data, chunk_spec)

    async def _decode_partial_single(
        self, byte_getter: ByteGetter, selection: SelectorTuple, chunk_spec: ArraySpec
    ) -> NDBuffer | None:
        return await self.bind(chunk_spec).read_part(byte_getter, selection)

    async def _encode_partial_single(
        self, byte_setter: ByteSetter, chunk_array: NDBuffer, selection: SelectorTuple, chunk_spec: ArraySpec
    ) -> None:
        await self.bind(chunk_spec).write_part(byte_setter, chunk_array, selection)


class _Borrowed:
    """A method that is loaded at its first use; programs may replace it in the class."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        function = __getattr__(self.name)
        return function if instance is None else MethodType(function, instance)


for _name in _METHODS.split():
    setattr(ShardingCodec, _name, _Borrowed(_name))


def _parse_index_codecs(data: Iterable[Codec | dict[str, JSON]]) -> tuple[Codec, ...]:
    codecs = parse_codecs(data)
    variable = [codec for codec in codecs if not codec.is_fixed_size]
    if variable:
        raise ValueError(
            "Sharding `index_codecs` must produce a fixed-size encoding, but these codecs do not: "
            f"{variable}. Compression codecs cannot be used for the shard index."
        )
    sort_codecs(codecs)
    return codecs


def _check_divides(length: int, inner: int, axis: int) -> None:
    if length % inner:
        raise ValueError(
            f"Chunk edge length {length} in dimension {axis} is not divisible by the shard's inner chunk size {inner}. "
            f"A shard holds whole chunks: for chunks of {inner} elements make shards of {-(-length // inner) * inner}, "
            "or of another multiple."
        )


def _edge_lengths(chunk_grid: Any) -> list[set[int]]:
    """Return the distinct chunk lengths of a grid along each axis."""
    if hasattr(chunk_grid, "chunk_shape"):
        return [{length} for length in chunk_grid.chunk_shape]
    if hasattr(chunk_grid, "chunk_shapes"):
        return [{lengths} if isinstance(lengths, int) else set(lengths) for lengths in chunk_grid.chunk_shapes]
    raise TypeError(f"Sharding is only compatible with regular and rectilinear chunk grids, got {type(chunk_grid)}")


def index_spec(counts: tuple[int, ...]) -> ArraySpec:
    """Return the description of the index of a shard, which is an array.

    Parameters
    ----------
    counts : tuple of int
        The number of inner chunks along each axis.

    Examples
    --------
    >>> index_spec((2, 3)).shape
    (2, 3, 2)
    """
    return ArraySpec(
        shape=(*counts, 2),
        dtype=UInt64(endianness="little"),
        fill_value=np.uint64(MAX_UINT_64),
        config=ArrayConfig(order="C", write_empty_chunks=True),
        prototype=numpy_buffer_prototype(),
    )


def index_chain(codecs: tuple[Codec, ...], counts: tuple[int, ...]) -> CodecChain:
    """Return the chain of the index of a shard; as in zarr-python its codecs are called by plain functions, if all can.

    Parameters
    ----------
    codecs : tuple of Codec
        The codecs of the index.
    counts : tuple of int
        The number of inner chunks along each axis.

    Examples
    --------
    >>> index_chain((BytesCodec(),), (2, 3)).encoded_size()
    96
    """
    plain = all(_codec_supports_sync(codec) for codec in codecs)
    return CodecChain.build(codecs, index_spec(counts), PLAIN_METHODS if plain else None)


def _index_format(codecs: tuple[Codec, ...], location: IndexLocation) -> zarr_core.IndexFormat | None:
    plain = (BytesCodec(endian="little"),)
    if codecs not in (plain, (*plain, Crc32cCodec())):
        return None
    return zarr_core.IndexFormat(location, len(codecs) == 2)


def plan_part(grid: zarr_core.Grid, selection: SelectorTuple) -> zarr_core.Plan | None:
    """Return the plan of a NumPy selection on a grid, or None for one that mixes kinds of indexes.

    Parameters
    ----------
    grid
        The inner chunks of a shard.
    selection
        Integers, slices and integer arrays, with their meaning in NumPy.

    Examples
    --------
    >>> grid = zarr_core.Grid([zarr_core.RegularAxis(8, 2)])
    >>> plan_part(grid, (slice(0, 3),)).nslots
    2
    """
    if len(selection) != grid.ndim:
        return zarr_core.plan_basic(grid, selection) if not selection else None
    arrays = [entry for entry in selection if not isinstance(entry, (int, np.integer, slice))]
    if not arrays:
        return zarr_core.plan_basic(grid, selection)
    if not all(isinstance(entry, np.ndarray) and entry.dtype.kind in "iu" for entry in arrays):
        return None
    if len(arrays) == grid.ndim:
        return zarr_core.plan_points(grid, selection)
    if len(arrays) == 1 and arrays[0].ndim == 1 and all(isinstance(e, (slice, np.ndarray)) for e in selection):
        return zarr_core.plan_orthogonal(grid, selection)
    return None
