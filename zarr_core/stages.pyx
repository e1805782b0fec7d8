"""Native codecs, one stage each: their parameters, and bytes in, bytes out without a Python object.

A codec counts as available when its C functions were found and a sample survived a round trip.
"""
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset, strcpy

from zarr_core.blosc cimport BloscFrame, blosc_decode, blosc_open
from zarr_core.blosc_writing cimport blosc_encode
from zarr_core.shuffle cimport delta_decode_bytes, delta_encode_bytes, shuffle_bytes, unshuffle_bytes
from zarr_core.streams cimport (
    DAMAGED,
    NO_MEMORY,
    TOO_SMALL,
    Context,
    context_free,
    context_new,
    deflate_bound,
    deflate_encode,
    inflate_decode,
    lz4_bound,
    lz4_decode,
    lz4_encode,
    zstd_bound,
    zstd_decode,
    zstd_encode,
)
from zarr_core.symbols cimport api_table, crc32c, has_blosc, has_lz4, has_zlib, has_zstd

import numpy as np

cdef enum:
    LZ4_HEADER = 4
    BLOSC_OVERHEAD = 16
    GZIP_BITS = 31
    ZLIB_BITS = 15


# --- parameters

cdef dict DEFAULTS = {
    "zstd": {"level": 0, "checksum": False},
    "gzip": {"level": 1},
    "zlib": {"level": 1},
    "lz4": {"acceleration": 1},
    "blosc": {"cname": "lz4", "clevel": 5, "shuffle": 1, "typesize": 1, "blocksize": 0},
    "crc32c": {"location": "end"},
    "shuffle": {"elementsize": 4},
    "delta": {"dtype": None, "astype": None},
}
cdef dict KINDS = {
    "zstd": STAGE_ZSTD, "gzip": STAGE_GZIP, "zlib": STAGE_ZLIB, "lz4": STAGE_LZ4, "blosc": STAGE_BLOSC,
    "crc32c": STAGE_CRC32C, "shuffle": STAGE_SHUFFLE, "delta": STAGE_DELTA,
}
# Inclusive bounds of the whole-number parameters.
cdef dict BOUNDS = {
    ("zstd", "level"): (-131072, 22),
    ("gzip", "level"): (-1, 9),
    ("zlib", "level"): (-1, 9),
    ("lz4", "acceleration"): (-(1 << 31), (1 << 31) - 1),
    ("blosc", "clevel"): (0, 9),
    ("blosc", "shuffle"): (-1, 2),
    ("blosc", "typesize"): (1, (1 << 31) - 1),
    ("blosc", "blocksize"): (0, (1 << 31) - 1),
    ("shuffle", "elementsize"): (1, (1 << 31) - 1),
}
# The compressors of blosc's streams: the number in the frame, by the compressor's name.
cdef dict BLOSC_FORMATS = {"blosclz": 0, "lz4": 1, "lz4hc": 1, "snappy": 2, "zlib": 3, "zstd": 4}


cdef dict checked_params(str name, dict given):
    if name not in DEFAULTS:
        raise ValueError(f"no native codec is called {name!r}; there are {', '.join(sorted(DEFAULTS))}")
    params = DEFAULTS[name] | given
    unknown = params.keys() - DEFAULTS[name].keys()
    if unknown:
        raise ValueError(f"codec {name!r} has no parameter {', '.join(sorted(unknown))}")
    for (codec, key), (low, high) in BOUNDS.items():
        if codec == name and not low <= int(params[key]) <= high:
            raise ValueError(f"codec {name!r}: {key} must be in {low} .. {high}, got {params[key]}")
    return params


cdef int parse_delta(dict params, Stage* stage) except -1:
    if params["dtype"] is None:
        raise ValueError("codec 'delta' needs a dtype")
    dtype = np.dtype(params["dtype"])
    astype = dtype if params["astype"] is None else np.dtype(params["astype"])
    if astype != dtype or not dtype.isnative or dtype.kind not in "iuf" or dtype.itemsize > 8:
        raise ValueError(f"codec 'delta' from {dtype} to {astype} has no native form")
    if dtype.kind == "f" and dtype.itemsize == 2:
        raise ValueError("codec 'delta' of float16 has no native form")
    stage.width = dtype.itemsize
    stage.kind_code = c'f' if dtype.kind == "f" else c'i'
    return 0


cdef int parse_blosc(dict params, Stage* stage) except -1:
    if params["cname"] not in BLOSC_FORMATS:
        raise ValueError(f"codec 'blosc': cname must be one of {', '.join(BLOSC_FORMATS)}, got {params['cname']!r}")
    strcpy(stage.cname, (<str>params["cname"]).encode())
    stage.blosc_format = BLOSC_FORMATS[params["cname"]]
    # blosc treats wider items as bytes.
    stage.width = params["typesize"] if params["typesize"] <= 255 else 1
    stage.level = params["clevel"]
    stage.blocksize = params["blocksize"]
    stage.shuffle = params["shuffle"]
    if stage.shuffle < 0:
        stage.shuffle = 2 if stage.width == 1 else 1
    return 0


