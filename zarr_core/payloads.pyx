"""Find the memory of the bytes of a Python object."""
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from libc.stdint cimport int64_t

import numpy as np

cnp.import_array()

cdef enum:
    ITEM_REFCOUNT = 1       # numpy's NPY_ITEM_REFCOUNT


cdef bint has_plain_items(cnp.ndarray array) noexcept:
    return not (cnp.PyDataType_FLAGS(array.descr) & ITEM_REFCOUNT or cnp.PyArray_TYPE(array) == cnp.NPY_VSTRING)


cdef object view_bytes(object payload, const char** data, int64_t* n):
    cdef cnp.ndarray array
    if PyBytes_CheckExact(payload):
        data[0] = PyBytes_AS_STRING(payload)
        n[0] = PyBytes_GET_SIZE(payload)
        return payload
    if isinstance(payload, cnp.ndarray):
        array = payload
        if not cnp.PyArray_IS_C_CONTIGUOUS(array) and not cnp.PyArray_IS_F_CONTIGUOUS(array):
            raise ValueError(f"stored bytes must be contiguous, got an array with strides {payload.strides}")
        if not has_plain_items(array):
            raise TypeError(f"an array of {payload.dtype} does not hold plain bytes")
    else:
        array = np.frombuffer(payload, np.uint8)
    data[0] = <const char*>cnp.PyArray_DATA(array)
    n[0] = cnp.PyArray_NBYTES(array)
    return array
