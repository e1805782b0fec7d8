# Chunk coordinates to store keys.
from libc.stdint cimport int64_t


cdef class KeyFormat:
    cdef readonly str prefix
    cdef readonly str separator
    cdef readonly str style
    cdef bytes head             # everything before the first coordinate's separator
    cdef bytes zero             # the whole key of a 0-d array's chunk
    cdef const char* head_data  # what head and zero hold
    cdef const char* zero_data
    cdef Py_ssize_t head_size
    cdef Py_ssize_t zero_size
    cdef char separator_char
    cdef bint lead              # a separator stands before the first coordinate


# Writes the key (no terminating NUL) and returns its length in bytes, or -1 where size
# is below key_capacity().
cdef Py_ssize_t format_key(
    KeyFormat k, const int64_t* coords, int ndim, char* buffer, Py_ssize_t size,
) noexcept nogil
# Bytes that suffice for any key of that rank.
cdef Py_ssize_t key_capacity(KeyFormat k, int ndim) noexcept nogil
# The key of one chunk as text.
cdef object one_key(KeyFormat k, const int64_t* coords, int ndim)
