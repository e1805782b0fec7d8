"""Plans of single elements: points, and the True elements of a mask."""
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

import numpy as np

cimport numpy as cnp

from zarr_core.grid cimport MAX_RANK, AxisC, Grid, axis_find, axis_offset, axis_valid_length
from zarr_core.plan cimport PLAN_MASK, PLAN_POINTS, Plan, mask_count, mask_new, mask_pack, new_plan, set_shape
from zarr_core.planners cimport RELEASE_GIL_ITEMS, as_array, integer_array, wrap_positions
from zarr_core.sorting cimport order_rows, same_row

cnp.import_array()


def plan_points(Grid grid not None, coords):
    """Plan single elements.

    Parameters
    ----------
    grid
        The chunk grid of the array.
    coords
        One integer array per dimension, broadcast together; negative indices count from the end.

    Returns
    -------
    Plan
        Its shape is the broadcast shape.

    Raises
    ------
    IndexError
        For an index out of bounds, a wrong number of arrays, arrays that do not broadcast, or other dtypes.

    Examples
    --------
    >>> from zarr_core import Grid, RegularAxis, plan_points
    >>> plan_points(Grid([RegularAxis(10, 4), RegularAxis(6, 6)]), ([7, 0], [-1, 2])).nslots
    2
    """
    cdef list arrays = [integer_array(as_array(item, d), d) for d, item in enumerate(coords)]
    cdef int64_t c_shape[MAX_RANK]
    cdef int64_t n = 1
    cdef Plan plan
    cdef tuple shape
    cdef int d
    if len(arrays) != grid.ndim:
        raise IndexError(
            f"points need one coordinate array per dimension: got {len(arrays)} for {grid.ndim} dimensions"
        )
    shape = broadcast_together(arrays)
    for d in range(<int> len(shape)):
        c_shape[d] = shape[d]
        n *= c_shape[d]
    plan = new_plan(grid, PLAN_POINTS)
    set_shape(plan, <int> len(shape), c_shape)
    plan.npoints = n
    plan.points = reserve(n * grid.ndim)
    for d in range(grid.ndim):
        take_coordinates(plan, d, arrays[d])
    group_points(plan)
    return plan


cdef tuple broadcast_together(list arrays):
    """The broadcast shape; the arrays are replaced by their broadcast, contiguous forms."""
    cdef int d
    cdef tuple shape = np.shape(arrays[0]) if arrays else ()
    for d in range(1, <int> len(arrays)):
        if np.shape(arrays[d]) != shape:
            break
    else:
        return shape
    try:
        arrays[:] = [np.ascontiguousarray(array) for array in np.broadcast_arrays(*arrays)]
    except ValueError as error:
        shapes = ", ".join([str(np.shape(array)) for array in arrays])
        raise IndexError(f"coordinate arrays of shapes {shapes} do not broadcast together") from error
    return np.shape(arrays[0])


cdef int64_t* reserve(Py_ssize_t n) except NULL:
    cdef int64_t* memory = <int64_t*> malloc((n + 1) * sizeof(int64_t))
    if memory == NULL:
        raise MemoryError(f"no memory for a selection of {n} numbers")
    return memory


cdef int take_coordinates(Plan plan, int d, cnp.ndarray array) except -1:
    cdef const int64_t* data = <const int64_t*> cnp.PyArray_DATA(array)
    cdef int64_t length = plan.grid.c[d].length
    cdef Py_ssize_t i
    for i in range(plan.npoints):
        plan.points[i * plan.ndim + d] = data[i]
    i = wrap_positions(plan.points + d, plan.ndim, plan.npoints, length)
    if i >= 0:
        raise IndexError(f"index {data[i]} is out of bounds for dimension {d} with length {length}")
    return 0


cdef int group_points(Plan plan) except -1:
    """Bring the points of each chunk together, chunks in C order, points of a chunk in the order given."""
    cdef Py_ssize_t n = plan.npoints
    cdef int status
    plan.slot_coords = reserve(n * plan.ndim)
    plan.slot_starts = reserve(n)
    if n > 1 and plan.ndim:
        plan.outs = reserve(n)
    if n < RELEASE_GIL_ITEMS:
        status = sort_points(plan)
    else:
        with nogil:
            status = sort_points(plan)
    if status < 0:
        raise MemoryError(f"no memory for a selection of {n} points")
    return 0


