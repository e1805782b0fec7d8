/* Counts the file operations of a process once it is armed, and lets the n-th of them end the process or fail.
   Preloaded: the functions below stand before those of the C library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT = 0, KILL = 1, FAIL = 2, SHORT = 3 };

static volatile int armed, mode, code;
static volatile long place, seen;
static int log_fd = -1;

void faults_arm(int how, long at, int number, int log) {
    mode = how; place = at; code = number; log_fd = log; seen = 0;
    __atomic_store_n(&armed, 1, __ATOMIC_SEQ_CST);
}

long faults_disarm(void) {
    __atomic_store_n(&armed, 0, __ATOMIC_SEQ_CST);
    return seen;
}

static void note(const char *name, const char *one, const char *other) {
    char line[2048];
    int n;
    if (log_fd < 0) return;
    n = snprintf(line, sizeof line, "%s\t%s\t%s\n", name, one ? one : "", other ? other : "");
    if (n > 0) syscall(SYS_write, log_fd, line, (size_t)(n < (int)sizeof line ? n : (int)sizeof line - 1));
}

static const char *path_of(int fd, char *to, size_t size) {
    char link[64];
    ssize_t n;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, to, size - 1);
    to[n > 0 ? n : 0] = 0;
    return to;
}

static const char *full(int at, const char *path, char *to, size_t size) {
    if (path[0] == '/' || at == AT_FDCWD) { snprintf(to, size, "%s", path); return to; }
    path_of(at, to, size / 2);
    strcat(to, "/");
    strncat(to, path, size / 2 - 2);
    return to;
}

/* 0: go on; 1: fail with errno set; 2: do half of it. */
static int step(const char *name, const char *one, const char *other) {
    long now;
    if (!armed) return 0;
    now = __atomic_fetch_add(&seen, 1, __ATOMIC_SEQ_CST);
    note(name, one, other);
    if (now != place) return 0;
    if (mode == KILL) { kill(getpid(), SIGKILL); for (;;) pause(); }
    if (mode == FAIL) { errno = code; return 1; }
    return mode == SHORT ? 2 : 0;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define OPENS(flags) (((flags) & O_ACCMODE) != O_RDONLY && ((flags) & (O_CREAT | O_TRUNC)))

#define OPEN(symbol) \
int symbol(const char *path, int flags, ...) { \
    REAL(int, #symbol, const char *, int, ...); \
    va_list rest; int how; \
    va_start(rest, flags); how = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0; va_end(rest); \
    if (OPENS(flags) && step("create", path, NULL) == 1) return -1; \
    return real(path, flags, how); \
}
OPEN(open)
OPEN(open64)

#define OPENAT(symbol) \
int symbol(int at, const char *path, int flags, ...) { \
    REAL(int, #symbol, int, const char *, int, ...); \
    char name[4096]; va_list rest; int how; \
    va_start(rest, flags); how = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0; va_end(rest); \
    if (armed && OPENS(flags) && step("create", full(at, path, name, sizeof name), NULL) == 1) return -1; \
    return real(at, path, flags, how); \
}
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int fd, const void *data, size_t n) {
    REAL(ssize_t, "write", int, const void *, size_t);
    char name[2048];
    int what = armed ? step("write", path_of(fd, name, sizeof name), NULL) : 0;
    if (what == 1) return -1;
    return real(fd, data, what == 2 && n > 1 ? n / 2 : n);
}

#define PWRITE(symbol, offset) \
ssize_t symbol(int fd, const void *data, size_t n, offset at) { \
    REAL(ssize_t, #symbol, int, const void *, size_t, offset); \
    char name[2048]; \
    int what = armed ? step("write", path_of(fd, name, sizeof name), NULL) : 0; \
    if (what == 1) return -1; \
    return real(fd, data, what == 2 && n > 1 ? n / 2 : n, at); \
}
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *parts, int n) {
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    char name[2048];
    int what = armed ? step("write", path_of(fd, name, sizeof name), NULL) : 0;
    if (what == 1) return -1;
    return real(fd, parts, what == 2 && n > 1 ? n / 2 : n);
}

#define PWRITEV(symbol, offset) \
ssize_t symbol(int fd, const struct iovec *parts, int n, offset at) { \
    REAL(ssize_t, #symbol, int, const struct iovec *, int, offset); \
    char name[2048]; \
    int what = armed ? step("write", path_of(fd, name, sizeof name), NULL) : 0; \
    if (what == 1) return -1; \
    return real(fd, parts, what == 2 && n > 1 ? n / 2 : n, at); \
}
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

#define ON_FD(symbol, label) \
int symbol(int fd) { \
    REAL(int, #symbol, int); \
    char name[2048]; \
    if (armed && step(label, path_of(fd, name, sizeof name), NULL) == 1) return -1; \
    return real(fd); \
}
ON_FD(fsync, "sync")
ON_FD(fdatasync, "sync")

#define TRUNCATE(symbol, offset) \
int symbol(int fd, offset length) { \
    REAL(int, #symbol, int, offset); \
    char name[2048]; \
    if (armed && step("truncate", path_of(fd, name, sizeof name), NULL) == 1) return -1; \
    return real(fd, length); \
}
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int msync(void *start, size_t n, int flags) {
    REAL(int, "msync", void *, size_t, int);
    if (step("sync", "", NULL) == 1) return -1;
    return real(start, n, flags);
}

#define ON_PATH(symbol, label) \
int symbol(const char *path) { \
    REAL(int, #symbol, const char *); \
    if (step(label, path, NULL) == 1) return -1; \
    return real(path); \
}
ON_PATH(unlink, "unlink")
ON_PATH(rmdir, "rmdir")

int unlinkat(int at, const char *path, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    char name[4096];
    if (armed && step("unlink", full(at, path, name, sizeof name), NULL) == 1) return -1;
    return real(at, path, flags);
}

int mkdir(const char *path, mode_t how) {
    REAL(int, "mkdir", const char *, mode_t);
    if (step("mkdir", path, NULL) == 1) return -1;
    return real(path, how);
}

int mkdirat(int at, const char *path, mode_t how) {
    REAL(int, "mkdirat", int, const char *, mode_t);
    char name[4096];
    if (armed && step("mkdir", full(at, path, name, sizeof name), NULL) == 1) return -1;
    return real(at, path, how);
}

#define TWO_PATHS(symbol, label) \
int symbol(const char *one, const char *other) { \
    REAL(int, #symbol, const char *, const char *); \
    if (step(label, one, other) == 1) return -1; \
    return real(one, other); \
}
TWO_PATHS(rename, "rename")
TWO_PATHS(link, "link")

int renameat(int from, const char *one, int to, const char *other) {
    REAL(int, "renameat", int, const char *, int, const char *);
    char a[4096], b[4096];
    if (armed && step("rename", full(from, one, a, sizeof a), full(to, other, b, sizeof b)) == 1) return -1;
    return real(from, one, to, other);
}

int linkat(int from, const char *one, int to, const char *other, int flags) {
    REAL(int, "linkat", int, const char *, int, const char *, int);
    char a[4096], b[4096];
    if (armed && step("link", full(from, one, a, sizeof a), full(to, other, b, sizeof b)) == 1) return -1;
    return real(from, one, to, other, flags);
}

long syscall(long number, ...) {
    REAL(long, "syscall", long, ...);
    va_list rest; long a, b, c, d, e, f;
    va_start(rest, number);
    a = va_arg(rest, long); b = va_arg(rest, long); c = va_arg(rest, long);
    d = va_arg(rest, long); e = va_arg(rest, long); f = va_arg(rest, long);
    va_end(rest);
#ifdef SYS_renameat2
    if (armed && number == SYS_renameat2 && step("exchange", (const char *)b, (const char *)d) == 1) return -1;
#endif
    return real(number, a, b, c, d, e, f);
}
