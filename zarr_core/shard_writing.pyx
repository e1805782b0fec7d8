"""Write whole shards of one plan over inner chunks, without the GIL.

The chunks of a shard are encoded one behind the other, and their index is put before or after them.
"""
from libc.errno cimport ENOENT, ENOMEM, ENOSYS
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from zarr_core.chunk_io cimport (
    DONE, FAILED, MISSING, TODO, check_span, fail_all, pick, set_writer, slot_at, write_chunk,
)
from zarr_core.files cimport (
    Folder,
    folder_abandon,
    folder_begin,
    folder_close,
    folder_commit,
    folder_delete,
    folder_open,
    folder_select,
    zc_write_at,
)
from zarr_core.jobs cimport check_interruption, end_early, goes_on, watches
from zarr_core.keys cimport KeyFormat
from zarr_core.plan cimport MAX_RANK, Plan
from zarr_core.program cimport Program, program_give, program_take
from zarr_core.shard_groups cimport ShardGroups, group_coords
from zarr_core.shard_index cimport IndexFormat, index_seal, index_store
from zarr_core.shard_layout cimport Shard, ShardWriter, lay_out, set_shards
from zarr_core.shard_reading cimport parts_by_size
from zarr_core.shard_sharing cimport SharedShard, free_shared, new_shared, share_shard, take_shared
from zarr_core.streams cimport Context, scratch_extend, scratch_reserve

import os


cdef extern from "atomics.h" nogil:
    int64_t zc_take(int64_t* counter, int64_t n)


cdef enum:
    WRITE_BUFFER = 1 << 20      # encoded chunks are written in pieces of about this size

cdef class ShardWriteJob(ShardWriter):
    """Write whole shards of a plan over inner chunks.

    Parameters
    ----------
    plan : Plan
        On the grid of inner chunks.
    groups : ShardGroups
        The plan's slots by shard. A group is listed in ``failed`` unless it has every inner chunk of its shard that
        lies inside the array, each whole.
    program : Program
        How inner chunks are stored.
    value : numpy.ndarray
        Of ``plan.shape``; broadcast arrays are fine.
    fill : numpy.ndarray
        0-d, of ``value``'s dtype.
    skip_filled : bool
        Do not store inner chunks that hold ``fill`` only, nor shards without chunks.
    index : IndexFormat
        The form of the shards' index.
    write_order : str
        How inner chunks follow each other: morton, lexicographic, colexicographic or unordered.
    which : array of int, optional
        The groups to write, all by default.

    Raises
    ------
    TypeError, ValueError, IndexError
        If arguments do not fit each other.
    """

    cdef readonly int64_t parts     # how many parts each shard may be encoded in, by different threads
    cdef SharedShard* shared        # per position, where shards are; else NULL

    def __cinit__(
        self, Plan plan, ShardGroups groups, Program program, value, fill, bint skip_filled,
        IndexFormat index not None, str write_order="morton", which=None,
    ):
        set_writer(self, plan, program, value, fill, skip_filled)
        set_shards(self, groups, index, write_order, which)
        self.parts = parts_by_size(plan, program, groups.ngroups)

    def __dealloc__(self):
        free_shared(self.shared, self.count)

    @property
    def failed(self):
        """Groups that were not written: int64 array."""
        return pick(self.status, self.count, self.which, FAILED)

    @property
    def errors(self) -> list:
        """(group, errno) of the file calls that failed."""
        return [(slot_at(self.which, i), self.codes[i]) for i in range(self.count) if self.codes[i]]

    def share(self, parts: int | None = None) -> None:
        """Let several threads work on each shard, if there are fewer shards than threads; call this before the work.

        Parameters
        ----------
        parts : int, optional
            Number of parts in which each shard is encoded; by default the number that its size is worth, ``parts``.
        """
        cdef int64_t chosen = self.parts if parts is None else parts
        if chosen < 1:
            raise ValueError(f"parts must be at least 1, got {parts}")
        if self.shared != NULL:
            raise ValueError("the shards are shared already")
        self.shared = new_shared(self.count, chosen)
        self.parts = chosen

    def prepare(self, first: int, count: int) -> None:
        """Encode shards in parts, for :meth:`encode` to hand out. Several threads may share the work by calling this
        together, with equal arguments; there is nothing to do unless the shards are shared.

        Parameters
        ----------
        first, count : int
            The positions of the job's groups.
        """
        cdef int64_t start = first, n = count
        cdef bint watch = watches(self)
        check_span(start, n, self.count)
        if self.shared != NULL:
            with nogil:
                prepare_shards(self, start, n, watch)
        check_interruption(self)

    def encode(self, first: int, count: int) -> list:
        """Make the stored shards of some positions.

        Parameters
        ----------
        first, count : int
            The positions of the job's groups.

        Returns
        -------
        list of bytes, None or Ellipsis
            None: no chunk to store. Ellipsis: failed.
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
                if self.shared != NULL and self.shared[i].outcome != TODO:
                    results.append(take_shared(&self.shared[i]))
                else:
                    results.append(encode_one(self, c, i))
        finally:
            program_give(self.program, c)
        check_interruption(self)
        return results

    def to_files(self, root: str, KeyFormat keys not None, fsync: bool = False) -> None:
        """Write shards to files under a folder. Several threads may share the work by calling this together.

        Each file is written beside its place and renamed; the file of a shard without chunks is deleted. If a file call
        fails, all threads stop after their present chunk; unfinished groups are failed.

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


