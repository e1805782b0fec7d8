"""Items behind offsets, the layout of Arrow's strings and of the strings draft ZEP 7.

``count + 1`` little-endian signed offsets of 4 or 8 bytes, zeros up to a multiple of 64 bytes, the bytes of all items.
"""
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from zarr_core.payloads cimport view_bytes
from zarr_core.vlen cimport (
    GOOD,
    NO_ROOM,
    NpyString_acquire_allocator,
    NpyString_load,
    NpyString_pack,
    NpyString_release_allocator,
    PyArray_StringDTypeObject,
    checked_out,
    complain_of_string,
    measure_fixed_text,
    measure_strings,
    npy_packed_static_string,
    npy_static_string,
    npy_string_allocator,
    plain_bytes,
    text_of,
    zc_ucs4_write,
    zc_utf8_valid,
)

import numpy as np

cnp.import_array()


cdef extern from "offsets.h" nogil:
    int64_t zc_offset(const uint8_t* p, int64_t i, int width)
    void zc_store_offset(uint8_t* p, int64_t i, int width, int64_t value)
    int64_t zc_bad_offset(const uint8_t* p, int64_t n, int width, int64_t limit)
    int64_t zc_split_character(const uint8_t* p, int64_t n, int width, const uint8_t* data, int64_t size)


cdef enum:
    ALIGNMENT = 64


# --- guards

cdef int checked_width(width) except -1:
    if width not in (4, 8):
        raise ValueError(f"offsets have 4 or 8 bytes, got a width of {width!r}")
    return width


