"""Indexes of shards in files, kept in this process; what makes them valid is told in ``zarr_core.IndexCache``."""

from __future__ import annotations

import zarr_core
from zarr._process import at_fork

CAPACITY_BYTES = 16 << 20
"""An inner chunk takes 16 bytes of an index: so many indexes of 4096 inner chunks are kept as 256 shards have."""

INDEXES = zarr_core.IndexCache(CAPACITY_BYTES)
at_fork(renew=INDEXES.after_fork)
