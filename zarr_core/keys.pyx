"""Chunk coordinates to store keys."""
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport INT64_MAX, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy

from operator import index

import numpy as np

from zarr_core.grid cimport MAX_RANK
from zarr_core.plan cimport Plan, slot_coordinates

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

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

    def coords(self, str key not None, tuple counts not None):
        """The coordinates of the chunk of a key.

        Parameters
        ----------
        key
            A key of the store.
        counts
            The number of chunks along each axis.

        Returns
        -------
        tuple of int, or None
            None if it is not the key of a chunk of this grid, as :meth:`key` spells it.

        Examples
        --------
        >>> format = KeyFormat("a", "/", "default")
        >>> format.coords("a/c/1/20", (2, 30)), format.coords("a/c/1/020", (2, 30)), format.coords("a/c/2/0", (2, 30))
        ((1, 20), None, None)
        """
        cdef Py_ssize_t size, at = self.head_size
        cdef const char* data
        cdef int64_t value
        cdef int d, ndim = <int> len(counts)
        cdef list found = []
        try:
            data = PyUnicode_AsUTF8AndSize(key, &size)
        except UnicodeEncodeError:
            return None
        if ndim == 0:
            return () if size == self.zero_size and memcmp(data, self.zero_data, size) == 0 else None
        if size < at or memcmp(data, self.head_data, at) != 0:
            return None
        for d in range(ndim):
            if d or self.lead:
                if at >= size or data[at] != self.separator_char:
                    return None
                at += 1
            value = take_number(data, size, &at)
            if value < 0 or value >= counts[d]:
                return None
            found.append(value)
        return tuple(found) if at == size else None

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


cdef int64_t take_number(const char* data, Py_ssize_t size, Py_ssize_t* at) noexcept nogil:
    """Read a number as ``put_number`` writes it; -1 if there is none."""
    cdef Py_ssize_t start = at[0], i = start
    cdef uint64_t value = 0
    while i < size and i - start < 19 and c"0" <= data[i] <= c"9":
        value = 10 * value + <uint64_t> (data[i] - c"0")
        i += 1
    at[0] = i
    if i == start or value > <uint64_t> INT64_MAX or (data[start] == c"0" and i - start > 1):
        return -1
    return <int64_t> value


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
