"""Shards that several threads encode together are, byte for byte, those that one thread makes."""

from __future__ import annotations

import errno
import threading
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.plans import DTYPES, Twin, program_parts, twins, values
from tests.core.test_bulk import make_fill, run_together
from tests.core.test_shards import FORMS, INDEX, KEYS, ORDERS, SEEDS, VALUE, group, writer
from zarr_core import grid, keys, planners, program, shard_index
from zarr_core.reference import keys as plain_keys
from zarr_core.reference import program as plain_program
from zarr_core.reference import shard_index as plain_index
from zarr_core.reference import shards as plain
from zarr_core.shard_groups import ShardGroups
from zarr_core.shard_writing import ShardWriteJob

FLAT = keys.KeyFormat("x", ".", "v2")


def files_under(root: str) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in Path(root).rglob("*") if p.is_file()}


@given(twins(whole=True), DTYPES, SEEDS, FORMS, ORDERS, st.integers(1, 9), st.data())
@settings(max_examples=150)
def test_any_number_of_parts(
    twin: Twin, dtype_name: str, seed: int, form: Any, order: str, parts: int, draw: st.DataObject
) -> None:
    dtype = np.dtype(dtype_name)
    chain = draw.draw(program_parts(dtype, twin.plain.ndim))
    groups = group(twin, draw)
    value, fill, skip = values(seed, twin.shape, dtype), make_fill(seed, dtype), draw.draw(st.booleans())
    if draw.draw(st.integers(0, 3)) == 0:
        value = np.broadcast_to(fill, twin.shape)

    def ours() -> Any:
        index = shard_index.IndexFormat(*form)
        return ShardWriteJob(twin.compiled, groups.compiled, program.Program(*chain), value, fill, skip, index, order)

    alone, n = ours().encode(0, groups.plain.ngroups), groups.plain.ngroups
    job = ours()
    job.share(parts)
    run_together(partial(job.prepare, 0, n))
    assert job.encode(0, n) == alone
    assert job.failed.tolist() == []
    if [name for name, _ in chain[3]] in ([], ["crc32c"]):
        index = plain_index.IndexFormat(*form)
        twin_job = plain.ShardWriteJob(
            twin.plain, groups.plain, plain_program.Program(*chain), value, fill, skip, index, order
        )
        twin_job.share(parts)
        twin_job.prepare(0, n)
        assert twin_job.encode(0, n) == alone
    with TemporaryDirectory() as root:
        job = ours()
        job.share(parts)
        run_together(partial(job.to_files, root, FLAT))
        names = [plain_keys.KeyFormat("x", ".", "v2").key(groups.plain.coords(g)) for g in range(n)]
        assert (job.errors, job.failed.tolist()) == ([], [])
        assert files_under(root) == {name: shard for name, shard in zip(names, alone) if shard is not None}


