"""Many selections read as one operation give what each gives alone, into whatever memory they are put."""

from __future__ import annotations

import asyncio
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import zarr
from zarr.api.asynchronous import read_many

from .strategies import Layout, basic_selections, layouts, orthogonal_selections, values_for
from .test_bulk import without_bulk
from .test_numpy import assert_same, open_store

COMMON = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])


def memory_for(kind: str, expected: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Memory of the caller's: none, plain, with gaps and backwards, or of a wider data type."""
    shape, dtype = expected.shape, expected.dtype
    if kind == "none" or dtype.kind == "T":
        return None
    if kind == "gaps":
        wide = np.zeros(tuple(2 * n for n in shape), dtype)
        return wide[tuple(slice(None, None, -2) for _ in shape)] if shape else wide
    if kind == "wider" and dtype.kind in "iu":
        return np.zeros(shape, "f8")
    return np.zeros(shape, dtype, order="F")


@pytest.mark.parametrize("kind", ["memory", "local", "slow", "plain"])
@given(layout=layouts(), seed=st.integers(0, 999), data=st.data())
@COMMON
def test_read_many(kind: str, layout: Layout, seed: int, data: st.DataObject) -> None:
    values = values_for(layout.shape, layout.dtype, seed)
    with open_store("memory" if kind == "plain" else kind) as store:
        store = without_bulk(store) if kind == "plain" else store
        array = zarr.create_array(store, **layout.options(zarr))
        array[...] = values
        one = st.one_of(basic_selections(layout.shape), orthogonal_selections(layout.shape))
        selections = data.draw(st.lists(one, max_size=5))
        alone = [np.asarray(array.get_orthogonal_selection(s)) for s in selections]
        kinds = data.draw(st.lists(st.sampled_from(["none", "F", "gaps", "wider"]), min_size=5, max_size=5))
        out = [memory_for(k, a) for k, a in zip(kinds, alone, strict=False)]
        many = array.read_many(selections, out=out)
        for got, expected, target in zip(many, alone, out, strict=True):
            assert target is None or np.shares_memory(got, target) or not got.size
            assert_same(got, expected if target is None else expected.astype(target.dtype))
        for got, expected in zip(asyncio.run(array.async_array.read_many(selections)), alone, strict=True):
            assert_same(got, expected)
        for got, expected in zip(asyncio.run(read_many([(array, s) for s in selections])), alone, strict=True):
            assert_same(got, expected)
