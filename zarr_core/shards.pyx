"""Many shards of one plan over inner chunks: read by index, or written whole, without the GIL.

A shard is a file (or a payload) with an index of its inner chunks. Reading takes the index, joins the wanted ranges
that lie close together, and decodes; writing encodes the chunks one behind the other and puts the index before or
after them.
"""
cimport numpy as cnp
from libc.errno cimport ENOENT, ENOMEM
from libc.stdint cimport INT64_MAX, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from zarr_core.bulk cimport (
    DONE,
    FAILED,
    MISSING,
    TODO,
    ChunkReader,
    ChunkWriter,
    check_span,
    checked_indices,
    pick,
    read_chunk,
    read_chunk_file,
    read_nothing,
    set_reader,
    set_writer,
    view_all,
    write_chunk,
)
from zarr_core.files cimport (
    Folder,
    folder_abandon,
    folder_begin,
    folder_close,
    folder_commit,
    folder_delete,
    folder_open,
    folder_read,
    folder_select,
    zc_close,
    zc_read_at,
    zc_write_at,
)
from zarr_core.keys cimport KeyFormat
from zarr_core.plan cimport (
    MAX_RANK,
    Plan,
    ShardGroups,
    group_chunks_per_shard,
    group_coords,
    group_size,
    group_slots,
    slot_whole,
)
from zarr_core.program cimport Program, program_give, program_take
from zarr_core.shard_index cimport (
    IndexFormat,
    Range,
    coalesce,
    index_clear,
    index_entry,
    index_nbytes,
    index_seal,
    index_sound,
    index_store,
    sort_ranges,
)
from zarr_core.streams cimport Context, scratch_extend, scratch_reserve

import os

import numpy as np

from zarr_core.grid import morton_order

cnp.import_array()


cdef extern from "atomics.h" nogil:
    int64_t zc_take(int64_t* counter, int64_t n)


cdef enum:
    WRITE_BUFFER = 1 << 20      # encoded chunks are written in pieces of about this size

WRITE_ORDERS = ("morton", "unordered", "lexicographic", "colexicographic")


# --- guards

cdef int check_groups(ShardGroups groups, Plan plan) except -1:
    if groups is None or plan is None or groups.plan is not plan:
        raise ValueError("groups belong to another plan")
    return 0


cdef int64_t shard_chunks(ShardGroups groups, Py_ssize_t g) noexcept nogil:
    """Inner chunks per shard, or -1 where the number is absurd."""
    cdef int64_t counts[MAX_RANK]
    cdef int64_t n = 1
    cdef int k
    group_chunks_per_shard(groups, g, counts)
    for k in range(groups.ndim):
        if counts[k] and n > (INT64_MAX >> 6) // counts[k]:
            return -1
        n *= counts[k]
    return n


