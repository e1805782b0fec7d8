"""Move one chunk between its stored form and an array: the common part of all bulk jobs, without the GIL."""
cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from zarr_core.blosc_parts cimport Stored, blosc_some, stored_in_file, stored_in_memory
from zarr_core.blosc_rows cimport blosc_to_rows
from zarr_core.chunks cimport (
    Rows, fill_bytes, fill_slot, gather_slot, scatter_slot, slot_rows, slot_target,
)
from zarr_core.copying cimport TRUTH, copy_row, settle_booleans
from zarr_core.files cimport zc_read_at
from zarr_core.fill_values cimport bytes_filled
from zarr_core.jobs cimport Job
from zarr_core.parts cimport few_of, picked, some_of
from zarr_core.payloads cimport has_plain_items, view_bytes
from zarr_core.plan cimport MAX_RANK, Plan, SlotView, plan_slot_view
from zarr_core.program cimport Program, program_decode, program_encode, program_layout, program_stored_limit
from zarr_core.stages cimport STAGE_BLOSC
from zarr_core.streams cimport Context, scratch_reserve

import numpy as np

cnp.import_array()


cdef enum:
    PARTIAL_FILE = 32 << 10     # chunks that take less of a file are read in one go
    CACHED_BYTES = 128 << 10    # a chunk below stays in the cache between being decoded and being put in place


cdef class ChunkReader(Job):
    """The part of a reading job for one chunk."""


cdef class ChunkWriter(Job):
    """The part of a writing job for one chunk."""

    def __dealloc__(self):
        free(self.pad)


# --- guards

cdef int check_array(str name, cnp.ndarray array, Plan plan, Program program) except -1:
    cdef int k
    cdef bint same = cnp.PyArray_NDIM(array) == plan.out_ndim
    if same:
        for k in range(plan.out_ndim):
            same = same and cnp.PyArray_DIM(array, k) == plan.out_shape[k]
    if not same:
        raise ValueError(f"{name} has shape {(<object>array).shape}, expected {plan.shape}")
    if not has_plain_items(array):
        raise TypeError(f"{name} of {(<object>array).dtype} has no fixed width")
    if cnp.PyArray_ITEMSIZE(array) != program.itemsize:
        raise ValueError(
            f"{name} has items of {cnp.PyArray_ITEMSIZE(array)} bytes, the program of {program.itemsize}"
        )
    if program.order is not None and len(program.order) != plan.ndim:
        raise ValueError(f"the program transposes {len(program.order)} axes, the plan has {plan.ndim}")
    return 0


cdef int check_fill(object fill, cnp.ndarray array) except -1:
    if not isinstance(fill, cnp.ndarray):
        raise TypeError(f"fill must be a 0-d NumPy array, got {type(fill).__name__}")
    if cnp.PyArray_NDIM(fill) or not cnp.PyArray_EquivTypes((<cnp.ndarray>fill).descr, array.descr):
        raise ValueError(
            f"fill must be 0-d and of {(<object>array).dtype}, got shape {fill.shape} and {fill.dtype}"
        )
    return 0


cdef int set_reader(ChunkReader r, Plan plan, Program program, object out, object fill) except -1:
    cdef int k
    if plan is None or program is None:
        raise TypeError("plan and program must not be None")
    if not isinstance(out, cnp.ndarray):
        raise TypeError(f"out must be a NumPy array, got {type(out).__name__}")
    r.plan = plan
    r.program = program
    r.out = out
    check_array("out", r.out, plan, program)
    if not cnp.PyArray_ISWRITEABLE(r.out):
        raise ValueError("out is read-only")
    if fill is not None:
        check_fill(fill, r.out)
        r.fill = fill
        r.fill_data = <const char*>cnp.PyArray_DATA(r.fill)
    r.swap_width = TRUTH if cnp.PyArray_TYPE(r.out) == cnp.NPY_BOOL else program.swap_width
    r.data = <char*>cnp.PyArray_DATA(r.out)
    for k in range(plan.out_ndim):
        r.strides[k] = cnp.PyArray_STRIDE(r.out, k)
    return 0


