"""The ``crc32c`` codec: a checksum after the bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from zarr.abc.codec import BytesBytesCodec
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.described import BytesBytesMethods, configuration_of
from zarr.codecs.base.streams import CHECKSUM_NBYTES, CoreStream
from zarr.types import JSON


@dataclass(frozen=True)
class Crc32cCodec(BytesBytesMethods, BytesBytesCodec):
    """Append the CRC32C checksum of the bytes, and check it when reading.

    Examples
    --------
    >>> from zarr.codecs import Crc32cCodec
    >>> Crc32cCodec().to_dict()
    {'name': 'crc32c'}
    """

    _name = "crc32c"
    _omits_empty = True
    is_fixed_size = True
    _in_thread = False

    @classmethod
    def from_dict(cls, data: dict[str, JSON]) -> Self:
        """Return the codec of a JSON object."""
        configuration_of(data, "crc32c", required=False)
        return cls()

    def bind(self, spec: ArraySpec) -> CoreStream:
        """Return the codec bound to chunks of one description."""
        return CoreStream("crc32c", spec, ("crc32c", {"location": "end"}))

    def compute_encoded_size(self, input_byte_length: int, _chunk_spec: ArraySpec) -> int:
        """Return the number of bytes with the checksum."""
        return input_byte_length + CHECKSUM_NBYTES
