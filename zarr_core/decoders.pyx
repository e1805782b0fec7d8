"""Encode and decode with one native codec: sizes are checked, and errors give the reason.

If a codec's C functions were not found, ``decode`` and ``encode`` use numcodecs' Python calls.
"""
import importlib

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from zarr_core.blosc cimport BloscFrame, blosc_open
from zarr_core.blosc_parts cimport Stored, blosc_range, stored_in_memory
from zarr_core.payloads cimport view_bytes
from zarr_core.stages cimport (
    STAGE_CRC32C,
    Stage,
    all_available,
    is_available,
    load32,
    parse_any,
    stage_bound,
    stage_decode,
    stage_decode_growing,
    stage_encode,
)
from zarr_core.streams cimport (
    DAMAGED,
    NO_MEMORY,
    TOO_SMALL,
    Context,
    context_free,
    context_new,
    scratch_reserve,
)
from zarr_core.symbols cimport crc32c

import numpy as np

cnp.import_array()

cdef enum:
    RELEASE_GIL_BYTES = 64 << 10

# More than any chunk that was ever worth storing; what a payload of unknown size may at most grow to.
DEFAULT_MAX_NBYTES = 1 << 34


cdef void explain(str name, const Stage* s, const char* src, int64_t n, int64_t code, int64_t wanted) except *:
    """Raise the error for a result, with the numbers."""
    if code == NO_MEMORY:
        raise ValueError(f"{name}: not enough memory to decode a payload of {n} bytes")
    if code == TOO_SMALL:
        raise ValueError(f"{name}: a payload of {n} bytes decodes to more than the {wanted} bytes expected")
    if code >= 0:
        raise ValueError(f"{name}: a payload of {n} bytes decodes to {code} bytes, not {wanted}")
    if s.kind == STAGE_CRC32C and n >= 4:
        stored = load32(src if s.at_start else src + n - 4)
        found = crc32c(0, <const uint8_t*>src + (4 if s.at_start else 0), n - 4)
        raise ValueError(f"crc32c: the stored checksum is {stored:#010x}, that of the {n - 4} bytes is {found:#010x}")
    raise ValueError(f"{name}: the payload of {n} bytes is damaged or not {name}")


cdef object plain_codecs():
    """numcodecs' Python calls, imported only where they are needed."""
    return importlib.import_module("zarr_core.reference.decoders")


cdef object decode_exact(str name, const Stage* s, const char* src, int64_t n, int64_t nbytes):
    cdef cnp.ndarray out
    cdef Context* c
    cdef char* dst
    cdef int64_t made
    out = np.empty(nbytes, np.uint8)
    dst = <char*>cnp.PyArray_DATA(out)
    c = context_new()
    if c == NULL:
        raise MemoryError
    if n + nbytes >= RELEASE_GIL_BYTES:
        with nogil:
            made = stage_decode(s, c, src, n, dst, nbytes)
    else:
        made = stage_decode(s, c, src, n, dst, nbytes)
    context_free(c)
    if made != nbytes:
        explain(name, s, src, n, made, nbytes)
    return out


cdef object decode_open(str name, const Stage* s, const char* src, int64_t n, int64_t limit):
    cdef Context* c = context_new()
    cdef char* dst = NULL
    cdef int64_t room = 0, made
    cdef cnp.ndarray out
    if c == NULL:
        raise MemoryError
    with nogil:
        made = stage_decode_growing(s, c, src, n, &dst, &room, limit)
    context_free(c)
    try:
        if made < 0:
            explain(name, s, src, n, made, limit)
        out = np.empty(made, np.uint8)
        memcpy(cnp.PyArray_DATA(out), dst, made)
    finally:
        free(dst)
    return out


def decode(str name, payload, nbytes=None, *, max_nbytes=None, **params):
    """Decode one codec's bytes.

    Parameters
    ----------
    name : str
        zstd, gzip, zlib, lz4, blosc, crc32c, shuffle or delta.
    payload : bytes-like
        The stored bytes.
    nbytes : int, optional
        The exact size of the result. Without it the result may grow up to ``max_nbytes``.
    max_nbytes : int, optional
        The largest result accepted when ``nbytes`` is not given, 16 GiB by default.
    **params
        The codec's parameters, as in ``encode``; most codecs need none to decode.

    Returns
    -------
    numpy.ndarray
        One-dimensional, uint8.

    Raises
    ------
    ValueError
        Damaged bytes, a result of another size, an unknown codec or parameter.

    Examples
    --------
    >>> bytes(decode("zstd", encode("zstd", b"abc"), 3))
    b'abc'
    """
    cdef Stage stage
    cdef const char* src
    cdef int64_t n, limit
    parse_any(name, params, &stage)
    owner = view_bytes(payload, &src, &n)
    if nbytes is not None and nbytes < 0:
        raise ValueError(f"nbytes must not be negative, got {nbytes}")
    if not is_available(name):
        return plain_codecs().decode(name, owner, nbytes, max_nbytes=max_nbytes, **params)
    if nbytes is not None:
        return decode_exact(name, &stage, src, n, nbytes)
    limit = DEFAULT_MAX_NBYTES if max_nbytes is None else max_nbytes
    if limit < 0:
        raise ValueError(f"max_nbytes must not be negative, got {limit}")
    return decode_open(name, &stage, src, n, limit)


