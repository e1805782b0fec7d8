"""Whatever the store, the runner and the path through the code: what is read is what numpy says."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import zarr
from zarr.storage import LocalStore, LoggingStore, MemoryStore, ZipStore

from .slow_store import SlowStore
from .strategies import (
    Layout,
    basic_selections,
    layouts,
    orthogonal_selections,
    point_selections,
    take_orthogonal,
    values_for,
)

STORES = ["memory", "local", "zip", "logging", "slow"]
COMMON = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


@contextmanager
def open_store(kind: str) -> Iterator[Any]:
    """Open a store of that kind. A logging or slow wrapper offers no bulk transfer: the chunk-by-chunk path."""
    with tempfile.TemporaryDirectory() as folder:
        if kind == "local":
            yield LocalStore(folder)
        elif kind == "zip":
            with ZipStore(Path(folder) / "a.zip", mode="w") as store:
                yield store
        elif kind == "logging":
            yield LoggingStore(MemoryStore(), log_level="ERROR")
        else:
            yield SlowStore(MemoryStore()) if kind == "slow" else MemoryStore()


def assert_same(got: Any, expected: Any) -> None:
    """Compare values bit for bit, and shapes and data types."""
    if isinstance(got, str | bytes) or isinstance(expected, str | bytes):  # scalars of text do not tell their length
        assert np.asarray(got)[()] == np.asarray(expected)[()]
        return
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape
    if expected.dtype.kind in "OT":
        assert got.tolist() == expected.tolist()
    else:
        assert got.dtype == expected.dtype
        assert got.tobytes() == expected.tobytes()


def make(store: Any, layout: Layout, seed: int) -> tuple[Any, np.ndarray[Any, Any]]:
    """Create and fill an array; return it with the same data in numpy."""
    array = zarr.create_array(store, name="a", **layout.options(zarr))
    values = values_for(layout.shape, layout.dtype, seed)
    array[...] = values
    return array, values.astype(array.dtype)


@pytest.mark.parametrize("kind", STORES)
@COMMON
@given(data=st.data(), layout=layouts(), seed=st.integers(0, 1000))
def test_reads(kind: str, data: st.DataObject, layout: Layout, seed: int) -> None:
    with open_store(kind) as store:
        array, values = make(store, layout, seed)
        assert_same(array[...], values)
        basic = data.draw(basic_selections(layout.shape))
        assert_same(array[basic], values[basic])
        orthogonal = data.draw(orthogonal_selections(layout.shape))
        assert_same(array.oindex[orthogonal], take_orthogonal(values, orthogonal))
        points = data.draw(point_selections(layout.shape))
        if points is not None:
            assert_same(array.vindex[points], values[points])
        mask = values_for(layout.shape, "?", seed + 1)
        assert_same(array.get_mask_selection(mask), values[mask])
        assert_same(asyncio.run(read_async(array, basic)), values[basic])


async def read_async(array: Any, selection: Any) -> Any:
    """Read through the other face, in a fresh event loop."""
    return await array.async_array.getitem(selection)


@pytest.mark.parametrize("kind", STORES)
@COMMON
@given(data=st.data(), layout=layouts(), seed=st.integers(0, 1000))
def test_writes(kind: str, data: st.DataObject, layout: Layout, seed: int) -> None:
    with open_store(kind) as store:
        array, values = make(store, layout, seed)
        for step in range(3):
            selection = data.draw(basic_selections(layout.shape))
            new = values_for(np.empty(layout.shape)[selection].shape, layout.dtype, seed + step).astype(values.dtype)
            array[selection] = new
            values[selection] = new
        points = data.draw(point_selections(layout.shape))
        if points is not None:
            array.vindex[points] = values.flat[0]
            values[points] = values.flat[0]
        assert_same(array[...], values)
        assert_same(zarr.open_array(store, path="a", mode="r")[...], values)


@COMMON
@given(layout=layouts(), seed=st.integers(0, 1000), data=st.data())
def test_resize_and_append(layout: Layout, seed: int, data: st.DataObject) -> None:
    """After a shrink and a grow the old data is gone; an append is a growth."""
    with open_store("memory") as store:
        array, values = make(store, layout, seed)
        smaller = tuple(data.draw(st.integers(0, n)) for n in layout.shape)
        larger = tuple(n + data.draw(st.integers(0, 9)) for n in smaller)
        array.resize(smaller)
        array.resize(larger)
        expected = np.full(larger, array.fill_value, dtype=array.dtype)
        corner = tuple(slice(0, n) for n in smaller)
        expected[corner] = values[corner]
        assert_same(array[...], expected)
        axis = data.draw(st.integers(0, len(larger) - 1))
        more = values_for((*larger[:axis], 3, *larger[axis + 1 :]), layout.dtype, seed).astype(array.dtype)
        array.append(more, axis=axis)
        assert_same(array[...], np.concatenate([expected, more], axis=axis))
