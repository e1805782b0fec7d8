"""Strings and byte strings of any length: a count, then each item's length and bytes, all numbers little-endian u32.

Strings go to and from object arrays and NumPy's StringDType; for the latter no Python object is made per item.
"""
cimport numpy as cnp
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_Check, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.unicode cimport PyUnicode_Check, PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from zarr_core.payloads cimport view_bytes

import numpy as np

cnp.import_array()


cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL


cdef enum:
    PREFIX = 4
    RELEASE_GIL_BYTES = 64 << 10
    # Further results of a walk over packed items.
    BAD_LENGTH = 1
    BAD_TEXT = 2

cdef int64_t MAX_U32 = 0xffffffff


cdef inline int64_t load32(const char* data) noexcept nogil:
    cdef const uint8_t* p = <const uint8_t*>data
    return <int64_t>(<uint32_t>p[0] | <uint32_t>p[1] << 8 | <uint32_t>p[2] << 16 | <uint32_t>p[3] << 24)


cdef inline void store32(char* to, int64_t value) noexcept nogil:
    to[0] = <char>(value & 255)
    to[1] = <char>((value >> 8) & 255)
    to[2] = <char>((value >> 16) & 255)
    to[3] = <char>((value >> 24) & 255)


# --- guards

cdef int check_header(const char* data, int64_t n, int64_t count) except -1:
    if count < 0:
        raise ValueError(f"the number of items must not be negative, got {count}")
    if n < PREFIX:
        raise ValueError(f"{n} bytes are too few for a packed chunk: it begins with a 4-byte item count")
    if load32(data) != count:
        raise ValueError(f"the packed chunk holds {load32(data)} items, {count} were expected")
    if (n - PREFIX) // PREFIX < count:
        raise ValueError(f"the packed chunk of {n} bytes is too short for the lengths of {count} items")
    return 0


cdef object checked_out(object out, int64_t count, bint text):
    cdef cnp.ndarray array
    if out is None:
        return np.empty(count, dtype=object)
    if not isinstance(out, cnp.ndarray):
        raise TypeError(f"out must be a NumPy array, got {type(out).__name__}")
    array = out
    if cnp.PyArray_TYPE(array) != cnp.NPY_OBJECT and not (text and cnp.PyArray_TYPE(array) == cnp.NPY_VSTRING):
        raise TypeError(f"items cannot be unpacked into an array of {out.dtype}")
    if cnp.PyArray_SIZE(array) != count or not cnp.PyArray_IS_C_CONTIGUOUS(array):
        raise ValueError(f"out must be C-contiguous with {count} items, got shape {out.shape}, strides {out.strides}")
    if not cnp.PyArray_ISWRITEABLE(array):
        raise ValueError("out is read-only")
    return out


cdef void complain(const char* data, int64_t n, int64_t count, int64_t item, int64_t at, int code) except *:
    if code == NO_ROOM:
        raise MemoryError
    if n - at < PREFIX:
        raise ValueError(f"the packed chunk of {n} bytes ends inside the length of item {item} of {count}")
    if code == BAD_TEXT:
        raise ValueError(f"item {item} of {count}, at byte {at + PREFIX}, is not valid UTF-8")
    raise ValueError(f"item {item} of {count} has {load32(data + at)} bytes, but only {n - at - PREFIX} are left")


# --- unpacking

cdef inline int64_t next_item(const char* data, int64_t n, int64_t at) noexcept nogil:
    """The size of the item whose length stands at `at`, or -1 where the data ends too early."""
    cdef int64_t size
    if n - at < PREFIX:
        return -1
    size = load32(data + at)
    return size if size <= n - at - PREFIX else -1


cdef int unpack_objects(const char* data, int64_t n, int64_t count, PyObject** items, bint text) except -1:
    cdef int64_t i, size, at = PREFIX
    cdef PyObject* old
    for i in range(count):
        size = next_item(data, n, at)
        if size < 0:
            complain(data, n, count, i, at, BAD_LENGTH)
        at += PREFIX
        if text:
            item = PyUnicode_DecodeUTF8(data + at, size, NULL)
        else:
            item = PyBytes_FromStringAndSize(data + at, size)
        Py_INCREF(item)
        old = items[i]
        items[i] = <PyObject*>item
        Py_XDECREF(old)
        at += size
    return 0


