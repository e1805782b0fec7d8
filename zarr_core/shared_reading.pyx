"""Read the chunks that many selections of one array touch, each once, in one loop without the GIL."""
cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.errno cimport ENOENT
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc

from zarr_core.chunk_io cimport (
    DONE,
    FAILED,
    MISSING,
    RELEASE_GIL_BYTES,
    TODO,
    ChunkReader,
    check_span,
    checked_indices,
    chunk_nbytes,
    decode_chunk,
    pick,
    place_chunk,
    read_chunk,
    read_chunk_file,
    read_nothing,
    view_all,
)
from zarr_core.files cimport Folder, folder_close, folder_enter, folder_open, folder_read, folder_select, zc_close, \
    zc_read_at
from zarr_core.jobs cimport Job, check_interruption, goes_on, watches
from zarr_core.keys cimport KeyFormat
from zarr_core.plan cimport MAX_RANK, Plan, slot_coordinates
from zarr_core.program cimport Program, program_give, program_stored_limit, program_take
from zarr_core.streams cimport Context, scratch_reserve

import os

cnp.import_array()


cdef extern from "atomics.h" nogil:
    int64_t zc_take(int64_t* counter, int64_t n)


cdef class SharedReadJob(Job):
    """Read the chunks of several plans on one grid, each chunk once.

    Parameters
    ----------
    readers : sequence of ReadJob
        One for each plan, with its output. All have the same program and plans on the same grid.
    owners, slots : array of int
        The slots of the readers that need a chunk, chunk after chunk.
    starts : array of int
        The begin of each chunk in these; one entry more than there are chunks.

    Raises
    ------
    TypeError, ValueError, IndexError
        If arguments do not fit each other. Faults of stored data are only listed in ``failed``.

    Examples
    --------
    >>> import numpy as np
    >>> from zarr_core import Grid, Program, ReadJob, RegularAxis, plan_basic
    >>> grid, program = Grid([RegularAxis(4, 4)]), Program(1, 0, None, [])
    >>> readers = [ReadJob(plan_basic(grid, s), program, np.empty(2, "u1"), None) for s in (slice(0, 2), slice(1, 3))]
    >>> job = SharedReadJob(readers, [0, 1], [0, 0], [0, 2])
    >>> job.from_buffers([b"abcd"])
    >>> [reader.out.tobytes() for reader in readers]
    [b'ab', b'bc']
    """

    cdef readonly tuple readers
    cdef readonly Program program
    cdef cnp.ndarray owners_array, slots_array, starts_array
    cdef const int64_t* owners
    cdef const int64_t* slots
    cdef const int64_t* starts
    cdef readonly int64_t count         # chunks
    cdef PyObject** reader              # borrowed from the tuple
    cdef int64_t next                   # the first chunk that no thread has taken
    cdef uint8_t* status                # per chunk

    def __cinit__(self, readers, owners, slots, starts):
        self.readers = tuple(readers)
        self.reader = <PyObject**>malloc((len(self.readers) + 1) * sizeof(PyObject*))
        if self.reader == NULL:
            raise MemoryError
        take_readers(self)
        self.owners_array = checked_indices("owners", owners, len(self.readers))
        self.slots_array = checked_indices("slots", slots, 1 << 62)
        if cnp.PyArray_SIZE(self.slots_array) != cnp.PyArray_SIZE(self.owners_array):
            raise ValueError("owners and slots differ in length")
        self.starts_array = checked_indices("starts", starts, cnp.PyArray_SIZE(self.slots_array) + 1)
        self.owners = <const int64_t*>cnp.PyArray_DATA(self.owners_array)
        self.slots = <const int64_t*>cnp.PyArray_DATA(self.slots_array)
        self.starts = <const int64_t*>cnp.PyArray_DATA(self.starts_array)
        self.count = cnp.PyArray_SIZE(self.starts_array) - 1
        check_chunks(self)
        self.status = <uint8_t*>calloc(self.count + 1, 1)
        if self.status == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.reader)
        free(self.status)

    @property
    def missing(self):
        """Chunks that are not stored: int64 array."""
        return pick(self.status, self.count, NULL, MISSING)

    @property
    def failed(self):
        """Chunks that could not be read or decoded, whose places in the outputs are undefined: int64 array."""
        return pick(self.status, self.count, NULL, FAILED)

    def from_files(self, root: str, KeyFormat keys not None) -> None:
        """Read the chunks from files under a folder. Several threads may share the work by calling this together."""
        cdef bytes path = os.fsencode(root)
        cdef const char* folder = path
        cdef bint watch = watches(self)
        with nogil:
            read_files(self, folder, keys, watch)
        check_interruption(self)

    def from_buffers(self, payloads, first: int = 0) -> None:
        """Read chunks from memory; payload k belongs to chunk ``first + k``, None: not stored."""
        cdef int64_t n = len(payloads), start = first, work = 0, i
        cdef const char** data
        cdef int64_t* sizes
        cdef bint watch = watches(self)
        check_span(start, n, self.count)
        data = <const char**>malloc((n + 1) * sizeof(char*))
        sizes = <int64_t*>malloc((n + 1) * sizeof(int64_t))
        try:
            if data == NULL or sizes == NULL:
                raise MemoryError
            held = view_all(payloads, data, sizes, n)
            for i in range(n):
                work += sizes[i] + decoded_size(self, start + i)
            if work >= RELEASE_GIL_BYTES:
                with nogil:
                    read_buffers(self, data, sizes, start, n, watch)
            else:
                read_buffers(self, data, sizes, start, n, False)
            check_interruption(self)
        finally:
            free(data)
            free(sizes)


