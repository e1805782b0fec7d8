# n items at data are all the same as the value, byte for byte.
cdef bint bytes_filled(const char* data, Py_ssize_t n, const char* value, Py_ssize_t itemsize) noexcept nogil
