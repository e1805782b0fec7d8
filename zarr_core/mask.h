/* A mask as bits: element i is bit i % 64 of word i / 64, and a word of nothing follows, so that any 64 can be read. */
#ifndef ZARR_CORE_MASK_H
#define ZARR_CORE_MASK_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(_MSC_VER)
#include <intrin.h>
#endif

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>

/* Bits of 64 bytes, any but zero being true. */
static inline uint64_t zc_mask_word(const uint8_t *bytes) {
    uint64_t word = 0;
    for (int k = 0; k < 4; k++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(bytes + 16 * k));
        word |= (uint64_t)(uint16_t)~_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128())) << (16 * k);
    }
    return word;
}
#else
static inline uint64_t zc_mask_word(const uint8_t *bytes) {
    uint64_t word = 0;
    for (int k = 0; k < 64; k++) word |= (uint64_t)(bytes[k] != 0) << k;
    return word;
}
#endif

/* Memory for a mask. The kernel gives large pages for a large one: a small one at a time, they take longer than the bits. */
static inline uint64_t *zc_mask_new(size_t nbytes) {
    void *memory = malloc(nbytes);
#if defined(MADV_HUGEPAGE)
    if (memory != NULL && nbytes >= (size_t)4 << 20) {
        uintptr_t first = ((uintptr_t)memory + 4095) & ~(uintptr_t)4095;
        madvise((void *)first, nbytes - (first - (uintptr_t)memory), MADV_HUGEPAGE);
    }
#endif
    return (uint64_t *)memory;
}

static inline void zc_mask_pack(const uint8_t *bytes, int64_t size, uint64_t *words) {
    uint8_t rest[64] = {0};
    int64_t k = 0;
    for (; k < size / 64; k++) words[k] = zc_mask_word(bytes + 64 * k);
    memcpy(rest, bytes + 64 * k, (size_t)(size % 64));
    words[k] = zc_mask_word(rest);
    words[k + 1] = 0;
}

/* The next 64 elements from one on, or the next n of them. */
static inline uint64_t zc_mask_read(const uint64_t *words, int64_t at, int64_t n) {
    int shift = (int)(at & 63);
    uint64_t word = words[at >> 6] >> shift;
    if (shift) word |= words[(at >> 6) + 1] << (64 - shift);
    return n < 64 ? word & (((uint64_t)1 << n) - 1) : word;
}

/* Where the lowest and the highest bit stand of a word that is not zero. */
#if defined(_MSC_VER)
static inline int zc_mask_lowest(uint64_t word) {
    unsigned long place;
    _BitScanForward64(&place, word);
    return (int)place;
}
static inline int zc_mask_highest(uint64_t word) {
    unsigned long place;
    _BitScanReverse64(&place, word);
    return (int)place;
}
#else
static inline int zc_mask_lowest(uint64_t word) { return __builtin_ctzll(word); }
static inline int zc_mask_highest(uint64_t word) { return 63 - __builtin_clzll(word); }
#endif

/* How many bits are set (Hacker's Delight, second edition, section 5-1). */
static inline int64_t zc_mask_bits(uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int64_t)((word * 0x0101010101010101u) >> 56);
}

static inline int64_t zc_mask_count(const uint64_t *words, int64_t at, int64_t n) {
    int64_t total = 0;
    /* No test for words of nothing: where half of them are, the processor guesses wrongly, and that takes longer. */
    for (; n > 0; at += 64, n -= 64) total += zc_mask_bits(zc_mask_read(words, at, n));
    return total;
}

#endif
