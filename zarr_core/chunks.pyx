"""Move elements between chunks and arrays: scatter a chunk into an output, gather a chunk from a value, fill.

First the kernels, which trust their arguments; after them the functions for Python, which check everything.
"""
from libc.stdint cimport INT64_MAX, int64_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

import numpy as np

cimport numpy as cnp

from zarr_core.copying cimport TRUTH, Loop, copy_loops, copy_one, copy_row
from zarr_core.grid cimport MAX_RANK, axis_offset
from zarr_core.plan cimport (
    PLAN_MASK, PLAN_POINTS, PLAN_PRODUCT, Piece, Plan, Slot, SlotView, mask_bits, mask_highest, mask_lowest, mask_read,
    multiply, plan_slot_view, slot_pieces, slot_whole,
)

cnp.import_array()

cdef uint64_t ALL_SET = ~(<uint64_t> 0)

cdef enum:
    MANY = 16       # of 64 elements: from here on moving all of them is quicker than finding the selected

cdef enum:
    SCATTER = 0     # chunk to array
    GATHER = 1      # array to chunk
    FILL = 2        # one item to array


cdef void scatter_slot(
    Plan plan, Py_ssize_t i, const char* chunk, const Py_ssize_t* chunk_strides,
    char* out, const Py_ssize_t* out_strides, Py_ssize_t itemsize, int swap_width,
) noexcept nogil:
    transfer(plan, i, <char*> chunk, chunk_strides, out, out_strides, itemsize, swap_width, SCATTER)


cdef void gather_slot(
    Plan plan, Py_ssize_t i, const char* value, const Py_ssize_t* value_strides,
    char* chunk, const Py_ssize_t* chunk_strides, Py_ssize_t itemsize, int swap_width,
) noexcept nogil:
    transfer(plan, i, chunk, chunk_strides, <char*> value, value_strides, itemsize, swap_width, GATHER)


cdef void fill_slot(
    Plan plan, Py_ssize_t i, char* out, const Py_ssize_t* out_strides, Py_ssize_t itemsize, const char* value,
) noexcept nogil:
    cdef Py_ssize_t no_strides[MAX_RANK]
    memset(no_strides, 0, plan.ndim * sizeof(Py_ssize_t))
    transfer(plan, i, <char*> value, no_strides, out, out_strides, itemsize, 0, FILL)


cdef void transfer(
    Plan plan, Py_ssize_t i, char* chunk, const Py_ssize_t* chunk_strides,
    char* array, const Py_ssize_t* array_strides, Py_ssize_t itemsize, int swap_width, int direction,
) noexcept nogil:
    if plan.kind == PLAN_PRODUCT:
        transfer_product(plan, i, chunk, chunk_strides, array, array_strides, itemsize, swap_width, direction)
    elif plan.kind == PLAN_POINTS:
        transfer_points(plan, i, chunk, chunk_strides, array, array_strides, itemsize, swap_width, direction)
    else:
        transfer_mask(plan, i, chunk, chunk_strides, array, array_strides, itemsize, swap_width, direction)


cdef inline bint one_byte(const char* value, Py_ssize_t itemsize) noexcept nogil:
    """Return True if all bytes of an item are the same, as in most fill values."""
    return itemsize > 1 and memcmp(value, value + 1, itemsize - 1) == 0


cdef void transfer_product(
    Plan plan, Py_ssize_t i, char* chunk, const Py_ssize_t* chunk_strides,
    char* array, const Py_ssize_t* array_strides, Py_ssize_t itemsize, int swap_width, int direction,
) noexcept nogil:
    cdef Piece pieces[MAX_RANK]
    cdef Loop loops[MAX_RANK + 2]
    cdef Piece* piece
    cdef Loop* loop
    cdef Py_ssize_t stride
    cdef int d, k = 0, n = plan.ndim
    slot_pieces(plan, i, pieces)
    # Loops first run from the chunk (source) to the array (destination); turned round below to gather.
    for d in range(n):
        piece = &pieces[d]
        loop = &loops[d]
        loop.n = piece.n
        loop.si = piece.positions
        loop.ss = chunk_strides[d] if piece.positions != NULL else chunk_strides[d] * piece.step
        chunk += chunk_strides[d] * (-piece.offset if piece.positions != NULL else piece.inner)
        loop.di = piece.outs
        loop.ds = 0
        if plan.axes[d].dropped:
            continue
        stride = array_strides[k]
        k += 1
        loop.ds = stride if piece.outs != NULL else stride * piece.out_step
        array += 0 if piece.outs != NULL else stride * piece.out
    if direction == GATHER:
        for d in range(n):
            loop = &loops[d]
            loop.ds, loop.ss = loop.ss, loop.ds
            loop.di, loop.si = loop.si, loop.di
        copy_loops(chunk, array, loops, n, itemsize, swap_width)
        return
    if direction == FILL:
        for d in range(n):
            loops[d].si = NULL      # every place holds the value
        if one_byte(chunk, itemsize):
            loops[n].n = itemsize
            loops[n].ds = 1
            loops[n].ss = 0
            loops[n].di = loops[n].si = NULL
            n += 1
            itemsize = 1
    copy_loops(array, chunk, loops, n, itemsize, swap_width)


