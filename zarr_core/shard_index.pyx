"""The index of a shard: for each inner chunk its offset and length, little-endian, in C order, perhaps a checksum."""
cimport numpy as cnp
from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy, memset

from zarr_core.payloads cimport view_bytes
from zarr_core.symbols cimport crc32c

import numpy as np

cnp.import_array()

cdef uint64_t NONE = <uint64_t>-1


cdef class IndexFormat:
    """The place of a shard's index, and True if a checksum follows it.

    Parameters
    ----------
    location : str
        "start" or "end" of the shard.
    checksum : bool
        If True, a CRC-32C follows the entries.

    Raises
    ------
    ValueError
        Another location.

    Examples
    --------
    >>> IndexFormat("end", True).nbytes(2)
    36
    """

    def __cinit__(self, str location, bint checksum):
        if location not in ("start", "end"):
            raise ValueError(f"index location must be 'start' or 'end', got {location!r}")
        self.location = location
        self.checksum = checksum
        self.at_start = location == "start"

    def nbytes(self, nchunks: int) -> int:
        """Bytes of the index of a shard with so many inner chunks."""
        if nchunks < 0:
            raise ValueError(f"the number of chunks must not be negative, got {nchunks}")
        return 16 * nchunks + (4 if self.checksum else 0)

    def __eq__(self, other):
        if not isinstance(other, IndexFormat):
            return NotImplemented
        return self.location == other.location and self.checksum == other.checksum

    def __hash__(self):
        return hash((self.location, self.checksum))

    def __reduce__(self):
        return IndexFormat, (self.location, self.checksum)

    def __repr__(self) -> str:
        return f"IndexFormat({self.location!r}, {self.checksum})"


# --- kernels

cdef inline uint64_t load64(const char* data) noexcept nogil:
    cdef const uint8_t* p = <const uint8_t*>data
    cdef uint64_t value = 0
    cdef int i
    for i in range(8):
        value |= <uint64_t>p[i] << (8 * i)
    return value


cdef inline void store64(char* to, uint64_t value) noexcept nogil:
    cdef int i
    for i in range(8):
        to[i] = <char>((value >> (8 * i)) & 255)


cdef int64_t index_nbytes(IndexFormat f, int64_t nchunks) noexcept nogil:
    if nchunks > INT64_MAX // ENTRY - 1:
        return -1
    return ENTRY * nchunks + (4 if f.checksum else 0)


cdef bint index_sound(IndexFormat f, const char* raw, int64_t nchunks) noexcept nogil:
    cdef const uint8_t* stored = <const uint8_t*>raw + ENTRY * nchunks
    cdef uint32_t found
    if not f.checksum:
        return True
    found = crc32c(0, <const uint8_t*>raw, ENTRY * nchunks)
    return found == (
        <uint32_t>stored[0] | <uint32_t>stored[1] << 8 | <uint32_t>stored[2] << 16 | <uint32_t>stored[3] << 24
    )


cdef int index_entry(const char* raw, int64_t i, int64_t shard_nbytes, int64_t* offset, int64_t* length) noexcept nogil:
    cdef uint64_t first = load64(raw + ENTRY * i), size = load64(raw + ENTRY * i + 8)
    if first == NONE and size == NONE:
        return 0
    if size > <uint64_t>shard_nbytes or first > <uint64_t>shard_nbytes - size:
        return -1
    offset[0] = <int64_t>first
    length[0] = <int64_t>size
    return 1


cdef void index_clear(char* raw, int64_t nchunks) noexcept nogil:
    memset(raw, 255, ENTRY * nchunks)


cdef void index_store(char* raw, int64_t i, int64_t offset, int64_t length) noexcept nogil:
    store64(raw + ENTRY * i, <uint64_t>offset)
    store64(raw + ENTRY * i + 8, <uint64_t>length)


