# Slots by shard, at C level.
from libc.stdint cimport int64_t

from zarr_core.plan cimport Plan


# Inner-chunk slots of a plan grouped by the shard that holds them.
cdef struct ShardAxis:
    int64_t every           # inner chunks per shard, 0 where it varies
    int64_t nstarts         # shards described where it varies
    int64_t* starts         # nstarts + 1 first inner chunks, else NULL
    int64_t ngroups         # product plans: shards touched along the axis
    int64_t* bounds         # product plans: touched chunks bounds[g] .. bounds[g + 1] lie in one shard


cdef class ShardGroups:
    cdef readonly Plan plan
    cdef readonly Py_ssize_t ngroups
    cdef readonly int ndim
    cdef ShardAxis* axes
    cdef int64_t* order         # points and masks: slots grouped by shard, else NULL
    cdef int64_t* order_starts  # points and masks: ngroups + 1
    cdef Py_ssize_t check(self, object g) except -1


cdef Py_ssize_t group_size(ShardGroups groups, Py_ssize_t g) noexcept nogil
cdef void group_coords(ShardGroups groups, Py_ssize_t g, int64_t* coords) noexcept nogil
cdef void group_chunks_per_shard(ShardGroups groups, Py_ssize_t g, int64_t* counts) noexcept nogil
# Writes group_size() slot indexes and their C-order inner-chunk indexes within the shard; either may be NULL.
cdef void group_slots(ShardGroups groups, Py_ssize_t g, int64_t* slots, int64_t* inner) noexcept nogil
