# Native codecs, one stage each: bytes in, bytes out, no Python object.
from libc.stdint cimport int64_t, uint8_t, uint32_t

from zarr_core.streams cimport Context


cdef enum StageKind:
    STAGE_ZSTD
    STAGE_GZIP
    STAGE_ZLIB
    STAGE_LZ4
    STAGE_BLOSC
    STAGE_CRC32C
    STAGE_SHUFFLE
    STAGE_DELTA


cdef struct Stage:
    StageKind kind
    int level               # zstd, gzip, zlib; lz4: acceleration; blosc: clevel
    bint checksum           # zstd
    int shuffle             # blosc
    int64_t width           # blosc typesize, shuffle element size, delta item width
    int blocksize           # blosc
    char cname[16]          # blosc
    int blosc_format        # the number of cname in a frame
    char kind_code          # delta: i or f
    bint at_start           # crc32c: where the checksum stands


# Reads a codec's name and parameters; ValueError for what there is not.
cdef int parse_any(str name, dict given, Stage* stage) except -1
# The same; ValueError also where there is no native form.
cdef int parse_stage(str name, dict params, Stage* stage) except -1
# Sizes; -1 where only the data tells.
cdef int64_t stage_encoded_size(const Stage* s, int64_t n) noexcept nogil
cdef int64_t stage_bound(const Stage* s, int64_t n) noexcept nogil
# The size made, or DAMAGED, TOO_SMALL, NO_MEMORY.
cdef int64_t stage_decode(const Stage* s, Context* c, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil
cdef int64_t stage_encode(const Stage* s, Context* c, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil
# Checks a checksum and narrows the bytes to what it covers.
cdef bint checksum_strip(const Stage* s, const char** data, int64_t* n) noexcept nogil
# Sizes a scratch buffer for a stage whose result size is unknown, up to limit.
cdef int64_t stage_decode_growing(
    const Stage* s, Context* c, const char* src, int64_t n, char** dst, int64_t* room, int64_t limit,
) noexcept nogil
cdef bint is_available(str name) except -1
cdef dict all_available()


cdef inline uint32_t load32(const char* data) noexcept nogil:
    cdef const uint8_t* p = <const uint8_t*>data
    return <uint32_t>p[0] | <uint32_t>p[1] << 8 | <uint32_t>p[2] << 16 | <uint32_t>p[3] << 24