# --- reading

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
        0-d: what a chunk that is not stored reads as.
    index : IndexFormat
        The form of the shards' index.
    which : array of int, optional
        The groups to read, all by default.
    max_gap_bytes : int
        Bytes between two wanted chunks that are read along.
    max_bytes : int
        The largest read made by joining chunks.

    Raises
    ------
    TypeError, ValueError, IndexError
        Arguments that do not fit each other. What is wrong with stored data shows in ``failed`` only.
    """

    cdef readonly ShardGroups groups
    cdef readonly IndexFormat index
    cdef int64_t max_gap
    cdef int64_t max_bytes
    cdef cnp.ndarray which_array
    cdef const int64_t* which
    cdef int64_t count
    cdef int64_t next
    cdef uint8_t* started           # per position
    cdef uint8_t* status            # per slot of the plan

    def __cinit__(
        self, Plan plan, ShardGroups groups, Program program, out, fill, IndexFormat index not None, which=None,
        *, max_gap_bytes: int = 16384, max_bytes: int = 1 << 20,
    ):
        set_reader(self, plan, program, out, fill)
        check_groups(groups, plan)
        if max_gap_bytes < 0 or max_bytes < 0:
            raise ValueError(f"max_gap_bytes and max_bytes must not be negative: {max_gap_bytes}, {max_bytes}")
        self.groups = groups
        self.index = index
        self.max_gap = max_gap_bytes
        self.max_bytes = max_bytes
        self.count = groups.ngroups
        if which is not None:
            self.which_array = checked_indices("which", which, groups.ngroups)
            self.which = <const int64_t*>cnp.PyArray_DATA(self.which_array)
            self.count = cnp.PyArray_SIZE(self.which_array)
        self.started = <uint8_t*>calloc(self.count + 1, 1)
        self.status = <uint8_t*>calloc(plan.nslots + 1, 1)
        if self.started == NULL or self.status == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.started)
        free(self.status)

    @property
    def missing(self):
        """Slots with no stored chunk: int64 array."""
        return pick(self.status, self.plan.nslots, NULL, MISSING)

    @property
    def failed(self):
        """Slots that could not be read or decoded, whose place in the output is undefined: int64 array."""
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
        with nogil:
            read_files(self, folder, keys)

    def from_buffers(self, payloads, first: int = 0) -> None:
        """Read whole shards from memory.

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
        check_span(start, n, self.count)
        data = <const char**>malloc((n + 1) * sizeof(char*))
        sizes = <int64_t*>malloc((n + 1) * sizeof(int64_t))
        try:
            if data == NULL or sizes == NULL:
                raise MemoryError
            held = view_all(payloads, data, sizes, n)
            with nogil:
                read_buffers(self, data, sizes, start, n)
        finally:
            free(data)
            free(sizes)


# One thread's work on one shard: memory, or an open file.
cdef struct Source:
    const char* data        # NULL: a file
    int fd
    int64_t nbytes
    int64_t nwanted
    int64_t* slots
    int64_t* inner
    Range* ranges


cdef inline Py_ssize_t group_at(const int64_t* which, int64_t position) noexcept nogil:
    return which[position] if which != NULL else position


cdef bint list_wanted(ShardReadJob job, Context* c, Py_ssize_t g, Source* s) noexcept nogil:
    """Makes room for, and lists, the wanted slots and their places in the shard."""
    cdef char* memory
    s.nwanted = group_size(job.groups, g)
    memory = scratch_reserve(&c.arena, s.nwanted * (16 + sizeof(Range)))
    if memory == NULL:
        return False
    s.ranges = <Range*>memory
    s.slots = <int64_t*>(memory + s.nwanted * sizeof(Range))
    s.inner = s.slots + s.nwanted
    group_slots(job.groups, g, s.slots, s.inner)
    return True


cdef const char* find_index(ShardReadJob job, Context* c, const Source* s, int64_t nchunks) noexcept nogil:
    """The shard's index, checked; NULL where there is none to be had."""
    cdef int64_t size = index_nbytes(job.index, nchunks), at
    cdef const char* raw
    if nchunks < 0 or size < 0 or size > s.nbytes:
        return NULL
    at = 0 if job.index.at_start else s.nbytes - size
    if s.data != NULL:
        raw = s.data + at
    else:
        raw = scratch_reserve(&c.chunk, size)
        if raw == NULL or zc_read_at(s.fd, c.chunk.data, size, at) != size:
            return NULL
    return raw if index_sound(job.index, raw, nchunks) else NULL


cdef int64_t look_up(ShardReadJob job, const Source* s, const char* index) noexcept nogil:
    """Settles the chunks that are not stored or not possible; lists the ranges of the others, by offset."""
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


cdef void fail_all(ShardReadJob job, const Source* s) noexcept nogil:
    cdef int64_t k
    for k in range(s.nwanted):
        job.status[s.slots[k]] = FAILED


cdef void read_ranges(ShardReadJob job, Context* c, const Source* s, int64_t found) noexcept nogil:
    """Chunks of a file, joined into few reads."""
    cdef int64_t first = 0, taken, stop = 0, low, k
    cdef Range* r
    cdef char* block
    while first < found:
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