cdef int unpack_strings(
    const char* data, int64_t n, int64_t count, char* items, Py_ssize_t itemsize,
    npy_string_allocator* allocator, int64_t* item, int64_t* place,
) noexcept nogil:
    cdef int64_t i, size, at = PREFIX
    for i in range(count):
        item[0] = i
        place[0] = at
        size = next_item(data, n, at)
        if size < 0:
            return BAD_LENGTH
        at += PREFIX
        if not zc_utf8_valid(<const uint8_t*>data + at, size):
            return BAD_TEXT
        if NpyString_pack(allocator, <npy_packed_static_string*>(items + i * itemsize), data + at, size) < 0:
            return NO_ROOM
        at += size
    return GOOD


cdef int unpack_string_dtype(const char* data, int64_t n, int64_t count, cnp.ndarray out) except -1:
    cdef cnp.dtype dtype = out.descr
    cdef const PyArray_StringDTypeObject* descr = <const PyArray_StringDTypeObject*><PyObject*>dtype
    cdef npy_string_allocator* allocator
    cdef char* items = <char*>cnp.PyArray_DATA(out)
    cdef Py_ssize_t itemsize = cnp.PyArray_ITEMSIZE(out)
    cdef int64_t item = 0, place = 0
    cdef int code
    if n >= RELEASE_GIL_BYTES:
        with nogil:
            allocator = NpyString_acquire_allocator(descr)
            code = unpack_strings(data, n, count, items, itemsize, allocator, &item, &place)
            NpyString_release_allocator(allocator)
    else:
        allocator = NpyString_acquire_allocator(descr)
        code = unpack_strings(data, n, count, items, itemsize, allocator, &item, &place)
        NpyString_release_allocator(allocator)
    if code != GOOD:
        complain(data, n, count, item, place, code)
    return 0


def unpack_utf8(raw, count: int, out=None):
    """Unpack strings.

    Parameters
    ----------
    raw : bytes-like
        A packed chunk.
    count : int
        Items expected.
    out : numpy.ndarray, optional
        Where to put them: C-contiguous, of objects or of NumPy's StringDType. A new object array by default.

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
    >>> unpack_utf8(pack_utf8(np.array(["a", "bc"], dtype=object)), 2).tolist()
    ['a', 'bc']
    """
    cdef const char* data
    cdef int64_t n
    cdef cnp.ndarray array
    owner = view_bytes(raw, &data, &n)
    check_header(data, n, count)
    out = checked_out(out, count, True)
    array = out
    if cnp.PyArray_TYPE(array) == cnp.NPY_OBJECT:
        unpack_objects(data, n, count, <PyObject**>cnp.PyArray_DATA(array), True)
    else:
        unpack_string_dtype(data, n, count, array)
    return out


def unpack_bytes(raw, count: int, out=None):
    """Unpack byte strings.

    Parameters
    ----------
    raw : bytes-like
        A packed chunk.
    count : int
        Items expected.
    out : numpy.ndarray, optional
        A C-contiguous object array; a new one by default.

    Returns
    -------
    numpy.ndarray
        ``out``.

    Raises
    ------
    ValueError
        Malformed data.
    TypeError
        An output of another kind.

    Examples
    --------
    >>> import numpy as np
    >>> unpack_bytes(pack_bytes(np.array([b"a", b""], dtype=object)), 2).tolist()
    [b'a', b'']
    """
    cdef const char* data
    cdef int64_t n
    cdef cnp.ndarray array
    owner = view_bytes(raw, &data, &n)
    check_header(data, n, count)
    out = checked_out(out, count, False)
    array = out
    unpack_objects(data, n, count, <PyObject**>cnp.PyArray_DATA(array), False)
    return out


# --- packing

