/* CRC-32C (Castagnoli): slicing by eight, or the processor's own instruction where it has one. */
#ifndef ZARR_CORE_CRC32C_H
#define ZARR_CORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if (defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)))
#define ZC_CRC_X86 1
#include <nmmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#define ZC_CRC_ARM 1
#include <arm_acle.h>
#endif

typedef uint32_t (*zc_crc32c_function)(uint32_t, const uint8_t *, size_t);

enum { ZC_CRC_LANE = 1024 };

static uint32_t zc_crc_table[8][256];
static uint32_t zc_crc_lane[4][256]; /* what each byte of a state becomes by a lane of zeros */

static uint32_t zc_load32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t zc_crc32c_table(uint32_t crc, const uint8_t *p, size_t n) {
    crc = ~crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t low = crc ^ zc_load32(p), high = zc_load32(p + 4);
        crc = zc_crc_table[7][low & 255] ^ zc_crc_table[6][(low >> 8) & 255] ^
              zc_crc_table[5][(low >> 16) & 255] ^ zc_crc_table[4][low >> 24] ^
              zc_crc_table[3][high & 255] ^ zc_crc_table[2][(high >> 8) & 255] ^
              zc_crc_table[1][(high >> 16) & 255] ^ zc_crc_table[0][high >> 24];
    }
    for (; n; n--) crc = zc_crc_table[0][(crc ^ *p++) & 255] ^ (crc >> 8);
    return ~crc;
}

/* The instruction takes three cycles and can be begun in each: three lanes side by side, whose states are put together. */
static uint32_t zc_crc_past_lane(uint32_t state) {
    return zc_crc_lane[0][state & 255] ^ zc_crc_lane[1][(state >> 8) & 255] ^ zc_crc_lane[2][(state >> 16) & 255] ^
           zc_crc_lane[3][state >> 24];
}

static uint64_t zc_load64(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, 8);
    return word;
}

#if defined(ZC_CRC_X86)
#define ZC_CRC_TARGET __attribute__((target("sse4.2")))
#define ZC_CRC_WORD(state, word) ((uint32_t)_mm_crc32_u64(state, word))
#define ZC_CRC_BYTE(state, byte) _mm_crc32_u8(state, byte)
#elif defined(ZC_CRC_ARM)
#define ZC_CRC_TARGET
#define ZC_CRC_WORD(state, word) __crc32cd(state, word)
#define ZC_CRC_BYTE(state, byte) __crc32cb(state, byte)
#endif

#if defined(ZC_CRC_TARGET)
ZC_CRC_TARGET static uint32_t zc_crc32c_hardware(uint32_t crc, const uint8_t *p, size_t n) {
    uint32_t state = ~crc;
    for (; n >= 3 * ZC_CRC_LANE; n -= 3 * ZC_CRC_LANE, p += 3 * ZC_CRC_LANE) {
        uint32_t second = 0, third = 0;
        for (int i = 0; i < ZC_CRC_LANE; i += 8) {
            state = ZC_CRC_WORD(state, zc_load64(p + i));
            second = ZC_CRC_WORD(second, zc_load64(p + ZC_CRC_LANE + i));
            third = ZC_CRC_WORD(third, zc_load64(p + 2 * ZC_CRC_LANE + i));
        }
        state = zc_crc_past_lane(zc_crc_past_lane(state) ^ second) ^ third;
    }
    for (; n >= 8; n -= 8, p += 8) state = ZC_CRC_WORD(state, zc_load64(p));
    for (; n; n--) state = ZC_CRC_BYTE(state, *p++);
    return ~state;
}
#endif

/* By linearity: a byte's state is made of those of its bits. */
static void zc_crc_fill_lane(void) {
    uint32_t bit, i, k, n, state, made[4][256];
    memset(made, 0, sizeof made);
    for (bit = 0; bit < 32; bit++) {
        state = 1u << bit;
        for (n = 0; n < ZC_CRC_LANE; n++) state = zc_crc_table[0][state & 255] ^ (state >> 8);
        for (k = bit / 8, i = 0; i < 256; i++)
            if (i >> (bit % 8) & 1) made[k][i] ^= state;
    }
    memcpy(zc_crc_lane, made, sizeof made);
}

/* Fills the tables and returns the fastest function this processor has; called once, at import. */
static zc_crc32c_function zc_crc32c_init(void) {
    uint32_t i, k, crc;
    for (i = 0; i < 256; i++) {
        crc = i;
        for (k = 0; k < 8; k++) crc = (crc >> 1) ^ ((crc & 1) ? 0x82f63b78u : 0);
        zc_crc_table[0][i] = crc;
    }
    for (i = 0; i < 256; i++)
        for (k = 1; k < 8; k++)
            zc_crc_table[k][i] = zc_crc_table[0][zc_crc_table[k - 1][i] & 255] ^ (zc_crc_table[k - 1][i] >> 8);
    zc_crc_fill_lane();
#if defined(ZC_CRC_X86)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.2")) return zc_crc32c_hardware;
#elif defined(ZC_CRC_ARM)
    return zc_crc32c_hardware;
#endif
    return zc_crc32c_table;
}

#endif
