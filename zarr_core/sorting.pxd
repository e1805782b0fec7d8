# Stable ordering of integer keys.
from libc.stdint cimport int64_t

# Writes to order the places of keys in rising order of key; equal keys keep their order. keys are overwritten.
# Every key lies between 0 and span - 1. Returns -1 without memory (nothing is raised), else 0.
cdef int stable_order(int64_t* keys, Py_ssize_t n, int64_t span, int64_t* order) noexcept nogil
# The order that sorts rows of integers lexicographically, equal rows keeping theirs. Returns 1 where the rows are in
# order already (order is not written), 0 where order was written, -1 without memory.
cdef int order_rows(const int64_t* rows, Py_ssize_t n, int ncols, int64_t* order) noexcept nogil


cdef inline bint same_row(const int64_t* a, const int64_t* b, int n) noexcept nogil:
    cdef int d
    for d in range(n):
        if a[d] != b[d]:
            return False
    return True
