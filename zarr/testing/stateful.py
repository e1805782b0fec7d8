"""State machines of hypothesis: a store against a dictionary, a hierarchy against another one in memory.

Authors of stores run them with their own::

    def test_my_store(my_store):
        run_state_machine_as_test(lambda: ZarrStoreStateMachine(my_store))
"""

from __future__ import annotations

import zarr
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.arrays.array import Array
from zarr.buffer import cpu
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.codecs import BytesCodec
from zarr.runners.sync import SyncMixin
from zarr.storage import LocalStore, MemoryStore
from zarr.testing.machines.store import (
    MAX_BINARY_SIZE,
    SyncStoreWrapper,
    ZarrHierarchyStateMachine,
    ZarrStoreStateMachine,
    split_prefix_name,
    with_frequency,
)
from zarr.testing.strategies import arrays as zarr_arrays
from zarr.testing.strategies import (
    basic_indices,
    chunk_paths,
    key_ranges,
    orthogonal_indices,
)
from zarr.testing.strategies import keys as zarr_keys

__all__ = [
    "MAX_BINARY_SIZE",
    "Array",
    "Buffer",
    "BufferPrototype",
    "BytesCodec",
    "LocalStore",
    "MemoryStore",
    "OffsetByteRequest",
    "RangeByteRequest",
    "Store",
    "SuffixByteRequest",
    "SyncMixin",
    "SyncStoreWrapper",
    "ZarrHierarchyStateMachine",
    "ZarrStoreStateMachine",
    "basic_indices",
    "chunk_paths",
    "cpu",
    "default_buffer_prototype",
    "key_ranges",
    "orthogonal_indices",
    "split_prefix_name",
    "with_frequency",
    "zarr",
    "zarr_arrays",
    "zarr_keys",
]
