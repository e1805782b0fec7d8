"""Chunk grids: how each axis of an array is cut into chunks."""
from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport free, malloc

import math
from operator import index

import numpy as np

cimport numpy as cnp

cnp.import_array()


cdef int64_t as_length(object value, object what) except -1:
    cdef object number = index(value)
    if number < 0 or number > INT64_MAX:
        raise ValueError(f"{what} must be between 0 and 2**63 - 1, got {number}")
    return number


cdef tuple one_each(object values, int ndim, object what):
    """Return the values as a tuple of one for each axis."""
    cdef tuple found = tuple(values)
    if len(found) != ndim:
        raise ValueError(f"a grid of {ndim} axes was asked for the {what} {found}")
    return found


cdef class Axis:
    """One dimension of a grid. Chunk ``i`` covers positions ``offset(i)`` to ``offset(i) + chunk_length(i)``."""

    @property
    def length(self):
        """Elements along the axis."""
        return self.c.length

    @property
    def nchunks(self):
        """Chunks that hold at least one element."""
        return self.c.nchunks

    @property
    def ncells(self):
        """Chunks described, also those past the end."""
        return self.c.ncells

    @property
    def regular(self):
        """Return True if all chunks have one length."""
        return self.c.edges == NULL

    cdef int64_t check(self, object i) except -1:
        cdef object chunk = index(i)
        if not 0 <= chunk < self.c.nchunks:
            raise IndexError(f"chunk {chunk} is out of range for an axis of {self.c.nchunks} chunks")
        return chunk

    def offset(self, i):
        """Position of the first element of chunk ``i``."""
        return axis_offset(&self.c, self.check(i))

    def chunk_length(self, i):
        """Length of chunk ``i`` as the codecs see it, overhang included."""
        return axis_chunk_length(&self.c, self.check(i))

    def valid_length(self, i):
        """Length of the part of chunk ``i`` that lies inside the axis."""
        return axis_valid_length(&self.c, self.check(i))

    def find(self, position):
        """The chunk that holds a position."""
        cdef object place = index(position)
        if not 0 <= place < self.c.length:
            raise IndexError(f"position {place} is out of range for an axis of length {self.c.length}")
        return axis_find(&self.c, place)


cdef class RegularAxis(Axis):
    """Chunks of one length; the last may overhang the end of the axis."""

    def __cinit__(self, length, chunk):
        self.c.length = as_length(length, "axis length")
        cdef int64_t n = as_length(chunk, "chunk length")
        if n == 0 and self.c.length:
            raise ValueError(f"chunk length must be at least 1, got 0 for an axis of length {length}")
        self.c.chunk = n
        self.c.shortest = n
        # Not (length + n - 1) // n, which could overflow.
        self.c.nchunks = 1 + (self.c.length - 1) // n if self.c.length else 0
        self.c.ncells = self.c.nchunks

    @property
    def chunk(self):
        """The chunk length."""
        return self.c.chunk

    def __repr__(self):
        return f"RegularAxis({self.c.length}, {self.c.chunk})"

    def __reduce__(self):
        return RegularAxis, (self.c.length, self.c.chunk)


cdef class VaryingAxis(Axis):
    """Chunks of given lengths, whose sum reaches or passes the end of the axis; an array of them must be of int64."""

    def __cinit__(self, length, edges):
        self.c.length = as_length(length, "axis length")
        if not isinstance(edges, np.ndarray):
            edges = np.array([as_length(edge, "chunk length") for edge in edges], dtype=np.int64)
        cdef const int64_t[::1] lengths = edges
        cdef Py_ssize_t i, n = len(lengths)
        cdef int64_t edge
        self.offsets = <int64_t*> malloc((n + 1) * sizeof(int64_t))
        if self.offsets == NULL:
            raise MemoryError(f"no memory for the edges of {n} chunks")
        self.offsets[0] = 0
        for i in range(n):
            edge = lengths[i]
            if edge < 1:
                raise ValueError(f"chunk lengths must be at least 1, got {edge} for chunk {i}")
            if edge > INT64_MAX - self.offsets[i]:
                raise ValueError("chunk lengths sum to more than 2**63 - 1")
            self.offsets[i + 1] = self.offsets[i] + edge
            if i == 0 or edge < self.c.shortest:
                self.c.shortest = edge
        if self.offsets[n] < self.c.length:
            raise ValueError(f"chunk lengths sum to {self.offsets[n]}, less than the axis length {self.c.length}")
        self.c.edges = self.offsets
        self.c.ncells = n
        self.c.nchunks = axis_find(&self.c, self.c.length - 1) + 1 if self.c.length else 0

    def __dealloc__(self):
        free(self.offsets)

    def _lengths(self):
        cdef Py_ssize_t i
        return [self.offsets[i + 1] - self.offsets[i] for i in range(self.c.ncells)]

    def __repr__(self):
        return f"VaryingAxis({self.c.length}, {self._lengths()})"

    def __reduce__(self):
        return VaryingAxis, (self.c.length, self._lengths())


