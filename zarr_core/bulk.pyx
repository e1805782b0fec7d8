"""Many chunks of one plan in one loop: files or buffers, decoded and scattered; or gathered, encoded and written.

A job raises for wrong arguments only. A chunk that cannot be read, decoded or written is listed in ``failed``; the
caller takes the plain path for it, which names what is wrong.
"""
cimport numpy as cnp
from libc.errno cimport ENOENT
from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.list cimport PyList_CheckExact
from zarr_core.blosc cimport BloscFrame, blosc_blocks, blosc_open
from zarr_core.chunks cimport bytes_filled, fill_bytes, fill_slot, gather_slot, scatter_slot, slot_target
from zarr_core.decoders cimport STAGE_BLOSC
from zarr_core.files cimport (
    Folder,
    folder_close,
    folder_delete,
    folder_enter,
    folder_open,
    folder_read,
    folder_select,
    folder_write,
    zc_close,
    zc_read_at,
)
from zarr_core.grid cimport axis_offset
from zarr_core.keys cimport KeyFormat
from zarr_core.payloads cimport has_plain_items, view_bytes
from zarr_core.plan cimport (
    MAX_RANK,
    PLAN_MASK,
    PLAN_POINTS,
    Piece,
    Plan,
    SlotView,
    plan_slot_view,
    slot_coordinates,
    slot_pieces,
)
from zarr_core.program cimport (
    Program,
    program_decode,
    program_encode,
    program_give,
    program_layout,
    program_stored_limit,
    program_take,
)
from zarr_core.streams cimport Context, scratch_extend, scratch_reserve

import os

import numpy as np

cnp.import_array()


cdef extern from "atomics.h" nogil:
    int64_t zc_take(int64_t* counter, int64_t n)


cdef enum:
    INLINE = 16             # jobs up to this many slots need no memory of their own
    PARTIAL_BYTES = 16 << 10    # chunks below are always read whole
    BATCH_BYTES = 64 << 10      # work a thread takes at a time
    BATCH_SLOTS = 16
    BLOSC_HEADER = 16
    FEW_POINTS = 64             # more points than these are taken to lie all over the chunk


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
    """The names of the places with a status; without names, the places."""
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


cdef int64_t chunk_nbytes(Plan plan, Program program, Py_ssize_t slot) noexcept nogil:
    cdef SlotView v
    cdef Py_ssize_t strides[MAX_RANK]
    plan_slot_view(plan, slot, &v)
    return program_layout(program, v.chunk_shape, plan.ndim, strides)


# --- one chunk in

cdef bint some_of(
    ChunkReader r, Py_ssize_t slot, bint whole, const Py_ssize_t* strides, int64_t nbytes, int64_t* low, int64_t* high,
) noexcept nogil:
    """Whether so little of a chunk is wanted that the rest is better left alone."""
    if whole or nbytes < PARTIAL_BYTES:
        return False
    if not touched(r.plan, slot, strides, r.program.itemsize, low, high):
        return False
    return high[0] - low[0] <= nbytes // 2


cdef inline bint only_blosc(Program p) noexcept nogil:
    return p.nstages == 1 and p.stage[0].kind == STAGE_BLOSC


cdef const char* some_blocks(
    ChunkReader r, Context* c, const char* src, int64_t n, int64_t nbytes, int64_t low, int64_t high,
) noexcept nogil:
    """A chunk's memory in which only the blosc blocks of some bytes are decoded; NULL where that is not possible."""
    cdef BloscFrame f
    cdef int64_t first, last
    cdef char* chunk
    if blosc_open(&f, src, n) < 0 or f.nbytes != nbytes:
        return NULL
    if f.stored:
        return src + BLOSC_HEADER
    first = low // f.blocksize
    last = (high - 1) // f.blocksize + 1
    if last - first == f.nblocks:
        return NULL
    chunk = scratch_reserve(&c.ping, nbytes)
    if chunk == NULL or blosc_blocks(c, &f, first, last, chunk + first * f.blocksize) < 0:
        return NULL
    return chunk


