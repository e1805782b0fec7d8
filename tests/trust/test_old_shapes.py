"""A handle that knows an old shape of its array loses nothing that others have appended meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import SHARED_KINDS, make_store, rounds, run_processes, run_together
from zarr.buffer.core import BufferPrototype, default_buffer_prototype
from zarr.buffer.cpu import NDBuffer
from zarr.runners.locks import folders
from zarr.storage import LocalStore, MemoryStore

LAYOUTS: dict[str, dict[str, Any]] = {
    "one chunk": {"chunks": (8, 8)},
    "chunks": {"chunks": (2, 3)},
    "one shard": {"chunks": (2, 3), "shards": (8, 9)},
    "shards": {"chunks": (2, 3), "shards": (4, 6)},
    "shards of whole chunks": {"chunks": (1, 1), "shards": (4, 6)},
    "raw": {"chunks": (2, 3), "compressors": None},
    "format 2": {"chunks": (2, 3), "zarr_format": 2},
    "each chunk locked": {"chunks": (2, 3), "config": {"locking": "process"}},
}


def write(array: Any, value: int) -> None:
    array[:] = value


def write_in_a_batch(array: Any, value: int) -> None:
    with array.batch():
        array[:, :2] = value
        array[:, 2:] = value
        assert (array[:] == value).all()


def write_by_a_coroutine(array: Any, value: int) -> None:
    asyncio.run(array.async_array.setitem(Ellipsis, value))


def write_by_another_pipeline(array: Any, value: int) -> None:
    array.set_basic_selection(Ellipsis, value, prototype=FOREIGN)


class OtherElements(NDBuffer):
    """Elements of another class, which go through a pipeline."""


FOREIGN = BufferPrototype(default_buffer_prototype().buffer, OtherElements)

WAYS = [write, write_in_a_batch, write_by_a_coroutine, write_by_another_pipeline]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["memory", *SHARED_KINDS])
def test_what_was_appended_stays(kind: str, layout: str, way: Any, tmp_path: Path) -> None:
    if kind == "memory" and layout == "each chunk locked":
        pytest.skip("no other process sees a store in memory")
    store = make_store(kind, tmp_path)
    old = zarr.create_array(store, shape=(5, 5), dtype="i4", **LAYOUTS[layout])
    expected = np.full((5, 5), 1, dtype="i4")
    way(old, 1)
    for axis, number in ((0, 7), (1, 8), (0, 9)):
        more = np.full_like(expected[:2] if axis == 0 else expected[:, :2], number)
        zarr.open_array(store, mode="r+").append(more, axis=axis)
        expected = np.concatenate([expected, more], axis=axis)
        way(old, -number)
        expected[:5, :5] = -number
        np.testing.assert_array_equal(zarr.open_array(store)[:], expected)
    store.close()


@pytest.mark.parametrize("shards", [None, (4, 4)])
@pytest.mark.parametrize("kind", ["memory", "local"])
def test_random_programs(kind: str, shards: Any, tmp_path: Path) -> None:
    """Handles of many ages write anywhere, by the shapes that they know."""
    random = np.random.default_rng(3)
    for number in range(rounds(10, 200)):
        store = make_store(kind, tmp_path / str(number))
        expected = np.zeros(random.integers(1, 6, 2), dtype="i4")
        handles = [zarr.create_array(store, data=expected, chunks=(2, 2), shards=shards)]
        for turn in range(1, 12):
            if turn % 3 == 0:
                axis = int(random.integers(2))
                shape = list(expected.shape)
                shape[axis] = int(random.integers(1, 4))
                more = np.full(shape, 100 * turn, dtype="i4")
                handles.append(zarr.open_array(store, mode="r+"))
                handles[-1].append(more, axis=axis)
                expected = np.concatenate([expected, more], axis=axis)
            old = handles[random.integers(len(handles))]
            region = tuple(slice(int(random.integers(n)), None) if random.integers(2) else slice(n) for n in old.shape)
            if turn % 2:
                old[region] = turn
            else:
                with old.batch():
                    old[region] = turn
            expected[tuple(slice(*each.indices(n)) for each, n in zip(region, old.shape, strict=True))] = turn
            np.testing.assert_array_equal(zarr.open_array(store)[:], expected)


@pytest.mark.parametrize("shards", [None, 12])
@pytest.mark.parametrize("kind", ["memory", "local"])
def test_threads(kind: str, shards: int | None, tmp_path: Path) -> None:
    for number in range(rounds(3, 60)):
        store = make_store(kind, tmp_path / str(number))
        old = zarr.create_array(store, shape=5, chunks=4, shards=shards, dtype="i4")
        other = zarr.open_array(store, mode="r+")

        def overwrite(old: Any = old) -> None:
            for value in range(1, 31):
                old[:] = value

        def append(other: Any = other) -> None:
            for value in range(30):
                other.append(np.array([1000 + value], dtype="i4"))

        run_together([overwrite, append])
        assert zarr.open_array(store)[:].tolist() == [30] * 5 + list(range(1000, 1030))


def overwrite_or_append(number: int, barrier: Any, place: str, times: int) -> None:
    array = zarr.open_array(place, mode="r+")
    barrier.wait(60)
    for value in range(1, times + 1):
        if number:
            array.append(np.array([1000 + value], dtype="i4"))
        else:
            array[:] = value


@pytest.mark.parametrize("shards", [None, 12])
def test_processes(shards: int | None, tmp_path: Path) -> None:
    """On file systems on which folders keep locks, with no setting."""
    if not folders.root_of(LocalStore(tmp_path), f"file:{tmp_path}"):
        pytest.skip("the file system of the temporary folder is not known to keep locks")
    place, times = tmp_path / "a.zarr", rounds(40, 500)
    zarr.create_array(place, shape=5, chunks=4, shards=shards, dtype="i4")[:] = 1
    run_processes(2, "fork", overwrite_or_append, str(place), times)
    expected = [times] * 5 + [1000 + value for value in range(1, times + 1)]
    assert zarr.open_array(place)[:].tolist() == expected


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_damaged_chunk_at_the_edge_is_replaced(layout: str, tmp_path: Path) -> None:
    """What it had beyond the array is lost already."""
    array = zarr.create_array(tmp_path, shape=(5, 5), dtype="i4", **LAYOUTS[layout])
    for way in WAYS[:3]:
        array[:] = 1
        for path in tmp_path.rglob("*"):
            if path.is_file() and not path.name.startswith((".z", "zarr.json")):
                path.write_bytes(path.read_bytes()[:3])
        way(array, 2)
        assert (array[:] == 2).all()


class Counting(MemoryStore):
    """Counts the requests for chunks."""

    asked = 0

    def get_sync(self, key: str, **options: Any) -> Any:
        self.asked += "/c/" in key
        return super().get_sync(key, **options)

    def getsize_sync(self, key: str) -> int:
        self.asked += "/c/" in key
        return super().getsize_sync(key)


@pytest.mark.parametrize("codecs", [{}, {"filters": [zarr.codecs.numcodecs.Delta(dtype="<i4")]}])
@pytest.mark.parametrize("shards", [None, (10, 20)])
def test_only_chunks_at_the_edge_are_looked_for(shards: Any, codecs: Any) -> None:
    store = Counting()
    layout = {"chunks": (10, 10), "shards": shards, **codecs}
    array = zarr.create_array(store, name="a", shape=(40, 39), dtype="i4", **layout)
    array[:] = 1
    assert store.asked == 4
    array[:, :20] = 1
    assert store.asked == 4
    array.append(np.full((10, 39), 2, dtype="i4"))
    made = zarr.create_array(store, name="b", data=np.ones((50, 39), dtype="i4"), **layout)
    assert store.asked == 4, "nobody else can have appended there"
    assert made.shape == (50, 39)
