"""A plan: which chunks a selection touches, which part of each, and where each part lands in the output.

A plan is a *product* of one selection per axis, or a list of *points* grouped by chunk, or a *mask*. Slots are numbered
in C order of their chunks; nothing is stored per slot of a product, all is worked out from its number.
"""
cimport cython
from libc.stdint cimport INT64_MAX, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from operator import index

import numpy as np

cimport numpy as cnp

from zarr_core.grid cimport AxisC, Grid, axis_chunk_length, axis_find, axis_offset, axis_valid_length

cnp.import_array()


@cython.final
@cython.no_gc
cdef class Plan:
    """The part of each chunk that one selection needs. Made by the ``plan_*`` functions."""

    def __init__(self):
        raise TypeError("plans are made by plan_basic, plan_orthogonal, plan_points, plan_mask and plan_blocks")

    def __dealloc__(self):
        cdef int d
        if self.axes != NULL:
            for d in range(self.ndim):
                free(self.axes[d].ids)
                free(self.axes[d].starts)
                free(self.axes[d].positions)
                free(self.axes[d].outs)
                free(self.axes[d].wholes)
            free(self.axes)
        free(self.out_shape)
        free(self.slot_coords)
        free(self.slot_wholes)
        free(self.slot_starts)
        free(self.points)
        free(self.outs)
        free(self.mask)
        free(self.ranks)

    cdef Py_ssize_t check(self, object i) except -1:
        cdef object slot = i if type(i) is int else index(i)
        if not 0 <= slot < self.nslots:
            raise IndexError(f"slot {slot} is out of range for a plan of {self.nslots} slots")
        return slot

    def coords(self, i):
        """Coordinates of the chunk of slot ``i``."""
        cdef int64_t coords[MAX_RANK]
        slot_coordinates(self, self.check(i), coords)
        return int_tuple(coords, self.ndim)

    def all_coords(self):
        """Coordinates of all slots, as an ``(nslots, ndim)`` array."""
        cdef cnp.ndarray result = np.empty((self.nslots, self.ndim), dtype=np.int64)
        if self.nslots and self.ndim:
            fill_coords(self, <int64_t*> cnp.PyArray_DATA(result))
        return result

    def whole(self, i):
        """Return True if slot ``i`` covers all of its chunk that lies in the array, once and in order."""
        return slot_whole(self, self.check(i))

    def chunk_shape(self, i):
        """Shape of the chunk of slot ``i`` as the codecs see it, overhang included."""
        cdef SlotView view
        plan_slot_view(self, self.check(i), &view)
        return int_tuple(view.chunk_shape, self.ndim)

    def valid_shape(self, i):
        """Shape of the part of the chunk of slot ``i`` that lies in the array."""
        cdef SlotView view
        plan_slot_view(self, self.check(i), &view)
        return int_tuple(view.valid_shape, self.ndim)

    def slot(self, i):
        """Slot ``i`` as an object, for ``scatter``, ``gather`` and ``fill``."""
        cdef Slot slot = Slot.__new__(Slot)
        slot.index = self.check(i)
        slot.plan = self
        return slot

    def __repr__(self):
        return f"<Plan of {self.nslots} slots, shape {self.shape}>"


@cython.final
@cython.no_gc
cdef class Slot:
    """One chunk of a plan."""

    def __init__(self, Plan plan not None, i):
        if self.plan is not None:
            raise TypeError("a slot cannot be initialised twice")
        self.index = plan.check(i)
        self.plan = plan

    cdef Plan owner(self):
        if self.plan is None:
            raise ValueError("this slot belongs to no plan; use Plan.slot(i)")
        return self.plan

    @property
    def coords(self):
        """Coordinates of the chunk."""
        return self.owner().coords(self.index)

    @property
    def whole(self):
        """Return True if the slot covers all of the chunk that lies in the array, once and in order."""
        return slot_whole(self.owner(), self.index)

    @property
    def chunk_shape(self):
        """Shape of the chunk as the codecs see it, overhang included."""
        return self.owner().chunk_shape(self.index)

    @property
    def chunk_selection(self):
        """NumPy index of the wanted part of the chunk."""
        return chunk_index(self.owner(), self.index)

    @property
    def out_selection(self):
        """NumPy index of the place of that part in the output."""
        return out_index(self.owner(), self.index)

    def __repr__(self):
        return f"<Slot {self.index}, chunk {self.coords}>"


