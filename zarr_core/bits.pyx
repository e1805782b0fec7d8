"""Kernels of single bits: elements of any number of bits in a row, and rounding to a number of significant bits."""
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

import numpy as np

cimport numpy as cnp

cnp.import_array()

cdef enum:
    RELEASE_GIL_BYTES = 65536
    MOST_AT_ONCE = 32       # bits moved in one go: with 7 waiting they still fit into a word


cdef inline uint64_t low_bits(int n) noexcept nogil:
    return ~<uint64_t> 0 if n >= 64 else ((<uint64_t> 1) << n) - 1


cdef inline uint64_t load(const uint8_t* p, int width) noexcept nogil:
    cdef uint64_t x = 0
    cdef int b
    for b in range(width):
        x |= (<uint64_t> p[b]) << (8 * b)
    return x


cdef inline void store(uint8_t* p, uint64_t x, int width) noexcept nogil:
    cdef int b
    for b in range(width):
        p[b] = <uint8_t> (x >> (8 * b))


cdef void pack(const uint8_t* src, uint8_t* dst, Py_ssize_t n, int width, int first, int nbits) noexcept nogil:
    cdef uint64_t waiting = 0, x
    cdef int held = 0, left, part
    cdef Py_ssize_t i
    for i in range(n):
        x = (load(src + i * width, width) >> first) & low_bits(nbits)
        left = nbits
        while left > 0:
            part = MOST_AT_ONCE if left > MOST_AT_ONCE else left
            waiting |= (x & low_bits(part)) << held
            held += part
            x = x >> part
            left -= part
            while held >= 8:
                dst[0] = <uint8_t> waiting
                dst += 1
                waiting = waiting >> 8
                held -= 8
    if held:
        dst[0] = <uint8_t> waiting


cdef void unpack(
    const uint8_t* src, uint8_t* dst, Py_ssize_t n, int width, int first, int nbits, int sign_bits,
) noexcept nogil:
    cdef uint64_t waiting = 0, x
    cdef int held = 0, done, part, last = first + nbits
    cdef Py_ssize_t i
    for i in range(n):
        x = 0
        done = 0
        while done < nbits:
            part = nbits - done
            if part > MOST_AT_ONCE:
                part = MOST_AT_ONCE
            while held < part:
                waiting |= (<uint64_t> src[0]) << held
                src += 1
                held += 8
            x |= (waiting & low_bits(part)) << done
            waiting = waiting >> part
            held -= part
            done += part
        x = x << first
        if sign_bits and (x >> (last - 1)) & 1:
            x |= low_bits(sign_bits) & ~low_bits(last)
        store(dst + i * width, x, width)


def _check(itemsize, first_bit, nbits):
    if itemsize not in (1, 2, 4, 8):
        raise ValueError(f"itemsize must be 1, 2, 4 or 8, got {itemsize}")
    if not (0 <= first_bit and 1 <= nbits and first_bit + nbits <= 8 * itemsize):
        raise ValueError(f"{nbits} bits from bit {first_bit} do not lie in {itemsize} bytes")


cdef object as_bytes(data):
    array = data if isinstance(data, np.ndarray) else np.frombuffer(data, dtype=np.uint8)
    if not array.flags.c_contiguous:
        raise ValueError("data must be C-contiguous")
    return array.reshape(-1).view(np.uint8)


