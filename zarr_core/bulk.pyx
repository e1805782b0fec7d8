"""Many chunks of one plan in one loop: files or buffers, decoded and scattered; or gathered, encoded and written.

A job raises errors for wrong arguments only. A chunk that cannot be read, decoded or written is listed in ``failed``;
the caller takes the plain path for it, which raises the error.
"""
cimport numpy as cnp
from libc.errno cimport ENOENT, ENOSYS
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from zarr_core.chunk_io cimport (
    DONE, FAILED, MISSING, RELEASE_GIL_BYTES, TODO, ChunkReader, ChunkWriter, check_span, checked_indices,
    chunk_nbytes, fail_all, pick, read_chunk, read_chunk_file, read_nothing, set_reader, set_writer, slot_at,
    view_all, write_chunk,
)
from zarr_core.files cimport (
    Folder, folder_close, folder_delete, folder_enter, folder_open, folder_read, folder_select, folder_write,
    zc_close,
)
from zarr_core.jobs cimport check_interruption, end_early, goes_on, watches
from zarr_core.keys cimport KeyFormat
from zarr_core.plan cimport MAX_RANK, Plan, slot_coordinates
from zarr_core.program cimport Program, program_give, program_take
from zarr_core.streams cimport Context, scratch_extend

import os

import numpy as np

cnp.import_array()


cdef extern from "atomics.h" nogil:
    int64_t zc_take(int64_t* counter, int64_t n)


cdef enum:
    INLINE = 16                 # jobs up to this many slots need no memory of their own
    BATCH_BYTES = 64 << 10      # work a thread takes at a time
    BATCH_SLOTS = 16


# --- reading

cdef class ReadJob(ChunkReader):
    """Read the chunks of a plan into an output array.

    Parameters
    ----------
    plan : Plan
        The chunks, the part of each, and its place in the output.
    program : Program
        How chunks are stored.
    out : numpy.ndarray
        Of ``plan.shape``, of a fixed-width dtype with the program's item size.
    fill : numpy.ndarray or None
        0-d, of ``out``'s dtype: the value of a chunk that is not stored. None leaves its place unchanged.
    slots : array of int, optional
        The slots of the plan to read, all by default.

    Raises
    ------
    TypeError, ValueError, IndexError
        If arguments do not fit each other. Faults of stored data are only listed in ``failed``.

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
        cdef bint watch = watches(self)
        with nogil:
            read_files(self, folder, keys, watch)
        check_interruption(self)

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
        cdef bint watch = watches(self)
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
                    read_buffers(self, data, sizes, start, n, watch)
            else:
                read_buffers(self, data, sizes, start, n, False)
            check_interruption(self)
        finally:
            if n > INLINE:
                free(data)
                free(sizes)


cdef void read_buffers(
    ReadJob job, const char** data, const int64_t* sizes, int64_t first, int64_t n, bint watch,
) noexcept nogil:
    cdef Context* c = program_take(job.program)
    cdef Py_ssize_t slot
    cdef int64_t i
    for i in range(n):
        if not goes_on(job, watch):
            break
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


cdef void read_files(ReadJob job, const char* root, KeyFormat keys, bint watch) noexcept nogil:
    cdef Folder f
    cdef Context* c = program_take(job.program)
    cdef int code = folder_open(&f, root, keys, job.plan.ndim, False)
    cdef int64_t batch = batch_size(job.plan, job.program, job.count, job.slots), first, i
    while True:
        first = zc_take(&job.next, batch)
        if first >= job.count or not goes_on(job, watch):
            break
        for i in range(first, min(first + batch, job.count)):
            if job.status[i] != TODO or not goes_on(job, watch):
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

cdef class WriteJob(ChunkWriter):
    """Write whole chunks of a plan from a value.

    Parameters
    ----------
    plan : Plan
        The chunks, and the part of the value for each. Slots that are not whole are listed in ``failed``.
    program : Program
        How chunks are stored.
    value : numpy.ndarray
        Of ``plan.shape``; broadcast arrays are fine.
    fill : numpy.ndarray
        0-d, of ``value``'s dtype; also pads chunks that reach past the end of the array.
    skip_filled : bool
        Do not store chunks that hold ``fill`` only.
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
            The positions of the job's slots.

        Returns
        -------
        list of bytes, None or Ellipsis
            None: only fill values, not to be stored. Ellipsis: failed.
        """
        cdef int64_t start = first, n = count
        check_span(start, n, self.count)
        if n == 0:
            return []
        if self.program.nstages == 0:
            results = encode_plain(self, start, n)
        else:
            results = encode_packed(self, start, n)
        check_interruption(self)
        return results

    def to_files(self, root: str, KeyFormat keys not None, fsync: bool = False) -> None:
        """Write the chunks to files under a folder. Several threads may share the work by calling this together.

        Each file is written beside its place and renamed; the file of a skipped chunk is deleted. If a file call fails,
        all threads stop after their present chunk; unfinished slots are failed.

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
        cdef bint watch = watches(self)
        with nogil:
            code = write_files(self, folder, keys, durable, watch)
        if code == -ENOENT:
            os.makedirs(root, exist_ok=True)
            with nogil:
                code = write_files(self, folder, keys, durable, watch)
        if self.interruption is not None:
            check_interruption(self)
        if code < 0:
            raise OSError(-code, os.strerror(-code), root)


