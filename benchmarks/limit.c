/* What a C loop needs: open, read, close, decode, copy rows; or copy rows, encode, create, write, close.
   Two threads share a counter; no Python per chunk. The codecs are those of the library under test, found by path.
   A bound to measure against, not a library: every error ends the process. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RAW = 0, ZSTD = 1, BLOSC = 2 };

typedef struct {
    const char *path;       /* one file a chunk; NULL: `data` holds it */
    const char *data;
    int64_t offset, nbytes; /* of the stored chunk; nbytes < 0: the whole file */
    int64_t place;          /* of the chunk's first row in the array, bytes */
} zl_chunk;

typedef struct {
    char *array;
    const zl_chunk *chunks;
    int64_t count, rows, row, stride; /* rows of a chunk, bytes of a row, bytes between rows of the array */
    int codec, write;
    volatile int64_t next;
} zl_job;

static void *(*zstd_dctx)(void), *(*zstd_cctx)(void);
static size_t (*zstd_decode)(void *, void *, size_t, const void *, size_t);
static size_t (*zstd_encode)(void *, void *, size_t, const void *, size_t);
static size_t (*zstd_set)(void *, int, int);
static int (*blosc_decode)(const void *, void *, size_t, int);
static int (*blosc_encode)(int, int, size_t, size_t, const void *, void *, size_t, const char *, size_t, int);

static void fail(const char *what) { perror(what); _exit(3); }

static void *find(const char *path, const char *name) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol) { fprintf(stderr, "%s not in %s\n", name, path); _exit(3); }
    return symbol;
}

void zl_codecs(const char *zstd, const char *blosc) {
    zstd_dctx = find(zstd, "ZSTD_createDCtx");
    zstd_cctx = find(zstd, "ZSTD_createCCtx");
    zstd_decode = find(zstd, "ZSTD_decompressDCtx");
    zstd_encode = find(zstd, "ZSTD_compress2");
    zstd_set = find(zstd, "ZSTD_CCtx_setParameter");
    blosc_decode = find(blosc, "blosc_decompress_ctx");
    blosc_encode = find(blosc, "blosc_compress_ctx");
}

static int64_t load(const zl_chunk *c, char **to, int64_t *room) {
    struct stat s;
    int64_t n = c->nbytes;
    int fd = open(c->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail(c->path);
    if (n < 0) { if (fstat(fd, &s)) fail("fstat"); n = s.st_size; }
    if (n > *room) { free(*to); *to = malloc(n); *room = n; }
    if (pread(fd, *to, n, c->offset) != n) fail("pread");
    close(fd);
    return n;
}

static void read_one(zl_job *j, const zl_chunk *c, void *context, char **stored, int64_t *room, char *scratch) {
    int64_t size = j->rows * j->row, n = c->nbytes, r;
    char *to = j->array + c->place;
    int straight = j->rows == 1 || j->row == j->stride;
    const char *src = c->data ? c->data : NULL;
    if (!src) { n = load(c, stored, room); src = *stored; }
    if (j->codec == ZSTD) { if (zstd_decode(context, straight ? to : scratch, size, src, n) != (size_t)size) fail("zstd"); }
    else if (j->codec == BLOSC) { if (blosc_decode(src, straight ? to : scratch, size, 1) != size) fail("blosc"); }
    else if (straight) memcpy(to, src, size);
    if (!straight) {
        if (j->codec != RAW) src = scratch;
        for (r = 0; r < j->rows; r++) memcpy(to + r * j->stride, src + r * j->row, j->row);
    }
}

static void write_one(zl_job *j, const zl_chunk *c, void *context, char *stored, int64_t room, char *scratch) {
    int64_t size = j->rows * j->row, n = size, r;
    const char *src = j->array + c->place;
    int fd;
    if (j->rows > 1 && j->row != j->stride) {
        for (r = 0; r < j->rows; r++) memcpy(scratch + r * j->row, src + r * j->stride, j->row);
        src = scratch;
    }
    if (j->codec == ZSTD) { n = zstd_encode(context, stored, room, src, size); src = stored; }
    else if (j->codec == BLOSC) { n = blosc_encode(5, 1, 4, size, src, stored, room, "lz4", 0, 1); src = stored; }
    fd = open(c->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, src, n) != n) fail(c->path);
    close(fd);
}

static void *work(void *argument) {
    zl_job *j = argument;
    int64_t size = j->rows * j->row, room = j->write ? 2 * size + 65536 : 0, i;
    char *stored = room ? malloc(room) : NULL, *scratch = malloc(size);
    void *context = j->codec != ZSTD ? NULL : j->write ? zstd_cctx() : zstd_dctx();
    if (context && j->write) zstd_set(context, 100, 3);
    while ((i = __atomic_fetch_add(&j->next, 1, __ATOMIC_RELAXED)) < j->count) {
        if (j->write) write_one(j, &j->chunks[i], context, stored, room, scratch);
        else read_one(j, &j->chunks[i], context, &stored, &room, scratch);
    }
    free(stored);
    free(scratch);
    return NULL;
}

/* Rows of an array from or to chunks: all chunks have `rows` rows of `row` bytes, `stride` apart in the array. */
void zl_run(char *array, const zl_chunk *chunks, int64_t count, int64_t rows, int64_t row, int64_t stride, int codec,
            int write, int threads) {
    zl_job job = {array, chunks, count, rows, row, stride, codec, write, 0};
    pthread_t helper;
    if (threads > 1 && pthread_create(&helper, NULL, work, &job)) fail("pthread_create");
    work(&job);
    if (threads > 1) pthread_join(helper, NULL);
}
