# The guarded functions of chunks.pyx.


def scatter(cnp.ndarray chunk not None, Slot slot not None, cnp.ndarray out not None):
    """Copy the selected part of a decoded chunk to its place in the output.

    Parameters
    ----------
    chunk
        The chunk, of shape ``slot.chunk_shape``. Any memory order, either byte order.
    slot
        Which part of it, and where to.
    out
        The output, of shape ``slot.plan.shape``. Where its dtype is another, NumPy converts.

    Raises
    ------
    ValueError
        For another shape, or an output that is read-only.

    Examples
    --------
    >>> import numpy as np
    >>> from zarr_core import Grid, RegularAxis, plan_basic, scatter
    >>> plan = plan_basic(Grid([RegularAxis(5, 3)]), slice(1, 5))
    >>> out = np.zeros(4, dtype="i4")
    >>> scatter(np.array([0, 1, 2], dtype="i4"), plan.slot(0), out)
    >>> out.tolist()
    [1, 2, 0, 0]
    """
    cdef Plan plan = slot.owner()
    cdef int swap_width = 0
    cdef Py_ssize_t size = check_chunk(chunk, plan, slot.index)
    check_value(out, plan, "out")
    check_writeable(out, "out")
    if not plain(chunk, out, &swap_width):
        out[(*slot.out_selection, ...)] = chunk[(*slot.chunk_selection, ...)]
        return
    move_slot(plan, slot.index, chunk, out, swap_width, SCATTER, size)


def gather(cnp.ndarray value not None, Slot slot not None, cnp.ndarray chunk not None):
    """Copy the part of a value that belongs to a chunk into the chunk.

    Parameters
    ----------
    value
        The value, of shape ``slot.plan.shape``; broadcast views will do.
    slot
        Which part of it, and where in the chunk.
    chunk
        The chunk, of shape ``slot.chunk_shape``; what the slot does not select stays as it is. Where its dtype is
        another, NumPy converts.

    Raises
    ------
    ValueError
        For another shape, or a chunk that is read-only.

    Examples
    --------
    >>> import numpy as np
    >>> from zarr_core import Grid, RegularAxis, gather, plan_basic
    >>> plan = plan_basic(Grid([RegularAxis(5, 3)]), slice(1, 5))
    >>> chunk = np.zeros(3, dtype="i4")
    >>> gather(np.array([7, 8, 9, 10], dtype="i4"), plan.slot(0), chunk)
    >>> chunk.tolist()
    [0, 7, 8]
    """
    cdef Plan plan = slot.owner()
    cdef int swap_width = 0
    cdef Py_ssize_t size = check_chunk(chunk, plan, slot.index)
    check_value(value, plan, "value")
    check_writeable(chunk, "chunk")
    if not plain(value, chunk, &swap_width):
        chunk[(*slot.chunk_selection, ...)] = value[(*slot.out_selection, ...)]
        return
    move_slot(plan, slot.index, chunk, value, swap_width, GATHER, size)


def fill(cnp.ndarray out not None, Slot slot not None, value):
    """Set the part of the output that a missing chunk would have filled.

    Parameters
    ----------
    out
        The output, of shape ``slot.plan.shape``.
    slot
        The missing chunk.
    value
        A scalar or 0-d array.

    Raises
    ------
    ValueError
        For another shape, an output that is read-only, or a value that is no scalar.

    Examples
    --------
    >>> import numpy as np
    >>> from zarr_core import Grid, RegularAxis, fill, plan_basic
    >>> plan = plan_basic(Grid([RegularAxis(5, 3)]), ...)
    >>> out = np.zeros(5)
    >>> fill(out, plan.slot(1), 7)
    >>> out.tolist()
    [0.0, 0.0, 0.0, 7.0, 7.0]
    """
    cdef Plan plan = slot.owner()
    cdef cnp.ndarray scalar
    check_value(out, plan, "out")
    check_writeable(out, "out")
    scalar = scalar_array(value, out)
    if not fixed_width(out):
        out[(*slot.out_selection, ...)] = scalar
        return
    move_slot(plan, slot.index, scalar, out, 0, FILL, min(cnp.PyArray_SIZE(out), slot_size(plan, slot.index)))


