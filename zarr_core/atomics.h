/* The atomic operations the jobs need: take the next piece of work, swap a pointer, see a flag. */
#ifndef ZARR_CORE_ATOMICS_H
#define ZARR_CORE_ATOMICS_H

#include <stddef.h>
#include <stdint.h>

#if defined(_MSC_VER)
#include <intrin.h>
static int64_t zc_take(int64_t *counter, int64_t n) { return _InterlockedExchangeAdd64((volatile long long *)counter, n); }
static void *zc_look(void **place) { return *(void *volatile *)place; }
static void *zc_swap(void **place, void *value) { return _InterlockedExchangePointer((void *volatile *)place, value); }
static int zc_put(void **place, void *value) {
    return _InterlockedCompareExchangePointer((void *volatile *)place, value, NULL) == NULL;
}
static int64_t zc_leave(int64_t *counter) { return _InterlockedExchangeAdd64((volatile long long *)counter, -1); }
static int zc_read(int *place) { return *(volatile int *)place; }
static void zc_write(int *place, int value) { *(volatile int *)place = value; }
#else
static int zc_read(int *place) { return __atomic_load_n(place, __ATOMIC_RELAXED); }
static void zc_write(int *place, int value) { __atomic_store_n(place, value, __ATOMIC_RELAXED); }
static int64_t zc_take(int64_t *counter, int64_t n) { return __atomic_fetch_add(counter, n, __ATOMIC_RELAXED); }
/* One user less: all that it did comes before, for the last of them to free. */
static int64_t zc_leave(int64_t *counter) { return __atomic_fetch_sub(counter, 1, __ATOMIC_ACQ_REL); }
static void *zc_look(void **place) { return __atomic_load_n(place, __ATOMIC_RELAXED); }
static void *zc_swap(void **place, void *value) { return __atomic_exchange_n(place, value, __ATOMIC_ACQ_REL); }
static int zc_put(void **place, void *value) {
    void *expected = NULL;
    return __atomic_compare_exchange_n(place, &expected, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
#endif

#endif
