"""Functions that open, save and copy, at the import path of zarr-python 2; re-exports."""

from __future__ import annotations

from zarr.api.opening import *  # noqa: F403
from zarr.api.saving import *  # noqa: F403
