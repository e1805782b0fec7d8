"""Byte rearrangements: blosc's byte and bit shuffle, differences of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_bytes(data: Any) -> NDArray[np.uint8]:
    """View contiguous data as flat bytes."""
    array = data if isinstance(data, np.ndarray) else np.frombuffer(data, dtype=np.uint8)
    if not array.flags.c_contiguous:
        raise ValueError("data must be C-contiguous")
    return array.reshape(-1).view(np.uint8)


def shuffle(data: Any, itemsize: int) -> NDArray[np.uint8]:
    """Bring the first bytes of all items together, then all second bytes, and so on; trailing bytes stay."""
    raw, n = _split(data, itemsize)
    moved = raw[: n * itemsize].reshape(n, itemsize).T.reshape(-1)
    return np.concatenate([moved, raw[n * itemsize :]])


def unshuffle(data: Any, itemsize: int) -> NDArray[np.uint8]:
    """Undo ``shuffle``."""
    raw, n = _split(data, itemsize)
    moved = raw[: n * itemsize].reshape(itemsize, n).T.reshape(-1)
    return np.concatenate([moved, raw[n * itemsize :]])


def bitshuffle(data: Any, itemsize: int) -> NDArray[np.uint8]:
    """Bring the lowest bits of all items together, and so on; as blosc, only of a multiple of 8 items."""
    raw, n = _split(data, itemsize)
    if n % 8:
        return raw.copy()
    bits = np.unpackbits(raw[: n * itemsize].reshape(n, itemsize), axis=1, bitorder="little")
    moved = np.packbits(bits.T.reshape(-1), bitorder="little")
    return np.concatenate([moved, raw[n * itemsize :]])


def bitunshuffle(data: Any, itemsize: int) -> NDArray[np.uint8]:
    """Undo ``bitshuffle``."""
    raw, n = _split(data, itemsize)
    if n % 8:
        return raw.copy()
    bits = np.unpackbits(raw[: n * itemsize], bitorder="little").reshape(itemsize * 8, n)
    moved = np.packbits(bits.T.reshape(-1), bitorder="little")
    return np.concatenate([moved, raw[n * itemsize :]])


def delta_encode(data: Any, dtype: Any) -> NDArray[Any]:
    """Return the first item, then each item's difference from the one before; integers wrap."""
    items = _items(data, dtype)
    with np.errstate(all="ignore"):
        return np.concatenate([items[:1], np.diff(items)]).astype(items.dtype)


def delta_decode(data: Any, dtype: Any) -> NDArray[Any]:
    """Undo ``delta_encode``: running sums."""
    items = _items(data, dtype)
    with np.errstate(all="ignore"):
        return np.cumsum(items, dtype=items.dtype.newbyteorder("=")).astype(items.dtype)


def _split(data: Any, itemsize: int) -> tuple[NDArray[np.uint8], int]:
    raw = as_bytes(data)
    return raw, len(raw) // itemsize


def _items(data: Any, dtype: Any) -> NDArray[Any]:
    dtype = np.dtype(dtype)
    if dtype.kind not in "iuf" or dtype.itemsize not in (1, 2, 4, 8) or (dtype.kind == "f" and dtype.itemsize < 4):
        raise ValueError(f"delta needs integers of 1 to 8 bytes or floats of 4 or 8, got {dtype}")
    raw = as_bytes(data)
    if len(raw) % dtype.itemsize:
        raise ValueError(f"{len(raw)} bytes are not a multiple of the item size {dtype.itemsize}")
    return raw.view(dtype)