cdef int64_t data_place(int64_t count, int width) except -1:
    """Return where the bytes of the items begin."""
    if count < 0:
        raise ValueError(f"the number of items must not be negative, got {count}")
    if count > (<int64_t>1 << 59):
        raise ValueError(f"{count} items are more than a chunk can hold")
    return ((count + 1) * width + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


cdef int64_t check_offsets(const char* data, int64_t n, int64_t count, int width) except -1:
    """Return the begin of the bytes of the items, after a check of every offset."""
    cdef int64_t start = data_place(count, width), bad, last
    cdef const uint8_t* p = <const uint8_t*>data
    if n < start:
        raise ValueError(f"{n} bytes are too few for {count} items: their offsets and padding take {start}")
    with nogil:
        bad = zc_bad_offset(p, count + 1, width, n - start)
    if bad >= 0:
        raise ValueError(
            f"offset {bad} of {count + 1} is {zc_offset(p, bad, width)}, which does not lie between "
            f"{zc_offset(p, bad - 1, width) if bad else 0} (the one before it) and {n - start if bad else 0}"
        )
    last = zc_offset(p, count, width)
    if last != n - start:
        raise ValueError(f"the items end at byte {last}, but {n - start} bytes of data are there")
    return start


cdef int check_text(const char* data, int64_t n, int64_t count, int width, int64_t start) except -1:
    """Check that all bytes together are valid text, and that no item begins inside a character."""
    cdef const uint8_t* p = <const uint8_t*>data
    cdef int64_t bad = 0, i, at, end
    cdef bint valid
    with nogil:
        valid = zc_utf8_valid(p + start, n - start)
        if valid:
            bad = zc_split_character(p, count + 1, width, p + start, n - start)
    if valid and bad < 0:
        return 0
    for i in range(count):
        at, end = zc_offset(p, i, width), zc_offset(p, i + 1, width)
        if not zc_utf8_valid(p + start + at, end - at):
            raise ValueError(f"item {i} of {count}, at byte {start + at}, is not valid UTF-8")
    return 0


# --- unpacking

cdef int unpack_offset_objects(
    const char* data, int64_t count, int width, int64_t start, PyObject** items, bint text
) except -1:
    cdef const uint8_t* p = <const uint8_t*>data
    cdef int64_t i, at = 0, end
    cdef PyObject* old
    for i in range(count):
        end = zc_offset(p, i + 1, width)
        if text:
            item = PyUnicode_DecodeUTF8(data + start + at, end - at, NULL)
        else:
            item = PyBytes_FromStringAndSize(data + start + at, end - at)
        Py_INCREF(item)
        old = items[i]
        items[i] = <PyObject*>item
        Py_XDECREF(old)
        at = end
    return 0


cdef int store_strings(
    const char* data, int64_t count, int width, int64_t start, char* items, Py_ssize_t itemsize,
    npy_string_allocator* allocator,
) noexcept nogil:
    cdef const uint8_t* p = <const uint8_t*>data
    cdef int64_t i, at = 0, end
    for i in range(count):
        end = zc_offset(p, i + 1, width)
        if NpyString_pack(
            allocator, <npy_packed_static_string*>(items + i * itemsize), data + start + at, end - at
        ) < 0:
            return NO_ROOM
        at = end
    return GOOD


cdef int unpack_offset_strings(const char* data, int64_t count, int width, int64_t start, cnp.ndarray out) except -1:
    cdef cnp.dtype dtype = out.descr
    cdef const PyArray_StringDTypeObject* descr = <const PyArray_StringDTypeObject*><PyObject*>dtype
    cdef npy_string_allocator* allocator
    cdef char* items = <char*>cnp.PyArray_DATA(out)
    cdef Py_ssize_t itemsize = cnp.PyArray_ITEMSIZE(out)
    cdef int code
    with nogil:
        allocator = NpyString_acquire_allocator(descr)
        code = store_strings(data, count, width, start, items, itemsize, allocator)
        NpyString_release_allocator(allocator)
    if code != GOOD:
        raise MemoryError
    return 0


def check_arrow(raw, count: int, width: int, text: bool) -> int:
    """Check items behind offsets, and return the begin of their bytes.

    Parameters
    ----------
    raw : bytes-like
        A chunk: ``count + 1`` little-endian signed offsets, zeros to a multiple of 64 bytes, the bytes of the items.
    count : int
        Items expected.
    width : int
        Bytes of an offset, 4 or 8.
    text : bool
        If True, the items must be valid UTF-8.

    Returns
    -------
    int
        Where the bytes of the items begin.

    Raises
    ------
    ValueError
        Malformed data. Every offset is checked before any byte of an item is looked at.

    Examples
    --------
    >>> import numpy as np
    >>> check_arrow(pack_arrow(np.array(["a", "bc"], dtype=object), 4, True), 2, 4, True)
    64
    """
    cdef const char* data
    cdef int64_t n, start
    owner = view_bytes(raw, &data, &n)
    checked_width(width)
    start = check_offsets(data, n, count, width)
    if text:
        check_text(data, n, count, width, start)
    return start


def unpack_arrow(raw, count: int, width: int, text: bool, out=None):
    """Unpack items behind offsets.

    Parameters
    ----------
    raw : bytes-like
        A chunk: ``count + 1`` little-endian signed offsets, zeros to a multiple of 64 bytes, the bytes of the items.
    count : int
        Items expected.
    width : int
        Bytes of an offset, 4 or 8.
    text : bool
        If True, the items are strings, in UTF-8.
    out : numpy.ndarray, optional
        Where to put them: C-contiguous, of objects, or for text of NumPy's StringDType. A new object array by default.

    Returns
    -------
    numpy.ndarray
        ``out``.

    Raises
    ------
    ValueError
        Malformed data (UnicodeDecodeError, a ValueError too, for bad UTF-8 into objects).
    TypeError
        An output of another kind.

    Examples
    --------
    >>> import numpy as np
    >>> unpack_arrow(pack_arrow(np.array(["a", "bc"], dtype=object), 4, True), 2, 4, True).tolist()
    ['a', 'bc']
    """
    cdef const char* data
    cdef int64_t n, start
    cdef cnp.ndarray array
    owner = view_bytes(raw, &data, &n)
    checked_width(width)
    start = check_offsets(data, n, count, width)
    out = checked_out(out, count, text)
    array = out
    if cnp.PyArray_TYPE(array) == cnp.NPY_OBJECT:
        unpack_offset_objects(data, count, width, start, <PyObject**>cnp.PyArray_DATA(array), text)
    else:
        check_text(data, n, count, width, start)
        unpack_offset_strings(data, count, width, start, array)
    return out


# --- packing

cdef object new_arrow(int64_t body, int64_t count, int width):
    """Room for count items with body bytes in all; the first offset and the padding are zeros already."""
    cdef int64_t start = data_place(count, width)
    if width == 4 and body > 0x7fffffff:
        raise ValueError(
            f"{body} bytes of items are more than offsets of 4 bytes can count; use 8-byte offsets or smaller chunks"
        )
    packed = PyBytes_FromStringAndSize(NULL, start + body)
    memset(PyBytes_AS_STRING(packed), 0, width)
    memset(PyBytes_AS_STRING(packed) + (count + 1) * width, 0, start - (count + 1) * width)
    return packed


cdef object pack_arrow_objects(list items, int width, bint text):
    """Pack a copy of the list, so that no other thread changes an item between measuring and writing."""
    cdef int64_t i, count = len(items), body = 0, end = 0
    cdef Py_ssize_t size
    cdef const char* data = NULL
    cdef uint8_t* to
    cdef char* at
    for i in range(count):
        if text:
            body += text_of(items[i], i, &data)
        else:
            items[i] = plain_bytes(items[i], i)
            body += PyBytes_GET_SIZE(items[i])
    packed = new_arrow(body, count, width)
    to = <uint8_t*>PyBytes_AS_STRING(packed)
    at = <char*>to + data_place(count, width)
    for i in range(count):
        if text:
            size = text_of(items[i], i, &data)
        else:
            size = PyBytes_GET_SIZE(items[i])
            data = PyBytes_AS_STRING(items[i])
        if size:
            memcpy(at + end, data, size)
        end += size
        zc_store_offset(to, i + 1, width, end)
    return packed


cdef void write_offset_strings(
    const char* items, int64_t count, Py_ssize_t itemsize, npy_string_allocator* allocator, int width, uint8_t* to,
    char* at,
) noexcept nogil:
    cdef npy_static_string view
    cdef int64_t i, end = 0
    for i in range(count):
        view.size = 0
        NpyString_load(allocator, <const npy_packed_static_string*>(items + i * itemsize), &view)
        if view.size:
            memcpy(at + end, view.buf, view.size)
        end += view.size
        zc_store_offset(to, i + 1, width, end)


cdef object pack_arrow_strings(cnp.ndarray array, int width):
    cdef cnp.dtype dtype = array.descr
    cdef const PyArray_StringDTypeObject* descr = <const PyArray_StringDTypeObject*><PyObject*>dtype
    cdef const char* items = <const char*>cnp.PyArray_DATA(array)
    cdef Py_ssize_t itemsize = cnp.PyArray_ITEMSIZE(array)
    cdef int64_t count = cnp.PyArray_SIZE(array), body, item = 0
    cdef char* to
    # The allocator stays locked between measuring and writing, so that no string changes its size meanwhile.
    cdef npy_string_allocator* allocator = NpyString_acquire_allocator(descr)
    try:
        body = measure_strings(items, count, itemsize, allocator, &item)
        if body >= 0:
            packed = new_arrow(body, count, width)
            to = PyBytes_AS_STRING(packed)
            write_offset_strings(items, count, itemsize, allocator, width, <uint8_t*>to, to + data_place(count, width))
    finally:
        NpyString_release_allocator(allocator)
    complain_of_string(body, item)
    return packed


cdef object pack_arrow_text(cnp.ndarray array, int width):
    cdef const uint32_t* items = <const uint32_t*>cnp.PyArray_DATA(array)
    cdef int64_t i, count = cnp.PyArray_SIZE(array), body, length = cnp.PyArray_ITEMSIZE(array) // 4
    cdef uint8_t* to
    cdef uint8_t* data
    cdef uint8_t* end
    body = measure_fixed_text(items, count, length)
    packed = new_arrow(body, count, width)
    to = <uint8_t*>PyBytes_AS_STRING(packed)
    end = data = to + data_place(count, width)
    for i in range(count):
        end = zc_ucs4_write(items + i * length, length, end)
        zc_store_offset(to, i + 1, width, end - data)
    return packed


def pack_arrow(array, width: int, text: bool) -> bytes:
    """Pack items behind offsets, in C order.

    Parameters
    ----------
    array : numpy.ndarray
        For text: of objects, of NumPy's StringDType, or of fixed-width text. For bytes: of objects, or of fixed-width
        byte strings. Among objects None and 0 count as empty.
    width : int
        Bytes of an offset, 4 or 8.
    text : bool
        If True, the items are strings.

    Returns
    -------
    bytes
        The chunk: ``count + 1`` little-endian signed offsets, zeros to a multiple of 64 bytes, the bytes of the items.

    Raises
    ------
    TypeError
        Another kind of array, or an item of another type.
    ValueError
        An item that UTF-8 cannot hold, or more bytes than offsets of that width can count.

    Examples
    --------
    >>> import numpy as np
    >>> packed = pack_arrow(np.array(["é", "", "ab"], dtype=object), 4, True)
    >>> np.frombuffer(packed, "<i4", 4).tolist(), packed[64:].hex()
    ([0, 2, 2, 4], 'c3a96162')
    """
    if not isinstance(array, cnp.ndarray):
        raise TypeError(f"expected a NumPy array, got {type(array).__name__}")
    checked_width(width)
    kind = array.dtype.kind
    if kind == "O" or (kind == "S" and not text):
        return pack_arrow_objects(array.reshape(-1).tolist(), width, text)
    if kind == "T" and text:
        return pack_arrow_strings(np.ascontiguousarray(array), width)
    if kind == "U" and text:
        return pack_arrow_text(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")), width)
    raise TypeError(f"{'strings' if text else 'byte strings'} cannot be packed from an array of {array.dtype}")
