# A chain of native stages with pooled contexts.
from libc.stdint cimport int64_t

from zarr_core.stages cimport Stage
from zarr_core.streams cimport Context


cdef enum:
    MAX_STAGES = 16
    POOL = 8


cdef class Program:
    cdef readonly Py_ssize_t itemsize
    cdef readonly int swap_width
    cdef readonly tuple order
    cdef readonly tuple stages
    cdef int nstages
    cdef int rank                       # of the transpose, -1 without one
    cdef int permutation[64]
    cdef Stage stage[MAX_STAGES]
    cdef void* pool[POOL]


cdef Context* program_take(Program p) noexcept nogil
cdef void program_give(Program p, Context* c) noexcept nogil
# Strides of an encoded chunk by array axis; the chunk's size in bytes, or -1 where that overflows.
cdef int64_t program_layout(Program p, const int64_t* shape, int ndim, Py_ssize_t* strides) noexcept nogil
# More bytes than a chunk of nbytes can honestly be stored in; the exact number where `exact` is set.
cdef int64_t program_stored_limit(Program p, int64_t nbytes, bint* exact) noexcept nogil
# 0 or a negative code. *result lies in src, in scratch memory of c, or is dst (which may be NULL).
cdef int64_t program_decode(
    Program p, Context* c, const char* src, int64_t n, int64_t nbytes, char* dst, const char** result,
) noexcept nogil
# The stored size or a negative code. *result is src or lies in scratch memory of c.
cdef int64_t program_encode(Program p, Context* c, const char* src, int64_t n, const char** result) noexcept nogil
