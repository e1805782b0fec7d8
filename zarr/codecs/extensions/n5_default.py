"""The ``n5_default`` codec: blocks of N5 in their default mode, a header with the block's own shape before the data."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr.abc.codec import ArrayBytesCodec, Codec
from zarr.codecs.base.bound import (
    AnyArray,
    BoundBase,
    Bytes,
    NativeForm,
    as_bytes,
    element_count,
    native_dtype,
    replace_spec,
)
from zarr.codecs.base.chain import CodecChain
from zarr.codecs.base.parsing import configuration_of, parse_codecs
from zarr.codecs.base.sync_methods import ArrayBytesMethods, wrap_bytes
from zarr.codecs.bytes import BytesCodec, has_byte_order
from zarr.codecs.transpose import TransposeCodec
from zarr.errors import ChunkDecodeError

if TYPE_CHECKING:
    from typing import Self

    from zarr.chunks import ChunkGridMetadata
    from zarr.chunks.spec import ArraySpec
    from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType
    from zarr.types import JSON

_DEFAULT_MODE = 0
_LARGEST_LENGTH = 2**32 - 1
# A block that is larger than a chunk and not stored in full length is no larger than this.
_LARGEST_BLOCK = 1 << 24


class BoundN5Default(BoundBase):
    """Blocks with their header."""

    def __init__(self, spec: ArraySpec, codecs: tuple[Codec, ...]) -> None:
        super().__init__("n5_default", spec)
        self._spec = spec
        self._dtype = native_dtype(spec)
        self._chain = CodecChain.build(codecs, spec)
        self.asynchronous = self._chain.asynchronous

    def decode(self, data: Bytes) -> AnyArray:
        """Return the elements of a block, cut or padded to the shape of a chunk."""
        shape, start = self._read_header(data)
        chain = self._chain.for_shape(shape)
        return self._fit(chain.decode(wrap_bytes(data[start:], self._spec)))

    async def decode_async(self, data: Bytes) -> AnyArray:
        """Return the elements of a block, where an inner codec has coroutines only."""
        shape, start = self._read_header(data)
        chain = self._chain.for_shape(shape)
        return self._fit(await chain.decode_async(wrap_bytes(data[start:], self._spec)))

    def encode(self, data: AnyArray) -> Bytes:
        """Return a block of the full shape."""
        return self._with_header(self._chain.encode(data).as_numpy_array())

    async def encode_async(self, data: AnyArray) -> Bytes:
        """Return a block of the full shape, where an inner codec has coroutines only."""
        return self._with_header((await self._chain.encode_async(data)).as_numpy_array())

    def extend(self, form: NativeForm) -> NativeForm | None:
        """There is no native form."""
        return None

    def _with_header(self, payload: AnyArray) -> Bytes:
        ndim = len(self._spec.shape)
        header = struct.pack(f">HH{ndim}I", _DEFAULT_MODE, ndim, *self._spec.shape)
        return np.concatenate([as_bytes(header), as_bytes(payload)])

    def _read_header(self, data: Bytes) -> tuple[tuple[int, ...], int]:
        ndim = len(self._spec.shape)
        size = 4 + 4 * ndim
        if data.size < 4:
            raise self._damaged(f"a block of {data.size} bytes has no header")
        mode, found = struct.unpack(">HH", data[:4].tobytes())
        if mode != _DEFAULT_MODE:
            raise self._damaged(f"a block of mode {mode}, where only the default mode, 0, is known")
        if found != ndim or data.size < size:
            raise self._damaged(f"a block of {found} dimensions and {data.size} bytes in an array of {ndim} dimensions")
        shape = struct.unpack(f">{ndim}I", data[4:size].tobytes())
        if element_count(shape) * self._dtype.itemsize > max(_LARGEST_BLOCK, data.size, self._spec_nbytes()):
            raise self._damaged(f"the shape {shape} of a block of {data.size} bytes is too large to be true")
        return shape, size

    def _spec_nbytes(self) -> int:
        return element_count(self._spec.shape) * self._dtype.itemsize

    def _damaged(self, what: str) -> ChunkDecodeError:
        return ChunkDecodeError(f"codec 'n5_default': {what}", codec="n5_default")

    def _fit(self, block: AnyArray) -> AnyArray:
        if block.shape == self._spec.shape:
            return block
        # Chunks may be said to be far larger than their array: zeros take no memory until they are looked at.
        chunk = np.zeros(self._spec.shape, dtype=self._dtype)
        if self._spec.fill_value:
            chunk[...] = self._spec.fill_value
        common = tuple(slice(min(have, want)) for have, want in zip(block.shape, chunk.shape, strict=True))
        chunk[common] = block[common]
        return chunk


@dataclass(frozen=True)
class N5DefaultCodec(ArrayBytesMethods, ArrayBytesCodec):
    """Store chunks as blocks that N5 reads, and read the blocks of N5, cut at the edge of the array or not.

    Parameters
    ----------
    codecs
        A ``transpose`` that reverses all axes, ``bytes`` in big-endian order, and at most one bytes-to-bytes codec.

    Notes
    -----
    https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/n5_default

    Examples
    --------
    >>> from zarr.codecs import BytesCodec, TransposeCodec
    >>> N5DefaultCodec(codecs=[TransposeCodec(order=(1, 0)), BytesCodec(endian="big")]).to_dict()["name"]
    'n5_default'
    """

    is_fixed_size = False

    codecs: tuple[Codec, ...]

    def __init__(self, *, codecs: Iterable[Codec | dict[str, JSON]]) -> None:
        parsed = parse_codecs(codecs)
        first_two = tuple(type(codec) for codec in parsed[:2])
        if first_two != (TransposeCodec, BytesCodec) or len(parsed) > 3:
            raise ValueError(
                "n5_default holds a transpose of all axes, bytes in big-endian order, and at most one bytes-to-bytes "
                f"codec; got {parsed}"
            )
        object.__setattr__(self, "codecs", parsed)

    @classmethod
    def from_dict(cls, data: dict[str, JSON]) -> Self:
        """Return the codec that a JSON object describes."""
        return cls(**configuration_of(data, "n5_default"))

    def to_dict(self) -> dict[str, JSON]:
        """Return the JSON object that describes this codec."""
        return {"name": "n5_default", "configuration": {"codecs": tuple(codec.to_dict() for codec in self.codecs)}}

    def validate(
        self, *, shape: tuple[int, ...], dtype: ZDType[TBaseDType, TBaseScalar], chunk_grid: ChunkGridMetadata
    ) -> None:
        """Raise if N5 cannot hold such an array.

        Raises
        ------
        ValueError
            When the axes are not all reversed, the bytes are not big-endian, or the elements are none that N5 knows.
        """
        transpose, serializer = self.codecs[0], self.codecs[1]
        reverse = tuple(reversed(range(len(shape))))
        if getattr(transpose, "order", None) not in (reverse, "F"):
            raise ValueError(f"n5_default: the transpose must reverse all axes, order {reverse}; got {transpose}")
        native = dtype.to_native_dtype()
        if native.kind not in "iuf" or native.itemsize > 8 or native == np.dtype("f2"):
            raise ValueError(f"n5_default: N5 has integers of 8 to 64 bits and floats of 32 and 64 bits, not {native}")
        if has_byte_order(native) and getattr(serializer, "endian", None) != "big":
            raise ValueError(f"n5_default: the bytes of N5 are big-endian; got {serializer}")

    def bind(self, spec: ArraySpec) -> BoundN5Default:
        """Make the codec ready for chunks of one description.

        Raises
        ------
        ValueError
            When a chunk is too long for the header.
        """
        if any(length > _LARGEST_LENGTH for length in spec.shape):
            raise ValueError(f"n5_default: a chunk of shape {spec.shape} is longer than a header can say, 2**32 - 1")
        return BoundN5Default(spec, self.codecs)

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the same description."""
        return replace_spec(chunk_spec)

    def compute_encoded_size(self, input_byte_length: int, _chunk_spec: ArraySpec) -> Any:
        """Raise, because the size depends on the data."""
        raise NotImplementedError("How many bytes a block becomes depends on the data.")
