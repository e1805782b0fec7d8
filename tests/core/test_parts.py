"""Scattered items out of shuffled blosc chunks are what the whole chunk holds there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zarr_core import bulk, grid, planners, point_planners, program

CNAMES = ("lz4", "lz4hc", "blosclz", "zstd", "zlib")
DTYPES = ("<u2", "<i4", "<f8", "<c16", "S3", "u1")


def random_plan(rng: np.random.Generator, made: grid.Grid, value: Any) -> tuple[Any, Any]:
    """A selection of few items of every chunk, and what it selects."""
    kind = rng.integers(0, 3)
    if kind == 0:
        steps = tuple(slice(int(rng.integers(0, 5)), None, int(rng.integers(6, 40))) for _ in value.shape)
        return planners.plan_basic(made, steps), value[steps]
    if kind == 1:
        count = int(rng.integers(60, 400))
        points = tuple(rng.integers(0, length, count) for length in value.shape)
        return point_planners.plan_points(made, points), value[points]
    axes = [np.sort(rng.choice(length, max(1, length // 9), replace=False)) for length in value.shape]
    if rng.random() < 0.5:
        axes = [rng.permutation(axis) for axis in axes]
    return planners.plan_orthogonal(made, tuple(axis.tolist() for axis in axes)), value[np.ix_(*axes)]


def read(plan: Any, chain: Any, dtype: Any, stored: list[Any]) -> Any:
    """All slots of a plan out of the chunks of a grid, in C order."""
    job = bulk.ReadJob(plan, chain, np.empty(plan.shape, dtype), None)
    job.from_buffers([stored[int(np.ravel_multi_index(plan.coords(i), (2, 2)))] for i in range(plan.nslots)])
    return job


@pytest.mark.parametrize("cname", CNAMES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_scattered_items(cname: str, dtype: str) -> None:
    rng = np.random.default_rng(CNAMES.index(cname) * 10 + DTYPES.index(dtype))
    for _ in range(6):
        rows, columns = int(rng.integers(60, 120)), int(rng.integers(150, 260))
        made = grid.Grid([grid.RegularAxis(2 * rows - 3, rows), grid.RegularAxis(2 * columns, columns)])
        numbers = np.cumsum(rng.integers(0, 3, (2 * rows - 3, 2 * columns)), axis=1)
        value = (numbers % 250).astype(np.dtype(dtype))
        params = {
            "cname": cname,
            "clevel": int(rng.integers(0, 10)),
            "shuffle": int(rng.choice([0, 1, 1, 1, 2])),
            "typesize": int(rng.choice([value.itemsize, value.itemsize, 4])),
            "blocksize": int(rng.choice([0, 0, 1024, 5000, 30_000])),
        }
        swap = value.itemsize if value.itemsize in (2, 4, 8) and rng.random() < 0.2 else 0
        order = (1, 0) if rng.random() < 0.3 else None
        chain = program.Program(value.itemsize, swap, order, [("blosc", params)])
        writer = bulk.WriteJob(planners.plan_basic(made, ...), chain, value, np.zeros((), value.dtype), False)
        stored = writer.encode(0, 4)
        for _ in range(12):
            plan, expected = random_plan(rng, made, value)
            job = read(plan, chain, value.dtype, stored)
            assert not len(job.failed), params
            np.testing.assert_array_equal(job.out, expected, err_msg=str(params))


def test_damage_is_found() -> None:
    rng = np.random.default_rng(3)
    made = grid.Grid([grid.RegularAxis(200, 100), grid.RegularAxis(200, 100)])
    value = rng.integers(0, 9, (200, 200)).astype("<i4")
    chain = program.Program(4, 0, None, [("blosc", {"typesize": 4, "shuffle": 1, "blocksize": 8192})])
    writer = bulk.WriteJob(planners.plan_basic(made, ...), chain, value, np.zeros((), value.dtype), False)
    sound = writer.encode(0, 4)
    points = tuple(rng.integers(0, 200, 400) for _ in range(2))
    plan = point_planners.plan_points(made, points)
    for _ in range(300):
        hurt = [bytearray(chunk) for chunk in sound]
        for _ in range(3):
            hurt[0][int(rng.integers(0, len(hurt[0])))] = int(rng.integers(0, 256))
        cut = bytes(hurt[0][: int(rng.integers(0, len(hurt[0]) + 1))]) if rng.random() < 0.5 else bytes(hurt[0])
        whole = bulk.ReadJob(planners.plan_basic(made, ...), chain, np.empty((200, 200), "<i4"), None)
        whole.from_buffers([cut, *sound[1:]])
        job = read(plan, chain, value.dtype, [cut, *sound[1:]])
        assert len(job.failed) == len(whole.failed)
        if not len(whole.failed):
            np.testing.assert_array_equal(job.out, whole.out[points])
