# Reading less than a chunk: arguments are trusted, `strides` are those of the chunk, in bytes, one per grid dimension.
from libc.stdint cimport int64_t

from zarr_core.plan cimport Plan
from zarr_core.streams cimport Context

# True if so little of a chunk is wanted that the rest is better left alone: the bytes from low to high.
cdef bint some_of(
    Plan plan, Py_ssize_t itemsize, Py_ssize_t slot, bint whole, const Py_ssize_t* strides, int64_t nbytes,
    int64_t* low, int64_t* high,
) noexcept nogil
# True if a selection takes but one item here and there of a chunk.
cdef bint few_of(Plan plan, Py_ssize_t itemsize, Py_ssize_t slot, int64_t nbytes) noexcept nogil
# Reads a few items out of a byte-shuffled blosc frame into their places; False where that is not possible.
cdef bint picked(
    Plan plan, Py_ssize_t slot, Py_ssize_t itemsize, Context* c, const char* src, int64_t n,
    const Py_ssize_t* strides, int64_t nbytes, char* out, const Py_ssize_t* out_strides,
) noexcept nogil
