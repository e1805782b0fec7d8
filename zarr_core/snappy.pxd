# Raw snappy streams, as blosc has them in its frames.
from libc.stdint cimport int64_t, uint8_t


# The decoded size, at most `room`, or below 0.
cdef int64_t snappy_decode(const uint8_t* src, int64_t n, uint8_t* dst, int64_t room) noexcept nogil
# The encoded size; 0 where there is not room enough.
cdef int64_t snappy_encode(const uint8_t* src, int64_t n, uint8_t* dst, int64_t room) noexcept nogil
