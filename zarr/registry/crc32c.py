"""``crc32c`` of format 2 by the compiled core, for where numcodecs lacks the package that it computes it with."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

import zarr_core


class CRC32C:
    """A CRC-32C checksum beside the bytes, with the methods of a codec of numcodecs.

    Parameters
    ----------
    location
        ``"end"`` or ``"start"``.

    Raises
    ------
    ValueError
        For another location.

    Examples
    --------
    >>> CRC32C().decode(CRC32C().encode(b"abc")).tobytes()
    b'abc'
    """

    codec_id = "crc32c"
    location = "end"

    def __init__(self, location: str | None = None) -> None:
        if location not in (None, "start", "end"):
            raise ValueError(f"the location of a checksum must be 'start' or 'end', got {location!r}")
        if location is not None:
            self.location = location

    def encode(self, buf: Any) -> bytes:
        """Return the bytes with their checksum."""
        return zarr_core.encode("crc32c", np.ascontiguousarray(buf).view(np.uint8), location=self.location)

    def decode(self, buf: Any, out: Any | None = None) -> Any:
        """Return the bytes without their checksum.

        Raises
        ------
        ValueError
            When the checksum is that of other bytes.
        """
        data = zarr_core.decode("crc32c", buf, location=self.location)
        if out is None:
            return data
        np.asarray(out).reshape(-1).view(np.uint8)[...] = data
        return out

    def get_config(self) -> dict[str, Any]:
        """Return the id, and the location where one was given."""
        return {"id": self.codec_id, **vars(self)}

    @classmethod
    def from_config(cls, config: Any) -> Self:
        """Return the codec of a configuration."""
        return cls(**config)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CRC32C) and self.location == other.location

    def __hash__(self) -> int:
        return hash((self.codec_id, self.location))

    def __repr__(self) -> str:
        return f"CRC32C(location={self.location!r})"
