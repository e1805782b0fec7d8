"""Lay out shards that are written: their chunks, the order in which these are stored, their index."""
cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport calloc, free

from zarr_core.chunk_io cimport ChunkWriter, checked_indices, slot_at
from zarr_core.plan cimport MAX_RANK, slot_whole
from zarr_core.shard_groups cimport ShardGroups, group_chunks_per_shard, group_coords, group_size, group_slots
from zarr_core.shard_index cimport IndexFormat, index_clear, index_nbytes
from zarr_core.shard_reading cimport check_groups, shard_chunks
from zarr_core.streams cimport Scratch, scratch_reserve

import numpy as np

from zarr_core.grid import morton_order

cnp.import_array()

WRITE_ORDERS = ("morton", "unordered", "lexicographic", "colexicographic")


cdef class ShardWriter(ChunkWriter):
    """The part of a writing job that knows one shard."""

    def __dealloc__(self):
        free(self.status)
        free(self.codes)
        free(self.sequences)


cdef int set_shards(ShardWriter w, ShardGroups groups, IndexFormat index, str write_order, object which) except -1:
    check_groups(groups, w.plan)
    if write_order not in WRITE_ORDERS:
        raise ValueError(f"write_order must be one of {', '.join(WRITE_ORDERS)}, got {write_order!r}")
    w.groups = groups
    w.index = index
    w.write_order = write_order
    w.count = groups.ngroups
    if which is not None:
        w.which_array = checked_indices("which", which, groups.ngroups)
        w.which = <const int64_t*>cnp.PyArray_DATA(w.which_array)
        w.count = cnp.PyArray_SIZE(w.which_array)
    w.status = <uint8_t*>calloc(w.count + 1, 1)
    w.codes = <int*>calloc(w.count + 1, sizeof(int))
    w.sequences = <const int64_t**>calloc(w.count + 1, sizeof(int64_t*))
    if w.status == NULL or w.codes == NULL or w.sequences == NULL:
        raise MemoryError
    return plan_sequences(w)


cdef object sequence_of(tuple counts, str order):
    """C-order indexes of a shard's inner chunks in the order in which they are stored."""
    n = 1
    for count in counts:
        n *= count
    if order == "morton" and counts:
        indexes = np.zeros(n, dtype=np.int64)
        for axis, column in enumerate(morton_order(counts).T):
            indexes *= counts[axis]
            indexes += column
        return indexes
    if order == "colexicographic" and counts:
        return np.ascontiguousarray(np.arange(n, dtype=np.int64).reshape(counts).T.reshape(-1))
    return np.arange(n, dtype=np.int64)


cdef int plan_sequences(ShardWriter w) except -1:
    """One table per shard shape: nearly always one in all."""
    cdef int64_t counts[MAX_RANK]
    cdef int64_t i
    cdef int k
    w.tables = {}
    for i in range(w.count):
        group_chunks_per_shard(w.groups, slot_at(w.which, i), counts)
        shape = tuple([counts[k] for k in range(w.groups.ndim)])
        table = w.tables.get(shape)
        if table is None:
            table = w.tables[shape] = sequence_of(shape, w.write_order)
        w.sequences[i] = <const int64_t*>cnp.PyArray_DATA(table)
    return 0


cdef bint lay_out(ShardWriter w, Scratch* memory, Py_ssize_t g, Shard* shard) noexcept nogil:
    cdef int64_t n = group_size(w.groups, g), k
    cdef int64_t* slots
    shard.nchunks = shard_chunks(w.groups, g)
    shard.index_size = index_nbytes(w.index, shard.nchunks)
    if shard.nchunks < 0 or n != chunks_inside(w.groups, g):
        return False
    shard.slot_of = <int64_t*>scratch_reserve(memory, 8 * shard.nchunks + 16 * n + shard.index_size)
    if shard.slot_of == NULL:
        return False
    slots = shard.slot_of + shard.nchunks
    shard.index = <char*>(slots + 2 * n)
    group_slots(w.groups, g, slots, slots + n)
    for k in range(shard.nchunks):
        shard.slot_of[k] = -1
    for k in range(n):
        shard.slot_of[slots[n + k]] = slots[k]
        if not slot_whole(w.plan, slots[k]):
            return False
    index_clear(shard.index, shard.nchunks)
    return True


cdef int64_t chunks_inside(ShardGroups groups, Py_ssize_t g) noexcept nogil:
    """Count the inner chunks of a shard that lie inside the array."""
    cdef int64_t coords[MAX_RANK]
    cdef int64_t counts[MAX_RANK]
    cdef int64_t first, last, n = 1
    cdef int k
    group_coords(groups, g, coords)
    group_chunks_per_shard(groups, g, counts)
    for k in range(groups.ndim):
        first = groups.axes[k].starts[coords[k]] if groups.axes[k].every == 0 else coords[k] * groups.axes[k].every
        last = min(first + counts[k], groups.plan.grid.c[k].nchunks)
        n *= last - first
    return n
