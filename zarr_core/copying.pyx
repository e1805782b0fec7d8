"""Strided copies between two blocks of memory.

The loops of a copy, one per dimension, are first brought to the shortest form: loops of one turn are folded into the
base, loops that walk both sides without a gap are merged, the loop with the smallest destination step goes innermost.
The innermost two run in a kernel whose item width is a compile-time constant. Where source and destination disagree
about which dimension is innermost (a transpose), that kernel works in tiles, so that lines of both stay in the cache.
"""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from zarr_core.grid cimport MAX_RANK
from zarr_core.words cimport load2, load4, load8, store2, store4, store8, swap2, swap4, swap8

cdef enum:
    LOOKED_AT = 4096    # booleans at a time


cdef inline void move(char* d, const char* s, Py_ssize_t w, bint swap) noexcept nogil:
    """One item of constant width, as it is or changed: bytes reversed, or a boolean that becomes 0 or 1."""
    if not swap:
        memcpy(d, s, w)
    elif w == 1:
        d[0] = s[0] != 0
    elif w == 2:
        store2(d, swap2(load2(s)))
    elif w == 4:
        store4(d, swap4(load4(s)))
    else:
        store8(d, swap8(load8(s)))


cdef inline void plane(
    char* d, const char* s, int64_t n0, Py_ssize_t d0, Py_ssize_t s0, int64_t n1, Py_ssize_t d1, Py_ssize_t s1,
    Py_ssize_t w, bint swap,
) noexcept nogil:
    """n0 rows of n1 items. Strides that are constants in a branch let the compiler vectorise it."""
    cdef int64_t i, j
    cdef char* dr
    cdef const char* sr
    cdef char item[16]
    for i in range(n0):
        dr = d + i * d0
        sr = s + i * s0
        if d1 == w and s1 == 0 and w <= 16:
            move(item, sr, w, swap)
            if w == 1:
                memset(dr, item[0], n1)
            else:
                for j in range(n1):
                    memcpy(dr + j * w, item, w)
        elif d1 == w and s1 == w:
            if swap:
                for j in range(n1):
                    move(dr + j * w, sr + j * w, w, True)
            else:
                memcpy(dr, sr, n1 * w)
        elif d1 == w:
            for j in range(n1):
                move(dr + j * w, sr + j * s1, w, swap)
        elif s1 == w:
            for j in range(n1):
                move(dr + j * d1, sr + j * w, w, swap)
        else:
            for j in range(n1):
                move(dr + j * d1, sr + j * s1, w, swap)


cdef inline void tiled(
    char* d, const char* s, int64_t n0, Py_ssize_t d0, Py_ssize_t s0, int64_t n1, Py_ssize_t d1, Py_ssize_t s1,
    Py_ssize_t w, bint swap,
) noexcept nogil:
    """As plane, tile by tile: small enough that strides of a power of two do not crowd one set of the cache."""
    cdef int64_t i, j = 0, k, m, end0, end1
    cdef int64_t side = 32 if w == 1 else 16 if w == 2 else 8
    while j < n1:
        end1 = min(j + side, n1)
        i = 0
        while i < n0:
            end0 = min(i + side, n0)
            for k in range(i, end0):
                for m in range(j, end1):
                    move(d + k * d0 + m * d1, s + k * s0 + m * s1, w, swap)
            i = end0
        j = end1


cdef inline void indexed(char* d, const char* s, const Loop* loop, Py_ssize_t w, bint swap) noexcept nogil:
    """A row whose items stand at listed places on one side or both."""
    cdef int64_t i
    if loop.di == NULL:
        for i in range(loop.n):
            move(d + i * loop.ds, s + loop.si[i] * loop.ss, w, swap)
    elif loop.si == NULL:
        for i in range(loop.n):
            move(d + loop.di[i] * loop.ds, s + i * loop.ss, w, swap)
    else:
        for i in range(loop.n):
            move(d + loop.di[i] * loop.ds, s + loop.si[i] * loop.ss, w, swap)