cdef int read_chunk(ChunkReader r, Context* c, Py_ssize_t slot, const char* src, int64_t n) noexcept nogil:
    cdef SlotView v
    cdef Py_ssize_t strides[MAX_RANK]
    cdef int64_t nbytes, low, high
    cdef const char* result = NULL
    cdef char* target = NULL
    plan_slot_view(r.plan, slot, &v)
    nbytes = program_layout(r.program, v.chunk_shape, r.plan.ndim, strides)
    if nbytes < 0:
        return FAILED
    if r.program.swap_width == 0 and v.whole:
        target = slot_target(r.plan, slot, r.data, r.strides, r.program.itemsize, strides)
    if only_blosc(r.program) and some_of(r, slot, v.whole, strides, nbytes, &low, &high):
        result = some_blocks(r, c, src, n, nbytes, low, high)
    if result == NULL and program_decode(r.program, c, src, n, nbytes, target, &result) < 0:
        return FAILED
    place(r, slot, result, strides, nbytes, target)
    return DONE


cdef inline void place(
    ChunkReader r, Py_ssize_t slot, const char* chunk, const Py_ssize_t* strides, int64_t nbytes, char* target,
) noexcept nogil:
    if target == NULL:
        scatter_slot(r.plan, slot, chunk, strides, r.data, r.strides, r.program.itemsize, r.program.swap_width)
    elif target != chunk:
        memcpy(target, chunk, nbytes)


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
    if target == NULL and not some_of(r, slot, v.whole, strides, nbytes, &low, &high):
        low = 0
        high = n
    chunk = target if target != NULL else scratch_reserve(&c.stored, n)
    if chunk == NULL or zc_read_at(fd, chunk + low, high - low, at + low) != high - low:
        return FAILED
    place(r, slot, chunk, strides, nbytes, target)
    return DONE


cdef int read_chunk_file(ChunkReader r, Context* c, Py_ssize_t slot, int fd, int64_t at, int64_t n) noexcept nogil:
    """A chunk stored in n bytes of a file from `at` on."""
    cdef bint exact
    cdef int64_t nbytes
    if r.program.nstages == 0:
        return read_plain_file(r, c, slot, fd, at, n)
    nbytes = chunk_nbytes(r.plan, r.program, slot)
    if nbytes < 0 or n > program_stored_limit(r.program, nbytes, &exact):
        return FAILED
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


# --- reading

cdef class ChunkReader:
    """The part of a reading job that knows one chunk."""


cdef class ReadJob(ChunkReader):
    """Read the chunks of a plan into an output array.

    Parameters
    ----------
    plan : Plan
        Which chunks, which part of each, and where it lands.
    program : Program
        How chunks are stored.
    out : numpy.ndarray
        Of ``plan.shape``, of a fixed-width dtype with the program's item size.
    fill : numpy.ndarray or None
        0-d, of ``out``'s dtype: what a chunk that is not stored reads as. None leaves its place alone.
    slots : array of int, optional
        The slots of the plan to read, all by default.

    Raises
    ------
    TypeError, ValueError, IndexError
        Arguments that do not fit each other. What is wrong with stored data shows in ``failed`` only.

    Examples
    --------
    >>> import numpy as np
    >>> from zarr_core import Grid, RegularAxis, plan_basic
    >>> plan = plan_basic(Grid([RegularAxis(4, 2)]), ...)
    >>> job = ReadJob(plan, Program(1, 0, None, []), np.empty(4, "u1"), np.array(9, "u1"))
    >>> job.from_buffers([b"ab", None])
    >>> job.out.tolist(), job.missing.tolist()
    ([97, 98, 9, 9], [1])
    """

    cdef cnp.ndarray slots_array
    cdef const int64_t* slots       # NULL: all
    cdef int64_t count
    cdef int64_t next               # the first position no thread has taken
    cdef uint8_t* status
    cdef uint8_t inline_status[INLINE]

    def __cinit__(self, Plan plan, Program program, out, fill, slots=None):
        set_reader(self, plan, program, out, fill)
        self.count = plan.nslots
        if slots is not None:
            self.slots_array = checked_indices("slots", slots, plan.nslots)
            self.slots = <const int64_t*>cnp.PyArray_DATA(self.slots_array)
            self.count = cnp.PyArray_SIZE(self.slots_array)
        if self.count <= INLINE:
            memset(self.inline_status, TODO, INLINE)
            self.status = self.inline_status
        else:
            self.status = <uint8_t*>calloc(self.count, 1)
            if self.status == NULL:
                raise MemoryError

    def __dealloc__(self):
        if self.status != self.inline_status:
            free(self.status)

    @property
    def missing(self):
        """Slots with no stored chunk: int64 array."""
        return pick(self.status, self.count, self.slots, MISSING)

    @property
    def failed(self):
        """Slots that could not be read or decoded, whose place in the output is undefined: int64 array."""
        return pick(self.status, self.count, self.slots, FAILED)

    def from_files(self, root: str, KeyFormat keys not None) -> None:
        """Read the chunks from files under a folder. Several threads may share the work by calling this together.

        Parameters
        ----------
        root : str
            The folder that keys are relative to.
        keys : KeyFormat
            Chunk coordinates to keys.
        """
        cdef bytes path = os.fsencode(root)
        cdef const char* folder = path
        with nogil:
            read_files(self, folder, keys)

    def from_buffers(self, payloads, first: int = 0) -> None:
        """Read chunks from memory.

        Parameters
        ----------
        payloads : sequence of bytes-like or None
            Payload k belongs to position ``first + k`` of the job's slots; None: not stored.
        first : int
            Where the payloads begin.
        """
        cdef const char* few_data[INLINE]
        cdef int64_t few_sizes[INLINE]
        cdef const char** data = few_data
        cdef int64_t* sizes = few_sizes
        cdef int64_t n = len(payloads), start = first, work, i
        check_span(start, n, self.count)
        if n == 0:
            return
        if n > INLINE:
            data = <const char**>malloc(n * sizeof(char*))
            sizes = <int64_t*>malloc(n * sizeof(int64_t))
        try:
            if data == NULL or sizes == NULL:
                raise MemoryError
            held = view_all(payloads, data, sizes, n)
            work = n * chunk_nbytes(self.plan, self.program, self.slots[start] if self.slots != NULL else start)
            for i in range(n):
                work += sizes[i]
            if work >= RELEASE_GIL_BYTES:
                with nogil:
                    read_buffers(self, data, sizes, start, n)
            else:
                read_buffers(self, data, sizes, start, n)
        finally:
            if n > INLINE:
                free(data)
                free(sizes)


