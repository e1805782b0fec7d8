"""Stored booleans of other bytes than 0 and 1 are read as 0 or 1, on every way of reading; NumPy counts on that."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr_core
from zarr_core import bulk, keys, program
from zarr_core.reference import bulk as plain_bulk
from zarr_core.reference import chunks as plain_chunks
from zarr_core.reference import grid as plain_grid
from zarr_core.reference import planners as plain_planners
from zarr_core.reference import program as plain_program

SHAPE, CHUNK = (200, 210), (100, 70)
RAW = np.random.default_rng(1).integers(0, 256, SHAPE, dtype=np.uint8) * (
    np.random.default_rng(2).random(SHAPE) < 0.5
).astype(np.uint8)
MASK = np.random.default_rng(3).random(SHAPE) < np.linspace(0, 1, SHAPE[1])
POINTS = tuple(np.random.default_rng(4).integers(0, n, 500) for n in SHAPE)
SELECTIONS: list[tuple[str, Any]] = [
    ("plan_basic", ...),
    ("plan_basic", (slice(3, 190, 7), slice(None))),
    ("plan_basic", (slice(150, 20, -1), slice(None, None, -3))),
    ("plan_basic", (7, slice(None))),
    ("plan_basic", (7, 9)),
    ("plan_orthogonal", ([5, 199, 5, 30], slice(10, 200))),
    ("plan_points", POINTS),
    ("plan_mask", MASK),
]
STAGES: list[list[tuple[str, dict[str, Any]]]] = [[], [("zstd", {})], [("blosc", {"typesize": 1})], [("crc32c", {})]]


def selected(kind: str, selection: Any) -> Any:
    if kind == "plan_orthogonal":
        return RAW[selection[0]][:, selection[1]] != 0
    return RAW[selection] != 0


def chunks_of(order: tuple[int, ...] | None) -> dict[tuple[int, int], Any]:
    found = {}
    for i in range(2):
        for j in range(3):
            chunk = RAW[i * CHUNK[0] : (i + 1) * CHUNK[0], j * CHUNK[1] : (j + 1) * CHUNK[1]]
            found[i, j] = np.ascontiguousarray(chunk if order is None else chunk.transpose(order))
    return found


def sides(kind: str, selection: Any) -> list[tuple[Any, ...]]:
    ours: Any = zarr_core.Grid([zarr_core.RegularAxis(n, c) for n, c in zip(SHAPE, CHUNK, strict=True)])
    theirs: Any = plain_grid.Grid([plain_grid.RegularAxis(n, c) for n, c in zip(SHAPE, CHUNK, strict=True)])
    return [
        (getattr(zarr_core, kind)(ours, selection), bulk.ReadJob, program.Program, zarr_core.scatter),
        (getattr(plain_planners, kind)(theirs, selection), plain_bulk.ReadJob, plain_program.Program,
         plain_chunks.scatter),
    ]  # fmt: skip


@pytest.mark.parametrize(("kind", "selection"), SELECTIONS)
@pytest.mark.parametrize("memory", ["C", "F"])
def test_scattered(kind: str, selection: Any, memory: Any) -> None:
    chunks = chunks_of(None)
    for plan, _, _, scatter in sides(kind, selection):
        out = np.zeros(plan.shape, bool, order=memory)
        for i in range(plan.nslots):
            scatter(chunks[plan.coords(i)].view(bool), plan.slot(i), out)
        assert np.array_equal(out.view(np.uint8), selected(kind, selection).view(np.uint8))


@pytest.mark.parametrize(("kind", "selection"), SELECTIONS)
@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("order", [None, (1, 0)])
def test_read_in_bulk(kind: str, selection: Any, stages: Any, order: Any, tmp_path: Path) -> None:
    stored = {coords: program.Program(1, 0, None, stages).encode(c) for coords, c in chunks_of(order).items()}
    wanted = selected(kind, selection).view(np.uint8)
    for plan, job_class, program_class, _ in sides(kind, selection):
        chain = program_class(1, 0, order, stages)
        outs = [np.zeros(plan.shape, bool, order=memory) for memory in ("C", "F")]  # type: ignore[call-overload]
        for out in outs:
            job_class(plan, chain, out, None).from_buffers([stored[plan.coords(i)] for i in range(plan.nslots)])
            assert np.array_equal(out.view(np.uint8), wanted)
    for (i, j), payload in stored.items():
        path = tmp_path / "c" / str(i) / str(j)
        os.makedirs(path.parent, exist_ok=True)
        path.write_bytes(bytes(payload))
    plan, job_class, program_class, _ = sides(kind, selection)[0]
    out = np.zeros(plan.shape, bool)
    job = job_class(plan, program_class(1, 0, order, stages), out, None)
    job.from_files(str(tmp_path), keys.KeyFormat("", "/", "default"))
    assert not len(job.failed)
    assert np.array_equal(out.view(np.uint8), wanted)
