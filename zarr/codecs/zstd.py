"""The ``zstd`` codec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from zarr._records import record
from zarr.abc.codec import BytesBytesCodec
from zarr.codecs.base.parsing import configuration_of, parse_field_int
from zarr.codecs.base.streams import CoreStream, native_stage
from zarr.codecs.base.sync_methods import BytesBytesMethods
from zarr.registry import get_numcodec

if TYPE_CHECKING:
    from typing import Self

    from zarr.abc.codec import CodecJSON_V2
    from zarr.abc.numcodec import Numcodec
    from zarr.chunks.spec import ArraySpec
    from zarr.types import JSON


def parse_zstd_level(data: JSON) -> int:
    """Return a compression level of at most 22; 0 stands for the library's default, below that is fast.

    Raises
    ------
    TypeError
        When it is no int.
    ValueError
        When it is above 22.

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
    """Return whether to store a checksum.

    Raises
    ------
    TypeError
        When it is no bool.

    Examples
    --------
    >>> parse_checksum(True)
    True
    """
    if isinstance(data, bool):
        return data
    raise TypeError(f"Failed to parse input for 'checksum': expected bool, got {data!r}.")


@record(frozen=True)
class ZstdCodec(BytesBytesMethods, BytesBytesCodec):
    """Compress with Zstandard.

    Parameters
    ----------
    level
        At most 22; 0 is the library's default, negative levels are faster.
    checksum
        Whether each frame carries a checksum.

    Examples
    --------
    >>> ZstdCodec(level=3).to_dict()
    {'name': 'zstd', 'configuration': {'level': 3, 'checksum': False}}
    """

    is_fixed_size = False

    level: int = 0
    checksum: bool = False

    def __init__(self, *, level: int = 0, checksum: bool = False) -> None:
        object.__setattr__(self, "level", parse_zstd_level(level))
        object.__setattr__(self, "checksum", parse_checksum(checksum))

    @property
    def _zstd_codec(self) -> Numcodec:
        """The same codec in numcodecs, for those who store it in format 2."""
        return get_numcodec(cast("CodecJSON_V2[str]", {"id": "zstd", "level": self.level, "checksum": self.checksum}))

    @classmethod
    def from_dict(cls, data: dict[str, JSON]) -> Self:
        """Return the codec that a JSON object describes."""
        return cls(**configuration_of(data, "zstd"))

    def to_dict(self) -> dict[str, JSON]:
        """Return the JSON object that describes this codec."""
        return {"name": "zstd", "configuration": {"level": self.level, "checksum": self.checksum}}

    def bind(self, spec: ArraySpec) -> CoreStream:
        """Make the codec ready for chunks of one description."""
        stage = native_stage({"id": "zstd", "level": self.level, "checksum": self.checksum}, 1)
        assert stage is not None
        return CoreStream("zstd", spec, stage)

    def compute_encoded_size(self, _input_byte_length: int, _chunk_spec: ArraySpec) -> Any:
        """Raise, because the size depends on the data."""
        return super().compute_encoded_size(_input_byte_length, _chunk_spec)
