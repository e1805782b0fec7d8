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

static uint32_t zc_crc_table[8][256];

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

#if defined(ZC_CRC_X86)
__attribute__((target("sse4.2"))) static uint32_t zc_crc32c_hardware(uint32_t crc, const uint8_t *p, size_t n) {
    uint64_t state = (uint32_t)~crc, word;
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&word, p, 8);
        state = _mm_crc32_u64(state, word);
    }
    for (; n; n--) state = _mm_crc32_u8((uint32_t)state, *p++);
    return ~(uint32_t)state;
}
#elif defined(ZC_CRC_ARM)
static uint32_t zc_crc32c_hardware(uint32_t crc, const uint8_t *p, size_t n) {
    uint64_t word;
    crc = ~crc;
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&word, p, 8);
        crc = __crc32cd(crc, word);
    }
    for (; n; n--) crc = __crc32cb(crc, *p++);
    return ~crc;
}
#endif

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
#if defined(ZC_CRC_X86)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.2")) return zc_crc32c_hardware;
#elif defined(ZC_CRC_ARM)
    return zc_crc32c_hardware;
#endif
    return zc_crc32c_table;
}

#endif
