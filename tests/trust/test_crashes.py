"""Whatever dies or fails when: the old state or the new, whole; no litter; the right error; a retry works.

A writer is killed before its file operations in turn, and each of them fails in turn, by a small library that is
preloaded (``crash/faults.c``). While another process waits for it, it is killed before each of its system calls, also
those that change no file (``crash/stops.py``). By default some places of each operation are tried;
``ZARR_TEST_CRASH=full`` tries all.
"""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.trust.crash.scenarios import SCENARIOS

HERE = Path(__file__).parent / "crash"
ROOT = HERE.parent.parent.parent
FULL = os.environ.get("ZARR_TEST_CRASH") == "full"
STORES = ["local", "zip", "sqlite", "lmdb"]
FAULTS = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC, "EINTR": errno.EINTR, "short": 0}

Ask = Callable[..., Any]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="preloads a library, which is done for Linux"),
]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Asks the process that is hit for a sweep; what it answers are complaints."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler for the library that lets file operations fail")
    folder = tmp_path_factory.mktemp("crash")
    library = folder / "faults.so"
    built = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(HERE / "faults.c"), "-ldl"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if built.returncode != 0:
        pytest.skip(f"the library that lets file operations fail cannot be built here: {built.stderr[:200]}")
    variables = {"LD_PRELOAD": str(library), "ZARR_TEST_FAULTS": str(library), "OPENBLAS_NUM_THREADS": "1"}
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.trust.crash.worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, **variables, "PYTHONPATH": path},
    )  # fmt: skip
    assert worker.stdin is not None
    assert worker.stdout is not None

    def ask_worker(**request: Any) -> Any:
        worker.stdin.write(json.dumps({"folder": str(folder / "case"), **request}) + "\n")
        worker.stdin.flush()
        answer = json.loads(worker.stdout.readline())
        assert "crash" not in answer, answer["crash"]
        return answer["answer"]

    yield ask_worker
    worker.stdin.close()
    worker.wait(60)


def needs(store: str) -> None:
    if store == "lmdb" and importlib.util.find_spec("lmdb") is None:
        pytest.skip("lmdb is not installed")


def sweep(quick: int) -> dict[str, int]:
    return {} if FULL else {"most": quick}


CASES = [(store, name) for store in STORES for name in SCENARIOS]


@pytest.mark.parametrize(("store", "scenario"), CASES)
def test_killed_before_an_operation(ask: Ask, store: str, scenario: str) -> None:
    needs(store)
    assert ask(store=store, scenario=scenario, what="kill", **sweep(3)) == []


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("store", "scenario"), CASES)
def test_an_operation_fails(ask: Ask, store: str, scenario: str, fault: str) -> None:
    needs(store)
    what = "short" if fault == "short" else "fail"
    first = sorted(FAULTS).index(fault)
    assert ask(store=store, scenario=scenario, what=what, code=FAULTS[fault], first=first, **sweep(2)) == []


@pytest.mark.parametrize("store", STORES)
def test_killed_at_random(ask: Ask, store: str) -> None:
    """250 times in each store, if all is asked for."""
    needs(store)
    count = -(-250 // len(SCENARIOS)) if FULL else 1
    for seed, name in enumerate(SCENARIOS):
        assert ask(store=store, scenario=name, what="random", count=count, seed=seed) == [], name


# Two that write whole chunks do not wait for each other: the second one writes a part.
OTHERS = {"write": "write_part", "write_shards": "write_part_of_shard"}
WAITERS = {
    "a part of a chunk": ("write_part", "g/x", "g/x/c/0"),
    "a part of a shard": ("write_part_of_shard", "g/x", "g/x/c/0"),
    "an array": ("attributes", "g/x", "g/x/zarr.json"),
    "a group": ("group_attributes", "g", "g/zarr.json"),
}


def check_nobody_waits(answer: dict[str, Any] | None) -> None:
    if answer is None:
        pytest.skip("no process may stop its child before system calls here (ptrace)")
    assert answer["said"] == []


@pytest.mark.timeout(900)  # for all places
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nobody_waits_for_a_dead_process(ask: Ask, scenario: str) -> None:
    """With default settings: one is stopped before a system call, another one begins, the first is killed.

    The second one ends soon, and what it was told to do is done. The first one has done all or nothing.
    """
    other = OTHERS.get(scenario, scenario)
    answer = ask(store="local", scenario=scenario, other=other, what="stop", **sweep(1))
    check_nobody_waits(answer)
    assert not FULL or answer["waited"], "no process had to wait: nothing is shown"


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "shared"])
@pytest.mark.parametrize("what", WAITERS)
def test_nobody_waits_for_one_that_died_while_it_waited(ask: Ask, what: str, shared: bool) -> None:
    """The lock is held by a third one meanwhile, alone or shared; then it is free for all."""
    scenario, node, key = WAITERS[what]
    check_nobody_waits(
        ask(store="local", scenario=scenario, what="wait", node=node, key=key, shared=shared, **sweep(2))
    )


class Disk:
    """What would be on the disk, as the order of file operations tells: which files, and which names."""

    def __init__(self) -> None:
        self.unsynced: set[str] = set()
        self.names: dict[str, str] = {}

    def see(self, name: str, path: str, other: str) -> None:
        if name in {"create", "write", "truncate"}:
            self.unsynced.add(path)
        elif name == "sync":
            self.unsynced.discard(path)
            self.names = {place: folder for place, folder in self.names.items() if folder != path}
        elif name in {"rename", "link", "exchange"}:
            early = [file for file in self.unsynced if file == path or file.startswith(f"{path}/")]
            assert not early, f"{name} {path} {other}: not synced yet: {early}"
            self.names[other] = os.path.dirname(other)
        elif name == "mkdir":
            self.names[path] = os.path.dirname(path)
        if name in {"rename", "unlink"}:
            for gone in [place for place in self.names if place == path or place.startswith(f"{path}/")]:
                del self.names[gone]
            self.unsynced.discard(path)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_what_is_renamed_was_synced(ask: Ask, scenario: str) -> None:
    """With ``fsync``: no file gets its name before its bytes are on the disk, and each new name is synced after.

    That goes for documents as for chunks, however they come to their place.
    """
    disk = Disk()
    for call in ask(store="local", scenario=scenario, what="calls", fsync=True):
        disk.see(*call)
    lost = [path for path in (*disk.unsynced, *disk.names) if ".partial" not in path]
    assert not lost, f"not synced, or under a name that was not: {sorted(lost)}"


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_zip_archive_is_synced_in_order(ask: Ask, scenario: str) -> None:
    """With ``fsync``: values before the directory that names them, and all of it before the call returns."""
    disk = Disk()
    for call in ask(store="zip", scenario=scenario, what="calls", fsync=True):
        disk.see(*call)
    assert not disk.unsynced
    assert not [place for place in disk.names if ".partial" not in place]