cdef Plan new_plan(Grid grid, int kind):
    cdef Plan plan = Plan.__new__(Plan)
    plan.ndim = grid.ndim
    plan.grid = grid
    plan.kind = kind
    if kind == PLAN_PRODUCT:
        plan.axes = <AxisSelection*> calloc(grid.ndim if grid.ndim else 1, sizeof(AxisSelection))
        if plan.axes == NULL:
            raise MemoryError("no memory for a plan")
    return plan


cdef int set_shape(Plan plan, int ndim, const int64_t* shape) except -1:
    plan.out_shape = <int64_t*> malloc((ndim if ndim else 1) * sizeof(int64_t))
    if plan.out_shape == NULL:
        raise MemoryError("no memory for a plan")
    plan.out_ndim = ndim
    memcpy(plan.out_shape, shape, ndim * sizeof(int64_t))
    plan.shape = int_tuple(shape, ndim)
    return 0


cdef tuple int_tuple(const int64_t* values, int n):
    cdef int i
    if n == 1:
        return (values[0],)
    if n == 2:
        return (values[0], values[1])
    if n == 3:
        return (values[0], values[1], values[2])
    return tuple([values[i] for i in range(n)])


cdef int multiply(int64_t* count, int64_t n) noexcept nogil:
    if n and count[0] > INT64_MAX // n:
        return -1
    count[0] *= n
    return 0


cdef inline int64_t members_below(const AxisSelection* s, int64_t position) noexcept nogil:
    """Count the positions of a slice that are smaller than a position."""
    cdef int64_t n
    if position <= s.low:
        return 0
    n = position - s.low if s.step == 1 else (position - s.low - 1) // s.step + 1
    return n if n < s.n else s.n


cdef void axis_piece(const AxisC* axis, const AxisSelection* s, int64_t j, Piece* piece) noexcept nogil:
    cdef int64_t begin
    piece.chunk = touched_chunk(axis, s, j)
    piece.offset = axis_offset(axis, piece.chunk)
    piece.length = axis_chunk_length(axis, piece.chunk)
    piece.valid = axis_valid_length(axis, piece.chunk)
    if s.starts != NULL:
        begin = s.starts[j]
        piece.n = s.starts[j + 1] - begin
        piece.inner = s.positions[begin] - piece.offset
        piece.step = 1
        piece.out = s.outs[begin] if s.outs != NULL else begin
        piece.out_step = 1
        piece.whole = s.wholes[j]
        # All of a chunk in order is a slice.
        piece.positions = NULL if piece.whole else s.positions + begin
        piece.outs = NULL if piece.whole or s.outs == NULL else s.outs + begin
        return
    begin = members_below(s, piece.offset)
    piece.n = members_below(s, piece.offset + piece.valid) - begin
    piece.positions = NULL
    piece.outs = NULL
    piece.inner = s.low + begin * s.step - piece.offset
    piece.step = s.step
    piece.out = s.n - 1 - begin if s.reverse else begin
    piece.out_step = -1 if s.reverse else 1
    piece.whole = piece.n == piece.valid and (piece.n == 1 or not s.reverse)


cdef void slot_pieces(Plan plan, Py_ssize_t i, Piece* pieces) noexcept nogil:
    cdef int d
    cdef int64_t n
    for d in range(plan.ndim - 1, -1, -1):
        n = plan.axes[d].ntouched
        axis_piece(&plan.grid.c[d], &plan.axes[d], i % n, &pieces[d])
        i //= n