def is_filled(cnp.ndarray array not None, fill_value):
    """Whether every element is the fill value, bit for bit; but any NaN equals any other.

    Parameters
    ----------
    array
        Any array.
    fill_value
        A scalar or 0-d array.

    Returns
    -------
    bool
        True also for an array of no elements.

    Raises
    ------
    ValueError
        For a fill value that is no scalar.

    Examples
    --------
    >>> import numpy as np
    >>> from zarr_core import is_filled
    >>> is_filled(np.zeros(3), 0), is_filled(np.zeros(3), -0.0)
    (True, False)
    """
    cdef cnp.ndarray scalar = scalar_array(fill_value, array)
    cdef Py_ssize_t n, itemsize
    cdef bint filled
    if not fixed_width(array):
        wanted = scalar.tolist()  # of records with objects, numpy compares neither one with the other
        return all([same(item, wanted) for item in array.reshape(-1).tolist()])
    if not (cnp.PyArray_IS_C_CONTIGUOUS(array) or cnp.PyArray_IS_F_CONTIGUOUS(array)):
        array = np.ascontiguousarray(array)
    n = cnp.PyArray_SIZE(array)
    itemsize = cnp.PyArray_ITEMSIZE(array)
    if n * itemsize >= RELEASE_GIL_BYTES:
        with nogil:
            filled = bytes_filled(cnp.PyArray_BYTES(array), n, cnp.PyArray_BYTES(scalar), itemsize)
    else:
        filled = bytes_filled(cnp.PyArray_BYTES(array), n, cnp.PyArray_BYTES(scalar), itemsize)
    if not filled and array.dtype.kind in "fc" and (array.dtype.char in "gG" or np.isnan(scalar)):
        return same_numbers(array, scalar)
    return filled


cdef void move_slot(
    Plan plan, Py_ssize_t i, cnp.ndarray chunk, cnp.ndarray array, int swap_width, int direction, Py_ssize_t size,
):
    """Run the kernel on checked arrays, without the GIL where there is enough to do."""
    cdef Py_ssize_t chunk_strides[MAX_RANK]
    cdef Py_ssize_t array_strides[MAX_RANK]
    cdef char* chunk_data = cnp.PyArray_BYTES(chunk)
    cdef char* array_data = cnp.PyArray_BYTES(array)
    cdef Py_ssize_t itemsize = cnp.PyArray_ITEMSIZE(array)
    cdef int d
    for d in range(plan.ndim):
        chunk_strides[d] = 0 if direction == FILL else cnp.PyArray_STRIDE(chunk, d)
    for d in range(plan.out_ndim):
        array_strides[d] = cnp.PyArray_STRIDE(array, d)
    if size * itemsize >= RELEASE_GIL_BYTES:
        with nogil:
            transfer(plan, i, chunk_data, chunk_strides, array_data, array_strides, itemsize, swap_width, direction)
    else:
        transfer(plan, i, chunk_data, chunk_strides, array_data, array_strides, itemsize, swap_width, direction)


cdef Py_ssize_t slot_size(Plan plan, Py_ssize_t i) noexcept:
    """Elements of a slot's chunk that lie in the array, as far as they can be counted."""
    cdef SlotView v
    cdef int64_t size = 1
    cdef int d
    plan_slot_view(plan, i, &v)
    for d in range(plan.ndim):
        if multiply(&size, v.valid_shape[d]) < 0:
            return INT64_MAX
    return size


