"""Selections by axis to plans: slices, integers, index arrays, blocks.

Guards and index arithmetic; the cost grows with what is selected, never with the array.
"""
from cpython.bool cimport PyBool_Check
from cpython.long cimport PyLong_CheckExact
from cpython.slice cimport PySlice_Check
from libc.stdint cimport INT64_MAX, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

cimport numpy as cnp

from zarr_core.grid cimport MAX_RANK, AxisC, Grid, axis_find, axis_offset, axis_valid_length
from zarr_core.plan cimport (
    PLAN_PRODUCT,
    AxisSelection,
    Piece,
    Plan,
    axis_piece,
    multiply,
    new_plan,
    set_shape,
)
from zarr_core.sorting cimport stable_order

cnp.import_array()


cdef extern from "Python.h":
    int PySlice_Unpack(object item, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t* step) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t length, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t step)
    long long PyLong_AsLongLongAndOverflow(object number, int* overflow) except? -1
    object PyNumber_Index(object item)


cdef enum:
    BASIC = 0
    ORTHOGONAL = 1
    BLOCKS = 2


def plan_basic(Grid grid not None, selection):
    """Plan integers and slices, as in NumPy's basic indexing.

    Parameters
    ----------
    grid
        The chunk grid of the array.
    selection
        An integer, a slice of any step, an ellipsis, or a tuple of these.

    Returns
    -------
    Plan
        Dimensions indexed by an integer are absent from its shape.

    Raises
    ------
    IndexError
        For an index out of bounds, too many indices, or an item of another kind.

    Examples
    --------
    >>> from zarr_core import Grid, RegularAxis, plan_basic
    >>> plan_basic(Grid([RegularAxis(10, 4), RegularAxis(6, 6)]), (slice(2, 9), -1)).shape
    (7,)
    """
    return plan_product(grid, selection, BASIC)


def plan_orthogonal(Grid grid not None, selection):
    """Plan integers, slices, integer arrays and boolean arrays, each applied to its own axis.

    Parameters
    ----------
    grid
        The chunk grid of the array.
    selection
        One item, or a tuple of items and at most one ellipsis. Integer arrays may be unsorted and repeat themselves;
        boolean arrays have the length of their axis.

    Returns
    -------
    Plan
        Its shape has one entry per item that is not an integer.

    Raises
    ------
    IndexError
        For an index out of bounds, too many indices, or an item of another kind.

    Examples
    --------
    >>> from zarr_core import Grid, RegularAxis, plan_orthogonal
    >>> plan_orthogonal(Grid([RegularAxis(10, 4), RegularAxis(6, 6)]), ([7, 0, 7], slice(2))).shape
    (3, 2)
    """
    return plan_product(grid, selection, ORTHOGONAL)


def plan_blocks(Grid grid not None, selection):
    """Plan whole chunks by chunk index, each item applied to its own axis.

    Parameters
    ----------
    grid
        The chunk grid of the array.
    selection
        An integer, a slice of step 1, an ellipsis, or a tuple of these, over the chunks of each axis.

    Returns
    -------
    Plan
        No dimension is dropped: an integer stands for all elements of that chunk.

    Raises
    ------
    IndexError
        For an index out of bounds, too many indices, another step, or an item of another kind.

    Examples
    --------
    >>> from zarr_core import Grid, RegularAxis, plan_blocks
    >>> plan_blocks(Grid([RegularAxis(10, 4), RegularAxis(6, 6)]), (-1, 0)).shape
    (2, 6)
    """
    return plan_product(grid, selection, BLOCKS)


cdef Plan plan_product(Grid grid, object selection, int mode):
    cdef tuple items = selection if isinstance(selection, tuple) else (selection,)
    cdef Py_ssize_t n = len(items), i, given = n, at = n
    cdef int d = 0, ndim = grid.ndim, missing
    cdef Plan plan
    for i in range(n):
        if items[i] is Ellipsis:
            if at != n:
                raise IndexError("a selection can have one ellipsis, got more")
            at = i
            given -= 1
    if given > ndim:
        raise IndexError(f"too many indices: the array has {ndim} dimensions, got {given} indices")
    plan = new_plan(grid, PLAN_PRODUCT)
    missing = ndim - <int> given
    for i in range(n):
        if i == at:
            for d in range(d, d + missing):
                select_all(&plan.axes[d], &grid.c[d])
            d = <int> i + missing
        else:
            select_item(plan, d, items[i], mode)
            d += 1
    for d in range(d, ndim):
        select_all(&plan.axes[d], &grid.c[d])
    finish_product(plan)
    return plan


