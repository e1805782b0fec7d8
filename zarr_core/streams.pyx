"""Compressed streams: one bounded call each way for zstd, gzip, zlib, lz4, and blosclz (decoding).

A context holds what is dear to make: zstd's and zlib's working memory, and scratch buffers. Making a zstd context costs
more than decoding a small chunk with it.
"""
from libc.limits cimport INT_MAX
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from zarr_core.symbols cimport api_table, has_lz4, has_zlib, has_zstd, zc_api, zc_z_stream


cdef enum:
    ZSTD_LEVEL = 100        # parameter numbers of ZSTD_CCtx_setParameter
    ZSTD_CHECKSUM = 201
    ZSTD_NO_MEMORY = 64     # codes of ZSTD_getErrorCode
    ZSTD_NO_ROOM = 70
    Z_OK = 0
    Z_STREAM_END = 1
    Z_MEM_ERROR = -4
    Z_NO_FLUSH = 0
    Z_FINISH = 4
    Z_DEFLATED = 8
    PIECE = 1 << 30         # zlib counts in 32 bits
    BLOSCLZ_NEAR = 8191     # distances up to here take 13 bits, longer ones 16 more

cdef zc_api api = api_table()[0]


# --- memory

cdef Context* context_new() noexcept nogil:
    return <Context*>calloc(1, sizeof(Context))


cdef void context_free(Context* c) noexcept nogil:
    cdef int i
    if c == NULL:
        return
    if c.zstd_d != NULL:
        api.zstd_free_dctx(c.zstd_d)
    if c.zstd_c != NULL:
        api.zstd_free_cctx(c.zstd_c)
    if c.inflate_bits:
        api.inflate_end(&c.inflate)
    if c.deflate_bits:
        api.deflate_end(&c.deflate)
    for i in range(SCRATCHES):
        free((&c.ping + i).data)
    free(c)


cdef void context_trim(Context* c) noexcept nogil:
    """Gives back what is too large to keep idle."""
    cdef Scratch* s
    cdef int i
    for i in range(SCRATCHES):
        s = &c.ping + i
        if s.capacity > SCRATCH_KEPT:
            free(s.data)
            s.data = NULL
            s.capacity = 0
    if c.zstd_c != NULL and api.zstd_sizeof_cctx(c.zstd_c) > CONTEXT_KEPT:
        api.zstd_free_cctx(c.zstd_c)
        c.zstd_c = NULL


cdef char* scratch_reserve(Scratch* s, int64_t n) noexcept nogil:
    if s.capacity < n or s.data == NULL:
        free(s.data)
        s.data = <char*>malloc(n + 64)
        s.capacity = n + 64 if s.data != NULL else 0
    return s.data


cdef char* scratch_extend(Scratch* s, int64_t used, int64_t n) noexcept nogil:
    cdef char* grown
    cdef int64_t capacity
    if used == 0:
        return scratch_reserve(s, n)
    if s.capacity < n:
        capacity = n + (n >> 1)
        grown = <char*>realloc(s.data, capacity)
        if grown == NULL:
            return NULL
        s.data = grown
        s.capacity = capacity
    return s.data


# --- zstd

cdef int64_t zstd_failure(size_t result) noexcept nogil:
    cdef int code = api.zstd_error_code(result)
    if code == ZSTD_NO_ROOM:
        return TOO_SMALL
    return NO_MEMORY if code == ZSTD_NO_MEMORY else DAMAGED


