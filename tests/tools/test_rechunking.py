"""Copies into another layout hold the same elements, whatever the layouts, the memory and the executor."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import chain, pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr
from zarr.storage import LocalStore, MemoryStore, SQLiteStore, ZipStore
from zarr.storage.keys import JOB_PREFIX
from zarr.tools.copies.jobs import FillRegion, members, slabs_of
from zarr.tools.copies.layouts import BETWEEN_BYTES, choose_route, grow
from zarr.tools.copies.regions import Regions, amplification, every, longest, merge
from zarr.tools.plans.executors import keep_memory, read_region

ROWS = np.arange(64 * 48, dtype="i4").reshape(64, 48)


def sizes(shape: tuple[int, ...]) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*(st.integers(1, max(1, length)) for length in shape))


@st.composite
def copies(draw: st.DrawFn) -> tuple[Any, ...]:
    shape = draw(st.lists(st.integers(0, 20), min_size=0, max_size=3).map(tuple))
    source, target = draw(sizes(shape)), draw(sizes(shape))
    inner = draw(st.booleans())
    shards = tuple(2 * size for size in target) if inner and shape else None
    dtype = draw(st.sampled_from(["i1", ">f8", "M8[s]", "S3", "U2"]))
    return shape, source, target, shards, dtype, draw(st.sampled_from([2, 3])), draw(st.integers(1, 40))


@given(copies())
@settings(max_examples=150, deadline=None)
def test_random_layouts(case: tuple[Any, ...]) -> None:
    shape, source, target, shards, dtype, zarr_format, share = case
    data = np.arange(int(np.prod(shape)), dtype="i8").reshape(shape).astype(dtype)
    array = zarr.create_array(
        {}, data=data, chunks=source, zarr_format=zarr_format, attributes={"a": [1, None]}, fill_value=data.dtype.type()
    )
    unit = int(np.prod(shards or target)) * data.dtype.itemsize
    options = {"shards": shards, "zarr_format": 3} if shards else {}
    copy = zarr.tools.rechunk(array, MemoryStore(), chunks=target, memory=2 * unit * share, **options)
    np.testing.assert_array_equal(copy[...], data)
    assert copy.dtype.newbyteorder("=") == data.dtype.newbyteorder("=")
    assert copy.attrs.asdict() == {"a": [1, None]}
    assert copy.chunks == target
    assert copy.shards == (shards or None)
    assert [key for key in copy.store._store_dict if key.startswith(JOB_PREFIX)] == []


@given(st.data(), st.sampled_from([2, 3]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_sparse_sources(data: st.DataObject, zarr_format: Any, sharded: bool) -> None:
    shape = data.draw(st.lists(st.integers(1, 20), min_size=1, max_size=2).map(tuple))
    source, target = data.draw(sizes(shape)), data.draw(sizes(shape))
    layout: dict[str, Any] = {"chunks": source, "zarr_format": zarr_format}
    if sharded:
        layout = {"chunks": (1,) * len(shape), "shards": source}
    array = zarr.create_array({}, shape=shape, dtype="f4", fill_value=data.draw(st.sampled_from([0, np.nan])), **layout)
    for _ in range(data.draw(st.integers(0, 3))):
        array[tuple(data.draw(st.integers(0, length - 1)) for length in shape)] = 1
    copy = zarr.tools.rechunk(array, MemoryStore(), chunks=target, memory=2 * 4 * int(np.prod(target)))
    np.testing.assert_array_equal(copy[...], array[...])


def written_regions(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that receives the regions that tasks write."""
    regions: list[Any] = []
    plain = FillRegion.__call__
    monkeypatch.setattr(FillRegion, "__call__", lambda work, region: (regions.append(region), plain(work, region))[1])
    return regions


def test_tasks_without_stored_chunks_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    array = zarr.create_array({}, shape=(1000,), chunks=(10,), dtype="i2", fill_value=7)
    array[500:510] = 1
    regions, counts = written_regions(monkeypatch), []
    progress = lambda done, of: counts.append((done, of))  # noqa: E731
    copy = zarr.tools.rechunk(array, MemoryStore(), chunks=(20,), memory=2 * 2 * 20, progress=progress)
    assert regions == [(slice(500, 520),)]
    assert counts[-1] == (50, 50)
    np.testing.assert_array_equal(copy[...], array[...])


