"""Processes that write to one array lose nothing, with no setting, on local file systems, and leave no file behind."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
import zarr_core
from tests.trust.together import check_waits, open_descriptors, paths_below, rounds, run_processes
from zarr.runners.locks import folders
from zarr.steps.requests import LockScope
from zarr_core import Folder, FolderLock

WORKERS = 4

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="folders have such locks on Linux only")


@pytest.fixture(autouse=True)
def _trusted(tmp_path: Path) -> None:
    if not zarr_core.trusts_locks(str(tmp_path)):
        pytest.skip("the file system of the temporary folder is not known to keep locks")


# --------------------------------------------------------------------------------------------- nothing is lost


def count_own(number: int, barrier: Any, place: str, times: int) -> None:
    """Each writes elements of its own, and finds in each round what it has written in the last one."""
    array = zarr.open_array(place, mode="r+")
    barrier.wait(60)
    for i in range(times):
        assert (array[number::WORKERS] == i).all(), f"round {i}: elements of process {number} are lost"
        array[number::WORKERS] = i + 1


LAYOUTS: dict[str, dict[str, Any]] = {
    "chunk": {"chunks": (16,)},
    "chunks": {"chunks": (6,)},
    "shard": {"chunks": (4,), "shards": (16,)},
    "raw": {"chunks": (16,), "compressors": None},
    "format 2": {"chunks": (16,), "zarr_format": 2},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_of_chunks(layout: str, tmp_path: Path) -> None:
    place, alone = tmp_path / "a.zarr", tmp_path / "alone"
    zarr.create_array(place, shape=16, dtype="i4", **LAYOUTS[layout])
    times = rounds(25, 300)
    run_processes(WORKERS, "fork", count_own, str(place), times)
    np.testing.assert_array_equal(zarr.open_array(place)[:], np.full(16, times))
    zarr.create_array(alone, shape=16, dtype="i4", **LAYOUTS[layout])[:] = times
    assert paths_below(place) == paths_below(alone), "a file is left that one process does not make"
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "alone"]


def count_own_over(number: int, barrier: Any, kind: str, place: str, times: int) -> None:
    count_own(number, barrier, store_over(KINDS_OF_FILES[number % 3] if kind == "all" else kind, place), times)
    os._exit(0)  # as a forked child ends; an error has ended this one before


KINDS_OF_FILES = ("folder", "fsspec", "obstore")


def store_over(kind: str, place: str) -> Any:
    """A store of some class over the files of a folder."""
    if kind == "fsspec":
        return zarr.storage.FsspecStore.from_url(f"file://{place}")
    if kind == "obstore":
        from obstore.store import LocalStore as Folder

        return zarr.storage.ObjectStore(Folder(place))
    return place


@pytest.mark.parametrize("layout", ["chunk", "shard"])
@pytest.mark.parametrize("kind", ["fsspec", "obstore", "all"])
def test_parts_of_chunks_by_other_stores_of_files(kind: str, layout: str, tmp_path: Path) -> None:
    """The files are the same ones: what keeps processes apart must not depend on who writes them."""
    for package in ("fsspec", "obstore"):
        pytest.importorskip(package)
    zarr.create_array(tmp_path, shape=16, dtype="i4", **LAYOUTS[layout])
    times = rounds(25, 300)
    run_processes(WORKERS, "spawn", count_own_over, kind, str(tmp_path), times)  # obstore outlives no fork
    np.testing.assert_array_equal(zarr.open_array(tmp_path)[:], np.full(16, times))


def write_whole_or_parts(number: int, barrier: Any, place: str, times: int, size: int) -> None:
    """The first writes whole chunks and finds in them what it has written; the others write elements of their own."""
    array = zarr.open_array(place, mode="r+")
    others = np.arange(array.shape[0]) % 8 >= WORKERS
    barrier.wait(60)
    for i in range(times):
        if number:
            array[number :: 8] = i
        else:
            array[:size] = i
            assert (array[:size][others[:size]] == i).all(), f"round {i}: a whole chunk that was stored is lost"


@pytest.mark.parametrize("chunks", [1, 3, 8])
def test_whole_chunks_and_parts(chunks: int, tmp_path: Path) -> None:
    """One chunk, few chunks, and many: each is locked in its own way."""
    zarr.create_array(tmp_path, shape=64, chunks=(8,), dtype="i4", compressors=None)
    run_processes(WORKERS, "fork", write_whole_or_parts, str(tmp_path), rounds(40, 300), 8 * chunks)
    assert paths_below(tmp_path) == ["c", *(f"c/{i}" for i in range(8)), "zarr.json"]


def append_and_describe(number: int, barrier: Any, place: str, times: int) -> None:
    group = zarr.open_group(place, mode="r+")
    barrier.wait(60)
    for i in range(times):
        group["a"].append(np.full(3, number * times + i + 1))
        group.attrs[f"{number}-{i}"] = i
        group["a"].attrs[f"{number}-{i}"] = i


def test_appends_and_attributes(tmp_path: Path) -> None:
    zarr.create_group(tmp_path).create_array("a", shape=0, chunks=4, dtype="i8")
    times = rounds(8, 25)
    run_processes(WORKERS, "fork", append_and_describe, str(tmp_path), times)
    group = zarr.open_group(tmp_path, mode="r")
    expected = np.repeat(np.arange(1, WORKERS * times + 1), 3)
    np.testing.assert_array_equal(np.sort(group["a"][:]), expected)
    assert len(group.attrs) == len(group["a"].attrs) == WORKERS * times
    chunks = [f"a/c/{i}" for i in range(len(expected) // 4)]
    assert paths_below(tmp_path) == sorted(["a", "a/c", *chunks, "a/zarr.json", "zarr.json"])


def create_members(number: int, barrier: Any, place: str, times: int) -> None:
    group = zarr.open_group(place, mode="r+")
    barrier.wait(60)
    for i in range(times):
        group.create_array(f"{number}-{i}", shape=3, dtype="i4")


def test_consolidated_metadata(tmp_path: Path) -> None:
    zarr.create_group(tmp_path)
    zarr.consolidate_metadata(tmp_path)
    times = rounds(5, 25)
    run_processes(WORKERS, "fork", create_members, str(tmp_path), times)
    assert len(zarr.open_group(tmp_path, use_consolidated=True)) == WORKERS * times


# --------------------------------------------------------------------------------------------- who dies, who forks

HOLD = """
import os, sys, time
import zarr_core
lock = zarr_core.FolderLock(zarr_core.Folder(sys.argv[1]), (sys.argv[2],), sys.argv[3] == "shared")
assert lock.try_acquire() == 0
child = os.fork() if sys.argv[4] == "forks" else 1
if child == 0:
    import zarr.runners.locks.folders
    time.sleep(600)
