"""The codecs of N5: ``n5_default``, blocks with a header of their own shape, and its LZ4 blocks with their checksum."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

import numcodecs.lz4
import numpy as np

from zarr.abc.codec import ArrayBytesCodec, BytesBytesCodec, Codec
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import AnyArray, BoundBase, Bytes, as_bytes, native_dtype
from zarr.codecs.base.chain import CodecChain
from zarr.codecs.base.described import ArrayBytesMethods, BytesBytesMethods, parse_codecs, wrap_bytes
from zarr.codecs.base.streams import SizedStream
from zarr.codecs.bytes import BytesCodec, has_byte_order
from zarr.codecs.transpose import TransposeCodec
from zarr.dtype.base import ZDType
from zarr.errors import ChunkChecksumError, ChunkDecodeError
from zarr.types import JSON

_DEFAULT_MODE = 0
_LARGEST_LENGTH = 2**32 - 1
# A block that is larger than a chunk and is not stored in full has at most this size.
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
        """Return the elements of a block, if an inner codec has coroutines only."""
        shape, start = self._read_header(data)
        chain = self._chain.for_shape(shape)
        return self._fit(await chain.decode_async(wrap_bytes(data[start:], self._spec)))

    def encode(self, data: AnyArray) -> Bytes:
        """Return a block of the full shape."""
        return self._with_header(self._chain.encode(data).as_numpy_array())

    async def encode_async(self, data: AnyArray) -> Bytes:
        """Return a block of the full shape, if an inner codec has coroutines only."""
        return self._with_header((await self._chain.encode_async(data)).as_numpy_array())

    def _with_header(self, payload: AnyArray) -> Bytes:
        ndim = len(self._spec.shape)
        header = struct.pack(f">HH{ndim}I", _DEFAULT_MODE, ndim, *self._spec.shape)
        return np.concatenate([as_bytes(header), as_bytes(payload)])

    def _read_header(self, data: Bytes) -> tuple[tuple[int, ...], int]:
        ndim = len(self._spec.shape)
        size = 4 + 4 * ndim
        if data.size < 4:
            raise self.damaged(f"a block of {data.size} bytes has no header")
        mode, found = struct.unpack(">HH", data[:4].tobytes())
        if mode != _DEFAULT_MODE:
            raise self.damaged(f"a block of mode {mode}, where only the default mode, 0, is known")
        if found != ndim or data.size < size:
            raise self.damaged(f"a block of {found} dimensions and {data.size} bytes in an array of {ndim} dimensions")
        shape = struct.unpack(f">{ndim}I", data[4:size].tobytes())
        most = max(_LARGEST_BLOCK, data.size, prod(self._spec.shape) * self._dtype.itemsize)
        if prod(shape) * self._dtype.itemsize > most:
            raise self.damaged(f"the shape {shape} of a block of {data.size} bytes is too large to be true")
        return shape, size

    def _fit(self, block: AnyArray) -> AnyArray:
        if block.shape == self._spec.shape:
            return block
        # Chunks may be declared far larger than their array: zeros take no memory until they are read.
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

    _name = "n5_default"

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

    def validate(self, *, shape: tuple[int, ...], dtype: ZDType[Any, Any], **_others: Any) -> None:
        """Raise an error if N5 cannot store this array.

        Raises
        ------
        ValueError
            If the axes are not all reversed, the bytes are not big-endian, or N5 does not have the data type.
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
        """Return the codec bound to chunks of one description.

        Raises
        ------
        ValueError
            If a chunk is too long for the header.
        """
        if any(length > _LARGEST_LENGTH for length in spec.shape):
            raise ValueError(f"n5_default: a chunk of shape {spec.shape} is longer than a header can say, 2**32 - 1")
        return BoundN5Default(spec, self.codecs)


_MAGIC = b"LZ4Block"
_HEADER = struct.Struct("<8sBIII")
# Java's class keeps 28 bits of the checksum.
_SEED, _CHECKED_BITS = 0x9747B28C, 0xFFFFFFF
_METHOD, _STORED, _COMPRESSED = 0xF0, 0x10, 0x20
_LEAST_LEVEL = 10


class BoundN5LZ4(SizedStream):
    """Blocks of LZ4."""

    def decode(self, data: Bytes) -> Bytes:
        """Return the contents of the blocks, one after the other."""
        return as_bytes(decode_lz4_frames(data.tobytes(), self.limit(data.size) or self._nbytes or 0))

    def encode(self, data: Bytes) -> Bytes:
        """Return the framed blocks of bytes."""
        return as_bytes(encode_lz4_frames(data.tobytes()))


