"""Calls at the end of a program: what atexit and threads change is stored, late calls of ``__del__`` are refused.

Nothing hangs, and nothing is damaged.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import zarr
from zarr.storage import LMDBStore, LocalStore, SQLiteStore, ZipStore

STORES: dict[str, Any] = {
    "LocalStore": LocalStore,
    "zip": lambda path: ZipStore(path, mode="a"),
    "SQLiteStore": SQLiteStore,
    **({"LMDBStore": LMDBStore} if find_spec("lmdb") else {}),
}

SETUP = """
import sys
import numpy as np
import zarr
from zarr.storage import LMDBStore, LocalStore, SQLiteStore, ZipStore
kind, path = sys.argv[1:]
store = ZipStore(path, mode='a') if kind == 'zip' else globals()[kind](path)
group = zarr.open_group(store, mode="r+")
array = group["x"]
ones = np.ones(3, "i4")
"""

WORK = """
    def work(self):
        array.append(ones)
        array[1:3] = 5
        array.oindex[[0, 2]] = 7
        array.vindex[[3]] = array.vindex[[0]]
        array.attrs["k"] = 1
        group.attrs["k"] = 2
        group.create_group("g").create_array("y", shape=4, chunks=2, dtype="f8")[...] = 2
        group["data"] = ones
        with array.batch():
            array[4] = 9
        array.resize((6,))
        del group["old"]
        group.move("moved", "here")
        zarr.consolidate_metadata(store)
"""

EARLY = {
    "atexit": "\nimport atexit; atexit.register(Last().work)",
    "thread": "\nimport threading, time; threading.Thread(target=lambda: (time.sleep(0.2), Last().work())).start()",
}
LATE = {
    "finalizer": "\n    __del__ = work\nlast = Last()",
    "in a circle": "\n    __del__ = work\nlast = Last()\nlast.me = last",
}
WAYS = EARLY | LATE


def make(kind: str, path: str) -> None:
    """Make a hierarchy of three arrays."""
    store = STORES[kind](path)
    group = zarr.create_group(store, zarr_format=2 if kind == "SQLiteStore" else 3)
    for name in ("x", "old", "moved"):
        group.create_array(name, shape=4, chunks=2, dtype="i4")
    store.close()


def end(script: str, *arguments: str) -> None:
    """Run a program to its end, of which nothing must be heard."""
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *arguments], capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("way", EARLY)
@pytest.mark.parametrize("kind", STORES)
def test_the_first_changes_of_a_program_are_made_by_its_last_calls(kind: str, way: str, tmp_path: Path) -> None:
    path = str(tmp_path / "data")
    make(kind, path)
    end(SETUP + "class Last:" + WORK + EARLY[way], kind, path)
    found = zarr.open_group(STORES[kind](path), mode="r", use_consolidated=False)
    assert found["x"][...].tolist() == [7, 5, 7, 7, 9, 1]
    assert (found["x"].attrs["k"], found.attrs["k"]) == (1, 2)
    assert found["g/y"][...].tolist() == [2, 2, 2, 2]
    assert found["data"][...].tolist() == [1, 1, 1]
    assert sorted(name for name, _ in found.members()) == ["data", "g", "here", "x"]
    found.store.close()


def guarded(work: str) -> str:
    """Return a method with a ``try`` around each statement, as ``__del__`` is given one by the interpreter."""
    lines = work.strip("\n").splitlines()
    joined = "\n".join(lines[1:]).replace("array.batch():\n            ", "array.batch(): ").splitlines()
    body = [f"        try: exec({line.strip()!r}, names)\n        except Exception: pass" for line in joined]
    return f"\n{lines[0].replace('(self)', '(self, names=dict(globals()))')}\n" + "\n".join(body)


@pytest.mark.parametrize("way", LATE)
@pytest.mark.parametrize("kind", STORES)
def test_calls_when_modules_are_gone_are_done_or_refused(kind: str, way: str, tmp_path: Path) -> None:
    path = str(tmp_path / "data")
    make(kind, path)
    end(SETUP + "class Last:" + guarded(WORK) + LATE[way], kind, path)
    found = zarr.open_group(STORES[kind](path), mode="r", use_consolidated=False)
    assert set(found["x"][...].ravel().tolist()) <= {0, 1, 5, 7, 9}
    assert found["x"].attrs.get("k", 1) == 1
    assert found.attrs.get("k", 2) == 2
    for name, array in found.arrays():
        assert name in ("data", "here", "moved", "old", "x")
        array[...]
    found.store.close()


AFTER = """
import atexit, sys
def last():
    try:
        array[1] = 5
    except ValueError as error:
        assert "the program is ending" in str(error), error
    else:
        print("not refused")
atexit.register(last)
import zarr
store = zarr.storage.ZipStore(sys.argv[1], mode="a")
array = zarr.open_group(store, mode="r+")["x"]
array[2:] = 7
"""


def test_a_zip_is_committed_at_the_end_and_refuses_later_changes(tmp_path: Path) -> None:
    """What a program had registered before it loaded the library runs after the library has closed its archives."""
    path = str(tmp_path / "a.zip")
    make("zip", path)
    end(AFTER, path)
    found = zarr.open_group(ZipStore(path), mode="r")
    assert found["x"][...].tolist() == [0, 0, 7, 7]


BEFORE = AFTER.replace("atexit.register(last)\nimport zarr", "import zarr\natexit.register(last)").replace(
    "    else:\n        print(\"not refused\")\n", ""
)


def test_a_zip_has_what_atexit_changes(tmp_path: Path) -> None:
    path = str(tmp_path / "a.zip")
    make("zip", path)
    end(BEFORE, path)
    assert zarr.open_group(ZipStore(path), mode="r")["x"][...].tolist() == [0, 5, 7, 7]


def test_a_zip_has_what_finalizers_write_that_run_after_its_own(tmp_path: Path) -> None:
    store = ZipStore(tmp_path / "a.zip", mode="w")
    array = zarr.create_array(store, shape=4, chunks=2, dtype="i4")
    for value in (1, 2, 0):  # all of a circle is finalized, in any order, and once only
        store._archive.__del__()
        array[:] = value
        with zipfile.ZipFile(tmp_path / "a.zip") as read:
            assert sorted(read.namelist()) == (["c/0", "c/1", "zarr.json"] if value else ["zarr.json"])
    store.close()


@pytest.mark.parametrize("way", WAYS)
def test_nobody_waits_for_a_thread_that_cannot_start(way: str) -> None:
    """A store of coroutines needs an event loop, whose thread cannot be started any more."""
    if way == "finalizer" and not getattr(sys, "_is_gil_enabled", lambda: True)():
        pytest.skip("without the GIL, all modules are cleared before the last objects of a program")
    pytest.importorskip("fsspec")
    script = """
import zarr, sys, os
store = zarr.storage.FsspecStore.from_url("memory://last", storage_options={"asynchronous": True})
array = zarr.create_array(store, shape=4, chunks=2, dtype="i4")
class Last:
    def work(self):
        try:
            array[1] = 5
            done = array[...].tolist() == [0, 5, 0, 0]
        except (ImportError, RuntimeError):  # of what is loaded late; and SyncError
            done = sys.is_finalizing()
        if not done:
            os._exit(1)
"""
    end(script + WAYS[way])