cdef void slot_coordinates(Plan plan, Py_ssize_t i, int64_t* coords) noexcept nogil:
    cdef int d
    cdef int64_t n
    if plan.kind != PLAN_PRODUCT:
        memcpy(coords, plan.slot_coords + i * plan.ndim, plan.ndim * sizeof(int64_t))
        return
    for d in range(plan.ndim - 1, -1, -1):
        n = plan.axes[d].ntouched
        coords[d] = touched_chunk(&plan.grid.c[d], &plan.axes[d], i % n)
        i //= n


cdef bint slot_whole(Plan plan, Py_ssize_t i) noexcept nogil:
    cdef int d
    cdef int64_t n
    cdef Piece piece
    if plan.all_whole:
        return True
    if plan.kind != PLAN_PRODUCT:
        return plan.slot_wholes[i]
    for d in range(plan.ndim - 1, -1, -1):
        n = plan.axes[d].ntouched
        axis_piece(&plan.grid.c[d], &plan.axes[d], i % n, &piece)
        if not piece.whole:
            return False
        i //= n
    return True


cdef void plan_slot_view(Plan plan, Py_ssize_t i, SlotView* v) noexcept nogil:
    cdef int d
    v.ndim = plan.ndim
    slot_coordinates(plan, i, v.coords)
    for d in range(plan.ndim):
        v.chunk_shape[d] = axis_chunk_length(&plan.grid.c[d], v.coords[d])
        v.valid_shape[d] = axis_valid_length(&plan.grid.c[d], v.coords[d])
    v.whole = slot_whole(plan, i)


cdef void fill_coords(Plan plan, int64_t* out) noexcept nogil:
    """All slots' coordinates: the last axis runs fastest, so each row is the one before with a carry."""
    cdef int64_t place[MAX_RANK]
    cdef int d, ndim = plan.ndim
    cdef Py_ssize_t i
    if plan.kind != PLAN_PRODUCT:
        memcpy(out, plan.slot_coords, plan.nslots * ndim * sizeof(int64_t))
        return
    for d in range(ndim):
        place[d] = 0
        out[d] = touched_chunk(&plan.grid.c[d], &plan.axes[d], 0)
    for i in range(1, plan.nslots):
        memcpy(out + ndim, out, ndim * sizeof(int64_t))
        out += ndim
        for d in range(ndim - 1, -1, -1):
            place[d] += 1
            if place[d] == plan.axes[d].ntouched:
                place[d] = 0
            out[d] = touched_chunk(&plan.grid.c[d], &plan.axes[d], place[d])
            if place[d]:
                break


# --- NumPy index tuples of a slot, for chunk pipelines written elsewhere

cdef object places(const int64_t* values, int64_t n, int64_t stride, int64_t shift):
    """Every stride-th of some values, less a shift, as an array."""
    cdef cnp.ndarray result = np.empty(n, dtype=np.int64)
    cdef int64_t* data = <int64_t*> cnp.PyArray_DATA(result)
    cdef int64_t i
    for i in range(n):
        data[i] = values[i * stride] - shift
    return result


cdef object inner_index(const Piece* piece):
    if piece.positions != NULL:
        return places(piece.positions, piece.n, 1, piece.offset)
    return slice(piece.inner, piece.inner + (piece.n - 1) * piece.step + 1, piece.step)


cdef object outer_index(const Piece* piece):
    if piece.outs != NULL:
        return places(piece.outs, piece.n, 1, 0)
    if piece.out_step == 1:
        return slice(piece.out, piece.out + piece.n, 1)
    return slice(piece.out, piece.out - piece.n if piece.out >= piece.n else None, -1)


cdef tuple open_mesh(list items):
    """Orthogonal indexing spelled for NumPy: slices as they are, or, with any index array, all as an open mesh."""
    for item in items:
        if isinstance(item, np.ndarray):
            break
    else:
        return tuple(items)
    arrays = []
    for item in items:
        if isinstance(item, slice):
            item = np.arange(item.start, -1 if item.stop is None else item.stop, item.step, dtype=np.int64)
        if isinstance(item, np.ndarray):
            arrays.append(item)
    mesh = iter(np.ix_(*arrays))
    return tuple([item if isinstance(item, int) else next(mesh) for item in items])


