"""Encode one shard in several threads: for jobs with few large shards.

A shard is divided into parts of neighbours in its order. A thread takes the next part and encodes it into memory of its
own; then it waits until the parts before have their places, because its own place depends on them. So the shard has the
same bytes as that of a single thread. Parts are taken in order, and the first part without a place does not wait, so
the waits end. Every part is taken in any case; if the job was stopped, nothing is done in it.
"""
from libc.errno cimport ENOMEM
from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, strcpy, strlen

from zarr_core.chunk_io cimport DONE, FAILED, MISSING, TODO, slot_at, write_chunk
from zarr_core.files cimport (
    Folder,
    folder_abandon,
    folder_begin,
    folder_commit,
    folder_delete,
    folder_enter,
    folder_select,
    zc_close,
    zc_write_at,
)
from zarr_core.jobs cimport end_early, goes_on
from zarr_core.keys cimport KeyFormat
from zarr_core.plan cimport MAX_RANK
from zarr_core.shard_groups cimport group_coords
from zarr_core.shard_index cimport index_entry, index_seal, index_store
from zarr_core.shard_layout cimport Shard, ShardWriter, lay_out
from zarr_core.streams cimport Context, scratch_extend


cdef extern from "atomics.h" nogil:
    int64_t zc_take(int64_t* counter, int64_t n)


cdef enum:
    TEMPORARY_ROOM = 128    # of a hidden file's name, beyond that of the key


cdef SharedShard* new_shared(int64_t count, int64_t parts) except NULL:
    cdef int64_t i
    cdef SharedShard* shared = <SharedShard*>calloc(count + 1, sizeof(SharedShard))
    if shared == NULL:
        raise MemoryError
    for i in range(count):
        shared[i].fd = -1
        shared[i].parts = shared[i].left = parts
        shared[i].gated = zc_gate_init(&shared[i].gate) >= 0
        if not shared[i].gated:
            free_shared(shared, count)
            raise MemoryError
    return shared


cdef void free_shared(SharedShard* shared, int64_t count) noexcept:
    cdef int64_t i
    if shared == NULL:
        return
    for i in range(count):
        if shared[i].gated:
            zc_gate_free(&shared[i].gate)
        free(shared[i].memory.data)
        free(shared[i].made.data)
        free(shared[i].temporary)
    free(shared)


cdef bint enter_shard(ShardWriter job, SharedShard* s, int64_t position) noexcept nogil:
    """Lay out the shard in the first thread that comes; return True if there is work to do."""
    cdef bint sound
    zc_gate_enter(&s.gate)
    if not s.laid:
        s.laid = True
        s.broken = not lay_out(job, &s.memory, slot_at(job.which, position), &s.shard)
        s.written = s.shard.index_size if job.index.at_start else 0
    sound = not s.broken
    zc_gate_leave(&s.gate)
    return sound


cdef int64_t encode_part(
    ShardWriter job, Context* c, const Shard* shard, const int64_t* places, int64_t n, const char** data,
    int64_t* count, bint watch,
) noexcept nogil:
    """Chunks one behind the other, their lengths in the index: the bytes, or below 0."""
    cdef int64_t k, size, used = 0
    cdef const char* result
    cdef int code
    count[0] = 0
    data[0] = NULL
    for k in range(n):
        if shard.slot_of[places[k]] < 0:
            continue
        if not goes_on(job, watch):
            return -1
        code = write_chunk(job, c, shard.slot_of[places[k]], NULL, &result, &size)
        if code == FAILED:
            return -1
        if code == MISSING:
            continue
        count[0] += 1
        index_store(shard.index, places[k], 0, size)
        if n == 1:
            data[0] = result
            return size
        if scratch_extend(&c.arena, used, used + size) == NULL:
            return -1
        memcpy(c.arena.data + used, result, size)
        used += size
        data[0] = c.arena.data
    return used


cdef int make_place(SharedShard* s, Folder* f, const char* data, int64_t n) noexcept nogil:
    """Room for the next bytes of the shard: a file that is open, or memory, and the bytes in it; 0 or -errno."""
    if f == NULL:
        if scratch_extend(&s.made, s.written, s.written + n) == NULL:
            return -ENOMEM
        if n:
            memcpy(s.made.data + s.written, data, n)
    elif s.fd < 0:
        s.temporary = <char*>malloc(strlen(f.key) + TEMPORARY_ROOM)
        if s.temporary == NULL:
            return -ENOMEM
        s.fd = folder_begin(f)
        if s.fd < 0:
            return s.fd
        strcpy(s.temporary, f.temporary)
    return 0


