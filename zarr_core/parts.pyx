"""Find the parts of a chunk that a selection needs, and decode them without the rest.

If they lie together, a few blocks are decoded; if they are scattered, single bytes of blocks that stay shuffled.
"""
from libc.stdint cimport INT64_MAX, int64_t

from zarr_core.blosc cimport BloscFrame, blosc_open, blosc_planes
from zarr_core.chunks cimport scatter_slot
from zarr_core.grid cimport axis_offset
from zarr_core.plan cimport MAX_RANK, PLAN_MASK, PLAN_POINTS, Piece, Plan, slot_coordinates, slot_pieces
from zarr_core.streams cimport Context, scratch_reserve

cdef enum:
    PARTIAL_BYTES = 16 << 10    # chunks below are always read whole
    FEW_POINTS = 64             # more points than these are taken to lie all over the chunk
    SCATTERED = 32              # one item in so many: cheaper to pick byte by byte than to put all bytes in order


cdef bint touched(
    Plan plan, Py_ssize_t slot, const Py_ssize_t* strides, Py_ssize_t itemsize, int64_t* low, int64_t* high,
) noexcept nogil:
    """The bytes of a chunk between the first and the last element wanted."""
    cdef Piece pieces[MAX_RANK]
    cdef Piece* p
    cdef int64_t first, last, k, at
    cdef int axis
    if plan.kind == PLAN_MASK:
        return False
    if plan.kind == PLAN_POINTS:
        return touched_points(plan, slot, strides, itemsize, low, high)
    slot_pieces(plan, slot, pieces)
    low[0] = 0
    high[0] = itemsize
    for axis in range(plan.ndim):
        p = &pieces[axis]
        if p.n <= 0:
            return False
        if p.positions == NULL:
            first = p.inner
            last = p.inner + (p.n - 1) * p.step
        else:
            first = last = p.positions[0] - p.offset
            for k in range(1, p.n):
                at = p.positions[k] - p.offset
                first = at if at < first else first
                last = at if at > last else last
        low[0] += first * strides[axis]
        high[0] += last * strides[axis]
    return True


cdef bint touched_points(
    Plan plan, Py_ssize_t slot, const Py_ssize_t* strides, Py_ssize_t itemsize, int64_t* low, int64_t* high,
) noexcept nogil:
    cdef int64_t coords[MAX_RANK]
    cdef int64_t at, k
    cdef int axis
    if plan.slot_starts[slot + 1] - plan.slot_starts[slot] > FEW_POINTS:
        return False
    slot_coordinates(plan, slot, coords)
    low[0] = INT64_MAX
    high[0] = 0
    for k in range(plan.slot_starts[slot], plan.slot_starts[slot + 1]):
        at = 0
        for axis in range(plan.ndim):
            at += (plan.points[k * plan.ndim + axis] - axis_offset(&plan.grid.c[axis], coords[axis])) * strides[axis]
        low[0] = at if at < low[0] else low[0]
        high[0] = at + itemsize if at + itemsize > high[0] else high[0]
    return True


cdef bint some_of(
    Plan plan, Py_ssize_t itemsize, Py_ssize_t slot, bint whole, const Py_ssize_t* strides, int64_t nbytes,
    int64_t* low, int64_t* high,
) noexcept nogil:
    """Return True if so little of a chunk is wanted that the rest is better left alone."""
    if whole or nbytes < PARTIAL_BYTES:
        return False
    if not touched(plan, slot, strides, itemsize, low, high):
        return False
    return high[0] - low[0] <= nbytes // 2


cdef bint few_of(Plan plan, Py_ssize_t itemsize, Py_ssize_t slot, int64_t nbytes) noexcept nogil:
    """Return True if a selection takes only scattered items of a chunk."""
    cdef Piece pieces[MAX_RANK]
    cdef int64_t count = 1, most = nbytes // (SCATTERED * itemsize)
    cdef int axis
    if plan.kind == PLAN_MASK or nbytes < PARTIAL_BYTES:
        return False
    if plan.kind == PLAN_POINTS:
        return plan.slot_starts[slot + 1] - plan.slot_starts[slot] <= most
    slot_pieces(plan, slot, pieces)
    for axis in range(plan.ndim):
        if pieces[axis].n > most:
            return False
        count *= pieces[axis].n
        if count > most:
            return False
    return True


cdef bint picked(
    Plan plan, Py_ssize_t slot, Py_ssize_t itemsize, Context* c, const char* src, int64_t n,
    const Py_ssize_t* strides, int64_t nbytes, char* out, const Py_ssize_t* out_strides,
) noexcept nogil:
    """Read a few items of a shuffled blosc frame without unshuffling it; return False if that is impossible."""
    cdef BloscFrame f
    cdef Py_ssize_t steps[MAX_RANK]
    cdef char* planes
    cdef int k
    if itemsize < 2 or blosc_open(&f, src, n) < 0 or f.nbytes != nbytes or f.typesize != itemsize:
        return False
    planes = scratch_reserve(&c.ping, nbytes)
    if planes == NULL or blosc_planes(c, &f, planes) < 0:
        return False
    for k in range(plan.ndim):
        steps[k] = strides[k] // itemsize
    for k in range(<int>itemsize):
        scatter_slot(plan, slot, planes + k * (nbytes // itemsize), steps, out + k, out_strides, 1, 0)
    return True