cdef inline void inner(
    char* d, const char* s, const Loop* rows, const Loop* items, bint tile, Py_ssize_t w, bint swap,
) noexcept nogil:
    """The innermost two loops; rows is never indexed."""
    cdef int64_t i
    if items.di != NULL or items.si != NULL:
        for i in range(rows.n):
            indexed(d + i * rows.ds, s + i * rows.ss, items, w, swap)
    elif tile:
        tiled(d, s, rows.n, rows.ds, rows.ss, items.n, items.ds, items.ss, w, swap)
    else:
        plane(d, s, rows.n, rows.ds, rows.ss, items.n, items.ds, items.ss, w, swap)


cdef void inner_width(
    char* d, const char* s, const Loop* rows, const Loop* items, bint tile, Py_ssize_t w, bint swap,
) noexcept nogil:
    if swap:
        if w == 1:
            inner(d, s, rows, items, tile, 1, True)
        elif w == 2:
            inner(d, s, rows, items, tile, 2, True)
        elif w == 4:
            inner(d, s, rows, items, tile, 4, True)
        else:
            inner(d, s, rows, items, tile, 8, True)
    elif w == 1:
        inner(d, s, rows, items, tile, 1, False)
    elif w == 2:
        inner(d, s, rows, items, tile, 2, False)
    elif w == 4:
        inner(d, s, rows, items, tile, 4, False)
    elif w == 8:
        inner(d, s, rows, items, tile, 8, False)
    elif w == 16:
        inner(d, s, rows, items, tile, 16, False)
    else:
        inner(d, s, rows, items, tile, w, False)


cdef inline Py_ssize_t magnitude(Py_ssize_t value) noexcept nogil:
    return -value if value < 0 else value


cdef inline bint is_indexed(const Loop* loop) noexcept nogil:
    return loop.di != NULL or loop.si != NULL


cdef int shorten(char** dst, const char** src, Loop* loops, int nloops) noexcept nogil:
    """Fold loops of one turn into the bases; the number of loops left, or -1 where there is nothing to copy."""
    cdef int i, kept = 0
    for i in range(nloops):
        if loops[i].n == 0:
            return -1
        if loops[i].n == 1:
            dst[0] += loops[i].di[0] * loops[i].ds if loops[i].di != NULL else 0
            src[0] += loops[i].si[0] * loops[i].ss if loops[i].si != NULL else 0
        else:
            loops[kept] = loops[i]
            kept += 1
    return kept


cdef void order_loops(Loop* loops, int nloops) noexcept nogil:
    """Largest destination step outermost; stable, so that C order stays as it is."""
    cdef int i, j
    cdef Loop loop
    for i in range(1, nloops):
        loop = loops[i]
        j = i
        while j > 0 and magnitude(loops[j - 1].ds) < magnitude(loop.ds):
            loops[j] = loops[j - 1]
            j -= 1
        loops[j] = loop


cdef int merge_loops(Loop* loops, int nloops) noexcept nogil:
    """Join neighbours that walk both sides without a gap."""
    cdef int i, kept = 0
    for i in range(1, nloops):
        if (
            not is_indexed(&loops[kept]) and not is_indexed(&loops[i])
            and loops[kept].ds == loops[i].ds * loops[i].n and loops[kept].ss == loops[i].ss * loops[i].n
        ):
            loops[i].n *= loops[kept].n
        else:
            kept += 1
        loops[kept] = loops[i]
    return kept + 1 if nloops else 0


