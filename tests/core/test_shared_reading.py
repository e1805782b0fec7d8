"""Chunks that several plans share: compiled and plain, from memory and files; and every guard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zarr_core import bulk, grid, keys, planners, program, shared_reading
from zarr_core.reference import bulk as plain_bulk
from zarr_core.reference import grid as plain_grid
from zarr_core.reference import keys as plain_keys
from zarr_core.reference import planners as plain_planners
from zarr_core.reference import program as plain_program
from zarr_core.reference import shared as plain_shared

STAGES: list[Any] = [[], [("zstd", {"level": 1})], [("blosc", {"cname": "lz4", "clevel": 1, "shuffle": 1})]]
SHAPE, CHUNKS = (11, 7), (4, 3)
COMPILED = grid.Grid([grid.RegularAxis(n, c) for n, c in zip(SHAPE, CHUNKS, strict=True)])
PLAIN = plain_grid.Grid([plain_grid.RegularAxis(n, c) for n, c in zip(SHAPE, CHUNKS, strict=True)])
SLICES = st.tuples(*(st.builds(lambda a, n: slice(a, a + n), st.integers(0, n - 1), st.integers(1, n)) for n in SHAPE))


def grouped(plans: list[Any]) -> tuple[list[int], list[int], list[int], list[tuple[int, ...]]]:
    """Who wants each chunk: owners, slots, starts; and the chunks."""
    wanted: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for owner, plan in enumerate(plans):
        for slot in range(plan.nslots):
            wanted.setdefault(tuple(plan.coords(slot)), []).append((owner, slot))
    owners, slots, starts = [], [], [0]
    for coords in sorted(wanted):
        owners += [owner for owner, _ in wanted[coords]]
        slots += [slot for _, slot in wanted[coords]]
        starts.append(len(owners))
    return owners, slots, starts, sorted(wanted)


def make(selections: list[Any], stages: Any, dtype: str, fill: Any) -> tuple[Any, Any, list[tuple[int, ...]]]:
    width = np.dtype(dtype).itemsize
    ours_program = program.Program(width, 0, None, stages)
    plain_one = plain_program.Program(width, 0, None, stages)
    ours_plans = [planners.plan_basic(COMPILED, s) for s in selections]
    plain_plans = [plain_planners.plan_basic(PLAIN, s) for s in selections]
    owners, slots, starts, chunks = grouped(ours_plans)
    ours = [bulk.ReadJob(p, ours_program, np.full(p.shape, 7, dtype), fill) for p in ours_plans]
    theirs = [plain_bulk.ReadJob(p, plain_one, np.full(p.shape, 7, dtype), fill) for p in plain_plans]
    return (
        shared_reading.SharedReadJob(ours, owners, slots, starts),
        plain_shared.SharedReadJob(theirs, owners, slots, starts),
        chunks,
    )


def payload(coords: tuple[int, ...], stages: Any, dtype: str, seed: int) -> bytes | None:
    """A stored chunk; some are missing, some damaged."""
    number = coords[0] * 10 + coords[1] + seed
    if number % 5 == 0:
        return None
    values = np.arange(12, dtype=dtype).reshape(CHUNKS) + number
    stored: bytes = program.Program(np.dtype(dtype).itemsize, 0, None, stages).encode(values)
    return stored[:-1] if number % 7 == 0 else stored


def assert_same(ours: Any, theirs: Any) -> None:
    assert ours.missing.tolist() == theirs.missing.tolist()
    assert ours.failed.tolist() == theirs.failed.tolist()
    if not len(theirs.failed):
        for mine, other in zip(ours.readers, theirs.readers, strict=True):
            assert mine.out.tobytes() == other.out.tobytes()


@given(st.lists(SLICES, min_size=1, max_size=6), st.sampled_from(STAGES), st.sampled_from(["u1", "<i4"]),
       st.integers(0, 30), st.booleans())  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_buffers(selections: list[Any], stages: Any, dtype: str, seed: int, filled: bool) -> None:
    ours, theirs, chunks = make(selections, stages, dtype, np.array(3, dtype) if filled else None)
    payloads = [payload(coords, stages, dtype, seed) for coords in chunks]
    half = len(payloads) // 2
    for job in (ours, theirs):
        job.from_buffers(payloads[half:], half)
        job.from_buffers(payloads[:half])
    assert_same(ours, theirs)


@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("seed", [1, 4])
def test_files(stages: Any, seed: int, tmp_path: Path) -> None:
    selections = [(slice(0, 6), slice(0, 7)), (slice(2, 3), slice(1, 2)), (slice(0, 11), slice(5, 7))]
    ours, theirs, chunks = make(selections, stages, "<i4", np.array(3, "<i4"))
    fmt = keys.KeyFormat("a", "/", "default")
    assert fmt.keys(np.array(chunks)) == plain_keys.KeyFormat("a", "/", "default").keys(np.array(chunks))
    for coords, key in zip(chunks, fmt.keys(np.array(chunks)), strict=True):
        data = payload(coords, stages, "<i4", seed)
        if data is not None:
            (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / key).write_bytes(data)
    ours.from_files(str(tmp_path), fmt)
    theirs.from_files(str(tmp_path), plain_keys.KeyFormat("a", "/", "default"))
    assert_same(ours, theirs)


def reader(selection: Any, chain: Any, core: Any = COMPILED) -> bulk.ReadJob:
    plan = planners.plan_basic(core, selection)
    return bulk.ReadJob(plan, chain, np.empty(plan.shape, "u1"), None)


def test_guards() -> None:
    chain = program.Program(1, 0, None, [])
    two = [reader((0, slice(0, 7)), chain), reader((0, 0), chain)]
    job = shared_reading.SharedReadJob
    assert job(two, [0, 1, 0, 0], [0, 0, 1, 2], [0, 2, 3, 4]).count == 3
    for bad, error in (
        (([], [], [], [0]), ValueError),
        ((["no reader"], [0], [0], [0, 1]), TypeError),
        (([two[0], reader(0, program.Program(1, 0, None, []))], [0], [0], [0, 1]), ValueError),
        (([two[0], reader(0, chain, grid.Grid(COMPILED.axes))], [0], [0], [0, 1]), ValueError),
        ((two, [2], [0], [0, 1]), IndexError),
        ((two, [1], [1], [0, 1]), IndexError),
        ((two, [1], [-1], [0, 1]), IndexError),
        ((two, [0, 1], [0], [0, 1]), ValueError),
        ((two, [0], [0], [0]), ValueError),
        ((two, [0], [0], []), ValueError),
        ((two, [0, 1], [0, 0], [0, 2, 2]), ValueError),
        ((two, [0, 1], [0, 0], [1, 2]), ValueError),
        ((two, [0, 1], [1, 0], [0, 2]), ValueError),
    ):
        with pytest.raises(error):
            job(*bad)
    with pytest.raises(IndexError):
        job(two, [0], [0], [0, 1]).from_buffers([b"", b""])


def test_a_stopped_job_says_so(tmp_path: Path) -> None:
    for job in make([(slice(0, 6), slice(0, 7))], [], "<i4", None)[:2]:
        job.stop()
        with pytest.raises(InterruptedError):
            job.from_buffers([None])
        with pytest.raises(InterruptedError):
            job.from_files(str(tmp_path), keys.KeyFormat("a", "/", "default"))
