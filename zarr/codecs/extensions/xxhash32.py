"""The checksum xxHash32, in which N5's LZ4 blocks are written; in Python, as it is met in old files only."""

from __future__ import annotations

import struct

_P1, _P2, _P3, _P4, _P5 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1
_MASK = 0xFFFFFFFF


def xxhash32(data: bytes, seed: int = 0) -> int:
    """The checksum of bytes.

    Parameters
    ----------
    data : bytes
    seed : int
        From 0 to 2**32 - 1.

    Notes
    -----
    https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

    Examples
    --------
    >>> hex(xxhash32(b""))
    '0x2cc5d05'
    """
    whole = len(data) & ~15
    total = seed + _P5 & _MASK
    if whole:
        lanes = struct.unpack(f"<{whole // 4}I", data[:whole])
        starts = (seed + _P1 + _P2, seed + _P2, seed, seed - _P1)
        one, two, three, four = (_lane(start & _MASK, lanes[i::4]) for i, start in enumerate(starts))
        total = _rotate(one, 1) + _rotate(two, 7) + _rotate(three, 12) + _rotate(four, 18)
    total = total + len(data) & _MASK
    words = len(data) & ~3
    for (word,) in struct.iter_unpack("<I", data[whole:words]):
        total = _rotate(total + word * _P3 & _MASK, 17) * _P4 & _MASK
    for byte in data[words:]:
        total = _rotate(total + byte * _P5 & _MASK, 11) * _P1 & _MASK
    total = (total ^ total >> 15) * _P2 & _MASK
    total = (total ^ total >> 13) * _P3 & _MASK
    return total ^ total >> 16


def _lane(state: int, words: tuple[int, ...]) -> int:
    for word in words:
        state = state + word * _P2 & _MASK
        state = (state << 13 | state >> 19) * _P1 & _MASK
    return state


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & _MASK
