"""Casts of numbers by value: every pair of integers and floating-point numbers, rounded once, in any direction.

A number is a sign, a whole magnitude of up to 64 bits and a power of two; all rounding is arithmetic of whole numbers.
"""
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

import numpy as np

cimport numpy as cnp

cnp.import_array()

cdef enum:
    RELEASE_GIL_BYTES = 65536
    WORD = 64

cdef enum Rounding:
    NEAREST_EVEN, TOWARDS_ZERO, TOWARDS_POSITIVE, TOWARDS_NEGATIVE, NEAREST_AWAY

cdef enum Beyond:
    REFUSE, CLAMP, WRAP

cdef enum Kind:
    FINITE, INFINITE, NOT_A_NUMBER

ROUNDINGS = {
    "nearest-even": NEAREST_EVEN, "towards-zero": TOWARDS_ZERO, "towards-positive": TOWARDS_POSITIVE,
    "towards-negative": TOWARDS_NEGATIVE, "nearest-away": NEAREST_AWAY,
}
BEYOND = {None: REFUSE, "clamp": CLAMP, "wrap": WRAP}

cdef struct Type:
    int width           # bytes of an item
    bint is_float
    bint is_signed
    int mantissa        # stored bits of the mantissa of a float
    int bias            # of the exponent of a float

cdef struct Number:
    Kind kind
    bint negative
    uint64_t magnitude  # times two to the power of:
    int exponent


cdef inline uint64_t low_bits(int n) noexcept nogil:
    return ~<uint64_t> 0 if n >= WORD else ((<uint64_t> 1) << n) - 1


cdef inline int bit_length(uint64_t x) noexcept nogil:
    cdef int n = 0, step = WORD // 2
    while step:
        if x >> step:
            x = x >> step
            n += step
        step = step // 2
    return n + <int> x


cdef inline uint64_t load_bits(const uint8_t* p, int width) noexcept nogil:
    """The bits of an item in the byte order of the machine."""
    cdef uint64_t wide = 0
    cdef unsigned short half = 0
    cdef unsigned int word = 0
    if width == 1:
        return p[0]
    if width == 2:
        memcpy(&half, p, 2)
        return half
    if width == 4:
        memcpy(&word, p, 4)
        return word
    memcpy(&wide, p, 8)
    return wide


cdef inline void store_bits(uint8_t* p, uint64_t bits, int width) noexcept nogil:
    cdef unsigned short half = <unsigned short> bits
    cdef unsigned int word = <unsigned int> bits
    if width == 1:
        p[0] = <uint8_t> bits
    elif width == 2:
        memcpy(p, &half, 2)
    elif width == 4:
        memcpy(p, &word, 4)
    else:
        memcpy(p, &bits, 8)


cdef inline Number load_number(const uint8_t* p, Type kind) noexcept nogil:
    cdef Number number
    cdef uint64_t bits = load_bits(p, kind.width), sign = (<uint64_t> 1) << (8 * kind.width - 1)
    cdef int exponent, highest
    number.kind, number.exponent = FINITE, 0
    if not kind.is_float:
        number.negative = kind.is_signed and (bits & sign) != 0
        number.magnitude = (<uint64_t> 0 - bits) & low_bits(8 * kind.width) if number.negative else bits
        return number
    number.negative = (bits & sign) != 0
    number.magnitude = bits & low_bits(kind.mantissa)
    highest = <int> low_bits(8 * kind.width - 1 - kind.mantissa)
    exponent = <int> ((bits & ~sign) >> kind.mantissa)
    if exponent == highest:
        number.kind = NOT_A_NUMBER if number.magnitude else INFINITE
        return number
    if exponent:
        number.magnitude |= (<uint64_t> 1) << kind.mantissa
    else:
        exponent = 1
    number.exponent = exponent - kind.bias - kind.mantissa
    return number


