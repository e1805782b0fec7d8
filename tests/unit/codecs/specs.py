"""Descriptions of chunks and random arrays, for the tests of codecs."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarr.buffer import default_buffer_prototype
from zarr.chunks.spec import ArrayConfig, ArraySpec
from zarr.dtype import VariableLengthBytes, VariableLengthUTF8, parse_dtype

FIXED_DTYPES = (
    "bool", "int8", "uint8", "int16", "<u2", ">u2", "int32", ">i4", "int64", "uint64", "float16", "float32", "float64",
    ">f8", "complex64", ">c16", "S5", "<U3", ">U3", "V4", "<M8[ns]", ">M8[s]", "<m8[us]",
    "i2,f8,S3", ">i2,<f4",
)  # fmt: skip


def buffer(data: bytes | np.ndarray[Any, Any]) -> Any:
    """Bytes in the default buffer."""
    return default_buffer_prototype().buffer.from_bytes(bytes(data))


def nd_buffer(array: Any) -> Any:
    """Elements in the default buffer."""
    return default_buffer_prototype().nd_buffer.from_numpy_array(np.asarray(array))


def zdtype(name: str) -> Any:
    """A data type by a short name."""
    if name == "string":
        return VariableLengthUTF8()
    if name == "bytes":
        return VariableLengthBytes()
    return parse_dtype(np.dtype(name), zarr_format=2)


def chunk_spec(
    name: str = "int32",
    shape: tuple[int, ...] = (4, 6),
    fill: Any = None,
    *,
    order: str = "C",
    write_empty_chunks: bool = False,
) -> ArraySpec:
    """The description of a chunk."""
    dtype = zdtype(name)
    return ArraySpec(
        shape=shape,
        dtype=dtype,
        fill_value=dtype.default_scalar() if fill is None else dtype.cast_scalar(fill),
        config=ArrayConfig(order=order, write_empty_chunks=write_empty_chunks),  # type: ignore[arg-type]
        prototype=default_buffer_prototype(),
    )


def random_array(name: str, shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    """Elements of a dtype, of random bytes where any bytes will do."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape, dtype=int))
    words = ["", "a", "bé", "日本語", "x" * 40]
    if name == "string":
        return np.array([words[i] for i in rng.integers(0, 5, count)], dtype=np.dtypes.StringDType()).reshape(shape)
    if name == "bytes":
        flat = np.empty(count, dtype=object)
        flat[:] = [words[i].encode() for i in rng.integers(0, 5, count)]
        return flat.reshape(shape)
    dtype = np.dtype(name)
    if dtype.kind == "b":
        return np.asarray(rng.integers(0, 2, shape), dtype=bool)
    if dtype.kind in "SU":
        return np.array([words[i][:3].encode("ascii", "ignore") if dtype.kind == "S" else words[i][:3]
                         for i in rng.integers(0, 4, count)], dtype=dtype).reshape(shape)  # fmt: skip
    if dtype.kind == "f" or dtype.kind == "c":
        return np.asarray(rng.standard_normal(shape) * 10, dtype=dtype)
    raw = rng.integers(0, 8, count * dtype.itemsize, dtype=np.uint8)
    return raw.view(dtype).reshape(shape)


def same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays are equal in shape, dtype and every bit."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.hasobject or a.dtype.kind == "T":
        return a.tolist() == b.tolist()
    return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
