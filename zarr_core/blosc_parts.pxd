# Some bytes of a blosc frame, without the rest: of one in memory, or of one in a file that is not read whole.
from libc.stdint cimport int64_t, uint8_t

from zarr_core.blosc cimport BloscFrame
from zarr_core.streams cimport Context


# A stored chunk of n bytes: all of it in memory, or memory for all of it and the file that it comes from.
cdef struct Stored:
    char* data
    int64_t n
    int fd                  # -1: all is there
    int64_t at              # where in the file the chunk begins
    int64_t begin           # what was read last: the bytes from begin to end
    int64_t end


cdef Stored stored_in_memory(const char* data, int64_t n) noexcept nogil
# Room for n bytes at `data`, into which they are read as they are needed.
cdef Stored stored_in_file(char* data, int64_t n, int fd, int64_t at) noexcept nogil
# A chunk's memory in which only the bytes from low to high, and some near them, are decoded; NULL where that is not
# possible, or something is wrong.
cdef const char* blosc_some(Context* c, Stored* s, int64_t nbytes, int64_t low, int64_t high) noexcept nogil
# The same of a frame whose header was looked at; the first byte of the block of `low` goes to dst, which has room for
# all blocks up to that of `high`. Not for frames that are stored plain. 0, or below.
cdef int64_t blosc_range(
    Context* c, Stored* s, const BloscFrame* f, int64_t low, int64_t high, uint8_t* dst,
) noexcept nogil