cdef bint choose_rows(Loop* loops, int nloops) noexcept nogil:
    """Bring the best partner of the innermost loop next to it; return True if the two are to be tiled."""
    cdef int i, best = nloops - 2
    cdef Loop loop
    if is_indexed(&loops[nloops - 1]):
        return False
    for i in range(nloops - 2, -1, -1):
        if not is_indexed(&loops[i]) and 0 < magnitude(loops[i].ss) < magnitude(loops[nloops - 1].ss):
            if is_indexed(&loops[best]) or magnitude(loops[i].ss) < magnitude(loops[best].ss):
                best = i
    loop = loops[best]
    for i in range(best, nloops - 2):
        loops[i] = loops[i + 1]
    loops[nloops - 2] = loop
    return not is_indexed(&loop) and 0 < magnitude(loop.ss) < magnitude(loops[nloops - 1].ss)


cdef void copy_loops(
    char* dst, const char* src, Loop* loops, int nloops, Py_ssize_t itemsize, int swap_width,
) noexcept nogil:
    cdef int64_t at[MAX_RANK + 2]
    cdef Loop single
    cdef Loop* rows = &single
    cdef Loop* loop
    cdef char* d
    cdef const char* s
    cdef bint tile = False
    cdef int outer, i
    if itemsize == 0:
        return
    if swap_width > 1:
        loops[nloops].n = itemsize // swap_width
        loops[nloops].ds = loops[nloops].ss = swap_width
        loops[nloops].di = loops[nloops].si = NULL
        nloops += 1
        itemsize = swap_width
    nloops = shorten(&dst, &src, loops, nloops)
    if nloops <= 0:
        if nloops == 0:
            copy_one(dst, src, itemsize, swap_width)
        return
    order_loops(loops, nloops)
    nloops = merge_loops(loops, nloops)
    if nloops > 1:
        tile = choose_rows(loops, nloops)
    single.n = 1
    single.ds = single.ss = 0
    outer = nloops - 1
    if outer and not is_indexed(&loops[outer - 1]):
        outer -= 1
        rows = &loops[outer]
    for i in range(outer):
        at[i] = 0
    while True:
        d = dst
        s = src
        for i in range(outer):
            loop = &loops[i]
            d += (loop.di[at[i]] if loop.di != NULL else at[i]) * loop.ds
            s += (loop.si[at[i]] if loop.si != NULL else at[i]) * loop.ss
        inner_width(d, s, rows, &loops[nloops - 1], tile, itemsize, swap_width > 0)
        for i in range(outer - 1, -1, -1):
            at[i] += 1
            if at[i] < loops[i].n:
                break
            at[i] = 0
        else:
            return


cdef void copy_one(char* dst, const char* src, Py_ssize_t itemsize, int swap_width) noexcept nogil:
    cdef Py_ssize_t i = 0
    if swap_width == 0:
        memcpy(dst, src, itemsize)
        return
    while i < itemsize:
        move_swapped(dst + i, src + i, swap_width)
        i += swap_width


cdef inline void move_swapped(char* d, const char* s, int width) noexcept nogil:
    if width == TRUTH:
        move(d, s, 1, True)
    elif width == 2:
        move(d, s, 2, True)
    elif width == 4:
        move(d, s, 4, True)
    else:
        move(d, s, 8, True)


cdef void copy_row(
    char* dst, const char* src, int64_t n, Py_ssize_t ds, Py_ssize_t ss, Py_ssize_t itemsize, int swap_width,
) noexcept nogil:
    cdef Loop loops[2]
    loops[0].n = n
    loops[0].ds = ds
    loops[0].ss = ss
    loops[0].di = loops[0].si = NULL
    copy_loops(dst, src, loops, 1, itemsize, swap_width)


cdef void settle_booleans(char* data, int64_t n) noexcept nogil:
    """Page by page; to look costs less than to write."""
    cdef int64_t i = 0, j, end
    cdef uint8_t seen
    while i < n:
        end = min(i + LOOKED_AT, n)
        seen = 0
        for j in range(i, end):
            seen |= <uint8_t> data[j]
        if seen > 1:
            for j in range(i, end):
                data[j] = data[j] != 0
        i = end
