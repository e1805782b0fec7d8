"""The ``gzip`` codec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from zarr.abc.codec import BytesBytesCodec
from zarr.codecs.base.parsing import configuration_of, parse_field_int
from zarr.codecs.base.streams import CoreStream
from zarr.codecs.base.sync_methods import BytesBytesMethods
from zarr.registry import get_numcodec

if TYPE_CHECKING:
    from typing import Self

    from zarr.abc.codec import CodecJSON_V2
    from zarr.abc.numcodec import Numcodec
    from zarr.chunks.spec import ArraySpec
    from zarr.types import JSON


def parse_gzip_level(data: JSON) -> int:
    """Return a compression level from 0 to 9.

    Raises
    ------
    TypeError
        When it is no int.
    ValueError
        When it lies outside the range.

    Examples
    --------
    >>> parse_gzip_level(9)
    9
    """
    level = parse_field_int(data, "level")
    if not 0 <= level <= 9:
        raise ValueError(f"Expected an integer from the inclusive range (0, 9). Got {level} instead.")
    return level


@dataclass(frozen=True)
class GzipCodec(BytesBytesMethods, BytesBytesCodec):
    """Compress with gzip.

    Parameters
    ----------
    level
        From 0 (none) to 9 (slow).

    Examples
    --------
    >>> GzipCodec(level=1).to_dict()
    {'name': 'gzip', 'configuration': {'level': 1}}
    """

    is_fixed_size = False

    level: int = 5

    def __init__(self, *, level: int = 5) -> None:
        object.__setattr__(self, "level", parse_gzip_level(level))

    @property
    def _gzip_codec(self) -> Numcodec:
        """The same codec in numcodecs, for those who store it in format 2."""
        return get_numcodec(cast("CodecJSON_V2[str]", {"id": "gzip", "level": self.level}))

    @classmethod
    def from_dict(cls, data: dict[str, JSON]) -> Self:
        """Return the codec that a JSON object describes."""
        return cls(**configuration_of(data, "gzip"))

    def to_dict(self) -> dict[str, JSON]:
        """Return the JSON object that describes this codec."""
        return {"name": "gzip", "configuration": {"level": self.level}}

    def bind(self, spec: ArraySpec) -> CoreStream:
        """Make the codec ready for chunks of one description."""
        return CoreStream("gzip", spec, ("gzip", {"level": self.level}))

    def compute_encoded_size(self, _input_byte_length: int, _chunk_spec: ArraySpec) -> Any:
        """Raise, because the size depends on the data."""
        return super().compute_encoded_size(_input_byte_length, _chunk_spec)