cdef inline Py_ssize_t slot_at(const int64_t* slots, int64_t position) noexcept nogil:
    return slots[position] if slots != NULL else position


cdef void read_buffers(ReadJob job, const char** data, const int64_t* sizes, int64_t first, int64_t n) noexcept nogil:
    cdef Context* c = program_take(job.program)
    cdef Py_ssize_t slot
    cdef int64_t i
    for i in range(n):
        slot = slot_at(job.slots, first + i)
        if sizes[i] < 0:
            job.status[first + i] = read_nothing(job, slot)
        elif c == NULL:
            job.status[first + i] = FAILED
        else:
            job.status[first + i] = read_chunk(job, c, slot, data[i], sizes[i])
    program_give(job.program, c)


cdef int64_t batch_size(Plan plan, Program program, int64_t count, const int64_t* slots) noexcept nogil:
    """Positions a thread takes at a time: neighbours share a folder, large chunks are enough one by one."""
    cdef int64_t nbytes = chunk_nbytes(plan, program, slot_at(slots, 0)) if count else 1
    if nbytes < 1 or nbytes >= BATCH_BYTES:
        return 1
    return BATCH_SLOTS if BATCH_BYTES // nbytes > BATCH_SLOTS else BATCH_BYTES // nbytes


cdef int read_file(ReadJob job, Context* c, Folder* f, KeyFormat keys, Py_ssize_t slot) noexcept nogil:
    cdef int64_t coords[MAX_RANK]
    cdef int64_t size
    cdef int fd, code
    slot_coordinates(job.plan, slot, coords)
    code = folder_select(f, keys, coords, job.plan.ndim)
    if code < 0:
        return FAILED
    if code == 1:
        folder_enter(f, False)
    fd = folder_read(f, &size)
    if fd < 0:
        return read_nothing(job, slot) if fd == -ENOENT else FAILED
    code = read_chunk_file(job, c, slot, fd, 0, size)
    zc_close(fd)
    return code


cdef void read_files(ReadJob job, const char* root, KeyFormat keys) noexcept nogil:
    cdef Folder f
    cdef Context* c = program_take(job.program)
    cdef int code = folder_open(&f, root, keys, job.plan.ndim, False)
    cdef int64_t batch = batch_size(job.plan, job.program, job.count, job.slots), first, i
    while True:
        first = zc_take(&job.next, batch)
        if first >= job.count:
            break
        for i in range(first, min(first + batch, job.count)):
            if job.status[i] != TODO:
                continue
            if code == -ENOENT:
                job.status[i] = read_nothing(job, slot_at(job.slots, i))
            elif code < 0 or c == NULL:
                job.status[i] = FAILED
            else:
                job.status[i] = read_file(job, c, &f, keys, slot_at(job.slots, i))
    if code == 0:
        folder_close(&f)
    program_give(job.program, c)


