# Compressed streams, one bounded call each way, with contexts and scratch memory that are kept between calls.
from libc.stdint cimport int64_t, uint8_t

from zarr_core.symbols cimport zc_z_stream


# The results of a decoder or encoder that are no sizes.
cdef enum:
    DAMAGED = -1            # the stored bytes are not a valid stream, or a parameter is impossible
    TOO_SMALL = -2          # the result does not fit the room given
    NO_MEMORY = -3


# Caching limits: memory above these is given back when a context returns to its pool.
cdef enum:
    SCRATCH_KEPT = 8 << 20
    CONTEXT_KEPT = 64 << 20
    SCRATCHES = 6


cdef struct Scratch:
    char* data
    int64_t capacity


# A kind of blosc frame that was written last, and how blosc divides such frames.
cdef struct BloscKind:
    int64_t nbytes          # of the data; 0: none is known
    int format
    int clevel
    int shuffle
    int typesize
    int forced              # blocksize asked for
    int64_t blocksize
    bint split              # one stream for each byte of the item
    int filter              # 0 none, 1 bytes, 2 bits
    int width
    uint8_t header[16]


cdef struct Context:
    void* zstd_d
    void* zstd_c
    zc_z_stream inflate
    zc_z_stream deflate
    int inflate_bits        # window bits of the live stream, 0: none
    int deflate_bits
    int deflate_level
    BloscKind kind
    Scratch ping            # results of stages, in turns; the first of SCRATCHES of these
    Scratch pong
    Scratch block           # inside one codec
    Scratch chunk           # an assembled chunk
    Scratch stored          # stored bytes, as read
    Scratch arena           # encoded chunks waiting to be written


cdef Context* context_new() noexcept nogil
cdef void context_free(Context* c) noexcept nogil
cdef void context_trim(Context* c) noexcept nogil
# At least n bytes; old contents are lost. NULL without memory.
cdef char* scratch_reserve(Scratch* s, int64_t n) noexcept nogil
# The same, keeping the first `used` bytes.
cdef char* scratch_extend(Scratch* s, int64_t used, int64_t n) noexcept nogil

cdef int64_t zstd_decode(Context* c, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil
cdef int64_t zstd_encode(
    Context* c, int level, bint checksum, const char* src, int64_t n, char* dst, int64_t room,
) noexcept nogil
cdef int64_t zstd_bound(int64_t n) noexcept nogil
# bits: 31 for gzip, 15 for zlib.
cdef int64_t inflate_decode(Context* c, int bits, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil
cdef int64_t deflate_encode(
    Context* c, int bits, int level, const char* src, int64_t n, char* dst, int64_t room,
) noexcept nogil
cdef int64_t deflate_bound(int64_t n) noexcept nogil
cdef int64_t lz4_decode(const char* src, int64_t n, char* dst, int64_t room) noexcept nogil
cdef int64_t lz4_encode(int acceleration, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil
cdef int64_t lz4_bound(int64_t n) noexcept nogil
cdef int64_t blosclz_decode(const uint8_t* src, int64_t n, uint8_t* dst, int64_t room) noexcept nogil
cdef int64_t lz4_prefix(const char* src, int64_t n, char* dst, int64_t room) noexcept nogil
