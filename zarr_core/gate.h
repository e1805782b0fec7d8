/* Threads that wait for their turn: a lock, and a call that wakes all who wait. Never entered with the GIL held. */
#ifndef ZARR_CORE_GATE_H
#define ZARR_CORE_GATE_H

#if defined(_MSC_VER)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
typedef struct { SRWLOCK lock; CONDITION_VARIABLE turn; } zc_gate;
static int zc_gate_init(zc_gate *g) { InitializeSRWLock(&g->lock); InitializeConditionVariable(&g->turn); return 0; }
static void zc_gate_free(zc_gate *g) { (void)g; }
static void zc_gate_enter(zc_gate *g) { AcquireSRWLockExclusive(&g->lock); }
static void zc_gate_leave(zc_gate *g) { ReleaseSRWLockExclusive(&g->lock); }
static void zc_gate_wait(zc_gate *g) { SleepConditionVariableSRW(&g->turn, &g->lock, INFINITE, 0); }
static void zc_gate_wake(zc_gate *g) { WakeAllConditionVariable(&g->turn); }
#else
#include <pthread.h>
typedef struct { pthread_mutex_t lock; pthread_cond_t turn; } zc_gate;
static int zc_gate_init(zc_gate *g) {
    int code = pthread_mutex_init(&g->lock, NULL);
    if (code == 0 && (code = pthread_cond_init(&g->turn, NULL)) != 0) pthread_mutex_destroy(&g->lock);
    return -code;
}
static void zc_gate_free(zc_gate *g) { pthread_cond_destroy(&g->turn); pthread_mutex_destroy(&g->lock); }
static void zc_gate_enter(zc_gate *g) { pthread_mutex_lock(&g->lock); }
static void zc_gate_leave(zc_gate *g) { pthread_mutex_unlock(&g->lock); }
static void zc_gate_wait(zc_gate *g) { pthread_cond_wait(&g->turn, &g->lock); }
static void zc_gate_wake(zc_gate *g) { pthread_cond_broadcast(&g->turn); }
#endif

#endif
