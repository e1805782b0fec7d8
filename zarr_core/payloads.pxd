# Bytes at the door: where the bytes of a Python object lie.
cimport numpy as cnp
from libc.stdint cimport int64_t


# The object that keeps the bytes alive; TypeError or ValueError for what is not contiguous bytes.
cdef object view_bytes(object payload, const char** data, int64_t* n)
# False for objects and StringDType, whose items are not the bytes in the array.
cdef bint has_plain_items(cnp.ndarray array) noexcept
