/* Bytes of items that lie apart, byte k of all items at planes[k], put together. Constant widths, and pointers that do
   not overlap, let the compiler interleave whole vectors. */
#ifndef ZARR_CORE_PLANES_H
#define ZARR_CORE_PLANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static void zc_join_2(const uint8_t *__restrict a, const uint8_t *__restrict b, ptrdiff_t n, uint8_t *__restrict to) {
    for (ptrdiff_t i = 0; i < n; i++) {
        to[2 * i] = a[i];
        to[2 * i + 1] = b[i];
    }
}

static void zc_join_4(const uint8_t *__restrict a, const uint8_t *__restrict b, const uint8_t *__restrict c,
                      const uint8_t *__restrict d, ptrdiff_t n, uint8_t *__restrict to) {
    for (ptrdiff_t i = 0; i < n; i++) {
        to[4 * i] = a[i];
        to[4 * i + 1] = b[i];
        to[4 * i + 2] = c[i];
        to[4 * i + 3] = d[i];
    }
}

static void zc_join_8(const uint8_t *const *planes, ptrdiff_t first, ptrdiff_t n, uint8_t *__restrict to) {
    const uint8_t *__restrict a = planes[0] + first, *__restrict b = planes[1] + first;
    const uint8_t *__restrict c = planes[2] + first, *__restrict d = planes[3] + first;
    const uint8_t *__restrict e = planes[4] + first, *__restrict f = planes[5] + first;
    const uint8_t *__restrict g = planes[6] + first, *__restrict h = planes[7] + first;
    for (ptrdiff_t i = 0; i < n; i++) {
        to[8 * i] = a[i];
        to[8 * i + 1] = b[i];
        to[8 * i + 2] = c[i];
        to[8 * i + 3] = d[i];
        to[8 * i + 4] = e[i];
        to[8 * i + 5] = f[i];
        to[8 * i + 6] = g[i];
        to[8 * i + 7] = h[i];
    }
}

/* Asks for memory that is written to soon. */
static void zc_expect(uint8_t *to, ptrdiff_t nbytes) {
#if defined(__GNUC__) || defined(__clang__)
    for (ptrdiff_t i = 0; i < nbytes; i += 64) __builtin_prefetch(to + i, 1, 3);
#else
    (void)to;
    (void)nbytes;
#endif
}

/* Items first .. first + n - 1; width 2, 4 or 8. */
static void zc_join_planes(const uint8_t *const *planes, ptrdiff_t first, ptrdiff_t n, uint8_t *to, int width) {
    if (width == 2)
        zc_join_2(planes[0] + first, planes[1] + first, n, to);
    else if (width == 4)
        zc_join_4(planes[0] + first, planes[1] + first, planes[2] + first, planes[3] + first, n, to);
    else
        zc_join_8(planes, first, n, to);
}

#endif