def encode(str name, data, **params) -> bytes:
    """Encode bytes with one codec.

    Parameters
    ----------
    name : str
        zstd, gzip, zlib, lz4, blosc, crc32c, shuffle or delta.
    data : bytes-like
        What to encode.
    **params
        zstd: level, checksum. gzip, zlib: level. lz4: acceleration. blosc: cname, clevel, shuffle, typesize, blocksize.
        crc32c: location. shuffle: elementsize. delta: dtype.

    Returns
    -------
    bytes
        The stored form.

    Raises
    ------
    ValueError
        An unknown codec or parameter, or data that the codec cannot hold.

    Examples
    --------
    >>> encode("crc32c", b"123456789")[-4:].hex()
    '839206e3'
    """
    cdef Stage stage
    cdef const char* src
    cdef int64_t n, made, bound
    cdef Context* c
    cdef char* dst
    parse_any(name, params, &stage)
    owner = view_bytes(data, &src, &n)
    if not is_available(name):
        return plain_codecs().encode(name, owner, **params)
    bound = stage_bound(&stage, n)
    c = context_new()
    if c == NULL or scratch_reserve(&c.ping, bound) == NULL:
        context_free(c)
        raise MemoryError
    dst = c.ping.data
    with nogil:
        made = stage_encode(&stage, c, src, n, dst, bound)
    try:
        if made < 0:
            raise ValueError(f"{name}: {n} bytes cannot be encoded with {params}")
        return dst[:made]
    finally:
        context_free(c)


def decode_blosc_range(payload, start: int, stop: int):
    """Decode some bytes of a blosc frame, reading only the blocks that hold them.

    Parameters
    ----------
    payload : bytes-like
        A whole blosc frame.
    start, stop : int
        Decoded bytes wanted, ``0 <= start <= stop <= decoded size``.

    Returns
    -------
    numpy.ndarray
        ``stop - start`` bytes, uint8.

    Raises
    ------
    IndexError
        A range outside the frame.
    ValueError
        A damaged frame.

    Examples
    --------
    >>> bytes(decode_blosc_range(encode("blosc", b"abcdef"), 2, 4))
    b'cd'
    """
    cdef const char* src
    cdef int64_t n, low = start, high = stop, first, last, code
    cdef BloscFrame frame
    cdef Stored stored
    cdef Stage stage
    cdef Context* c
    cdef cnp.ndarray blocks
    cdef char* dst
    owner = view_bytes(payload, &src, &n)
    parse_any("blosc", {}, &stage)
    if blosc_open(&frame, src, n) < 0:
        explain("blosc", &stage, src, n, DAMAGED, -1)
    if not 0 <= low <= high <= frame.nbytes:
        raise IndexError(f"bytes {low} .. {high} do not lie in a frame of {frame.nbytes} bytes")
    if low == high:
        return np.empty(0, np.uint8)
    if frame.stored:
        return np.frombuffer(owner, np.uint8)[16 + low:16 + high].copy()
    first = low // frame.blocksize
    last = (high - 1) // frame.blocksize + 1
    blocks = np.empty(min((last - first) * frame.blocksize, frame.nbytes - first * frame.blocksize), np.uint8)
    dst = <char*>cnp.PyArray_DATA(blocks)
    c = context_new()
    if c == NULL:
        raise MemoryError
    with nogil:
        stored = stored_in_memory(src, n)
        code = blosc_range(c, &stored, &frame, low, high, <uint8_t*>dst)
    context_free(c)
    if code < 0:
        explain("blosc", &stage, src, n, code, -1)
    return blocks[low - first * frame.blocksize:high - first * frame.blocksize]


def available() -> dict[str, bool]:
    """Return which codecs run natively in this process.

    Returns
    -------
    dict of str to bool
        False: numcodecs' Python calls run the codec.

    Examples
    --------
    >>> available()["crc32c"]
    True
    """
    return all_available()
