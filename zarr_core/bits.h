/* Eight rows of bits to bytes, 256 items at a time: three rounds between the rows make each byte whole, three more put
   the bytes in order. On vectors of four words where the compiler has them, compiled once for every processor and once
   for AVX2, chosen when it runs; elsewhere zc_wide_bits() is 0 and the caller goes 64 items at a time. */
#ifndef ZARR_CORE_BITS_H
#define ZARR_CORE_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if (defined(__GNUC__) || defined(__clang__)) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

typedef uint64_t zc_words __attribute__((vector_size(32)));
#define ZC_INLINE static inline __attribute__((always_inline))

ZC_INLINE void zc_swap_parts(zc_words *a, zc_words *b, int shift, uint64_t mask) {
    zc_words t = ((*a >> shift) ^ *b) & mask;
    *b ^= t;
    *a ^= t << shift;
}

ZC_INLINE void zc_swap_round(zc_words *v, int step, int shift, uint64_t mask) {
    for (int i = 0; i < 8; i++)
        if (!(i & step)) zc_swap_parts(&v[i], &v[i + step], shift, mask);
}

ZC_INLINE void zc_bits_body(const uint8_t *src, ptrdiff_t row, uint8_t *to) {
    zc_words v[8];
    for (int k = 0; k < 8; k++) memcpy(&v[k], src + k * row, 32);
    zc_swap_round(v, 1, 1, 0x5555555555555555u);
    zc_swap_round(v, 2, 2, 0x3333333333333333u);
    zc_swap_round(v, 4, 4, 0x0f0f0f0f0f0f0f0fu);
    zc_swap_round(v, 4, 32, 0x00000000ffffffffu);
    zc_swap_round(v, 2, 16, 0x0000ffff0000ffffu);
    zc_swap_round(v, 1, 8, 0x00ff00ff00ff00ffu);
    for (int m = 0; m < 8; m++)
        for (int lane = 0; lane < 4; lane++) {
            uint64_t word = v[m][lane];
            memcpy(to + 64 * lane + 8 * m, &word, 8);
        }
}

static void zc_bits_plain(const uint8_t *src, ptrdiff_t row, uint8_t *to) { zc_bits_body(src, row, to); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void zc_bits_avx2(const uint8_t *src, ptrdiff_t row, uint8_t *to) {
    zc_bits_body(src, row, to);
}
static int zc_has_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
#define zc_bits_avx2 zc_bits_plain
static int zc_has_avx2(void) { return 0; }
#endif

static int zc_wide_bits(void) { return 1; }

#else

static int zc_wide_bits(void) { return 0; }
static int zc_has_avx2(void) { return 0; }
static void zc_bits_plain(const uint8_t *src, ptrdiff_t row, uint8_t *to) { (void)src; (void)row; (void)to; }
#define zc_bits_avx2 zc_bits_plain

#endif
#endif
