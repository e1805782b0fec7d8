"""The codecs of one chunk as objects, and the steps of a pipeline around them, under names of zarr-python 3.4.

Needed by pipelines and codecs of other libraries. They call the functions of each
codec, as pipelines of zarr-python do; arrays of this library use a ``CodecChain``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zarr.abc.codec import Codec, _codec_supports_sync
from zarr.buffer import Buffer, NDBuffer
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.chain import evolve_codecs as evolve_codecs
from zarr.codecs.base.order import sort_codecs
from zarr.codecs.base.pipeline import fill_scalar, kept_chunk, merge_chunk
from zarr.types import SelectorTuple

fill_value_or_default = fill_scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class _Transform:
    codecs: tuple[Codec, ...]

    def __post_init__(self) -> None:
        sort_codecs(self.codecs)

    def _stages(self, spec: ArraySpec) -> list[tuple[Any, ArraySpec]]:
        """Return each codec with the description of what it encodes."""
        stages: list[tuple[Any, ArraySpec]] = []
        for codec in self.codecs:
            stages.append((codec, spec))
            spec = codec.resolve_metadata(spec)
        return stages


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkTransform(_Transform):
    """Encode and decode single chunks with the plain functions of codecs.

    Parameters
    ----------
    codecs
        In the order of encoding, evolved for the array.

    Raises
    ------
    TypeError
        If a codec has coroutines only.

    Examples
    --------
    >>> from zarr.codecs import BytesCodec, GzipCodec
    >>> len(ChunkTransform(codecs=(BytesCodec(), GzipCodec())).codecs)
    2
    """

    def __post_init__(self) -> None:
        # Not by super(), which a class with slots does not find: dataclass makes it anew.
        _Transform.__post_init__(self)
        names = [type(codec).__name__ for codec in self.codecs if not _codec_supports_sync(codec)]
        if names:
            raise TypeError(f"These codecs have no plain functions (_decode_sync, _encode_sync): {', '.join(names)}")

    def encode_chunk(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> Buffer | None:
        """Return the encoded chunk; None if a codec reports that it need not be stored."""
        value: Any = chunk_array
        for codec, spec in self._stages(chunk_spec):
            value = codec._encode_sync(value, spec)
            if value is None:
                return None
        encoded: Buffer = value
        return encoded

    def decode_chunk(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        """Return the elements of an encoded chunk."""
        value: Any = chunk_bytes
        for codec, spec in reversed(self._stages(chunk_spec)):
            value = codec._decode_sync(value, spec)
        decoded: NDBuffer = value
        return decoded

    def compute_encoded_size(self, byte_length: int, array_spec: ArraySpec) -> int:
        """Return the encoded size of a chunk of ``byte_length`` bytes, if all codecs keep to fixed sizes."""
        for codec, spec in self._stages(array_spec):
            byte_length = codec.compute_encoded_size(byte_length, spec)
        return byte_length


@dataclass(frozen=True, slots=True, kw_only=True)
class AsyncChunkTransform(_Transform):
    """Encode and decode single chunks with the coroutines of codecs.

    Parameters
    ----------
    codecs
        In the order of encoding, evolved for the array.

    Examples
    --------
    >>> from zarr.codecs import BytesCodec
    >>> AsyncChunkTransform(codecs=(BytesCodec(),)).codecs
    (BytesCodec(endian='little'),)
    """

    async def encode_chunk(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> Buffer | None:
        """Return the encoded chunk; None if a codec reports that it need not be stored."""
        value: Any = chunk_array
        for codec, spec in self._stages(chunk_spec):
            value = await codec._encode_single(value, spec)
            if value is None:
                return None
        encoded: Buffer = value
        return encoded

    async def decode_chunk(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        """Return the elements of an encoded chunk."""
        value: Any = chunk_bytes
        for codec, spec in reversed(self._stages(chunk_spec)):
            value = await codec._decode_single(value, spec)
        decoded: NDBuffer = value
        return decoded


def chunk_is_empty(chunk_array: NDBuffer, chunk_spec: ArraySpec) -> bool:
    """Return True if a chunk holds the fill value only and such chunks are not stored."""
    return kept_chunk(chunk_array, chunk_spec) is None


def encode_or_elide_chunk(
    chunk_array: NDBuffer, chunk_spec: ArraySpec, encode: Callable[[NDBuffer, ArraySpec], Buffer | None]
) -> Buffer | None:
    """Return a chunk, encoded by a function such as ``ChunkTransform.encode_chunk``; None if it need not be stored."""
    return None if chunk_is_empty(chunk_array, chunk_spec) else encode(chunk_array, chunk_spec)


def merge_chunk_array(
    existing_chunk_array: NDBuffer | None,
    value: NDBuffer,
    out_selection: SelectorTuple,
    chunk_spec: ArraySpec,
    chunk_selection: SelectorTuple,
    is_complete_chunk: bool,
    drop_axes: tuple[int, ...],
) -> NDBuffer:
    """Return a chunk with a part of it replaced; a view of ``value`` for a chunk that is replaced as a whole.

    Parameters
    ----------
    existing_chunk_array
        The stored chunk; None for a chunk of fill values.
    value
        The array that is written.
    out_selection, chunk_selection
        The place of the chunk's elements in ``value``, and the part of the chunk.
    chunk_spec
        The description of the chunk.
    is_complete_chunk
        True if all elements of the chunk are replaced.
    drop_axes
        Axes of the chunk that ``value`` does not have.
    """
    if is_complete_chunk and value.shape:
        part = value[out_selection]
        if part.shape == chunk_spec.shape:
            return part
    return merge_chunk(existing_chunk_array, value, chunk_spec, chunk_selection, out_selection, drop_axes)


_merge_chunk_array = merge_chunk_array
