# C functions of numcodecs' compiled modules, found once at import.
from libc.stdint cimport uint8_t, uint32_t


cdef extern from "symbols.h" nogil:
    ctypedef struct zc_z_stream:
        const unsigned char* next_in
        unsigned int avail_in
        unsigned long total_in
        unsigned char* next_out
        unsigned int avail_out
        unsigned long total_out

    ctypedef struct zc_api:
        void* (*zstd_create_dctx)() noexcept nogil
        size_t (*zstd_free_dctx)(void*) noexcept nogil
        size_t (*zstd_decompress)(void*, void*, size_t, const void*, size_t) noexcept nogil
        void* (*zstd_create_cctx)() noexcept nogil
        size_t (*zstd_free_cctx)(void*) noexcept nogil
        size_t (*zstd_compress2)(void*, void*, size_t, const void*, size_t) noexcept nogil
        size_t (*zstd_set_parameter)(void*, int, int) noexcept nogil
        size_t (*zstd_bound)(size_t) noexcept nogil
        unsigned (*zstd_is_error)(size_t) noexcept nogil
        int (*zstd_error_code)(size_t) noexcept nogil
        unsigned long long (*zstd_content_size)(const void*, size_t) noexcept nogil
        size_t (*zstd_sizeof_cctx)(const void*) noexcept nogil
        size_t (*zstd_sizeof_dctx)(const void*) noexcept nogil
        int (*lz4_decompress)(const char*, char*, int, int) noexcept nogil
        int (*lz4_compress)(const char*, char*, int, int, int) noexcept nogil
        int (*lz4_bound)(int) noexcept nogil
        int (*lz4_decompress_partial)(const char*, char*, int, int, int) noexcept nogil
        const char* (*zlib_version)() noexcept nogil
        int (*inflate_init)(zc_z_stream*, int, const char*, int) noexcept nogil
        int (*inflate)(zc_z_stream*, int) noexcept nogil
        int (*inflate_reset)(zc_z_stream*) noexcept nogil
        int (*inflate_end)(zc_z_stream*) noexcept nogil
        int (*deflate_init)(zc_z_stream*, int, int, int, int, int, const char*, int) noexcept nogil
        int (*deflate)(zc_z_stream*, int) noexcept nogil
        int (*deflate_reset)(zc_z_stream*) noexcept nogil
        int (*deflate_end)(zc_z_stream*) noexcept nogil
        unsigned long (*deflate_bound)(zc_z_stream*, unsigned long) noexcept nogil
        int (*blosc_compress)(
            int, int, size_t, size_t, const void*, void*, size_t, const char*, size_t, int,
        ) noexcept nogil


# The table; entries are NULL where a function was not found.
cdef const zc_api* api_table() noexcept nogil
cdef bint has_zstd() noexcept nogil
cdef bint has_lz4() noexcept nogil
cdef bint has_zlib() noexcept nogil
cdef bint has_blosc() noexcept nogil
cdef uint32_t crc32c(uint32_t crc, const uint8_t* data, size_t n) noexcept nogil
