"""Kernels of single bits, in plain NumPy and Python's integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.shuffle import as_bytes


def _check(itemsize: int, first_bit: int, nbits: int) -> None:
    if itemsize not in (1, 2, 4, 8):
        raise ValueError(f"itemsize must be 1, 2, 4 or 8, got {itemsize}")
    if first_bit < 0 or nbits < 1 or first_bit + nbits > 8 * itemsize:
        raise ValueError(f"{nbits} bits from bit {first_bit} do not lie in {itemsize} bytes")


def _items(data: Any, itemsize: int) -> NDArray[np.uint8]:
    raw = as_bytes(data)
    if raw.size % itemsize:
        raise ValueError(f"{raw.size} bytes are no whole number of items of {itemsize}")
    return raw.reshape(-1, itemsize)


def pack_bits(data: Any, itemsize: int, first_bit: int, nbits: int) -> NDArray[np.uint8]:
    """Put some of the bits of every item one after the other, lowest bit first."""
    _check(itemsize, first_bit, nbits)
    bits = np.unpackbits(_items(data, itemsize), axis=1, bitorder="little")
    return np.packbits(bits[:, first_bit : first_bit + nbits].reshape(-1), bitorder="little")


def unpack_bits(
    data: Any, count: int, itemsize: int, first_bit: int, nbits: int, sign_bits: int = 0
) -> NDArray[np.uint8]:
    """Undo ``pack_bits``."""
    _check(itemsize, first_bit, nbits)
    if count < 0 or not 0 <= sign_bits <= 8 * itemsize:
        raise ValueError(f"invalid count {count} or sign_bits {sign_bits}")
    raw = as_bytes(data)
    if (count * nbits + 7) // 8 != raw.size:
        raise ValueError(f"{count} items of {nbits} bits need {(count * nbits + 7) // 8} bytes, got {raw.size}")
    bits = np.zeros((count, 8 * itemsize), dtype=np.uint8)
    last = first_bit + nbits
    bits[:, first_bit:last] = np.unpackbits(raw, count=count * nbits, bitorder="little").reshape(count, nbits)
    if sign_bits > last:
        bits[:, last:sign_bits] = bits[:, last - 1 : last]
    return np.packbits(bits, axis=1, bitorder="little").reshape(-1)


def round_bits(
    data: Any, itemsize: int, keepbits: int, mantissa_bits: int, is_signed: bool = False
) -> NDArray[np.uint8]:
    """Round items to a number of significant bits, half to even."""
    _check(itemsize, 0, 1)
    if keepbits < 1:
        raise ValueError(f"keepbits must be at least 1, got {keepbits}")
    if not 0 <= mantissa_bits < 8 * itemsize - 1:
        raise ValueError(f"{mantissa_bits} mantissa bits do not lie in {itemsize} bytes")
    rounded = [
        _round_one(int.from_bytes(item.tobytes(), "little"), 8 * itemsize, keepbits, mantissa_bits, is_signed)
        for item in _items(data, itemsize)
    ]
    return np.frombuffer(b"".join(item.to_bytes(itemsize, "little") for item in rounded), dtype=np.uint8).copy()


def _round_one(x: int, width: int, keep: int, mantissa: int, signed: bool) -> int:
    sign = 1 << (width - 1)
    drop = (mantissa or x.bit_length()) - keep
    is_nan = mantissa and x & (sign - 1) > (sign - 1) >> mantissa << mantissa
    if drop <= 0 or is_nan:
        return x
    down, rest = x >> drop, x & ((1 << drop) - 1)
    up = rest > 1 << (drop - 1) or (rest == 1 << (drop - 1) and down & 1)
    rounded = (down + up) << drop
    if not mantissa and not (signed and x & sign) and rounded >= (sign if signed else 2 * sign):
        return down << drop
    return rounded % (2 * sign)