cdef inline uint64_t shifted(Number number, int shift, Rounding rounding) noexcept nogil:
    """The magnitude without some low bits, rounded; ``shift`` is positive."""
    cdef uint64_t kept, rest, half
    cdef bint up
    if shift > WORD:
        kept, rest, half = 0, number.magnitude != 0, 2     # less than half of the last place
    elif shift == WORD:
        kept, rest, half = 0, number.magnitude, (<uint64_t> 1) << (WORD - 1)
    else:
        kept, rest, half = number.magnitude >> shift, number.magnitude & low_bits(shift), (<uint64_t> 1) << (shift - 1)
    if rounding == NEAREST_EVEN:
        up = rest > half or (rest == half and (kept & 1) != 0)
    elif rounding == NEAREST_AWAY:
        up = rest >= half
    elif rounding == TOWARDS_ZERO:
        up = False
    else:
        up = rest != 0 and number.negative == (rounding == TOWARDS_NEGATIVE)
    return kept + up


cdef inline bint put_integer(uint8_t* p, Number number, Type kind, Rounding rounding, Beyond beyond) noexcept nogil:
    """Store a finite number as an integer; return True if it was out of range."""
    cdef int bits = 8 * kind.width
    cdef uint64_t highest = low_bits(bits - kind.is_signed), magnitude
    cdef uint64_t lowest = highest + 1 if kind.is_signed else 0      # its magnitude
    cdef bint outside = False
    if number.exponent >= 0:
        outside = number.magnitude != 0 and bit_length(number.magnitude) + number.exponent > WORD
        magnitude = number.magnitude << number.exponent if number.exponent < WORD else 0
    else:
        magnitude = shifted(number, -number.exponent, rounding)
    outside = outside or magnitude > (lowest if number.negative else highest)
    if outside and beyond == CLAMP:
        magnitude = lowest if number.negative else highest
    store_bits(p, <uint64_t> 0 - magnitude if number.negative else magnitude, kind.width)
    return outside


cdef inline uint64_t sign_of(Number number, Type kind) noexcept nogil:
    return (<uint64_t> number.negative) << (8 * kind.width - 1)


cdef inline uint64_t infinity_of(Type kind) noexcept nogil:
    return low_bits(8 * kind.width - 1) & ~low_bits(kind.mantissa)


cdef inline bint put_float(uint8_t* p, Number number, Type kind, Rounding rounding) noexcept nogil:
    """Store a finite number as a float; return True if it was out of range, which gives infinity."""
    cdef int precision = kind.mantissa + 1, place, least = 1 - kind.bias - kind.mantissa
    cdef uint64_t magnitude, bits
    if number.magnitude == 0:
        store_bits(p, sign_of(number, kind), kind.width)
        return False
    place = number.exponent + bit_length(number.magnitude) - precision
    if place < least:
        place = least
    if place <= number.exponent:
        magnitude = number.magnitude << (number.exponent - place)
    else:
        magnitude = shifted(number, place - number.exponent, rounding)
    if magnitude >> precision:
        magnitude = magnitude >> 1
        place += 1
    if place + kind.mantissa > kind.bias:
        store_bits(p, sign_of(number, kind) | infinity_of(kind), kind.width)
        return True
    bits = magnitude
    if magnitude >> kind.mantissa:       # not one of the numbers next to zero, which have no hidden bit
        bits = (magnitude & low_bits(kind.mantissa)) | (<uint64_t> (place - least + 1)) << kind.mantissa
    store_bits(p, sign_of(number, kind) | bits, kind.width)
    return False


cdef inline void put_special(uint8_t* p, Number number, Type source, Type kind) noexcept nogil:
    """Store infinity or a NaN as a float; a NaN keeps the upper bits of its payload, and is quiet elsewhere."""
    cdef uint64_t payload = number.magnitude
    cdef int more = kind.mantissa - source.mantissa
    if number.kind == NOT_A_NUMBER and more:
        payload = payload << more if more > 0 else payload >> -more
        payload |= (<uint64_t> 1) << (kind.mantissa - 1)
    store_bits(p, sign_of(number, kind) | infinity_of(kind) | payload, kind.width)


cdef void cast_items(
    const uint8_t* src, Type source, uint8_t* dst, Type target, Py_ssize_t n, Rounding rounding, Beyond beyond,
    Py_ssize_t* special, Py_ssize_t* outside,
) noexcept nogil:
    """Cast all items; report the first that must be finite and is not, and the first that is out of range."""
    cdef Number number
    cdef Py_ssize_t i
    cdef uint8_t* p
    cdef bint out
    for i in range(n):
        number = load_number(src + i * source.width, source)
        p = dst + i * target.width
        out = False
        if number.kind != FINITE:
            if target.is_float:
                put_special(p, number, source, target)
            elif special[0] < 0:
                special[0] = i
        elif target.is_float:
            out = put_float(p, number, target, rounding)
        else:
            out = put_integer(p, number, target, rounding, beyond)
        if out and outside[0] < 0:
            outside[0] = i


