"""Raw snappy streams, for blosc frames of that kind: blosc is often built without it.

A stream is its decoded length (seven bits a byte, lowest first), then literals and copies of earlier output. The two
low bits of a tag say which: 0 literal bytes, 1 a copy of 4 to 11 bytes from less than 2048 before, 2 and 3 copies of
up to 64 bytes with a distance of two and four bytes (https://github.com/google/snappy, format_description.txt).
"""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from zarr_core.streams cimport DAMAGED, TOO_SMALL


cdef enum:
    BLOCK = 65536           # copies reach no further back when encoding: two bytes name any distance
    TABLE_BITS = 12
    LEAST_MATCH = 4
    LONGEST_COPY = 64
    SPARE = 32              # bytes that a literal's or a copy's tags take at most


cdef inline uint32_t load32(const uint8_t* p) noexcept nogil:
    return <uint32_t>p[0] | <uint32_t>p[1] << 8 | <uint32_t>p[2] << 16 | <uint32_t>p[3] << 24


cdef inline int64_t little(const uint8_t* p, int count) noexcept nogil:
    cdef int64_t number = 0
    cdef int i
    for i in range(count):
        number |= <int64_t>p[i] << (8 * i)
    return number


cdef int64_t read_length(const uint8_t* src, int64_t n, int64_t* length) noexcept nogil:
    """Read the decoded length; return how many bytes it takes, or below 0."""
    cdef int64_t used = 0
    length[0] = 0
    while used < n and used < 5:
        length[0] |= <int64_t>(src[used] & 127) << (7 * used)
        used += 1
        if src[used - 1] < 128:
            return used
    return DAMAGED


cdef int64_t snappy_decode(const uint8_t* src, int64_t n, uint8_t* dst, int64_t room) noexcept nogil:
    cdef int64_t total, length, distance, made = 0, i
    cdef int64_t used = read_length(src, n, &total)
    cdef int kind, extra
    if used < 0:
        return DAMAGED
    if total > room:
        return TOO_SMALL
    while used < n:
        kind = src[used] & 3
        length = (src[used] >> 2) + 1
        used += 1
        if kind == 0:
            extra = <int>length - 60
            if extra > 0:
                if n - used < extra:
                    return DAMAGED
                length = little(src + used, extra) + 1
                used += extra
            if length > n - used or length > total - made:
                return DAMAGED
            memcpy(dst + made, src + used, length)
            used += length
            made += length
            continue
        extra = 1 if kind == 1 else 2 if kind == 2 else 4
        if n - used < extra:
            return DAMAGED
        distance = little(src + used, extra)
        used += extra
        if kind == 1:
            distance |= (length - 1) >> 3 << 8
            length = 4 + ((length - 1) & 7)
        if distance == 0 or distance > made or length > total - made:
            return DAMAGED
        for i in range(length):         # what is copied may still be being written
            dst[made + i] = dst[made + i - distance]
        made += length
    return made if made == total else DAMAGED


cdef uint8_t* put_literal(const uint8_t* src, int64_t n, uint8_t* to) noexcept nogil:
    """At most 65536 bytes as they are."""
    if n <= 60:
        to[0] = <uint8_t>((n - 1) << 2)
        to += 1
    else:
        to[0] = 61 << 2                 # the length less one in two bytes
        to[1] = <uint8_t>((n - 1) & 255)
        to[2] = <uint8_t>((n - 1) >> 8)
        to += 3
    memcpy(to, src, n)
    return to + n


cdef uint8_t* put_copy(int64_t distance, int64_t n, uint8_t* to) noexcept nogil:
    """The next bytes of a match, as many as one tag takes."""
    to[0] = <uint8_t>(((n - 1) << 2) | 2)
    to[1] = <uint8_t>(distance & 255)
    to[2] = <uint8_t>(distance >> 8)
    return to + 3


cdef int64_t encode_block(const uint8_t* src, int64_t n, uint8_t* dst, int64_t room) noexcept nogil:
    cdef uint16_t table[1 << TABLE_BITS]
    cdef uint8_t* to = dst
    cdef int64_t at = 0, begin = 0, candidate, length, piece
    cdef uint32_t slot
    memset(table, 0, sizeof(table))
    while at + LEAST_MATCH <= n:
        slot = (load32(src + at) * <uint32_t>0x1E35A7BD) >> (32 - TABLE_BITS)
        candidate = table[slot]
        table[slot] = <uint16_t>at
        if candidate >= at or load32(src + candidate) != load32(src + at):
            at += 1 + ((at - begin) >> 5)       # what does not repeat is gone through faster and faster
            continue
        length = LEAST_MATCH
        while at + length < n and src[candidate + length] == src[at + length]:
            length += 1
        if to - dst + (at - begin) + 3 * (length // LONGEST_COPY) + SPARE > room:
            return 0
        if at > begin:
            to = put_literal(src + begin, at - begin, to)
        begin = at + length
        while length:
            piece = min(length, LONGEST_COPY)
            to = put_copy(at - candidate, piece, to)
            length -= piece
        at = begin
    if to - dst + (n - begin) + SPARE > room:
        return 0
    if n > begin:
        to = put_literal(src + begin, n - begin, to)
    return to - dst


cdef int64_t snappy_encode(const uint8_t* src, int64_t n, uint8_t* dst, int64_t room) noexcept nogil:
    cdef int64_t at = 0, rest = n, first, made
    if room < SPARE:
        return 0
    while rest >= 128:
        dst[at] = <uint8_t>(rest & 127 | 128)
        rest >>= 7
        at += 1
    dst[at] = <uint8_t>rest
    at += 1
    first = 0
    while first < n:
        made = encode_block(src + first, min(BLOCK, n - first), dst + at, room - at)
        if made == 0:
            return 0
        at += made
        first += BLOCK
    return at
