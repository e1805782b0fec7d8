/* Milliseconds of a clock that never goes back; the cheap one, where there is a choice. */
#ifndef ZARR_CORE_CLOCK_H
#define ZARR_CORE_CLOCK_H

#include <stdint.h>

#if defined(_WIN32)
#include <windows.h>
static int64_t zc_milliseconds(void) { return (int64_t)GetTickCount64(); }
#else
#include <time.h>
static int64_t zc_milliseconds(void) {
    struct timespec t;
#if defined(CLOCK_MONOTONIC_COARSE)
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
#else
    clock_gettime(CLOCK_MONOTONIC, &t);
#endif
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
#endif

#endif