cdef int64_t place_part(
    SharedShard* s, Folder* f, int64_t part, const char* data, int64_t n, int64_t count,
) noexcept nogil:
    """Waits for the parts before: where the part belongs, or below 0."""
    cdef int64_t at = -1
    zc_gate_enter(&s.gate)
    while s.placed != part:
        zc_gate_wait(&s.gate)
    if n < 0:
        s.broken = True
    elif count and not s.broken:
        s.stored = True
        s.error = make_place(s, f, data, n)
        s.broken = s.error < 0
    if not s.broken:
        at = s.written
        s.written += n
    s.placed += 1
    zc_gate_wake(&s.gate)
    zc_gate_leave(&s.gate)
    return at


cdef void index_part(const Shard* shard, const int64_t* places, int64_t n, int64_t at) noexcept nogil:
    """Puts the offsets beside the lengths."""
    cdef int64_t k, offset = 0, length = 0
    for k in range(n):
        if shard.slot_of[places[k]] >= 0 and index_entry(shard.index, places[k], INT64_MAX, &offset, &length) == 1:
            index_store(shard.index, places[k], at, length)
            at += length


cdef int add_index(ShardWriter job, SharedShard* s, Folder* f) noexcept nogil:
    cdef int64_t at = 0 if job.index.at_start else s.written, size = s.shard.index_size
    cdef int code = 0
    index_seal(job.index, s.shard.index, s.shard.nchunks)
    if f != NULL:
        code = make_place(s, f, NULL, 0)
        return code if code < 0 else zc_write_at(s.fd, s.shard.index, size, at)
    if scratch_extend(&s.made, s.written, at + size) == NULL:
        return -ENOMEM
    memcpy(s.made.data + at, s.shard.index, size)
    s.written = max(s.written, at + size)
    return 0


cdef int end_file(SharedShard* s, Folder* f, bint sound) noexcept nogil:
    """Puts the file in its place, or removes it."""
    cdef int code
    if s.fd < 0:
        return 0
    code = folder_enter(f, False)
    if code < 0:
        zc_close(s.fd)
        return code
    strcpy(f.temporary, s.temporary)
    if sound:
        return folder_commit(f, s.fd)
    folder_abandon(f, s.fd)
    return 0


cdef void conclude(ShardWriter job, SharedShard* s, Folder* f, int64_t position) noexcept nogil:
    """Finish a shard, in the last of the threads: the index, and the file in its place."""
    cdef int code = s.error
    cdef bint empty = job.skip_filled and not s.stored
    if not s.broken and not empty:
        code = add_index(job, s, f)
    if not s.broken and empty and f != NULL:
        code = folder_delete(f)
    s.broken = s.broken or code < 0
    if f != NULL:
        code = end_file(s, f, not s.broken) if code == 0 else min(code, end_file(s, f, False))
        s.broken = s.broken or code < 0
        s.fd = -1
    if code < 0 and f != NULL:
        job.codes[position] = -code
        end_early(job)      # a full disk, a folder that is gone: more of the same would fail, too
    s.outcome = FAILED if s.broken else MISSING if empty else DONE
    job.status[position] = FAILED if s.broken else DONE
    free(s.memory.data)
    s.memory.data = NULL


cdef void do_part(
    ShardWriter job, SharedShard* s, Context* c, Folder* f, int64_t position, int64_t part, int error, bint watch,
) noexcept nogil:
    cdef bint sound = enter_shard(job, s, position) and c != NULL and error >= 0, last
    cdef int64_t first = s.shard.nchunks * part // s.parts, n = s.shard.nchunks * (part + 1) // s.parts - first
    cdef const int64_t* places = job.sequences[position] + first
    cdef const char* data = NULL
    cdef int64_t size = -1, count = 0, at
    if sound:
        size = encode_part(job, c, &s.shard, places, n, &data, &count, watch)
    at = place_part(s, f, part, data, size, count)
    if at >= 0 and count:
        index_part(&s.shard, places, n, at)
        if f != NULL:
            error = zc_write_at(s.fd, data, size, at)
    zc_gate_enter(&s.gate)
    if error < 0:
        s.error = error
        s.broken = True
    s.left -= 1
    last = s.left == 0
    zc_gate_leave(&s.gate)
    if last:
        conclude(job, s, f, position)


cdef void share_shard(
    ShardWriter job, SharedShard* s, Context* c, Folder* f, KeyFormat keys, int64_t position, bint watch,
) noexcept nogil:
    cdef int64_t coords[MAX_RANK]
    cdef int64_t part
    cdef int error
    while True:
        part = zc_take(&s.taken, 1)
        if part >= s.parts:
            return
        error = 0
        if f != NULL:
            group_coords(job.groups, slot_at(job.which, position), coords)
            error = folder_select(f, keys, coords, job.groups.ndim)
        do_part(job, s, c, f, position, part, error, watch)


cdef object take_shared(SharedShard* s):
    cdef char* data = s.made.data
    cdef int64_t n = s.written
    if s.outcome == FAILED:
        return ...
    if s.outcome == MISSING:
        return None
    try:
        return data[:n]
    finally:
        free(data)
        s.made.data = NULL
        s.made.capacity = 0
        s.outcome = TODO