cdef void prepare_shards(ShardWriteJob job, int64_t first, int64_t n, bint watch) noexcept nogil:
    cdef Context* c = program_take(job.program)
    cdef int64_t i
    for i in range(first, first + n):
        share_shard(job, &job.shared[i], c, NULL, None, i, watch)
    program_give(job.program, c)


# The target of an encoded shard: memory, or a file through a buffer.
cdef struct Sink:
    Folder* folder          # NULL: memory
    int fd
    int64_t written         # bytes of the shard that are in the file
    int64_t used            # bytes in the arena


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
    ShardWriteJob job, Context* c, const Shard* shard, const int64_t* sequence, Sink* sink, int* error, bint watch,
) noexcept nogil:
    """DONE, MISSING where no chunk is stored, or FAILED."""
    cdef int64_t k, place, size
    cdef const char* result
    cdef int code, outcome = MISSING if job.skip_filled else DONE
    for k in range(shard.nchunks):
        place = sequence[k]
        if shard.slot_of[place] < 0:
            continue
        if not goes_on(job, watch):
            return FAILED
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
    ShardWriteJob job, Context* c, int64_t position, Sink* sink, int* error, bint watch,
) noexcept nogil:
    cdef Shard shard
    cdef int outcome
    error[0] = 0
    sink.fd = -1
    sink.written = 0
    sink.used = 0
    if not lay_out(job, &c.stored, slot_at(job.which, position), &shard):
        return FAILED
    if job.index.at_start:
        if sink.folder == NULL:
            sink.used = shard.index_size
            if scratch_reserve(&c.arena, sink.used) == NULL:
                return FAILED
        else:
            sink.written = shard.index_size
    outcome = encode_chunks(job, c, &shard, job.sequences[position], sink, error, watch)
    if outcome == DONE:
        error[0] = finish_index(job, c, &shard, sink)
    return FAILED if error[0] < 0 else outcome


cdef object encode_one(ShardWriteJob job, Context* c, int64_t position):
    cdef Sink sink
    cdef int outcome, error
    cdef bint watch = watches(job)
    sink.folder = NULL
    with nogil:
        outcome = encode_shard(job, c, position, &sink, &error, watch)
    if outcome == FAILED:
        job.status[position] = FAILED
        return ...
    job.status[position] = DONE
    return c.arena.data[:sink.used] if outcome == DONE else None


cdef int write_file(
    ShardWriteJob job, Context* c, Folder* f, KeyFormat keys, int64_t position, bint watch,
) noexcept nogil:
    cdef int64_t coords[MAX_RANK]
    cdef Sink sink
    cdef int outcome, error
    sink.folder = f
    sink.fd = -1
    group_coords(job.groups, slot_at(job.which, position), coords)
    error = folder_select(f, keys, coords, job.groups.ndim)
    outcome = FAILED
    if error >= 0:
        outcome = encode_shard(job, c, position, &sink, &error, watch)
    if outcome == DONE:
        error = folder_commit(f, sink.fd)
    elif sink.fd >= 0:
        folder_abandon(f, sink.fd)
    if outcome == MISSING:
        error = folder_delete(f)
    if error < 0:
        job.codes[position] = -error
        end_early(job)      # a full disk, a folder that is gone: more of the same would fail, too
        return FAILED
    return FAILED if outcome == FAILED else DONE


cdef void write_each(ShardWriteJob job, Context* c, Folder* f, KeyFormat keys, bint watch) noexcept nogil:
    """Write whole shards, as long as there are any that no thread has taken."""
    cdef int64_t i
    while goes_on(job, watch):
        i = zc_take(&job.next, 1)
        if i >= job.count:
            return
        if job.status[i] == TODO:
            job.status[i] = FAILED if c == NULL else write_file(job, c, f, keys, i, watch)


cdef int write_files(ShardWriteJob job, const char* root, KeyFormat keys, bint durable, bint watch) noexcept nogil:
    """0, or -errno where the folder itself cannot be used."""
    cdef Folder f
    cdef Context* c
    cdef int code = folder_open(&f, root, keys, job.groups.ndim, durable)
    cdef int64_t i
    if code == -ENOSYS:
        fail_all(job.status, job.count)     # no such file calls here: the plain path writes
        return 0
    if code < 0:
        return code
    c = program_take(job.program)
    if job.shared != NULL:
        for i in range(job.count):
            share_shard(job, &job.shared[i], c, &f, keys, i, watch)
    else:
        write_each(job, c, &f, keys, watch)
    program_give(job.program, c)
    if not goes_on(job, False):
        fail_all(job.status, job.count)
    return folder_close(&f)

