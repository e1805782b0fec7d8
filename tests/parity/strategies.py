"""Random arrays and selections: shapes, chunks, shards, data types, codecs and every kind of indexing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
import numpy as np

DTYPES = ["i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16", "?", "M8[s]", "S3", "U2", "V5", "T"]
CODECS = ["raw", "zstd", "gzip", "blosc", "crc32c", "big", "transpose"]


@dataclass(frozen=True)
class Layout:
    """How one array is stored."""

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None
    dtype: str
    codec: str
    zarr_format: int
    order: str
    write_empty_chunks: bool

    def options(self, zarr: Any) -> dict[str, Any]:
        """Return the arguments of ``create_array``."""
        options: dict[str, Any] = {
            "shape": self.shape, "chunks": self.chunks, "shards": self.shards, "dtype": self.dtype_argument(),
            "zarr_format": self.zarr_format, "config": {"write_empty_chunks": self.write_empty_chunks},
        }  # fmt: skip
        if self.zarr_format == 2:
            return options | {"order": self.order, "compressors": self.compressor_v2()}
        return options | self.codecs_v3(zarr.codecs)

    def dtype_argument(self) -> Any:
        return "string" if self.dtype == "T" else np.dtype(self.dtype)

    def compressor_v2(self) -> Any:
        import numcodecs

        return {"zstd": numcodecs.Zstd(1), "gzip": numcodecs.GZip(1), "blosc": numcodecs.Blosc("lz4")}.get(self.codec)

    def codecs_v3(self, c: Any) -> dict[str, Any]:
        table: dict[str, dict[str, Any]] = {
            "raw": {"compressors": None}, "zstd": {"compressors": c.ZstdCodec(level=1)},
            "gzip": {"compressors": c.GzipCodec(level=1)}, "blosc": {"compressors": c.BloscCodec(cname="lz4")},
            "crc32c": {"compressors": [c.Crc32cCodec()]},
            "big": {"serializer": c.BytesCodec(endian="big"), "compressors": None},
            "transpose": {"filters": [c.TransposeCodec(order=range(len(self.shape))[::-1])], "compressors": None},
        }  # fmt: skip
        return table[self.codec]


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Draw a way of storing an array of up to three dimensions."""
    ndim = draw(st.integers(1, 3))
    shape = tuple(draw(st.integers(0 if ndim > 1 else 1, 14)) for _ in range(ndim))
    chunks = tuple(draw(st.integers(1, 6)) for _ in range(ndim))
    zarr_format = draw(st.sampled_from([2, 3]))
    factors = [draw(st.integers(1, 3)) for _ in range(ndim)]
    sharded = zarr_format == 3 and draw(st.booleans())
    dtype = draw(st.sampled_from(DTYPES))
    codec = draw(st.sampled_from(CODECS))
    if (np.dtype(dtype).itemsize == 1 or dtype in ("S3", "V5", "T")) and codec in ("big", "transpose"):
        codec = "zstd"
    return Layout(
        shape=shape, chunks=chunks, shards=tuple(c * f for c, f in zip(chunks, factors)) if sharded else None,
        dtype=dtype, codec=codec, zarr_format=zarr_format, order=draw(st.sampled_from("CF")),
        write_empty_chunks=draw(st.booleans()),
    )  # fmt: skip


def values_for(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray[Any, Any]:
    """Return pseudo-random data with runs of zeros (so that some chunks hold nothing but the fill value)."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 120, shape) * (rng.random(shape) < 0.5)
    if dtype == "T":
        return np.array([f"{n}é" if n else "" for n in numbers.ravel()], dtype="T").reshape(shape)
    if dtype == "V5":
        return np.array([int(n).to_bytes(5, "big") for n in numbers.ravel()], dtype="V5").reshape(shape)
    if dtype[0] in "SU":
        return np.array([str(n) if n else "" for n in numbers.ravel()], dtype=dtype).reshape(shape)
    return numbers.astype(dtype)


@st.composite
def basic_selections(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """Draw ints, slices with positive steps and at most one Ellipsis."""
    items: list[Any] = []
    for length in shape:
        kind = draw(st.sampled_from(["slice", "int", "all"]))
        if kind == "int" and length:
            items.append(draw(st.integers(-length, length - 1)))
        elif kind == "slice":
            bound = st.none() | st.integers(-length - 2, length + 2)
            items.append(slice(draw(bound), draw(bound), draw(st.none() | st.integers(1, 4))))
        else:
            items.append(slice(None))
    cut = draw(st.integers(0, len(items)))
    if draw(st.booleans()):
        items = [*items[:cut], Ellipsis] if draw(st.booleans()) else [Ellipsis, *items[cut:]]
    return tuple(items)


def index_array(draw: st.DrawFn, length: int) -> np.ndarray[Any, Any]:
    """Draw an integer index array (possibly unsorted, negative, repeated) or a mask."""
    if draw(st.booleans()):
        return np.array(draw(st.lists(st.booleans(), min_size=length, max_size=length)), dtype=bool)
    indices = draw(st.lists(st.integers(-length, length - 1), min_size=1, max_size=8)) if length else []
    return np.array(indices, dtype=np.int64)


@st.composite
def orthogonal_selections(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Draw one item a dimension: index array, mask, slice or int."""
    items: list[Any] = []
    for length in shape:
        kind = draw(st.sampled_from(["array", "slice", "int"]))
        if kind == "int" and length:
            items.append(draw(st.integers(0, length - 1)))
        elif kind == "array":
            items.append(index_array(draw, length))
        else:
            items.append(slice(draw(st.integers(0, length)), None, draw(st.integers(1, 3))))
    return tuple(items)


@st.composite
def point_selections(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...] | None:
    """Draw coordinates of some points, or None where there is no place to point at."""
    if 0 in shape:
        return None
    count = draw(st.integers(1, 12))
    return tuple(
        np.array(draw(st.lists(st.integers(-n, n - 1), min_size=count, max_size=count))) for n in shape
    )  # fmt: skip


def take_orthogonal(values: np.ndarray[Any, Any], selection: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """Return what numpy gives, dimension by dimension."""
    for axis in reversed(range(len(selection))):
        item = selection[axis]
        if isinstance(item, np.ndarray) and item.dtype == bool:
            item = np.flatnonzero(item)
        values = values[(slice(None),) * axis + (item,)]
    return values