cdef inline Py_ssize_t even_stride(Plan plan, const Py_ssize_t* strides, bint* even) noexcept nogil:
    """The step between elements in C order where it is the same throughout."""
    cdef int d
    even[0] = True
    for d in range(plan.out_ndim - 1):
        if strides[d] != strides[d + 1] * plan.out_shape[d + 1]:
            even[0] = False
            return 0
    return strides[plan.out_ndim - 1] if plan.out_ndim else 0


cdef Py_ssize_t place_offset(Plan plan, int64_t place, const Py_ssize_t* strides) noexcept nogil:
    cdef Py_ssize_t offset = 0
    cdef int d
    for d in range(plan.out_ndim - 1, -1, -1):
        offset += (place % plan.out_shape[d]) * strides[d]
        place //= plan.out_shape[d]
    return offset


cdef inline void put(
    char* chunk, char* array, Py_ssize_t w, int swap_width, int direction, bint constant,
) noexcept nogil:
    if swap_width == TRUTH and direction == SCATTER:
        array[0] = chunk[0] != 0
    elif constant:
        if direction == GATHER:
            memcpy(chunk, array, w)
        else:
            memcpy(array, chunk, w)
    elif direction == GATHER:
        copy_one(chunk, array, w, swap_width)
    else:
        copy_one(array, chunk, w, swap_width)


cdef inline void points_loop(
    Plan plan, Py_ssize_t i, char* chunk, const Py_ssize_t* chunk_strides,
    char* array, const Py_ssize_t* array_strides, Py_ssize_t w, int swap_width, int direction, bint constant,
) noexcept nogil:
    cdef bint even
    cdef Py_ssize_t stride = even_stride(plan, array_strides, &even), offset
    cdef int64_t p, place
    cdef const int64_t* point
    cdef int d, ndim = plan.ndim
    for d in range(ndim):
        chunk -= axis_offset(&plan.grid.c[d], plan.slot_coords[i * ndim + d]) * chunk_strides[d]
    for p in range(plan.slot_starts[i], plan.slot_starts[i + 1]):
        point = plan.points + p * ndim
        offset = 0
        for d in range(ndim):
            offset += point[d] * chunk_strides[d]
        place = plan.outs[p] if plan.outs != NULL else p
        place = place * stride if even else place_offset(plan, place, array_strides)
        put(chunk + offset, array + place, w, swap_width, direction, constant)


cdef void transfer_points(
    Plan plan, Py_ssize_t i, char* chunk, const Py_ssize_t* cs,
    char* array, const Py_ssize_t* strides, Py_ssize_t w, int swap_width, int direction,
) noexcept nogil:
    if w == 1 and swap_width == TRUTH:
        points_loop(plan, i, chunk, cs, array, strides, 1, TRUTH, direction, True)
    elif w == 1:
        points_loop(plan, i, chunk, cs, array, strides, 1, 0, direction, True)
    elif w == 2 and swap_width < 2:
        points_loop(plan, i, chunk, cs, array, strides, 2, 0, direction, True)
    elif w == 4 and swap_width < 2:
        points_loop(plan, i, chunk, cs, array, strides, 4, 0, direction, True)
    elif w == 8 and swap_width < 2:
        points_loop(plan, i, chunk, cs, array, strides, 8, 0, direction, True)
    elif w == 16 and swap_width < 2:
        points_loop(plan, i, chunk, cs, array, strides, 16, 0, direction, True)
    else:
        points_loop(plan, i, chunk, cs, array, strides, w, swap_width, direction, False)


