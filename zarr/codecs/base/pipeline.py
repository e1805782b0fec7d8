"""Codec pipelines with zarr-python's interface: batches of chunks between byte getters and setters and an array.

Arrays of this library read and write through their layout and do not use these classes, unless buffers of another kind
are given. Other libraries construct these classes, inherit from them and call them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

import zarr_core
from zarr.abc.codec import (
    ArrayArrayCodec,
    ArrayBytesCodec,
    ArrayBytesCodecPartialDecodeMixin,
    ArrayBytesCodecPartialEncodeMixin,
    BytesBytesCodec,
    Codec,
    CodecPipeline,
    GetResult,
)
from zarr.abc.stores.async_store import gather_windowed
from zarr.buffer import Buffer, NDBuffer
from zarr.codecs.base.bound import native_dtype
from zarr.codecs.base.chain import CodecChain, evolve_codecs
from zarr.codecs.base.described import wrap_array, wrap_bytes
from zarr.codecs.base.order import sort_codecs
from zarr.defaults import settings
from zarr.errors import NothingToStoreError
from zarr.types import SelectorTuple

if TYPE_CHECKING:
    from zarr.abc.store import ByteGetter, ByteSetter
    from zarr.chunks import ChunkGridMetadata
    from zarr.chunks.spec import ArraySpec
    from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType

    ReadInfo = tuple[ByteGetter, ArraySpec, SelectorTuple, SelectorTuple, bool]
    WriteInfo = tuple[ByteSetter, ArraySpec, SelectorTuple, SelectorTuple, bool]

T = TypeVar("T")
R = TypeVar("R")

_MAX_CHAINS = 64


async def _gather(func: Callable[[T], Awaitable[R]], items: Iterable[T]) -> list[R]:
    """Await a function of every item, a window of them at a time, and return the results in order."""
    return await gather_windowed(func, [(entry,) for entry in items])


def fill_scalar(spec: ArraySpec) -> Any:
    """Return the fill value of a description; without one, the default of the data type."""
    return spec.dtype.default_scalar() if spec.fill_value is None else spec.fill_value


def kept_chunk(chunk: NDBuffer, spec: ArraySpec) -> NDBuffer | None:
    """Return a chunk; None if it holds the fill value only and such chunks are not stored."""
    if spec.config.write_empty_chunks:
        return chunk
    array = np.asarray(chunk.as_numpy_array())
    fill = np.empty((), dtype=array.dtype)
    fill[()] = fill_scalar(spec)
    return None if zarr_core.is_filled(array, fill) else chunk


def _spread(value: NDBuffer, spec: ArraySpec, out_selection: SelectorTuple, drop_axes: tuple[int, ...]) -> NDBuffer:
    """Return the part of a written array that goes into one chunk, with the dropped axes restored."""
    part = value if value.shape == () else value[out_selection]
    if drop_axes and part.shape != ():
        part = part[tuple(None if axis in drop_axes else slice(None) for axis in range(spec.ndim))]
    return part


def merge_chunk(
    existing: NDBuffer | None,
    value: NDBuffer,
    spec: ArraySpec,
    chunk_selection: SelectorTuple,
    out_selection: SelectorTuple,
    drop_axes: tuple[int, ...],
) -> NDBuffer:
    """Return a chunk with a part of it replaced.

    Parameters
    ----------
    existing
        The stored chunk; None for a chunk of fill values.
    value
        The array that is written.
    spec
        The description of the chunk.
    chunk_selection, out_selection
        The part of the chunk, and the place of its elements in ``value``.
    drop_axes
        Axes of the chunk that ``value`` does not have.
    """
    if existing is None:
        chunk = spec.prototype.nd_buffer.create(
            shape=spec.shape, dtype=native_dtype(spec), order=spec.order, fill_value=fill_scalar(spec)
        )
    else:
        chunk = existing.copy()
    part = _spread(value, spec, out_selection, drop_axes)
    chunk[chunk_selection] = part.as_ndarray_like() if part.shape else part.as_scalar()
    return chunk


class _ChainPipeline(CodecPipeline):
    """A pipeline on top of codec chains."""

    array_array_codecs: tuple[ArrayArrayCodec, ...]
    array_bytes_codec: ArrayBytesCodec
    bytes_bytes_codecs: tuple[BytesBytesCodec, ...]
    batch_size: int

    def __iter__(self) -> Iterator[Codec]:
        yield from self.array_array_codecs
        yield self.array_bytes_codec
        yield from self.bytes_bytes_codecs

    def _chain(self, spec: ArraySpec) -> CodecChain:
        # Frozen like its classes, but it keeps chains: chunks of an array have only a few descriptions.
        chains: dict[ArraySpec, CodecChain] = self.__dict__.setdefault("_chains", {})
        known = chains.get(spec)
        if known is None:
            if len(chains) >= _MAX_CHAINS:
                chains.clear()
            known = chains[spec] = CodecChain.build(tuple(self), spec)
        return known

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_chains"}

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return a pipeline whose codecs are evolved for the array."""
        return type(self).from_codecs(evolve_codecs(tuple(self), array_spec))

    @property
    def supports_partial_decode(self) -> bool:
        """True if a part of a chunk can be read without all of its bytes."""
        return len(list(self)) == 1 and isinstance(self.array_bytes_codec, ArrayBytesCodecPartialDecodeMixin)

    @property
    def supports_partial_encode(self) -> bool:
        """True if a part of a stored chunk can be replaced."""
        return len(list(self)) == 1 and isinstance(self.array_bytes_codec, ArrayBytesCodecPartialEncodeMixin)

    def validate(
        self, *, shape: tuple[int, ...], dtype: ZDType[TBaseDType, TBaseScalar], chunk_grid: ChunkGridMetadata
    ) -> None:
        """Raise if the codecs cannot be used for such an array."""
        for codec in self:
            codec.validate(shape=shape, dtype=dtype, chunk_grid=chunk_grid)

    def compute_encoded_size(self, byte_length: int, array_spec: ArraySpec) -> int:
        """Return the size of a chunk after all codecs."""
        for codec in self:
            byte_length = codec.compute_encoded_size(byte_length, array_spec)
            array_spec = codec.resolve_metadata(array_spec)
        return byte_length

    async def _decode_one(self, item: tuple[Buffer | None, ArraySpec]) -> NDBuffer | None:
        raw, spec = item
        return None if raw is None else wrap_array(await self._chain(spec).decode_async(raw), spec)

    async def decode(
        self, chunk_bytes_and_specs: Iterable[tuple[Buffer | None, ArraySpec]]
    ) -> Iterable[NDBuffer | None]:
        """Decode chunks, each with its description, in batches."""
        return list(chain.from_iterable(await self._in_batches(self.decode_batch, chunk_bytes_and_specs)))

    async def decode_batch(
        self, chunk_bytes_and_specs: Iterable[tuple[Buffer | None, ArraySpec]]
    ) -> Iterable[NDBuffer | None]:
        """Decode a batch of chunks, each with its description."""
        return await _gather(self._decode_one, chunk_bytes_and_specs)

    async def _encode_one(self, item: tuple[NDBuffer | None, ArraySpec]) -> Buffer | None:
        chunk, spec = item
        if chunk is None:
            return None
        encoded = await self._chain(spec).encode_stages_async(chunk.as_numpy_array())
        return None if encoded is None else wrap_bytes(encoded, spec)

    async def encode(
        self, chunk_arrays_and_specs: Iterable[tuple[NDBuffer | None, ArraySpec]]
    ) -> Iterable[Buffer | None]:
        """Encode chunks, each with its description, in batches; return None for a chunk that need not be stored."""
        return list(chain.from_iterable(await self._in_batches(self.encode_batch, chunk_arrays_and_specs)))

    async def encode_batch(
        self, chunk_arrays_and_specs: Iterable[tuple[NDBuffer | None, ArraySpec]]
    ) -> Iterable[Buffer | None]:
        """Encode a batch of chunks, each with its description."""
        return await _gather(self._encode_one, chunk_arrays_and_specs)

    async def decode_partial_batch(
        self, batch_info: Iterable[tuple[ByteGetter, SelectorTuple, ArraySpec]]
    ) -> Iterable[NDBuffer | None]:
        """Decode parts of a batch of chunks, without all of their bytes; see ``supports_partial_decode``."""
        codec: Any = self.array_bytes_codec
        decoded: Iterable[NDBuffer | None] = await codec.decode_partial(batch_info)
        return decoded

    async def encode_partial_batch(
        self, batch_info: Iterable[tuple[ByteSetter, NDBuffer, SelectorTuple, ArraySpec]]
    ) -> None:
        """Replace parts of a batch of stored chunks; see ``supports_partial_encode``."""
        codec: Any = self.array_bytes_codec
        await codec.encode_partial(batch_info)

    async def _in_batches(self, func: Callable[[list[T]], Awaitable[R]], items: Iterable[T]) -> list[R]:
        """Await a function of every batch of items. Subclasses of other packages define the functions of a batch."""
        waiting = iter(items)
        return await _gather(func, iter(lambda: list(islice(waiting, self.batch_size)), []))

    async def read(
        self, batch_info: Iterable[ReadInfo], out: NDBuffer, drop_axes: tuple[int, ...] = ()
    ) -> tuple[GetResult, ...]:
        """Read chunks into an array, in batches; see ``CodecPipeline.read``."""

        async def read_batch(batch: list[ReadInfo]) -> tuple[GetResult, ...]:
            return await self.read_batch(batch, out, drop_axes)

        return tuple(chain.from_iterable(await self._in_batches(read_batch, batch_info)))

    async def read_batch(
        self, batch_info: Iterable[ReadInfo], out: NDBuffer, drop_axes: tuple[int, ...] = ()
    ) -> tuple[GetResult, ...]:
        """Read a batch of chunks into an array; the parameters are those of ``read``."""
        batch = list(batch_info)
        parts: list[NDBuffer | None]
        if self.supports_partial_decode:
            parts = list(await self.decode_partial_batch([(getter, part, spec) for getter, spec, part, *_ in batch]))
        else:
            chunks = await self.decode_batch(await _gather(_fetch, batch))
            pairs = zip(chunks, batch, strict=True)
            parts = [None if chunk is None else chunk[info[2]] for chunk, info in pairs]
        return tuple(
            [_deliver(part, out, info[1], info[3], drop_axes) for part, info in zip(parts, batch, strict=True)]
        )

    async def write(self, batch_info: Iterable[WriteInfo], value: NDBuffer, drop_axes: tuple[int, ...] = ()) -> None:
        """Write parts of an array to chunks, in batches; see ``CodecPipeline.write``."""

        async def write_batch(batch: list[WriteInfo]) -> None:
            await self.write_batch(batch, value, drop_axes)

        await self._in_batches(write_batch, batch_info)

    async def write_batch(
        self, batch_info: Iterable[WriteInfo], value: NDBuffer, drop_axes: tuple[int, ...] = ()
    ) -> None:
        """Write parts of an array to a batch of chunks; the parameters are those of ``write``."""
        batch = list(batch_info)
        stored = await self.decode_batch(await _gather(_fetch_before_write, batch))
        merged: list[tuple[NDBuffer | None, ArraySpec]] = []
        for existing, (_, spec, chunk_selection, out_selection, _) in zip(stored, batch, strict=True):
            chunk = merge_chunk(existing, value, spec, chunk_selection, out_selection, drop_axes)
            merged.append((kept_chunk(chunk, spec), spec))
        setters = [info[0] for info in batch]
        await _gather(_store, zip(setters, await self.encode_batch(merged), strict=True))