@pytest.mark.parametrize("location", ["start", "end"])
@pytest.mark.parametrize("chunk", [10, 90, 700])
def test_large_shards(tmp_path: Path, location: str, chunk: int) -> None:
    """Parts of many chunks, and chunks that are larger than a part; parts as their size is worth."""
    value = np.random.default_rng(0).integers(0, 99, (1400, 1400)).astype("<f8")
    plan = planners.plan_basic(grid.Grid([grid.RegularAxis(1400, chunk)] * 2), ...)
    groups, index = ShardGroups(plan, [1400 // chunk + 1] * 2), shard_index.IndexFormat(location, True)
    chain = program.Program(8, 0, None, [("zstd", {"level": 1})])
    make = partial(ShardWriteJob, plan, groups, chain, value, np.zeros(()), True, index)
    (alone,) = make().encode(0, 1)
    assert make().parts == (4 if chunk == 700 else 7)
    for at in range(3):
        job = make()
        job.share()
        run_together(partial(job.to_files, str(tmp_path / str(at)), KEYS))
        assert files_under(str(tmp_path / str(at))) == {"c/0/0": alone}
        job = make()
        job.share()
        run_together(partial(job.prepare, 0, 1))
        assert job.encode(0, 1) == [alone]


def test_shards_that_cannot_be_encoded(tmp_path: Path) -> None:
    """Not all of the first shard is given; the second is written all the same."""
    grid_of_chunks = grid.Grid([grid.RegularAxis(6500, 1000)])
    for start in (500, 1000):
        plan = planners.plan_basic(grid_of_chunks, slice(start, 6500))
        for files in (False, True):
            job = writer(VALUE[start:], plan, ShardGroups(plan, [4]))
            job.share(3)
            root = tmp_path / f"{start}{files}"
            if files:
                run_together(partial(job.to_files, str(root), KEYS))
                assert list(files_under(str(root))) == ["c/1"]
            else:
                run_together(partial(job.prepare, 0, 2))
                assert [shard is ... for shard in job.encode(0, 2)] == [True, False]
            assert job.failed.tolist() == [0]


def test_files_that_cannot_be_written_leave_no_trace(tmp_path: Path) -> None:
    (tmp_path / "c" / "0").mkdir(parents=True)
    job = writer()
    job.share(4)
    run_together(partial(job.to_files, str(tmp_path), KEYS))
    assert 0 in job.failed.tolist()
    assert job.errors == [(0, errno.EISDIR)]
    assert {p.name for p in (tmp_path / "c").iterdir()} <= {"0", "1"}


def test_shards_of_fill_are_deleted(tmp_path: Path) -> None:
    for value in (VALUE, np.where(np.arange(6500) < 4000, 0, VALUE)):
        job = writer(value.astype("<i4"), skip=True)
        job.share(3)
        run_together(partial(job.to_files, str(tmp_path), KEYS, True))
    assert [p.name for p in (tmp_path / "c").iterdir()] == ["1"]


def test_some_shards(tmp_path: Path) -> None:
    job = writer(which=[1])
    job.share(2)
    run_together(partial(job.to_files, str(tmp_path), KEYS))
    assert files_under(str(tmp_path)) == {"c/1": writer(which=[1]).encode(0, 1)[0]}


def test_a_stopped_job_ends_and_leaves_no_trace(tmp_path: Path) -> None:
    value = np.random.default_rng(0).integers(0, 1 << 14, (2000, 1000)).astype("<i4")
    plan = planners.plan_basic(grid.Grid([grid.RegularAxis(2000, 50), grid.RegularAxis(1000, 50)]), ...)
    chain = program.Program(4, 0, None, [("zstd", {"level": 12})])
    for at, files in enumerate((True, False, True)):
        job = ShardWriteJob(plan, ShardGroups(plan, [40, 20]), chain, value, np.zeros((), "<i4"), True, INDEX)
        job.share(50)
        work = partial(job.to_files, str(tmp_path / str(at)), KEYS) if files else partial(job.prepare, 0, 1)
        met: list[BaseException] = []

        def run(work: Any = work, met: list[BaseException] = met) -> None:
            try:
                work()
            except InterruptedError as error:
                met.append(error)

        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        job.stop()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        assert bool(met) != files, "what was not written to files is in ``failed`` only"
        assert job.failed.tolist() == [0]
        assert files_under(str(tmp_path / str(at))) == {}


def test_guards() -> None:
    job = writer()
    job.prepare(0, 2)  # nothing to do: nobody shares
    with pytest.raises(ValueError, match="at least 1"):
        job.share(0)
    job.share(2)
    with pytest.raises(ValueError, match="already"):
        job.share()
    with pytest.raises(IndexError):
        job.prepare(1, 2)
    assert job.encode(0, 2) == writer().encode(0, 2), "what was not prepared is encoded when it is asked for"
    job.prepare(0, 2)
    first = job.encode(0, 2)
    assert job.encode(0, 2) == first, "and what was handed out is encoded again"
