# Declarations that items of variable length share, however their lengths are stored: NumPy's strings, texts, guards.
cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t, uint32_t

cdef extern from "utf8.h" nogil:
    bint zc_utf8_valid(const uint8_t* p, size_t n)
    int64_t zc_ucs4_size(const uint32_t* p, size_t n)
    uint8_t* zc_ucs4_write(const uint32_t* p, size_t n, uint8_t* to)


cdef extern from "numpy/arrayobject.h" nogil:
    ctypedef struct npy_string_allocator:
        pass
    ctypedef struct npy_packed_static_string:
        pass
    ctypedef struct npy_static_string:
        size_t size
        const char* buf
    ctypedef struct PyArray_StringDTypeObject:
        pass
    npy_string_allocator* NpyString_acquire_allocator(const PyArray_StringDTypeObject* descr)
    void NpyString_release_allocator(npy_string_allocator* allocator)
    int NpyString_pack(npy_string_allocator* a, npy_packed_static_string* to, const char* data, size_t size)
    int NpyString_load(npy_string_allocator* a, const npy_packed_static_string* packed, npy_static_string* to)


# The results of a walk over items.
cdef enum:
    GOOD = -1
    NO_ROOM = 3


# The target of unpacked items: a new array of objects, or `out` once it is found fit.
cdef object checked_out(object out, int64_t count, bint text)
# The UTF-8 of an item, and how many bytes it has.
cdef Py_ssize_t text_of(object item, int64_t i, const char** data) except -1
cdef object plain_bytes(object item, int64_t i)
# Bytes of all strings of an array of NumPy's StringDType; below 0 what complain_of_string raises.
cdef int64_t measure_strings(
    const char* items, int64_t count, Py_ssize_t itemsize, npy_string_allocator* allocator, int64_t* item,
) noexcept nogil
cdef int complain_of_string(int64_t body, int64_t item) except -1
# Bytes that items of `width` characters take in UTF-8.
cdef int64_t measure_fixed_text(const uint32_t* items, int64_t count, int64_t width) except -1
