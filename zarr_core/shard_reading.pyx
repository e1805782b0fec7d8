"""Many shards of one plan over inner chunks, read by their index without the GIL.

A shard is a file (or a payload) with an index of its inner chunks. A read takes the index, joins near ranges of needed
chunks, and decodes them.
"""
cimport cython
cimport numpy as cnp
from libc.errno cimport ENOENT
from libc.stdint cimport INT64_MAX, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc

from zarr_core.chunk_io cimport (
    FAILED, MISSING, ChunkReader, check_span, checked_indices, chunk_nbytes, fail_all, pick, read_chunk,
    read_chunk_file, read_nothing, set_reader, slot_at, view_all,
)
from zarr_core.files cimport (
    Folder, folder_close, folder_open, folder_read, folder_read_stamped, folder_select, zc_close, zc_read_at, zc_stamp,
)
from zarr_core.index_cache cimport IndexCache, KeptIndex, find_kept, index_bytes, keep_index, let_go, make_kept
from zarr_core.jobs cimport check_interruption, goes_on, watches
from zarr_core.keys cimport KeyFormat
from zarr_core.plan cimport MAX_RANK, Plan
from zarr_core.program cimport Program, program_give, program_take
from zarr_core.shard_groups cimport ShardGroups, group_chunks_per_shard, group_coords, group_size, group_slots
from zarr_core.shard_index cimport (
    IndexFormat,
    Range,
    coalesce,
    index_entry,
    index_nbytes,
    index_sound,
    sort_ranges,
)
from zarr_core.streams cimport Context, scratch_reserve

import os

cnp.import_array()


cdef extern from "atomics.h" nogil:
    int64_t zc_take(int64_t* counter, int64_t n)


cdef enum:
    MANY_SHARDS = 16            # so many are shared out whole
    MOST_PARTS = 16
    FEW_WANTED = 4              # an index is kept where no more than one chunk in so many is wanted
    PART_BYTES = 2 << 20        # decoded bytes that a part of a shard holds at least


cdef int check_groups(ShardGroups groups, Plan plan) except -1:
    if groups is None or plan is None or groups.plan is not plan:
        raise ValueError("groups belong to another plan")
    return 0


cdef int64_t shard_chunks(ShardGroups groups, Py_ssize_t g) noexcept nogil:
    """Return the inner chunks per shard, or -1 if the number is absurd."""
    cdef int64_t counts[MAX_RANK]
    cdef int64_t n = 1
    cdef int k
    group_chunks_per_shard(groups, g, counts)
    for k in range(groups.ndim):
        if counts[k] and n > (INT64_MAX >> 6) // counts[k]:
            return -1
        n *= counts[k]
    return n