def test_no_task_is_left_out_where_all_chunks_are_to_be_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    array = zarr.create_array({}, shape=(100,), chunks=(10,), dtype="i2")
    with zarr.config.set({"array.write_empty_chunks": True}):
        copy = zarr.tools.rechunk(array, MemoryStore(), chunks=(20,), memory=2 * 2 * 20)
    assert copy.nchunks_initialized == 5
    with zarr.config.set({"array.read_missing_chunks": False}), pytest.raises(zarr.errors.ChunkNotFoundError):
        zarr.tools.rechunk(array, MemoryStore(), chunks=(20,), memory=2 * 2 * 20)


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30)), max_size=3), st.integers(1, 50))
@settings(max_examples=300, deadline=None)
def test_routes_keep_the_rules(axes: list[tuple[int, int, int]], share: int) -> None:
    source = tuple(every(size, length) for length, size, _ in axes)
    target = tuple(every(size, length) for length, _, size in axes)
    limit = int(np.prod([longest(axis) for axis in target])) * share
    route = choose_route(source, target, 1, limit)
    final = route.second or route.first
    for mine, theirs in zip(final.borders, target, strict=True):
        assert set(mine) <= set(theirs), "two regions share a chunk of the target"
    assert int(np.prod([longest(axis) for axis in final.borders])) <= limit
    if route.between is not None:
        for mine, size, axis in zip(route.first.borders, route.between, source, strict=True):
            assert set(mine) <= set(every(size, axis[-1])), "two regions share a chunk in between"
    covered = np.zeros([length for length, _, _ in axes], dtype=int)
    for region in final:
        covered[region] += 1
    assert (covered == 1).all()


def test_amplification_counts_what_is_read() -> None:
    pieces, chunks = every(7, 30), every(4, 30)
    read = sum(
        stop - start
        for a, b in pairwise(pieces)
        for start, stop in pairwise(chunks)
        if start < b and stop > a
    )
    assert amplification(pieces, chunks) == read / 30


def test_regions_share_memory_within_a_run_alone() -> None:
    array = zarr.array(ROWS, chunks=(8, 8))
    alone = read_region(array, (slice(0, 2), slice(0, 3)))
    with keep_memory():
        first = read_region(array, (slice(8, 40), slice(0, 48)))
        np.testing.assert_array_equal(first, ROWS[8:40])
        smaller = read_region(array, (slice(0, 2), slice(0, 3)))
        assert np.shares_memory(first, smaller)
    np.testing.assert_array_equal(smaller, ROWS[:2, :3])
    np.testing.assert_array_equal(alone, ROWS[:2, :3])
    assert not np.shares_memory(smaller, read_region(array, (slice(0, 2), slice(0, 3))))


def test_chunks_in_between_are_small_and_divide_a_region() -> None:
    side = 2 * BETWEEN_BYTES // 48
    route = choose_route((every(1, side), every(48, 48)), (every(side, side), every(1, 48)), 1, limit=4 * side)
    assert route.between is not None
    assert int(np.prod(route.between)) <= BETWEEN_BYTES
    big = choose_route(
        (every(1, 256), every(1024, 1024), every(1024, 1024)), (every(256, 256), every(64, 1024), every(64, 1024)), 4,
        limit=256 << 20,
    )  # fmt: skip
    assert (big.between, len(big.first)) == ((16, 256, 1024), 4)


def test_a_small_memory_goes_by_an_array_in_between(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "a", data=ROWS, chunks=(1, 48))
    plan = zarr.tools.rechunk(array, tmp_path / "b", chunks=(64, 1), memory=2 * 4 * 64 * 4, dry_run=True)
    assert isinstance(plan, zarr.tools.Plan)
    assert len(plan.stages) == 2
    assert "arrays in between" in plan.explain()
    assert not (tmp_path / "b").exists()
    copy = plan.run()
    np.testing.assert_array_equal(copy[...], ROWS)
    assert sorted(os.listdir(tmp_path / "b")) == ["c", "zarr.json"]


