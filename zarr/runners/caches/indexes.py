"""Indexes of shards in files, kept in this process; what makes them valid is told in ``zarr_core.IndexCache``."""

from __future__ import annotations

import os

import zarr_core

CAPACITY_BYTES = 16 << 20
"""An inner chunk takes 16 bytes of an index: so many indexes of 4096 inner chunks are kept as 256 shards have."""

INDEXES = zarr_core.IndexCache(CAPACITY_BYTES)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=INDEXES.after_fork)
