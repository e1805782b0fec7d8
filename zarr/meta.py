"""Metadata documents of format 2: the import path of zarr-python 2 for :mod:`zarr.compat.version2.meta`."""

from __future__ import annotations

from zarr.compat.version2.meta import *  # noqa: F403