SLABS: dict[str, Any] = {"chunks": (16, 1), "memory": 2 * 4 * 48 * 4}
"""For 64 x 48 elements in chunks of one row: four slabs of 24 chunks in between, which 4 tasks write and 6 read."""


def stored_between(place: Path) -> int:
    return sum(path.name != "zarr.json" for path in place.glob("*/between/**/*") if path.is_file())


def test_of_an_array_in_between_one_slab_is_stored_at_a_time(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "a", data=ROWS, chunks=(1, 48))
    stored: list[int] = []
    copy = zarr.tools.rechunk(
        array, tmp_path / "b", progress=lambda done, total: stored.append(stored_between(tmp_path / "b")), **SLABS
    )
    np.testing.assert_array_equal(copy[...], ROWS)
    assert stored[-40:] == 4 * [6, 12, 18, *7 * [24]]


def test_what_was_deleted_in_between_is_not_taken_for_empty(tmp_path: Path) -> None:
    """A worker may outlive its job, which another one has completed."""
    array = zarr.create_array(tmp_path / "a", data=np.zeros_like(ROWS), chunks=(1, 48))

    def delete(done: int, total: int) -> None:
        if done == 4:
            next((tmp_path / "b").glob("*/between/0/c/0/0")).unlink()

    with pytest.raises(zarr.errors.ChunkNotFoundError):
        zarr.tools.rechunk(array, tmp_path / "b", progress=delete, **SLABS)
    assert not zarr.tools.rechunk(array, tmp_path / "c", progress=False, **SLABS)[...].any()


@pytest.mark.parametrize("stop", range(1, 40, 6))
def test_a_plan_goes_on_within_a_slab(stop: int, tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "a", data=ROWS, chunks=(1, 48))

    def interrupt(done: int, total: int) -> None:
        if done == stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        zarr.tools.rechunk(array, tmp_path / "b", progress=interrupt, **SLABS)
    with ThreadPoolExecutor(2) as pool:  # which runs stage by stage
        copy = zarr.tools.rechunk(
            array, tmp_path / "b", resume=True, executor=pool if stop % 4 == 1 else None, progress=False, **SLABS
        )
    np.testing.assert_array_equal(copy[...], ROWS)


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=3))
@settings(max_examples=200, deadline=None)
def test_slabs_hold_whole_regions(axes: list[tuple[int, int, int]]) -> None:
    first = Regions(every(size, length) for length, size, _ in axes)
    second = Regions(every(size, length) for length, _, size in axes)
    slabs = slabs_of(first, second)
    for regions in (first, second):
        numbers = members(slabs, regions)
        assert sorted(chain.from_iterable(numbers)) == list(range(len(regions)))
        for slab, mine in zip(slabs, numbers, strict=True):
            for number in mine:
                assert all(
                    outer.start <= inner.start and inner.stop <= outer.stop
                    for outer, inner in zip(slab, regions[number], strict=True)
                )


def test_one_worker_runs_each_task_once(monkeypatch: pytest.MonkeyPatch) -> None:
    root = zarr.create_group({})
    root.create_array("a", data=ROWS, chunks=(1, 48))
    root.create_array("b", data=ROWS, chunks=(16, 1))  # directly
    root.create_array("c", data=ROWS, chunks=(1, 48))
    plan = zarr.tools.rechunk(root, {}, dry_run=True, **SLABS)
    assert isinstance(plan, zarr.tools.Plan)
    monkeypatch.setattr("zarr.tools.copies.jobs.delete_slab", lambda *_: None)  # nothing is stored
    here = [(place, number, work.place.path, item) for place, number, work, item in plan._alone()]
    staged = [
        (place, number, work.place.path, item)
        for place in range(2)
        for place, number, work, item in plan._numbered(place)
    ]
    assert here != staged
    assert sorted(here, key=lambda task: task[:2]) == staged


