"""Items behind offsets: count + 1 little-endian signed offsets, zeros to a multiple of 64 bytes, the items' bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.shuffle import as_bytes
from zarr_core.reference.vlen import _bytes, _check_kind, _store, _text


def data_place(count: int, width: int) -> int:
    """Return where the bytes of the items begin."""
    if width not in (4, 8):
        raise ValueError(f"offsets have 4 or 8 bytes, got a width of {width!r}")
    if count < 0:
        raise ValueError(f"the number of items must not be negative, got {count}")
    return -(-(count + 1) * width // 64) * 64


def split_offsets(raw: Any, count: int, width: int) -> list[bytes]:
    """Split a chunk into its items; ValueError for a bad offset, before any item is looked at."""
    start, data = data_place(count, width), as_bytes(raw).tobytes()
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes are too few for {count} items: their offsets and padding take {start}")
    offsets = np.frombuffer(data, f"<i{width}", count + 1).astype("i8")
    bad = np.flatnonzero((np.diff(offsets, prepend=0) < 0) | (offsets > len(data) - start))
    if offsets[0] != 0 or bad.size:
        i = 0 if offsets[0] != 0 else int(bad[0])
        raise ValueError(f"offset {i} of {count + 1} is {offsets[i]}, which does not lie where it must")
    if offsets[-1] != len(data) - start:
        raise ValueError(f"the items end at byte {offsets[-1]}, but {len(data) - start} bytes of data are there")
    return [data[start + at : start + end] for at, end in zip(offsets[:-1].tolist(), offsets[1:].tolist())]


def check_arrow(raw: Any, count: int, width: int, text: bool) -> int:
    """Return where the bytes of the items begin, once they are known to be good."""
    items = split_offsets(raw, count, width)
    if text:
        _texts(items)
    return data_place(count, width)


def unpack_arrow(raw: Any, count: int, width: int, text: bool, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Items behind offsets into an array of objects, or for text of NumPy's StringDType."""
    items = split_offsets(raw, count, width)
    return _store(_texts(items) if text else items, count, out, "OT" if text else "O")


def _texts(items: list[bytes]) -> list[str]:
    return [str(item, "utf-8") for item in items]


def pack_arrow(array: NDArray[Any], width: int, text: bool) -> bytes:
    """Items of an array behind offsets, in C order."""
    _check_kind(array, "OTU" if text else "OS", "strings" if text else "byte strings")
    items = [_text(item) if text else _bytes(item) for item in array.reshape(-1).tolist()]
    start = data_place(len(items), width)
    offsets = np.cumsum([0, *map(len, items)], dtype="i8")
    if width == 4 and offsets[-1] > 0x7FFFFFFF:
        raise ValueError(f"{offsets[-1]} bytes of items are more than offsets of 4 bytes can count")
    return offsets.astype(f"<i{width}").tobytes().ljust(start, b"\0") + b"".join(items)