cdef object new_packed(int64_t body, int64_t count):
    """Room for count items with body bytes in all, the count already written."""
    if count > MAX_U32:
        raise ValueError(f"a packed chunk holds at most {MAX_U32} items, got {count}")
    packed = PyBytes_FromStringAndSize(NULL, PREFIX * (count + 1) + body)
    store32(PyBytes_AS_STRING(packed), count)
    return packed


cdef int check_size(int64_t size, int64_t item) except -1:
    if size > MAX_U32:
        raise ValueError(f"item {item} has {size} bytes; a packed item holds at most {MAX_U32}")
    return 0


cdef bint is_nothing(object item):
    """None and zero, with which arrays of objects begin, stand for empty items."""
    return item is None or (isinstance(item, (int, float)) and item == 0)


cdef Py_ssize_t text_of(object item, int64_t i, const char** data) except -1:
    cdef Py_ssize_t size = 0
    if PyUnicode_Check(item):
        data[0] = PyUnicode_AsUTF8AndSize(item, &size)
    elif not is_nothing(item):
        raise TypeError(f"item {i}: expected str, got {type(item).__name__}")
    return size


cdef object pack_text_objects(list items):
    """Pack a copy of the list, so that no other thread changes an item between measuring and writing."""
    cdef int64_t i, count = len(items), body = 0
    cdef Py_ssize_t size
    cdef const char* data = NULL
    cdef char* to
    for i in range(count):
        size = text_of(items[i], i, &data)
        check_size(size, i)
        body += size
    packed = new_packed(body, count)
    to = PyBytes_AS_STRING(packed) + PREFIX
    for i in range(count):
        size = text_of(items[i], i, &data)
        store32(to, size)
        memcpy(to + PREFIX, data, size)
        to += PREFIX + size
    return packed


cdef int64_t measure_strings(
    const char* items, int64_t count, Py_ssize_t itemsize, npy_string_allocator* allocator, int64_t* item,
) noexcept nogil:
    """Bytes of all strings, or -1: a missing value, -2: unreadable, -3: too long."""
    cdef npy_static_string view
    cdef int64_t i, body = 0
    cdef int code
    for i in range(count):
        item[0] = i
        view.size = 0
        code = NpyString_load(allocator, <const npy_packed_static_string*>(items + i * itemsize), &view)
        if code != 0:
            return -1 if code == 1 else -2
        if view.size > <size_t>MAX_U32:
            return -3
        body += view.size
    return body


cdef void write_strings(
    const char* items, int64_t count, Py_ssize_t itemsize, npy_string_allocator* allocator, char* to,
) noexcept nogil:
    cdef npy_static_string view
    cdef int64_t i
    for i in range(count):
        view.size = 0
        NpyString_load(allocator, <const npy_packed_static_string*>(items + i * itemsize), &view)
        store32(to, view.size)
        if view.size:
            memcpy(to + PREFIX, view.buf, view.size)
        to += PREFIX + view.size


cdef object pack_string_dtype(cnp.ndarray array):
    cdef cnp.dtype dtype = array.descr
    cdef const PyArray_StringDTypeObject* descr = <const PyArray_StringDTypeObject*><PyObject*>dtype
    cdef const char* items = <const char*>cnp.PyArray_DATA(array)
    cdef Py_ssize_t itemsize = cnp.PyArray_ITEMSIZE(array)
    cdef int64_t count = cnp.PyArray_SIZE(array), body, item = 0
    # The allocator stays locked between measuring and writing, so that no string changes its size meanwhile.
    cdef npy_string_allocator* allocator = NpyString_acquire_allocator(descr)
    try:
        body = measure_strings(items, count, itemsize, allocator, &item)
        if body >= 0:
            packed = new_packed(body, count)
            write_strings(items, count, itemsize, allocator, PyBytes_AS_STRING(packed) + PREFIX)
    finally:
        NpyString_release_allocator(allocator)
    complain_of_string(body, item)
    return packed


cdef int complain_of_string(int64_t body, int64_t item) except -1:
    """Raise what ``measure_strings`` found, if anything."""
    if body == -1:
        raise TypeError(f"item {item}: expected str, got a missing value")
    if body == -2:
        raise MemoryError
    if body == -3:
        raise ValueError(f"item {item} is too long; a packed item holds at most {MAX_U32} bytes")
    return 0


