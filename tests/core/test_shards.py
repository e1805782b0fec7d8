"""Jobs over many shards: compiled and plain, in memory and on disk, and what damage does."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.guard_page import GuardedMemory
from tests.core.plans import DTYPES, Twin, program_parts, twins, values
from tests.core.test_bulk import make_fill, run_together, same_bytes
from zarr_core import chunk_io, grid, keys, planners, program, shard_index
from zarr_core.reference import keys as plain_keys
from zarr_core.reference import program as plain_program
from zarr_core.reference import shard_index as plain_index
from zarr_core.reference import shards as plain
from zarr_core.reference.plan import ShardGroups as PlainGroups
from zarr_core.shard_groups import ShardGroups
from zarr_core.shard_reading import ShardReadJob
from zarr_core.shard_writing import ShardWriteJob

MEMORY = GuardedMemory()
SEEDS = st.integers(0, 10_000)
FORMS = st.tuples(st.sampled_from(["start", "end"]), st.booleans())
ORDERS = st.sampled_from(plain.WRITE_ORDERS)


@dataclass
class Groups:
    """The same grouping by shard twice."""

    compiled: Any
    plain: PlainGroups


def group(twin: Twin, draw: st.DataObject) -> Groups:
    starts: list[Any] = []
    for axis in twin.plain.grid.axes:
        if draw.draw(st.booleans()):
            starts.append(draw.draw(st.integers(1, 4)))
        else:
            more = draw.draw(st.sets(st.integers(1, max(1, axis.ncells)), max_size=3))
            starts.append(np.array([0, *sorted(n for n in more if n < axis.ncells)], np.int64))
    return Groups(ShardGroups(twin.compiled, starts), PlainGroups(twin.plain, starts))


def some_shards(twin: Twin, groups: Groups, parts: Any, form: Any, dtype: np.dtype[Any], seed: int) -> list[Any]:
    """Shards with some inner chunks missing, some damaged; some shards missing, some damaged."""
    chain, index = plain_program.Program(*parts), plain_index.IndexFormat(*form)
    payloads: list[Any] = []
    for g in range(groups.plain.ngroups):
        n = int(np.prod(groups.plain.chunks_per_shard(g)))
        pairs, body = np.full((n, 2), 2**64 - 1, np.uint64), b""
        at = index.nbytes(n) if form[0] == "start" else 0
        for slot, inner in zip(groups.plain.slots(g).tolist(), groups.plain.inner(g).tolist()):
            kind = (seed + slot) % 7
            stored = chain.write_chunk(values(seed + slot, twin.plain.chunk_shape(slot), dtype))
            stored = stored[:-1] if kind == 1 else stored
            if kind:
                pairs[inner] = (1 << 40, 5) if kind == 2 else (at, len(stored))
                body += stored + bytes(slot % 3)
                at += len(stored) + slot % 3
        table = plain_index.build_index(pairs, index)
        shard = table + body if form[0] == "start" else body + table
        kind = (seed + g) % 6
        payloads.append(None if kind == 0 else shard[: seed % 20] if kind == 1 else shard)
    return payloads


def same_outcome(ours: Any, job: Any, twin: Twin, dtype: np.dtype[Any]) -> None:
    assert ours.missing.tolist() == job.missing.tolist()
    assert ours.failed.tolist() == job.failed.tolist()
    for i in job.failed:
        slot = twin.plain.slot(int(i))
        for out in (ours.out, job.out):
            out[(*slot.out_selection, ...)] = np.zeros((), dtype)
    assert same_bytes(ours.out, job.out)


@given(twins(), DTYPES, SEEDS, FORMS, st.integers(0, 300), st.data())
@settings(max_examples=200, deadline=None)
def test_reading(twin: Twin, dtype_name: str, seed: int, form: Any, gap: int, draw: st.DataObject) -> None:
    dtype = np.dtype(dtype_name)
    parts = draw.draw(program_parts(dtype, twin.plain.ndim))
    groups = group(twin, draw)
    payloads = some_shards(twin, groups, parts, form, dtype, seed)
    fill = make_fill(seed, dtype)
    job = plain.ShardReadJob(
        twin.plain,
        groups.plain,
        plain_program.Program(*parts),
        np.zeros(twin.shape, dtype),
        fill,
        plain_index.IndexFormat(*form),
    )
    job.from_buffers(payloads)

    def ours() -> ShardReadJob:
        return ShardReadJob(
            twin.compiled,
            groups.compiled,
            program.Program(*parts),
            np.zeros(twin.shape, dtype),
            fill,
            shard_index.IndexFormat(*form),
            max_gap_bytes=gap,
            max_bytes=gap * 3,
        )

    memory = ours()
    memory.from_buffers([None if payload is None else MEMORY.hold(payload).tobytes() for payload in payloads])
    same_outcome(memory, job, twin, dtype)
    with TemporaryDirectory() as root:
        form_of_keys = plain_keys.KeyFormat("x", "/", "default")
        for g, payload in enumerate(payloads):
            if payload is not None:
                path = Path(root, form_of_keys.key(groups.plain.coords(g)))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(payload)
        files = ours()
        files.from_files(root, keys.KeyFormat("x", "/", "default"))
    same_outcome(files, job, twin, dtype)


@given(twins(whole=True), DTYPES, SEEDS, FORMS, ORDERS, st.data())
@settings(max_examples=150, deadline=None)
def test_writing(twin: Twin, dtype_name: str, seed: int, form: Any, order: str, draw: st.DataObject) -> None:
    dtype = np.dtype(dtype_name)
    parts = draw.draw(program_parts(dtype, twin.plain.ndim))
    groups = group(twin, draw)
    value, fill, skip = values(seed, twin.shape, dtype), make_fill(seed, dtype), draw.draw(st.booleans())
    if draw.draw(st.booleans()):
        value = np.broadcast_to(fill, twin.shape)
    chain, index = program.Program(*parts), shard_index.IndexFormat(*form)
    job = plain.ShardWriteJob(
        twin.plain,
        groups.plain,
        plain_program.Program(*parts),
        value,
        fill,
        skip,
        plain_index.IndexFormat(*form),
        order,
    )
    ours = ShardWriteJob(twin.compiled, groups.compiled, chain, value, fill, skip, index, order)
    stored, expected = ours.encode(0, groups.plain.ngroups), job.encode(0, groups.plain.ngroups)
    assert ours.failed.tolist() == job.failed.tolist() == []
    assert [shard is None for shard in stored] == [shard is None for shard in expected]
    if [name for name, _ in parts[3]] in ([], ["crc32c"]):
        assert stored == expected
    with TemporaryDirectory() as root:
        ours = ShardWriteJob(twin.compiled, groups.compiled, chain, value, fill, skip, index, order)
        ours.to_files(root, keys.KeyFormat("x", ".", "v2"))
        assert ours.errors == []
        names = [plain_keys.KeyFormat("x", ".", "v2").key(groups.plain.coords(g)) for g in range(len(stored))]
        found = {str(p.relative_to(root)): p.read_bytes() for p in Path(root).rglob("*") if p.is_file()}
        assert found == {name: shard for name, shard in zip(names, stored) if shard is not None}
    out = np.zeros(twin.shape, dtype)
    reader = plain.ShardReadJob(
        twin.plain, groups.plain, plain_program.Program(*parts), out, fill, plain_index.IndexFormat(*form)
    )
    reader.from_buffers(stored)
    assert not len(reader.failed)
    if dtype.kind not in "fc":
        assert same_bytes(out, np.ascontiguousarray(value))


# --- 2 shards of 4 inner chunks of 1000 items; the second reaches past the end of the array

GRID = grid.Grid([grid.RegularAxis(6500, 1000)])
PLAN = planners.plan_basic(GRID, ...)
GROUPS = ShardGroups(PLAN, [4])
ZSTD = program.Program(4, 0, None, [("zstd", {"level": 1})])
INDEX = shard_index.IndexFormat("end", True)
KEYS = keys.KeyFormat("", "/", "default")
ZERO = np.zeros((), "<i4")
VALUE = np.arange(6500, dtype="<i4")


def writer(value: Any = VALUE, plan: Any = PLAN, groups: Any = GROUPS, skip: bool = False, **more: Any) -> Any:
    return ShardWriteJob(plan, groups, ZSTD, value, ZERO, skip, INDEX, **more)


def reader(plan: Any = PLAN, groups: Any = GROUPS, **more: Any) -> ShardReadJob:
    return ShardReadJob(plan, groups, ZSTD, np.full(plan.shape, -1, "<i4"), ZERO, INDEX, **more)


def test_some_groups(tmp_path: Path) -> None:
    job = writer(which=[1])
    job.to_files(str(tmp_path), KEYS)
    assert [p.name for p in (tmp_path / "c").iterdir()] == ["1"]
    for which, expected in (([1], [-1, 4000]), ([0], [0, -1]), ([0, 1], [0, 4000])):
        back = reader(which=np.array(which))
        back.from_files(str(tmp_path), KEYS)
        assert back.out[[0, 4000]].tolist() == expected


def test_only_complete_groups_are_written() -> None:
    plan = planners.plan_basic(GRID, slice(1000, 6500))
    job = writer(VALUE[1000:], plan, ShardGroups(plan, [4]))
    assert job.encode(0, 2)[0] is ...
    assert job.failed.tolist() == [0]
    plan = planners.plan_basic(GRID, slice(500, 6500))
    job = writer(VALUE[500:], plan, ShardGroups(plan, [4]))
    assert job.encode(0, 2)[0] is ...
    assert job.failed.tolist() == [0]


def test_a_damaged_index_fails_the_shard(tmp_path: Path) -> None:
    writer().to_files(str(tmp_path), KEYS)
    path = tmp_path / "c" / "0"
    sound = path.read_bytes()
    for damaged in (sound[:-1], sound[:-5] + b"x" + sound[-4:], b"", sound[:10]):
        path.write_bytes(damaged)
        job = reader()
        job.from_files(str(tmp_path), KEYS)
        assert job.failed.tolist() == [0, 1, 2, 3]
        np.testing.assert_array_equal(job.out[4000:], VALUE[4000:])


def test_a_chunk_declared_larger_than_it_can_be(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    table = shard_index.build_index([(0, 1 << 40)] * 4, INDEX)
    with (tmp_path / "c" / "0").open("wb") as file:
        file.truncate(1 << 41)
        file.seek(0, 2)
        file.write(table)
    job = reader(which=[0])
    job.from_files(str(tmp_path), KEYS)
    assert job.failed.tolist() == [0, 1, 2, 3]


def test_missing_shards_and_folders(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "nowhere"):
        job = reader()
        job.from_files(str(root), KEYS)
        assert job.missing.tolist() == list(range(7))
        assert not job.out.any()


def test_shards_of_fill_are_deleted(tmp_path: Path) -> None:
    writer().to_files(str(tmp_path), KEYS)
    value = VALUE.copy()
    value[:4000] = 0
    job = writer(value, skip=True)
    job.to_files(str(tmp_path), KEYS, fsync=True)
    assert [p.name for p in (tmp_path / "c").iterdir()] == ["1"]
    back = reader()
    back.from_files(str(tmp_path), KEYS)
    np.testing.assert_array_equal(back.out, value)


def test_a_failed_write_leaves_no_trace_and_ends_the_job(tmp_path: Path) -> None:
    (tmp_path / "c" / "0").mkdir(parents=True)
    job = writer()
    job.to_files(str(tmp_path), KEYS)
    assert job.failed.tolist() == [0, 1]
    assert job.errors == [(0, errno.EISDIR)]
    assert sorted(p.name for p in (tmp_path / "c").iterdir()) == ["0"]


@pytest.mark.parametrize("location", ["start", "end"])
@pytest.mark.parametrize("stages", [[], [("blosc", {"typesize": 8})]])
def test_large_shards_in_threads(tmp_path: Path, location: str, stages: list[Any]) -> None:
    """Chunks larger and smaller than the write buffer."""
    index = shard_index.IndexFormat(location, True)
    value = np.random.default_rng(0).random((700, 1100))
    for chunk in (30, 400):
        root = str(tmp_path / str(chunk))
        plan = planners.plan_basic(grid.Grid([grid.RegularAxis(700, chunk), grid.RegularAxis(1100, chunk)]), ...)
        groups, chain = ShardGroups(plan, [2, 3]), program.Program(8, 0, None, stages)
        job = ShardWriteJob(plan, groups, chain, value, np.zeros(()), True, index)
        run_together(partial(job.to_files, root, KEYS))
        assert not len(job.failed)
        back = ShardReadJob(plan, groups, chain, np.empty((700, 1100)), None, index)
        run_together(partial(back.from_files, root, KEYS))
        assert not len(back.failed)
        np.testing.assert_array_equal(back.out, value)


def test_guards() -> None:
    other = planners.plan_basic(GRID, ...)
    with pytest.raises(ValueError, match="another plan"):
        reader(other)
    with pytest.raises(ValueError, match="another plan"):
        writer(plan=other)
    with pytest.raises(ValueError, match="write_order"):
        writer(write_order="random")
    with pytest.raises(ValueError, match="negative"):
        reader(max_gap_bytes=-1)
    for which in ([2], [-1]):
        with pytest.raises(IndexError):
            reader(which=which)
        with pytest.raises(IndexError):
            writer(which=which)
    with pytest.raises(IndexError):
        writer().encode(1, 2)
    with pytest.raises(IndexError):
        reader().from_buffers([None] * 3)
    with pytest.raises(ValueError, match="shape"):
        ShardReadJob(PLAN, GROUPS, ZSTD, np.empty(5, "<i4"), ZERO, INDEX)
    assert issubclass(ShardReadJob, chunk_io.ChunkReader)
