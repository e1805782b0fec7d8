"""Cache of shard indexes, so that reading one inner chunk of a large shard need not read all of its index.

An index is found by the file's device and inode, and used only if size, times of change and form are the same as when
it was read. All of this is read from the descriptor of the chunk, so that a shard that is replaced is never read by
another one's index. Nothing waits here: if another thread is using the cache, it is a miss.
"""
cimport cython
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc

from zarr_core.files cimport zc_stamp
from zarr_core.shard_index cimport IndexFormat


cdef extern from "atomics.h" nogil:
    int zc_put(void** place, void* value)
    void* zc_swap(void** place, void* value)
    int64_t zc_take(int64_t* counter, int64_t n)
    int64_t zc_leave(int64_t* counter)


cdef extern from "clock.h" nogil:
    int64_t zc_now_ns()


cdef enum:
    SETTLED_NS = 100000000          # the clocks of file systems go in steps: what is younger could change unseen
    LARGEST_SHARE = 4               # of the capacity, for one index

cdef int64_t SECOND_NS = 1000000000
cdef int64_t SETTLED_COARSE_NS = 3000000000     # the same where a clock seems to go in whole seconds


cdef char* index_bytes(KeptIndex* index) noexcept nogil:
    return <char*>(index + 1)


cdef void let_go(KeptIndex* index) noexcept nogil:
    if index != NULL and zc_leave(&index.users) == 1:
        free(index)


cdef inline bint enter(IndexCache cache) noexcept nogil:
    return zc_put(&cache.lock, <void*>cache.places) != 0


cdef inline void leave(IndexCache cache) noexcept nogil:
    zc_swap(&cache.lock, NULL)


cdef inline int form_of(IndexFormat form) noexcept nogil:
    return 2 * form.at_start + form.checksum


cdef int first_place(const zc_stamp* stamp) noexcept nogil:
    cdef uint64_t mixed = (<uint64_t>stamp.inode ^ (<uint64_t>stamp.device << 32)) * <uint64_t>0x9E3779B97F4A7C15
    return <int>(mixed >> 57) * WAYS


cdef bint is_settled(const zc_stamp* stamp) noexcept nogil:
    """Return True if the file is older than a step of the clock: one that changes now gets another time."""
    cdef int64_t changed = max(stamp.changed_ns, stamp.modified_ns)
    cdef int64_t age = zc_now_ns() - changed
    if stamp.changed_ns <= 0 or stamp.inode == 0:
        return False
    return age >= (SETTLED_COARSE_NS if stamp.changed_ns % SECOND_NS == 0 else SETTLED_NS)


cdef bint same_file(const zc_stamp* a, const zc_stamp* b) noexcept nogil:
    return a.inode == b.inode and a.device == b.device


cdef bint is_unchanged(const zc_stamp* a, const zc_stamp* b) noexcept nogil:
    return a.nbytes == b.nbytes and a.modified_ns == b.modified_ns and a.changed_ns == b.changed_ns


# The readers check if there is a cache at all; in builds with every check, counting in it would need the GIL.
@cython.nonecheck(False)
cdef KeptIndex* find_kept(IndexCache cache, const zc_stamp* stamp, IndexFormat form, int64_t nchunks) noexcept nogil:
    cdef KeptIndex* index
    cdef KeptIndex* found = NULL
    cdef int first = first_place(stamp), i
    if not enter(cache):
        return NULL
    cache.clock += 1
    for i in range(first, first + WAYS):
        index = cache.places[i]
        if index == NULL or not same_file(&index.stamp, stamp) or not is_unchanged(&index.stamp, stamp):
            continue
        if index.form == form_of(form) and index.nchunks == nchunks:
            found = index
            found.used = cache.clock
            zc_take(&found.users, 1)
            break
    cache.hits += found != NULL
    cache.misses += found == NULL
    leave(cache)
    return found


cdef KeptIndex* make_kept(
    IndexCache cache, const zc_stamp* stamp, IndexFormat form, int64_t nchunks, int64_t nbytes,
) noexcept nogil:
    cdef KeptIndex* index
    if nbytes > cache.capacity // LARGEST_SHARE or not is_settled(stamp):
        return NULL
    index = <KeptIndex*>malloc(sizeof(KeptIndex) + nbytes)
    if index != NULL:
        index.users = 1
        index.used = 0
        index.stamp = stamp[0]
        index.form = form_of(form)
        index.nchunks = nchunks
        index.nbytes = nbytes
    return index


@cython.nonecheck(False)
cdef void drop(IndexCache cache, int place) noexcept nogil:
    cdef KeptIndex* index = cache.places[place]
    cache.places[place] = NULL
    cache.held -= index.nbytes
    cache.count -= 1
    let_go(index)


cdef int stalest(IndexCache cache, int first, int stop) noexcept nogil:
    """The place whose index was not used for the longest time; -1 where there is none."""
    cdef int i, found = -1
    for i in range(first, stop):
        if cache.places[i] != NULL and (found < 0 or cache.places[i].used < cache.places[found].used):
            found = i
    return found


@cython.nonecheck(False)
cdef void keep_index(IndexCache cache, KeptIndex* index) noexcept nogil:
    cdef int first = first_place(&index.stamp), i, free_place = -1
    if not enter(cache):
        return
    for i in range(first, first + WAYS):
        if cache.places[i] != NULL and same_file(&cache.places[i].stamp, &index.stamp):
            drop(cache, i)
        if cache.places[i] == NULL:
            free_place = i
    if free_place < 0:
        free_place = stalest(cache, first, first + WAYS)
        drop(cache, free_place)
    while cache.count and cache.held + index.nbytes > cache.capacity:
        drop(cache, stalest(cache, 0, PLACES))
    cache.clock += 1
    index.used = cache.clock
    zc_take(&index.users, 1)
    cache.places[free_place] = index
    cache.held += index.nbytes
    cache.count += 1
    leave(cache)


cdef class IndexCache:
    """Shard indexes of files, up to a number of bytes; the least recently used ones are dropped.

    The cache keeps the index of a regular file whose last change is older than a step of its file system's clock. It is
    used while device, inode, size, and the times of modification and of change (which programs cannot set) stay the
    same. A later write through a shared memory map changes none of these before it is synchronised.

    Parameters
    ----------
    capacity : int
        Bytes of indexes held at most; one index may take a quarter of them.

    Raises
    ------
    ValueError
        A negative capacity.

    Examples
    --------
    >>> IndexCache(1 << 20).info()
    (0, 0, 0, 0)
    """

    def __cinit__(self, capacity: int):
        if capacity < 0:
            raise ValueError(f"capacity must not be negative, got {capacity}")
        self.capacity = capacity

    def __dealloc__(self):
        cdef int i
        for i in range(PLACES):
            let_go(self.places[i])

    def clear(self) -> None:
        """Remove all indexes and reset the counters; do nothing while another thread uses the cache."""
        cdef int i
        if not enter(self):
            return
        for i in range(PLACES):
            if self.places[i] != NULL:
                drop(self, i)
        self.hits = self.misses = 0
        leave(self)

    def after_fork(self) -> None:
        """Reset the cache in a forked child, where a thread of the parent may have been using it."""
        cdef int i
        if self.lock != NULL:
            for i in range(PLACES):
                self.places[i] = NULL       # its state is unknown
            self.held = self.count = 0
            self.lock = NULL

    def info(self):
        """Hits, misses, indexes held, and their bytes."""
        return self.hits, self.misses, self.count, self.held
