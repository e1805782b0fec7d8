"""C functions of zstd, lz4, zlib and blosc, found inside the compiled modules that numcodecs installs.

numcodecs links these libraries statically and exports their functions. zlib is taken from Python's own module where that
links a library of the system: those are built for the machine, and compress in four fifths of the time. The modules are opened by path, so that this
costs no import of numcodecs itself. A family of functions counts as found only if all of it is found in one module.
"""
import importlib.machinery
import importlib.util
import os

from libc.stdint cimport uint8_t, uint32_t


cdef extern from "symbols.h" nogil:
    void* zc_library(const char* path)
    void* zc_symbol(void* library, const char* name)


cdef extern from "crc32c.h" nogil:
    ctypedef uint32_t (*zc_crc32c_function)(uint32_t, const uint8_t*, size_t) noexcept nogil
    zc_crc32c_function zc_crc32c_init()
    uint32_t zc_crc32c_table(uint32_t crc, const uint8_t* data, size_t n)


cdef zc_api api
cdef zc_crc32c_function crc_function = zc_crc32c_init()


cdef const zc_api* api_table() noexcept nogil:
    return &api


cdef bint has_zstd() noexcept nogil:
    return api.zstd_decompress != NULL


cdef bint has_lz4() noexcept nogil:
    return api.lz4_decompress != NULL


cdef bint has_zlib() noexcept nogil:
    return api.inflate != NULL


cdef bint has_blosc() noexcept nogil:
    return api.blosc_compress != NULL


cdef uint32_t crc32c(uint32_t crc, const uint8_t* data, size_t n) noexcept nogil:
    return crc_function(crc, data, n)


def crc32c_portable(data: bytes, start: int = 0) -> int:
    """The checksum by tables alone: what processors without the instruction run, kept reachable for the tests."""
    cdef const uint8_t* bytes_of = <const uint8_t*><const char*>data
    return zc_crc32c_table(start, bytes_of, len(data))


ZSTD_NAMES = (
    "ZSTD_createDCtx", "ZSTD_freeDCtx", "ZSTD_decompressDCtx", "ZSTD_createCCtx", "ZSTD_freeCCtx", "ZSTD_compress2",
    "ZSTD_CCtx_setParameter", "ZSTD_compressBound", "ZSTD_isError", "ZSTD_getErrorCode", "ZSTD_getFrameContentSize",
    "ZSTD_sizeof_CCtx", "ZSTD_sizeof_DCtx",
)
LZ4_NAMES = ("LZ4_decompress_safe", "LZ4_compress_fast", "LZ4_compressBound", "LZ4_decompress_safe_partial")
ZLIB_NAMES = (
    "zlibVersion", "inflateInit2_", "inflate", "inflateReset", "inflateEnd",
    "deflateInit2_", "deflate", "deflateReset", "deflateEnd", "deflateBound",
)
BLOSC_NAMES = ("blosc_compress_ctx",)


cdef bint resolve(void* library, tuple names, void** slots) noexcept:
    """Fills consecutive function slots, all or none."""
    cdef Py_ssize_t i, n = len(names)
    cdef void* found[16]
    for i in range(n):
        name = (<str>names[i]).encode()
        found[i] = zc_symbol(library, name)
        if found[i] == NULL:
            return False
    for i in range(n):
        slots[i] = found[i]
    return True


def _compiled_module(name: str) -> str | None:
    """The path of one of numcodecs' compiled modules, found without importing it where that is possible."""
    spec = importlib.util.find_spec("numcodecs")
    if spec is None:
        return None
    for folder in spec.submodule_search_locations or ():
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            path = os.path.join(folder, name + suffix)
            if os.path.exists(path):
                return path
    # Editable installs keep compiled modules elsewhere.
    found = importlib.util.find_spec(f"numcodecs.{name}")
    return found.origin if found is not None else None


cdef int load_zlib() except -1:
    """Takes zlib from Python's module, if that is a file; in a static interpreter it is none."""
    cdef void* library
    spec = importlib.util.find_spec("zlib")
    if spec is not None and spec.has_location:
        library = zc_library(os.fsencode(spec.origin))
        if library != NULL:
            resolve(library, ZLIB_NAMES, <void**>&api.zlib_version)
    return 0


cdef int load_all() except -1:
    cdef void* library
    load_zlib()
    for name in ("zstd", "lz4", "blosc"):
        path = _compiled_module(name)
        if path is None:
            continue
        library = zc_library(os.fsencode(path))
        if library == NULL:
            continue
        if api.zstd_decompress == NULL:
            resolve(library, ZSTD_NAMES, <void**>&api.zstd_create_dctx)
        if api.lz4_decompress == NULL:
            resolve(library, LZ4_NAMES, <void**>&api.lz4_decompress)
        if api.inflate == NULL:
            resolve(library, ZLIB_NAMES, <void**>&api.zlib_version)
        if api.blosc_compress == NULL:
            resolve(library, BLOSC_NAMES, <void**>&api.blosc_compress)
    if api.inflate != NULL and api.zlib_version()[0] != c'1':
        api.inflate = NULL
    return 0


load_all()
