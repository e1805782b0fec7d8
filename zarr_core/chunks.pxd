# Chunk assembly at C level. Arguments are trusted: the Python functions are the guarded door.
# chunk_strides has one entry per grid dimension; out_strides and value_strides one per dimension of plan.shape.
cimport numpy as cnp
from libc.stdint cimport int64_t

from zarr_core.grid cimport MAX_RANK
from zarr_core.plan cimport Plan


cdef enum:
    RELEASE_GIL_BYTES = 65536


cdef void scatter_slot(
    Plan plan, Py_ssize_t i, const char* chunk, const Py_ssize_t* chunk_strides,
    char* out, const Py_ssize_t* out_strides, Py_ssize_t itemsize, int swap_width,
) noexcept nogil
cdef void gather_slot(
    Plan plan, Py_ssize_t i, const char* value, const Py_ssize_t* value_strides,
    char* chunk, const Py_ssize_t* chunk_strides, Py_ssize_t itemsize, int swap_width,
) noexcept nogil
cdef void fill_slot(
    Plan plan, Py_ssize_t i, char* out, const Py_ssize_t* out_strides, Py_ssize_t itemsize, const char* value,
) noexcept nogil
# The place in the output where a chunk can be decoded without a copy: the slot is whole, the chunk does not overhang
# the array, and the output region has exactly the chunk's (contiguous) strides. NULL otherwise.
cdef char* slot_target(
    Plan plan, Py_ssize_t i, char* out, const Py_ssize_t* out_strides, Py_ssize_t itemsize,
    const Py_ssize_t* chunk_strides,
) noexcept nogil
# The places of the bytes of a whole chunk, one after another: rows of equal length, with steps between them.
cdef struct Rows:
    char* data
    int64_t nbytes              # of a row
    int ndim                    # of what follows; the innermost first
    int64_t counts[MAX_RANK]
    Py_ssize_t steps[MAX_RANK]
# False unless the slot is whole and inside the array, the chunk is in C order, and its rows have no gaps in the output.
cdef bint slot_rows(
    Plan plan, Py_ssize_t i, char* out, const Py_ssize_t* out_strides, Py_ssize_t itemsize,
    const Py_ssize_t* chunk_strides, Rows* rows,
) noexcept nogil
# Sets n items at data to value (overhang padding).
cdef void fill_bytes(char* data, Py_ssize_t n, const char* value, Py_ssize_t itemsize) noexcept nogil
# True if items are plain bytes: NumPy's own numbers, dates, fixed strings and records without objects.
cdef bint fixed_width(cnp.ndarray array)
# A value as a 0-d array of an array's dtype.
cdef cnp.ndarray scalar_array(object value, cnp.ndarray array)
