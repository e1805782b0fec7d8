/* Milliseconds of a clock that never goes back; the cheap one, where there is a choice. Nanoseconds since 1970. */
#ifndef ZARR_CORE_CLOCK_H
#define ZARR_CORE_CLOCK_H

#include <stdint.h>

#if defined(_WIN32)
#include <windows.h>
static int64_t zc_milliseconds(void) { return (int64_t)GetTickCount64(); }
static int64_t zc_now_ns(void) { return 0; }
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
static int64_t zc_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
#endif

#endif
