"""LZ4 as N5 stores it: blocks, each with a header that has its sizes and a checksum, and an empty one at the end."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numcodecs.lz4

from zarr.abc.codec import BytesBytesCodec
from zarr.codecs.base.bound import Bytes, NativeForm, as_bytes
from zarr.codecs.base.parsing import configuration_of
from zarr.codecs.base.streams import SizedStream
from zarr.codecs.base.sync_methods import BytesBytesMethods
from zarr.codecs.extensions.xxhash32 import xxhash32
from zarr.errors import ChunkChecksumError, ChunkDecodeError, ChunkEncodeError

if TYPE_CHECKING:
    from typing import Self

    from zarr.chunks.spec import ArraySpec
    from zarr.types import JSON

_MAGIC = b"LZ4Block"
_HEADER = struct.Struct("<8sBIII")
# Of the checksum, Java's class keeps 28 bits.
_SEED, _CHECKED_BITS = 0x9747B28C, 0xFFFFFFF
_METHOD, _STORED, _COMPRESSED = 0xF0, 0x10, 0x20


class BoundN5LZ4(SizedStream):
    """Blocks of LZ4; decoded only."""

    def decode(self, data: Bytes) -> Bytes:
        """Return what the blocks hold, one after the other."""
        raw, start, parts = data.tobytes(), 0, []
        left = self.limit(data.size) or self._nbytes or 0
        while start < len(raw):
            part, start = self._block(raw, start, left)
            if not part:
                break
            parts.append(part)
            left -= len(part)
        return as_bytes(b"".join(parts))

    def encode(self, data: Bytes) -> Bytes:
        """Refuse: hierarchies of N5 are read only."""
        raise ChunkEncodeError("codec 'zarr.n5_lz4' is for reading N5; write with numcodecs.lz4", codec=self.name)

    def extend(self, form: NativeForm) -> NativeForm | None:
        """There is no native form."""
        return None

    def _block(self, raw: bytes, start: int, left: int) -> tuple[bytes, int]:
        if len(raw) - start < _HEADER.size:
            raise self._damaged(f"a header is cut off at byte {start} of {len(raw)}")
        magic, token, packed, size, checksum = _HEADER.unpack_from(raw, start)
        begin = start + _HEADER.size
        method = token & _METHOD
        if magic != _MAGIC or method not in (_STORED, _COMPRESSED):
            raise self._damaged(f"no block of LZ4 begins at byte {start}: {magic!r}, token {token:#04x}")
        if packed > len(raw) - begin or size > left:
            raise self._damaged(f"a block at byte {start} says {packed} bytes for {size}; {left} are wanted")
        payload = raw[begin : begin + packed]
        if size and method == _COMPRESSED:
            try:
                payload = bytes(numcodecs.lz4.decompress(struct.pack("<I", size) + payload))
            except RuntimeError as error:
                raise self._damaged(f"the block at byte {start} cannot be decoded: {error}") from error
        if len(payload) != size:
            raise self._damaged(f"the block at byte {start} has {len(payload)} bytes, not {size}")
        if size and xxhash32(payload, _SEED) & _CHECKED_BITS != checksum:
            raise ChunkChecksumError(
                f"codec 'zarr.n5_lz4': the checksum of the block at byte {start} is not that of its {size} bytes",
                codec="zarr.n5_lz4",
            )
        return payload, begin + packed

    def _damaged(self, what: str) -> ChunkDecodeError:
        return ChunkDecodeError(f"codec 'zarr.n5_lz4': {what}", codec="zarr.n5_lz4")


@dataclass(frozen=True)
class N5LZ4Codec(BytesBytesMethods, BytesBytesCodec):
    """Read LZ4 as N5 stores it, in the blocks of Java's ``LZ4BlockOutputStream``.

    It stands in the documents that :class:`zarr.storage.N5Store` shows, and nothing writes it.

    Examples
    --------
    >>> N5LZ4Codec().to_dict()["name"]
    'zarr.n5_lz4'
    """

    is_fixed_size = False

    @classmethod
    def from_dict(cls, data: dict[str, JSON]) -> Self:
        """Return the codec that a JSON object describes."""
        return cls(**configuration_of(data, "zarr.n5_lz4"))

    def to_dict(self) -> dict[str, JSON]:
        """Return the JSON object that describes this codec."""
        return {"name": "zarr.n5_lz4", "configuration": {}}

    def bind(self, spec: ArraySpec) -> BoundN5LZ4:
        """Make the codec ready for chunks of one description."""
        return BoundN5LZ4("zarr.n5_lz4", spec)

    def compute_encoded_size(self, input_byte_length: int, _chunk_spec: ArraySpec) -> Any:
        """Raise, because the size depends on the data."""
        raise NotImplementedError("How many bytes a chunk becomes depends on the data.")