async def _fetch(info: ReadInfo) -> tuple[Buffer | None, ArraySpec]:
    return await info[0].get(prototype=info[1].prototype), info[1]


async def _fetch_before_write(info: WriteInfo) -> tuple[Buffer | None, ArraySpec]:
    """Return the stored bytes of a chunk, and nothing if all of it is replaced."""
    return None if info[4] else await info[0].get(prototype=info[1].prototype), info[1]


async def _store(item: tuple[ByteSetter, Buffer | None]) -> None:
    setter, encoded = item
    await (setter.delete() if encoded is None else setter.set(encoded))


def _deliver(
    part: NDBuffer | None, out: NDBuffer, spec: ArraySpec, out_selection: SelectorTuple, drop_axes: tuple[int, ...]
) -> GetResult:
    """Put a part of a chunk, or the fill value, into its place."""
    if part is None:
        out[out_selection] = fill_scalar(spec)
        return {"status": "missing"}
    if drop_axes:
        part = part.squeeze(axis=drop_axes)
    out[out_selection] = part
    return {"status": "present"}


def _batch_size(given: int | None) -> int:
    return given or int(settings.get("codec_pipeline.batch_size"))


@dataclass(frozen=True)
class BatchedCodecPipeline(_ChainPipeline):
    """The pipeline that is configured by default.

    Parameters
    ----------
    array_array_codecs, array_bytes_codec, bytes_bytes_codecs
        The codecs by kind, in the order of encoding.
    batch_size
        How many chunks the functions of a batch get at once; by default the setting ``codec_pipeline.batch_size``.

    Examples
    --------
    >>> from zarr.codecs import BytesCodec
    >>> BatchedCodecPipeline.from_codecs([BytesCodec()]).array_bytes_codec
    BytesCodec(endian='little')
    """

    array_array_codecs: tuple[ArrayArrayCodec, ...]
    array_bytes_codec: ArrayBytesCodec
    bytes_bytes_codecs: tuple[BytesBytesCodec, ...]
    batch_size: int

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec], *, batch_size: int | None = None) -> Self:
        """Return a pipeline of codecs, in the order of encoding."""
        return cls(*sort_codecs(codecs), _batch_size(batch_size))


