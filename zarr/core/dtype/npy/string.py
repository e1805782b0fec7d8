"""Strings; re-exports."""

from __future__ import annotations

from zarr.dtype.json_forms import *
from zarr.dtype.scalars import *
from zarr.dtype.types.text import *