cdef class Grid:
    """One axis per dimension."""

    def __cinit__(self, axes):
        cdef tuple items = tuple(axes)
        cdef Py_ssize_t i, n = len(items)
        if n > MAX_RANK:
            raise ValueError(f"a grid has at most {<int> MAX_RANK} axes, got {n}")
        for i in range(n):
            if not isinstance(items[i], (RegularAxis, VaryingAxis)):
                raise TypeError(f"axes must be RegularAxis or VaryingAxis, got {type(items[i]).__name__}")
        self.c = <AxisC*> malloc((n if n else 1) * sizeof(AxisC))
        if self.c == NULL:
            raise MemoryError(f"no memory for a grid of {n} axes")
        for i in range(n):
            self.c[i] = (<Axis> items[i]).c
        self.ndim = <int> n
        self.axes = items
        self.shape = tuple([self.c[i].length for i in range(n)])

    def __dealloc__(self):
        free(self.c)

    @property
    def cdata_shape(self):
        """Chunks along each axis."""
        cdef int i
        return tuple([self.c[i].nchunks for i in range(self.ndim)])

    @property
    def nchunks(self):
        """Chunks in all."""
        return math.prod(self.cdata_shape)

    @property
    def regular(self):
        """Return True if every axis has chunks of one length."""
        cdef int i
        for i in range(self.ndim):
            if self.c[i].edges != NULL:
                return False
        return True

    @property
    def overhangs(self):
        """Return the axes whose last chunk reaches beyond the axis, each with the index of that chunk."""
        cdef list found = []
        cdef int64_t last
        cdef int i
        for i in range(self.ndim):
            last = self.c[i].nchunks - 1
            if last >= 0 and axis_valid_length(&self.c[i], last) < axis_chunk_length(&self.c[i], last):
                found.append((i, last))
        return tuple(found)

    def counts_within(self, shape):
        """Return how many chunks along each axis have an element of an array of a smaller shape.

        Parameters
        ----------
        shape : sequence of int
            One length for each axis; one that is longer than the axis counts as the axis.

        Raises
        ------
        ValueError
            If it has another number of lengths, or a negative one.
        """
        cdef tuple lengths = one_each(shape, self.ndim, "shape")
        cdef list counts = []
        cdef int64_t length
        cdef int i
        for i in range(self.ndim):
            length = as_length(lengths[i], "length")
            if length >= self.c[i].length:
                counts.append(self.c[i].nchunks)
            else:
                counts.append(axis_find(&self.c[i], length - 1) + 1 if length else 0)
        return tuple(counts)

    def ends(self, counts):
        """Return along each axis the end of the last of the first chunks, clipped to the axis.

        Parameters
        ----------
        counts : sequence of int
            The number of first chunks along each axis.

        Raises
        ------
        ValueError
            If there is not one count for each axis.
        IndexError
            If there are not so many chunks.
        """
        cdef tuple wanted = one_each(counts, self.ndim, "ends of so many chunks:")
        cdef list found = []
        cdef int64_t last
        cdef int i
        for i in range(self.ndim):
            if wanted[i] == 0:
                found.append(0)
                continue
            last = (<Axis> self.axes[i]).check(wanted[i] - 1)
            found.append(axis_offset(&self.c[i], last) + axis_valid_length(&self.c[i], last))
        return tuple(found)

    def __repr__(self):
        return f"Grid({list(self.axes)})"

    def __reduce__(self):
        return Grid, (self.axes,)


def morton_order(shape):
    """Coordinates of a box in Morton (Z) order, as an ``(n, ndim)`` array.

    Bit by bit from the lowest, each axis that still has a bit at that level (of ``n - 1``) gives one bit of the code,
    the first axis the lowest bit. Codes that fall outside the box are left out.
    """
    cdef tuple lengths = tuple([as_length(n, "length") for n in shape])
    cdef int ndim = <int> len(lengths)
    if len(lengths) > MAX_RANK:
        raise ValueError(f"a shape has at most {<int> MAX_RANK} axes, got {len(lengths)}")
    cdef object size = math.prod(lengths)
    if size > INT64_MAX >> 8:
        raise ValueError(f"a box of shape {lengths} is too large to order")
    cdef cnp.ndarray order = np.empty((size, ndim), dtype=np.int64)
    cdef int64_t c_lengths[MAX_RANK]
    cdef int i
    for i in range(ndim):
        c_lengths[i] = lengths[i]
    if size:
        morton_fill(c_lengths, ndim, <int64_t*> cnp.PyArray_DATA(order), size)
    return order


cdef void morton_fill(const int64_t* lengths, int ndim, int64_t* out, int64_t size) noexcept nogil:
    """Depth first through the tree of code bits, skipping every branch that lies outside the box."""
    cdef int bit_axis[64 * MAX_RANK]
    cdef int bit_level[64 * MAX_RANK]
    cdef int64_t coords[MAX_RANK]
    cdef int nbits = 0, level, axis, bit
    cdef int64_t written = 0
    for level in range(63):
        for axis in range(ndim):
            if (lengths[axis] - 1) >> level:
                bit_axis[nbits] = axis
                bit_level[nbits] = level
                nbits += 1
    for axis in range(ndim):
        coords[axis] = 0
    while True:
        for axis in range(ndim):
            out[written * ndim + axis] = coords[axis]
        written += 1
        if written == size:
            return
        # Binary increment over the code's bits. Where setting a bit leaves the box, that whole subtree is outside,
        # since the bits below are 0: clear it and carry on.
        for bit in range(nbits):
            axis = bit_axis[bit]
            coords[axis] ^= (<int64_t> 1) << bit_level[bit]
            if (coords[axis] >> bit_level[bit]) & 1 and coords[axis] < lengths[axis]:
                break
            coords[axis] &= ~((<int64_t> 1) << bit_level[bit])