cdef inline void some_of_64(
    uint64_t word, char* chunk, Py_ssize_t cs, char* array, Py_ssize_t stride, Py_ssize_t w, int swap_width,
    int direction, bint constant,
) noexcept nogil:
    """Move those of 64 items whose bits are set.

    Where many are, to read, each item is moved to the next free place, and the place is taken only if the item is
    selected: no branch depends on the mask. The last selected one ends that, so that no place of others is touched.
    """
    cdef int k
    if constant and direction == SCATTER and mask_bits(word) >= MANY:
        for k in range(mask_highest(word) + 1):
            put(chunk + k * cs, array, w, swap_width, SCATTER, True)
            array += stride & -<Py_ssize_t> (word >> k & 1)
        return
    while word:
        put(chunk + mask_lowest(word) * cs, array, w, swap_width, direction, constant)
        array += stride
        word &= word - 1


cdef void mask_word(
    uint64_t word, char* chunk, Py_ssize_t cs, char* array, Py_ssize_t stride, Py_ssize_t w, int swap_width,
    int direction,
) noexcept nogil:
    if word == ALL_SET and direction == GATHER:
        copy_row(chunk, array, 64, cs, stride, w, swap_width)
    elif word == ALL_SET:
        copy_row(array, chunk, 64, stride, cs, w, swap_width)
    elif w == 1 and swap_width == TRUTH:
        some_of_64(word, chunk, cs, array, stride, 1, TRUTH, direction, True)
    elif w == 1:
        some_of_64(word, chunk, cs, array, stride, 1, 0, direction, True)
    elif w == 2 and swap_width < 2:
        some_of_64(word, chunk, cs, array, stride, 2, 0, direction, True)
    elif w == 4 and swap_width < 2:
        some_of_64(word, chunk, cs, array, stride, 4, 0, direction, True)
    elif w == 8 and swap_width < 2:
        some_of_64(word, chunk, cs, array, stride, 8, 0, direction, True)
    elif w == 16 and swap_width < 2:
        some_of_64(word, chunk, cs, array, stride, 16, 0, direction, True)
    else:
        some_of_64(word, chunk, cs, array, stride, w, swap_width, direction, False)


cdef void mask_row(
    const uint64_t* mask, int64_t at, int64_t n, char* chunk, Py_ssize_t cs, char* array, Py_ssize_t stride,
    Py_ssize_t w, int swap_width, int direction,
) noexcept nogil:
    """Move the selected of n items, whose bits begin at one place of the mask."""
    cdef uint64_t word
    cdef int64_t j
    for j in range(0, n, 64):
        word = mask_read(mask, at + j, n - j)
        if word:
            mask_word(word, chunk + j * cs, cs, array, stride, w, swap_width, direction)
            array += mask_bits(word) * stride


cdef void transfer_mask(
    Plan plan, Py_ssize_t i, char* chunk, const Py_ssize_t* chunk_strides,
    char* array, const Py_ssize_t* array_strides, Py_ssize_t w, int swap_width, int direction,
) noexcept nogil:
    """Row by row of the chunk: the selected elements of a row stand together in the array."""
    cdef SlotView v
    cdef int64_t at[MAX_RANK]
    cdef int64_t row, count, n, first, k
    cdef int64_t* rank
    cdef Py_ssize_t stride = array_strides[0], cs
    cdef char* source
    cdef char* target
    cdef int d, last = plan.ndim - 1
    if last < 0:
        put(chunk, array, w, swap_width, direction, False)
        return
    plan_slot_view(plan, i, &v)
    n = v.valid_shape[last]
    cs = chunk_strides[last]
    first = axis_offset(&plan.grid.c[last], v.coords[last])
    for d in range(last):
        at[d] = 0
    while True:
        row = 0
        source = chunk
        for d in range(last):
            k = axis_offset(&plan.grid.c[d], v.coords[d]) + at[d]
            row = row * plan.grid.c[d].length + k
            source += at[d] * chunk_strides[d]
        rank = plan.ranks + row * plan.grid.c[last].nchunks + v.coords[last]
        count = rank[1] - rank[0]
        target = array + rank[0] * stride
        if direction == FILL:
            copy_row(target, chunk, count, stride, 0, w, 0)
        elif count == n and direction == GATHER:
            copy_row(source, target, n, cs, stride, w, swap_width)
        elif count == n:
            copy_row(target, source, n, stride, cs, w, swap_width)
        elif count:
            mask_row(
                plan.mask, row * plan.grid.c[last].length + first, n, source, cs, target, stride, w, swap_width, direction
            )
        for d in range(last - 1, -1, -1):
            at[d] += 1
            if at[d] < v.valid_shape[d]:
                break
            at[d] = 0
        else:
            return


