# The guarded functions of shuffle.pyx.

ctypedef void (*kernel_t)(const uint8_t* src, uint8_t* dst, Py_ssize_t nbytes, Py_ssize_t itemsize) noexcept nogil


cdef cnp.ndarray as_bytes(object data, str name):
    """Contiguous memory as a flat view of bytes."""
    cdef cnp.ndarray array
    if not cnp.PyArray_Check(data):
        return np.frombuffer(data, dtype=np.uint8) if len(memoryview(data)) else np.empty(0, dtype=np.uint8)
    array = data
    if not cnp.PyArray_IS_C_CONTIGUOUS(array):
        raise ValueError(f"{name} must be C-contiguous")
    if array.dtype.hasobject or array.dtype.kind == "T":
        raise TypeError(f"{name} must hold plain bytes, got dtype {array.dtype}")
    return array.reshape(-1).view(np.uint8) if cnp.PyArray_SIZE(array) else np.empty(0, dtype=np.uint8)


cdef cnp.ndarray target(cnp.ndarray raw, object out, bint in_place):
    """Where to write: a new array, or out once it is found fit."""
    cdef cnp.ndarray result
    cdef Py_ssize_t n = cnp.PyArray_SIZE(raw)
    cdef uint8_t* a = <uint8_t*> cnp.PyArray_DATA(raw)
    cdef uint8_t* b
    if out is None:
        return np.empty(n, dtype=np.uint8)
    if not cnp.PyArray_Check(out):
        raise TypeError(f"out must be a NumPy array, got {type(out).__name__}")
    if not cnp.PyArray_ISWRITEABLE(out):
        raise ValueError("out is read-only")
    result = as_bytes(out, "out")
    if cnp.PyArray_SIZE(result) != n:
        raise ValueError(f"out has {cnp.PyArray_SIZE(result)} bytes, expected {n}")
    b = <uint8_t*> cnp.PyArray_DATA(result)
    if n and a < b + n and b < a + n and not (in_place and a == b):
        raise ValueError("out overlaps data")
    return result


cdef object rearrange(object data, object itemsize, object out, kernel_t kernel):
    cdef cnp.ndarray raw = as_bytes(data, "data")
    cdef cnp.ndarray result
    cdef const uint8_t* src
    cdef uint8_t* dst
    cdef Py_ssize_t n = cnp.PyArray_SIZE(raw), width
    if not 1 <= itemsize <= MAX_ITEMSIZE:
        raise ValueError(f"itemsize must be between 1 and {<int> MAX_ITEMSIZE}, got {itemsize}")
    width = itemsize
    result = target(raw, out, False)
    src = <const uint8_t*> cnp.PyArray_DATA(raw)
    dst = <uint8_t*> cnp.PyArray_DATA(result)
    if n >= RELEASE_GIL_BYTES:
        with nogil:
            kernel(src, dst, n, width)
    else:
        kernel(src, dst, n, width)
    return result if out is None else out


def shuffle(data, itemsize, *, out=None):
    """Bring the first bytes of all items together, then all second bytes, and so on; trailing bytes stay.

    Parameters
    ----------
    data
        Contiguous memory: an array or a bytes-like object.
    itemsize
        Bytes per item.
    out
        A contiguous array of as many bytes that does not overlap ``data``; by default a new one.

    Returns
    -------
    numpy.ndarray
        ``out``, or a new uint8 array.

    Raises
    ------
    ValueError
        For an item size below 1, or an ``out`` of another size.

    Examples
    --------
    >>> from zarr_core import shuffle
    >>> shuffle(b"abcdef", 2).tobytes()
    b'acebdf'
    """
    return rearrange(data, itemsize, out, shuffle_bytes)


def unshuffle(data, itemsize, *, out=None):
    """Undo ``shuffle``; same parameters, results and errors.

    Examples
    --------
    >>> from zarr_core import unshuffle
    >>> unshuffle(b"acebdf", 2).tobytes()
    b'abcdef'
    """
    return rearrange(data, itemsize, out, unshuffle_bytes)


def bitshuffle(data, itemsize, *, out=None):
    """Bring the lowest bits of all items together, then all second bits, and so on, as blosc lays them out.

    Where the number of items is not a multiple of 8 the data is copied as it is, as blosc does. Parameters, results
    and errors as for ``shuffle``.

    Examples
    --------
    >>> from zarr_core import bitshuffle
    >>> bitshuffle(bytes([1, 1, 1, 1, 2, 2, 2, 2]), 1).tolist()
    [15, 240, 0, 0, 0, 0, 0, 0]
    """
    return rearrange(data, itemsize, out, bitshuffle_bytes)


