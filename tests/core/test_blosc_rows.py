"""Shuffled blosc chunks that are put in order where they belong in the output are what the plain twin reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zarr_core import bulk, grid, planners, program
from zarr_core.reference import bulk as plain_bulk
from zarr_core.reference import grid as plain_grid
from zarr_core.reference import planners as plain_planners
from zarr_core.reference import program as plain_program

DTYPES = ("<u2", "<f4", "<f8", "<c16", "<i8", "S3")


def grids(shape: tuple[int, ...], chunks: tuple[int, ...]) -> tuple[Any, Any]:
    axes = list(zip(shape, chunks))
    ours = grid.Grid([grid.RegularAxis(n, c) for n, c in axes])
    return ours, plain_grid.Grid([plain_grid.RegularAxis(n, c) for n, c in axes])


def random_shape(rng: np.random.Generator, itemsize: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A grid of a few chunks, some with rows too short to be written one by one, some as wide as the array."""
    last = int(rng.choice([20, 33, 100, 700, 2100]))
    first = -(-int(rng.choice([40_000, 140_000, 300_000])) // (last * itemsize))
    chunks: tuple[int, ...] = (first, last)
    if rng.random() < 0.4:
        chunks = (2, -(-first // 2), last)
    counts = rng.integers(1, 3, len(chunks)).tolist()
    shape = tuple(n * c - int(rng.random() < 0.2) for n, c in zip(counts, chunks))
    return shape, chunks


def random_out(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    """An output without gaps, or a part of a larger one, or one that runs backwards along its first axis."""
    kind = rng.integers(0, 4)
    if kind == 0:
        return np.zeros((*shape[:-1], shape[-1] + 5), dtype)[..., 3:-2]
    if kind == 1:
        return np.zeros(shape, dtype)[::-1]
    return np.zeros(shape, dtype) if kind == 2 else np.zeros((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]


def random_params(rng: np.random.Generator, itemsize: int) -> dict[str, Any]:
    return {
        "cname": str(rng.choice(["lz4", "zstd", "blosclz"])),
        "clevel": int(rng.choice([0, 1, 5])),
        "shuffle": int(rng.choice([0, 1, 1, 1, 1, 2])),
        "typesize": int(rng.choice([itemsize, itemsize, itemsize, 4])),
        "blocksize": int(rng.choice([0, 0, 0, 4096, 10_000, 30_001])),
    }


def noisy(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    """Values of which some bytes compress and others do not."""
    steps = rng.integers(0, 50, shape).cumsum(axis=-1)
    return (steps * float(rng.choice([1.0, np.pi]))).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_whole_chunks(dtype: str) -> None:
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(15):
        width = np.dtype(dtype).itemsize
        shape, chunks = random_shape(rng, width)
        swap = int(rng.choice([0, 0, min(width, 8)])) if width in (2, 4, 8, 16) else 0
        order = tuple(range(len(shape)))[::-1] if rng.random() < 0.2 else None
        stages, value = [("blosc", random_params(rng, width))], noisy(rng, shape, dtype)
        ours, plain = grids(shape, chunks)
        chain, fill = program.Program(width, swap, order, stages), np.zeros((), dtype)
        stored = bulk.WriteJob(planners.plan_basic(ours, ...), chain, value, fill, False)
        chunks_stored = stored.encode(0, stored.plan.nslots)
        job = bulk.ReadJob(stored.plan, chain, random_out(rng, shape, dtype), fill)
        job.from_buffers(chunks_stored)
        twin = plain_bulk.ReadJob(
            plain_planners.plan_basic(plain, ...),
            plain_program.Program(width, swap, order, stages),
            np.zeros(shape, dtype),
            fill,
        )
        twin.from_buffers(chunks_stored)
        assert job.failed.tolist() == twin.failed.tolist() == []
        np.testing.assert_array_equal(twin.out, value)
        np.testing.assert_array_equal(job.out, value, err_msg=f"{shape} {chunks} {swap} {stages}")


def test_dropped_axes_and_windows() -> None:
    """Whole chunks of an axis that the output does not have, and some chunks whole where others are not."""
    value = np.random.default_rng(0).integers(0, 9, (3, 500, 600)).astype("<i4")
    ours, _ = grids(value.shape, (1, 250, 300))
    chain = program.Program(4, 4, None, [("blosc", {"typesize": 4})])
    writer = bulk.WriteJob(planners.plan_basic(ours, ...), chain, value, np.zeros((), "<i4"), False)
    stored = writer.encode(0, writer.plan.nslots)
    for selection in ((1,), (2, slice(None), slice(10, 600)), (slice(0, 2), slice(250, 500)), (0, 3)):
        plan = planners.plan_basic(ours, selection)
        job = bulk.ReadJob(plan, chain, np.zeros(plan.shape, "<i4"), None)
        coords = [plan.coords(i) for i in range(plan.nslots)]
        job.from_buffers([stored[int(np.ravel_multi_index(c, (3, 2, 2)))] for c in coords])
        np.testing.assert_array_equal(job.out, value[selection])


def test_damage_is_found_as_by_the_plain_way() -> None:
    rng = np.random.default_rng(1)
    value = noisy(rng, (600, 500), "<f4")
    ours, plain = grids(value.shape, (300, 250))
    stages = [("blosc", {"typesize": 4, "shuffle": 1, "blocksize": 65536})]
    chain, fill = program.Program(4, 0, None, stages), np.zeros((), "<f4")
    writer = bulk.WriteJob(planners.plan_basic(ours, ...), chain, value, fill, False)
    sound = writer.encode(0, 4)
    for _ in range(150):
        hurt = bytearray(sound[0])
        for _ in range(int(rng.integers(0, 3))):
            hurt[int(rng.integers(0, 40) if rng.random() < 0.5 else rng.integers(0, len(hurt)))] ^= 1 << 4
        cut = bytes(hurt[: int(rng.integers(0, len(hurt)))] if rng.random() < 0.5 else hurt)
        job = bulk.ReadJob(writer.plan, chain, np.zeros(value.shape, "<f4"), fill)
        twin = plain_bulk.ReadJob(
            plain_planners.plan_basic(plain, ...), plain_program.Program(4, 0, None, stages), np.zeros_like(value), fill
        )
        for each in (job, twin):
            each.from_buffers([cut, *sound[1:]])
        assert job.failed.tolist() == twin.failed.tolist()
        if not len(job.failed):
            np.testing.assert_array_equal(job.out, twin.out)