cdef int parse_any(str name, dict given, Stage* stage) except -1:
    params = checked_params(name, given)
    memset(stage, 0, sizeof(Stage))
    stage.kind = KINDS[name]
    if name == "delta":
        return parse_delta(params, stage)
    if name == "blosc":
        return parse_blosc(params, stage)
    if name == "shuffle":
        stage.width = params["elementsize"]
    elif name == "crc32c":
        if params["location"] not in ("start", "end"):
            raise ValueError(f"codec 'crc32c': location must be 'start' or 'end', got {params['location']!r}")
        stage.at_start = params["location"] == "start"
    elif name == "zstd":
        stage.level = params["level"]
        stage.checksum = bool(params["checksum"])
    elif name == "lz4":
        stage.level = params["acceleration"]
    else:
        stage.level = params["level"]
    return 0


cdef int parse_stage(str name, dict params, Stage* stage) except -1:
    parse_any(name, params, stage)
    if not AVAILABLE[name]:
        raise ValueError(f"codec {name!r} has no native form here: numcodecs' compiled modules do not export its functions")
    return 0


# --- stages

cdef int64_t stage_encoded_size(const Stage* s, int64_t n) noexcept nogil:
    if s.kind == STAGE_CRC32C:
        return n + 4
    if s.kind == STAGE_SHUFFLE or s.kind == STAGE_DELTA:
        return n
    return -1


cdef int64_t stage_bound(const Stage* s, int64_t n) noexcept nogil:
    if s.kind == STAGE_ZSTD:
        return zstd_bound(n)
    if s.kind == STAGE_GZIP or s.kind == STAGE_ZLIB:
        return deflate_bound(n)
    if s.kind == STAGE_LZ4:
        return lz4_bound(n) + LZ4_HEADER
    if s.kind == STAGE_BLOSC:
        return n + BLOSC_OVERHEAD
    return stage_encoded_size(s, n)


cdef inline void store32(char* to, uint32_t value) noexcept nogil:
    to[0] = <char>(value & 255)
    to[1] = <char>((value >> 8) & 255)
    to[2] = <char>((value >> 16) & 255)
    to[3] = <char>(value >> 24)


cdef bint checksum_strip(const Stage* s, const char** data, int64_t* n) noexcept nogil:
    cdef const char* body = data[0] + 4 if s.at_start else data[0]
    cdef const char* stored
    if n[0] < 4:
        return False
    stored = data[0] if s.at_start else data[0] + n[0] - 4
    if crc32c(0, <const uint8_t*>body, n[0] - 4) != load32(stored):
        return False
    data[0] = body
    n[0] -= 4
    return True


cdef int64_t decode_framed_lz4(const char* src, int64_t n, char* dst, int64_t room) noexcept nogil:
    cdef int64_t size, made
    if n < LZ4_HEADER:
        return DAMAGED
    size = load32(src)
    if size > 0x7fffffff:
        return DAMAGED
    if size > room:
        return TOO_SMALL
    if size == 0 and n == LZ4_HEADER:
        return 0
    made = lz4_decode(src + LZ4_HEADER, n - LZ4_HEADER, dst, size)
    return made if made == size else DAMAGED