cdef void read_shard(ShardReadJob job, Context* c, Py_ssize_t g, Source* s) noexcept nogil:
    cdef const char* index
    cdef int64_t found, k
    cdef Range* r
    if not list_wanted(job, c, g, s):
        return
    index = find_index(job, c, s, shard_chunks(job.groups, g))
    if index == NULL:
        fail_all(job, s)
        return
    found = look_up(job, s, index)
    if s.data == NULL:
        read_ranges(job, c, s, found)
        return
    for k in range(found):
        r = &s.ranges[k]
        job.status[r.tag] = read_chunk(job, c, r.tag, s.data + r.offset, r.length)


cdef void settle_all(ShardReadJob job, Context* c, Py_ssize_t g, int outcome) noexcept nogil:
    """A shard that is missing as a whole, or cannot be opened."""
    cdef Source s
    cdef int64_t k
    if not list_wanted(job, c, g, &s):
        return
    for k in range(s.nwanted):
        job.status[s.slots[k]] = read_nothing(job, s.slots[k]) if outcome == MISSING else outcome


cdef void read_buffers(
    ShardReadJob job, const char** data, const int64_t* sizes, int64_t first, int64_t n,
) noexcept nogil:
    cdef Context* c = program_take(job.program)
    cdef Source s
    cdef int64_t i
    if c == NULL:
        return
    for i in range(n):
        job.started[first + i] = 1
        if sizes[i] < 0:
            settle_all(job, c, group_at(job.which, first + i), MISSING)
            continue
        s.data = data[i]
        s.nbytes = sizes[i]
        s.fd = -1
        read_shard(job, c, group_at(job.which, first + i), &s)
    program_give(job.program, c)


cdef void read_file(ShardReadJob job, Context* c, Folder* f, KeyFormat keys, Py_ssize_t g) noexcept nogil:
    cdef int64_t coords[MAX_RANK]
    cdef Source s
    cdef int code
    group_coords(job.groups, g, coords)
    code = folder_select(f, keys, coords, job.groups.ndim)
    s.data = NULL
    s.fd = folder_read(f, &s.nbytes) if code >= 0 else code
    if s.fd < 0:
        settle_all(job, c, g, MISSING if s.fd == -ENOENT else FAILED)
        return
    read_shard(job, c, g, &s)
    zc_close(s.fd)


cdef void read_files(ShardReadJob job, const char* root, KeyFormat keys) noexcept nogil:
    cdef Folder f
    cdef Context* c = program_take(job.program)
    cdef int code
    cdef int64_t i
    if c == NULL:
        return
    code = folder_open(&f, root, keys, job.groups.ndim, False)
    while True:
        i = zc_take(&job.next, 1)
        if i >= job.count:
            break
        if job.started[i]:
            continue
        job.started[i] = 1
        if code < 0:
            settle_all(job, c, group_at(job.which, i), MISSING if code == -ENOENT else FAILED)
        else:
            read_file(job, c, &f, keys, group_at(job.which, i))
    if code == 0:
        folder_close(&f)
    program_give(job.program, c)


# --- writing

