# The parts of a shard that is written: its chunks, their order, its index.
cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t

from zarr_core.chunk_io cimport ChunkWriter
from zarr_core.plan cimport Plan
from zarr_core.program cimport Program
from zarr_core.shard_groups cimport ShardGroups
from zarr_core.shard_index cimport IndexFormat
from zarr_core.streams cimport Scratch


# Whole shards out of an array.
cdef class ShardWriter(ChunkWriter):
    cdef readonly ShardGroups groups
    cdef readonly IndexFormat index
    cdef readonly str write_order
    cdef cnp.ndarray which_array
    cdef const int64_t* which       # groups, NULL: all
    cdef int64_t count
    cdef int64_t next               # the first position that no thread has taken
    cdef uint8_t* status            # per position
    cdef int* codes                 # error numbers
    cdef const int64_t** sequences  # per position: inner chunks in write order
    cdef dict tables                # what they point into


# The facts known of one shard.
cdef struct Shard:
    int64_t nchunks
    int64_t index_size
    int64_t* slot_of        # per inner chunk, -1: none
    char* index


cdef int set_shards(ShardWriter w, ShardGroups groups, IndexFormat index, str write_order, object which) except -1
# Memory for a shard's index and its slots; False unless all its chunks are here, and whole.
cdef bint lay_out(ShardWriter w, Scratch* memory, Py_ssize_t g, Shard* shard) noexcept nogil
