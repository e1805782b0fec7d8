# Shard indexes of files, kept with what the file system said of the file that they were read from.
from libc.stdint cimport int64_t

from zarr_core.files cimport zc_stamp
from zarr_core.shard_index cimport IndexFormat


cdef enum:
    WAYS = 8                # places where an index may lie
    PLACES = 1024           # in all, of 128 sets


# One index; its bytes follow.
cdef struct KeptIndex:
    int64_t users           # the cache is one, each reader another; the last one frees
    int64_t used            # the look-up that it served last
    zc_stamp stamp
    int64_t nchunks
    int64_t nbytes
    int form


cdef class IndexCache:
    cdef readonly int64_t capacity
    cdef void* lock
    cdef int64_t clock
    cdef int64_t held
    cdef int64_t count
    cdef int64_t hits
    cdef int64_t misses
    cdef KeptIndex* places[PLACES]


cdef char* index_bytes(KeptIndex* index) noexcept nogil
# The index of a file that is still what it was, or NULL; to be let go.
cdef KeptIndex* find_kept(IndexCache cache, const zc_stamp* stamp, IndexFormat form, int64_t nchunks) noexcept nogil
# Room for an index that may be kept, or NULL where it had better not be.
cdef KeptIndex* make_kept(
    IndexCache cache, const zc_stamp* stamp, IndexFormat form, int64_t nchunks, int64_t nbytes,
) noexcept nogil
cdef void keep_index(IndexCache cache, KeptIndex* index) noexcept nogil
cdef void let_go(KeptIndex* index) noexcept nogil
