"""Unshuffle blosc frames directly into the rows of an array.

The bytes of the items are decoded plane by plane, and unshuffling writes every item once. That write can go directly to
the rows of the array; for the other byte order the planes are used in reverse, at no cost.
"""
from libc.stdint cimport int64_t, uint8_t

from zarr_core.blosc cimport BLOSC_PLANES, BloscFrame, blosc_block_planes, blosc_open
from zarr_core.chunks cimport Rows
from zarr_core.grid cimport MAX_RANK
from zarr_core.streams cimport Context


cdef extern from "planes.h" nogil:
    void zc_join_planes(const uint8_t** planes, Py_ssize_t first, Py_ssize_t n, uint8_t* to, int width)
    void zc_expect(uint8_t* to, Py_ssize_t nbytes)


cdef enum:
    LEAST_ROW = 32              # items; shorter rows are better copied by the loops for strides


# The place of the next item.
cdef struct Place:
    uint8_t* row
    int64_t done                # items of the row that are there
    int64_t at[MAX_RANK]


cdef inline void next_row(Place* p, const Rows* rows) noexcept nogil:
    cdef int d
    p.done = 0
    for d in range(rows.ndim):
        p.row += rows.steps[d]
        p.at[d] += 1
        if p.at[d] < rows.counts[d]:
            return
        p.row -= rows.counts[d] * rows.steps[d]
        p.at[d] = 0


cdef inline void reverse_planes(const uint8_t** planes, int width) noexcept nogil:
    cdef const uint8_t* kept
    cdef int k
    for k in range(width // 2):
        kept = planes[k]
        planes[k] = planes[width - 1 - k]
        planes[width - 1 - k] = kept


cdef int64_t blosc_to_rows(
    Context* c, const char* src, int64_t n, int64_t nbytes, int width, bint reverse, const Rows* rows,
) noexcept nogil:
    cdef const uint8_t* planes[BLOSC_PLANES]
    cdef BloscFrame f
    cdef Place p
    cdef int64_t block, items, done, take, length = rows.nbytes // width
    cdef int d
    if (width != 2 and width != 4 and width != 8) or length < LEAST_ROW or blosc_open(&f, src, n) < 0:
        return 0
    if f.nbytes != nbytes or f.typesize != width or f.shuffle != 1 or f.stored or f.blocksize % width:
        return 0
    p.row = <uint8_t*>rows.data
    p.done = 0
    for d in range(rows.ndim):
        p.at[d] = 0
    for block in range(f.nblocks):
        items = blosc_block_planes(c, &f, block, planes)
        if items < 0:
            return items
        if reverse:
            reverse_planes(planes, width)
        done = 0
        while done < items:
            take = min(items - done, length - p.done)
            if p.done == 0 and rows.ndim:
                zc_expect(p.row + rows.steps[0], rows.nbytes if rows.nbytes < 4096 else 4096)
            zc_join_planes(planes, done, take, p.row + p.done * width, width)
            done += take
            p.done += take
            if p.done == length:
                next_row(&p, rows)
    return 1