cdef int set_writer(
    ChunkWriter w, Plan plan, Program program, object value, object fill, bint skip_filled,
) except -1:
    cdef int k
    if plan is None or program is None:
        raise TypeError("plan and program must not be None")
    if not isinstance(value, cnp.ndarray):
        raise TypeError(f"value must be a NumPy array, got {type(value).__name__}")
    w.plan = plan
    w.program = program
    w.value = value
    check_array("value", w.value, plan, program)
    check_fill(fill, w.value)
    w.fill = fill
    w.skip_filled = skip_filled
    w.data = <const char*>cnp.PyArray_DATA(w.value)
    for k in range(plan.out_ndim):
        w.strides[k] = cnp.PyArray_STRIDE(w.value, k)
    w.pad = <char*>malloc(program.itemsize)
    if w.pad == NULL:
        raise MemoryError
    swap_copy(<const char*>cnp.PyArray_DATA(w.fill), w.pad, program.itemsize, program.swap_width)
    if skip_filled and fill.dtype.kind in "fc":
        note_nans(w, fill)
    return 0


cdef int note_nans(ChunkWriter w, object fill) except -1:
    """Any NaN counts as the fill value where that is NaN."""
    parts = [fill.real, fill.imag] if fill.dtype.kind == "c" else [fill]
    width = parts[0].dtype.itemsize
    nans = [bool(np.isnan(part)) for part in parts]
    if any(nans) and width in (2, 4, 8):
        w.nan_width = width
        w.nan_part[0] = nans[0]
        w.nan_part[1] = any(nans[1:])
    return 0


cdef int check_span(int64_t first, int64_t count, int64_t total) except -1:
    if first < 0 or count < 0 or first > total - count:
        raise IndexError(f"{count} positions from {first} on do not lie in a job of {total}")
    return 0


cdef cnp.ndarray checked_indices(str what, object indices, int64_t total):
    cdef cnp.ndarray array = np.ascontiguousarray(indices, dtype=np.int64)
    cdef const int64_t* values = <const int64_t*>cnp.PyArray_DATA(array)
    cdef int64_t i
    if cnp.PyArray_NDIM(array) != 1:
        raise ValueError(f"{what} must be one-dimensional, got shape {np.shape(indices)}")
    for i in range(cnp.PyArray_SIZE(array)):
        if not 0 <= values[i] < total:
            raise IndexError(f"{what} must lie in 0 .. {total - 1}, got {values[i]}")
    # A copy: nobody else may change it while a job runs.
    return array.copy() if array is indices or (<object>array).base is not None else array


cdef object pick(const uint8_t* status, int64_t n, const int64_t* names, int wanted):
    """Return the names of the places with a status; without names, the places."""
    cdef int64_t i, found = 0
    cdef cnp.ndarray picked
    cdef int64_t* to
    for i in range(n):
        found += status[i] == wanted
    picked = np.empty(found, np.int64)
    to = <int64_t*>cnp.PyArray_DATA(picked)
    found = 0
    for i in range(n):
        if status[i] == wanted:
            to[found] = names[i] if names != NULL else i
            found += 1
    return picked


