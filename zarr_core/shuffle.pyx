"""Kernels that rearrange bytes: blosc's byte and bit shuffle, differences of neighbours. They trust their arguments.

Widths are dispatched outside the loops: with a constant width the compiler vectorises them, several times faster than
the general loop.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove

from zarr_core.words cimport (
    little8,
    load2,
    load4,
    load8,
    load_double,
    load_float,
    store2,
    store4,
    store8,
    store_double,
    store_float,
)

cdef extern from "bits.h" nogil:
    int zc_wide_bits()
    int zc_has_avx2()
    void zc_bits_avx2(const uint8_t* src, Py_ssize_t row, uint8_t* to)
    void zc_bits_plain(const uint8_t* src, Py_ssize_t row, uint8_t* to)


cdef enum:
    TILE_WIDTH = 16     # bytes of an item that the bit kernels take at a time


cdef inline void shuffle_width(const uint8_t* src, uint8_t* dst, Py_ssize_t n, Py_ssize_t w) noexcept nogil:
    cdef Py_ssize_t i, b
    for i in range(n):
        for b in range(w):
            dst[b * n + i] = src[i * w + b]


cdef inline void unshuffle_width(const uint8_t* src, uint8_t* dst, Py_ssize_t n, Py_ssize_t w) noexcept nogil:
    cdef Py_ssize_t i, b
    for i in range(n):
        for b in range(w):
            dst[i * w + b] = src[b * n + i]


cdef inline uint64_t transpose_bits(uint64_t x) noexcept nogil:
    """Transpose an 8 x 8 bit matrix whose rows are the bytes of a word (Hacker's Delight, 7-3)."""
    cdef uint64_t t
    t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AAu
    x = x ^ t ^ (t << 7)
    t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCCu
    x = x ^ t ^ (t << 14)
    t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0u
    return x ^ t ^ (t << 28)


cdef inline void swap_blocks(uint64_t* a, uint64_t* b, int shift, uint64_t mask) noexcept nogil:
    cdef uint64_t t = ((a[0] >> shift) ^ b[0]) & mask
    b[0] ^= t
    a[0] ^= t << shift


cdef inline void transpose_bytes(uint64_t* words) noexcept nogil:
    """Transpose an 8 x 8 byte matrix whose rows are words."""
    cdef int i
    for i in range(4):
        swap_blocks(&words[i], &words[i + 4], 32, 0x00000000FFFFFFFFu)
    for i in range(2):
        swap_blocks(&words[i], &words[i + 2], 16, 0x0000FFFF0000FFFFu)
        swap_blocks(&words[i + 4], &words[i + 6], 16, 0x0000FFFF0000FFFFu)
    for i in range(4):
        swap_blocks(&words[2 * i], &words[2 * i + 1], 8, 0x00FF00FF00FF00FFu)


cdef void shuffle_narrow(const uint8_t* src, uint8_t* dst, Py_ssize_t n, Py_ssize_t w) noexcept nogil:
    if w == 1:
        memcpy(dst, src, n)
    elif w == 2:
        shuffle_width(src, dst, n, 2)
    elif w == 4:
        shuffle_width(src, dst, n, 4)
    else:
        shuffle_width(src, dst, n, w)


cdef void unshuffle_narrow(const uint8_t* src, uint8_t* dst, Py_ssize_t n, Py_ssize_t w) noexcept nogil:
    if w == 1:
        memcpy(dst, src, n)
    elif w == 2:
        unshuffle_width(src, dst, n, 2)
    elif w == 4:
        unshuffle_width(src, dst, n, 4)
    elif w == 8:
        unshuffle_width(src, dst, n, 8)
    else:
        unshuffle_width(src, dst, n, w)


cdef void shuffle_wide(const uint8_t* src, uint8_t* dst, Py_ssize_t n, Py_ssize_t w) noexcept nogil:
    """Eight items by eight bytes at a time, a cache line of each plane before the next planes."""
    cdef uint64_t words[8]
    cdef Py_ssize_t i, b, k, tile, done = n - n % 64
    for tile in range(0, done, 64):
        for b in range(0, w - 7, 8):
            for i in range(tile, tile + 64, 8):
                for k in range(8):
                    words[k] = little8(load8(src + (i + k) * w + b))
                transpose_bytes(words)
                for k in range(8):
                    store8(dst + (b + k) * n + i, little8(words[k]))
        for b in range(w - w % 8, w):
            for i in range(tile, tile + 64):
                dst[b * n + i] = src[i * w + b]
    for i in range(done, n):
        for b in range(w):
            dst[b * n + i] = src[i * w + b]


cdef void unshuffle_wide(const uint8_t* src, uint8_t* dst, Py_ssize_t n, Py_ssize_t w) noexcept nogil:
    cdef uint64_t words[8]
    cdef Py_ssize_t i, b, k, tile, done = n - n % 64
    for tile in range(0, done, 64):
        for b in range(0, w - 7, 8):
            for i in range(tile, tile + 64, 8):
                for k in range(8):
                    words[k] = little8(load8(src + (b + k) * n + i))
                transpose_bytes(words)
                for k in range(8):
                    store8(dst + (i + k) * w + b, little8(words[k]))
        for b in range(w - w % 8, w):
            for i in range(tile, tile + 64):
                dst[i * w + b] = src[b * n + i]
    for i in range(done, n):
        for b in range(w):
            dst[i * w + b] = src[b * n + i]


cdef void shuffle_bytes(const uint8_t* src, uint8_t* dst, Py_ssize_t nbytes, Py_ssize_t itemsize) noexcept nogil:
    cdef Py_ssize_t n = nbytes // itemsize
    if itemsize >= 8:
        shuffle_wide(src, dst, n, itemsize)
    else:
        shuffle_narrow(src, dst, n, itemsize)
    memcpy(dst + n * itemsize, src + n * itemsize, nbytes - n * itemsize)


cdef void unshuffle_bytes(const uint8_t* src, uint8_t* dst, Py_ssize_t nbytes, Py_ssize_t itemsize) noexcept nogil:
    cdef Py_ssize_t n = nbytes // itemsize
    if itemsize > 8:
        unshuffle_wide(src, dst, n, itemsize)
    else:
        unshuffle_narrow(src, dst, n, itemsize)
    memcpy(dst + n * itemsize, src + n * itemsize, nbytes - n * itemsize)


cdef inline void bits_apart(const uint8_t* bytes, uint8_t* dst, Py_ssize_t row) noexcept nogil:
    """One byte of 64 items to 8 rows of 64 bits."""
    cdef uint64_t words[8]
    cdef int k
    for k in range(8):
        words[k] = transpose_bits(little8(load8(bytes + 8 * k)))
    transpose_bytes(words)
    for k in range(8):
        store8(dst + k * row, little8(words[k]))


cdef inline void bits_together(const uint8_t* src, Py_ssize_t row, uint8_t* bytes) noexcept nogil:
    """Undo bits_apart."""
    cdef uint64_t words[8]
    cdef int k
    for k in range(8):
        words[k] = little8(load8(src + k * row))
    transpose_bytes(words)
    for k in range(8):
        store8(bytes + 8 * k, little8(transpose_bits(words[k])))


cdef void bitshuffle_bytes(const uint8_t* src, uint8_t* dst, Py_ssize_t nbytes, Py_ssize_t itemsize) noexcept nogil:
    """Sixty-four items at a time: byte planes into a small tile, then each plane's bits apart."""
    cdef uint8_t tile[64 * TILE_WIDTH]
    cdef Py_ssize_t n = nbytes // itemsize, row = n // 8, i, b, width
    cdef uint64_t x
    cdef int k
    if n % 8:
        memcpy(dst, src, nbytes)
        return
    for i in range(0, n - 63, 64):
        b = 0
        while b < itemsize:
            width = min(itemsize - b, TILE_WIDTH)
            if width == itemsize:
                shuffle_bytes(src + i * itemsize, tile, 64 * width, width)
            else:
                for k in range(64 * <int> width):
                    tile[k] = src[(i + k % 64) * itemsize + b + k // 64]
            for k in range(<int> width):
                bits_apart(tile + 64 * k, dst + (b + k) * 8 * row + i // 8, row)
            b += width
    for i in range(n - n % 64, n, 8):
        for b in range(itemsize):
            x = 0
            for k in range(8):
                x |= <uint64_t> src[(i + k) * itemsize + b] << (8 * k)
            x = transpose_bits(x)
            for k in range(8):
                dst[(b * 8 + k) * row + i // 8] = <uint8_t> (x >> (8 * k))
    memcpy(dst + n * itemsize, src + n * itemsize, nbytes - n * itemsize)


cdef Py_ssize_t bitunshuffle_wide(
    const uint8_t* src, uint8_t* dst, Py_ssize_t n, Py_ssize_t itemsize,
) noexcept nogil:
    """256 items at a time; how many items were done."""
    cdef uint8_t tile[256 * TILE_WIDTH]
    cdef Py_ssize_t row = n // 8, done = n - n % 256, i, k
    cdef bint avx2 = zc_has_avx2()
    if itemsize > TILE_WIDTH or not zc_wide_bits():
        return 0
    for i in range(0, done, 256):
        for k in range(itemsize):
            if avx2:
                zc_bits_avx2(src + k * 8 * row + i // 8, row, tile + 256 * k)
            else:
                zc_bits_plain(src + k * 8 * row + i // 8, row, tile + 256 * k)
        unshuffle_bytes(tile, dst + i * itemsize, 256 * itemsize, itemsize)
    return done


cdef void bitunshuffle_bytes(const uint8_t* src, uint8_t* dst, Py_ssize_t nbytes, Py_ssize_t itemsize) noexcept nogil:
    cdef uint8_t tile[64 * TILE_WIDTH]
    cdef Py_ssize_t n = nbytes // itemsize, row = n // 8, i, b, width
    cdef uint64_t x
    cdef int k
    if n % 8:
        memcpy(dst, src, nbytes)
        return
    for i in range(bitunshuffle_wide(src, dst, n, itemsize), n - 63, 64):
        b = 0
        while b < itemsize:
            width = min(itemsize - b, TILE_WIDTH)
            for k in range(<int> width):
                bits_together(src + (b + k) * 8 * row + i // 8, row, tile + 64 * k)
            if width == itemsize:
                unshuffle_bytes(tile, dst + i * itemsize, 64 * width, width)
            else:
                for k in range(64 * <int> width):
                    dst[(i + k % 64) * itemsize + b + k // 64] = tile[k]
            b += width
    for i in range(n - n % 64, n, 8):
        for b in range(itemsize):
            x = 0
            for k in range(8):
                x |= <uint64_t> src[(b * 8 + k) * row + i // 8] << (8 * k)
            x = transpose_bits(x)
            for k in range(8):
                dst[(i + k) * itemsize + b] = <uint8_t> (x >> (8 * k))
    memcpy(dst + n * itemsize, src + n * itemsize, nbytes - n * itemsize)


cdef void delta_encode_bytes(const uint8_t* src, uint8_t* dst, Py_ssize_t n, int width, char kind) noexcept nogil:
    """From the last item to the first, so that src may be dst."""
    cdef Py_ssize_t i
    if n == 0:
        return
    if kind == c"f" and width == 4:
        for i in range(n - 1, 0, -1):
            store_float(dst + 4 * i, load_float(src + 4 * i) - load_float(src + 4 * i - 4))
    elif kind == c"f":
        for i in range(n - 1, 0, -1):
            store_double(dst + 8 * i, load_double(src + 8 * i) - load_double(src + 8 * i - 8))
    elif width == 1:
        for i in range(n - 1, 0, -1):
            dst[i] = src[i] - src[i - 1]
    elif width == 2:
        for i in range(n - 1, 0, -1):
            store2(dst + 2 * i, load2(src + 2 * i) - load2(src + 2 * i - 2))
    elif width == 4:
        for i in range(n - 1, 0, -1):
            store4(dst + 4 * i, load4(src + 4 * i) - load4(src + 4 * i - 4))
    else:
        for i in range(n - 1, 0, -1):
            store8(dst + 8 * i, load8(src + 8 * i) - load8(src + 8 * i - 8))
    memmove(dst, src, width)


cdef void delta_decode_bytes(const uint8_t* src, uint8_t* dst, Py_ssize_t n, int width, char kind) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint64_t total = 0
    cdef float single
    cdef double double_total
    if n == 0:
        return
    if kind == c"f" and width == 4:
        single = load_float(src)
        store_float(dst, single)
        for i in range(1, n):
            single += load_float(src + 4 * i)
            store_float(dst + 4 * i, single)
    elif kind == c"f":
        double_total = load_double(src)
        store_double(dst, double_total)
        for i in range(1, n):
            double_total += load_double(src + 8 * i)
            store_double(dst + 8 * i, double_total)
    elif width == 1:
        for i in range(n):
            total += src[i]
            dst[i] = <uint8_t> total
    elif width == 2:
        for i in range(n):
            total += load2(src + 2 * i)
            store2(dst + 2 * i, <uint16_t> total)
    elif width == 4:
        for i in range(n):
            total += load4(src + 4 * i)
            store4(dst + 4 * i, <uint32_t> total)
    else:
        for i in range(n):
            total += load8(src + 8 * i)
            store8(dst + 8 * i, total)
