"""Between chunks and arrays: scatter a chunk into an output, gather a chunk from a value, fill, compare with a fill.

The first half is kernels that trust their arguments; ``chunks_door.pxi`` holds the functions that Python calls, which
check everything first.
"""
from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy, memmove, memset

import numpy as np

cimport numpy as cnp

from zarr_core.copying cimport Loop, copy_loops, copy_one, copy_row
from zarr_core.grid cimport MAX_RANK, axis_chunk_length, axis_offset, axis_valid_length
from zarr_core.plan cimport (
    PLAN_MASK,
    PLAN_POINTS,
    PLAN_PRODUCT,
    Piece,
    Plan,
    Slot,
    SlotView,
    mask_bits,
    mask_highest,
    mask_lowest,
    mask_read,
    multiply,
    plan_slot_view,
    slot_pieces,
    slot_whole,
)

cnp.import_array()

cdef enum:
    RELEASE_GIL_BYTES = 65536

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
    """Whether all bytes of an item are the same, as in most fill values."""
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
    if constant:
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
    if w == 1:
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
            memcpy(array, chunk + k * cs, w)
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


cdef bint bytes_filled(const char* data, Py_ssize_t n, const char* value, Py_ssize_t itemsize) noexcept nogil:
    """The first item is the value, and every item is the one before it."""
    if n == 0 or itemsize == 0:
        return True
    return memcmp(data, value, itemsize) == 0 and memcmp(data, data + itemsize, (n - 1) * itemsize) == 0


cdef void fill_bytes(char* data, Py_ssize_t n, const char* value, Py_ssize_t itemsize) noexcept nogil:
    if one_byte(value, itemsize):
        memset(data, value[0], n * itemsize)
    else:
        copy_row(data, value, n, itemsize, 0, itemsize, 0)


include "chunks_door.pxi"