def hierarchy(place: Any, zarr_format: Any = 3) -> zarr.Group:
    root = zarr.create_group(place, zarr_format=zarr_format, attributes={"title": "x"})
    names = {"dimension_names": ("y", "x")} if zarr_format == 3 else {}
    root.create_array("a/b/c", data=ROWS, chunks=(8, 8), attributes={"unit": "m"}, **names)
    root.create_array("line", data=ROWS[0], chunks=(5,))
    root.create_group("empty").attrs["n"] = 1
    return root


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("tool", ["rechunk", "reencode", "copy"])
def test_hierarchies(tool: str, zarr_format: Any, tmp_path: Path) -> None:
    hierarchy(tmp_path / "a", zarr_format)
    zarr.consolidate_metadata(tmp_path / "a")
    options: dict[str, Any] = {"rechunk": {"chunks": (16, 48)}, "reencode": {"compressors": None}, "copy": {}}[tool]
    copy = getattr(zarr.tools, tool)(tmp_path / "a", tmp_path / "b", **options)
    assert copy.attrs.asdict() == {"title": "x"}
    assert copy.metadata.consolidated_metadata is not None
    found = dict(copy.members(max_depth=None))
    assert sorted(found) == ["a", "a/b", "a/b/c", "empty", "line"]
    np.testing.assert_array_equal(found["a/b/c"][...], ROWS)
    np.testing.assert_array_equal(found["line"][...], ROWS[0])
    assert found["a/b/c"].attrs.asdict() == {"unit": "m"}
    assert found["empty"].attrs.asdict() == {"n": 1}
    assert found["a/b/c"].chunks == ((16, 48) if tool == "rechunk" else (8, 8))
    assert found["line"].chunks == (5,)
    assert found["a/b/c"].metadata.zarr_format == zarr_format


def test_chunks_by_dimension_and_by_path(tmp_path: Path) -> None:
    root = hierarchy(tmp_path / "a")
    by_name = zarr.tools.rechunk(root, {}, chunks={"x": -1})
    assert by_name["a/b/c"].chunks == (8, 48)
    by_path = zarr.tools.rechunk(root, {}, chunks={"line": 7, "a/b/c": (3, 5)}, shards={"line": 14})
    assert (by_path["line"].chunks, by_path["line"].shards, by_path["a/b/c"].chunks) == ((7,), (14,), (3, 5))


@pytest.mark.parametrize(("length", "chunk"), [(2, 8), (16, 16), (-1, 48)])
def test_a_length_of_a_dimension_does_not_cut_its_coordinates(length: int, chunk: int) -> None:
    group = zarr.create_group({})
    group.create_array("sub/x", shape=48, chunks=8, dtype="f4", dimension_names=["x"])
    group.create_array("sub/v", shape=(4, 48), chunks=(4, 8), dtype="f4", dimension_names=["y", "x"])
    found = zarr.tools.rechunk(group, {}, chunks={"x": length})["sub"]
    assert found["x"].chunks == (chunk,)
    assert found["v"].chunks == (4, 48 if length == -1 else length)


STORES: dict[str, Any] = {
    "zip": lambda folder: ZipStore(folder / "b.zip", mode="w"),
    "memory": lambda folder: MemoryStore(),
    "folder": lambda folder: LocalStore(folder / "b"),
    "sqlite": lambda folder: SQLiteStore(folder / "b.sqlite"),
    "url": lambda folder: f"file://{folder}/b",
}


@pytest.mark.parametrize("tool", ["rechunk", "copy"])
@pytest.mark.parametrize("kind", STORES)
def test_stores(kind: str, tool: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"chunks": (64, 1), "memory": 2 * 4 * 64 * 4} if tool == "rechunk" else {}
    source = hierarchy(tmp_path / "a")
    copy = getattr(zarr.tools, tool)(source, STORES[kind](tmp_path), path="x/y", **options)
    np.testing.assert_array_equal(copy["a/b/c"][...], ROWS)
    assert not zarr.tools.diff(source, copy) or tool == "rechunk"
    assert zarr.tools.checksum(copy) == zarr.tools.checksum(source)
    assert zarr.tools.verify(copy)


