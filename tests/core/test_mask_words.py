"""Masks over rows longer than a machine word: any density, width, place of a chunk's border, and stride."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarr_core import chunks, grid, point_planners

DTYPES = ["u1", "<i2", ">i2", "<f4", ">u4", "f8", "c16", "S3", "V24"]
shapes = st.tuples(st.integers(1, 3), st.sampled_from([1, 63, 64, 65, 127, 128, 129, 200, 333]))
densities = st.sampled_from([0.0, 0.01, 0.2, 0.3, 0.6, 0.97, 1.0])


def values_of(shape: tuple[int, ...], dtype: str) -> Any:
    """Random bytes as items, none of which is all zeros."""
    raw = np.random.default_rng(1).integers(1, 256, (*shape, np.dtype(dtype).itemsize), dtype=np.uint8)
    return raw.view(dtype)[..., 0]


def raw_of(array: Any) -> bytes:
    return bytes(np.ascontiguousarray(array).tobytes())


@given(shapes, st.integers(1, 400), densities, st.integers(0, 99), st.sampled_from(DTYPES), st.sampled_from([1, 2, -1]))
def test_rows_of_several_words(
    shape: tuple[int, int], chunk: int, density: float, seed: int, dtype: str, step: int
) -> None:
    values, mask = values_of(shape, dtype), np.random.default_rng(seed).random(shape) < density
    axes = [grid.RegularAxis(shape[0], 2), grid.RegularAxis(shape[1], chunk)]
    plan = point_planners.plan_mask(grid.Grid(axes), mask)
    chosen = values[mask]
    # A place before and one after the selection must stay as they are.
    room = np.zeros((len(chosen) + 2) * 2, dtype=dtype)
    out = room[2:-2][::step][: len(chosen)]
    back = np.zeros(shape, dtype=dtype)
    for i in range(plan.nslots):
        slot = plan.slot(i)
        (row, column), (height, width) = plan.coords(i), plan.valid_shape(i)
        part = (slice(2 * row, 2 * row + height), slice(column * chunk, column * chunk + width))
        piece = np.zeros(plan.chunk_shape(i), dtype=dtype)
        piece[:height, :width] = values[part]
        chunks.scatter(piece, slot, out)
        target = np.zeros_like(piece)
        chunks.gather(chosen, slot, target)
        back[part] = target[:height, :width]
    assert raw_of(out) == raw_of(chosen)
    expected = np.zeros(shape, dtype=dtype)
    expected[mask] = chosen
    assert raw_of(back) == raw_of(expected)
    touched = np.zeros(len(room), dtype=bool)
    touched[2:-2][::step][: len(chosen)] = True
    assert not any(raw_of(room[~touched]))


@pytest.mark.parametrize("length", [1, 64, 65, 200])
def test_any_true_byte_is_true(length: int) -> None:
    """A mask made by a view may hold other bytes than 0 and 1."""
    mask = np.zeros(length, dtype=np.uint8)
    mask[::3] = 255
    mask[::7] = 2
    plan = point_planners.plan_mask(grid.Grid([grid.RegularAxis(length, 50)]), mask.view(bool))
    assert plan.shape == (np.count_nonzero(mask),)
    found = np.concatenate([plan.slot(i).chunk_selection[0] + 50 * plan.coords(i)[0] for i in range(plan.nslots)])
    assert np.array_equal(found, np.flatnonzero(mask))


def test_a_mask_that_changes_later_does_not_matter() -> None:
    mask = np.arange(300) % 3 == 0
    plan = point_planners.plan_mask(grid.Grid([grid.RegularAxis(300, 300)]), mask)
    mask[:] = True
    out = np.zeros(100, dtype="i4")
    chunks.scatter(np.arange(300, dtype="i4"), plan.slot(0), out)
    assert np.array_equal(out, np.arange(0, 300, 3))