cdef int finish_product(Plan plan) except -1:
    cdef int64_t shape[MAX_RANK]
    cdef int64_t nslots = 1
    cdef int d, out_ndim = 0
    cdef bint whole = True
    for d in range(plan.ndim):
        if plan.axes[d].ntouched == 0:
            nslots = 0
        if not plan.axes[d].dropped:
            shape[out_ndim] = plan.axes[d].n
            out_ndim += 1
    if nslots:
        for d in range(plan.ndim):
            if multiply(&nslots, plan.axes[d].ntouched) < 0:
                raise OverflowError("the selection touches more than 2**63 - 1 chunks")
            whole = whole and axis_whole(&plan.grid.c[d], &plan.axes[d])
    plan.nslots = nslots
    plan.all_whole = whole
    return set_shape(plan, out_ndim, shape)


cdef bint axis_whole(const AxisC* axis, const AxisSelection* s) noexcept nogil:
    """Return True if all chunks that a selection touches along an axis are taken whole."""
    cdef Piece piece
    cdef int64_t j, stride = 1
    if s.starts == NULL and s.step == 1 and s.ntouched > 2 and not s.reverse:
        stride = s.ntouched - 1     # the chunks between the first and the last cannot be cut
    j = 0
    while j < s.ntouched:
        axis_piece(axis, s, j, &piece)
        if not piece.whole:
            return False
        j += stride
    return True


cdef int select_item(Plan plan, int d, object item, int mode) except -1:
    cdef const AxisC* axis = &plan.grid.c[d]
    cdef AxisSelection* s = &plan.axes[d]
    cdef Py_ssize_t start, stop, step
    cdef int64_t n = axis.nchunks if mode == BLOCKS else axis.length
    if PyLong_CheckExact(item):
        start = as_position(item, n, d)
        stop = start + 1
        step = 1
        s.dropped = mode != BLOCKS
    elif PySlice_Check(item):
        PySlice_Unpack(item, &start, &stop, &step)
        if mode == BLOCKS and step != 1:
            raise IndexError(f"dimension {d}: block slices must have step 1, got {step}")
        n = PySlice_AdjustIndices(n, &start, &stop, step)
        if mode != BLOCKS:
            return select_slice(s, axis, start, step, n)
    elif mode == ORTHOGONAL and is_array(item):
        return select_array(s, axis, item, d)
    else:
        return select_item(plan, d, as_exact_integer(item, d), mode)
    if mode == BLOCKS:
        if stop <= start:
            return select_slice(s, axis, 0, 1, 0)
        stop = axis_offset(axis, stop - 1) + axis_valid_length(axis, stop - 1)
        start = axis_offset(axis, start)
    return select_slice(s, axis, start, 1, stop - start)


cdef bint is_array(object item):
    if cnp.PyArray_Check(item):
        return cnp.PyArray_NDIM(item) > 0
    return item is not None and not PyBool_Check(item) and not isinstance(item, (np.generic, str, bytes)) \
        and hasattr(item, "__len__")


cdef object NUMPY_BOOL = np.bool_


cdef object as_exact_integer(object item, int d):
    # NumPy before 2.2 only warns of a boolean that is taken for an integer.
    if item is not None and not PyBool_Check(item) and type(item) is not NUMPY_BOOL:
        try:
            return int(PyNumber_Index(item))
        except TypeError:
            pass
    raise IndexError(f"dimension {d}: {item!r} is not an integer or a slice")