cdef class ShardReadJob(ChunkReader):
    """Read the inner chunks of a plan out of their shards.

    Parameters
    ----------
    plan : Plan
        On the grid of inner chunks.
    groups : ShardGroups
        The plan's slots by shard.
    program : Program
        How inner chunks are stored.
    out : numpy.ndarray
        Of ``plan.shape``.
    fill : numpy.ndarray or None
        0-d: the value of a chunk that is not stored.
    index : IndexFormat
        The form of the shards' index.
    which : array of int, optional
        The groups to read, all by default.
    max_gap_bytes : int
        Bytes between two needed chunks that are read along.
    max_bytes : int
        The largest read made by joining chunks.
    indexes : IndexCache, optional
        The cache for the indexes of files.

    Raises
    ------
    TypeError, ValueError, IndexError
        If arguments do not fit each other. Faults of stored data are only listed in ``failed``.
    """

    cdef readonly ShardGroups groups
    cdef readonly IndexFormat index
    cdef IndexCache indexes
    cdef int64_t max_gap
    cdef int64_t max_bytes
    cdef cnp.ndarray which_array
    cdef const int64_t* which
    cdef int64_t count
    cdef int64_t next
    cdef readonly int64_t parts     # how many parts each shard is read in: few large shards keep several threads busy
    cdef int64_t* taken             # per position: the parts that threads have taken
    cdef int* files                 # per position, where shards are read in parts: all of one shard from one file
    cdef int64_t* sizes
    cdef uint8_t* status            # per slot of the plan
    cdef int starved                # some slots were left alone, for want of the memory to list them

    def __cinit__(
        self, Plan plan, ShardGroups groups, Program program, out, fill, IndexFormat index not None, which=None,
        *, max_gap_bytes: int = 16384, max_bytes: int = 1 << 20, IndexCache indexes=None,
    ):
        set_reader(self, plan, program, out, fill)
        check_groups(groups, plan)
        if max_gap_bytes < 0 or max_bytes < 0:
            raise ValueError(f"max_gap_bytes and max_bytes must not be negative: {max_gap_bytes}, {max_bytes}")
        self.groups = groups
        self.index = index
        self.indexes = indexes
        self.max_gap = max_gap_bytes
        self.max_bytes = max_bytes
        self.count = groups.ngroups
        if which is not None:
            self.which_array = checked_indices("which", which, groups.ngroups)
            self.which = <const int64_t*>cnp.PyArray_DATA(self.which_array)
            self.count = cnp.PyArray_SIZE(self.which_array)
        self.parts = count_parts(self)
        self.taken = <int64_t*>calloc(self.count + 1, sizeof(int64_t))
        self.status = <uint8_t*>calloc(plan.nslots + 1, 1)
        self.sizes = <int64_t*>calloc(self.count + 1, sizeof(int64_t))
        if self.taken == NULL or self.status == NULL or self.sizes == NULL:
            raise MemoryError

    def __dealloc__(self):
        cdef int64_t i
        if self.files != NULL:
            for i in range(self.count):
                if self.files[i] >= 0:
                    zc_close(self.files[i])
        free(self.files)
        free(self.sizes)
        free(self.taken)
        free(self.status)

    @property
    def missing(self):
        """Slots with no stored chunk: int64 array."""
        return pick(self.status, self.plan.nslots, NULL, MISSING)

    @property
    def failed(self):
        """Slots that could not be read or decoded, whose place in the output is undefined: int64 array."""
        if self.starved:
            fail_all(self.status, self.plan.nslots)
        return pick(self.status, self.plan.nslots, NULL, FAILED)

    def from_files(self, root: str, KeyFormat keys not None) -> None:
        """Read shards from files under a folder. Several threads may share the work by calling this together.

        Parameters
        ----------
        root : str
            The folder that keys are relative to.
        keys : KeyFormat
            Shard coordinates to keys.
        """
        cdef bytes path = os.fsencode(root)
        cdef const char* folder = path
        cdef bint watch = watches(self)
        if self.parts > 1:
            with cython.critical_section(self):
                if self.files == NULL:
                    open_files(self, folder, keys)
        with nogil:
            read_files(self, folder, keys, watch)
        check_interruption(self)

    def from_buffers(self, payloads, first: int = 0) -> None:
        """Read whole shards from memory. Several threads may share the work by calling this together, with equal
        arguments.

        Parameters
        ----------
        payloads : sequence of bytes-like or None
            Payload k belongs to position ``first + k`` of the job's groups; None: not stored.
        first : int
            Where the payloads begin.
        """
        cdef int64_t n = len(payloads), start = first
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
            with nogil:
                read_buffers(self, data, sizes, start, n, watch)
            check_interruption(self)
        finally:
            free(data)
            free(sizes)