# --- guards

cdef int take_readers(SharedReadJob job) except -1:
    cdef ChunkReader reader, first = None
    cdef Py_ssize_t k
    for k in range(len(job.readers)):
        item = job.readers[k]
        if not isinstance(item, ChunkReader):
            raise TypeError(f"readers must be read jobs, got {type(item).__name__}")
        reader = <ChunkReader>item
        first = reader if first is None else first
        if reader.program is not first.program or reader.plan.grid is not first.plan.grid:
            raise ValueError("all readers must have one program, and plans on one grid")
        job.reader[k] = <PyObject*>reader
    if first is None:
        raise ValueError("at least one reader is needed")
    job.program = first.program
    return 0


cdef int check_chunks(SharedReadJob job) except -1:
    """Every entry is a slot of its reader, and all entries of a chunk are of that chunk."""
    cdef int64_t chunk, entry, n = cnp.PyArray_SIZE(job.owners_array)
    cdef int64_t here[MAX_RANK]
    cdef int64_t there[MAX_RANK]
    cdef int axis
    cdef Plan plan
    if job.count < 0 or job.starts[0] != 0 or job.starts[job.count] != n:
        raise ValueError("starts must begin with 0 and end with the number of entries")
    for chunk in range(job.count):
        if job.starts[chunk] >= job.starts[chunk + 1]:
            raise ValueError(f"starts must increase: chunk {chunk} has no entry")
        for entry in range(job.starts[chunk], job.starts[chunk + 1]):
            plan = (<ChunkReader>job.reader[job.owners[entry]]).plan
            if job.slots[entry] >= plan.nslots:
                raise IndexError(f"slot {job.slots[entry]} of a plan of {plan.nslots}")
            if entry == job.starts[chunk]:
                slot_coordinates(plan, job.slots[entry], here)
                continue
            slot_coordinates(plan, job.slots[entry], there)
            for axis in range(plan.ndim):
                if here[axis] != there[axis]:
                    raise ValueError(f"the entries of chunk {chunk} are of different chunks")
    return 0


cdef int64_t decoded_size(SharedReadJob job, int64_t chunk):
    cdef int64_t entry = job.starts[chunk]
    cdef int64_t nbytes = chunk_nbytes(
        (<ChunkReader>job.reader[job.owners[entry]]).plan, job.program, job.slots[entry]
    )
    return nbytes if nbytes > 0 else 0


