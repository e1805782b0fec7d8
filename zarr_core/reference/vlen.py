"""Strings and byte strings of any length: a count, then each item's length and bytes, all little-endian."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.shuffle import as_bytes


def split_items(raw: Any, count: int) -> list[bytes]:
    """Split a packed chunk into its items; ValueError before reading past its end."""
    data = as_bytes(raw).tobytes()
    if count < 0:
        raise ValueError(f"the number of items must not be negative, got {count}")
    if len(data) < 4:
        raise ValueError(f"{len(data)} bytes are too few for a packed chunk: it begins with a 4-byte item count")
    stored = int.from_bytes(data[:4], "little")
    if stored != count:
        raise ValueError(f"the packed chunk holds {stored} items, {count} were expected")
    items, at = [], 4
    for i in range(count):
        if len(data) - at < 4:
            raise ValueError(f"the packed chunk of {len(data)} bytes ends inside the length of item {i} of {count}")
        size = int.from_bytes(data[at : at + 4], "little")
        at += 4
        if size > len(data) - at:
            raise ValueError(f"item {i} of {count} has {size} bytes, but only {len(data) - at} are left")
        items.append(data[at : at + size])
        at += size
    return items


def join_items(items: list[bytes]) -> bytes:
    """Items packed one behind the other."""
    parts = [len(items).to_bytes(4, "little")]
    for item in items:
        parts += (len(item).to_bytes(4, "little"), item)
    return b"".join(parts)


def unpack_utf8(raw: Any, count: int, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Packed strings into an array of objects or of NumPy's StringDType."""
    return _store([str(item, "utf-8") for item in split_items(raw, count)], count, out, "OT")


def unpack_bytes(raw: Any, count: int, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Packed byte strings into an array of objects."""
    return _store(split_items(raw, count), count, out, "O")


def _store(items: list[Any], count: int, out: NDArray[Any] | None, kinds: str) -> NDArray[Any]:
    if out is None:
        out = np.empty(count, dtype=object)
    _check_out(out, count, kinds)
    flat = out.reshape(-1)
    for i, item in enumerate(items):
        flat[i] = item
    return out


def _check_out(out: NDArray[Any], count: int, kinds: str) -> None:
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, got {type(out).__name__}")
    if out.dtype.kind not in kinds:
        raise TypeError(f"items cannot be unpacked into an array of {out.dtype}")
    if out.size != count or not out.flags.c_contiguous:
        raise ValueError(f"out must be C-contiguous with {count} items, got shape {out.shape}, strides {out.strides}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")


def pack_utf8(array: NDArray[Any]) -> bytes:
    """Strings of an object, StringDType or U array, in C order."""
    _check_kind(array, "OTU", "strings")
    return join_items([_text(item) for item in array.reshape(-1).tolist()])


def _text(item: Any) -> bytes:
    if _is_nothing(item):
        return b""
    if not isinstance(item, str):
        raise TypeError(f"expected str, got {type(item).__name__}")
    return item.encode("utf-8")


def pack_bytes(array: NDArray[Any]) -> bytes:
    """Byte strings of an object or S array, in C order."""
    _check_kind(array, "OS", "byte strings")
    return join_items([_bytes(item) for item in array.reshape(-1).tolist()])


def _bytes(item: Any) -> bytes:
    if _is_nothing(item):
        return b""
    if not isinstance(item, (bytes, bytearray, memoryview, np.ndarray)):
        raise TypeError(f"expected bytes, got {type(item).__name__}")
    return bytes(item)


def _is_nothing(item: Any) -> bool:
    """None and zero, with which arrays of objects begin, stand for empty items."""
    return item is None or (isinstance(item, (int, float)) and item == 0)


def _check_kind(array: Any, kinds: str, what: str) -> None:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected a NumPy array, got {type(array).__name__}")
    if array.dtype.kind not in kinds:
        raise TypeError(f"{what} cannot be packed from an array of {array.dtype}")
