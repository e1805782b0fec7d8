# Declarations that reading and writing shards share.
from libc.stdint cimport int64_t

from zarr_core.plan cimport Plan
from zarr_core.program cimport Program
from zarr_core.shard_groups cimport ShardGroups


cdef int check_groups(ShardGroups groups, Plan plan) except -1
# Inner chunks per shard, or -1 where the number is absurd.
cdef int64_t shard_chunks(ShardGroups groups, Py_ssize_t g) noexcept nogil
# The number of parts in which a shard is worth working on, by its decoded size.
cdef int64_t parts_by_size(Plan plan, Program program, int64_t nshards) noexcept nogil