cdef int64_t parts_by_size(Plan plan, Program program, int64_t nshards) noexcept nogil:
    cdef int64_t each, nbytes
    if nshards == 0 or plan.nslots == 0:
        return 1
    each = plan.nslots // nshards
    nbytes = chunk_nbytes(plan, program, 0)
    if nbytes <= 0:
        return 1
    return max(1, min(each, each * nbytes // PART_BYTES))


cdef int64_t count_parts(ShardReadJob job) noexcept:
    """Return 1, unless the job has so few shards that threads would be idle."""
    if job.count >= MANY_SHARDS:
        return 1
    return min(MOST_PARTS, parts_by_size(job.plan, job.program, job.count))


# One thread's work on one shard: memory, or an open file.
cdef struct Source:
    const char* data        # NULL: a file
    int fd
    int64_t nbytes
    int64_t part            # of the wanted chunks only this part is read
    int64_t nwanted
    int64_t* slots
    int64_t* inner
    Range* ranges
    zc_stamp stamp
    bint stamped            # the file may be known to the cache of indexes
    KeptIndex* kept         # the index, where it is of the cache


cdef bint list_wanted(ShardReadJob job, Context* c, Py_ssize_t g, Source* s) noexcept nogil:
    """Allocate and list the needed slots of the part and their places in the shard."""
    cdef char* memory
    cdef int64_t first
    s.nwanted = group_size(job.groups, g)
    memory = scratch_reserve(&c.arena, s.nwanted * (16 + sizeof(Range)))
    if memory == NULL:
        return False
    s.ranges = <Range*>memory
    s.slots = <int64_t*>(memory + s.nwanted * sizeof(Range))
    s.inner = s.slots + s.nwanted
    group_slots(job.groups, g, s.slots, s.inner)
    first = s.nwanted * s.part // job.parts
    s.nwanted = s.nwanted * (s.part + 1) // job.parts - first
    s.slots += first
    s.inner += first
    return True


cdef const char* load_index(ShardReadJob job, Context* c, Source* s, int64_t nchunks, int64_t size) noexcept nogil:
    """Return the index of a file: from the cache, or read and kept if that may help the next read."""
    cdef char* raw
    cdef int64_t at = 0 if job.index.at_start else s.nbytes - size
    cdef bint keep = s.stamped and s.nwanted <= nchunks // FEW_WANTED
    if s.stamped:
        s.kept = find_kept(job.indexes, &s.stamp, job.index, nchunks)
        if s.kept != NULL:
            return index_bytes(s.kept)
    if keep:
        s.kept = make_kept(job.indexes, &s.stamp, job.index, nchunks, size)
    raw = index_bytes(s.kept) if s.kept != NULL else scratch_reserve(&c.chunk, size)
    if raw == NULL or zc_read_at(s.fd, raw, size, at) != size or not index_sound(job.index, raw, nchunks):
        return NULL
    if s.kept != NULL:
        keep_index(job.indexes, s.kept)
    return raw


cdef const char* find_index(ShardReadJob job, Context* c, Source* s, int64_t nchunks) noexcept nogil:
    """Return the checked index of the shard; NULL if there is none."""
    cdef int64_t size = index_nbytes(job.index, nchunks)
    cdef const char* raw
    s.kept = NULL
    if nchunks < 0 or size < 0 or size > s.nbytes:
        return NULL
    if s.data == NULL:
        return load_index(job, c, s, nchunks, size)
    raw = s.data if job.index.at_start else s.data + s.nbytes - size
    return raw if index_sound(job.index, raw, nchunks) else NULL


cdef int64_t look_up(ShardReadJob job, const Source* s, const char* index) noexcept nogil:
    """Settle chunks that are not stored or impossible; list the ranges of the others, by offset."""
    cdef int64_t k, found = 0, offset = 0, length = 0
    cdef int code
    for k in range(s.nwanted):
        code = index_entry(index, s.inner[k], s.nbytes, &offset, &length)
        if code == 0:
            job.status[s.slots[k]] = read_nothing(job, s.slots[k])
        elif code < 0:
            job.status[s.slots[k]] = FAILED
        else:
            s.ranges[found].offset = offset
            s.ranges[found].length = length
            s.ranges[found].tag = s.slots[k]
            found += 1
    sort_ranges(s.ranges, found)
    return found


cdef void fail_wanted(ShardReadJob job, const Source* s) noexcept nogil:
    cdef int64_t k
    for k in range(s.nwanted):
        job.status[s.slots[k]] = FAILED


cdef void read_ranges(ShardReadJob job, Context* c, const Source* s, int64_t found, bint watch) noexcept nogil:
    """Chunks of a file, joined into few reads."""
    cdef int64_t first = 0, taken, stop = 0, low, k
    cdef Range* r
    cdef char* block
    while first < found and goes_on(job, watch):
        taken = coalesce(s.ranges, first, found, job.max_gap, job.max_bytes, &stop)
        low = s.ranges[first].offset
        if taken == 1:
            r = &s.ranges[first]
            job.status[r.tag] = read_chunk_file(job, c, r.tag, s.fd, r.offset, r.length)
        else:
            block = scratch_reserve(&c.chunk, stop - low)
            if block != NULL and zc_read_at(s.fd, block, stop - low, low) != stop - low:
                block = NULL
            for k in range(first, first + taken):
                r = &s.ranges[k]
                job.status[r.tag] = FAILED if block == NULL else read_chunk(
                    job, c, r.tag, block + (r.offset - low), r.length,
                )
        first += taken


cdef void read_shard(ShardReadJob job, Context* c, Py_ssize_t g, Source* s, bint watch) noexcept nogil:
    cdef const char* index
    cdef int64_t found = 0, k
    cdef Range* r
    if not list_wanted(job, c, g, s):
        job.starved = 1
        return
    index = find_index(job, c, s, shard_chunks(job.groups, g))
    if index == NULL:
        fail_wanted(job, s)
    else:
        found = look_up(job, s, index)
    let_go(s.kept)
    if index == NULL:
        return
    if s.data == NULL:
        read_ranges(job, c, s, found, watch)
        return
    for k in range(found):
        if not goes_on(job, watch):
            return
        r = &s.ranges[k]
        job.status[r.tag] = read_chunk(job, c, r.tag, s.data + r.offset, r.length)


cdef void settle_all(ShardReadJob job, Context* c, Py_ssize_t g, int64_t part, int outcome) noexcept nogil:
    """Part of a shard that is missing as a whole, or cannot be opened."""
    cdef Source s
    cdef int64_t k
    s.part = part
    if not list_wanted(job, c, g, &s):
        job.starved = 1
        return
    for k in range(s.nwanted):
        job.status[s.slots[k]] = read_nothing(job, s.slots[k]) if outcome == MISSING else outcome


cdef void read_buffers(
    ShardReadJob job, const char** data, const int64_t* sizes, int64_t first, int64_t n, bint watch,
) noexcept nogil:
    cdef Context* c = program_take(job.program)
    cdef Source s
    cdef int64_t i
    if c == NULL:
        job.starved = 1
        return
    for i in range(n):
        while True:
            s.part = zc_take(&job.taken[first + i], 1)
            if s.part >= job.parts or not goes_on(job, watch):
                break
            if sizes[i] < 0:
                settle_all(job, c, slot_at(job.which, first + i), s.part, MISSING)
                continue
            s.data = data[i]
            s.nbytes = sizes[i]
            s.fd = -1
            s.stamped = False
            read_shard(job, c, slot_at(job.which, first + i), &s, watch)
    program_give(job.program, c)


cdef void read_file(
    ShardReadJob job, Context* c, Folder* f, KeyFormat keys, Py_ssize_t g, bint watch,
) noexcept nogil:
    cdef int64_t coords[MAX_RANK]
    cdef Source s
    cdef int code
    group_coords(job.groups, g, coords)
    code = folder_select(f, keys, coords, job.groups.ndim)
    s.data = NULL
    s.part = 0
    s.fd = folder_read_stamped(f, &s.stamp) if code >= 0 else code
    if s.fd < 0:
        settle_all(job, c, g, 0, MISSING if s.fd == -ENOENT else FAILED)
        return
    s.nbytes = s.stamp.nbytes
    s.stamped = job.indexes is not None
    read_shard(job, c, g, &s, watch)
    zc_close(s.fd)


cdef int open_files(ShardReadJob job, const char* root, KeyFormat keys) except -1:
    """Open the few shards of a job that is divided into parts: a shard that is replaced meanwhile is read as it was."""
    cdef Folder f
    cdef int64_t coords[MAX_RANK]
    cdef int64_t i
    cdef int code = folder_open(&f, root, keys, job.groups.ndim, False), chosen
    cdef int* files = <int*>calloc(job.count, sizeof(int))
    if files == NULL:
        if code == 0:
            folder_close(&f)
        raise MemoryError
    for i in range(job.count):
        files[i] = code
        if code == 0:
            group_coords(job.groups, slot_at(job.which, i), coords)
            chosen = folder_select(&f, keys, coords, job.groups.ndim)
            files[i] = folder_read(&f, &job.sizes[i]) if chosen >= 0 else chosen
    if code == 0:
        folder_close(&f)
    job.files = files
    return 0


cdef void read_part(ShardReadJob job, Context* c, int64_t i, int64_t part, bint watch) noexcept nogil:
    """One part of a shard whose file is open."""
    cdef Source s
    cdef Py_ssize_t g = slot_at(job.which, i)
    s.data = NULL
    s.part = part
    s.fd = job.files[i]
    s.nbytes = job.sizes[i]
    s.stamped = False
    if s.fd < 0:
        settle_all(job, c, g, part, MISSING if s.fd == -ENOENT else FAILED)
    else:
        read_shard(job, c, g, &s, watch)


cdef void read_files(ShardReadJob job, const char* root, KeyFormat keys, bint watch) noexcept nogil:
    cdef Folder f
    cdef Context* c = program_take(job.program)
    cdef int code
    cdef int64_t i, part
    if c == NULL:
        job.starved = 1
        return
    code = folder_open(&f, root, keys, job.groups.ndim, False)
    while True:
        i = zc_take(&job.next, 1)
        if i >= job.count * job.parts or not goes_on(job, watch):
            break
        part = i % job.parts
        i //= job.parts
        if job.taken[i] >= job.parts:
            continue                # read from memory before
        if job.parts > 1:
            read_part(job, c, i, part, watch)
        elif code < 0:
            settle_all(job, c, slot_at(job.which, i), 0, MISSING if code == -ENOENT else FAILED)
        else:
            read_file(job, c, &f, keys, slot_at(job.which, i), watch)
    if code == 0:
        folder_close(&f)
    program_give(job.program, c)