print("locked", child, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("how", ["alone", "shared"])
def test_killed_holder_holds_up_nobody(how: str, tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path, shape=8, chunks=4, dtype="i4")
    command = [sys.executable, "-c", HOLD, str(tmp_path), "c/0", how, "stays"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("locked")
        check_waits(
            lambda: array.__setitem__(1, 7),
            lambda: process.send_signal(signal.SIGKILL),
            "the lock keeps others out while its holder lives",
        )
    assert array[1] == 7


FORK = """
import os, sys, time
import zarr
array = zarr.open_array(sys.argv[1], mode="r+")
array[1] = 1
from zarr.runners.locks import folders
from zarr.steps.requests import LockScope
lock = folders.lock_place(folders.chunk_place(sys.argv[1], LockScope("", None, False), "c/0"))
assert lock.held
child = os.fork()
if child == 0:
    lock.close()  # does nothing: it is the parent's
    time.sleep(600)
print(child, flush=True)
time.sleep(600)
"""


def test_forked_child_neither_keeps_nor_releases_what_its_parent_holds(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path, shape=8, chunks=4, dtype="i4")
    with subprocess.Popen([sys.executable, "-c", FORK, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            check_waits(
                lambda: array.__setitem__(1, 7),
                lambda: (process.send_signal(signal.SIGKILL), process.wait()),
                "the parent holds it still",
                "the child holds what its parent held",
            )
        finally:
            os.kill(child, signal.SIGKILL)


# --------------------------------------------------------------------------------------------- folders


def test_removed_folder_is_opened_anew(tmp_path: Path) -> None:
    place = tmp_path / "a.zarr"
    array = zarr.create_array(place, shape=8, chunks=4, dtype="i4")
    array[1] = 1
    array = zarr.create_array(place, shape=8, chunks=4, dtype="i4", overwrite=True)
    array[1] = 1
    lock = FolderLock(Folder(str(place)), ("c/0",))
    assert lock.try_acquire() == folders.HELD
    check_waits(lambda: array.__setitem__(2, 2), lock.close, "the array is locked in the folder that was removed")
    assert array[:3].tolist() == [0, 1, 2]


def test_folder_that_was_moved_is_opened_anew(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "a", shape=8, chunks=4, dtype="i4")
    array[1] = 1
    (tmp_path / "a").rename(tmp_path / "b")
    array = zarr.create_array(tmp_path / "a", shape=8, chunks=4, dtype="i4")
    array[1] = 1
    other = zarr.open_array(tmp_path / "b")
    other[1] = 2
    lock = FolderLock(Folder(str(tmp_path / "a")), ("c/0",))
    assert lock.try_acquire() == folders.HELD
    check_waits(lambda: array.__setitem__(2, 2), lock.close, "the array is locked in the folder that was moved")
    with zarr.transaction(str(tmp_path)) as inside:
        for path in ("a", "b"):
            zarr.open_array(inside, path=path)[3] = 3
    assert array[:4].tolist() == [0, 1, 2, 3]


def test_file_systems_without_such_locks_have_lock_files_where_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(folders._trusted, str(tmp_path), False)
    array = zarr.create_array(tmp_path, shape=8, chunks=4, dtype="i4", config={"locking": "process"})
    array[1] = 1
    assert (tmp_path / ".zarr-locks").is_dir()


def test_root_that_is_mounted_is_locked_in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_apart", {str(tmp_path)})
    monkeypatch.setitem(folders._trusted, str(tmp_path), True)
    group = zarr.create_group(tmp_path)
    lock = FolderLock(Folder(str(tmp_path)), ("node:.",))
    assert lock.try_acquire() == folders.HELD
    check_waits(lambda: group.attrs.__setitem__("a", 1), lock.close)
    assert group.attrs["a"] == 1


def test_few_folders_stay_open(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path)
    arrays = [group.create_array(f"{i}", shape=4, chunks=4, dtype="i4") for i in range(folders.MAX_OPEN + 40)]
    before = open_descriptors()
    for turn in range(2):
        for array in arrays:
            array[turn] = 1
    assert open_descriptors() <= before + folders.MAX_OPEN
    assert len(folders._open) <= folders.MAX_OPEN


def test_folder_in_use_is_not_opened_twice(tmp_path: Path) -> None:
    """A second descriptor would be kept out by what is locked by the first."""
    zarr.create_array(tmp_path / "a", shape=400, chunks=4, dtype="i4")
    scope = LockScope("", None, False)
    lock = folders.lock_place(folders.chunk_place(str(tmp_path / "a"), scope, "c/0"))
    assert lock is not None
    for i in range(folders.MAX_OPEN + 1):
        (tmp_path / f"{i}").mkdir()
        other = folders.lock_place(folders.chunk_place(str(tmp_path / f"{i}"), scope, "c/0"))
        assert other is not None
        other.close()
    assert str(tmp_path / "a") not in folders._open
    everything = folders.lock_place(folders.array_place(str(tmp_path / "a"), scope, lambda: ["c/0"]))
    assert everything is not None
    assert everything.folder is lock.folder
    (tmp_path / "link").symlink_to(tmp_path / "a")
    linked = folders.lock_place(folders.chunk_place(str(tmp_path / "link"), scope, "c/0"))
    assert linked is not None
    assert linked.folder is lock.folder


def test_many_chunks_of_a_transaction(tmp_path: Path) -> None:
    zarr.create_group(tmp_path).create_array("a", shape=2000, chunks=4, dtype="i4")
    with zarr.transaction(str(tmp_path)) as inside:
        inside.group()["a"][1:] = 7
        lock = FolderLock(Folder(str(tmp_path / "a")), ("c/3",))
        assert lock.try_acquire() == folders.HELD
        threading.Timer(0.3, lock.close).start()
    assert lock.held is False
    assert zarr.open_array(tmp_path / "a")[1:].min() == 7


def test_file_systems_that_are_not_trusted_have_locks_among_threads_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(folders._trusted, str(tmp_path), False)
    array = zarr.create_array(tmp_path, shape=8, chunks=4, dtype="i4")
    lock = FolderLock(Folder(str(tmp_path)), ("c/0",))
    assert lock.try_acquire() == folders.HELD
    array[1] = 1  # would wait for ever
    assert array[1] == 1
    assert zarr_core.trusts_locks("/proc") is False


def test_folder_without_locks_is_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(path: str) -> Any:
        raise OSError(37, "No locks available", path)

    array = zarr.create_array(tmp_path, shape=8, chunks=4, dtype="i4")
    monkeypatch.setattr(zarr_core, "Folder", refuse)
    monkeypatch.setattr(folders, "_open", {})
    with caplog.at_level(logging.WARNING):
        array[1] = 1
        array[2] = 2
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path} cannot be locked (No locks available): writers in other processes are not kept out"
    ]
    careful = zarr.open_array(tmp_path, mode="r+", config={"locking": "process"})
    with pytest.raises(OSError, match="ProcessSynchronizer"):
        careful[1] = 3
    assert array[:3].tolist() == [0, 1, 2]


def test_nodes_whose_folder_is_not_there_yet_are_locked_above(tmp_path: Path) -> None:
    scope = LockScope("x/y/z", None, False)
    (place,) = folders.places(str(tmp_path), scope, ["x/y/z/zarr.json"], "node")
    lock = folders.lock_place(place)
    assert lock is not None
    assert lock.held
    assert lock.folder.path == str(tmp_path)
    assert FolderLock(Folder(str(tmp_path)), ("node:x/y/z",)).try_acquire() == folders.BUSY
    lock.close()
    assert list(tmp_path.iterdir()) == []
