"""The ``gzip`` codec."""

from __future__ import annotations

from dataclasses import dataclass

from zarr.abc.codec import BytesBytesCodec
from zarr.codecs.base.described import parse_field_int
from zarr.codecs.base.streams import CompressorMethods
from zarr.types import JSON


def parse_gzip_level(data: JSON) -> int:
    """Return a compression level from 0 to 9.

    Raises
    ------
    TypeError
        If it is no int.
    ValueError
        If it lies outside the range.

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
class GzipCodec(CompressorMethods, BytesBytesCodec):
    """Compress with gzip.

    Parameters
    ----------
    level
        From 0 (none) to 9 (slow).

    Examples
    --------
    >>> from zarr.codecs import GzipCodec
    >>> GzipCodec(level=1).to_dict()
    {'name': 'gzip', 'configuration': {'level': 1}}
    """

    _name = "gzip"
    _gzip_codec = CompressorMethods._numcodec

    level: int = 5

    def __init__(self, *, level: int = 5) -> None:
        object.__setattr__(self, "level", parse_gzip_level(level))
