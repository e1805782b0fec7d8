/* Offsets of variable-length items, little-endian and signed, of 4 or 8 bytes, at any address. */
#ifndef ZARR_CORE_OFFSETS_H
#define ZARR_CORE_OFFSETS_H

#include <stdint.h>

static inline int64_t zc_offset(const uint8_t *p, int64_t i, int width) {
    uint64_t low, high;
    p += i * width;
    low = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    if (width == 4) return (int32_t)(uint32_t)low;
    high = (uint32_t)p[4] | (uint32_t)p[5] << 8 | (uint32_t)p[6] << 16 | (uint32_t)p[7] << 24;
    return (int64_t)(high << 32 | low);
}

static inline void zc_store_offset(uint8_t *p, int64_t i, int width, int64_t value) {
    uint64_t v = (uint64_t)value;
    int k;
    p += i * width;
    for (k = 0; k < 4; k++) p[k] = (uint8_t)(v >> 8 * k);
    if (width == 8) for (k = 4; k < 8; k++) p[k] = (uint8_t)(v >> 8 * k);
}

/* The first of n offsets that is below its predecessor (the first: not 0) or above the limit, or -1. */
static inline int64_t zc_bad_offset(const uint8_t *p, int64_t n, int width, int64_t limit) {
    int64_t i, value, before = 0;
    for (i = 0; i < n; i++) {
        value = zc_offset(p, i, width);
        if (value < before || value > limit || (i == 0 && value != 0)) return i;
        before = value;
    }
    return -1;
}

/* The first of n good offsets that lies inside a character of valid UTF-8, or -1. */
static inline int64_t zc_split_character(const uint8_t *p, int64_t n, int width, const uint8_t *data, int64_t size) {
    int64_t i, at;
    for (i = 0; i < n; i++) {
        at = zc_offset(p, i, width);
        if (at < size && (data[at] & 0xc0) == 0x80) return i;
    }
    return -1;
}

#endif