def pack_bits(data, itemsize, first_bit, nbits):
    """Put some of the bits of every item one after the other, lowest bit first.

    Parameters
    ----------
    data : contiguous items of ``itemsize`` bytes, little-endian
    itemsize : 1, 2, 4 or 8
    first_bit, nbits : which bits, counted from the least significant one

    Returns
    -------
    ``uint8`` array; the last byte is padded with zeros.
    """
    _check(itemsize, first_bit, nbits)
    cdef const uint8_t[::1] raw = as_bytes(data)
    if raw.shape[0] % itemsize:
        raise ValueError(f"{raw.shape[0]} bytes are no whole number of items of {itemsize}")
    cdef Py_ssize_t n = raw.shape[0] // <Py_ssize_t> itemsize
    cdef int width = itemsize, first = first_bit, count = nbits
    cdef cnp.ndarray packed = np.empty((n * nbits + 7) // 8, dtype=np.uint8)
    cdef uint8_t* dst = <uint8_t*> cnp.PyArray_DATA(packed)
    if n == 0:
        return packed
    if raw.shape[0] < RELEASE_GIL_BYTES:
        pack(&raw[0], dst, n, width, first, count)
    else:
        with nogil:
            pack(&raw[0], dst, n, width, first, count)
    return packed


def unpack_bits(data, count, itemsize, first_bit, nbits, sign_bits=0):
    """Undo ``pack_bits``.

    Parameters
    ----------
    data : the packed bytes, exactly as many as ``count`` items need
    count : number of items
    itemsize, first_bit, nbits : as in ``pack_bits``
    sign_bits : the width up to which the highest bit is repeated; 0 for zeros

    Returns
    -------
    ``uint8`` array of ``count * itemsize`` bytes, the items little-endian.

    Raises
    ------
    ValueError
        If there are not as many bytes as ``count`` items need.
    """
    _check(itemsize, first_bit, nbits)
    if count < 0 or not 0 <= sign_bits <= 8 * itemsize:
        raise ValueError(f"invalid count {count} or sign_bits {sign_bits}")
    cdef const uint8_t[::1] raw = as_bytes(data)
    if (count * nbits + 7) // 8 != raw.shape[0]:
        raise ValueError(f"{count} items of {nbits} bits need {(count * nbits + 7) // 8} bytes, got {raw.shape[0]}")
    cdef Py_ssize_t n = count
    cdef int width = itemsize, first = first_bit, bits = nbits, sign = sign_bits
    cdef cnp.ndarray items = np.empty(n * itemsize, dtype=np.uint8)
    cdef uint8_t* dst = <uint8_t*> cnp.PyArray_DATA(items)
    if n == 0:
        return items
    if n * width < RELEASE_GIL_BYTES:
        unpack(&raw[0], dst, n, width, first, bits, sign)
    else:
        with nogil:
            unpack(&raw[0], dst, n, width, first, bits, sign)
    return items


cdef inline uint64_t round_half_to_even(uint64_t x, int drop) noexcept nogil:
    return (x + ((x >> drop) & 1) + low_bits(drop - 1)) & ~low_bits(drop)


cdef inline int bit_length(uint64_t x) noexcept nogil:
    cdef int n = 0
    while x:
        n += 1
        x = x >> 1
    return n


cdef inline uint64_t round_one(uint64_t x, int keep, int mantissa, int width, bint is_signed) noexcept nogil:
    cdef uint64_t sign = (<uint64_t> 1) << (8 * width - 1), rounded
    cdef int drop
    if mantissa:
        if (x & ~sign) > ((sign - 1) & ~low_bits(mantissa)):
            return x    # not a number: there is nothing to round, and a carry would make a number of it
        return round_half_to_even(x, mantissa - keep) & low_bits(8 * width)
    drop = bit_length(x) - keep
    if drop <= 0:
        return x
    rounded = round_half_to_even(x, drop)
    if is_signed and x & sign:
        return rounded & low_bits(8 * width)    # up to zero
    if rounded < x and rounded == 0 or rounded > low_bits(8 * width - (1 if is_signed else 0)):
        return x & ~low_bits(drop)              # rounding up would leave the range of the type
    return rounded


cdef void round_items(
    const uint8_t* src, uint8_t* dst, Py_ssize_t n, int width, int keep, int mantissa, bint is_signed,
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        store(dst + i * width, round_one(load(src + i * width, width), keep, mantissa, width, is_signed), width)


def round_bits(data, itemsize, keepbits, mantissa_bits, is_signed=False):
    """Round items to a number of significant bits, half to even.

    Parameters
    ----------
    data : contiguous items of ``itemsize`` bytes, little-endian
    itemsize : 1, 2, 4 or 8
    keepbits : how many bits are kept, at least 1
    mantissa_bits : the mantissa of IEEE floats, of which ``keepbits`` are kept; 0 for integers, of which bits are kept
        from the most significant set bit on
       is_signed : True if integers are in two's complement

    Returns
    -------
    ``uint8`` array of the rounded items. NaN stays as it is; an integer that would leave the range is rounded down.
    """
    _check(itemsize, 0, 1)
    if keepbits < 1:
        raise ValueError(f"keepbits must be at least 1, got {keepbits}")
    if not 0 <= mantissa_bits < 8 * itemsize - 1:
        raise ValueError(f"{mantissa_bits} mantissa bits do not lie in {itemsize} bytes")
    cdef const uint8_t[::1] raw = as_bytes(data)
    if raw.shape[0] % itemsize:
        raise ValueError(f"{raw.shape[0]} bytes are no whole number of items of {itemsize}")
    cdef Py_ssize_t n = raw.shape[0] // <Py_ssize_t> itemsize
    cdef int width = itemsize, keep = min(keepbits, 64), mantissa = mantissa_bits
    cdef bint two = is_signed
    cdef cnp.ndarray rounded = np.empty(raw.shape[0], dtype=np.uint8)
    cdef uint8_t* dst = <uint8_t*> cnp.PyArray_DATA(rounded)
    if n == 0:
        return rounded
    if mantissa and keep >= mantissa:
        memcpy(dst, &raw[0], raw.shape[0])
    elif raw.shape[0] < RELEASE_GIL_BYTES:
        round_items(&raw[0], dst, n, width, keep, mantissa, two)
    else:
        with nogil:
            round_items(&raw[0], dst, n, width, keep, mantissa, two)
    return rounded
