"""Rounds of races by processes with ``locking="process"``: each round is looked at before the next begins."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import SHARED_KINDS, make_store, rounds, run_processes
from zarr.errors import ContainsArrayError
from zarr.runners.locks.folders import Place
from zarr.runners.locks.processes import LockedFile, lock_file, lock_paths
from zarr.steps.requests import LockScope
from zarr_core import Folder, FolderLock

WORKERS = 3
PROCESS = {"locking": "process"}
METHODS = ["spawn", *(["fork"] if hasattr(os, "fork") and sys.platform != "darwin" else [])]
SPAWN = pytest.param("spawn", "local", marks=pytest.mark.slow)  # each process imports all anew
PAIRS = [SPAWN, *(("fork", kind) for kind in SHARED_KINDS if "fork" in METHODS)]


def write_rows(number: int, barrier: Any, store: Any, turns: int) -> None:
    array = zarr.open_array(store, mode="r+", config=PROCESS)
    for turn in range(1, turns + 1):
        barrier.wait(60)
        array.oindex[np.arange(number, 12, WORKERS), :] = turn * 10 + number
        barrier.wait(60)
        np.testing.assert_array_equal(array[:, 5], turn * 10 + np.arange(12) % WORKERS)


@pytest.mark.parametrize(("method", "kind"), PAIRS)
@pytest.mark.parametrize("shards", [None, (12, 12)])
def test_partial_writes(method: str, kind: str, shards: Any, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    zarr.create_array(store, shape=(12, 12), chunks=(6, 6), shards=shards, dtype="i4")
    run_processes(WORKERS, method, write_rows, store, rounds(5, 50))


def append_and_describe(number: int, barrier: Any, store: Any, turns: int) -> None:
    array = zarr.open_array(store, mode="r+", config=PROCESS)
    for turn in range(turns):
        barrier.wait(60)
        array.append(np.full((1, 2), turn * WORKERS + number))
        array.attrs[f"{turn}-{number}"] = 1
        barrier.wait(60)
        found = zarr.open_array(store, mode="r")
        assert sorted(found[:, 1].tolist()) == list(range((turn + 1) * WORKERS))
        assert len(found.attrs) == (turn + 1) * WORKERS


@pytest.mark.parametrize(("method", "kind"), PAIRS)
def test_appends_and_attributes(method: str, kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    zarr.create_array(store, shape=(0, 2), chunks=(4, 2), dtype="i4")
    run_processes(WORKERS, method, append_and_describe, store, rounds(5, 25))


def create(number: int, barrier: Any, store: Any, turns: int, locking: str, won: Any) -> None:
    for turn in range(turns):
        how = {"data": np.full(8, number)} if turn % 2 else {"shape": 8, "dtype": "i8", "fill_value": number}
        barrier.wait(60)
        try:
            zarr.create_array(
                store, name=f"g/{turn}", chunks=2, attributes={"by": number}, config={"locking": locking}, **how
            )
        except ContainsArrayError:
            continue
        with won.get_lock():
            won[turn] += 1 + number * 100


@pytest.mark.parametrize(("method", "kind"), PAIRS)
@pytest.mark.parametrize("locking", ["thread", "process"])
def test_one_creator_wins(method: str, kind: str, locking: str, tmp_path: Path) -> None:
    store, turns = make_store(kind, tmp_path), rounds(10, 60)
    won = multiprocessing.get_context(method).Array("i", turns)
    run_processes(WORKERS, method, create, store, turns, locking, won)
    for turn in range(turns):
        assert won[turn] % 100 == 1, f"round {turn}: {won[turn] % 100} creators"
        array = zarr.open_array(store, path=f"g/{turn}", mode="r")
        assert array.attrs["by"] == won[turn] // 100
        assert array[:].tolist() == [won[turn] // 100] * 8


def overwrite(number: int, barrier: Any, store: Any, turns: int) -> None:
    """Whole arrays are replaced while others change the attributes of what is there."""
    for turn in range(turns):
        barrier.wait(60)
        if number:
            zarr.create_array(store, name="a", data=np.full(8, number), overwrite=True, config=PROCESS)
        else:
            zarr.open_array(store, path="a", mode="r+", config=PROCESS).attrs["turn"] = turn
        barrier.wait(60)
        found = zarr.open_array(store, path="a", mode="r")[:]
        assert len(set(found.tolist())) == 1, found
        barrier.wait(60)


@pytest.mark.parametrize(("method", "kind"), PAIRS)
def test_overwriting_is_whole(method: str, kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    zarr.create_array(store, name="a", data=np.zeros(8, "i8"))
    run_processes(WORKERS, method, overwrite, store, rounds(5, 40))


def change_members(number: int, barrier: Any, store: Any, turns: int) -> None:
    with zarr.config.set({"array.locking": "process"}):
        group = zarr.open_group(store, mode="r+", use_consolidated=False)
        for turn in range(turns):
            barrier.wait(60)
            group.create_array(f"{number}-{turn}", shape=1, dtype="i4")
            group.create_group(f"g/{number}-{turn}").attrs["turn"] = turn
            group[f"{number}-{turn}"].attrs["turn"] = turn
            if turn % 3 == number:
                del group[f"g/{number}-{turn}"]


@pytest.mark.parametrize(("method", "kind"), PAIRS)
@pytest.mark.filterwarnings("ignore:Consolidated metadata")
def test_consolidated_copies_keep_every_update(method: str, kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    zarr.create_group(store).create_group("g")
    zarr.consolidate_metadata(store)
    run_processes(WORKERS, method, change_members, store, rounds(4, 25))

    def listing(use: bool) -> dict[str, Any]:
        group = zarr.open_group(store, mode="r", use_consolidated=use)
        return {path: dict(node.attrs) for path, node in group.members(max_depth=None)}

    assert listing(True) == listing(False)


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["threads", "processes"])
@pytest.mark.parametrize("kind", SHARED_KINDS if rounds(0, 1) else SHARED_KINDS[:1])
def test_dask_workers(scheduler: str, kind: str, tmp_path: Path) -> None:
    """Blocks that do not match the chunks: each chunk is written in parts, by several workers."""
    dask = pytest.importorskip("dask")
    dask_array = pytest.importorskip("dask.array")
    locking = "process" if scheduler == "processes" else "thread"
    # One pool for all turns: to start three interpreters takes many times as long as what they do here.
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(3, spawn) if scheduler == "processes" else ThreadPoolExecutor(3)
    with pool, dask.config.set(scheduler=scheduler, num_workers=3, pool=pool):
        store_by_dask(kind, tmp_path, locking, dask_array)


def store_by_dask(kind: str, tmp_path: Path, locking: str, dask_array: Any) -> None:
    for turn in range(rounds(1, 10)):
        store = make_store(kind, tmp_path / str(turn))
        target = zarr.create_array(store, shape=(40, 40), chunks=(16, 16), dtype="i4", config={"locking": locking})
        value = np.arange(1600, dtype="i4").reshape(40, 40)
        dask_array.store(dask_array.from_array(value, chunks=(7, 9)), target, lock=False)
        np.testing.assert_array_equal(zarr.open_array(store, mode="r")[...], value)


def _commit_many(number: int, barrier: Any, kind: str, folder: str) -> None:
    with zarr.config.set({"array.locking": "process"}):
        store = make_store(kind, folder)
        barrier.wait()
        for turn in range(rounds(15, 150)):
            if number == 0:
                zarr.consolidate_metadata(store)
            elif number == 1:
                zarr.open_group(store).create_group(f"made-{turn}")
            else:
                with contextlib.suppress(zarr.errors.TransactionConflictError), zarr.transaction(store) as inside:
                    zarr.open_group(inside, path="a").attrs["turn"] = turn
        store.close()


@pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")
@pytest.mark.parametrize("kind", SHARED_KINDS)
def test_transactions_and_copies(kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    zarr.create_group(store).create_group("a")
    store.close()
    run_processes(3, "spawn", _commit_many, kind, str(tmp_path))
    store = make_store(kind, tmp_path)
    nodes = {path: dict(node.attrs) for path, node in zarr.open_group(store, use_consolidated=False).members(None)}
    copied = {path: dict(node.attrs) for path, node in zarr.open_group(store, use_consolidated=True).members(None)}
    assert copied == nodes
    assert len(nodes) == rounds(15, 150) + 1
    store.close()



HOW = ["config", "synchronizer", "settings", "group", "group's array", "removal", "nothing"]


def _change(inside: Any, how: str, locks: Path) -> None:
    """Change an array or a group of a transaction that asks for locks among processes, by one way or another."""
    synchronizer = zarr.ProcessSynchronizer(locks)
    if how in ("group", "group's array"):
        group = zarr.open_group(inside, synchronizer=synchronizer)
        if how == "group":
            group["g"].attrs["a"] = 1
        else:
            group["a"][1] = 1
    elif how == "removal":
        del zarr.open_group(inside)["g"]
    elif how == "synchronizer":
        zarr.open_array(inside, path="a", synchronizer=synchronizer)[1] = 1
    else:
        zarr.open_array(inside, path="a", config=PROCESS if how == "config" else None)[1] = 1


def lock_elsewhere(place: str) -> FolderLock | LockedFile:
    """Lock a place as another process does."""
    if not isinstance(place, Place):
        return lock_file(place)
    lock = FolderLock(Folder(place.folder), place.names)
    assert lock.try_acquire() == 0
    return lock


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", SHARED_KINDS)
def test_transactions_keep_to_what_their_arrays_and_groups_ask_for(how: str, kind: str, tmp_path: Path) -> None:
    """While another process has the lock of a chunk, or of a node, a transaction that changes it waits at its end."""
    store = make_store(kind, tmp_path)
    root = zarr.create_group(store)
    root.create_array("a", shape=3, chunks=3, dtype="i4")
    root.create_group("g")
    by_folder = how in ("synchronizer", "group", "group's array")
    node = "g" if how in ("group", "removal") else "a"
    scope = LockScope(node, str(tmp_path / "locks") if by_folder else None)
    key, family = (f"{node}/zarr.json", "node") if node == "g" else ("a/c/0", "chunk")
    done, begun = threading.Event(), threading.Event()

    def commit() -> None:
        with zarr.config.set({"array.locking": "process" if how in ("settings", "removal") else "thread"}):
            with zarr.transaction(store) as inside:
                _change(inside, how, tmp_path / "locks")
                begun.set()
            done.set()

    other = lock_elsewhere(lock_paths(store, scope, [key], family)[-1])
    thread = threading.Thread(target=commit)
    thread.start()
    try:
        assert begun.wait(60), "nothing is locked before the end"
        if how == "nothing":
            assert done.wait(60)
        else:
            assert not done.wait(0.3)
    finally:
        other.close()
        thread.join(60)
    assert done.is_set()
    root = zarr.open_group(store, mode="r")
    assert ("g" in root) == (how != "removal")
    assert root["a"][1] == int(node == "a")
    store.close()
