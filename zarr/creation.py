"""Functions that create arrays: those of ``zarr`` and those of the array API standard; re-exports."""

from __future__ import annotations

from zarr.api.create import *  # noqa: F403
from zarr.api.opening import open_array as open_array
from zarr.api.opening import open_like as open_like
from zarr.array_api import *  # noqa: F403
from zarr.storage._format2 import normalize_store_arg as normalize_store_arg
