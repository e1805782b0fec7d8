"""Times and durations."""

from __future__ import annotations

from zarr.dtype.spec import DateTime64JSON_V2, DateTime64JSON_V3, TimeDelta64JSON_V2, TimeDelta64JSON_V3
from zarr.dtype.times import DateTime64, TimeDelta64, TimeDTypeBase

__all__ = [
    "DateTime64",
    "DateTime64JSON_V2",
    "DateTime64JSON_V3",
    "TimeDTypeBase",
    "TimeDelta64",
    "TimeDelta64JSON_V2",
    "TimeDelta64JSON_V3",
]
