"""Metadata documents of format 2, at the import path of zarr-python 2; re-exports."""

from __future__ import annotations

from zarr.compat.version2.meta import *  # noqa: F403
