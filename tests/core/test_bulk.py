"""Jobs over many chunks: compiled and plain, in memory and on disk, with everything that can be wrong on disk."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.guard_page import GuardedMemory
from tests.core.plans import DTYPES, Twin, program_parts, twins, values
from zarr_core import bulk, grid, keys, planners, point_planners, program
from zarr_core.reference import bulk as plain
from zarr_core.reference import keys as plain_keys
from zarr_core.reference import program as plain_program

MEMORY = GuardedMemory()
SEEDS = st.integers(0, 10_000)
STYLES = st.sampled_from([("/", "default"), (".", "default"), ("/", "v2"), (".", "v2")])


def same_bytes(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def make_fill(seed: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Zero, noise, or NaN."""
    if seed % 3 == 0 and dtype.kind in "fc":
        return np.array(np.nan, dtype)
    return values(seed, (), dtype) if seed % 3 == 1 else np.zeros((), dtype)


@given(twins(), DTYPES, SEEDS, st.data())
@settings(max_examples=300, deadline=None)
def test_reading_buffers(twin: Twin, dtype_name: str, seed: int, draw: st.DataObject) -> None:
    dtype = np.dtype(dtype_name)
    parts = draw.draw(program_parts(dtype, twin.plain.ndim))
    theirs = plain_program.Program(*parts)
    payloads: list[Any] = []
    for i in range(twin.plain.nslots):
        stored = theirs.write_chunk(values(seed + i, twin.plain.chunk_shape(i), dtype))
        kind = (seed + i) % 5
        payloads.append(None if kind == 0 else stored[:-1] if kind == 1 else stored)
    fill = make_fill(seed, dtype) if draw.draw(st.booleans()) else None
    first = values(seed, twin.shape, dtype)
    ours = bulk.ReadJob(twin.compiled, program.Program(*parts), first.copy(), fill)
    job = plain.ReadJob(twin.plain, theirs, first.copy(), fill)
    ours.from_buffers(payloads)
    job.from_buffers(payloads)
    assert ours.missing.tolist() == job.missing.tolist()
    assert ours.failed.tolist() == job.failed.tolist()
    for i in job.failed:
        slot = twin.plain.slot(int(i))
        for out in (ours.out, job.out):
            out[(*slot.out_selection, ...)] = np.zeros((), dtype)
    assert same_bytes(ours.out, job.out)


@given(twins(whole=True), DTYPES, SEEDS, STYLES, st.data())
@settings(max_examples=150, deadline=None)
def test_writing(twin: Twin, dtype_name: str, seed: int, style: tuple[str, str], draw: st.DataObject) -> None:
    dtype = np.dtype(dtype_name)
    parts = draw.draw(program_parts(dtype, twin.plain.ndim))
    value = values(seed, twin.shape, dtype)
    fill, skip = make_fill(seed, dtype), draw.draw(st.booleans())
    if draw.draw(st.booleans()):
        value = np.broadcast_to(fill, twin.shape)
    ours = bulk.WriteJob(twin.compiled, program.Program(*parts), value, fill, skip)
    job = plain.WriteJob(twin.plain, plain_program.Program(*parts), value, fill, skip)
    theirs = plain_program.Program(*parts)
    chunks, expected = ours.encode(0, twin.plain.nslots), job.encode(0, twin.plain.nslots)
    assert [chunk is None for chunk in chunks] == [chunk is None for chunk in expected]
    for i, (chunk, other) in enumerate(zip(chunks, expected)):
        if chunk is not None:
            shape = twin.plain.chunk_shape(i)
            assert same_bytes(theirs.read_chunk(chunk, shape, dtype), theirs.read_chunk(other, shape, dtype))
    with TemporaryDirectory() as root:
        ours = bulk.WriteJob(twin.compiled, program.Program(*parts), value, fill, skip)
        ours.to_files(root, keys.KeyFormat("a/b", *style))
        assert not len(ours.failed)
        assert ours.errors == []
        names = [plain_keys.KeyFormat("a/b", *style).key(twin.plain.coords(i)) for i in range(twin.plain.nslots)]
        found = {str(p.relative_to(root)): p.read_bytes() for p in Path(root).rglob("*") if p.is_file()}
        assert found == {name: chunk for name, chunk in zip(names, chunks) if chunk is not None}
        out = np.empty(twin.shape, dtype)
        reader = bulk.ReadJob(twin.compiled, program.Program(*parts), out, fill)
        reader.from_files(root, keys.KeyFormat("a/b", *style))
        assert not len(reader.failed)
        assert len(reader.missing) == sum(chunk is None for chunk in chunks)
        if dtype.kind not in "fc":
            assert same_bytes(out, np.ascontiguousarray(value))