cdef class ShardWriteJob(ChunkWriter):
    """Write whole shards of a plan over inner chunks.

    Parameters
    ----------
    plan : Plan
        On the grid of inner chunks.
    groups : ShardGroups
        The plan's slots by shard. A group comes out in ``failed`` unless it has every inner chunk of its shard that
        lies inside the array, each whole.
    program : Program
        How inner chunks are stored.
    value : numpy.ndarray
        Of ``plan.shape``; broadcast arrays are fine.
    fill : numpy.ndarray
        0-d, of ``value``'s dtype.
    skip_filled : bool
        Do not store inner chunks that hold nothing but ``fill``, nor shards without chunks.
    index : IndexFormat
        The form of the shards' index.
    write_order : str
        How inner chunks follow each other: morton, lexicographic, colexicographic or unordered.
    which : array of int, optional
        The groups to write, all by default.

    Raises
    ------
    TypeError, ValueError, IndexError
        Arguments that do not fit each other.
    """

    cdef readonly ShardGroups groups
    cdef readonly IndexFormat index
    cdef readonly str write_order
    cdef cnp.ndarray which_array
    cdef const int64_t* which
    cdef int64_t count
    cdef int64_t next
    cdef uint8_t* status            # per position
    cdef int* codes
    cdef const int64_t** sequences  # per position: inner chunks in write order
    cdef dict tables                # what they point into

    def __cinit__(
        self, Plan plan, ShardGroups groups, Program program, value, fill, bint skip_filled,
        IndexFormat index not None, str write_order="morton", which=None,
    ):
        set_writer(self, plan, program, value, fill, skip_filled)
        check_groups(groups, plan)
        if write_order not in WRITE_ORDERS:
            raise ValueError(f"write_order must be one of {', '.join(WRITE_ORDERS)}, got {write_order!r}")
        self.groups = groups
        self.index = index
        self.write_order = write_order
        self.count = groups.ngroups
        if which is not None:
            self.which_array = checked_indices("which", which, groups.ngroups)
            self.which = <const int64_t*>cnp.PyArray_DATA(self.which_array)
            self.count = cnp.PyArray_SIZE(self.which_array)
        self.status = <uint8_t*>calloc(self.count + 1, 1)
        self.codes = <int*>calloc(self.count + 1, sizeof(int))
        self.sequences = <const int64_t**>calloc(self.count + 1, sizeof(int64_t*))
        if self.status == NULL or self.codes == NULL or self.sequences == NULL:
            raise MemoryError
        plan_sequences(self)

    def __dealloc__(self):
        free(self.status)
        free(self.codes)
        free(self.sequences)

    @property
    def failed(self):
        """Groups that were not written: int64 array."""
        return pick(self.status, self.count, self.which, FAILED)

    @property
    def errors(self) -> list:
        """(group, errno) of the file calls that failed."""
        return [(group_at(self.which, i), self.codes[i]) for i in range(self.count) if self.codes[i]]

    def encode(self, first: int, count: int) -> list:
        """Make the stored shards of some positions.

        Parameters
        ----------
        first, count : int
            Which positions of the job's groups.

        Returns
        -------
        list of bytes or None
            None: no chunk to store, or failed.
        """
        cdef int64_t start = first, n = count, i
        cdef Context* c
        check_span(start, n, self.count)
        c = program_take(self.program)
        if c == NULL:
            raise MemoryError
        results = []
        try:
            for i in range(start, start + n):
                results.append(encode_one(self, c, i))
        finally:
            program_give(self.program, c)
        return results

    def to_files(self, root: str, KeyFormat keys not None, fsync: bool = False) -> None:
        """Write shards to files under a folder. Several threads may share the work by calling this together.

        Each file is written beside its place and renamed into it; the file of a shard without chunks is deleted.

        Parameters
        ----------
        root : str
            The folder that keys are relative to; made where it is missing.
        keys : KeyFormat
            Shard coordinates to keys.
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


cdef object sequence_of(tuple counts, str order):
    """C-order indexes of a shard's inner chunks in the order in which they are stored."""
    n = 1
    for count in counts:
        n *= count
    if order == "morton" and counts:
        coords = morton_order(counts)
        return np.ascontiguousarray(np.ravel_multi_index(tuple(coords.T), counts), dtype=np.int64)
    if order == "colexicographic" and counts:
        return np.ascontiguousarray(np.arange(n, dtype=np.int64).reshape(counts).T.reshape(-1))
    return np.arange(n, dtype=np.int64)


