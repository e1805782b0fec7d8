"""Processes that write to one database lose nothing, with no setting, and leave no file behind."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
import zarr_core
from tests.trust.test_default_locks import (
    LAYOUTS,
    WORKERS,
    append_and_describe,
    count_own,
    create_members,
    write_whole_or_parts,
)
from tests.trust.together import check_waits, rounds, run_processes
from zarr.runners.locks import folders
from zarr.steps.requests import LockScope
from zarr.storage import LMDBStore, SQLiteStore, WrapperStore
from zarr_core import Folder, FolderLock

KINDS = ["sqlite", *(["lmdb"] if find_spec("lmdb") else [])]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="folders have such locks on Linux only")


@pytest.fixture(autouse=True)
def _trusted(tmp_path: Path) -> None:
    if not zarr_core.trusts_locks(str(tmp_path)):
        pytest.skip("the file system of the temporary folder is not known to keep locks")


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"{request.param}://{tmp_path}/data"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_of_chunks(layout: str, url: str, tmp_path: Path) -> None:
    zarr.create_array(url, shape=16, dtype="i4", **LAYOUTS[layout])
    files = {name.partition("-")[0] for name in os.listdir(tmp_path)}
    times = rounds(25, 300)
    run_processes(WORKERS, "fork", count_own, url, times)
    np.testing.assert_array_equal(zarr.open_array(url)[:], np.full(16, times))
    assert {name.partition("-")[0] for name in os.listdir(tmp_path)} == files == {"data"}


@pytest.mark.parametrize("chunks", [1, 8])
def test_whole_chunks_and_parts(chunks: int, url: str) -> None:
    """One chunk and many: each is locked in its own way."""
    zarr.create_array(url, shape=64, chunks=(8,), dtype="i4", compressors=None)
    run_processes(WORKERS, "fork", write_whole_or_parts, url, rounds(20, 300), 8 * chunks)


def test_appends_and_attributes(url: str) -> None:
    zarr.create_group(url).create_array("a", shape=0, chunks=4, dtype="i8")
    times = rounds(8, 25)
    run_processes(WORKERS, "fork", append_and_describe, url, times)
    group = zarr.open_group(url, mode="r")
    np.testing.assert_array_equal(np.sort(group["a"][:]), np.repeat(np.arange(1, WORKERS * times + 1), 3))
    assert len(group.attrs) == len(group["a"].attrs) == WORKERS * times


def test_consolidated_metadata(url: str) -> None:
    zarr.create_group(url)
    zarr.consolidate_metadata(url)
    times = rounds(5, 25)
    run_processes(WORKERS, "fork", create_members, url, times)
    assert len(zarr.open_group(url, use_consolidated=True)) == WORKERS * times


def test_transactions_of_many_chunks(url: str) -> None:
    """More chunks than are locked one by one; and parts of them are written by single calls, too."""
    size = 4 * (folders.MAX_NAMED + 6)
    zarr.create_group(url).create_array("a", shape=size, chunks=4, dtype="i4")
    times = rounds(5, 50)
    run_processes(WORKERS, "fork", write_beside_transactions, url, times)
    np.testing.assert_array_equal(zarr.open_array(url, path="a")[:], np.full(size, times))


def write_beside_transactions(number: int, barrier: Any, url: str, times: int) -> None:
    array = zarr.open_array(url, path="a", mode="r+")
    barrier.wait(60)
    for i in range(times):
        if number % 2:
            array[number::WORKERS] = i + 1
            continue
        while True:
            try:
                with zarr.transaction(url) as inside:
                    inside.group()["a"][number::WORKERS] = i + 1
                break
            except zarr.errors.TransactionConflictError:
                continue


def test_a_chunk_is_a_name_in_the_folder_of_the_database(url: str, tmp_path: Path) -> None:
    array = zarr.create_array(url, name="a", shape=8, chunks=4, dtype="i4")
    folder = tmp_path / "data" if url.startswith("lmdb") else tmp_path
    lock = FolderLock(Folder(str(folder)), ("data/a/c/0",))
    assert lock.try_acquire() == folders.HELD
    check_waits(lambda: array.__setitem__(1, 7), lock.close, "the chunk is locked")
    other = FolderLock(Folder(str(folder)), ("data2/a/c/0",))
    assert other.try_acquire() == folders.HELD
    array[2] = 8
    assert array[:3].tolist() == [0, 7, 8]


def test_a_wrapped_database_is_locked_by_the_same_names(tmp_path: Path) -> None:
    array = zarr.create_array(WrapperStore(SQLiteStore(tmp_path / "data")), shape=8, chunks=4, dtype="i4")
    lock = FolderLock(Folder(str(tmp_path)), ("data/c/0",))
    assert lock.try_acquire() == folders.HELD
    check_waits(lambda: array.__setitem__(1, 7), lock.close, "the chunk is locked")


def test_a_database_that_is_not_there_yet_is_locked_in_the_folder_above(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "x/y/data")
    root = folders.root_of(store, store.lock_prefix)
    (place,) = folders.places(root, LockScope("a", None, False), ["a/zarr.json"], "node")
    lock = folders.lock_place(place)
    assert lock is not None
    assert lock.held
    assert lock.folder.path == str(tmp_path)


def test_a_database_in_memory_takes_no_lock() -> None:
    store = SQLiteStore(":memory:")
    assert folders.root_of(store, store.lock_prefix) == ""


def test_a_file_system_that_is_not_trusted_has_lock_files_where_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(folders._trusted, str(tmp_path), False)
    store = SQLiteStore(tmp_path / "data")
    zarr.create_array(store, shape=8, chunks=4, dtype="i4")[1] = 1
    assert not (tmp_path / "data.zarr-locks").exists()
    zarr.open_array(store, mode="r+", config={"locking": "process"})[1] = 2
    assert (tmp_path / "data.zarr-locks").is_dir()


@pytest.mark.skipif("lmdb" not in KINDS, reason="lmdb is not installed")
@pytest.mark.parametrize("subdir", [True, False])
def test_the_folder_of_an_lmdb_database_is_the_one_of_its_files(subdir: bool, tmp_path: Path) -> None:
    store = LMDBStore(tmp_path / "data", subdir=subdir)
    assert store.locked_in == str(tmp_path / "data" if subdir else tmp_path)
