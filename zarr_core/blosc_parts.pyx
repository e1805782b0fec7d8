"""Decode some bytes of a blosc frame, without the rest of it.

Blocks without these bytes are skipped. In a block with one stream for each byte of the items, which is the common form,
an LZ4 stream is decoded up to the end of the wanted items, and an uncompressed stream is read only there. Of a frame in
a file, only these parts are read. No length is trusted, and no byte is used that was not read.
"""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset

from zarr_core.blosc cimport (
    BLOSC_HEADER,
    BLOSC_LZ4,
    BLOSC_PLANES,
    BloscFrame,
    block_size,
    blosc_block_span,
    blosc_blocks,
    blosc_open,
    decode_stream,
    find_streams,
    load32,
)
from zarr_core.files cimport zc_read_at
from zarr_core.streams cimport DAMAGED, NO_MEMORY, Context, lz4_bound, lz4_prefix, scratch_reserve


cdef extern from "planes.h" nogil:
    void zc_join_planes(const uint8_t** planes, Py_ssize_t first, Py_ssize_t n, uint8_t* to, int width)


cdef enum:
    AHEAD = 4096            # read where few bytes are asked for: a header and its table, the length of a stream
    MAX_TABLE = 16          # a table of blocks that takes more than one in so many bytes saves nothing
    LZ4_SLACK = 64          # LZ4's decoder goes slowly, and looks for the end, where its input is nearly used up


cdef Stored stored_in_memory(const char* data, int64_t n) noexcept nogil:
    cdef Stored s
    memset(&s, 0, sizeof(Stored))
    s.data, s.n, s.fd = <char*>data, n, -1
    return s


cdef Stored stored_in_file(char* data, int64_t n, int fd, int64_t at) noexcept nogil:
    cdef Stored s
    memset(&s, 0, sizeof(Stored))
    s.data, s.n, s.fd, s.at = data, n, fd, at
    return s


cdef bint has(Stored* s, int64_t begin, int64_t end) noexcept nogil:
    """Return True if bytes are in memory, now if not before."""
    if end > s.n:
        return False
    if s.fd < 0 or (s.begin <= begin and end <= s.end):
        return True
    if not s.begin <= begin <= s.end:
        s.begin = s.end = begin
    if zc_read_at(s.fd, s.data + s.end, end - s.end, s.at + s.end) != end - s.end:
        return False
    s.end = end
    return True


cdef bint has_length(Stored* s, const BloscFrame* f, int64_t at) noexcept nogil:
    """The same of the four bytes before a stream, and some of the stream in the same go."""
    if at > f.n - 4:
        return False
    return s.begin <= at and at + 4 <= s.end or has(s, at, min(at + AHEAD, f.n))


cdef int64_t some_items(
    Context* c, Stored* s, const BloscFrame* f, int64_t at, int64_t first, int64_t last, uint8_t* dst,
) noexcept nogil:
    """Items first .. last - 1 of a block whose streams, one for each byte of the items, begin at `at`."""
    cdef const uint8_t* planes[BLOSC_PLANES]
    cdef int64_t items = f.blocksize // f.typesize, length
    cdef uint8_t* made = <uint8_t*>scratch_reserve(&c.block, f.blocksize)
    cdef int k
    memset(planes, 0, sizeof(planes))
    if made == NULL:
        return NO_MEMORY
    for k in range(f.typesize):
        if not has_length(s, f, at):
            return DAMAGED
        length = load32(f.data + at)
        at += 4
        if length <= 0 or length > f.n - at:
            return DAMAGED
        planes[k] = f.data + at if length == items else made + k * items
        if length == items:
            if not has(s, at + first, at + last):
                return DAMAGED
        elif not stream_reaches(c, s, f, at, length, items, last, made + k * items):
            return DAMAGED
        at += length
    zc_join_planes(planes, first, last - first, dst + first * f.typesize, f.typesize)
    return 0


cdef bint stream_reaches(
    Context* c, Stored* s, const BloscFrame* f, int64_t at, int64_t length, int64_t size, int64_t wanted, uint8_t* dst,
) noexcept nogil:
    """Decodes at least the first bytes of a stream of some decoded size.

    A run that ends after these bytes is slow for LZ4's partial decoder: a stream full of runs is decoded to its end.
    """
    cdef int64_t enough
    if f.format != BLOSC_LZ4 or wanted == size or 2 * length < size:
        return has(s, at, at + length) and decode_stream(c, f.format, f.data + at, length, dst, size) == size
    enough = min(length, lz4_bound(wanted) + LZ4_SLACK)
    return has(s, at, at + enough) and lz4_prefix(<const char*>f.data + at, enough, <char*>dst, wanted) == wanted


cdef int64_t whole_block(Context* c, Stored* s, const BloscFrame* f, int64_t block, uint8_t* dst) noexcept nogil:
    cdef BloscFrame part = f[0]
    cdef int64_t begin
    if s.fd >= 0:
        part.n = blosc_block_span(f, block, &begin)
        if part.n < 0 or not has(s, begin, part.n):
            return DAMAGED
    return blosc_blocks(c, &part, block, block + 1, <char*>dst)


cdef int64_t blosc_range(
    Context* c, Stored* s, const BloscFrame* f, int64_t low, int64_t high, uint8_t* dst,
) noexcept nogil:
    cdef int64_t block = low // f.blocksize, start, size, begin, end, at, count, code
    cdef int width = f.typesize
    while block * f.blocksize < high:
        start, size = block * f.blocksize, block_size(f, block)
        begin, end = max(low - start, 0), min(high - start, size)
        at = find_streams(f, block, size, &count)
        if at < 0:
            return at
        if f.shuffle == 1 and (width == 2 or width == 4 or width == 8) and count == width:
            code = some_items(c, s, f, at, begin // width, (end + width - 1) // width, dst)
        else:
            code = whole_block(c, s, f, block, dst)
        if code < 0:
            return code
        dst += f.blocksize
        block += 1
    return 0


cdef const char* blosc_some(Context* c, Stored* s, int64_t nbytes, int64_t low, int64_t high) noexcept nogil:
    cdef BloscFrame f
    cdef int64_t table
    cdef char* chunk
    if not has(s, 0, min(AHEAD, s.n)) or blosc_open(&f, s.data, s.n) < 0 or f.nbytes != nbytes:
        return NULL
    if f.stored:
        return s.data + BLOSC_HEADER if has(s, BLOSC_HEADER + low, BLOSC_HEADER + high) else NULL
    table = BLOSC_HEADER + 4 * f.nblocks
    if s.fd >= 0 and (table > s.n // MAX_TABLE or not has(s, 0, table)):
        return NULL
    chunk = scratch_reserve(&c.ping, nbytes)
    if chunk == NULL or blosc_range(c, s, &f, low, high, <uint8_t*>chunk + low // f.blocksize * f.blocksize) < 0:
        return NULL
    return chunk