def test_what_is_refused(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "a", data=ROWS, chunks=(8, 8))
    zarr.create_array(tmp_path / "b", data=ROWS, chunks=(8, 8))
    with pytest.raises(zarr.errors.ContainsArrayError):
        zarr.tools.rechunk(array, tmp_path / "b", chunks=(4, 4))
    with pytest.raises(zarr.errors.ContainsGroupError, match="overwrite=True"):
        zarr.tools.copy(array, tmp_path / "b")
    for tool, options in (("rechunk", {"chunks": (4, 4)}), ("copy", {}), ("reencode", {})):
        with pytest.raises(ValueError, match="source"):
            getattr(zarr.tools, tool)(array, tmp_path / "a", overwrite=True, **options)
    with pytest.raises(ValueError, match="3 dimensions, the array has 2"):
        zarr.tools.rechunk(array, {}, chunks=(4, 4, 4))
    with pytest.raises(ValueError, match="memory"):
        zarr.tools.rechunk(array, {}, chunks=(64, 48), memory=100)
    with pytest.raises(ValueError, match="no number of bytes"):
        zarr.tools.rechunk(array, {}, chunks=(64, 48), memory="much")
    with pytest.raises(TypeError, match="executor"):
        zarr.tools.rechunk(array, {}, chunks=(4, 4), executor=3)
    assert array.chunks == (8, 8)
    replaced = zarr.tools.rechunk(array, tmp_path / "b", chunks=(4, 4), overwrite=True)
    assert replaced.chunks == (4, 4)


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_executors(kind: str, tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "a", data=ROWS, chunks=(1, 48))
    pool = ThreadPoolExecutor(4) if kind == "threads" else ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    ended: list[tuple[int, int]] = []
    with pool:
        copy = zarr.tools.rechunk(
            tmp_path / "a", tmp_path / "b", chunks=(64, 1), memory=2 * 4 * 64 * 4, executor=pool,
            progress=lambda done, total: ended.append((done, total)),
        )  # fmt: skip
    np.testing.assert_array_equal(copy[...], ROWS)
    assert ended[-1][0] == ended[-1][1] == len(ended) > 10


class Failing:
    """Fails once, at a task in the middle."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, ended: int, total: int) -> None:
        self.calls += 1
        if self.calls == total // 2:
            raise KeyboardInterrupt


def test_a_plan_goes_on_where_it_stopped(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "a", data=ROWS, chunks=(1, 48))
    options: dict[str, Any] = {"chunks": (64, 1), "memory": 2 * 4 * 64 * 4}
    with pytest.raises(KeyboardInterrupt):
        zarr.tools.rechunk(array, tmp_path / "b", progress=Failing(), **options)
    (fault,) = zarr.tools.verify(tmp_path / "b").faults
    assert fault.kind == "left-over-job"
    with pytest.raises(zarr.errors.ContainsArrayError):  # and nothing is lost by it
        zarr.tools.rechunk(array, tmp_path / "b", **options)
    ended: list[int] = []
    copy = zarr.tools.rechunk(
        array, tmp_path / "b", resume=True, progress=lambda done, total: ended.append(done), **options
    )
    np.testing.assert_array_equal(copy[...], ROWS)
    assert ended[0] > 1, "what had ended was done again"
    assert sorted(os.listdir(tmp_path / "b")) == ["c", "zarr.json"]


KILLED = """
import sys, time, zarr
def slow(done, total):
    print(done, total, flush=True)
    time.sleep(0.05)
