"""Random shapes, layouts and selections."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np

DTYPES = ("i1", "<u2", ">i4", "f4", "f8", "c8", "S3", "U2", "M8[s]", "bool", "V3", "string", "struct")
STRUCT = np.dtype([("x", "<i2"), ("y", "<f4"), ("z", "S3")])


@st.composite
def shapes(draw: Any, max_ndim: int = 3, max_side: int = 9) -> tuple[int, ...]:
    """A small shape, sometimes with a dimension of length zero."""
    ndim = draw(st.integers(0, max_ndim))
    return tuple(draw(st.integers(0, max_side)) for _ in range(ndim))


@st.composite
def layouts(draw: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    """Parameters of ``create_array``: chunks, shards, codecs, format, order."""
    parameters: dict[str, Any] = {"compressors": draw(st.sampled_from([None, "auto"]))}
    kind = draw(st.sampled_from(["regular", "sharded", "rectilinear", "v2", "rectilinear-shards"]))
    chunks = tuple(draw(st.integers(1, max(1, n))) for n in shape)
    parameters["chunks"] = chunks
    if kind == "v2":
        parameters.update(zarr_format=2, order=draw(st.sampled_from("CF")))
    elif kind == "sharded":
        parameters["shards"] = tuple(c * draw(st.integers(1, 3)) for c in chunks)
    elif kind == "rectilinear" and shape and min(shape) > 0:
        parameters["chunks"] = [cut(draw, n, 1) for n in shape]
    elif kind == "rectilinear-shards" and shape and min(shape) > 0:
        parameters["chunks"] = (1,) * len(shape)
        parameters["shards"] = [cut(draw, n, 1) for n in shape]
    if draw(st.booleans()):
        parameters["config"] = {"write_empty_chunks": True}
    return parameters


def cut(draw: Any, length: int, step: int) -> list[int]:
    """Lengths that add up to one length."""
    parts = []
    while length > 0:
        part = draw(st.integers(1, length)) * step
        parts.append(part)
        length -= part
    return parts


def values_of(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    """An array of random values with many zeros, so that some chunks are empty."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 5, size=shape) * rng.integers(0, 2, size=shape)
    if dtype == "string":
        return np.array(
            ["" if n == 0 else "é" * int(n) for n in numbers.ravel()], dtype=np.dtypes.StringDType()
        ).reshape(shape)
    if dtype == "struct":
        out = np.zeros(shape, dtype=STRUCT)
        out["x"], out["y"], out["z"] = numbers, numbers / 2, np.asarray(numbers).astype("S3")
        return out
    if dtype.startswith("V"):
        return np.asarray(numbers).astype("S3").view("V3")
    if dtype.startswith("M8"):
        return np.asarray(np.asarray(numbers).astype("i8").astype(dtype))
    return np.asarray(numbers).astype(dtype)


@st.composite
def basic(draw: Any, shape: tuple[int, ...]) -> Any:
    """Integers, slices with positive steps, Ellipsis."""
    items: list[Any] = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        if n and draw(st.booleans()):
            items.append(draw(st.integers(-n, n - 1)))
        else:
            bound = st.one_of(st.none(), st.integers(-n - 2, n + 2))
            items.append(slice(draw(bound), draw(bound), draw(st.one_of(st.none(), st.integers(1, 4)))))
    if draw(st.booleans()):
        items.append(Ellipsis)
    return tuple(items)


@st.composite
def orthogonal(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Per dimension an integer, a slice, an index array or a boolean array."""
    items: list[Any] = []
    for n in shape:
        kind = draw(st.sampled_from(["int", "slice", "array", "mask"])) if n else "slice"
        if kind == "int":
            items.append(draw(st.integers(-n, n - 1)))
        elif kind == "array":
            items.append(np.array(draw(st.lists(st.integers(-n, n - 1), max_size=6)), dtype=np.int64))
        elif kind == "mask":
            items.append(np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n))))
        else:
            items.append(draw(st.slices(n)))
    return tuple(_forward(item) if isinstance(item, slice) else item for item in items)


def _forward(item: slice) -> slice:
    return slice(item.start, item.stop, min(abs(item.step), 20)) if item.step else item


def expand(items: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The open mesh that numpy needs for an orthogonal selection, and the axes that integers drop."""
    axes, drop = [], []
    for d, (item, n) in enumerate(zip(items, shape, strict=True)):
        if isinstance(item, int):
            axes.append(np.array([item]))
            drop.append(d)
        elif isinstance(item, slice):
            axes.append(np.arange(*item.indices(n)))
        else:
            axes.append(np.flatnonzero(item) if item.dtype == bool else item)
    return np.ix_(*axes) if axes else (), tuple(drop)


@st.composite
def points(draw: Any, shape: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], ...]:
    """One coordinate array per dimension."""
    count = draw(st.integers(1, 8))
    return tuple(np.array([draw(st.integers(-n, n - 1)) for _ in range(count)], dtype=np.int64) for n in shape)
