# One shard encoded by several threads: for jobs of few large shards. Part of shard_writing.pyx.
#
# A shard is divided into parts of neighbours in its order. A thread takes the next part and encodes it into memory of
# its own; then it waits until the parts before have their places, for only then is its own place known. So the shard is
# byte for byte the one that a single thread makes. Parts are taken in order, and the first of those without a place
# waits for nobody, so the waiting ends. Every part is taken in any case, with nothing done where the job was stopped.


cdef extern from "gate.h" nogil:
    ctypedef struct zc_gate:
        pass
    int zc_gate_init(zc_gate* gate)
    void zc_gate_free(zc_gate* gate)
    void zc_gate_enter(zc_gate* gate)
    void zc_gate_leave(zc_gate* gate)
    void zc_gate_wait(zc_gate* gate)
    void zc_gate_wake(zc_gate* gate)


cdef enum:
    TEMPORARY_ROOM = 128    # of a hidden file's name, beyond that of the key


# A shard that several threads are at.
cdef struct SharedShard:
    zc_gate gate
    bint gated              # the gate is there
    int64_t taken           # parts that threads have taken
    # The rest is changed inside the gate only.
    bint laid
    Scratch memory          # of the layout
    Shard shard
    Scratch made            # the stored shard, where it does not go to a file
    int64_t placed          # parts whose place is known
    int64_t left            # parts that are not done
    int64_t written         # bytes that have their place
    int fd
    char* temporary         # the name of the file
    bint stored             # some chunk is
    bint broken
    int error
    int outcome


cdef int make_shared(ShardWriteJob job, int64_t parts) except -1:
    cdef int64_t i
    cdef SharedShard* shared = <SharedShard*>calloc(job.count + 1, sizeof(SharedShard))
    if shared == NULL:
        raise MemoryError
    job.shared = shared
    job.parts = parts
    for i in range(job.count):
        shared[i].fd = -1
        shared[i].left = parts
        if zc_gate_init(&shared[i].gate) < 0:
            raise MemoryError
        shared[i].gated = True
    return 0


cdef void free_shared(ShardWriteJob job) noexcept:
    cdef int64_t i
    if job.shared == NULL:
        return
    for i in range(job.count):
        if job.shared[i].gated:
            zc_gate_free(&job.shared[i].gate)
        free(job.shared[i].memory.data)
        free(job.shared[i].made.data)
        free(job.shared[i].temporary)
    free(job.shared)


cdef bint enter_shard(ShardWriteJob job, SharedShard* s, int64_t position) noexcept nogil:
    """Lays the shard out for the first who comes; whether there is anything to do."""
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
    ShardWriteJob job, Context* c, const Shard* shard, const int64_t* places, int64_t n, const char** data,
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


cdef int add_index(ShardWriteJob job, SharedShard* s, Folder* f) noexcept nogil:
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


cdef void conclude(ShardWriteJob job, SharedShard* s, Folder* f, int64_t position) noexcept nogil:
    """What the last of the threads does: the index, and the file in its place."""
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
        job.stopped = 1     # a full disk, a folder that is gone: more of the same would fail, too
    s.outcome = FAILED if s.broken else MISSING if empty else DONE
    job.status[position] = FAILED if s.broken else DONE
    free(s.memory.data)
    s.memory.data = NULL


cdef void do_part(
    ShardWriteJob job, Context* c, Folder* f, int64_t position, int64_t part, int error, bint watch,
) noexcept nogil:
    cdef SharedShard* s = &job.shared[position]
    cdef bint sound = enter_shard(job, s, position) and c != NULL and error >= 0, last
    cdef int64_t first = s.shard.nchunks * part // job.parts, n = s.shard.nchunks * (part + 1) // job.parts - first
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
    ShardWriteJob job, Context* c, Folder* f, KeyFormat keys, int64_t position, bint watch,
) noexcept nogil:
    """Parts of one shard, as long as there are any that nobody has taken."""
    cdef int64_t coords[MAX_RANK]
    cdef int64_t part
    cdef int error
    while True:
        part = zc_take(&job.shared[position].taken, 1)
        if part >= job.parts:
            return
        error = 0
        if f != NULL:
            group_coords(job.groups, slot_at(job.which, position), coords)
            error = folder_select(f, keys, coords, job.groups.ndim)
        do_part(job, c, f, position, part, error, watch)


cdef void prepare_shards(ShardWriteJob job, int64_t first, int64_t n, bint watch) noexcept nogil:
    cdef Context* c = program_take(job.program)
    cdef int64_t i
    for i in range(first, first + n):
        share_shard(job, c, NULL, None, i, watch)
    program_give(job.program, c)


cdef object take_prepared(ShardWriteJob job, int64_t position):
    """A shard that threads have encoded together, handed out once."""
    cdef SharedShard* s = &job.shared[position]
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
