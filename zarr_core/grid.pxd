# Chunk grids as plain C structs, for the kernels that walk them without the GIL.
from libc.stdint cimport int64_t

cpdef enum:
    MAX_RANK = 64


cdef struct AxisC:
    int64_t length          # elements along the axis
    int64_t chunk           # chunk length, 0 where chunks vary
    int64_t nchunks         # chunks that hold at least one element
    int64_t ncells          # chunks described, also those past the end
    int64_t shortest        # the shortest chunk
    const int64_t* edges    # ncells + 1 offsets where chunks vary, else NULL


cdef class Axis:
    cdef AxisC c
    cdef int64_t check(self, object i) except -1


cdef class RegularAxis(Axis):
    pass


cdef class VaryingAxis(Axis):
    cdef int64_t* offsets


cdef class Grid:
    cdef readonly int ndim
    cdef readonly tuple axes
    cdef readonly tuple shape
    cdef AxisC* c


cdef inline int64_t axis_find(const AxisC* axis, int64_t position) noexcept nogil:
    """The chunk that holds a position; the position must lie inside the axis."""
    cdef int64_t low, high, middle
    if axis.edges == NULL:
        return position // axis.chunk
    low = 0
    high = axis.ncells
    while high - low > 1:
        middle = (low + high) >> 1
        if axis.edges[middle] <= position:
            low = middle
        else:
            high = middle
    return low


cdef inline int64_t axis_offset(const AxisC* axis, int64_t chunk) noexcept nogil:
    """The position of a chunk's first element."""
    if axis.edges == NULL:
        return chunk * axis.chunk
    return axis.edges[chunk]


cdef inline int64_t axis_chunk_length(const AxisC* axis, int64_t chunk) noexcept nogil:
    """The length the codecs see, overhang included."""
    if axis.edges == NULL:
        return axis.chunk
    return axis.edges[chunk + 1] - axis.edges[chunk]


cdef inline int64_t axis_valid_length(const AxisC* axis, int64_t chunk) noexcept nogil:
    """The part of a chunk that lies inside the axis."""
    cdef int64_t left = axis.length - axis_offset(axis, chunk)
    cdef int64_t length = axis_chunk_length(axis, chunk)
    if left < 0:
        return 0
    return length if length < left else left
