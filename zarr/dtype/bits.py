"""Which bits of an element count: of data types that are narrower than a byte, some do not (see ``small.py``)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

# How many bits of each byte count. Types that are not here use all.
USED_BITS: Final[dict[str, int]] = {
    "int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6,
}  # fmt: skip


def is_small(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is one of those of ``ml_dtypes``.

    Examples
    --------
    >>> is_small(np.dtype("V2"))
    False
    """
    return dtype.type.__module__ == "ml_dtypes"


def used_bits(dtype: np.dtype[Any]) -> int:
    """Return how many low bits of each byte of an element count; 8 unless elements are narrower than a byte.

    Examples
    --------
    >>> used_bits(np.dtype("u1"))
    8
    """
    if dtype.fields is not None and dtype.names == ("real", "imag"):
        dtype = dtype.fields["real"][0]
    return USED_BITS.get(dtype.name, 8) if is_small(dtype) else 8


def drop_unused_bits(raw: np.ndarray[Any, np.dtype[np.uint8]], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return the bytes of elements with the bits that do not count cleared, as ``ml_dtypes`` itself leaves them.

    Parameters
    ----------
    raw
        One-dimensional ``uint8`` array.
    dtype
        What the elements are.

    Examples
    --------
    >>> drop_unused_bits(np.array([255], dtype="u1"), np.dtype("u1"))
    array([255], dtype=uint8)
    """
    bits = used_bits(dtype)
    return raw if bits == 8 else raw & np.uint8(2**bits - 1)
