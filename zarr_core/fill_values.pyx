"""Find arrays that hold the fill value only."""
cimport numpy as cnp

from libc.math cimport copysign
from libc.string cimport memcmp

from zarr_core.chunks cimport RELEASE_GIL_BYTES, fixed_width, scalar_array

import numpy as np

cnp.import_array()


def is_filled(cnp.ndarray array not None, fill_value):
    """Return True if every element is the fill value, bit for bit; but any NaN equals any other.

    Parameters
    ----------
    array
        Any array.
    fill_value
        A scalar or 0-d array.

    Returns
    -------
    bool
        True also for an array of no elements.

    Raises
    ------
    ValueError
        For a fill value that is no scalar.

    Examples
    --------
    >>> import numpy as np
    >>> from zarr_core import is_filled
    >>> is_filled(np.zeros(3), 0), is_filled(np.zeros(3), -0.0)
    (True, False)
    """
    cdef cnp.ndarray scalar = scalar_array(fill_value, array)
    cdef Py_ssize_t n, itemsize
    cdef bint filled
    if not fixed_width(array):
        wanted = scalar.tolist()  # of records with objects, numpy compares neither one with the other
        return all([same(item, wanted) for item in array.reshape(-1).tolist()])
    if not (cnp.PyArray_IS_C_CONTIGUOUS(array) or cnp.PyArray_IS_F_CONTIGUOUS(array)):
        array = np.ascontiguousarray(array)
    n = cnp.PyArray_SIZE(array)
    itemsize = cnp.PyArray_ITEMSIZE(array)
    if n * itemsize >= RELEASE_GIL_BYTES:
        with nogil:
            filled = bytes_filled(cnp.PyArray_BYTES(array), n, cnp.PyArray_BYTES(scalar), itemsize)
    else:
        filled = bytes_filled(cnp.PyArray_BYTES(array), n, cnp.PyArray_BYTES(scalar), itemsize)
    if not filled and array.dtype.kind in "fc" and (array.dtype.char in "gG" or np.isnan(scalar)):
        return same_numbers(array, scalar)
    return filled


cdef bint same_numbers(cnp.ndarray array, cnp.ndarray scalar):
    """Compare by value: NaNs of other bits are the same fill value, and padding bytes of long doubles may differ."""
    if array.dtype.kind == "c":
        return is_filled(array.real, scalar.real) and is_filled(array.imag, scalar.imag)
    if np.isnan(scalar):
        return np.isnan(array).all()
    return ((array == scalar) & (np.signbit(array) == np.signbit(scalar))).all()


cdef bint same(object a, object b):
    """Compare two objects; another type is another value, which reads back as itself only if it is stored."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (a != a and b != b) or (a == b and copysign(1, a) == copysign(1, b))
    if isinstance(a, np.ndarray):  # an empty one is equal to anything, element by element
        return a.dtype == b.dtype and np.array_equal(a, b)
    equal = a == b
    return bool(equal) if np.ndim(equal) == 0 else bool(np.all(equal))


cdef bint bytes_filled(const char* data, Py_ssize_t n, const char* value, Py_ssize_t itemsize) noexcept nogil:
    """The first item is the value, and every item is the one before it."""
    if n == 0 or itemsize == 0:
        return True
    return memcmp(data, value, itemsize) == 0 and memcmp(data, data + itemsize, (n - 1) * itemsize) == 0