cdef int64_t zstd_decode(Context* c, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil:
    """Frames one after another, with or without declared sizes."""
    cdef size_t result
    if not has_zstd() or n <= 0:
        return DAMAGED
    if c.zstd_d == NULL:
        c.zstd_d = api.zstd_create_dctx()
        if c.zstd_d == NULL:
            return NO_MEMORY
    result = api.zstd_decompress(c.zstd_d, dst, <size_t>room, src, <size_t>n)
    if api.zstd_is_error(result):
        return zstd_failure(result)
    return <int64_t>result


cdef int64_t zstd_encode(
    Context* c, int level, bint checksum, const char* src, int64_t n, char* dst, int64_t room,
) noexcept nogil:
    cdef size_t result
    if not has_zstd():
        return DAMAGED
    if c.zstd_c == NULL:
        c.zstd_c = api.zstd_create_cctx()
        if c.zstd_c == NULL:
            return NO_MEMORY
    api.zstd_set_parameter(c.zstd_c, ZSTD_LEVEL, level)
    api.zstd_set_parameter(c.zstd_c, ZSTD_CHECKSUM, checksum)
    result = api.zstd_compress2(c.zstd_c, dst, <size_t>room, src, <size_t>n)
    if api.zstd_is_error(result):
        return zstd_failure(result)
    return <int64_t>result


cdef int64_t zstd_bound(int64_t n) noexcept nogil:
    return <int64_t>api.zstd_bound(<size_t>n)


# --- gzip and zlib

cdef int64_t start_inflate(Context* c, int bits) noexcept nogil:
    if c.inflate_bits == bits:
        api.inflate_reset(&c.inflate)
        return 0
    if c.inflate_bits:
        api.inflate_end(&c.inflate)
        c.inflate_bits = 0
    memset(&c.inflate, 0, sizeof(zc_z_stream))
    if api.inflate_init(&c.inflate, bits, api.zlib_version(), sizeof(zc_z_stream)) != Z_OK:
        return NO_MEMORY
    c.inflate_bits = bits
    return 0


cdef int64_t inflate_decode(Context* c, int bits, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil:
    """One zlib stream, or gzip members one after another with zero padding behind them."""
    cdef int64_t used = 0, made = 0, give, space
    cdef int code
    cdef unsigned char spare
    cdef zc_z_stream* s = &c.inflate
    if not has_zlib():
        return DAMAGED
    if start_inflate(c, bits) != 0:
        return NO_MEMORY
    while True:
        give = n - used if n - used < PIECE else PIECE
        space = room - made if room - made < PIECE else PIECE
        s.next_in = <const unsigned char*>src + used
        s.avail_in = <unsigned int>give
        # With the output full, one spare byte tells a stream that has ended from one that holds more.
        s.next_out = <unsigned char*>dst + made if space else &spare
        s.avail_out = <unsigned int>space if space else 1
        code = api.inflate(s, Z_NO_FLUSH)
        used += give - s.avail_in
        if space == 0 and s.avail_out == 0:
            return TOO_SMALL
        if space:
            made += space - s.avail_out
        if code == Z_STREAM_END:
            while bits == 31 and used < n and src[used] == 0:
                used += 1
            if bits != 31 or used == n:
                return made
            api.inflate_reset(s)
        elif code == Z_MEM_ERROR:
            return NO_MEMORY
        elif code != Z_OK or (give == s.avail_in and (space == 0 or space == s.avail_out)):
            return DAMAGED


cdef int64_t start_deflate(Context* c, int bits, int level) noexcept nogil:
    if c.deflate_bits == bits and c.deflate_level == level:
        api.deflate_reset(&c.deflate)
        return 0
    if c.deflate_bits:
        api.deflate_end(&c.deflate)
        c.deflate_bits = 0
    memset(&c.deflate, 0, sizeof(zc_z_stream))
    if api.deflate_init(&c.deflate, level, Z_DEFLATED, bits, 8, 0, api.zlib_version(), sizeof(zc_z_stream)) != Z_OK:
        return NO_MEMORY
    c.deflate_bits = bits
    c.deflate_level = level
    return 0


cdef int64_t deflate_encode(
    Context* c, int bits, int level, const char* src, int64_t n, char* dst, int64_t room,
) noexcept nogil:
    cdef int64_t used = 0, made = 0, give, space
    cdef int code
    cdef zc_z_stream* s = &c.deflate
    if not has_zlib():
        return DAMAGED
    if start_deflate(c, bits, level) != 0:
        return NO_MEMORY
    while True:
        give = n - used if n - used < PIECE else PIECE
        space = room - made if room - made < PIECE else PIECE
        if space == 0:
            return TOO_SMALL
        s.next_in = <const unsigned char*>src + used
        s.avail_in = <unsigned int>give
        s.next_out = <unsigned char*>dst + made
        s.avail_out = <unsigned int>space
        code = api.deflate(s, Z_FINISH if used + give == n else Z_NO_FLUSH)
        used += give - s.avail_in
        made += space - s.avail_out
        if code == Z_STREAM_END:
            return made
        if code != Z_OK:
            return DAMAGED


cdef int64_t deflate_bound(int64_t n) noexcept nogil:
    """zlib's own bound for any settings, with room for a gzip header and trailer."""
    return n + (n >> 3) + (n >> 6) + 64


# --- lz4 and blosclz

cdef int64_t lz4_decode(const char* src, int64_t n, char* dst, int64_t room) noexcept nogil:
    cdef int made
    if not has_lz4() or n <= 0 or n > INT_MAX or room > INT_MAX:
        return DAMAGED
    made = api.lz4_decompress(src, dst, <int>n, <int>room)
    return made if made >= 0 else DAMAGED


cdef int64_t lz4_prefix(const char* src, int64_t n, char* dst, int64_t room) noexcept nogil:
    """The first bytes of a block: as many as there is room for, or all."""
    cdef int made
    if not has_lz4() or n <= 0 or n > INT_MAX or room > INT_MAX:
        return DAMAGED
    made = api.lz4_decompress_partial(src, dst, <int>n, <int>room, <int>room)
    return made if made >= 0 else DAMAGED


cdef int64_t lz4_encode(int acceleration, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil:
    cdef int made
    if not has_lz4() or n > INT_MAX:
        return DAMAGED
    if room > INT_MAX:
        room = INT_MAX
    made = api.lz4_compress(src, dst, <int>n, <int>room, acceleration)
    return made if made > 0 else TOO_SMALL


cdef int64_t lz4_bound(int64_t n) noexcept nogil:
    return n + n // 255 + 16


cdef inline void copy_match(uint8_t* to, int64_t distance, int64_t length, int64_t room) noexcept nogil:
    """Repeats earlier output, which may reach into what is being written; with room to spare in whole words."""
    cdef int64_t i = 0
    if distance >= 16 and room >= length + 16:
        while i < length:
            memcpy(to + i, to + i - distance, 16)
            i += 16
    elif distance >= 8 and room >= length + 8:
        while i < length:
            memcpy(to + i, to + i - distance, 8)
            i += 8
    else:
        while i < length:
            to[i] = to[i - distance]
            i += 1


cdef int64_t blosclz_decode(const uint8_t* src, int64_t n, uint8_t* dst, int64_t room) noexcept nogil:
    """A control byte below 32 starts a run of literals; any other starts a copy of earlier output."""
    cdef int64_t used = 0, made = 0, length, distance
    cdef uint8_t control, byte
    cdef bint first = True
    while used < n:
        control = src[used]
        used += 1
        if first:
            # The first control byte always starts literals; its high bits hold something else.
            control &= 31
            first = False
        if control < 32:
            length = control + 1
            if length > n - used or length > room - made:
                return DAMAGED
            if n - used >= 32 and room - made >= 32:
                memcpy(dst + made, src + used, 32)      # a constant size costs no call
            else:
                memcpy(dst + made, src + used, length)
            used += length
            made += length
            continue
        length = (control >> 5) - 1
        distance = (<int64_t>(control & 31)) << 8
        if length == 6:
            while True:
                if used >= n:
                    return DAMAGED
                byte = src[used]
                used += 1
                length += byte
                if byte != 255:
                    break
        if used >= n:
            return DAMAGED
        byte = src[used]
        used += 1
        length += 3
        if byte == 255 and distance == 31 << 8:
            if n - used < 2:
                return DAMAGED
            distance = ((<int64_t>src[used]) << 8) + src[used + 1] + BLOSCLZ_NEAR
            used += 2
        else:
            distance += byte
        distance += 1
        if distance > made or length > room - made:
            return DAMAGED
        if distance == 1:
            memset(dst + made, dst[made - 1], length)
        else:
            copy_match(dst + made, distance, length, room - made)
        made += length
    return made
