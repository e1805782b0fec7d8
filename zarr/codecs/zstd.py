"""The ``zstd`` codec."""

from __future__ import annotations

from zarr._records import record
from zarr.abc.codec import BytesBytesCodec
from zarr.codecs.base.described import parse_field_int
from zarr.codecs.base.streams import CompressorMethods
from zarr.types import JSON


def parse_zstd_level(data: JSON) -> int:
    """Return a compression level of at most 22; 0 is the default level of the library, negative levels are faster.

    Raises
    ------
    TypeError
        If it is no int.
    ValueError
        If it is above 22.

    Examples
    --------
    >>> parse_zstd_level(-1)
    -1
    """
    level = parse_field_int(data, "level")
    if level > 22:
        raise ValueError(f"Value must be less than or equal to 22. Got {level} instead.")
    return level


def parse_checksum(data: JSON) -> bool:
    """Return the bool that decides if a checksum is stored.

    Raises
    ------
    TypeError
        If it is no bool.

    Examples
    --------
    >>> parse_checksum(True)
    True
    """
    if isinstance(data, bool):
        return data
    raise TypeError(f"Failed to parse input for 'checksum': expected bool, got {data!r}.")


@record(frozen=True)
class ZstdCodec(CompressorMethods, BytesBytesCodec):
    """Compress with Zstandard.

    Parameters
    ----------
    level
        At most 22; 0 is the library's default, negative levels are faster.
    checksum
        If True, each frame has a checksum.

    Examples
    --------
    >>> from zarr.codecs import ZstdCodec
    >>> ZstdCodec(level=3).to_dict()
    {'name': 'zstd', 'configuration': {'level': 3, 'checksum': False}}
    """

    _name = "zstd"
    _zstd_codec = CompressorMethods._numcodec

    level: int = 0
    checksum: bool = False

    def __init__(self, *, level: int = 0, checksum: bool = False) -> None:
        object.__setattr__(self, "level", parse_zstd_level(level))
        object.__setattr__(self, "checksum", parse_checksum(checksum))
