/* File calls relative to a directory descriptor. Every function returns -errno on failure, retries interrupted calls,
   and finishes short reads and writes. Nothing here follows a chunk key outside of open, mkdir, rename and unlink. */
#ifndef ZARR_CORE_FILES_H
#define ZARR_CORE_FILES_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A file and its state: any change of the file changes one of these, once a step of the clock has passed. */
typedef struct {
    int64_t device;
    int64_t inode;
    int64_t nbytes;
    int64_t modified_ns;
    int64_t changed_ns;
} zc_stamp;

#if defined(_WIN32)

static int zc_open_folder(int base, const char *path) { (void)base; (void)path; return -ENOSYS; }
static int zc_open_read(int base, const char *path) { (void)base; (void)path; return -ENOSYS; }
static int zc_create(int base, const char *path) { (void)base; (void)path; return -ENOSYS; }
static int zc_is_absent(const char *path) { (void)path; return 0; }
static int64_t zc_regular_size(int fd) { (void)fd; return -ENOSYS; }
static int64_t zc_regular_stamp(int fd, zc_stamp *stamp) { (void)fd; (void)stamp; return -ENOSYS; }
static int64_t zc_read_at(int fd, char *to, int64_t n, int64_t at) { (void)fd; (void)to; (void)n; (void)at; return -ENOSYS; }
static int zc_write_all(int fd, const char *from, int64_t n) { (void)fd; (void)from; (void)n; return -ENOSYS; }
static int zc_write_at(int fd, const char *from, int64_t n, int64_t at) { (void)fd; (void)from; (void)n; (void)at; return -ENOSYS; }
static int zc_sync(int fd) { (void)fd; return -ENOSYS; }
static int zc_close(int fd) { (void)fd; return -ENOSYS; }
static int zc_rename(int base, const char *from, const char *to) { (void)base; (void)from; (void)to; return -ENOSYS; }
static int zc_unlink(int base, const char *path) { (void)base; (void)path; return -ENOSYS; }
static int zc_make_folders(int base, char *path, int durable) { (void)base; (void)path; (void)durable; return -ENOSYS; }
static int zc_temporary_name(char *to, size_t size, const char *name) { (void)to; (void)size; (void)name; return -ENOSYS; }
static int zc_exchange(const char *one, const char *other) { (void)one; (void)other; return -ENOSYS; }
static int zc_has_no_links(char *path) { (void)path; return 0; }
static int zc_remove_folder(int base, const char *name, int depth, long *left) {
    (void)base; (void)name; (void)depth; (void)left;
    return -ENOSYS;
}
static int zc_put_file(char *path, char *partial, size_t room, const char *data, int64_t n, int exclusive) {
    (void)path; (void)partial; (void)room; (void)data; (void)n; (void)exclusive;
    return -ENOSYS;
}

#else

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