cdef int64_t decode_same_size(const Stage* s, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil:
    if n > room:
        return TOO_SMALL
    if s.kind == STAGE_SHUFFLE:
        unshuffle_bytes(<const uint8_t*>src, <uint8_t*>dst, n, s.width)
        return n
    if n % s.width:
        return DAMAGED
    delta_decode_bytes(<const uint8_t*>src, <uint8_t*>dst, n // s.width, <int>s.width, s.kind_code)
    return n


cdef int64_t stage_decode(const Stage* s, Context* c, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil:
    if s.kind == STAGE_ZSTD:
        return zstd_decode(c, src, n, dst, room)
    if s.kind == STAGE_BLOSC:
        return blosc_decode(c, src, n, dst, room)
    if s.kind == STAGE_GZIP:
        return inflate_decode(c, GZIP_BITS, src, n, dst, room)
    if s.kind == STAGE_ZLIB:
        return inflate_decode(c, ZLIB_BITS, src, n, dst, room)
    if s.kind == STAGE_LZ4:
        return decode_framed_lz4(src, n, dst, room)
    if s.kind == STAGE_CRC32C:
        if not checksum_strip(s, &src, &n):
            return DAMAGED
        if n > room:
            return TOO_SMALL
        memcpy(dst, src, n)
        return n
    return decode_same_size(s, src, n, dst, room)


cdef int64_t encode_framed_lz4(int acceleration, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil:
    cdef int64_t made
    if n > 0x7fffffff or room < LZ4_HEADER:
        return DAMAGED
    store32(dst, <uint32_t>n)
    made = lz4_encode(acceleration, src, n, dst + LZ4_HEADER, room - LZ4_HEADER)
    return made if made < 0 else made + LZ4_HEADER


cdef int64_t encode_plain(const Stage* s, const char* src, int64_t n, char* dst) noexcept nogil:
    """Stages whose result size is known; the caller has made that much room."""
    if s.kind == STAGE_SHUFFLE:
        if n % s.width:
            return DAMAGED      # what is over would be read by some others only
        shuffle_bytes(<const uint8_t*>src, <uint8_t*>dst, n, s.width)
        return n
    if s.kind == STAGE_DELTA:
        if n % s.width:
            return DAMAGED
        delta_encode_bytes(<const uint8_t*>src, <uint8_t*>dst, n // s.width, <int>s.width, s.kind_code)
        return n
    memcpy(dst + 4 if s.at_start else dst, src, n)
    store32(dst if s.at_start else dst + n, crc32c(0, <const uint8_t*>src, n))
    return n + 4


cdef int64_t stage_encode(const Stage* s, Context* c, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil:
    if s.kind == STAGE_ZSTD:
        return zstd_encode(c, s.level, s.checksum, src, n, dst, room)
    if s.kind == STAGE_BLOSC:
        return blosc_encode(
            c, s.level, s.shuffle, <int>s.width, s.blocksize, s.cname, s.blosc_format, src, n, dst, room,
        )
    if s.kind == STAGE_GZIP:
        return deflate_encode(c, GZIP_BITS, s.level, src, n, dst, room)
    if s.kind == STAGE_ZLIB:
        return deflate_encode(c, ZLIB_BITS, s.level, src, n, dst, room)
    if s.kind == STAGE_LZ4:
        return encode_framed_lz4(s.level, src, n, dst, room)
    if stage_encoded_size(s, n) > room:
        return TOO_SMALL
    return encode_plain(s, src, n, dst)


# --- results of unknown size

cdef int64_t first_guess(const Stage* s, const char* src, int64_t n) noexcept nogil:
    """Room to begin with: what the payload declares where that is believable, else a multiple of the payload."""
    cdef BloscFrame frame
    cdef unsigned long long declared
    cdef int64_t guess = 4 * n
    if s.kind == STAGE_BLOSC:
        return frame.nbytes if blosc_open(&frame, src, n) == 0 else 0
    if s.kind == STAGE_LZ4:
        # One byte of lz4 stands for at most 255.
        guess = load32(src) if n >= LZ4_HEADER else 0
        return guess if guess <= 255 * n else 0
    if s.kind == STAGE_ZSTD:
        declared = api_table().zstd_content_size(src, n)
        if declared <= <unsigned long long>(64 * n):
            return <int64_t>declared
    elif s.kind != STAGE_GZIP and s.kind != STAGE_ZLIB:
        return n
    return guess if guess > 1 << 16 else 1 << 16


cdef int64_t stage_decode_growing(
    const Stage* s, Context* c, const char* src, int64_t n, char** dst, int64_t* room, int64_t limit,
) noexcept nogil:
    """Tries with more and more room; dst is this function's malloc'ed result, freed by the caller in every case."""
    cdef int64_t size = first_guess(s, src, n), made
    while True:
        if size > limit:
            size = limit
        if dst[0] == NULL or room[0] < size:
            free(dst[0])
            dst[0] = <char*>malloc(size + 64)
            room[0] = size if dst[0] != NULL else 0
            if dst[0] == NULL:
                return NO_MEMORY
        made = stage_decode(s, c, src, n, dst[0], size)
        if made != TOO_SMALL or size >= limit:
            return made
        size = 2 * size if size > 1 << 16 else 1 << 17


# --- what is here

cdef bint survives(str name, dict params) except -1:
    """One sample there and back."""
    cdef Stage stage
    cdef char sample[512]
    cdef char packed[1024]
    cdef char back[512]
    cdef int64_t made
    cdef int i
    cdef Context* c = context_new()
    if c == NULL:
        return False
    for i in range(512):
        sample[i] = <char>((i * i) >> 9)
    parse_any(name, params, &stage)
    made = stage_encode(&stage, c, sample, 512, packed, 1024)
    if made > 0:
        made = stage_decode(&stage, c, packed, made, back, 512)
    context_free(c)
    return made == 512 and memcmp(sample, back, 512) == 0


cdef dict find_available():
    found = {
        "zstd": has_zstd(), "gzip": has_zlib(), "zlib": has_zlib(), "lz4": has_lz4(),
        "blosc": has_blosc() and has_zstd() and has_zlib() and has_lz4(),
        "crc32c": True, "shuffle": True, "delta": True,
    }
    return {
        name: bool(here) and survives(name, {"dtype": "u4"} if name == "delta" else {}) for name, here in found.items()
    }


cdef dict AVAILABLE = find_available()


cdef bint is_available(str name) except -1:
    return AVAILABLE[name]


cdef dict all_available():
    return dict(AVAILABLE)