@given(twins(), DTYPES, SEEDS, st.data())
@settings(max_examples=100, deadline=None)
def test_reading_files(twin: Twin, dtype_name: str, seed: int, draw: st.DataObject) -> None:
    dtype = np.dtype(dtype_name)
    parts = draw.draw(program_parts(dtype, twin.plain.ndim))
    theirs, form = plain_program.Program(*parts), ("x", "/", "default")
    with TemporaryDirectory() as root:
        for i in range(twin.plain.nslots):
            if (seed + i) % 4:
                path = Path(root, plain_keys.KeyFormat(*form).key(twin.plain.coords(i)))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(theirs.write_chunk(values(seed + i, twin.plain.chunk_shape(i), dtype)))
        fill = np.zeros((), dtype)
        ours = bulk.ReadJob(twin.compiled, program.Program(*parts), np.empty(twin.shape, dtype), fill)
        job = plain.ReadJob(twin.plain, theirs, np.empty(twin.shape, dtype), fill)
        ours.from_files(root, keys.KeyFormat(*form))
        job.from_files(root, plain_keys.KeyFormat(*form))
    assert ours.missing.tolist() == job.missing.tolist()
    assert not len(ours.failed)
    assert same_bytes(ours.out, job.out)


# --- a small array, 4 chunks of 1000 items along one axis, the last one overhanging

GRID = grid.Grid([grid.RegularAxis(3500, 1000)])
PLAN = planners.plan_basic(GRID, ...)
PLAIN = program.Program(4, 0, None, [])
ZSTD = program.Program(4, 0, None, [("zstd", {"level": 1})])
KEYS = keys.KeyFormat("", "/", "default")
ZERO = np.zeros((), "<i4")
VALUE = np.arange(3500, dtype="<i4")


def written(root: Path, chain: program.Program = ZSTD) -> Path:
    job = bulk.WriteJob(PLAN, chain, VALUE, ZERO, False)
    job.to_files(str(root), KEYS)
    assert not len(job.failed)
    return root


def read(root: Path, chain: program.Program = ZSTD) -> bulk.ReadJob:
    job = bulk.ReadJob(PLAN, chain, np.full(3500, -1, "<i4"), ZERO)
    job.from_files(str(root), KEYS)
    return job


def test_there_and_back(tmp_path: Path) -> None:
    for chain in (PLAIN, ZSTD):
        np.testing.assert_array_equal(read(written(tmp_path, chain), chain).out, VALUE)


def test_what_stands_in_a_chunks_place(tmp_path: Path) -> None:
    for chain in (PLAIN, ZSTD):
        root = tmp_path / str(len(chain.stages))
        written(root, chain)
        for name in ("0", "1", "2"):
            (root / "c" / name).unlink()
        (root / "c" / "0").mkdir()
        os.mkfifo(root / "c" / "1")
        (root / "c" / "2").symlink_to("/dev/zero")
        job = read(root, chain)
        assert job.failed.tolist() == [0, 1, 2]
        assert not len(job.missing)
        np.testing.assert_array_equal(job.out[3000:], VALUE[3000:])


def test_damaged_files(tmp_path: Path) -> None:
    for chain in (PLAIN, ZSTD):
        written(tmp_path, chain)
        (tmp_path / "c" / "0").write_bytes(b"")
        (tmp_path / "c" / "1").write_bytes((tmp_path / "c" / "1").read_bytes()[:-1])
        (tmp_path / "c" / "2").write_bytes((tmp_path / "c" / "2").read_bytes() + bytes(3))
        assert read(tmp_path, chain).failed.tolist() == [0, 1, 2]