cdef int sort_points(Plan plan) noexcept nogil:
    """0, or -1 without memory."""
    cdef int status = 1
    find_chunks(plan)
    if plan.outs != NULL:
        status = order_rows(plan.slot_coords, plan.npoints, plan.ndim, plan.outs)
        if status < 0 or (status == 0 and reorder_points(plan) < 0):
            return -1
    if status == 0:
        find_chunks(plan)  # in order, this is faster than to bring what was found into order
    else:
        free(plan.outs)
        plan.outs = NULL
    return cut_points(plan)


cdef void find_chunks(Plan plan) noexcept nogil:
    """Find the chunk of each point."""
    cdef int ndim = plan.ndim, d
    cdef Py_ssize_t i
    for d in range(ndim):
        for i in range(plan.npoints):
            plan.slot_coords[i * ndim + d] = axis_find(&plan.grid.c[d], plan.points[i * ndim + d])


cdef int cut_points(Plan plan) noexcept nogil:
    """Make a slot of the points of each chunk, which stand together; 0, or -1 without memory."""
    cdef Py_ssize_t n = plan.npoints, i, slot = 0
    cdef int ndim = plan.ndim, d
    cdef int64_t* rows = plan.slot_coords
    cdef const int64_t* row
    for i in range(n):
        row = rows + i * ndim
        if i == 0 or not same_row(row, rows + (slot - 1) * ndim, ndim):
            for d in range(ndim):
                rows[slot * ndim + d] = row[d]
            plan.slot_starts[slot] = i
            slot += 1
    plan.slot_starts[slot] = n
    plan.nslots = slot
    plan.slot_wholes = <uint8_t*> calloc(slot + 1, 1)
    if plan.slot_wholes == NULL:
        return -1
    plan.all_whole = True
    for i in range(slot):
        plan.slot_wholes[i] = points_whole(plan, i)
        plan.all_whole = plan.all_whole and plan.slot_wholes[i]
    return 0


cdef int reorder_points(Plan plan) noexcept nogil:
    cdef Py_ssize_t n = plan.npoints, i
    cdef int ndim = plan.ndim, d
    cdef const int64_t* point
    cdef int64_t* points = <int64_t*> malloc((n * ndim + 1) * sizeof(int64_t))
    if points == NULL:
        return -1
    for i in range(n):
        point = plan.points + plan.outs[i] * ndim
        for d in range(ndim):
            points[i * ndim + d] = point[d]
    free(plan.points)
    plan.points = points
    return 0


cdef bint points_whole(Plan plan, Py_ssize_t i) noexcept nogil:
    """Return True if a slot's points are all elements of its chunk in C order."""
    cdef const int64_t* coords = plan.slot_coords + i * plan.ndim
    cdef Py_ssize_t begin = plan.slot_starts[i], end = plan.slot_starts[i + 1], k
    cdef int64_t size = 1, linear, valid
    cdef int d
    for d in range(plan.ndim):
        valid = axis_valid_length(&plan.grid.c[d], coords[d])
        if valid > (end - begin) // size:
            return False
        size *= valid
    if size != end - begin:
        return False
    for k in range(begin, end):
        linear = 0
        for d in range(plan.ndim):
            linear = linear * axis_valid_length(&plan.grid.c[d], coords[d])
            linear += plan.points[k * plan.ndim + d] - axis_offset(&plan.grid.c[d], coords[d])
        if linear != k - begin:
            return False
    return True


def plan_mask(Grid grid not None, mask):
    """Plan the elements where a boolean array of the grid's shape is True, in C order.

    Parameters
    ----------
    grid
        The chunk grid of the array.
    mask
        A boolean array of the grid's shape. It is copied, as bits.

    Returns
    -------
    Plan
        Its shape is the number of True elements.

    Raises
    ------
    IndexError
        For another dtype or another shape.

    Examples
    --------
    >>> import numpy as np
    >>> from zarr_core import Grid, RegularAxis, plan_mask
    >>> plan_mask(Grid([RegularAxis(4, 2)]), np.array([True, False, False, True])).shape
    (2,)
    """
    cdef cnp.ndarray array = np.asarray(mask)
    cdef int64_t npoints
    cdef int64_t* counts
    cdef int64_t nchunks
    cdef Plan plan
    if cnp.PyArray_TYPE(array) != cnp.NPY_BOOL:
        raise IndexError(f"a mask must be boolean, got dtype {array.dtype}")
    if np.shape(array) != grid.shape:
        raise IndexError(f"mask shape {np.shape(array)} does not match array shape {grid.shape}")
    array = np.ascontiguousarray(array)
    plan = new_plan(grid, PLAN_MASK)
    nchunks = grid.nchunks
    reserve_mask(plan, array)
    counts = <int64_t*> calloc(nchunks + 1, sizeof(int64_t))
    if counts == NULL:
        raise MemoryError(f"no memory for a mask over {nchunks} chunks")
    with nogil:
        npoints = count_mask(plan, counts)
    try:
        plan.npoints = npoints
        set_shape(plan, 1, &npoints)
        mask_slots(plan, counts, nchunks)
    finally:
        free(counts)
    return plan


