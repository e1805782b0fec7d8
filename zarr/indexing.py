"""Indexers of format 2: the import path of zarr-python 2 for :mod:`zarr.compat.version2.indexing`."""

from __future__ import annotations

from zarr.compat.version2.indexing import *  # noqa: F403