cdef int64_t measure_fixed_text(const uint32_t* items, int64_t count, int64_t width) except -1:
    """Bytes that items of so many characters take in UTF-8."""
    cdef int64_t i, size, body = 0
    for i in range(count):
        size = zc_ucs4_size(items + i * width, width)
        if size < 0:
            raise ValueError(f"item {i} holds something that is not a character and cannot be written as UTF-8")
        body += size
    return body


cdef object pack_fixed_text(cnp.ndarray array):
    cdef const uint32_t* items = <const uint32_t*>cnp.PyArray_DATA(array)
    cdef int64_t i, count = cnp.PyArray_SIZE(array), body, width = cnp.PyArray_ITEMSIZE(array) // 4
    cdef char* to
    cdef char* end
    body = measure_fixed_text(items, count, width)
    packed = new_packed(body, count)
    to = PyBytes_AS_STRING(packed) + PREFIX
    for i in range(count):
        end = <char*>zc_ucs4_write(items + i * width, width, <uint8_t*>to + PREFIX)
        store32(to, end - to - PREFIX)
        to = end
    return packed


def pack_utf8(array) -> bytes:
    """Pack strings, in C order.

    Parameters
    ----------
    array : numpy.ndarray
        Of objects, of NumPy's StringDType, or of fixed-width text. Among objects None and 0 count as "".

    Returns
    -------
    bytes
        The packed chunk.

    Raises
    ------
    TypeError
        Another kind of array, or an item that is not a string.
    ValueError
        An item that UTF-8 cannot hold or that is too long.

    Examples
    --------
    >>> import numpy as np
    >>> pack_utf8(np.array(["a"], dtype=object)).hex()
    '010000000100000061'
    """
    if not isinstance(array, cnp.ndarray):
        raise TypeError(f"expected a NumPy array, got {type(array).__name__}")
    kind = array.dtype.kind
    if kind == "O":
        return pack_text_objects(array.reshape(-1).tolist())
    if kind == "T":
        return pack_string_dtype(np.ascontiguousarray(array))
    if kind == "U":
        return pack_fixed_text(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")))
    raise TypeError(f"strings cannot be packed from an array of {array.dtype}")


cdef object plain_bytes(object item, int64_t i):
    if PyBytes_Check(item):
        return item
    if is_nothing(item):
        return b""
    if PyObject_CheckBuffer(item):
        return bytes(item)
    raise TypeError(f"item {i}: expected bytes, got {type(item).__name__}")


def pack_bytes(array) -> bytes:
    """Pack byte strings, in C order.

    Parameters
    ----------
    array : numpy.ndarray
        Of objects, or of fixed-width byte strings. Among objects None and 0 count as b"".

    Returns
    -------
    bytes
        The packed chunk.

    Raises
    ------
    TypeError
        Another kind of array, or an item that is not bytes.
    ValueError
        An item that is too long.

    Examples
    --------
    >>> import numpy as np
    >>> pack_bytes(np.array([b"a"], dtype=object)).hex()
    '010000000100000061'
    """
    cdef int64_t i, body = 0
    cdef list items
    cdef char* to
    cdef Py_ssize_t size
    if not isinstance(array, cnp.ndarray):
        raise TypeError(f"expected a NumPy array, got {type(array).__name__}")
    if array.dtype.kind not in "OS":
        raise TypeError(f"byte strings cannot be packed from an array of {array.dtype}")
    items = array.reshape(-1).tolist()
    for i in range(len(items)):
        items[i] = plain_bytes(items[i], i)
        size = PyBytes_GET_SIZE(items[i])
        check_size(size, i)
        body += size
    packed = new_packed(body, len(items))
    to = PyBytes_AS_STRING(packed) + PREFIX
    for i in range(len(items)):
        size = PyBytes_GET_SIZE(items[i])
        store32(to, size)
        memcpy(to + PREFIX, PyBytes_AS_STRING(items[i]), size)
        to += PREFIX + size
    return packed