cdef int plan_sequences(ShardWriteJob job) except -1:
    """One table per shard shape: nearly always one in all."""
    cdef int64_t counts[MAX_RANK]
    cdef int64_t i
    cdef int k
    job.tables = {}
    for i in range(job.count):
        group_chunks_per_shard(job.groups, group_at(job.which, i), counts)
        shape = tuple([counts[k] for k in range(job.groups.ndim)])
        table = job.tables.get(shape)
        if table is None:
            table = job.tables[shape] = sequence_of(shape, job.write_order)
        job.sequences[i] = <const int64_t*>cnp.PyArray_DATA(table)
    return 0


# Where an encoded shard goes: memory, or a file through a buffer.
cdef struct Sink:
    Folder* folder          # NULL: memory
    int fd
    int64_t written         # bytes of the shard that are in the file
    int64_t used            # bytes in the arena


# The working memory of one shard.
cdef struct Shard:
    int64_t nchunks
    int64_t index_size
    int64_t* slot_of        # per inner chunk, -1: none
    char* index


cdef bint lay_out(ShardWriteJob job, Context* c, Py_ssize_t g, Shard* shard) noexcept nogil:
    """Memory for a shard's index and its slots; False unless all its chunks are here, and whole."""
    cdef int64_t n = group_size(job.groups, g), k
    cdef int64_t* slots
    shard.nchunks = shard_chunks(job.groups, g)
    shard.index_size = index_nbytes(job.index, shard.nchunks)
    if shard.nchunks < 0 or n != chunks_inside(job.groups, g):
        return False
    shard.slot_of = <int64_t*>scratch_reserve(&c.stored, 8 * shard.nchunks + 16 * n + shard.index_size)
    if shard.slot_of == NULL:
        return False
    slots = shard.slot_of + shard.nchunks
    shard.index = <char*>(slots + 2 * n)
    group_slots(job.groups, g, slots, slots + n)
    for k in range(shard.nchunks):
        shard.slot_of[k] = -1
    for k in range(n):
        shard.slot_of[slots[n + k]] = slots[k]
        if not slot_whole(job.plan, slots[k]):
            return False
    index_clear(shard.index, shard.nchunks)
    return True


cdef int64_t chunks_inside(ShardGroups groups, Py_ssize_t g) noexcept nogil:
    """How many inner chunks of a shard lie inside the array."""
    cdef int64_t coords[MAX_RANK]
    cdef int64_t counts[MAX_RANK]
    cdef int64_t first, last, n = 1
    cdef int k
    group_coords(groups, g, coords)
    group_chunks_per_shard(groups, g, counts)
    for k in range(groups.ndim):
        first = groups.axes[k].starts[coords[k]] if groups.axes[k].every == 0 else coords[k] * groups.axes[k].every
        last = min(first + counts[k], groups.plan.grid.c[k].nchunks)
        n *= last - first
    return n


cdef int flush(Context* c, Sink* sink) noexcept nogil:
    cdef int code = 0
    if sink.fd < 0:
        sink.fd = folder_begin(sink.folder)
        if sink.fd < 0:
            return sink.fd
    if sink.used:
        code = zc_write_at(sink.fd, c.arena.data, sink.used, sink.written)
        sink.written += sink.used
        sink.used = 0
    return code


cdef int append(Context* c, Sink* sink, const char* data, int64_t n) noexcept nogil:
    """Adds bytes to the shard; 0 or -errno."""
    cdef int code
    if sink.folder != NULL and sink.used + n > WRITE_BUFFER:
        code = flush(c, sink)
        if code < 0:
            return code
        if n >= WRITE_BUFFER:
            code = zc_write_at(sink.fd, data, n, sink.written)
            sink.written += n
            return code
    if scratch_extend(&c.arena, sink.used, sink.used + n) == NULL:
        return -ENOMEM
    memcpy(c.arena.data + sink.used, data, n)
    sink.used += n
    return 0


