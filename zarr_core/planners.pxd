# Declarations that selections by position share.
from libc.stdint cimport int64_t

cimport numpy as cnp


cdef enum:
    RELEASE_GIL_ITEMS = 8192    # so many positions are sorted and cut without the GIL


# The value that a user gave for a dimension, as an array; IndexError where that cannot be.
cdef cnp.ndarray as_array(object item, int d)
# An index array as C-contiguous int64.
cdef cnp.ndarray integer_array(cnp.ndarray array, int d)
# Count negative indices from the end, in place; the place of the first one out of bounds, or -1.
cdef Py_ssize_t wrap_positions(int64_t* values, Py_ssize_t stride, Py_ssize_t n, int64_t length) noexcept nogil
