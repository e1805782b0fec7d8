"""Times and durations; re-exports."""

from __future__ import annotations

from zarr.compat.version3.json_values import datetime_from_int, datetimelike_to_int
from zarr.dtype.json_forms import (
    DateTime64JSON_V2,
    DateTime64JSON_V3,
    TimeDelta64JSON_V2,
    TimeDelta64JSON_V3,
)
from zarr.dtype.types.times import DateTime64, TimeDelta64, TimeDTypeBase

__all__ = [
    "DateTime64", "DateTime64JSON_V2", "DateTime64JSON_V3", "TimeDTypeBase", "TimeDelta64", "TimeDelta64JSON_V2",
    "TimeDelta64JSON_V3", "datetime_from_int", "datetimelike_to_int",
]