cdef object encode_plain(WriteJob job, int64_t first, int64_t n):
    """Without codecs: gathered straight into the bytes objects."""
    cdef char** to = <char**>malloc(n * sizeof(char*))
    cdef int64_t i, nbytes, work = 0
    cdef bint watch = watches(job)
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
                gather_all(job, first, n, to, watch)
        else:
            gather_all(job, first, n, to, False)
    finally:
        free(to)
    for i in range(n):
        if job.status[first + i] == FAILED:
            results[i] = ...
        elif job.status[first + i] == MISSING:
            results[i] = None
            job.status[first + i] = DONE
    return results


cdef void gather_all(WriteJob job, int64_t first, int64_t n, char** to, bint watch) noexcept nogil:
    cdef Context* c = program_take(job.program)
    cdef const char* result
    cdef int64_t i, size
    for i in range(n):
        job.status[first + i] = FAILED if c == NULL or not goes_on(job, watch) else write_chunk(
            job, c, slot_at(job.slots, first + i), to[i], &result, &size,
        )
    program_give(job.program, c)


cdef object encode_packed(WriteJob job, int64_t first, int64_t n):
    """With codecs: encoded one behind the other, then made into bytes objects."""
    cdef int64_t* ends = <int64_t*>malloc(n * sizeof(int64_t))
    cdef Context* c = program_take(job.program)
    cdef int64_t i, start = 0
    cdef bint watch = watches(job)
    if ends == NULL or c == NULL:
        free(ends)
        program_give(job.program, c)
        raise MemoryError
    try:
        if n * chunk_nbytes(job.plan, job.program, slot_at(job.slots, first)) >= RELEASE_GIL_BYTES:
            with nogil:
                encode_all(job, c, first, n, ends, watch)
        else:
            encode_all(job, c, first, n, ends, False)
        results = []
        for i in range(n):
            if job.status[first + i] == DONE:
                results.append(c.arena.data[start:ends[i]])
            elif job.status[first + i] == MISSING:
                results.append(None)
                job.status[first + i] = DONE
            else:
                results.append(...)
            start = ends[i]
        return results
    finally:
        free(ends)
        program_give(job.program, c)


cdef void encode_all(WriteJob job, Context* c, int64_t first, int64_t n, int64_t* ends, bint watch) noexcept nogil:
    cdef const char* result
    cdef int64_t i, size, used = 0
    cdef int code
    for i in range(n):
        code = FAILED
        if goes_on(job, watch):
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
        end_early(job)      # a full disk, a folder that is gone: more of the same would fail, too
        return FAILED
    return DONE


cdef int write_files(WriteJob job, const char* root, KeyFormat keys, bint durable, bint watch) noexcept nogil:
    """0, or -errno where the folder itself cannot be used."""
    cdef Folder f
    cdef Context* c
    cdef int code = folder_open(&f, root, keys, job.plan.ndim, durable)
    cdef int64_t batch, first, i
    if code == -ENOSYS:
        fail_all(job.status, job.count)     # no such file calls here: the plain path writes
        return 0
    if code < 0:
        return code
    c = program_take(job.program)
    batch = batch_size(job.plan, job.program, job.count, job.slots)
    while True:
        first = zc_take(&job.next, batch)
        if first >= job.count or not goes_on(job, watch):
            break
        for i in range(first, min(first + batch, job.count)):
            if job.status[i] == TODO and goes_on(job, watch):
                job.status[i] = FAILED if c == NULL else write_file(job, c, &f, keys, i)
    program_give(job.program, c)
    if not goes_on(job, False):
        fail_all(job.status, job.count)
    return folder_close(&f)
