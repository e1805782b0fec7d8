/* Finding C functions inside compiled modules that are already installed, and the few ABIs needed to call them. */
#ifndef ZARR_CORE_SYMBOLS_H
#define ZARR_CORE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
static void *zc_library(const char *path) { (void)path; return NULL; }
static void *zc_symbol(void *library, const char *name) { (void)library; (void)name; return NULL; }
#else
#include <dlfcn.h>
static void *zc_library(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static void *zc_symbol(void *library, const char *name) { return dlsym(library, name); }
#endif

/* zlib's stream, unchanged since zlib 1.0; inflateInit2_ and deflateInit2_ verify its size. */
typedef struct {
    const unsigned char *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *zalloc;
    void *zfree;
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} zc_z_stream;


typedef struct {
    void *(*zstd_create_dctx)(void);
    size_t (*zstd_free_dctx)(void *);
    size_t (*zstd_decompress)(void *, void *, size_t, const void *, size_t);
    void *(*zstd_create_cctx)(void);
    size_t (*zstd_free_cctx)(void *);
    size_t (*zstd_compress2)(void *, void *, size_t, const void *, size_t);
    size_t (*zstd_set_parameter)(void *, int, int);
    size_t (*zstd_bound)(size_t);
    unsigned (*zstd_is_error)(size_t);
    int (*zstd_error_code)(size_t);
    unsigned long long (*zstd_content_size)(const void *, size_t);
    size_t (*zstd_sizeof_cctx)(const void *);
    size_t (*zstd_sizeof_dctx)(const void *);

    int (*lz4_decompress)(const char *, char *, int, int);
    int (*lz4_compress)(const char *, char *, int, int, int);
    int (*lz4_bound)(int);
    int (*lz4_decompress_partial)(const char *, char *, int, int, int);

    const char *(*zlib_version)(void);
    int (*inflate_init)(zc_z_stream *, int, const char *, int);
    int (*inflate)(zc_z_stream *, int);
    int (*inflate_reset)(zc_z_stream *);
    int (*inflate_end)(zc_z_stream *);
    int (*deflate_init)(zc_z_stream *, int, int, int, int, int, const char *, int);
    int (*deflate)(zc_z_stream *, int);
    int (*deflate_reset)(zc_z_stream *);
    int (*deflate_end)(zc_z_stream *);
    unsigned long (*deflate_bound)(zc_z_stream *, unsigned long);

    int (*blosc_compress)(int, int, size_t, size_t, const void *, void *, size_t, const char *, size_t, int);
} zc_api;

#endif