# --- writing

cdef class ChunkWriter:
    """The part of a writing job that knows one chunk."""

    def __dealloc__(self):
        free(self.pad)


cdef class WriteJob(ChunkWriter):
    """Write whole chunks of a plan from a value.

    Parameters
    ----------
    plan : Plan
        Which chunks, and which part of the value each one is. Slots that are not whole come out in ``failed``.
    program : Program
        How chunks are stored.
    value : numpy.ndarray
        Of ``plan.shape``; broadcast arrays are fine.
    fill : numpy.ndarray
        0-d, of ``value``'s dtype; also pads chunks that reach past the end of the array.
    skip_filled : bool
        Do not store chunks that hold nothing but ``fill``.
    slots : array of int, optional
        The slots of the plan to write, all by default.

    Raises
    ------
    TypeError, ValueError, IndexError
        Arguments that do not fit each other.

    Examples
    --------
    >>> import numpy as np
    >>> from zarr_core import Grid, RegularAxis, plan_basic
    >>> plan = plan_basic(Grid([RegularAxis(4, 2)]), ...)
    >>> job = WriteJob(plan, Program(1, 0, None, []), np.array([1, 2, 0, 0], "u1"), np.array(0, "u1"), True)
    >>> job.encode(0, 2)
    [b'\\x01\\x02', None]
    """

    cdef cnp.ndarray slots_array
    cdef const int64_t* slots
    cdef int64_t count
    cdef int64_t next
    cdef uint8_t* status
    cdef int* codes                 # error numbers

    def __cinit__(self, Plan plan, Program program, value, fill, bint skip_filled, slots=None):
        set_writer(self, plan, program, value, fill, skip_filled)
        self.count = plan.nslots
        if slots is not None:
            self.slots_array = checked_indices("slots", slots, plan.nslots)
            self.slots = <const int64_t*>cnp.PyArray_DATA(self.slots_array)
            self.count = cnp.PyArray_SIZE(self.slots_array)
        self.status = <uint8_t*>calloc(self.count + 1, 1)
        self.codes = <int*>calloc(self.count + 1, sizeof(int))
        if self.status == NULL or self.codes == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.status)
        free(self.codes)

    @property
    def failed(self):
        """Slots that were not written: int64 array."""
        return pick(self.status, self.count, self.slots, FAILED)

    @property
    def errors(self) -> list:
        """(slot, errno) of the file calls that failed."""
        return [(slot_at(self.slots, i), self.codes[i]) for i in range(self.count) if self.codes[i]]

    def encode(self, first: int, count: int) -> list:
        """Make the stored chunks of some positions.

        Parameters
        ----------
        first, count : int
            Which positions of the job's slots.

        Returns
        -------
        list of bytes or None
            None: all fill and skipped, or failed.
        """
        cdef int64_t start = first, n = count
        check_span(start, n, self.count)
        if n == 0:
            return []
        if self.program.nstages == 0:
            return encode_plain(self, start, n)
        return encode_packed(self, start, n)

    def to_files(self, root: str, KeyFormat keys not None, fsync: bool = False) -> None:
        """Write the chunks to files under a folder. Several threads may share the work by calling this together.

        Each file is written beside its place and renamed into it; the file of a skipped chunk is deleted.

        Parameters
        ----------
        root : str
            The folder that keys are relative to; made where it is missing.
        keys : KeyFormat
            Chunk coordinates to keys.
        fsync : bool
            Make each file and its folder durable.
        """
        cdef bytes path = os.fsencode(root)
        cdef const char* folder = path
        cdef bint durable = fsync
        cdef int code
        with nogil:
            code = write_files(self, folder, keys, durable)
        if code == -ENOENT:
            os.makedirs(root, exist_ok=True)
            with nogil:
                code = write_files(self, folder, keys, durable)
        if code < 0:
            raise OSError(-code, os.strerror(-code), root)


