/* Locks among processes on names in a folder: ranges of bytes of the folder's open descriptor. A folder cannot be
   written to, so only shared (read) range locks can be set on it. A lock is therefore announced by a shared lock on the
   byte of its name, and after that the process checks if another one has announced a lock that excludes it. */
#ifndef ZARR_CORE_FOLDER_LOCKS_H
#define ZARR_CORE_FOLDER_LOCKS_H

#include <errno.h>
#include <stdint.h>
#include <string.h>

#if defined(__linux__)
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#endif

#if defined(__linux__) && defined(F_OFD_SETLK)

#define ZC_FOLDER_LOCKS 1

static int zc_open_locked_folder(const char *path, uint64_t *device, uint64_t *inode) {
    struct stat state;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &state) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    *device = (uint64_t)state.st_dev;
    *inode = (uint64_t)state.st_ino;
    return fd;
}

/* Return 1 if the path still names that folder: another folder by its name has locks of its own. */
static int zc_is_folder(const char *path, uint64_t device, uint64_t inode) {
    struct stat state;
    return stat(path, &state) == 0 && (uint64_t)state.st_dev == device && (uint64_t)state.st_ino == inode;
}

static void zc_fill_range(struct flock *range, int type, int64_t start, int64_t length) {
    memset(range, 0, sizeof *range);
    range->l_type = (short)type;
    range->l_whence = SEEK_SET;
    range->l_start = (off_t)start;
    range->l_len = (off_t)length;
}

static int zc_announce(int fd, int64_t start, int64_t length) {
    struct flock range;
    zc_fill_range(&range, F_RDLCK, start, length);
    return fcntl(fd, F_OFD_SETLK, &range) < 0 ? -errno : 0;
}

/* A length of 0 stands for all bytes. */
static int zc_withdraw(int fd, int64_t start, int64_t length) {
    struct flock range;
    zc_fill_range(&range, F_UNLCK, start, length);
    return fcntl(fd, F_OFD_SETLK, &range) < 0 ? -errno : 0;
}

/* 1 where another open descriptor has announced a lock in the range, else 0. */
static int zc_is_announced(int fd, int64_t start, int64_t length) {
    struct flock range;
    zc_fill_range(&range, F_WRLCK, start, length);
    if (fcntl(fd, F_OFD_GETLK, &range) < 0)
        return -errno;
    return range.l_type != F_UNLCK;
}

static void zc_close_folder(int fd) { close(fd); }

/* The type of the file system of a path; -1 if it is unknown. */
static int64_t zc_file_system(const char *path) {
    struct statfs state;
    if (statfs(path, &state) < 0)
        return -1;
    return (int64_t)(uint32_t)state.f_type;
}

#else

#define ZC_FOLDER_LOCKS 0

static int zc_open_locked_folder(const char *path, uint64_t *device, uint64_t *inode) { (void)path; (void)device; (void)inode; return -ENOSYS; }
static int zc_is_folder(const char *path, uint64_t device, uint64_t inode) { (void)path; (void)device; (void)inode; return 0; }
static int zc_announce(int fd, int64_t start, int64_t length) { (void)fd; (void)start; (void)length; return -ENOSYS; }
static int zc_withdraw(int fd, int64_t start, int64_t length) { (void)fd; (void)start; (void)length; return -ENOSYS; }
static int zc_is_announced(int fd, int64_t start, int64_t length) { (void)fd; (void)start; (void)length; return -ENOSYS; }
static void zc_close_folder(int fd) { (void)fd; }
static int64_t zc_file_system(const char *path) { (void)path; return -1; }

#endif
#endif
