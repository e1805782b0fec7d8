# NumPy index tuples of a slot, for chunk pipelines written elsewhere. Part of plan.pyx.


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