def test_a_huge_sparse_file_costs_nothing(tmp_path: Path) -> None:
    for chain in (PLAIN, ZSTD):
        written(tmp_path, chain)
        os.truncate(tmp_path / "c" / "0", 1 << 40)
        assert read(tmp_path, chain).failed.tolist() == [0]


def test_folders_that_are_not_there(tmp_path: Path) -> None:
    job = read(tmp_path / "nowhere")
    assert job.missing.tolist() == [0, 1, 2, 3]
    assert not job.out.any()
    assert read(tmp_path).missing.tolist() == [0, 1, 2, 3]
    (tmp_path / "c").write_text("a file where a folder should be")
    assert read(tmp_path).failed.tolist() == [0, 1, 2, 3]


def test_without_a_fill_missing_chunks_leave_the_output_alone() -> None:
    job = bulk.ReadJob(PLAN, PLAIN, np.full(3500, 7, "<i4"), None)
    job.from_buffers([None] * 4)
    assert job.missing.tolist() == [0, 1, 2, 3]
    assert (job.out == 7).all()


def test_a_failed_write_leaves_no_trace_and_ends_the_job(tmp_path: Path) -> None:
    (tmp_path / "c" / "1").mkdir(parents=True)
    job = bulk.WriteJob(PLAN, ZSTD, VALUE, ZERO, False)
    job.to_files(str(tmp_path), KEYS)
    assert job.failed.tolist() == [1, 2, 3]
    assert job.errors == [(1, errno.EISDIR)]
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["0", "1", "c"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("a file where a folder should be")
    job = bulk.WriteJob(PLAN, ZSTD, VALUE, ZERO, False)
    job.to_files(str(tmp_path), KEYS)
    assert job.errors == [(0, errno.ENOTDIR)]
    assert job.failed.tolist() == [0, 1, 2, 3]
    with pytest.raises(OSError):
        bulk.WriteJob(PLAN, ZSTD, VALUE, ZERO, False).to_files(str(tmp_path / "c"), KEYS)


@pytest.mark.skipif(os.name != "posix", reason="file size limits are a POSIX notion")
def test_a_write_cut_short(tmp_path: Path) -> None:
    """A limit on file sizes makes the first write short and the second one fail."""
    import resource

    written(tmp_path, PLAIN)
    job = bulk.WriteJob(PLAN, PLAIN, VALUE + 1, ZERO, False)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, hard))
    try:
        job.to_files(str(tmp_path), KEYS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert job.errors == [(0, errno.EFBIG)]
    assert job.failed.tolist() == [0, 1, 2, 3]
    assert sorted(p.name for p in (tmp_path / "c").iterdir()) == ["0", "1", "2", "3"]
    np.testing.assert_array_equal(read(tmp_path, PLAIN).out, VALUE)


@pytest.mark.parametrize("fsync", [False, True])
def test_skipped_chunks_are_deleted(tmp_path: Path, fsync: bool) -> None:
    written(tmp_path)
    value = VALUE.copy()
    value[1000:2000] = 0
    for _ in range(2):
        job = bulk.WriteJob(PLAN, ZSTD, value, ZERO, True)
        job.to_files(str(tmp_path), KEYS, fsync)
        assert not len(job.failed)
        assert sorted(p.name for p in (tmp_path / "c").iterdir()) == ["0", "2", "3"]
    np.testing.assert_array_equal(read(tmp_path).out, value)


def test_fsync_in_new_folders(tmp_path: Path) -> None:
    job = bulk.WriteJob(PLAN, ZSTD, VALUE, ZERO, False)
    job.to_files(str(tmp_path / "new" / "root"), keys.KeyFormat("a/b/c", "/", "default"), fsync=True)
    assert job.errors == []
    assert len(list((tmp_path / "new" / "root" / "a" / "b" / "c" / "c").iterdir())) == 4


def test_only_whole_slots_are_written() -> None:
    plan = planners.plan_basic(GRID, slice(500, 3500))
    job = bulk.WriteJob(plan, PLAIN, VALUE[500:], ZERO, False)
    chunks = job.encode(0, 4)
    assert job.failed.tolist() == [0]
    assert chunks[0] is ...
    assert [np.frombuffer(chunk or b"", "<i4")[0] for chunk in chunks[1:]] == [1000, 2000, 3000]
    assert np.frombuffer(chunks[3] or b"", "<i4")[500:].tolist() == [0] * 500


def test_some_slots(tmp_path: Path) -> None:
    written(tmp_path)
    out = np.full(3500, -1, "<i4")
    job = bulk.ReadJob(PLAN, ZSTD, out, ZERO, slots=np.array([3, 1]))
    job.from_files(str(tmp_path), KEYS)
    expected = np.full(3500, -1)
    expected[1000:2000], expected[3000:] = VALUE[1000:2000], VALUE[3000:]
    np.testing.assert_array_equal(out, expected)
    job = bulk.ReadJob(PLAN, PLAIN, out, ZERO, slots=np.array([3, 1]))
    job.from_buffers([None], first=1)
    assert job.missing.tolist() == [1]


@pytest.mark.parametrize("stages", [[], [("zstd", {})], [("blosc", {"typesize": 4})]])
def test_threads_share_a_job(tmp_path: Path, stages: list[Any]) -> None:
    plan = planners.plan_basic(grid.Grid([grid.RegularAxis(300, 7), grid.RegularAxis(500, 13)]), ...)
    chain, value = program.Program(8, 0, None, stages), np.random.default_rng(0).random((300, 500))
    writer = bulk.WriteJob(plan, chain, value, np.zeros(()), True)
    run_together(lambda: writer.to_files(str(tmp_path), KEYS))
    assert not len(writer.failed)
    reader = bulk.ReadJob(plan, chain, np.empty((300, 500)), np.zeros(()))
    run_together(lambda: reader.from_files(str(tmp_path), KEYS))
    assert not len(reader.failed)
    assert not len(reader.missing)
    np.testing.assert_array_equal(reader.out, value)


def run_together(work: Any) -> None:
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_small_part_of_a_large_chunk(tmp_path: Path) -> None:
    big = grid.Grid([grid.RegularAxis(1000, 1000), grid.RegularAxis(700, 700)])
    value = np.arange(700_000, dtype="<f4").reshape(1000, 700)
    selections: list[Any] = [(5, 6), (slice(10, 12), slice(3, 900)), (slice(990, 1000), 0), (slice(0, 1000, 300), 1)]
    for stages in ([], [("blosc", {"typesize": 4, "blocksize": 16384})], [("blosc", {"clevel": 0})]):
        for order in (None, (1, 0)):
            chain = program.Program(4, 0, order, stages)
            bulk.WriteJob(planners.plan_basic(big, ...), chain, value, np.zeros((), "<f4"), False).to_files(
                str(tmp_path), KEYS
            )
            plans = [(planners.plan_basic(big, item), value[item]) for item in selections]
            at = (np.array([3, 999, 3]), np.array([699, 2, 5]))
            plans += [(point_planners.plan_points(big, at), value[at])]
            plans += [(planners.plan_orthogonal(big, ([7, 5], [1, 0])), value[np.ix_([7, 5], [1, 0])])]
            for plan, expected in plans:
                job = bulk.ReadJob(plan, chain, np.empty(plan.shape, "<f4"), None)
                job.from_files(str(tmp_path), KEYS)
                assert not len(job.failed)
                np.testing.assert_array_equal(job.out, expected)


def test_nothing_is_written_past_the_output() -> None:
    out = MEMORY.last(14_000).view("<i4")
    for chain in (PLAIN, ZSTD, program.Program(4, 4, None, [("blosc", {"typesize": 4})])):
        chunks = bulk.WriteJob(PLAN, chain, VALUE, ZERO, False).encode(0, 4)
        job = bulk.ReadJob(PLAN, chain, out, ZERO)
        job.from_buffers(chunks)
        np.testing.assert_array_equal(out, VALUE)


# --- guards


def test_guards_of_reading() -> None:
    out = np.empty(3500, "<i4")
    read_only = np.empty(3500, "<i4")
    read_only.flags.writeable = False
    wrong: list[tuple[type[Exception], tuple[Any, ...]]] = [
        (TypeError, (None, PLAIN, out, ZERO)),
        (TypeError, (PLAN, None, out, ZERO)),
        (TypeError, (PLAN, PLAIN, [1], ZERO)),
        (ValueError, (PLAN, PLAIN, out[:-1], ZERO)),
        (ValueError, (PLAN, PLAIN, out.reshape(50, 70), ZERO)),
        (ValueError, (PLAN, PLAIN, read_only, ZERO)),
        (ValueError, (PLAN, PLAIN, out.astype("<i8"), np.zeros((), "<i8"))),
        (TypeError, (PLAN, program.Program(8, 0, None, []), np.empty(3500, object), None)),
        (TypeError, (PLAN, program.Program(16, 0, None, []), np.empty(3500, np.dtypes.StringDType()), None)),
        (ValueError, (PLAN, program.Program(4, 0, (1, 0), []), out, ZERO)),
        (TypeError, (PLAN, PLAIN, out, 0)),
        (ValueError, (PLAN, PLAIN, out, np.zeros(1, "<i4"))),
        (ValueError, (PLAN, PLAIN, out, np.zeros((), "<f4"))),
        (IndexError, (PLAN, PLAIN, out, ZERO, np.array([4]))),
        (IndexError, (PLAN, PLAIN, out, ZERO, np.array([-1]))),
        (ValueError, (PLAN, PLAIN, out, ZERO, np.array([[1]]))),
    ]
    for error, args in wrong:
        with pytest.raises(error):
            bulk.ReadJob(*args)
    job = bulk.ReadJob(PLAN, PLAIN, out, ZERO)
    for first, count in ((0, 5), (4, 1), (-1, 1), (1 << 62, 1)):
        with pytest.raises(IndexError):
            job.from_buffers([None] * count, first)
    with pytest.raises(TypeError):
        job.from_buffers([5])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        job.from_files(".", None)  # type: ignore[arg-type]


def test_guards_of_writing() -> None:
    wrong: list[tuple[type[Exception], tuple[Any, ...]]] = [
        (TypeError, (PLAN, PLAIN, [1], ZERO, False)),
        (ValueError, (PLAN, PLAIN, VALUE[:-1], ZERO, False)),
        (TypeError, (PLAN, PLAIN, VALUE, None, False)),
        (ValueError, (PLAN, PLAIN, VALUE, np.zeros((), "<u4"), False)),
        (IndexError, (PLAN, PLAIN, VALUE, ZERO, False, [4])),
    ]
    for error, args in wrong:
        with pytest.raises(error):
            bulk.WriteJob(*args)
    job = bulk.WriteJob(PLAN, PLAIN, VALUE, ZERO, False)
    for first, count in ((0, 5), (-1, 1), (4, 1), (0, -1)):
        with pytest.raises(IndexError):
            job.encode(first, count)


def test_payloads_of_all_kinds() -> None:
    chunk = VALUE[:1000].tobytes()
    for payload in (chunk, bytearray(chunk), memoryview(chunk), np.frombuffer(chunk, "u1"), VALUE[:1000]):
        job = bulk.ReadJob(PLAN, PLAIN, np.empty(3500, "<i4"), ZERO)
        job.from_buffers((payload,))
        np.testing.assert_array_equal(job.out[:1000], VALUE[:1000])


@pytest.mark.parametrize("prefix", ["/etc", "../x", "a/../../x", "a\0b"])
def test_keys_that_lead_outside(tmp_path: Path, prefix: str) -> None:
    form = keys.KeyFormat(prefix, "/", "default")
    job = bulk.ReadJob(PLAN, PLAIN, np.empty(3500, "<i4"), ZERO)
    job.from_files(str(tmp_path), form)
    assert job.failed.tolist() == [0, 1, 2, 3]
    writer = bulk.WriteJob(PLAN, PLAIN, VALUE, ZERO, False)
    writer.to_files(str(tmp_path), form)
    assert writer.errors == [(0, errno.EINVAL)]
    assert writer.failed.tolist() == [0, 1, 2, 3]
    assert list(tmp_path.iterdir()) == []