cdef int encode_chunks(
    ShardWriteJob job, Context* c, const Shard* shard, const int64_t* sequence, Sink* sink, int* error,
) noexcept nogil:
    """DONE, MISSING where no chunk is stored, or FAILED."""
    cdef int64_t k, place, size
    cdef const char* result
    cdef int code, outcome = MISSING if job.skip_filled else DONE
    for k in range(shard.nchunks):
        place = sequence[k]
        if shard.slot_of[place] < 0:
            continue
        code = write_chunk(job, c, shard.slot_of[place], NULL, &result, &size)
        if code == FAILED:
            return FAILED
        if code == MISSING:
            continue
        outcome = DONE
        index_store(shard.index, place, sink.written + sink.used, size)
        error[0] = append(c, sink, result, size)
        if error[0] < 0:
            return FAILED
    return outcome


cdef int finish_index(ShardWriteJob job, Context* c, const Shard* shard, Sink* sink) noexcept nogil:
    """Puts the index in its place; 0 or -errno."""
    cdef int code
    index_seal(job.index, shard.index, shard.nchunks)
    if not job.index.at_start:
        code = append(c, sink, shard.index, shard.index_size)
        return code if code < 0 or sink.folder == NULL else flush(c, sink)
    if sink.folder == NULL:
        memcpy(c.arena.data, shard.index, shard.index_size)
        return 0
    code = flush(c, sink)
    return code if code < 0 else zc_write_at(sink.fd, shard.index, shard.index_size, 0)


cdef int encode_shard(
    ShardWriteJob job, Context* c, int64_t position, Sink* sink, int* error,
) noexcept nogil:
    cdef Shard shard
    cdef int outcome
    error[0] = 0
    sink.fd = -1
    sink.written = 0
    sink.used = 0
    if not lay_out(job, c, group_at(job.which, position), &shard):
        return FAILED
    if job.index.at_start:
        if sink.folder == NULL:
            sink.used = shard.index_size
            if scratch_reserve(&c.arena, sink.used) == NULL:
                return FAILED
        else:
            sink.written = shard.index_size
    outcome = encode_chunks(job, c, &shard, job.sequences[position], sink, error)
    if outcome == DONE:
        error[0] = finish_index(job, c, &shard, sink)
    return FAILED if error[0] < 0 else outcome


cdef object encode_one(ShardWriteJob job, Context* c, int64_t position):
    cdef Sink sink
    cdef int outcome, error
    sink.folder = NULL
    with nogil:
        outcome = encode_shard(job, c, position, &sink, &error)
    job.status[position] = FAILED if outcome == FAILED else DONE
    return c.arena.data[:sink.used] if outcome == DONE else None


cdef int write_file(ShardWriteJob job, Context* c, Folder* f, KeyFormat keys, int64_t position) noexcept nogil:
    cdef int64_t coords[MAX_RANK]
    cdef Sink sink
    cdef int outcome, error
    sink.folder = f
    sink.fd = -1
    group_coords(job.groups, group_at(job.which, position), coords)
    error = folder_select(f, keys, coords, job.groups.ndim)
    outcome = FAILED
    if error >= 0:
        outcome = encode_shard(job, c, position, &sink, &error)
    if outcome == DONE:
        error = folder_commit(f, sink.fd)
    elif sink.fd >= 0:
        folder_abandon(f, sink.fd)
    if outcome == MISSING:
        error = folder_delete(f)
    if error < 0:
        job.codes[position] = -error
        return FAILED
    return FAILED if outcome == FAILED else DONE


cdef int write_files(ShardWriteJob job, const char* root, KeyFormat keys, bint durable) noexcept nogil:
    """0, or -errno where the folder itself cannot be used."""
    cdef Folder f
    cdef Context* c
    cdef int code = folder_open(&f, root, keys, job.groups.ndim, durable)
    cdef int64_t i
    if code < 0:
        return code
    c = program_take(job.program)
    while True:
        i = zc_take(&job.next, 1)
        if i >= job.count:
            break
        if job.status[i] == TODO:
            job.status[i] = FAILED if c == NULL else write_file(job, c, &f, keys, i)
    program_give(job.program, c)
    return folder_close(&f)