cdef int64_t as_position(object number, int64_t length, int d) except -1:
    """An integer index as a position; negative ones count from the end."""
    cdef int overflow = 0
    cdef int64_t position = PyLong_AsLongLongAndOverflow(number, &overflow)
    if not overflow and position < 0:
        position += length
        overflow = position < 0
    if overflow or position >= length:
        raise IndexError(f"index {number} is out of bounds for dimension {d} with length {length}")
    return position


cdef void select_all(AxisSelection* s, const AxisC* axis) noexcept nogil:
    s.n = axis.length
    s.step = 1
    s.ntouched = axis.nchunks


cdef int select_slice(AxisSelection* s, const AxisC* axis, int64_t start, int64_t step, int64_t n) except -1:
    """The n positions start, start + step, ..."""
    s.n = n
    s.step = 1
    if n == 0:
        return 0
    s.low = start
    if n > 1:
        s.reverse = step < 0
        s.step = -step if s.reverse else step
        if s.reverse:
            s.low = start + (n - 1) * step
    s.first = axis_find(axis, s.low)
    if s.step <= axis.shortest:
        s.ntouched = axis_find(axis, s.low + (n - 1) * s.step) - s.first + 1
    elif axis.edges == NULL:
        s.sparse = True
        s.ntouched = n
    else:
        list_touched(s, axis)
        if s.ids == NULL:
            raise MemoryError(f"no memory for a selection of {n} positions")
    return 0


cdef void list_touched(AxisSelection* s, const AxisC* axis) noexcept nogil:
    """Find the chunks that hold a position, where chunks vary and the step passes over some."""
    cdef int64_t chunk = s.first, i = 0, position = s.low, end
    cdef int64_t last = axis_find(axis, s.low + (s.n - 1) * s.step)
    cdef int64_t room = last - s.first + 1
    s.ids = <int64_t*> malloc((room if room < s.n else s.n) * sizeof(int64_t))
    if s.ids == NULL:
        return
    while i < s.n:
        position = s.low + i * s.step
        while axis.edges[chunk + 1] <= position:
            chunk += 1
        s.ids[s.ntouched] = chunk
        s.ntouched += 1
        end = axis.edges[chunk + 1]
        i = (end - s.low - 1) // s.step + 1


cdef cnp.ndarray as_array(object item, int d):
    cdef cnp.ndarray array
    try:
        array = np.asarray(item)
    except ValueError as error:
        raise IndexError(f"dimension {d}: index arrays must be rectangular: {error}") from error
    if cnp.PyArray_SIZE(array) == 0 and not cnp.PyArray_Check(item):
        return array.astype(np.int64)       # [] becomes an array of floats
    return array


cdef cnp.ndarray integer_array(cnp.ndarray array, int d):
    """An index array as C-contiguous int64."""
    cdef object kind = array.dtype.kind
    cdef tuple shape = np.shape(array)
    if kind != "i" and kind != "u":
        raise IndexError(f"dimension {d}: index arrays must hold integers, got dtype {array.dtype}")
    if kind == "u" and array.dtype.itemsize == 8 and cnp.PyArray_SIZE(array) and int(array.max()) > INT64_MAX:
        raise IndexError(f"index {int(array.max())} is out of bounds for dimension {d}")
    return np.ascontiguousarray(array, dtype=np.int64).reshape(shape)


cdef int select_array(AxisSelection* s, const AxisC* axis, object item, int d) except -1:
    cdef cnp.ndarray array = as_array(item, d)
    cdef bint boolean = cnp.PyArray_TYPE(array) == cnp.NPY_BOOL
    cdef Py_ssize_t n = cnp.PyArray_SIZE(array), i
    check_rank(array, d)
    if boolean and n != axis.length:
        raise IndexError(f"dimension {d}: a boolean index has length {n}, expected {axis.length}")
    array = np.flatnonzero(array).astype(np.int64, copy=False) if boolean else integer_array(array, d)
    n = cnp.PyArray_SIZE(array)
    reserve_positions(s, n)
    memcpy(s.positions, cnp.PyArray_DATA(array), n * sizeof(int64_t))
    if not boolean:
        i = wrap_positions(s.positions, 1, n, axis.length)
        if i >= 0:
            raise IndexError(f"index {array[i]} is out of bounds for dimension {d} with length {axis.length}")
    s.n = n
    if n < RELEASE_GIL_ITEMS:
        i = sort_and_cut(s, axis, n, not boolean)
    else:
        with nogil:
            i = sort_and_cut(s, axis, n, not boolean)
    if i < 0:
        raise MemoryError(f"no memory for a selection of {n} positions")
    return 0