cdef bint same_numbers(cnp.ndarray array, cnp.ndarray scalar):
    """Where bytes say too little: NaNs of other bits are the same fill, padding bytes of long doubles hold anything."""
    if array.dtype.kind == "c":
        return is_filled(array.real, scalar.real) and is_filled(array.imag, scalar.imag)
    if np.isnan(scalar):
        return np.isnan(array).all()
    return ((array == scalar) & (np.signbit(array) == np.signbit(scalar))).all()


cdef bint same(object a, object b):
    if a is b or (isinstance(a, float) and isinstance(b, float) and a != a and b != b):
        return True
    equal = a == b
    return bool(equal) if np.ndim(equal) == 0 else bool(np.all(equal))


cdef cnp.ndarray scalar_array(object value, cnp.ndarray array):
    """A value as a 0-d array of an array's dtype."""
    cdef cnp.ndarray scalar
    if cnp.PyArray_Check(value):
        if cnp.PyArray_NDIM(value):
            raise ValueError(f"a fill value must be a scalar, got an array of shape {np.shape(value)}")
        if cnp.PyArray_DESCR(value) is cnp.PyArray_DESCR(array):
            return value
        value = value[()]
    scalar = np.zeros((), dtype=array.dtype)
    scalar[()] = value
    return scalar


cdef Py_ssize_t check_chunk(cnp.ndarray chunk, Plan plan, Py_ssize_t i) except -1:
    """The chunk has the slot's shape; the number of its elements that lie in the array."""
    cdef SlotView v
    cdef Py_ssize_t size = 1
    cdef int d
    plan_slot_view(plan, i, &v)
    for d in range(plan.ndim):
        if d >= cnp.PyArray_NDIM(chunk) or cnp.PyArray_DIM(chunk, d) != v.chunk_shape[d]:
            break
        size *= v.valid_shape[d]
    else:
        if cnp.PyArray_NDIM(chunk) == plan.ndim:
            return size
    raise ValueError(f"chunk has shape {np.shape(chunk)}, expected {plan.chunk_shape(i)}")


cdef int check_value(cnp.ndarray value, Plan plan, str name) except -1:
    cdef int d
    if cnp.PyArray_NDIM(value) == plan.out_ndim:
        for d in range(plan.out_ndim):
            if cnp.PyArray_DIM(value, d) != plan.out_shape[d]:
                break
        else:
            return 0
    raise ValueError(f"{name} has shape {np.shape(value)}, expected {plan.shape}")


cdef int check_writeable(cnp.ndarray array, str name) except -1:
    if not cnp.PyArray_ISWRITEABLE(array):
        raise ValueError(f"{name} is read-only")
    return 0


cdef bint fixed_width(cnp.ndarray array):
    """Whether items are plain bytes: NumPy's own numbers, dates, fixed strings and records without objects."""
    cdef int kind = cnp.PyArray_TYPE(array)
    if 0 <= kind <= cnp.NPY_CLONGDOUBLE and kind != cnp.NPY_OBJECT:
        return True
    if kind == cnp.NPY_VOID:
        return not array.dtype.hasobject
    return kind in (cnp.NPY_STRING, cnp.NPY_UNICODE, cnp.NPY_DATETIME, cnp.NPY_TIMEDELTA, cnp.NPY_FLOAT16)


cdef bint plain(cnp.ndarray source, cnp.ndarray target, int* swap_width):
    """Whether items can be copied as bytes, perhaps reversed; NumPy converts all else."""
    if not fixed_width(source) or not fixed_width(target):
        return False
    if cnp.PyArray_DESCR(source) is cnp.PyArray_DESCR(target) or source.dtype == target.dtype:
        return True
    if source.dtype.kind not in "iufcmMU" or source.dtype != target.dtype.newbyteorder("S"):
        return False
    width = source.dtype.itemsize
    if source.dtype.kind == "c":
        width //= 2
    elif source.dtype.kind == "U":
        width = 4
    if width not in (2, 4, 8):
        return False
    swap_width[0] = width
    return True