cdef char* slot_target(
    Plan plan, Py_ssize_t i, char* out, const Py_ssize_t* out_strides, Py_ssize_t itemsize,
    const Py_ssize_t* chunk_strides,
) noexcept nogil:
    cdef Piece pieces[MAX_RANK]
    cdef Py_ssize_t extent = itemsize, size = itemsize
    cdef int d, k = 0
    if plan.kind != PLAN_PRODUCT or not slot_whole(plan, i):
        return NULL
    slot_pieces(plan, i, pieces)
    for d in range(plan.ndim):
        if pieces[d].length != pieces[d].valid:
            return NULL
        extent += (pieces[d].length - 1) * chunk_strides[d]
        size *= pieces[d].length
        if plan.axes[d].dropped:
            continue
        if pieces[d].length > 1 and (out_strides[k] != chunk_strides[d] or chunk_strides[d] <= 0):
            return NULL
        out += pieces[d].out * out_strides[k]
        k += 1
    return out if extent == size else NULL


cdef bint slot_rows(
    Plan plan, Py_ssize_t i, char* out, const Py_ssize_t* out_strides, Py_ssize_t itemsize,
    const Py_ssize_t* chunk_strides, Rows* rows,
) noexcept nogil:
    cdef Piece pieces[MAX_RANK]
    cdef Py_ssize_t extent = itemsize
    cdef int64_t length
    cdef int d, k = plan.out_ndim
    if plan.kind != PLAN_PRODUCT or not slot_whole(plan, i):
        return False
    slot_pieces(plan, i, pieces)
    rows.nbytes = itemsize
    rows.ndim = 0
    for d in range(plan.ndim - 1, -1, -1):
        length = pieces[d].length
        if length != pieces[d].valid or (length > 1 and chunk_strides[d] != extent):
            return False
        extent *= length
        if plan.axes[d].dropped:
            continue
        k -= 1
        out += pieces[d].out * out_strides[k]
        if length > 1 and rows.ndim == 0 and out_strides[k] == rows.nbytes:
            rows.nbytes *= length
        elif length > 1:
            rows.counts[rows.ndim] = length
            rows.steps[rows.ndim] = out_strides[k]
            rows.ndim += 1
    rows.data = out
    return True


cdef void fill_bytes(char* data, Py_ssize_t n, const char* value, Py_ssize_t itemsize) noexcept nogil:
    if one_byte(value, itemsize):
        memset(data, value[0], n * itemsize)
    else:
        copy_row(data, value, n, itemsize, 0, itemsize, 0)


# --- the door

def scatter(cnp.ndarray chunk not None, Slot slot not None, cnp.ndarray out not None):
    """Copy the selected part of a decoded chunk to its place in the output.

    Parameters
    ----------
    chunk
        The chunk, of shape ``slot.chunk_shape``. Any memory order, either byte order; booleans of any bytes but 0 are
        True.
    slot
        The part of it, and its place in the output.
    out
        The output, of shape ``slot.plan.shape``. For another dtype, NumPy converts.

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
    if cnp.PyArray_TYPE(out) == cnp.NPY_BOOL:
        swap_width = TRUTH
    move_slot(plan, slot.index, chunk, out, swap_width, SCATTER, size)


def gather(cnp.ndarray value not None, Slot slot not None, cnp.ndarray chunk not None):
    """Copy the part of a value that belongs to a chunk into the chunk.

    Parameters
    ----------
    value
        The value, of shape ``slot.plan.shape``; broadcast views will do.
    slot
        The part of it, and its place in the chunk.
    chunk
        The chunk, of shape ``slot.chunk_shape``; elements that the slot does not select stay the same. For another
        dtype, NumPy converts.

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
    """Fill the part of the output for a missing chunk.

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
    """Return True if items are plain bytes: NumPy's own numbers, dates, fixed strings and records without objects."""
    cdef int kind = cnp.PyArray_TYPE(array)
    if 0 <= kind <= cnp.NPY_CLONGDOUBLE and kind != cnp.NPY_OBJECT:
        return True
    if kind == cnp.NPY_VOID:
        return not array.dtype.hasobject
    return kind in (cnp.NPY_STRING, cnp.NPY_UNICODE, cnp.NPY_DATETIME, cnp.NPY_TIMEDELTA, cnp.NPY_FLOAT16)


cdef bint plain(cnp.ndarray source, cnp.ndarray target, int* swap_width):
    """Return True if items can be copied as bytes, perhaps reversed; NumPy converts all else."""
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
