"""Stable ordering of integer keys: insertion for a few, counting for a narrow span, else radix by 11 bits."""
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

cdef enum:
    FEW = 32
    DIGIT_BITS = 11
    DIGITS = 1 << 11


cdef struct Entry:
    int64_t key
    int64_t place


cdef int stable_order(int64_t* keys, Py_ssize_t n, int64_t span, int64_t* order) noexcept nogil:
    if n <= FEW:
        insertion_order(keys, n, order)
        return 0
    if span <= 4 * n:
        return counting_order(keys, n, span, order)
    return radix_order(keys, n, span, order)


cdef void insertion_order(int64_t* keys, Py_ssize_t n, int64_t* order) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef int64_t key
    for i in range(n):
        key = keys[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            order[j] = order[j - 1]
            j -= 1
        keys[j] = key
        order[j] = i


cdef int counting_order(const int64_t* keys, Py_ssize_t n, int64_t span, int64_t* order) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t k
    cdef int64_t* next_place = <int64_t*> calloc(span + 1, sizeof(int64_t))
    if next_place == NULL:
        return -1
    for i in range(n):
        next_place[keys[i] + 1] += 1
    for k in range(span):
        next_place[k + 1] += next_place[k]
    for i in range(n):
        order[next_place[keys[i]]] = i
        next_place[keys[i]] += 1
    free(next_place)
    return 0


cdef int radix_order(const int64_t* keys, Py_ssize_t n, int64_t span, int64_t* order) noexcept nogil:
    cdef int64_t counts[DIGITS]
    cdef Entry* source = <Entry*> malloc(2 * n * sizeof(Entry))
    cdef Entry* target
    cdef Entry* spare
    cdef Entry* block = source
    cdef Py_ssize_t i
    cdef int64_t total, count
    cdef int digit, shift = 0
    if source == NULL:
        return -1
    target = source + n
    for i in range(n):
        source[i].key = keys[i]
        source[i].place = i
    while shift < 63 and (span - 1) >> shift:
        memset(counts, 0, sizeof(counts))
        for i in range(n):
            counts[(source[i].key >> shift) & (DIGITS - 1)] += 1
        total = 0
        for digit in range(DIGITS):
            count = counts[digit]
            counts[digit] = total
            total += count
        for i in range(n):
            digit = (source[i].key >> shift) & (DIGITS - 1)
            target[counts[digit]] = source[i]
            counts[digit] += 1
        spare = source
        source = target
        target = spare
        shift += DIGIT_BITS
    for i in range(n):
        order[i] = source[i].place
    free(block)
    return 0


cdef bint rows_in_order(const int64_t* rows, Py_ssize_t n, int ncols) noexcept nogil:
    cdef Py_ssize_t i
    cdef int c
    for i in range(1, n):
        rows += ncols
        for c in range(ncols):
            if rows[c] != rows[c - ncols]:
                if rows[c] < rows[c - ncols]:
                    return False
                break
    return True


cdef bint column_spans(const int64_t* rows, Py_ssize_t n, int ncols, int64_t* low, int64_t* span) noexcept nogil:
    """Return the smallest value and the width of each column, and True if their box has fewer than 2**62 cells."""
    cdef Py_ssize_t i
    cdef int c
    cdef int64_t high, size = 1
    cdef bint fits = True
    for c in range(ncols):
        low[c] = high = rows[c]
        for i in range(1, n):
            if rows[i * ncols + c] < low[c]:
                low[c] = rows[i * ncols + c]
            elif rows[i * ncols + c] > high:
                high = rows[i * ncols + c]
        span[c] = high - low[c] + 1
        if fits and span[c] > (<int64_t> 1 << 62) // size:
            fits = False
        if fits:
            size *= span[c]
    return fits


cdef int order_rows(const int64_t* rows, Py_ssize_t n, int ncols, int64_t* order) noexcept nogil:
    cdef int64_t low[64]
    cdef int64_t span[64]
    cdef int64_t* keys
    cdef int64_t key, size = 1
    cdef Py_ssize_t i
    cdef int c, status
    if rows_in_order(rows, n, ncols):
        return 1
    if not column_spans(rows, n, ncols, low, span):
        return order_by_columns(rows, n, ncols, low, span, order)
    keys = <int64_t*> malloc(n * sizeof(int64_t))
    if keys == NULL:
        return -1
    for c in range(ncols):
        size *= span[c]
    for i in range(n):
        key = 0
        for c in range(ncols):
            key = key * span[c] + (rows[i * ncols + c] - low[c])
        keys[i] = key
    status = stable_order(keys, n, size, order)
    free(keys)
    return status


cdef int order_by_columns(
    const int64_t* rows, Py_ssize_t n, int ncols, const int64_t* low, const int64_t* span, int64_t* order,
) noexcept nogil:
    """Column after column, last first: for rows whose box is too large to number its cells."""
    cdef int64_t* block = <int64_t*> malloc(3 * n * sizeof(int64_t))
    cdef int64_t* keys = block
    cdef int64_t* step = block + n
    cdef int64_t* previous = block + 2 * n
    cdef Py_ssize_t i
    cdef int c
    if block == NULL:
        return -1
    for i in range(n):
        order[i] = i
    for c in range(ncols - 1, -1, -1):
        for i in range(n):
            keys[i] = rows[order[i] * ncols + c] - low[c]
            previous[i] = order[i]
        if stable_order(keys, n, span[c], step) < 0:
            free(block)
            return -1
        for i in range(n):
            order[i] = previous[step[i]]
    free(block)
    return 0
