"""Small functions, at the import path of zarr-python 2; re-exports."""

from __future__ import annotations

from zarr.compat.version2.util import *  # noqa: F403
