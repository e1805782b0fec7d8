# Strided copies between two blocks of memory, one loop per dimension.
from libc.stdint cimport int64_t


cdef struct Loop:
    int64_t n                   # times round
    Py_ssize_t ds               # bytes from one destination item to the next
    Py_ssize_t ss               # bytes from one source item to the next
    const int64_t* di           # destination items in units of ds, else NULL: 0, 1, 2, ...
    const int64_t* si           # source items in units of ss, else NULL


# A swap_width for booleans: each byte that is not 0 becomes 1. NumPy counts on that, and other writers may not do it.
cdef enum:
    TRUTH = 1


# Copies all items; the loops are reordered and merged in place (room for one more is needed). swap_width 0: as they
# are, TRUTH: booleans, else every group of 2, 4 or 8 bytes is reversed. A source stride of 0 repeats one item.
cdef void copy_loops(
    char* dst, const char* src, Loop* loops, int nloops, Py_ssize_t itemsize, int swap_width,
) noexcept nogil
# Copies one item.
cdef void copy_one(char* dst, const char* src, Py_ssize_t itemsize, int swap_width) noexcept nogil
# Copies n items at equal strides.
cdef void copy_row(
    char* dst, const char* src, int64_t n, Py_ssize_t ds, Py_ssize_t ss, Py_ssize_t itemsize, int swap_width,
) noexcept nogil
# Makes 1 of each of n bytes that is not 0, where they lie.
cdef void settle_booleans(char* data, int64_t n) noexcept nogil