def bitunshuffle(data, itemsize, *, out=None):
    """Undo ``bitshuffle``; same parameters, results and errors.

    Examples
    --------
    >>> from zarr_core import bitunshuffle
    >>> bitunshuffle(bytes([15, 240, 0, 0, 0, 0, 0, 0]), 1).tolist()
    [1, 1, 1, 1, 2, 2, 2, 2]
    """
    return rearrange(data, itemsize, out, bitunshuffle_bytes)


def byteswap(data, width, *, out=None):
    """Reverse the bytes of each group of ``width``.

    Parameters
    ----------
    data
        Contiguous memory: an array or a bytes-like object, a multiple of ``width`` long.
    width
        1, 2, 4 or 8.
    out
        A contiguous array of as many bytes, which may be ``data`` itself; by default a new one.

    Returns
    -------
    numpy.ndarray
        ``out``, or a new uint8 array.

    Raises
    ------
    ValueError
        For another width or length.

    Examples
    --------
    >>> from zarr_core import byteswap
    >>> byteswap(b"abcd", 2).tobytes()
    b'badc'
    """
    cdef cnp.ndarray raw = as_bytes(data, "data")
    cdef cnp.ndarray result
    cdef const uint8_t* src
    cdef uint8_t* dst
    cdef Py_ssize_t n = cnp.PyArray_SIZE(raw)
    cdef int c_width
    if width not in (1, 2, 4, 8):
        raise ValueError(f"width must be 1, 2, 4 or 8, got {width}")
    if n % width:
        raise ValueError(f"{n} bytes are not a multiple of the width {width}")
    c_width = width
    result = target(raw, out, True)
    src = <const uint8_t*> cnp.PyArray_DATA(raw)
    dst = <uint8_t*> cnp.PyArray_DATA(result)
    if n >= RELEASE_GIL_BYTES:
        with nogil:
            byteswap_bytes(src, dst, n, c_width)
    else:
        byteswap_bytes(src, dst, n, c_width)
    return result if out is None else out


cdef void difference_bytes(
    const uint8_t* src, uint8_t* dst, Py_ssize_t n, int width, char kind, bint swap, bint encode,
) noexcept nogil:
    if swap:
        byteswap_bytes(src, dst, n, width)
        src = dst
    if encode:
        delta_encode_bytes(src, dst, n // width, width, kind)
    else:
        delta_decode_bytes(src, dst, n // width, width, kind)
    if swap:
        byteswap_bytes(dst, dst, n, width)


cdef object difference(object data, object dtype, object out, bint encode):
    cdef cnp.ndarray raw = as_bytes(data, "data")
    cdef cnp.ndarray result
    cdef const uint8_t* src
    cdef uint8_t* dst
    cdef Py_ssize_t n = cnp.PyArray_SIZE(raw)
    cdef int width
    cdef char kind
    cdef bint swap
    dtype = np.dtype(dtype)
    if dtype.kind not in "iuf" or dtype.itemsize not in (1, 2, 4, 8) or (dtype.kind == "f" and dtype.itemsize < 4):
        raise ValueError(f"delta needs integers of 1 to 8 bytes or floats of 4 or 8, got {dtype}")
    width = dtype.itemsize
    kind = c"f" if dtype.kind == "f" else c"i"
    swap = not dtype.isnative
    if n % width:
        raise ValueError(f"{n} bytes are not a multiple of the item size {width}")
    result = target(raw, out, True)
    src = <const uint8_t*> cnp.PyArray_DATA(raw)
    dst = <uint8_t*> cnp.PyArray_DATA(result)
    if n >= RELEASE_GIL_BYTES:
        with nogil:
            difference_bytes(src, dst, n, width, kind, swap, encode)
    else:
        difference_bytes(src, dst, n, width, kind, swap, encode)
    return result.view(dtype) if out is None else out


def delta_encode(data, dtype, *, out=None):
    """The first item, then each item's difference from the one before; integers wrap.

    Parameters
    ----------
    data
        Contiguous memory that holds items of ``dtype``.
    dtype
        Integers of 1 to 8 bytes, or floats of 4 or 8.
    out
        A contiguous array of as many bytes, which may be ``data`` itself; by default a new one.

    Returns
    -------
    numpy.ndarray
        ``out``, or a new array of ``dtype``.

    Raises
    ------
    ValueError
        For another dtype, or a length that is not a whole number of items.

    Examples
    --------
    >>> from zarr_core import delta_encode
    >>> delta_encode(bytes([5, 7, 4]), "i1").tolist()
    [5, 2, -3]
    """
    return difference(data, dtype, out, True)


def delta_decode(data, dtype, *, out=None):
    """Undo ``delta_encode``: running sums; same parameters, results and errors.

    Examples
    --------
    >>> from zarr_core import delta_decode
    >>> delta_decode(bytes([5, 2, 253]), "i1").tolist()
    [5, 7, 4]
    """
    return difference(data, dtype, out, False)