cdef int sort_and_cut(AxisSelection* s, const AxisC* axis, Py_ssize_t n, bint unsorted) noexcept nogil:
    """0, or -1 without memory."""
    if unsorted and sort_positions(s, n) < 0:
        return -1
    cut_positions(s, axis, n)
    return 0


cdef int check_rank(cnp.ndarray array, int d) except -1:
    if cnp.PyArray_NDIM(array) != 1:
        raise IndexError(f"dimension {d}: index arrays must have 1 dimension, got {cnp.PyArray_NDIM(array)}")
    return 0


cdef int reserve_positions(AxisSelection* s, Py_ssize_t n) except -1:
    s.positions = <int64_t*> malloc((n + 1) * sizeof(int64_t))
    s.ids = <int64_t*> malloc((n + 1) * sizeof(int64_t))
    s.starts = <int64_t*> malloc((n + 1) * sizeof(int64_t))
    s.wholes = <uint8_t*> malloc(n + 1)
    if s.positions == NULL or s.ids == NULL or s.starts == NULL or s.wholes == NULL:
        raise MemoryError(f"no memory for a selection of {n} positions")
    return 0


cdef Py_ssize_t wrap_positions(int64_t* values, Py_ssize_t stride, Py_ssize_t n, int64_t length) noexcept nogil:
    """Count negative indices from the end, in place; the place of the first one out of bounds, or -1."""
    cdef Py_ssize_t i
    cdef int64_t value
    for i in range(n):
        value = values[i * stride]
        if value < 0:
            value += length
        if value < 0 or value >= length:
            return i
        values[i * stride] = value
    return -1


cdef int sort_positions(AxisSelection* s, Py_ssize_t n) noexcept nogil:
    """Bring positions in rising order and remember their places, unless they are in order."""
    cdef int64_t* sorted_positions
    cdef Py_ssize_t i
    cdef int64_t low, high
    for i in range(1, n):
        if s.positions[i] < s.positions[i - 1]:
            break
    else:
        return 0
    low = high = s.positions[0]
    for i in range(n):
        low = min(low, s.positions[i])
        high = max(high, s.positions[i])
    s.outs = <int64_t*> malloc(n * sizeof(int64_t))
    sorted_positions = <int64_t*> malloc(n * sizeof(int64_t))
    if s.outs == NULL or sorted_positions == NULL:
        free(sorted_positions)
        return -1
    for i in range(n):
        sorted_positions[i] = s.positions[i] - low
    if stable_order(sorted_positions, n, high - low + 1, s.outs) < 0:
        free(sorted_positions)
        return -1
    for i in range(n):
        sorted_positions[i] = s.positions[s.outs[i]]
    free(s.positions)
    s.positions = sorted_positions
    return 0


cdef void cut_positions(AxisSelection* s, const AxisC* axis, Py_ssize_t n) noexcept nogil:
    """Cut rising positions at chunk boundaries."""
    cdef Py_ssize_t i = 0, k
    cdef int64_t chunk, end, valid
    while i < n:
        chunk = axis_find(axis, s.positions[i])
        valid = axis_valid_length(axis, chunk)
        end = axis_offset(axis, chunk) + valid
        s.ids[s.ntouched] = chunk
        s.starts[s.ntouched] = i
        k = i + 1
        s.wholes[s.ntouched] = True
        while k < n and s.positions[k] < end:
            if s.positions[k] != s.positions[k - 1] + 1 or (s.outs != NULL and s.outs[k] != s.outs[k - 1] + 1):
                s.wholes[s.ntouched] = False
            k += 1
        if k - i != valid:
            s.wholes[s.ntouched] = False
        s.ntouched += 1
        i = k
    s.starts[s.ntouched] = n
