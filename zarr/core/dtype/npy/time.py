"""Times and durations; re-exports."""

from __future__ import annotations

from zarr.core.dtype.npy.common import datetime_from_int as datetime_from_int
from zarr.core.dtype.npy.common import datetimelike_to_int as datetimelike_to_int
from zarr.dtype.json_forms import *
from zarr.dtype.scalars import *
from zarr.dtype.types.times import *