zarr.tools.rechunk(sys.argv[1] + "/a", sys.argv[1] + "/b", chunks=(64, 1), memory=2048, progress=slow)
"""


def test_a_killed_program_goes_on(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "a", data=ROWS, chunks=(1, 48))
    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if int(line.split()[0]) == 9:
                child.send_signal(signal.SIGKILL)
                break
    ended: list[int] = []
    copy = zarr.tools.rechunk(
        tmp_path / "a", tmp_path / "b", chunks=(64, 1), memory=2048, resume=True,
        progress=lambda done, total: ended.append(done),
    )  # fmt: skip
    assert ended[0] >= 8
    np.testing.assert_array_equal(copy[...], ROWS)


def test_a_dask_cluster_whose_workers_die(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    data = np.random.default_rng(0).integers(0, 99, (256, 256)).astype("i4")
    zarr.create_array(tmp_path / "a", data=data, chunks=(4, 256))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", local_directory=tmp_path / "dask"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())

        def kill_one(done: int, total: int) -> None:
            if done == total // 3:
                os.kill(pids.pop(), signal.SIGKILL)

        copy = zarr.tools.rechunk(
            tmp_path / "a", tmp_path / "b", chunks=(256, 4), memory=2 * 256 * 8 * 4, executor=client, progress=kill_one
        )
        np.testing.assert_array_equal(copy[...], data)
        again = zarr.tools.copy(tmp_path / "b", tmp_path / "c", executor="dask")
        np.testing.assert_array_equal(again[...], data)


@pytest.mark.slow
def test_four_processes_and_a_client_that_die(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    from rechunk import run_cluster

    data = np.random.default_rng(0).integers(0, 99, (512, 512)).astype("i4")
    zarr.create_array(tmp_path / "a", data=data, chunks=(4, 512))
    how: Any = (tmp_path, tmp_path / "a", 2 * 512 * 4 * 4, (512, 4), 1.0)
    _, half, _, _ = run_cluster(*how, die_after=0.4, patience=300)
    first, last, kills, _ = run_cluster(*how, resume="resume", patience=300)
    # What one worker ends while the other tasks of the report are noted may come before it.
    assert half <= first < last
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "target")[...], data)
    assert sorted(os.listdir(tmp_path / "target")) == ["c", "zarr.json"]
    if not kills:
        pytest.skip("the workers had ended before one of them was killed")


def test_tasks_are_small_to_send(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "a", shape=(10**6, 10**3), chunks=(100, 1000), dtype="f4")
    plan = zarr.tools.rechunk(array, tmp_path / "b", chunks=(1000, 100), dry_run=True)
    assert isinstance(plan, zarr.tools.Plan)
    work, item = next(plan.stages[0].tasks())
    assert len(pickle.dumps((work, item))) < 2000


def test_a_progress_bar_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    array = zarr.create_array({}, data=ROWS, chunks=(8, 8))
    zarr.tools.rechunk(array, {}, chunks=(4, 4), progress=True)
    assert "rechunk to chunks (4, 4)" in capsys.readouterr().err
    zarr.tools.rechunk(array, {}, chunks=(4, 4))
    assert capsys.readouterr().err == "", "nobody sees it"


def test_blocks_of_dask_are_whole_shards() -> None:
    pytest.importorskip("dask.array")
    array = zarr.create_array({}, shape=(64, 48), chunks=(4, 4), shards=(16, 8), dtype="i4")
    array[...] = ROWS
    lazy = zarr.tools.to_dask(array, memory=16 * 16 * 4)
    assert all(size % 16 == 0 for size in lazy.chunks[0])
    assert all(size % 8 == 0 for size in lazy.chunks[1])
    np.testing.assert_array_equal(lazy.compute(), ROWS)
    np.testing.assert_array_equal(zarr.tools.to_dask(array.store).compute(), ROWS)
    with pytest.raises(ValueError, match="to_dask takes one array"):
        zarr.tools.to_dask(zarr.group())


def test_regions_are_numbered_in_c_order() -> None:
    regions = Regions([(0, 2, 3), (0, 5)])
    assert list(regions) == [(slice(0, 2), slice(0, 5)), (slice(2, 3), slice(0, 5))]
    with pytest.raises(IndexError):
        regions[2]


@pytest.mark.parametrize("other", [1, 3, 100_000])
def test_an_axis_of_very_many_chunks_grows_in_few_steps(other: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def counted(borders: Any, size: int) -> Any:
        sizes.append(size)
        return merge(borders, size)

    monkeypatch.setattr("zarr.tools.copies.layouts.merge", counted)
    (grown,) = grow([every(1, 100_000)], [every(other, 100_000)], 400, limit=30 << 20)
    assert longest(grown) * 400 > 20 << 20  # of 30
    assert len(sizes) < 150
