# A plan at C level: which chunks a selection touches, and which part of each.
from libc.stdint cimport int64_t, uint8_t, uint64_t

from zarr_core.grid cimport MAX_RANK, AxisC, Grid, axis_find

cdef extern from "mask.h":
    uint64_t* mask_new "zc_mask_new"(size_t nbytes) noexcept nogil
    void mask_pack "zc_mask_pack"(const uint8_t* bytes, int64_t size, uint64_t* words) noexcept nogil
    uint64_t mask_read "zc_mask_read"(const uint64_t* words, int64_t at, int64_t n) noexcept nogil
    int mask_highest "zc_mask_highest"(uint64_t word) noexcept nogil
    int mask_lowest "zc_mask_lowest"(uint64_t word) noexcept nogil
    int64_t mask_bits "zc_mask_bits"(uint64_t word) noexcept nogil
    int64_t mask_count "zc_mask_count"(const uint64_t* words, int64_t at, int64_t n) noexcept nogil


cdef enum:
    PLAN_PRODUCT = 0        # one selection per axis, combined as a product
    PLAN_POINTS = 1         # a list of points, grouped by chunk
    PLAN_MASK = 2           # a boolean array of the grid's shape


cdef struct AxisSelection:
    int64_t n               # selected positions
    int64_t low             # slices: the smallest selected position
    int64_t step            # slices: distance between positions, > 0
    int64_t ntouched        # chunks touched
    int64_t first           # slices: the first chunk touched
    bint reverse            # slices: the output runs from high positions to low
    bint dropped            # an integer: the axis is absent from the output
    bint sparse             # slices: every position lies in a chunk of its own
    int64_t* ids            # touched chunks where they do not follow from the above, else NULL
    int64_t* starts         # index arrays: chunk j holds positions starts[j] .. starts[j + 1], else NULL
    int64_t* positions      # index arrays: selected positions, grouped by chunk
    int64_t* outs           # index arrays: output place of each position; NULL: its own place
    uint8_t* wholes         # index arrays: 1 where all of the chunk is selected once and in order


cdef struct Piece:
    int64_t chunk           # chunk index along the axis
    int64_t offset          # position of the chunk's first element
    int64_t length          # codec length
    int64_t valid           # length inside the array
    int64_t n               # selected positions in this chunk
    int64_t inner           # slices: first selected element inside the chunk
    int64_t step            # slices: distance between elements, > 0
    int64_t out             # output place of the first element
    int64_t out_step        # +1 or -1
    bint whole
    const int64_t* positions    # index arrays: positions in the array (subtract offset), else NULL
    const int64_t* outs         # index arrays: output places; NULL: out, out + out_step, ...


cdef struct SlotView:
    int ndim
    int64_t coords[64]
    int64_t chunk_shape[64]
    int64_t valid_shape[64]
    bint whole


cdef class Plan:
    cdef readonly Grid grid
    cdef readonly int ndim
    cdef readonly Py_ssize_t nslots
    cdef int kind
    cdef int out_ndim
    cdef int64_t* out_shape         # out_ndim
    cdef readonly tuple shape
    cdef AxisSelection* axes        # PLAN_PRODUCT
    cdef Py_ssize_t npoints         # PLAN_POINTS and PLAN_MASK: selected elements
    cdef int64_t* slot_coords       # nslots * ndim
    cdef uint8_t* slot_wholes       # nslots
    cdef int64_t* slot_starts       # PLAN_POINTS: nslots + 1
    cdef int64_t* points            # PLAN_POINTS: npoints * ndim, grouped by chunk
    cdef int64_t* outs              # PLAN_POINTS: output place of each point; NULL: its own place
    cdef uint64_t* mask             # PLAN_MASK: a bit for each element, C order
    cdef int64_t* ranks             # PLAN_MASK: output place at the start of each (row, chunk along the last axis)
    cdef readonly bint all_whole
    cdef Py_ssize_t check(self, object i) except -1


cdef class Slot:
    cdef readonly Plan plan
    cdef readonly Py_ssize_t index
    cdef Plan owner(self)


cdef Plan new_plan(Grid grid, int kind)
cdef int set_shape(Plan plan, int ndim, const int64_t* shape) except -1
cdef void axis_piece(const AxisC* axis, const AxisSelection* s, int64_t j, Piece* piece) noexcept nogil
cdef void slot_pieces(Plan plan, Py_ssize_t i, Piece* pieces) noexcept nogil
cdef void slot_coordinates(Plan plan, Py_ssize_t i, int64_t* coords) noexcept nogil
cdef bint slot_whole(Plan plan, Py_ssize_t i) noexcept nogil
cdef void plan_slot_view(Plan plan, Py_ssize_t i, SlotView* v) noexcept nogil
# Multiplies count by n; -1 where the product passes 2**63 - 1.
cdef int multiply(int64_t* count, int64_t n) noexcept nogil
cdef tuple int_tuple(const int64_t* values, int n)


# The j-th chunk that a selection touches along an axis.
cdef inline int64_t touched_chunk(const AxisC* axis, const AxisSelection* s, int64_t j) noexcept nogil:
    if s.ids != NULL:
        return s.ids[j]
    if s.sparse:
        return axis_find(axis, s.low + j * s.step)
    return s.first + j
