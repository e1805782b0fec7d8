"""Write blosc frames with the same bytes as blosc.

blosc allocates a compressor's working memory for every stream of a frame, which costs more than compressing a short
stream with zstd or zlib. Here the context keeps it from stream to stream and from chunk to chunk. blosc itself divides
a frame (into blocks, and into streams): it writes the first frame of a kind, and the fields of its header are kept.
Frames of snappy, which most builds of blosc do not have, are divided like those of blosclz.
"""
from libc.limits cimport INT_MAX
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from zarr_core.shuffle cimport bitshuffle_bytes, shuffle_bytes
from zarr_core.snappy cimport snappy_encode
from zarr_core.streams cimport DAMAGED, NO_MEMORY, BloscKind, Context, deflate_encode, scratch_reserve, zstd_encode
from zarr_core.symbols cimport api_table, has_blosc, has_zlib, has_zstd


cdef enum:
    HEADER = 16             # of a frame; one that is stored as it came is as much longer than its data
    FLAG_SHUFFLE = 0x01
    FLAG_STORED = 0x02
    FLAG_BITSHUFFLE = 0x04
    FLAG_UNSPLIT = 0x10
    SNAPPY = 2
    ZLIB = 3
    ZSTD = 4
    ZLIB_BITS = 15
    ZSTD_MOST = 22
    LEAST = 128             # what is shorter blosc never compresses


cdef inline void store32(uint8_t* to, int64_t value) noexcept nogil:
    cdef int i
    for i in range(4):
        to[i] = <uint8_t>((value >> (8 * i)) & 255)


cdef inline int64_t load32(const uint8_t* p) noexcept nogil:
    return <int64_t>p[0] | <int64_t>p[1] << 8 | <int64_t>p[2] << 16 | <int64_t>p[3] << 24


cdef bint is_known(const BloscKind* k, const BloscKind* wanted) noexcept nogil:
    return (
        k.nbytes == wanted.nbytes and k.format == wanted.format and k.clevel == wanted.clevel
        and k.shuffle == wanted.shuffle and k.typesize == wanted.typesize and k.forced == wanted.forced
    )


cdef void remember(BloscKind* k, const BloscKind* wanted, const uint8_t* frame) noexcept nogil:
    """Keep how blosc divided a frame; for an uncompressed frame, how it would have divided it."""
    k[0] = wanted[0]
    memcpy(k.header, frame, HEADER)
    k.header[2] &= 255 - FLAG_STORED
    if k.format == SNAPPY:
        k.header[2] = (k.header[2] & 31) | SNAPPY << 5
    k.split = (k.header[2] & FLAG_UNSPLIT) == 0
    k.width = k.header[3]
    k.blocksize = load32(k.header + 8)
    k.filter = 0
    if k.header[2] & FLAG_SHUFFLE and k.width > 1:
        k.filter = 1
    elif k.header[2] & FLAG_BITSHUFFLE:
        k.filter = 2
    if k.blocksize <= 0 or k.width == 0:
        k.nbytes = 0


cdef int64_t compress(
    Context* c, const BloscKind* k, const uint8_t* src, int64_t n, uint8_t* dst, int64_t room,
) noexcept nogil:
    """One stream, by the level that blosc takes for its own; below 0 where it does not fit."""
    cdef int level = k.clevel
    if k.format == SNAPPY:
        return snappy_encode(src, n, dst, room)
    if k.format == ZLIB:
        return deflate_encode(c, ZLIB_BITS, level, <const char*>src, n, <char*>dst, room)
    return zstd_encode(c, 2 * level - 1 if level < 9 else ZSTD_MOST, False, <const char*>src, n, <char*>dst, room)


cdef const uint8_t* filtered(Context* c, const BloscKind* k, const uint8_t* src, int64_t n) noexcept nogil:
    """Compress one block."""
    cdef uint8_t* block
    if k.filter == 0 or (k.filter == 2 and n < k.width):
        return src
    block = <uint8_t*>scratch_reserve(&c.block, k.blocksize)
    if block == NULL:
        return NULL
    if k.filter == 1:
        shuffle_bytes(src, block, n, k.width)
    else:
        bitshuffle_bytes(src, block, n, k.width)
    return block


cdef int64_t write_block(
    Context* c, const BloscKind* k, const uint8_t* src, int64_t n, uint8_t* dst, int64_t at, int64_t room,
) noexcept nogil:
    """Write one block from offset `at` of the frame on; return the offset after it, or 0 if it does not fit."""
    cdef const uint8_t* block = filtered(c, k, src, n)
    cdef int64_t streams = k.width if k.split and n == k.blocksize else 1
    cdef int64_t size = n // streams, made, i
    if block == NULL:
        return NO_MEMORY
    for i in range(streams):
        at += 4
        if at >= room:
            return 0
        made = compress(c, k, block + i * size, size, dst + at, min(size, room - at))
        if made == NO_MEMORY:
            return NO_MEMORY
        if made <= 0 or made >= size:
            if size > room - at:
                return 0
            memcpy(dst + at, block + i * size, size)
            made = size
        store32(dst + at - 4, made)
        at += made
    return at


cdef int64_t write_blocks(
    Context* c, const BloscKind* k, const uint8_t* src, uint8_t* dst, int64_t room,
) noexcept nogil:
    """Write a frame without its header; return its size, or 0 if compression does not make it smaller."""
    cdef int64_t count = (k.nbytes + k.blocksize - 1) // k.blocksize, at = HEADER + 4 * count, block, size
    if at > room:
        return 0
    for block in range(count):
        store32(dst + HEADER + 4 * block, at)
        size = min(k.blocksize, k.nbytes - block * k.blocksize)
        at = write_block(c, k, src + block * k.blocksize, size, dst, at, room)
        if at <= 0:
            return at
    return at


cdef int64_t write_frame(Context* c, const BloscKind* k, const uint8_t* src, uint8_t* dst, int64_t room) noexcept nogil:
    cdef int64_t made = write_blocks(c, k, src, dst, room)
    if made < 0:
        return made
    memcpy(dst, k.header, HEADER)
    if made == 0:
        memcpy(dst + HEADER, src, k.nbytes)
        dst[2] |= FLAG_STORED
        made = k.nbytes + HEADER
    store32(dst + 12, made)
    return made


cdef int64_t blosc_encode(
    Context* c, int clevel, int shuffle, int typesize, int blocksize, const char* cname, int format,
    const char* src, int64_t n, char* dst, int64_t room,
) noexcept nogil:
    cdef BloscKind wanted
    cdef int made
    cdef bint ours = clevel > 0 and n >= LEAST and room >= n + HEADER
    if not has_blosc() or n > INT_MAX - HEADER:
        return DAMAGED
    ours = ours and (format == SNAPPY or (format == ZSTD and has_zstd()) or (format == ZLIB and has_zlib()))
    if format == SNAPPY:
        cname = "blosclz"
    if ours:
        wanted.nbytes, wanted.format, wanted.clevel = n, format, clevel
        wanted.shuffle, wanted.typesize, wanted.forced = shuffle, typesize, blocksize
        if is_known(&c.kind, &wanted):
            return write_frame(c, &c.kind, <const uint8_t*>src, <uint8_t*>dst, room)
    made = api_table().blosc_compress(clevel, shuffle, typesize, n, src, dst, room, cname, blocksize, 1)
    if ours and made > HEADER:
        remember(&c.kind, &wanted, <const uint8_t*>dst)
        if format == SNAPPY and is_known(&c.kind, &wanted):
            return write_frame(c, &c.kind, <const uint8_t*>src, <uint8_t*>dst, room)
    return made if made > 0 else DAMAGED