cdef void index_seal(IndexFormat f, char* raw, int64_t nchunks) noexcept nogil:
    cdef uint32_t found
    cdef int i
    if f.checksum:
        found = crc32c(0, <const uint8_t*>raw, ENTRY * nchunks)
        for i in range(4):
            raw[ENTRY * nchunks + i] = <char>((found >> (8 * i)) & 255)


cdef int by_offset(const void* a, const void* b) noexcept nogil:
    cdef const Range* x = <const Range*>a
    cdef const Range* y = <const Range*>b
    if x.offset != y.offset:
        return -1 if x.offset < y.offset else 1
    return -1 if x.tag < y.tag else x.tag > y.tag


cdef void sort_ranges(Range* ranges, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(1, n):
        if by_offset(&ranges[i - 1], &ranges[i]) > 0:
            qsort(ranges, n, sizeof(Range), by_offset)
            return


cdef int64_t coalesce(
    const Range* ranges, int64_t first, int64_t n, int64_t max_gap, int64_t max_bytes, int64_t* stop,
) noexcept nogil:
    cdef int64_t low = ranges[first].offset, high = low + ranges[first].length, end, i = first + 1
    while i < n:
        end = ranges[i].offset + ranges[i].length
        if end < high:
            end = high
        if ranges[i].offset - high > max_gap or end - low > max_bytes:
            break
        high = end
        i += 1
    stop[0] = high
    return i - first


# --- the door

def parse_index(raw, nchunks: int, IndexFormat fmt not None):
    """Read a shard's index.

    Parameters
    ----------
    raw : bytes-like
        The index alone.
    nchunks : int
        Inner chunks in the shard.
    fmt : IndexFormat
        Its form.

    Returns
    -------
    numpy.ndarray
        uint64 of shape (nchunks, 2): offset and length; 2**64 - 1 twice for a chunk that is not stored. Read-only: it
        may be a view of ``raw``.

    Raises
    ------
    ValueError
        A wrong size or checksum.

    Examples
    --------
    >>> f = IndexFormat("end", True)
    >>> parse_index(build_index([(0, 5)], f), 1, f).tolist()
    [[0, 5]]
    """
    cdef const char* data
    cdef int64_t n, count = nchunks
    wanted = fmt.nbytes(nchunks)
    owner = view_bytes(raw, &data, &n)
    if n != wanted:
        raise ValueError(f"a shard index of {nchunks} chunks takes {wanted} bytes, got {n}")
    if not index_sound(fmt, data, count):
        raise ValueError(f"the checksum of a shard index of {nchunks} chunks is wrong: the index is damaged")
    stored = np.ndarray(2 * count, "<u8", owner)
    pairs = np.require(stored, np.uint64, ["ALIGNED"]).reshape(count, 2)
    pairs.flags.writeable = False
    return pairs


def build_index(pairs, IndexFormat fmt not None) -> bytes:
    """Make the stored form of an index.

    Parameters
    ----------
    pairs : array-like
        Offset and length of each inner chunk, shape (nchunks, 2).
    fmt : IndexFormat
        The form wanted.

    Returns
    -------
    bytes
        The index.

    Raises
    ------
    ValueError
        Another shape.

    Examples
    --------
    >>> build_index([(0, 5)], IndexFormat("start", False)).hex()
    '00000000000000000500000000000000'
    """
    cdef cnp.ndarray array = np.ascontiguousarray(pairs, dtype=np.uint64)
    cdef const uint64_t* values
    cdef int64_t i, n
    cdef char* to
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"pairs must have shape (chunks, 2), got {np.shape(pairs)}")
    values = <const uint64_t*>cnp.PyArray_DATA(array)
    n = array.shape[0]
    to = <char*>malloc(index_nbytes(fmt, n) + 1)
    if to == NULL:
        raise MemoryError
    try:
        for i in range(2 * n):
            store64(to + 8 * i, values[i])
        index_seal(fmt, to, n)
        return to[:index_nbytes(fmt, n)]
    finally:
        free(to)