static int zc_open_folder(int base, const char *path) {
    int fd;
    do fd = openat(base < 0 ? AT_FDCWD : base, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

/* Does not wait for a writer where someone has put a fifo in a chunk's place. */
static int zc_open_read(int base, const char *path) {
    int fd;
    do fd = openat(base < 0 ? AT_FDCWD : base, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0 && errno == ENOENT) {
        /* A link to nothing is not an absent value. */
        struct stat s;
        return fstatat(base < 0 ? AT_FDCWD : base, path, &s, AT_SYMLINK_NOFOLLOW) == 0 ? -ELOOP : -ENOENT;
    }
    return fd < 0 ? -errno : fd;
}

/* Return 1 if nothing is there, not even a link: half the price of trying to open it. */
static int zc_is_absent(const char *path) {
    struct stat s;
    return fstatat(AT_FDCWD, path, &s, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

static int zc_create(int base, const char *path) {
    int fd;
    do fd = openat(base, path, O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

static int64_t zc_regular_size(int fd) {
    struct stat s;
    if (fstat(fd, &s) != 0) return -errno;
    if (!S_ISREG(s.st_mode)) return S_ISDIR(s.st_mode) ? -EISDIR : -EINVAL;
    return (int64_t)s.st_size;
}

#if defined(__APPLE__)
#define ZC_TIME_NS(s, which) ((int64_t)(s).st_##which##timespec.tv_sec * 1000000000 + (s).st_##which##timespec.tv_nsec)
#else
#define ZC_TIME_NS(s, which) ((int64_t)(s).st_##which##tim.tv_sec * 1000000000 + (s).st_##which##tim.tv_nsec)
#endif

/* The size, and the rest of a regular file's state with it. */
static int64_t zc_regular_stamp(int fd, zc_stamp *stamp) {
    struct stat s;
    if (fstat(fd, &s) != 0) return -errno;
    if (!S_ISREG(s.st_mode)) return S_ISDIR(s.st_mode) ? -EISDIR : -EINVAL;
    stamp->device = (int64_t)s.st_dev;
    stamp->inode = (int64_t)s.st_ino;
    stamp->nbytes = (int64_t)s.st_size;
    stamp->modified_ns = ZC_TIME_NS(s, m);
    stamp->changed_ns = ZC_TIME_NS(s, c);
    return stamp->nbytes;
}

/* Bytes read: fewer than n only at the end of the file. */
static int64_t zc_read_at(int fd, char *to, int64_t n, int64_t at) {
    int64_t done = 0;
    while (done < n) {
        ssize_t got = pread(fd, to + done, (size_t)(n - done), (off_t)(at + done));
        if (got > 0) done += got;
        else if (got == 0) break;
        else if (errno != EINTR) return -errno;
    }
    return done;
}

static int zc_write_all(int fd, const char *from, int64_t n) {
    while (n > 0) {
        ssize_t put = write(fd, from, (size_t)n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return -errno;
        from += put;
        n -= put;
    }
    return 0;
}

static int zc_write_at(int fd, const char *from, int64_t n, int64_t at) {
    while (n > 0) {
        ssize_t put = pwrite(fd, from, (size_t)n, (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return -errno;
        from += put;
        at += put;
        n -= put;
    }
    return 0;
}

static int zc_sync(int fd) {
    int code;
#ifdef F_FULLFSYNC /* macOS: fsync alone leaves the bytes in the cache of the disk */
    if (fcntl(fd, F_FULLFSYNC) == 0) return 0;
#endif
    do code = fsync(fd); while (code != 0 && errno == EINTR);
    return code != 0 ? -errno : 0;
}

/* An error here can be a write that failed late, so it counts. An interrupted close has closed. */
static int zc_close(int fd) { return close(fd) != 0 && errno != EINTR ? -errno : 0; }

static int zc_rename(int base, const char *from, const char *to) {
    return renameat(base, from, base, to) != 0 ? -errno : 0;
}

static int zc_unlink(int base, const char *path) { return unlinkat(base, path, 0) != 0 ? -errno : 0; }

static int zc_remove_folder(int base, const char *name, int depth, long *left);

/* Removes a file, a link (not what it leads to) or a folder: 0 also if another process was faster. */
static int zc_remove_entry(int base, const struct dirent *entry, int depth, long *left) {
    struct stat s;
    int is_folder = entry->d_type == DT_DIR;
    if (entry->d_type == DT_UNKNOWN)
        is_folder = fstatat(base, entry->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(s.st_mode);
    if (is_folder) return zc_remove_folder(base, entry->d_name, depth - 1, left);
    return unlinkat(base, entry->d_name, 0) != 0 && errno != ENOENT ? -errno : 0;
}

/* Removes a folder and all in it, to a depth, without following a link: 0, or -errno; 1 after ``left`` entries, if there
   are more, so that the caller can look for Ctrl-C. */
static int zc_remove_folder(int base, const char *name, int depth, long *left) {
    DIR *folder;
    struct dirent *entry;
    int code = 0, fd;
    if (depth < 0) return -ELOOP;
    if (base < 0) base = AT_FDCWD;
    fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -errno;
    folder = fdopendir(fd);
    if (folder == NULL) { code = -errno; close(fd); return code; }
    while (code == 0 && (errno = 0, entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        code = (*left)-- > 0 ? zc_remove_entry(fd, entry, depth, left) : 1;
    }
    if (code == 0) code = -errno;
    closedir(folder);
    if (code == 0 && unlinkat(base, name, AT_REMOVEDIR) != 0) code = -errno;
    return code;
}

static int zc_make_folder(int base, char *path, int durable) {
    int code = mkdirat(base, path, 0777) != 0 ? -errno : 0;
    if (code == 0 && durable) {
        char *last = strrchr(path, '/');
        int fd;
        if (last) *last = 0;
        fd = zc_open_folder(base, last ? (last == path ? "/" : path) : ".");
        if (last) *last = '/';
        if (fd >= 0) { code = zc_sync(fd); close(fd); }
    }
    return code;
}

/* Makes every missing folder of a path (changed and restored on the way); durable: sync the parents of new ones.
   It looks upwards for a folder that is there, and makes those below: most folders of a path are there. */
static int zc_make_folders(int base, char *path, int durable) {
    char *end = path + strlen(path), *cut = end, kept;
    int code;
    for (;;) {
        kept = *cut;
        *cut = 0;
        code = zc_make_folder(base, path, durable);
        *cut = kept;
        if (code != -ENOENT) break;
        while (cut > path && cut[-1] != '/') cut--;
        while (cut > path && cut[-1] == '/') cut--;
        if (cut == path) return -ENOENT;
    }
    while ((code == 0 || code == -EEXIST) && cut < end) {
        while (*cut == '/') cut++;
        while (*cut && *cut != '/') cut++;
        kept = *cut;
        *cut = 0;
        code = zc_make_folder(base, path, durable);
        *cut = kept;
    }
    return code == -EEXIST ? 0 : code;
}

/* Two names change places in one step; -ENOSYS or -EINVAL where the system or the file system cannot do that. */
static int zc_exchange(const char *one, const char *other) {
#if defined(__linux__) && defined(SYS_renameat2)
    return syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 2) != 0 ? -errno : 0;
#elif defined(__APPLE__) && defined(RENAME_SWAP)
    return renamex_np(one, other, RENAME_SWAP) != 0 ? -errno : 0;
#else
    (void)one;
    (void)other;
    return -ENOSYS;
#endif
}

/* Return 1 if an absolute path (changed and restored on the way) stays the same with its links followed: no part of it
   is a link, "." or "..". Parts that do not exist are no links. 0 also if it is unknown. */
static int zc_has_no_links(char *path) {
    char *slash = path, linked[1];
    int plain = *path == '/', there = 1;
    while (slash && plain) {
        char *name = slash + 1;
        slash = strchr(name, '/');
        if (slash) *slash = 0;
        plain = *name != 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
        if (plain && there) {
            plain = readlink(path, linked, 1) < 0 && (errno == EINVAL || errno == ENOENT);
            there = plain && errno == EINVAL;
        }
        if (slash) *slash = '/';
    }
    return plain;
}

/* A hidden name beside the final one, never the same twice in a process. */
static int zc_temporary_name(char *to, size_t size, const char *name) {
    static unsigned long counter;
    unsigned long n = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
    int length = snprintf(to, size, ".%s.%lx-%lx.partial", name, (unsigned long)getpid(), n);
    return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

/* Gives a file a name that is free; 1 where it is not: of several who try at once, one succeeds. */
static int zc_claim(const char *from, const char *to) {
    int code;
#if defined(__linux__) && defined(SYS_renameat2)
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1) == 0) return 0;
    if (errno != ENOSYS && errno != EINVAL && errno != EPERM && errno != EEXIST) return -errno;
    code = errno;
    if (code == EEXIST) { unlink(from); return 1; }
#endif
    code = link(from, to) == 0 ? 0 : errno;
    if (code != 0 && code != EEXIST) return -code;
    unlink(from);
    return code == EEXIST;
}

/* Opens a hidden file beside a path, with the folders that it needs; its name goes to ``partial``. */
static int zc_begin(char *path, char *partial, size_t room) {
    char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    int attempt, fd = -EEXIST, code;
    if (room <= folder) return -ENAMETOOLONG;
    memcpy(partial, path, folder);
    for (attempt = 0; attempt < 16 && (fd == -EEXIST || fd == -ENOENT); attempt++) {
        code = zc_temporary_name(partial + folder, room - folder, path + folder);
        if (code < 0) return code;
        fd = zc_create(AT_FDCWD, partial);
        if (fd == -ENOENT && folder > 1) {
            *slash = 0;
            code = zc_make_folders(AT_FDCWD, path, 0);
            *slash = '/';
            if (code < 0 && code != -ENOENT) return code; /* removed meanwhile: once more */
        }
    }
    return fd;
}

#define ZC_DATED_BYTES (64 << 10)

/* Whether a value is a large document: the only files that are asked for later, if they are still the ones that were
   stored. Others are left as they are, since on a network it takes one more request. */
static int zc_is_dated(const char *path, int64_t n) {
    const char *slash, *name;
    if (n < ZC_DATED_BYTES) return 0;
    slash = strrchr(path, '/');
    name = slash ? slash + 1 : path;
    return strcmp(name, "zarr.json") == 0 || strcmp(name, ".zmetadata") == 0;
}

/* Dates a file back by less than 0.1 ms. Clocks of file systems advance by milliseconds: a file that is written and
   gets its name within one step would look like one that was changed after that, see fresh_stamp. Of several such
   files, each has another time. */
static void zc_date_back(int fd) {
    struct stat s;
    struct timespec now, times[2];
    int64_t at;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0 || fstat(fd, &s) != 0) return;
    at = ZC_TIME_NS(s, m) - 1 - now.tv_nsec % 100000;
    if (at < 0) return;
    times[0].tv_sec = 0;
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_sec = (time_t)(at / 1000000000);
    times[1].tv_nsec = (long)(at % 1000000000);
    (void)futimens(fd, times); /* where that fails, the file is read again, and that is all */
}

static int zc_put_once(char *path, char *partial, size_t room, const char *data, int64_t n, int exclusive) {
    int fd, code, closed;
    fd = zc_begin(path, partial, room);
    if (fd < 0) return fd;
    code = zc_write_all(fd, data, n);
    if (code == 0 && zc_is_dated(path, n)) zc_date_back(fd);
    closed = zc_close(fd);
    if (code == 0) code = closed;
    if (code == 0) code = exclusive ? zc_claim(partial, path) : zc_rename(AT_FDCWD, partial, path);
    if (code < 0) unlink(partial);
    return code;
}

/* Puts a value in its place in one step: 0; 1 where it was to be exclusive and there is something; -errno, and no
   trace is left. Where another process removes the folder meanwhile, it is made again at once: a removal gives the folder
   another name first, and there is time while it removes what was in it. */
static int zc_put_file(char *path, char *partial, size_t room, const char *data, int64_t n, int exclusive) {
    struct stat s;
    int attempt, code = -ENOENT;
    if (exclusive && lstat(path, &s) == 0) return 1;
    for (attempt = 0; attempt < 16 && code == -ENOENT; attempt++)
        code = zc_put_once(path, partial, room, data, n, exclusive);
    return code;
}

#endif
#endif