# --- one chunk

cdef int nothing(SharedReadJob job, int64_t chunk) noexcept nogil:
    cdef int64_t entry
    for entry in range(job.starts[chunk], job.starts[chunk + 1]):
        read_nothing(<ChunkReader>job.reader[job.owners[entry]], job.slots[entry])
    return MISSING


cdef int from_memory(SharedReadJob job, Context* c, int64_t chunk, const char* data, int64_t n) noexcept nogil:
    """Decode once and put the parts in their places; a chunk that is needed once may be decoded in part."""
    cdef int64_t entry = job.starts[chunk]
    cdef const char* decoded = NULL
    if job.starts[chunk + 1] == entry + 1:
        return read_chunk(<ChunkReader>job.reader[job.owners[entry]], c, job.slots[entry], data, n)
    if decode_chunk(<ChunkReader>job.reader[job.owners[entry]], c, job.slots[entry], data, n, &decoded) < 0:
        return FAILED
    for entry in range(entry, job.starts[chunk + 1]):
        place_chunk(<ChunkReader>job.reader[job.owners[entry]], job.slots[entry], decoded)
    return DONE


cdef int from_file(SharedReadJob job, Context* c, Folder* f, KeyFormat keys, int64_t chunk) noexcept nogil:
    cdef int64_t entry = job.starts[chunk], slot = job.slots[entry], size, limit
    cdef PyObject* reader = job.reader[job.owners[entry]]
    cdef int64_t coords[MAX_RANK]
    cdef int fd, code
    cdef bint exact
    slot_coordinates((<ChunkReader>reader).plan, slot, coords)
    code = folder_select(f, keys, coords, (<ChunkReader>reader).plan.ndim)
    if code < 0:
        return FAILED
    if code == 1:
        folder_enter(f, False)
    fd = folder_read(f, &size)
    if fd < 0:
        return nothing(job, chunk) if fd == -ENOENT else FAILED
    if job.starts[chunk + 1] == entry + 1:
        code = read_chunk_file(<ChunkReader>reader, c, slot, fd, 0, size)
    else:
        limit = program_stored_limit(job.program, chunk_nbytes((<ChunkReader>reader).plan, job.program, slot), &exact)
        code = FAILED
        if size <= limit and scratch_reserve(&c.stored, size) != NULL and zc_read_at(fd, c.stored.data, size, 0) == size:
            code = from_memory(job, c, chunk, c.stored.data, size)
    zc_close(fd)
    return code


# --- many

cdef void read_buffers(
    SharedReadJob job, const char** data, const int64_t* sizes, int64_t first, int64_t n, bint watch,
) noexcept nogil:
    cdef Context* c = program_take(job.program)
    cdef int64_t i
    for i in range(n):
        if not goes_on(job, watch):
            break
        if sizes[i] < 0:
            job.status[first + i] = nothing(job, first + i)
        elif c == NULL:
            job.status[first + i] = FAILED
        else:
            job.status[first + i] = from_memory(job, c, first + i, data[i], sizes[i])
    program_give(job.program, c)


cdef void read_files(SharedReadJob job, const char* root, KeyFormat keys, bint watch) noexcept nogil:
    cdef Folder f
    cdef Context* c = program_take(job.program)
    cdef int ndim = (<ChunkReader>job.reader[0]).plan.ndim
    cdef int code = folder_open(&f, root, keys, ndim, False)
    cdef int64_t first, i
    while True:
        first = zc_take(&job.next, 4)
        if first >= job.count or not goes_on(job, watch):
            break
        for i in range(first, min(first + 4, job.count)):
            if job.status[i] != TODO or not goes_on(job, watch):
                continue
            if code == -ENOENT:
                job.status[i] = nothing(job, i)
            elif code < 0 or c == NULL:
                job.status[i] = FAILED
            else:
                job.status[i] = from_file(job, c, &f, keys, i)
    if code == 0:
        folder_close(&f)
    program_give(job.program, c)
