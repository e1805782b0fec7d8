"""Random sequences of writes, resizes, appends and reopenings against a numpy array."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import zarr
from zarr.storage import MemoryStore

from ..parity.strategies import basic_selections, orthogonal_selections, take_orthogonal


class ArrayMachine(RuleBasedStateMachine):
    """Two handles on one array; what either does, both see after a reopening."""

    @initialize(
        shape=st.tuples(st.integers(1, 12), st.integers(1, 12)),
        chunks=st.tuples(st.integers(1, 5), st.integers(1, 5)),
        factor=st.sampled_from([None, 1, 2, 3]),
        zarr_format=st.sampled_from([2, 3]),
    )
    def create(self, shape: Any, chunks: Any, factor: int | None, zarr_format: int) -> None:
        shards = tuple(c * factor for c in chunks) if factor and zarr_format == 3 else None
        self.store = MemoryStore()
        self.array = zarr.create_array(
            self.store, shape=shape, chunks=chunks, shards=shards, dtype="i4", fill_value=3, zarr_format=zarr_format
        )
        self.model = np.full(shape, 3, "i4")
        self.counter = 0

    def numbers(self, shape: tuple[int, ...]) -> Any:
        self.counter += 1
        return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype("i4") % 7 + self.counter

    @rule(data=st.data())
    def write_window(self, data: st.DataObject) -> None:
        selection = data.draw(basic_selections(self.model.shape))
        values = self.numbers(self.model[selection].shape)
        self.array[selection] = values
        self.model[selection] = values

    @rule(data=st.data())
    def write_scalar(self, data: st.DataObject) -> None:
        selection = data.draw(basic_selections(self.model.shape))
        value = data.draw(st.sampled_from([3, -1]))
        self.array[selection] = value
        self.model[selection] = value

    @rule(data=st.data())
    def read_orthogonal(self, data: st.DataObject) -> None:
        selection = data.draw(orthogonal_selections(self.model.shape))
        np.testing.assert_array_equal(self.array.oindex[selection], take_orthogonal(self.model, selection))

    @rule(shape=st.tuples(st.integers(0, 14), st.integers(0, 14)))
    def resize(self, shape: tuple[int, int]) -> None:
        self.array.resize(shape)
        kept = tuple(slice(0, min(a, b)) for a, b in zip(shape, self.model.shape))
        grown = np.full(shape, 3, "i4")
        grown[kept] = self.model[kept]
        self.model = grown

    @rule(axis=st.integers(0, 1), count=st.integers(0, 4))
    def append(self, axis: int, count: int) -> None:
        shape = list(self.model.shape)
        shape[axis] = count
        values = self.numbers(tuple(shape))
        self.array.append(values, axis=axis)
        self.model = np.concatenate([self.model, values], axis=axis)

    @rule()
    def reopen(self) -> None:
        self.array = zarr.open_array(self.store, mode="r+")

    @invariant()
    def same(self) -> None:
        if hasattr(self, "array"):
            np.testing.assert_array_equal(self.array[...], self.model)


TestArrayMachine = ArrayMachine.TestCase
TestArrayMachine.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