cdef void fail_all(uint8_t* status, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        if status[i] == TODO:
            status[i] = FAILED


cdef object view_all(object payloads, const char** data, int64_t* sizes, int64_t n):
    cdef int64_t i
    cdef tuple held
    if not isinstance(payloads, (list, tuple)):
        payloads = list(payloads)
    if n == 1 and PyBytes_CheckExact(payloads[0]):
        held = (payloads[0],)
    else:
        held = tuple(payloads)
    if len(held) != n:
        raise ValueError("the payloads changed while they were looked at")
    views = None
    for i in range(n):
        item = held[i]
        if item is None:
            data[i] = NULL
            sizes[i] = -1
        elif PyBytes_CheckExact(item):
            data[i] = PyBytes_AS_STRING(item)
            sizes[i] = PyBytes_GET_SIZE(item)
        else:
            view = view_bytes(item, &data[i], &sizes[i])
            if view is not item:
                if views is None:
                    views = []
                views.append(view)
    return held, views


# --- small kernels

cdef void swap_copy(const char* src, char* dst, Py_ssize_t n, int width) noexcept nogil:
    cdef Py_ssize_t i
    if width < 2:
        memcpy(dst, src, n)
        return
    for i in range(n):
        dst[i] = src[i - i % width + (width - 1 - i % width)]


cdef bint is_nan(const char* data, int width, bint swapped) noexcept nogil:
    cdef char plain[8]
    cdef uint16_t half
    cdef uint32_t single
    cdef uint64_t double_
    swap_copy(data, plain, width, width if swapped else 0)
    if width == 2:
        memcpy(&half, plain, 2)
        return (half & 0x7fff) > 0x7c00
    if width == 4:
        memcpy(&single, plain, 4)
        return (single & 0x7fffffffu) > 0x7f800000u
    memcpy(&double_, plain, 8)
    return (double_ & 0x7fffffffffffffffULL) > 0x7ff0000000000000ULL


cdef bint filled_with_nan(ChunkWriter w, const char* data, int64_t nbytes) noexcept nogil:
    """Item by item, each part NaN or the fill's very bits."""
    cdef int64_t at = 0
    cdef int part, k, width = w.nan_width
    while at < nbytes:
        part = (at // width) % 2 if w.program.itemsize == 2 * width else 0
        if w.nan_part[part]:
            if not is_nan(data + at, width, w.program.swap_width != 0):
                return False
        else:
            for k in range(width):
                if data[at + k] != w.pad[part * width + k]:
                    return False
        at += width
    return True


cdef int64_t chunk_nbytes(Plan plan, Program program, Py_ssize_t slot) noexcept nogil:
    cdef SlotView v
    cdef Py_ssize_t strides[MAX_RANK]
    plan_slot_view(plan, slot, &v)
    return program_layout(program, v.chunk_shape, plan.ndim, strides)


# --- one chunk in

cdef inline bint only_blosc(Program p) noexcept nogil:
    return p.nstages == 1 and p.stage[0].kind == STAGE_BLOSC


cdef int64_t read_rows(
    ChunkReader r, Context* c, Py_ssize_t slot, const char* src, int64_t n, const Py_ssize_t* strides, int64_t nbytes,
) noexcept nogil:
    """A whole blosc chunk, put in order where it belongs: 1; 0 where that is not possible; below 0 for damage."""
    cdef Rows rows
    cdef int64_t width = r.program.itemsize
    if r.swap_width == TRUTH or (
        r.swap_width != width and (r.swap_width != 0 or nbytes < CACHED_BYTES)
    ):
        return 0
    if not slot_rows(r.plan, slot, r.data, r.strides, width, strides, &rows):
        return 0
    return blosc_to_rows(c, src, n, nbytes, <int>width, r.swap_width != 0, &rows)


cdef int read_chunk(ChunkReader r, Context* c, Py_ssize_t slot, const char* src, int64_t n) noexcept nogil:
    cdef SlotView v
    cdef Py_ssize_t strides[MAX_RANK]
    cdef int64_t nbytes, low, high, code
    cdef const char* result = NULL
    cdef char* target = NULL
    cdef Stored stored
    plan_slot_view(r.plan, slot, &v)
    nbytes = program_layout(r.program, v.chunk_shape, r.plan.ndim, strides)
    if nbytes < 0:
        return FAILED
    if r.program.swap_width == 0 and v.whole:
        target = slot_target(r.plan, slot, r.data, r.strides, r.program.itemsize, strides)
    if only_blosc(r.program) and v.whole and target == NULL:
        code = read_rows(r, c, slot, src, n, strides, nbytes)
        if code:
            return DONE if code > 0 else FAILED
    if only_blosc(r.program) and not v.whole:
        if some_of(r.plan, r.program.itemsize, slot, v.whole, strides, nbytes, &low, &high):
            stored = stored_in_memory(src, n)
            result = blosc_some(c, &stored, nbytes, low, high)
        elif r.program.swap_width == 0 and few_of(r.plan, r.program.itemsize, slot, nbytes):
            if picked(r.plan, slot, r.program.itemsize, c, src, n, strides, nbytes, r.data, r.strides):
                return DONE
    if result == NULL and program_decode(r.program, c, src, n, nbytes, target, &result) < 0:
        return FAILED
    place(r, slot, result, strides, nbytes, target)
    return DONE


cdef inline void place(
    ChunkReader r, Py_ssize_t slot, const char* chunk, const Py_ssize_t* strides, int64_t nbytes, char* target,
) noexcept nogil:
    if target == NULL:
        scatter_slot(r.plan, slot, chunk, strides, r.data, r.strides, r.program.itemsize, r.swap_width)
    elif r.swap_width == TRUTH:
        if target == chunk:
            settle_booleans(target, nbytes)
        else:
            copy_row(target, chunk, nbytes, 1, 1, 1, TRUTH)
    elif target != chunk:
        memcpy(target, chunk, nbytes)


cdef int decode_chunk(
    ChunkReader r, Context* c, Py_ssize_t slot, const char* src, int64_t n, const char** result,
) noexcept nogil:
    cdef int64_t nbytes = chunk_nbytes(r.plan, r.program, slot)
    if nbytes < 0 or program_decode(r.program, c, src, n, nbytes, NULL, result) < 0:
        return -1
    return 0


cdef void place_chunk(ChunkReader r, Py_ssize_t slot, const char* chunk) noexcept nogil:
    cdef SlotView v
    cdef Py_ssize_t strides[MAX_RANK]
    plan_slot_view(r.plan, slot, &v)
    program_layout(r.program, v.chunk_shape, r.plan.ndim, strides)
    scatter_slot(r.plan, slot, chunk, strides, r.data, r.strides, r.program.itemsize, r.swap_width)


cdef int read_plain_file(ChunkReader r, Context* c, Py_ssize_t slot, int fd, int64_t at, int64_t n) noexcept nogil:
    """A chunk without codecs: straight to its place, or only the part that is wanted."""
    cdef SlotView v
    cdef Py_ssize_t strides[MAX_RANK]
    cdef int64_t nbytes, low = 0, high
    cdef char* target = NULL
    cdef char* chunk
    plan_slot_view(r.plan, slot, &v)
    nbytes = program_layout(r.program, v.chunk_shape, r.plan.ndim, strides)
    if nbytes != n:
        return FAILED
    high = n
    if r.program.swap_width == 0 and v.whole:
        target = slot_target(r.plan, slot, r.data, r.strides, r.program.itemsize, strides)
    if target == NULL and not some_of(
        r.plan, r.program.itemsize, slot, v.whole, strides, nbytes, &low, &high,
    ):
        low = 0
        high = n
    chunk = target if target != NULL else scratch_reserve(&c.stored, n)
    if chunk == NULL or zc_read_at(fd, chunk + low, high - low, at + low) != high - low:
        return FAILED
    place(r, slot, chunk, strides, nbytes, target)
    return DONE


cdef bint read_part_of_file(ChunkReader r, Context* c, Py_ssize_t slot, int fd, int64_t at, int64_t n) noexcept nogil:
    """A part of a blosc chunk, of which no more is read than that takes; False where it is better read whole."""
    cdef SlotView v
    cdef Py_ssize_t strides[MAX_RANK]
    cdef Stored stored
    cdef int64_t nbytes, low, high
    cdef const char* chunk
    plan_slot_view(r.plan, slot, &v)
    nbytes = program_layout(r.program, v.chunk_shape, r.plan.ndim, strides)
    if not some_of(r.plan, r.program.itemsize, slot, v.whole, strides, nbytes, &low, &high):
        return False
    if scratch_reserve(&c.stored, n) == NULL:
        return False
    stored = stored_in_file(c.stored.data, n, fd, at)
    chunk = blosc_some(c, &stored, nbytes, low, high)
    if chunk == NULL:
        return False
    place(r, slot, chunk, strides, nbytes, NULL)
    return True


cdef int read_chunk_file(ChunkReader r, Context* c, Py_ssize_t slot, int fd, int64_t at, int64_t n) noexcept nogil:
    """A chunk stored in n bytes of a file from `at` on."""
    cdef bint exact
    cdef int64_t nbytes
    if r.program.nstages == 0:
        return read_plain_file(r, c, slot, fd, at, n)
    nbytes = chunk_nbytes(r.plan, r.program, slot)
    if nbytes < 0 or n > program_stored_limit(r.program, nbytes, &exact):
        return FAILED
    if n >= PARTIAL_FILE and only_blosc(r.program) and read_part_of_file(r, c, slot, fd, at, n):
        return DONE
    if scratch_reserve(&c.stored, n) == NULL or zc_read_at(fd, c.stored.data, n, at) != n:
        return FAILED
    return read_chunk(r, c, slot, c.stored.data, n)


cdef int read_nothing(ChunkReader r, Py_ssize_t slot) noexcept nogil:
    if r.fill_data != NULL:
        fill_slot(r.plan, slot, r.data, r.strides, r.program.itemsize, r.fill_data)
    return MISSING


# --- one chunk out

cdef bint chunk_filled(ChunkWriter w, const char* chunk, int64_t nbytes) noexcept nogil:
    if w.nan_width:
        return filled_with_nan(w, chunk, nbytes)
    return bytes_filled(chunk, nbytes // w.program.itemsize, w.pad, w.program.itemsize)


cdef const char* assemble(
    ChunkWriter w, Program p, Context* c, Py_ssize_t slot, char* dst, int64_t* nbytes,
) noexcept nogil:
    """A chunk's bytes before any codec: where they lie in the value, or gathered; NULL if that cannot be."""
    cdef SlotView v
    cdef Py_ssize_t strides[MAX_RANK]
    cdef bint overhangs = False
    cdef int k
    cdef const char* chunk = NULL
    cdef char* made
    plan_slot_view(w.plan, slot, &v)
    nbytes[0] = program_layout(p, v.chunk_shape, w.plan.ndim, strides)
    if nbytes[0] < 0 or not v.whole:
        return NULL
    for k in range(w.plan.ndim):
        overhangs = overhangs or v.valid_shape[k] != v.chunk_shape[k]
    if p.swap_width == 0 and not overhangs and dst == NULL:
        chunk = slot_target(w.plan, slot, <char*>w.data, w.strides, p.itemsize, strides)
    if chunk != NULL:
        return chunk
    made = dst if dst != NULL and p.nstages == 0 else scratch_reserve(&c.chunk, nbytes[0])
    if made == NULL:
        return NULL
    if overhangs:
        fill_bytes(made, nbytes[0] // p.itemsize, w.pad, p.itemsize)
    gather_slot(w.plan, slot, w.data, w.strides, made, strides, p.itemsize, p.swap_width)
    return made


cdef int write_chunk(
    ChunkWriter w, Context* c, Py_ssize_t slot, char* dst, const char** result, int64_t* size,
) noexcept nogil:
    cdef int64_t nbytes
    cdef const char* chunk = assemble(w, w.program, c, slot, dst, &nbytes)
    if chunk == NULL:
        return FAILED
    if w.skip_filled and chunk_filled(w, chunk, nbytes):
        return MISSING
    size[0] = program_encode(w.program, c, chunk, nbytes, result)
    return DONE if size[0] >= 0 else FAILED
