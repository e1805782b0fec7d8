"""Compiled core: chunk grids, selection plans, chunk assembly, byte kernels, native decoding, bulk transfer.

May import: numpy, numcodecs (its compiled modules, for their C symbols), the standard library; nothing of ``zarr``.
Read first: ``grid.pyx``, then ``plan.pyx``; ``reference/`` has the same functions in plain NumPy.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

IMPLEMENTATION = os.environ.get("ZARR_CORE_IMPL", "compiled")
if IMPLEMENTATION not in ("compiled", "reference"):
    raise ImportError(f"ZARR_CORE_IMPL must be 'compiled' or 'reference', got {IMPLEMENTATION!r}")

REMEDY = """zarr's compiled core cannot be imported ({error}).

Install a wheel (pip install --force-reinstall zarr), or build the extensions in a source tree
(python setup.py build_ext --inplace; needs a C compiler and Cython).
To run on the slow NumPy implementation instead, set the environment variable ZARR_CORE_IMPL=reference."""

# One implementation, chosen here and nowhere else. The slow one is used only on request.
if TYPE_CHECKING:
    from zarr_core.arrow import check_arrow, pack_arrow, unpack_arrow
    from zarr_core.bits import pack_bits, round_bits, unpack_bits
    from zarr_core.bulk import ReadJob, WriteJob
    from zarr_core.casting import cast_numbers
    from zarr_core.chunks import fill, gather, scatter
    from zarr_core.decoders import available, decode, decode_blosc_range, encode
    from zarr_core.documents import has_no_links, is_plain_key, put_file, read_file, read_files
    from zarr_core.files import exchange_files, remove_folder
    from zarr_core.fill_values import is_filled
    from zarr_core.folder_locks import Folder, FolderLock, trusts_locks, try_lock
    from zarr_core.grid import Grid, RegularAxis, VaryingAxis, morton_order
    from zarr_core.index_cache import IndexCache
    from zarr_core.json_members import find_json_members
    from zarr_core.keys import KeyFormat
    from zarr_core.plan import Plan, Slot
    from zarr_core.planners import plan_basic, plan_blocks, plan_orthogonal
    from zarr_core.point_planners import plan_mask, plan_points
    from zarr_core.program import Program
    from zarr_core.shard_groups import ShardGroups
    from zarr_core.shard_index import IndexFormat, build_index, parse_index
    from zarr_core.shard_reading import ShardReadJob
    from zarr_core.shard_writing import ShardWriteJob
    from zarr_core.shared_reading import SharedReadJob
    from zarr_core.vlen import pack_bytes, pack_utf8, unpack_bytes, unpack_utf8
elif IMPLEMENTATION == "compiled":
    try:
        from zarr_core.grid import Grid, RegularAxis, VaryingAxis, morton_order
        from zarr_core.plan import Plan, Slot
        from zarr_core.planners import plan_basic, plan_blocks, plan_orthogonal
        from zarr_core.program import Program
    except ImportError as error:
        raise ImportError(REMEDY.format(error=error), name=error.name, path=error.path) from error
    # The others are loaded when one of their names is first used.
    LATER = {
        "arrow": "check_arrow pack_arrow unpack_arrow",
        "bits": "pack_bits round_bits unpack_bits",
        "bulk": "ReadJob WriteJob",
        "casting": "cast_numbers",
        "chunks": "fill gather scatter",
        "decoders": "available decode decode_blosc_range encode",
        "documents": "has_no_links is_plain_key put_file read_file read_files",
        "files": "exchange_files remove_folder",
        "fill_values": "is_filled",
        "folder_locks": "Folder FolderLock trusts_locks try_lock",
        "index_cache": "IndexCache",
        "json_members": "find_json_members",
        "keys": "KeyFormat",
        "point_planners": "plan_mask plan_points",
        "shard_groups": "ShardGroups",
        "shard_index": "IndexFormat build_index parse_index",
        "shard_reading": "ShardReadJob",
        "shard_writing": "ShardWriteJob",
        "shared_reading": "SharedReadJob",
        "vlen": "pack_bytes pack_utf8 unpack_bytes unpack_utf8",
    }
    _HOMES = {name: f"zarr_core.{module}" for module, names in LATER.items() for name in names.split()}

    def __getattr__(name: str) -> Any:
        """Load the module of a name."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # zarr's way of loading keeps the process from being forked meanwhile.
        load = getattr(sys.modules.get("zarr._lazy"), "load", import_module)
        try:
            found = getattr(load(_HOMES[name]), name)
        except ImportError as error:
            raise ImportError(REMEDY.format(error=error), name=error.name, path=error.path) from error
        globals()[name] = found  # found without this function from now on
        return found
else:
    from zarr_core.reference.arrow import check_arrow, pack_arrow, unpack_arrow
    from zarr_core.reference.bits import pack_bits, round_bits, unpack_bits
    from zarr_core.reference.bulk import ReadJob, WriteJob
    from zarr_core.reference.casting import cast_numbers
    from zarr_core.reference.chunks import fill, gather, scatter
    from zarr_core.reference.decoders import available, decode, decode_blosc_range, encode
    from zarr_core.reference.documents import has_no_links, is_plain_key, put_file, read_file, read_files
    from zarr_core.reference.files import exchange_files, remove_folder
    from zarr_core.reference.fill_values import is_filled
    from zarr_core.reference.folder_locks import Folder, FolderLock, trusts_locks, try_lock
    from zarr_core.reference.grid import Grid, RegularAxis, VaryingAxis, morton_order
    from zarr_core.reference.index_cache import IndexCache
    from zarr_core.reference.json_members import find_json_members
    from zarr_core.reference.keys import KeyFormat
    from zarr_core.reference.plan import Plan, ShardGroups, Slot
    from zarr_core.reference.planners import plan_basic, plan_blocks, plan_mask, plan_orthogonal, plan_points
    from zarr_core.reference.program import Program
    from zarr_core.reference.shard_index import IndexFormat, build_index, parse_index
    from zarr_core.reference.shards import ShardReadJob, ShardWriteJob
    from zarr_core.reference.shared import SharedReadJob
    from zarr_core.reference.vlen import pack_bytes, pack_utf8, unpack_bytes, unpack_utf8


def load_ipython_extension(shell: object) -> None:
    """Make ``import zarr`` load this library in a notebook: ``%load_ext zarr_core``."""
    import_module("zarr_core.install")


__all__ = [
    "IMPLEMENTATION",
    "Folder",
    "FolderLock",
    "Grid",
    "IndexCache",
    "IndexFormat",
    "KeyFormat",
    "Plan",
    "Program",
    "ReadJob",
    "RegularAxis",
    "ShardGroups",
    "ShardReadJob",
    "ShardWriteJob",
    "SharedReadJob",
    "Slot",
    "VaryingAxis",
    "WriteJob",
    "available",
    "build_index",
    "cast_numbers",
    "check_arrow",
    "decode",
    "decode_blosc_range",
    "encode",
    "exchange_files",
    "fill",
    "find_json_members",
    "gather",
    "has_no_links",
    "is_filled",
    "is_plain_key",
    "morton_order",
    "pack_arrow",
    "pack_bits",
    "pack_bytes",
    "pack_utf8",
    "parse_index",
    "plan_basic",
    "plan_blocks",
    "plan_mask",
    "plan_orthogonal",
    "plan_points",
    "put_file",
    "read_file",
    "read_files",
    "remove_folder",
    "round_bits",
    "scatter",
    "trusts_locks",
    "try_lock",
    "unpack_arrow",
    "unpack_bits",
    "unpack_bytes",
    "unpack_utf8",
]
