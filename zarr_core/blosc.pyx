"""The blosc container: 16 header bytes, one offset per block, and per block one stream, or one per byte of the item.

blosc's own decoder does not get the length of its input and reads past the end of a damaged frame. This one follows no
offset or length that it has not checked, and can decode single blocks.
"""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from zarr_core.shuffle cimport bitunshuffle_bytes, unshuffle_bytes
from zarr_core.snappy cimport snappy_decode
from zarr_core.streams cimport (
    DAMAGED,
    NO_MEMORY,
    TOO_SMALL,
    Context,
    blosclz_decode,
    inflate_decode,
    lz4_decode,
    scratch_reserve,
    zstd_decode,
)


cdef extern from "planes.h" nogil:
    void zc_join_planes(const uint8_t** planes, Py_ssize_t first, Py_ssize_t n, uint8_t* to, int width)


cdef enum:
    FORMAT = 2
    FLAG_SHUFFLE = 0x01
    FLAG_STORED = 0x02
    FLAG_BITSHUFFLE = 0x04
    FLAG_RESERVED = 0x08
    FLAG_UNSPLIT = 0x10
    BLOSCLZ = 0
    SNAPPY = 2
    ZLIB = 3
    ZSTD = 4
    MAX_STREAMS = 16        # wider items are never split
    MIN_STREAM = 128        # nor are blocks that would give shorter streams


cdef int64_t blosc_open(BloscFrame* f, const char* src, int64_t n) noexcept nogil:
    cdef const uint8_t* p = <const uint8_t*>src
    cdef int flags
    if n < BLOSC_HEADER:
        return DAMAGED
    flags = p[2]
    f.data = p
    f.typesize = p[3]
    f.nbytes = load32(p + 4)
    f.blocksize = load32(p + 8)
    f.n = load32(p + 12)
    f.nblocks = 0
    f.format = flags >> 5
    f.stored = (flags & FLAG_STORED) != 0
    f.split = (flags & FLAG_UNSPLIT) == 0
    f.shuffle = 0
    if p[0] != FORMAT or flags & FLAG_RESERVED or f.typesize == 0 or f.nbytes < 0 or f.n < BLOSC_HEADER or f.n > n:
        return DAMAGED
    if f.nbytes == 0:
        return 0
    if f.stored:
        return 0 if f.n == f.nbytes + BLOSC_HEADER else DAMAGED
    if p[1] != 1 or f.blocksize <= 0 or f.blocksize > f.nbytes:
        return DAMAGED
    f.nblocks = (f.nbytes + f.blocksize - 1) // f.blocksize
    if f.n < BLOSC_HEADER + 4 * f.nblocks:
        return DAMAGED
    if flags & FLAG_SHUFFLE and f.typesize > 1:
        f.shuffle = 1
    elif flags & FLAG_BITSHUFFLE:
        f.shuffle = 2
    return 0


cdef int64_t decode_stream(
    Context* c, int format, const uint8_t* src, int64_t n, uint8_t* dst, int64_t room,
) noexcept nogil:
    if format == BLOSC_LZ4:
        return lz4_decode(<const char*>src, n, <char*>dst, room)
    if format == ZSTD:
        return zstd_decode(c, <const char*>src, n, <char*>dst, room)
    if format == BLOSCLZ:
        return blosclz_decode(src, n, dst, room)
    if format == SNAPPY:
        return snappy_decode(src, n, dst, room)
    if format == ZLIB:
        return inflate_decode(c, 15, <const char*>src, n, <char*>dst, room)
    return DAMAGED


cdef int64_t decode_streams(
    Context* c, const BloscFrame* f, int64_t at, int64_t size, int count, uint8_t* dst, int64_t step,
    const uint8_t** places,
) noexcept nogil:
    """The streams of one block, `size` decoded bytes each, from offset `at` on; `step` bytes apart in memory.

    With ``places`` a stream that is stored as it is stays where it is; where each one lies is noted there.
    """
    cdef int64_t length, made
    cdef int k
    for k in range(count):
        if at > f.n - 4:
            return DAMAGED
        length = load32(f.data + at)
        at += 4
        if length <= 0 or length > f.n - at:
            return DAMAGED
        if places != NULL:
            places[k] = f.data + at if length == size else dst
        if length != size:
            made = decode_stream(c, f.format, f.data + at, length, dst, size)
            if made == NO_MEMORY:
                return NO_MEMORY
            if made != size:
                return DAMAGED
        elif places == NULL:
            memcpy(dst, f.data + at, size)
        at += length
        dst += step
    return 0


cdef int64_t count_streams(const BloscFrame* f, int64_t size) noexcept nogil:
    cdef int64_t count = 1
    if f.split and f.typesize <= MAX_STREAMS and size // f.typesize >= MIN_STREAM and size == f.blocksize:
        count = f.typesize
    return DAMAGED if size % count else count


cdef int64_t blosc_block_span(const BloscFrame* f, int64_t block, int64_t* begin) noexcept nogil:
    cdef int64_t other, at, end = f.n
    begin[0] = load32(f.data + BLOSC_HEADER + 4 * block)
    if begin[0] < BLOSC_HEADER + 4 * f.nblocks or begin[0] >= f.n:
        return DAMAGED
    for other in range(f.nblocks):      # several threads put blocks in no order
        at = load32(f.data + BLOSC_HEADER + 4 * other)
        if begin[0] < at < end:
            end = at
    return end