cdef int reserve_mask(Plan plan, cnp.ndarray array) except -1:
    """The mask as bits of the plan's own: it must not change under the ranks, and an eighth of it is read again."""
    cdef Py_ssize_t size = cnp.PyArray_SIZE(array), rows
    cdef const uint8_t* data = <const uint8_t*> cnp.PyArray_DATA(array)
    cdef int last = plan.ndim - 1
    rows = size // plan.grid.c[last].length if size and plan.ndim else 1
    plan.ranks = reserve(rows * (plan.grid.c[last].nchunks if plan.ndim else 1) + 1)
    plan.mask = mask_new((size // 64 + 2) * sizeof(uint64_t))
    if plan.mask == NULL:
        raise MemoryError(f"no memory for a mask of {size} elements")
    with nogil:
        mask_pack(data, size, plan.mask)
    return 0


cdef int64_t count_mask(Plan plan, int64_t* counts) noexcept nogil:
    """One pass over the bits: ranks of each row's chunk runs, True elements of each chunk, and of all."""
    cdef int64_t position[MAX_RANK]
    cdef int64_t size = 1, rows, row, k, at = 0, length, chunk_row, total = 0, entry = 0, n
    cdef const AxisC* last
    cdef int d
    for d in range(plan.ndim):
        position[d] = 0
        size *= plan.grid.c[d].length
    plan.ranks[0] = 0
    if plan.ndim == 0:
        counts[0] = plan.ranks[1] = mask_count(plan.mask, 0, 1)
        return counts[0]
    if size == 0:
        return 0
    last = &plan.grid.c[plan.ndim - 1]
    rows = size // last.length
    for row in range(rows):
        chunk_row = 0
        for d in range(plan.ndim - 1):
            chunk_row = chunk_row * plan.grid.c[d].nchunks + axis_find(&plan.grid.c[d], position[d])
        chunk_row *= last.nchunks
        for k in range(last.nchunks):
            length = axis_valid_length(last, k)
            n = mask_count(plan.mask, at, length)
            at += length
            plan.ranks[entry] = total
            entry += 1
            total += n
            counts[chunk_row + k] += n
        for d in range(plan.ndim - 2, -1, -1):
            position[d] += 1
            if position[d] < plan.grid.c[d].length:
                break
            position[d] = 0
    plan.ranks[entry] = total
    return total


cdef int mask_slots(Plan plan, const int64_t* counts, int64_t nchunks) except -1:
    cdef int64_t chunk, rest, valid, slot = 0
    cdef int64_t* coords
    cdef int d
    for chunk in range(nchunks):
        plan.nslots += counts[chunk] != 0
    plan.slot_coords = reserve(plan.nslots * plan.ndim)
    plan.slot_wholes = <uint8_t*> calloc(plan.nslots + 1, 1)
    if plan.slot_wholes == NULL:
        raise MemoryError(f"no memory for a mask over {nchunks} chunks")
    plan.all_whole = True
    for chunk in range(nchunks):
        if counts[chunk] == 0:
            continue
        coords = plan.slot_coords + slot * plan.ndim
        rest = chunk
        valid = 1
        for d in range(plan.ndim - 1, -1, -1):
            coords[d] = rest % plan.grid.c[d].nchunks
            rest //= plan.grid.c[d].nchunks
            valid *= axis_valid_length(&plan.grid.c[d], coords[d])
        plan.slot_wholes[slot] = valid == counts[chunk]
        plan.all_whole = plan.all_whole and plan.slot_wholes[slot]
        slot += 1
    return 0
