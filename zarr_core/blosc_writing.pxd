# Blosc frames, made with the memory of a context rather than with memory of their own for every stream.
from libc.stdint cimport int64_t

from zarr_core.streams cimport Context


# The size of the frame, or a negative code. format: 2 snappy, 3 zlib, 4 zstd; others are left to blosc.
cdef int64_t blosc_encode(
    Context* c, int clevel, int shuffle, int typesize, int blocksize, const char* cname, int format,
    const char* src, int64_t n, char* dst, int64_t room,
) noexcept nogil
