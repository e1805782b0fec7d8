"""Compiled core: chunk grids, selection plans, chunk assembly, byte kernels, native decoding, bulk transfer.

May import: numpy, numcodecs (its compiled modules, for their C symbols), the standard library; nothing of ``zarr``.
Read first: ``grid.pyx``, then ``plan.pyx``; ``reference/`` says the same in plain NumPy.
"""

from __future__ import annotations

from zarr_core.reference.bulk import ReadJob, WriteJob
from zarr_core.reference.chunks import fill, gather, is_filled, scatter
from zarr_core.reference.decoders import available, decode, decode_blosc_range, encode
from zarr_core.reference.grid import MAX_RANK, Axis, Grid, RegularAxis, VaryingAxis, morton_order
from zarr_core.reference.keys import KeyFormat
from zarr_core.reference.plan import Plan, ShardGroups, Slot
from zarr_core.reference.planners import plan_basic, plan_blocks, plan_mask, plan_orthogonal, plan_points
from zarr_core.reference.program import Program
from zarr_core.reference.shard_index import IndexFormat, build_index, coalesce_ranges, parse_index
from zarr_core.reference.shards import ShardReadJob, ShardWriteJob
from zarr_core.reference.shuffle import (
    bitshuffle,
    bitunshuffle,
    byteswap,
    delta_decode,
    delta_encode,
    shuffle,
    unshuffle,
)
from zarr_core.reference.vlen import pack_bytes, pack_utf8, unpack_bytes, unpack_utf8
