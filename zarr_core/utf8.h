/* UTF-8: is it valid, and UCS-4 into it. */
#ifndef ZARR_CORE_UTF8_H
#define ZARR_CORE_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 1 where the bytes are well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
static int zc_utf8_valid(const uint8_t *p, size_t n) {
    const uint8_t *end = p + n;
    uint64_t word;
    while (p < end) {
        uint8_t lead;
        if (end - p >= 8) {
            memcpy(&word, p, 8);
            if (!(word & 0x8080808080808080ull)) { p += 8; continue; }
        }
        lead = *p;
        if (lead < 0x80) { p++; continue; }
        if (lead < 0xc2 || lead > 0xf4) return 0;
        if (lead < 0xe0) {
            if (end - p < 2 || (p[1] & 0xc0) != 0x80) return 0;
            p += 2;
        } else if (lead < 0xf0) {
            if (end - p < 3 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80) return 0;
            if ((lead == 0xe0 && p[1] < 0xa0) || (lead == 0xed && p[1] > 0x9f)) return 0;
            p += 3;
        } else {
            if (end - p < 4 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80 || (p[3] & 0xc0) != 0x80) return 0;
            if ((lead == 0xf0 && p[1] < 0x90) || (lead == 0xf4 && p[1] > 0x8f)) return 0;
            p += 4;
        }
    }
    return 1;
}

/* Bytes of the UTF-8 form of a NUL-padded UCS-4 item, or -1 where it holds something that is no character. */
static int64_t zc_ucs4_size(const uint32_t *p, size_t n) {
    int64_t size = 0;
    size_t i;
    while (n && p[n - 1] == 0) n--;
    for (i = 0; i < n; i++) {
        uint32_t c = p[i];
        if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return -1;
        size += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    }
    return size;
}

static uint8_t *zc_ucs4_write(const uint32_t *p, size_t n, uint8_t *to) {
    size_t i;
    while (n && p[n - 1] == 0) n--;
    for (i = 0; i < n; i++) {
        uint32_t c = p[i];
        if (c < 0x80) *to++ = (uint8_t)c;
        else if (c < 0x800) { *to++ = 0xc0 | c >> 6; *to++ = 0x80 | (c & 63); }
        else if (c < 0x10000) { *to++ = 0xe0 | c >> 12; *to++ = 0x80 | ((c >> 6) & 63); *to++ = 0x80 | (c & 63); }
        else {
            *to++ = 0xf0 | c >> 18;
            *to++ = 0x80 | ((c >> 12) & 63);
            *to++ = 0x80 | ((c >> 6) & 63);
            *to++ = 0x80 | (c & 63);
        }
    }
    return to;
}

#endif