cdef object chunk_index(Plan plan, Py_ssize_t i):
    cdef Piece pieces[MAX_RANK]
    cdef int64_t* points
    cdef int d
    cdef list items = []
    if plan.kind == PLAN_MASK:
        return np.nonzero(mask_region(plan, i)) if plan.ndim else (None,)
    if plan.kind == PLAN_POINTS:
        points = plan.points + plan.slot_starts[i] * plan.ndim
        for d in range(plan.ndim):
            shift = axis_offset(&plan.grid.c[d], plan.slot_coords[i * plan.ndim + d])
            if plan.out_ndim:
                items.append(places(points + d, plan.slot_starts[i + 1] - plan.slot_starts[i], plan.ndim, shift))
            else:
                items.append(points[d] - shift)
        return tuple(items)
    slot_pieces(plan, i, pieces)
    for d in range(plan.ndim):
        items.append(pieces[d].inner if plan.axes[d].dropped else inner_index(&pieces[d]))
    return open_mesh(items)


cdef object out_index(Plan plan, Py_ssize_t i):
    cdef Piece pieces[MAX_RANK]
    cdef int64_t begin, end
    cdef int d
    if plan.kind == PLAN_MASK:
        return (mask_places(plan, i),)
    if plan.kind == PLAN_POINTS:
        begin, end = plan.slot_starts[i], plan.slot_starts[i + 1]
        linear = np.arange(begin, end) if plan.outs == NULL else places(plan.outs + begin, end - begin, 1, 0)
        return np.unravel_index(linear, plan.shape) if plan.out_ndim else ()
    slot_pieces(plan, i, pieces)
    return open_mesh([outer_index(&pieces[d]) for d in range(plan.ndim) if not plan.axes[d].dropped])


cdef int64_t row_of_array(Plan plan, const SlotView* v, int64_t row) noexcept nogil:
    """Number, in the array, of a row of a chunk; a row runs along the last axis."""
    cdef int64_t number = 0, base = 1
    cdef int d
    for d in range(plan.ndim - 2, -1, -1):
        number += base * (axis_offset(&plan.grid.c[d], v.coords[d]) + row % v.valid_shape[d])
        base *= plan.grid.c[d].length
        row //= v.valid_shape[d]
    return number


cdef object mask_region(Plan plan, Py_ssize_t i):
    """The mask over the valid part of a slot's chunk, as an array of its own."""
    cdef SlotView v
    cdef int64_t at, row, k, n
    cdef uint8_t* to
    cdef int d, last = plan.ndim - 1
    plan_slot_view(plan, i, &v)
    region = np.empty([v.valid_shape[d] for d in range(plan.ndim)], dtype=bool)
    to = <uint8_t*> cnp.PyArray_DATA(region)
    n = v.valid_shape[last]
    for row in range(region.size // n):
        at = row_of_array(plan, &v, row) * plan.grid.c[last].length + axis_offset(&plan.grid.c[last], v.coords[last])
        for k in range(n):
            to[row * n + k] = mask_read(plan.mask, at + k, 1)
    return region


cdef object mask_places(Plan plan, Py_ssize_t i):
    """Output places of a mask's slot: each row of the chunk holds consecutive ones, from the row's rank on."""
    cdef SlotView v
    cdef int64_t row, entry
    cdef int d, last = plan.ndim - 1
    if plan.ndim == 0:
        return np.zeros(1, dtype=np.int64)
    plan_slot_view(plan, i, &v)
    parts = [np.zeros(0, dtype=np.int64)]
    for row in np.arange(np.prod([v.valid_shape[d] for d in range(last)], dtype=np.int64)):
        entry = row_of_array(plan, &v, row) * plan.grid.c[last].nchunks + v.coords[last]
        parts.append(np.arange(plan.ranks[entry], plan.ranks[entry + 1]))
    return np.concatenate(parts)