cdef int64_t find_streams(const BloscFrame* f, int64_t block, int64_t size, int64_t* count) noexcept nogil:
    cdef int64_t at = load32(f.data + BLOSC_HEADER + 4 * block)
    count[0] = count_streams(f, size)
    return DAMAGED if at < BLOSC_HEADER + 4 * f.nblocks or count[0] < 0 else at


cdef int64_t blosc_block_planes(Context* c, const BloscFrame* f, int64_t block, const uint8_t** planes) noexcept nogil:
    cdef int64_t count, size = block_size(f, block), items = size // f.typesize, code
    cdef int64_t at = find_streams(f, block, size, &count)
    cdef uint8_t* made
    cdef int k
    if at < 0:
        return at
    made = <uint8_t*>scratch_reserve(&c.block, f.blocksize)
    if made == NULL:
        return NO_MEMORY
    code = decode_streams(c, f, at, size // count, <int>count, made, size // count, planes)
    if code < 0:
        return code
    if count == 1:
        for k in range(1, f.typesize + 1):
            planes[k] = planes[0] + k * items
    return items


cdef int64_t join_block(Context* c, const BloscFrame* f, int64_t block, uint8_t* dst) noexcept nogil:
    """A block put in order from where its bytes lie."""
    cdef const uint8_t* planes[BLOSC_PLANES]
    cdef int64_t items = blosc_block_planes(c, f, block, planes), rest
    if items < 0:
        return items
    zc_join_planes(planes, 0, items, dst, f.typesize)
    rest = block_size(f, block) - items * f.typesize
    if rest:
        memcpy(dst + items * f.typesize, planes[f.typesize], rest)
    return 0


cdef int64_t decode_block(
    Context* c, const BloscFrame* f, int64_t block, int64_t size, uint8_t* dst,
) noexcept nogil:
    cdef int64_t at, code, count
    cdef uint8_t* plain = dst
    cdef bint shuffled = f.shuffle == 1 or (f.shuffle == 2 and size >= f.typesize)
    if f.shuffle == 1 and (f.typesize == 2 or f.typesize == 4 or f.typesize == 8):
        return join_block(c, f, block, dst)
    at = find_streams(f, block, size, &count)
    if at < 0:
        return at
    if shuffled:
        plain = <uint8_t*>scratch_reserve(&c.block, f.blocksize)
        if plain == NULL:
            return NO_MEMORY
    code = decode_streams(c, f, at, size // count, <int>count, plain, size // count, NULL)
    if code < 0:
        return code
    if shuffled and f.shuffle == 1:
        unshuffle_bytes(plain, dst, size, f.typesize)
    elif shuffled:
        bitunshuffle_bytes(plain, dst, size, f.typesize)
    return 0


cdef int64_t blosc_blocks(Context* c, const BloscFrame* f, int64_t first, int64_t last, char* dst) noexcept nogil:
    cdef int64_t block, size, code
    for block in range(first, last):
        size = block_size(f, block)
        code = decode_block(c, f, block, size, <uint8_t*>dst + (block - first) * f.blocksize)
        if code < 0:
            return code
    return 0


cdef int64_t block_planes(
    Context* c, const BloscFrame* f, int64_t block, int64_t size, uint8_t* dst, int64_t plane,
) noexcept nogil:
    """Decode one block of a byte-shuffled frame without unshuffling it: byte k of its items goes to dst + k * plane."""
    cdef int64_t count, items = size // f.typesize, code
    cdef int64_t at = find_streams(f, block, size, &count)
    cdef uint8_t* all_planes
    cdef int k
    if at < 0:
        return at
    if count > 1:
        return decode_streams(c, f, at, items, <int>count, dst, plane, NULL)
    all_planes = <uint8_t*>scratch_reserve(&c.block, f.blocksize)
    if all_planes == NULL:
        return NO_MEMORY
    code = decode_streams(c, f, at, size, 1, all_planes, size, NULL)
    if code < 0:
        return code
    for k in range(f.typesize):
        memcpy(dst + k * plane, all_planes + k * items, items)
    return 0


cdef int64_t blosc_planes(Context* c, const BloscFrame* f, char* dst) noexcept nogil:
    cdef int64_t block, size, code
    if f.stored or f.shuffle != 1 or f.blocksize % f.typesize or f.nbytes % f.typesize:
        return DAMAGED
    for block in range(f.nblocks):
        size = block_size(f, block)
        code = block_planes(
            c, f, block, size, <uint8_t*>dst + block * (f.blocksize // f.typesize), f.nbytes // f.typesize
        )
        if code < 0:
            return code
    return 0


cdef int64_t blosc_decode(Context* c, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil:
    cdef BloscFrame f
    cdef int64_t code = blosc_open(&f, src, n)
    if code < 0:
        return code
    if f.nbytes > room:
        return TOO_SMALL
    if f.stored:
        memcpy(dst, src + BLOSC_HEADER, f.nbytes)
        return f.nbytes
    code = blosc_blocks(c, &f, 0, f.nblocks, dst)
    return code if code < 0 else f.nbytes
