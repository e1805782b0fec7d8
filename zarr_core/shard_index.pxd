# The index of a shard: for each inner chunk its offset and length, in C order.
from libc.stdint cimport int64_t, uint64_t


cdef enum:
    ENTRY = 16              # bytes of one (offset, length)


cdef class IndexFormat:
    cdef readonly str location
    cdef readonly bint checksum
    cdef bint at_start


# One stored range and what it is for.
cdef struct Range:
    int64_t offset
    int64_t length
    int64_t tag


cdef int64_t index_nbytes(IndexFormat f, int64_t nchunks) noexcept nogil
# True if the stored checksum, where there is one, is right.
cdef bint index_sound(IndexFormat f, const char* raw, int64_t nchunks) noexcept nogil
# 1: a chunk, 0: none, -1: a range that cannot be in a shard of so many bytes.
cdef int index_entry(const char* raw, int64_t i, int64_t shard_nbytes, int64_t* offset, int64_t* length) noexcept nogil
cdef void index_clear(char* raw, int64_t nchunks) noexcept nogil
cdef void index_store(char* raw, int64_t i, int64_t offset, int64_t length) noexcept nogil
cdef void index_seal(IndexFormat f, char* raw, int64_t nchunks) noexcept nogil
cdef void sort_ranges(Range* ranges, int64_t n) noexcept nogil
# The number of sorted ranges from `first` on that are worth one read, and where that read ends.
cdef int64_t coalesce(
    const Range* ranges, int64_t first, int64_t n, int64_t max_gap, int64_t max_bytes, int64_t* stop,
) noexcept nogil