cdef Type type_of(object dtype) except *:
    cdef Type kind
    if dtype.kind not in "iuf" or dtype.itemsize not in (1, 2, 4, 8) or not dtype.isnative:
        raise TypeError(f"casts are for native integers and floats of up to 64 bits, not {dtype}")
    kind.width, kind.is_float, kind.is_signed = dtype.itemsize, dtype.kind == "f", dtype.kind == "i"
    kind.mantissa = {2: 10, 4: 23, 8: 52}[dtype.itemsize] if kind.is_float else 0
    kind.bias = {2: 15, 4: 127, 8: 1023}[dtype.itemsize] if kind.is_float else 0
    return kind


def cast_numbers(array, dtype, rounding="nearest-even", out_of_range=None):
    """Return numbers in another data type: each true value is rounded once, in the asked direction.

    Parameters
    ----------
    array : numpy.ndarray
        Native integers of up to 64 bits, or floats of 16, 32 or 64 bits; any shape and strides.
    dtype : numpy.dtype
        The same kinds.
    rounding : "nearest-even", "towards-zero", "towards-positive", "towards-negative" or "nearest-away"
    out_of_range : "clamp", "wrap" or None
        Beyond the range: the nearest end (infinity, of floats), for integers the remainder, or an error.

    Returns
    -------
    numpy.ndarray
        Of the same shape, in C order.

    Raises
    ------
    TypeError
        For other data types.
    ValueError
        If a value is out of range, is no number and the target holds integers, or an option is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from zarr_core import cast_numbers
    >>> cast_numbers(np.array([1.5, -2.5, 300]), np.dtype("u1"), "nearest-away", "clamp")
    array([  2,   0, 255], dtype=uint8)
    """
    if rounding not in ROUNDINGS:
        raise ValueError(f"Unknown rounding mode: {rounding}")
    if out_of_range not in BEYOND:
        raise ValueError(f"out_of_range must be 'clamp', 'wrap' or None, got {out_of_range!r}")
    cdef Type source = type_of(array.dtype), target = type_of(dtype)
    if source.width < target.width and np.can_cast(array.dtype, dtype, "safe"):
        return array.astype(dtype, order="C")   # every value is representable: there is nothing to round
    cdef cnp.ndarray flat = np.ascontiguousarray(array).reshape(-1)
    cdef cnp.ndarray made = np.empty(flat.size, dtype=dtype)
    cdef Rounding how = ROUNDINGS[rounding]
    cdef Beyond beyond = BEYOND[out_of_range]
    cdef Py_ssize_t n = flat.size, special = -1, outside = -1
    cdef const uint8_t* src = <const uint8_t*> cnp.PyArray_DATA(flat)
    cdef uint8_t* dst = <uint8_t*> cnp.PyArray_DATA(made)
    if n * source.width < RELEASE_GIL_BYTES:
        cast_items(src, source, dst, target, n, how, beyond, &special, &outside)
    else:
        with nogil:
            cast_items(src, source, dst, target, n, how, beyond, &special, &outside)
    if special >= 0:
        raise ValueError(f"Cannot cast {flat[special]} to integer type without scalar_map.")
    if outside >= 0 and (out_of_range is None or (target.is_float and beyond == WRAP)):
        raise ValueError(refusal(flat[outside], dtype))
    return made.reshape(array.shape)


def refusal(value, dtype):
    """The message about a value out of range."""
    if dtype.kind == "f":
        info = np.finfo(dtype)
        return f"Value {value} out of range [{info.min}, {info.max}]. Set out_of_range='clamp' to map it to ±Infinity."
    info = np.iinfo(dtype)
    remedy = "Set out_of_range='clamp' or out_of_range='wrap' to handle this."
    return f"Value {value} out of range [{info.min}, {info.max}]. {remedy}"
