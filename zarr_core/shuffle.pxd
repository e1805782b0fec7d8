# Byte-shuffling kernels; blosc's layouts. src and dst must not overlap. nbytes need not be a multiple of itemsize:
# trailing bytes are copied (and bit shuffle copies everything unless the item count is a multiple of 8, as blosc does).
from libc.stdint cimport uint8_t

cdef void shuffle_bytes(const uint8_t* src, uint8_t* dst, Py_ssize_t nbytes, Py_ssize_t itemsize) noexcept nogil
cdef void unshuffle_bytes(const uint8_t* src, uint8_t* dst, Py_ssize_t nbytes, Py_ssize_t itemsize) noexcept nogil
cdef void bitshuffle_bytes(const uint8_t* src, uint8_t* dst, Py_ssize_t nbytes, Py_ssize_t itemsize) noexcept nogil
cdef void bitunshuffle_bytes(const uint8_t* src, uint8_t* dst, Py_ssize_t nbytes, Py_ssize_t itemsize) noexcept nogil
# n items; kind: b"i" integers (signed or not), b"f" floats; width 1, 2, 4 or 8; native byte order; src may equal dst.
cdef void delta_encode_bytes(const uint8_t* src, uint8_t* dst, Py_ssize_t n, int width, char kind) noexcept nogil
cdef void delta_decode_bytes(const uint8_t* src, uint8_t* dst, Py_ssize_t n, int width, char kind) noexcept nogil
