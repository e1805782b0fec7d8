"""Times and durations."""

from __future__ import annotations

from typing import cast

import numpy as np

from zarr.dtype.json_forms import (
    DateTime64JSON_V2,
    DateTime64JSON_V3,
    TimeDelta64JSON_V2,
    TimeDelta64JSON_V3,
)
from zarr.dtype.types.times import DateTime64, DateTimeUnit, TimeDelta64, TimeDTypeBase


def datetime_from_int(data: int, *, unit: DateTimeUnit, scale_factor: int) -> np.datetime64:
    """A time of numpy, of its count.

    Parameters
    ----------
    data : int
        How many multiples of the unit it is from the start of 1970.
    unit : str
    scale_factor : int
        The multiple.

    Returns
    -------
    numpy.datetime64

    Examples
    --------
    >>> print(datetime_from_int(3, unit="s", scale_factor=10))
    1970-01-01T00:00:30
    """
    return cast("np.datetime64", np.int64(data).view(f"datetime64[{scale_factor}{unit}]"))


def datetimelike_to_int(data: np.datetime64 | np.timedelta64) -> int:
    """The count of a time or a duration of numpy.

    Examples
    --------
    >>> datetimelike_to_int(np.timedelta64(5, "s"))
    5
    """
    return int(data.view(np.int64))


__all__ = [
    "DateTime64",
    "DateTime64JSON_V2",
    "DateTime64JSON_V3",
    "TimeDTypeBase",
    "TimeDelta64",
    "TimeDelta64JSON_V2",
    "TimeDelta64JSON_V3",
    "datetime_from_int",
    "datetimelike_to_int",
]