cdef object encode_plain(WriteJob job, int64_t first, int64_t n):
    """Without codecs: gathered straight into the bytes objects."""
    cdef char** to = <char**>malloc(n * sizeof(char*))
    cdef int64_t i, nbytes, work = 0
    if to == NULL:
        raise MemoryError
    try:
        results = []
        for i in range(n):
            nbytes = chunk_nbytes(job.plan, job.program, slot_at(job.slots, first + i))
            results.append(PyBytes_FromStringAndSize(NULL, nbytes if nbytes >= 0 else 0))
            to[i] = PyBytes_AS_STRING(results[i])
            work += nbytes
        if work >= RELEASE_GIL_BYTES:
            with nogil:
                gather_all(job, first, n, to)
        else:
            gather_all(job, first, n, to)
    finally:
        free(to)
    for i in range(n):
        if job.status[first + i] != DONE:
            results[i] = None
        if job.status[first + i] == MISSING:
            job.status[first + i] = DONE
    return results


cdef void gather_all(WriteJob job, int64_t first, int64_t n, char** to) noexcept nogil:
    cdef Context* c = program_take(job.program)
    cdef const char* result
    cdef int64_t i, size
    for i in range(n):
        job.status[first + i] = FAILED if c == NULL else write_chunk(
            job, c, slot_at(job.slots, first + i), to[i], &result, &size,
        )
    program_give(job.program, c)


cdef object encode_packed(WriteJob job, int64_t first, int64_t n):
    """With codecs: encoded one behind the other, then made into bytes objects."""
    cdef int64_t* ends = <int64_t*>malloc(n * sizeof(int64_t))
    cdef Context* c = program_take(job.program)
    cdef int64_t i, start = 0
    if ends == NULL or c == NULL:
        free(ends)
        program_give(job.program, c)
        raise MemoryError
    try:
        if n * chunk_nbytes(job.plan, job.program, slot_at(job.slots, first)) >= RELEASE_GIL_BYTES:
            with nogil:
                encode_all(job, c, first, n, ends)
        else:
            encode_all(job, c, first, n, ends)
        results = []
        for i in range(n):
            if job.status[first + i] == DONE:
                results.append(c.arena.data[start:ends[i]])
            else:
                results.append(None)
            if job.status[first + i] == MISSING:
                job.status[first + i] = DONE
            start = ends[i]
        return results
    finally:
        free(ends)
        program_give(job.program, c)


cdef void encode_all(WriteJob job, Context* c, int64_t first, int64_t n, int64_t* ends) noexcept nogil:
    cdef const char* result
    cdef int64_t i, size, used = 0
    cdef int code
    for i in range(n):
        code = write_chunk(job, c, slot_at(job.slots, first + i), NULL, &result, &size)
        if code == DONE:
            if scratch_extend(&c.arena, used, used + size) == NULL:
                code = FAILED
            else:
                memcpy(c.arena.data + used, result, size)
                used += size
        job.status[first + i] = code
        ends[i] = used


cdef int write_file(WriteJob job, Context* c, Folder* f, KeyFormat keys, int64_t position) noexcept nogil:
    cdef int64_t coords[MAX_RANK]
    cdef Py_ssize_t slot = slot_at(job.slots, position)
    cdef const char* result
    cdef int64_t size
    cdef int code = write_chunk(job, c, slot, NULL, &result, &size), error
    if code == FAILED:
        return FAILED
    slot_coordinates(job.plan, slot, coords)
    error = folder_select(f, keys, coords, job.plan.ndim)
    if error >= 0:
        error = folder_write(f, result, size) if code == DONE else folder_delete(f)
    if error < 0:
        job.codes[position] = -error
        return FAILED
    return DONE


cdef int write_files(WriteJob job, const char* root, KeyFormat keys, bint durable) noexcept nogil:
    """0, or -errno where the folder itself cannot be used."""
    cdef Folder f
    cdef Context* c
    cdef int code = folder_open(&f, root, keys, job.plan.ndim, durable)
    cdef int64_t batch, first, i
    if code < 0:
        return code
    c = program_take(job.program)
    batch = batch_size(job.plan, job.program, job.count, job.slots)
    while True:
        first = zc_take(&job.next, batch)
        if first >= job.count:
            break
        for i in range(first, min(first + batch, job.count)):
            if job.status[i] == TODO:
                job.status[i] = FAILED if c == NULL else write_file(job, c, &f, keys, i)
    program_give(job.program, c)
    return folder_close(&f)