@dataclass(frozen=True)
class FusedCodecPipeline(_ChainPipeline):
    """The pipeline with synchronous methods beside the asynchronous ones.

    Parameters
    ----------
    codecs
        All codecs, in the order of encoding.
    array_array_codecs, array_bytes_codec, bytes_bytes_codecs
        The same by kind.
    sync_transform
        The codecs bound to one chunk shape, once the array is known.
    batch_size
        How many chunks the functions of a batch get at once; by default the setting ``codec_pipeline.batch_size``.

    Examples
    --------
    >>> from zarr.codecs import BytesCodec
    >>> len(FusedCodecPipeline.from_codecs([BytesCodec()]).codecs)
    1
    """

    codecs: tuple[Codec, ...]
    array_array_codecs: tuple[ArrayArrayCodec, ...]
    array_bytes_codec: ArrayBytesCodec
    bytes_bytes_codecs: tuple[BytesBytesCodec, ...]
    sync_transform: CodecChain | None
    batch_size: int

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec], *, batch_size: int | None = None) -> Self:
        """Return a pipeline of codecs, in the order of encoding."""
        given = tuple(codecs)
        return cls(given, *sort_codecs(given), None, _batch_size(batch_size))

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return a pipeline whose codecs are evolved for the array."""
        bound = CodecChain.build(tuple(self), array_spec)
        transform = None if bound.asynchronous else bound
        return type(self)(bound.codecs, *sort_codecs(bound.codecs), transform, self.batch_size)

    def read_sync(
        self, batch_info: Iterable[ReadInfo], out: NDBuffer, drop_axes: tuple[int, ...] = (), max_workers: int = 1
    ) -> tuple[GetResult, ...]:
        """Read chunks into an array in this thread, or in several."""

        def read_one(info: Any) -> GetResult:
            getter, spec, chunk_selection, out_selection, _ = info
            raw = getter.get_sync(prototype=spec.prototype)
            chunk = None if raw is None else wrap_array(self._chain(spec).decode(raw), spec)
            part = None if chunk is None else chunk[chunk_selection]
            return _deliver(part, out, spec, out_selection, drop_axes)

        return tuple(_map(read_one, batch_info, max_workers))

    def write_sync(
        self, batch_info: Iterable[WriteInfo], value: NDBuffer, drop_axes: tuple[int, ...] = (), max_workers: int = 1
    ) -> None:
        """Write parts of an array to chunks in this thread, or in several."""

        def write_one(info: Any) -> None:
            setter, spec, chunk_selection, out_selection, is_complete = info
            raw = None if is_complete else setter.get_sync(prototype=spec.prototype)
            existing = None if raw is None else wrap_array(self._chain(spec).decode(raw), spec)
            chunk = kept_chunk(merge_chunk(existing, value, spec, chunk_selection, out_selection, drop_axes), spec)
            encoded = None
            if chunk is not None:
                with suppress(NothingToStoreError):
                    encoded = self._chain(spec).encode(chunk.as_numpy_array())
            if encoded is None:
                setter.delete_sync()
            else:
                setter.set_sync(encoded)

        _map(write_one, batch_info, max_workers)


def _map(func: Callable[[Any], R], items: Iterable[Any], max_workers: int) -> list[R]:
    if max_workers <= 1:
        return [func(item) for item in items]
    with ThreadPoolExecutor(max_workers) as pool:
        return list(pool.map(func, items))
