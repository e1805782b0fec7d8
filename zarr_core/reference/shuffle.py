"""Byte rearrangements: blosc's byte and bit shuffle, byte swapping, differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_ITEMSIZE = 255 * 256


def as_bytes(data: Any) -> NDArray[np.uint8]:
    """Contiguous data as a flat view of bytes."""
    array = data if isinstance(data, np.ndarray) else np.frombuffer(data, dtype=np.uint8)
    if not array.flags.c_contiguous:
        raise ValueError("data must be C-contiguous")
    return array.reshape(-1).view(np.uint8)


def shuffle(data: Any, itemsize: int, *, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
    """First bytes of all items, then all second bytes, and so on; trailing bytes stay."""
    raw, n = _split(data, itemsize)
    moved = raw[: n * itemsize].reshape(n, itemsize).T.reshape(-1)
    return _store(np.concatenate([moved, raw[n * itemsize :]]), out)


def unshuffle(data: Any, itemsize: int, *, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
    """Undo ``shuffle``."""
    raw, n = _split(data, itemsize)
    moved = raw[: n * itemsize].reshape(itemsize, n).T.reshape(-1)
    return _store(np.concatenate([moved, raw[n * itemsize :]]), out)


def bitshuffle(data: Any, itemsize: int, *, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
    """Lowest bits of all items, then all second bits; as blosc, only where the item count is a multiple of 8."""
    raw, n = _split(data, itemsize)
    if n % 8:
        return _store(raw.copy(), out)
    bits = np.unpackbits(raw[: n * itemsize].reshape(n, itemsize), axis=1, bitorder="little")
    moved = np.packbits(bits.T.reshape(-1), bitorder="little")
    return _store(np.concatenate([moved, raw[n * itemsize :]]), out)


def bitunshuffle(data: Any, itemsize: int, *, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
    """Undo ``bitshuffle``."""
    raw, n = _split(data, itemsize)
    if n % 8:
        return _store(raw.copy(), out)
    bits = np.unpackbits(raw[: n * itemsize], bitorder="little").reshape(itemsize * 8, n)
    moved = np.packbits(bits.T.reshape(-1), bitorder="little")
    return _store(np.concatenate([moved, raw[n * itemsize :]]), out)


def byteswap(data: Any, width: int, *, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
    """Reverse the bytes of each group of ``width``."""
    raw = as_bytes(data)
    _check_width(width, len(raw))
    return _store(raw.reshape(-1, width)[:, ::-1].reshape(-1), out)


def delta_encode(data: Any, dtype: Any, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """The first item, then each item's difference from the one before; integers wrap."""
    items = _items(data, dtype)
    with np.errstate(all="ignore"):
        encoded = np.concatenate([items[:1], np.diff(items)]).astype(items.dtype)
    return _store_items(encoded, out)


def delta_decode(data: Any, dtype: Any, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Undo ``delta_encode``: running sums."""
    items = _items(data, dtype)
    with np.errstate(all="ignore"):
        decoded = np.cumsum(items, dtype=items.dtype.newbyteorder("=")).astype(items.dtype)
    return _store_items(decoded, out)


def _split(data: Any, itemsize: int) -> tuple[NDArray[np.uint8], int]:
    if not 1 <= itemsize <= MAX_ITEMSIZE:
        raise ValueError(f"itemsize must be between 1 and {MAX_ITEMSIZE}, got {itemsize}")
    raw = as_bytes(data)
    return raw, len(raw) // itemsize


def _check_width(width: int, nbytes: int) -> None:
    if width not in (1, 2, 4, 8):
        raise ValueError(f"width must be 1, 2, 4 or 8, got {width}")
    if nbytes % width:
        raise ValueError(f"{nbytes} bytes are not a multiple of the width {width}")


def _items(data: Any, dtype: Any) -> NDArray[Any]:
    dtype = np.dtype(dtype)
    if dtype.kind not in "iuf" or dtype.itemsize not in (1, 2, 4, 8) or (dtype.kind == "f" and dtype.itemsize < 4):
        raise ValueError(f"delta needs integers of 1 to 8 bytes or floats of 4 or 8, got {dtype}")
    raw = as_bytes(data)
    if len(raw) % dtype.itemsize:
        raise ValueError(f"{len(raw)} bytes are not a multiple of the item size {dtype.itemsize}")
    return raw.view(dtype)


def _store(result: NDArray[np.uint8], out: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
    if out is None:
        return result
    target = _checked_out(out, len(result))
    target[:] = result
    return out


def _store_items(result: NDArray[Any], out: NDArray[Any] | None) -> NDArray[Any]:
    if out is None:
        return result
    _checked_out(out, result.nbytes)[:] = result.view(np.uint8)
    return out


def _checked_out(out: NDArray[Any], nbytes: int) -> NDArray[np.uint8]:
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, got {type(out).__name__}")
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError("out must be C-contiguous and writeable")
    if out.nbytes != nbytes:
        raise ValueError(f"out has {out.nbytes} bytes, expected {nbytes}")
    return as_bytes(out)