def encode_lz4_frames(raw: bytes, size: int = 1 << 16) -> bytes:
    """Return bytes as Java's ``LZ4BlockOutputStream`` frames them, in blocks of a given size.

    Examples
    --------
    >>> decode_lz4_frames(encode_lz4_frames(b"abc" * 100)) == b"abc" * 100
    True
    """
    level = max(0, (size - 1).bit_length() - _LEAST_LEVEL)
    parts = []
    for start in range(0, len(raw), size):
        part = raw[start : start + size]
        packed = bytes(numcodecs.lz4.compress(part))[4:]  # without the length that numcodecs puts in front
        method, payload = (_COMPRESSED, packed) if len(packed) < len(part) else (_STORED, part)
        check = xxhash32(part, _SEED) & _CHECKED_BITS
        parts += [_HEADER.pack(_MAGIC, method | level, len(payload), len(part), check), payload]
    return b"".join([*parts, _HEADER.pack(_MAGIC, _STORED | level, 0, 0, 0)])


def decode_lz4_frames(raw: bytes, most: int = sys.maxsize) -> bytes:
    """Return the contents of framed blocks, one after the other: at most ``most`` bytes.

    Raises
    ------
    ChunkDecodeError
        If the blocks are damaged.
    """
    start, parts = 0, []
    while start < len(raw):
        part, start = _lz4_block(raw, start, most)
        if not part:
            break
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def _lz4_block(raw: bytes, start: int, left: int) -> tuple[bytes, int]:
    """Return the contents of the block at a place, of at most ``left`` bytes, and the place after it."""
    if len(raw) - start < _HEADER.size:
        raise _damaged(f"a header is cut off at byte {start} of {len(raw)}")
    magic, token, packed, size, checksum = _HEADER.unpack_from(raw, start)
    begin = start + _HEADER.size
    method = token & _METHOD
    if magic != _MAGIC or method not in (_STORED, _COMPRESSED):
        raise _damaged(f"no block of LZ4 begins at byte {start}: {magic!r}, token {token:#04x}")
    if packed > len(raw) - begin or size > left:
        raise _damaged(f"a block at byte {start} says {packed} bytes for {size}; {left} are wanted")
    payload = raw[begin : begin + packed]
    if size and method == _COMPRESSED:
        try:
            payload = bytes(numcodecs.lz4.decompress(struct.pack("<I", size) + payload))
        except RuntimeError as error:
            raise _damaged(f"the block at byte {start} cannot be decoded: {error}") from error
    if len(payload) != size:
        raise _damaged(f"the block at byte {start} has {len(payload)} bytes, not {size}")
    if size and xxhash32(payload, _SEED) & _CHECKED_BITS != checksum:
        raise _damaged(f"the checksum of the block at byte {start} is not that of its {size} bytes", ChunkChecksumError)
    return payload, begin + packed


def _damaged(what: str, kind: type[ChunkDecodeError] = ChunkDecodeError) -> ChunkDecodeError:
    return kind(f"codec 'zarr.n5_lz4': {what}", codec="zarr.n5_lz4")


@dataclass(frozen=True)
class N5LZ4Codec(BytesBytesMethods, BytesBytesCodec):
    """Compress with LZ4 as N5 stores it, in the blocks of Java's ``LZ4BlockOutputStream``.

    It appears in the documents that :class:`zarr.storage.N5Store` shows.

    Examples
    --------
    >>> N5LZ4Codec().to_dict()["name"]
    'zarr.n5_lz4'
    """

    _name = "zarr.n5_lz4"

    def bind(self, spec: ArraySpec) -> BoundN5LZ4:
        """Return the codec bound to chunks of one description."""
        return BoundN5LZ4("zarr.n5_lz4", spec)


_P1, _P2, _P3, _P4, _P5 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1
_MASK = 0xFFFFFFFF


def xxhash32(data: bytes, seed: int = 0) -> int:
    """Return the checksum xxHash32 of bytes.

    Parameters
    ----------
    data : bytes
    seed : int
        From 0 to 2**32 - 1.

    Notes
    -----
    https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

    Examples
    --------
    >>> hex(xxhash32(b""))
    '0x2cc5d05'
    """
    whole = len(data) & ~15
    total = seed + _P5 & _MASK
    if whole:
        lanes = struct.unpack(f"<{whole // 4}I", data[:whole])
        starts = (seed + _P1 + _P2, seed + _P2, seed, seed - _P1)
        one, two, three, four = (_lane(start & _MASK, lanes[i::4]) for i, start in enumerate(starts))
        total = _rotate(one, 1) + _rotate(two, 7) + _rotate(three, 12) + _rotate(four, 18)
    total = total + len(data) & _MASK
    words = len(data) & ~3
    for (word,) in struct.iter_unpack("<I", data[whole:words]):
        total = _rotate(total + word * _P3 & _MASK, 17) * _P4 & _MASK
    for byte in data[words:]:
        total = _rotate(total + byte * _P5 & _MASK, 11) * _P1 & _MASK
    total = (total ^ total >> 15) * _P2 & _MASK
    total = (total ^ total >> 13) * _P3 & _MASK
    return total ^ total >> 16


def _lane(state: int, words: tuple[int, ...]) -> int:
    for word in words:
        state = state + word * _P2 & _MASK
        state = (state << 13 | state >> 19) * _P1 & _MASK
    return state


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & _MASK
