"""Values with parts of varying length, as bytes.

A value is packed by its type: parts of fixed size as their bytes, little-endian where the type says nothing else; a
string as a u32 (little-endian) length and its bytes; a ragged array as a u32 count and its packed elements; a record
or a subarray as its parts one after another. The empty byte string stands for a value that was never written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zarr.h5py_compat.types.dtypes import Dtype, check_vlen_dtype

__all__ = ["blank", "is_unset", "pack", "to_bytes", "unpack"]

_LEAST_NBYTES = 4
"""What any value takes that has a part of varying length: the length of that part."""


def to_bytes(value: Any, encoding: str) -> bytes:
    """Return a string as bytes; numbers are refused with a TypeError."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, str):
        return value.encode(encoding)
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    raise TypeError(f"Can't implicitly convert non-string objects to strings: {value!r}")


def is_unset(value: Any) -> bool:
    """Say whether a part of an object array was never set: ``np.empty`` leaves None there, ``np.zeros`` 0."""
    return value is None or (type(value) is int and value == 0)


def pack(value: Any, dtype: Dtype) -> bytes:
    """Return one value of ``dtype`` as bytes."""
    if dtype.subdtype is not None:
        items = np.asarray(value, dtype=dtype.base).reshape(-1)
        return b"".join(pack(item, dtype.base) for item in items)
    if not dtype.hasobject:
        return np.asarray(value).astype(dtype).tobytes()
    if dtype.names is not None and dtype.fields is not None:
        return b"".join(pack(value[name], dtype.fields[name][0]) for name in dtype.names)
    kind = check_vlen_dtype(dtype)
    if kind is str or kind is bytes:
        text = b"" if is_unset(value) else to_bytes(value, "utf-8" if kind is str else "ascii")
        return len(text).to_bytes(4, "little") + text
    base = np.dtype(kind)
    array = np.zeros(0, base) if value is None or np.ndim(value) == 0 else np.asarray(value, dtype=base)
    body = b"".join(pack(item, base) for item in array) if base.hasobject else array.tobytes()
    return len(array).to_bytes(4, "little") + body


def unpack(raw: bytes, offset: int, dtype: Dtype) -> tuple[Any, int]:
    """Return the value that begins at ``offset``, and where the next one begins.

    Raises
    ------
    ValueError
        When the bytes end before the value does.
    """
    if dtype.subdtype is not None:
        flat, offset = _unpack_many(raw, offset, dtype.base, int(np.prod(dtype.shape)))
        return flat.reshape(dtype.shape), offset
    if not dtype.hasobject:
        return np.frombuffer(raw, dtype, 1, offset)[0], offset + dtype.itemsize
    if dtype.names is not None and dtype.fields is not None:
        parts = []
        for name in dtype.names:
            part, offset = unpack(raw, offset, dtype.fields[name][0])
            parts.append(part)
        return np.array(tuple(parts), dtype=dtype)[()], offset
    count = int.from_bytes(raw[offset : offset + 4], "little")
    offset += 4
    kind = check_vlen_dtype(dtype)
    if kind is str or kind is bytes:
        _require(raw, offset, count)
        return raw[offset : offset + count], offset + count
    return _unpack_many(raw, offset, np.dtype(kind), count)


def _require(raw: bytes, offset: int, nbytes: int) -> None:
    if offset + nbytes > len(raw):
        raise ValueError(f"a packed value needs {nbytes} bytes behind byte {offset}, but there are {len(raw)} in all")


def _unpack_many(raw: bytes, offset: int, base: Dtype, count: int) -> tuple[np.ndarray[Any, Any], int]:
    if not base.hasobject:
        return np.frombuffer(raw, base, count, offset).copy(), offset + count * base.itemsize
    _require(raw, offset, count * _LEAST_NBYTES)  # before there is memory for so many
    out = np.zeros(count, base)
    for position in range(count):
        out[position], offset = unpack(raw, offset, base)
    return out, offset


def blank(dtype: Dtype) -> Any:
    """Return the value of an element that was never written."""
    if dtype.names is not None and dtype.fields is not None:
        return np.array(tuple(blank(dtype.fields[name][0]) for name in dtype.names), dtype=dtype)[()]
    kind = check_vlen_dtype(dtype)
    if kind is str or kind is bytes:
        return b""
    return np.zeros(0, kind) if kind is not None else np.zeros(1, dtype)[0]
