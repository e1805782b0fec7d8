"""Chunk coordinates to store keys."""
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from operator import index

import numpy as np

from zarr_core.grid cimport MAX_RANK
from zarr_core.plan cimport Plan, slot_coordinates

cdef enum:
    DIGITS = 20     # a separator and the 19 digits of the largest coordinate


cdef class KeyFormat:
    """The spelling of the key of a chunk: ``a/b/c/0/1`` (style "default") or ``a/b/0.1`` (style "v2").

    Parameters
    ----------
    prefix
        The path of the array in its store, "" for the root.
    separator
        "/" or ".".
    style
        "default" (version 3: a leading "c") or "v2".

    Raises
    ------
    ValueError
        For another separator or style, or a prefix that UTF-8 cannot hold.

    Examples
    --------
    >>> from zarr_core import KeyFormat
    >>> KeyFormat("a/b", "/", "default").key((0, 1))
    'a/b/c/0/1'
    """

    def __cinit__(self, str prefix not None, str separator not None, str style not None):
        if separator != "/" and separator != ".":
            raise ValueError(f"separator must be '/' or '.', got {separator!r}")
        if style != "default" and style != "v2":
            raise ValueError(f"style must be 'default' or 'v2', got {style!r}")
        self.prefix = prefix
        self.separator = separator
        self.style = style
        self.separator_char = ord(separator)
        self.lead = style == "default"
        head = prefix + "/" if prefix else ""
        self.head = (head + "c" if self.lead else head).encode()
        self.zero = (head + ("c" if self.lead else "0")).encode()
        self.head_data = self.head
        self.zero_data = self.zero
        self.head_size = len(self.head)
        self.zero_size = len(self.zero)

    def key(self, coords):
        """The key of one chunk.

        Parameters
        ----------
        coords
            Coordinates of the chunk in its grid.

        Returns
        -------
        str
            The key.

        Raises
        ------
        ValueError
            For negative or too many coordinates.
        """
        cdef int64_t values[MAX_RANK]
        cdef tuple items = tuple(coords)
        cdef int i, ndim = <int> len(items)
        if len(items) > MAX_RANK:
            raise ValueError(f"a chunk has at most {<int> MAX_RANK} coordinates, got {len(items)}")
        for i in range(ndim):
            item = index(items[i])
            if item < 0 or item > INT64_MAX:
                raise ValueError(f"chunk coordinates must be between 0 and 2**63 - 1, got {item}")
            values[i] = item
        return one_key(self, values, ndim)

    def keys(self, source):
        """The keys of all slots of a plan, or of all shards of its groups.

        Parameters
        ----------
        source
            A Plan, ShardGroups, or an array of chunk coordinates, one row a chunk.

        Returns
        -------
        list of str
            One key per slot, or per shard.

        Raises
        ------
        TypeError
            For anything else.
        """
        if isinstance(source, Plan):
            return plan_keys(self, source)
        if isinstance(source, np.ndarray):
            return [self.key(row) for row in source.tolist()]
        keys = getattr(source, "_keys", None)   # ShardGroups, whose module an array without shards does without
        if keys is not None:
            return keys(self)
        raise TypeError(f"keys are made for a Plan, ShardGroups or array of coordinates, got {type(source).__name__}")

    def __repr__(self):
        return f"KeyFormat({self.prefix!r}, {self.separator!r}, {self.style!r})"

    def __reduce__(self):
        return KeyFormat, (self.prefix, self.separator, self.style)


cdef Py_ssize_t key_capacity(KeyFormat k, int ndim) noexcept nogil:
    return k.head_size + 2 + ndim * DIGITS


cdef inline Py_ssize_t put_number(char* buffer, int64_t value) noexcept nogil:
    cdef char digits[20]
    cdef int n = 0, i
    while True:
        digits[n] = <char> (c"0" + value % 10)
        n += 1
        value //= 10
        if value == 0:
            break
    for i in range(n):
        buffer[i] = digits[n - 1 - i]
    return n


cdef Py_ssize_t format_key(
    KeyFormat k, const int64_t* coords, int ndim, char* buffer, Py_ssize_t size,
) noexcept nogil:
    cdef Py_ssize_t n
    cdef int d
    if key_capacity(k, ndim) > size:
        return -1
    if ndim == 0:
        memcpy(buffer, k.zero_data, k.zero_size)
        return k.zero_size
    memcpy(buffer, k.head_data, k.head_size)
    n = k.head_size
    for d in range(ndim):
        if d or k.lead:
            buffer[n] = k.separator_char
            n += 1
        n += put_number(buffer + n, coords[d])
    return n


cdef object one_key(KeyFormat k, const int64_t* coords, int ndim):
    cdef char fixed[512]
    cdef char* buffer = fixed
    cdef Py_ssize_t size = key_capacity(k, ndim), n
    if size > <Py_ssize_t> sizeof(fixed):
        buffer = <char*> malloc(size)
        if buffer == NULL:
            raise MemoryError(f"no memory for a key of {size} bytes")
    try:
        n = format_key(k, coords, ndim, buffer, size)
        return PyUnicode_DecodeUTF8(buffer, n, NULL)
    finally:
        if buffer != fixed:
            free(buffer)


cdef list plan_keys(KeyFormat k, Plan plan):
    cdef int64_t coords[MAX_RANK]
    cdef Py_ssize_t i
    cdef list keys = []
    for i in range(plan.nslots):
        slot_coordinates(plan, i, coords)
        keys.append(one_key(k, coords, plan.ndim))
    return keys
