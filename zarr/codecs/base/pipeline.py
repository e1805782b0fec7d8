"""Codec pipelines with zarr-python's interface: batches of chunks between byte getters and setters and an array.

Arrays of this library read and write through their layout and do not use these classes, unless buffers of another kind
are given. Other libraries construct these classes, inherit from them and call them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
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
from zarr.errors import NothingToStoreError
from zarr.registry import register_pipeline
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

    def __iter__(self) -> Iterator[Codec]:
        yield from self.array_array_codecs
        yield self.array_bytes_codec
        yield from self.bytes_bytes_codecs

    def _chain(self, spec: ArraySpec) -> CodecChain:
        # Frozen like its classes, but it keeps chains: chunks of an array have only a few descriptions.
        chains: dict[ArraySpec, CodecChain] = self.__dict__.setdefault("_chains", {})
        chain = chains.get(spec)
        if chain is None:
            if len(chains) >= _MAX_CHAINS:
                chains.clear()
            chain = chains[spec] = CodecChain.build(tuple(self), spec)
        return chain

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
        """Encode a batch of chunks, each with its description; return None for a chunk that need not be stored."""
        return await _gather(self._encode_one, chunk_arrays_and_specs)

    async def read(
        self, batch_info: Iterable[ReadInfo], out: NDBuffer, drop_axes: tuple[int, ...] = ()
    ) -> tuple[GetResult, ...]:
        """Read chunks into an array; see ``CodecPipeline.read``."""

        async def read_one(info: ReadInfo) -> GetResult:
            getter, spec, chunk_selection, out_selection, _ = info
            part: NDBuffer | None
            if self.supports_partial_decode:
                part = await self.array_bytes_codec._decode_partial_single(getter, chunk_selection, spec)  # type: ignore[attr-defined]
            else:
                chunk = await self._decode_one((await getter.get(prototype=spec.prototype), spec))
                part = None if chunk is None else chunk[chunk_selection]
            return _deliver(part, out, spec, out_selection, drop_axes)

        return tuple(await _gather(read_one, batch_info))

    async def write(self, batch_info: Iterable[WriteInfo], value: NDBuffer, drop_axes: tuple[int, ...] = ()) -> None:
        """Write parts of an array to chunks; see ``CodecPipeline.write``."""

        async def write_one(info: WriteInfo) -> None:
            setter, spec, chunk_selection, out_selection, is_complete = info
            existing = None
            if not is_complete:
                existing = await self._decode_one((await setter.get(prototype=spec.prototype), spec))
            chunk = merge_chunk(existing, value, spec, chunk_selection, out_selection, drop_axes)
            encoded = await self._encode_one((kept_chunk(chunk, spec), spec))
            if encoded is None:
                await setter.delete()
            else:
                await setter.set(encoded)

        await _gather(write_one, batch_info)


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


@dataclass(frozen=True)
class BatchedCodecPipeline(_ChainPipeline):
    """The pipeline that is configured by default.

    Parameters
    ----------
    array_array_codecs, array_bytes_codec, bytes_bytes_codecs
        The codecs by kind, in the order of encoding.
    batch_size
        Has no effect; kept for code written for zarr-python 3.

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
        return cls(*sort_codecs(codecs), 1 if batch_size is None else batch_size)


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
        Has no effect; kept for code written for zarr-python 3.

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
        return cls(given, *sort_codecs(given), None, 1 if batch_size is None else batch_size)

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return a pipeline whose codecs are evolved for the array."""
        chain = CodecChain.build(tuple(self), array_spec)
        transform = None if chain.asynchronous else chain
        return type(self)(chain.codecs, *sort_codecs(chain.codecs), transform, self.batch_size)

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


register_pipeline(BatchedCodecPipeline)
register_pipeline(FusedCodecPipeline)
