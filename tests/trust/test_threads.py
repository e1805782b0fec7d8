"""Threads that write parts of one chunk or shard lose nothing: partial writes lock their key."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.storage import LocalStore, MemoryStore


def run_together(actions: list[Callable[[], Any]]) -> None:
    """Start every action at once in a thread of its own; raise the first error."""
    barrier, errors = threading.Barrier(len(actions)), []

    def run(action: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            action()
        except BaseException as error:  # handed to the caller below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def make_store(kind: str, folder: Any) -> Any:
    return LocalStore(folder) if kind == "local" else MemoryStore()


@pytest.mark.parametrize("kind", ["local", "memory"])
@pytest.mark.parametrize("shards", [None, (16, 16)])
def test_partial_writes_by_threads_keep_every_update(kind: str, shards: Any, tmp_path: Any) -> None:
    for round_number in range(20):
        array = zarr.create_array(
            make_store(kind, tmp_path / str(round_number)), shape=(16, 16), chunks=(8, 8), shards=shards, dtype="i4"
        )
        handles = [array, *(zarr.open_array(array.store, mode="r+") for _ in range(7))]

        def write(row: int, handle: Any) -> None:
            handle[row * 2, :] = row + 1
            handle[row * 2 + 1, ::3] = row + 1

        run_together([lambda r=r, h=h: write(r, h) for r, h in enumerate(handles)])
        expected = np.zeros((16, 16), "i4")
        for row in range(8):
            expected[row * 2, :] = row + 1
            expected[row * 2 + 1, ::3] = row + 1
        np.testing.assert_array_equal(array[...], expected)


@pytest.mark.parametrize("kind", ["local", "memory"])
def test_appends_by_threads_all_stay(kind: str, tmp_path: Any) -> None:
    array = zarr.create_array(make_store(kind, tmp_path), shape=(0, 4), chunks=(3, 4), dtype="i4")
    handles = [zarr.open_array(array.store, mode="r+") for _ in range(8)]

    def append(number: int) -> None:
        for i in range(5):
            handles[number].append(np.full((1, 4), number * 5 + i + 1, "i4"))

    run_together([lambda n=n: append(n) for n in range(8)])
    rows = zarr.open_array(array.store, mode="r")[:, 0]
    assert sorted(rows.tolist()) == list(range(1, 41))


def test_attribute_updates_by_threads_all_stay() -> None:
    group = zarr.create_group(MemoryStore())
    handles = [zarr.open_group(group.store, mode="r+") for _ in range(8)]

    def update(number: int) -> None:
        for i in range(5):
            handles[number].attrs[f"{number}-{i}"] = i

    run_together([lambda n=n: update(n) for n in range(8)])
    assert len(zarr.open_group(group.store, mode="r").attrs) == 40


def test_one_creator_wins(tmp_path: Any) -> None:
    for round_number in range(20):
        store = LocalStore(tmp_path / str(round_number))
        outcomes: list[int] = []

        def create(number: int, store: Any = store, outcomes: list[int] = outcomes) -> None:
            try:
                zarr.create_array(store, shape=(4,), dtype="i4", attributes={"by": number})
                outcomes.append(number)
            except zarr.errors.ContainsArrayError:
                pass

        run_together([lambda n=n: create(n) for n in range(4)])
        assert len(outcomes) == 1
        assert zarr.open_array(store, mode="r").attrs["by"] == outcomes[0]
