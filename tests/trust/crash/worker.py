"""The process that is hit: it loads the library once, and forks a child for each case.

Started with the fault library preloaded. Each line of input is a request in JSON, each line of output the answer.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import json
import os
import random
import select
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import zarr
from tests.trust.crash.scenarios import SCENARIOS, Scenario, open_store
from tests.trust.crash.stops import NotTracedError, Stopped
from zarr.runners.locks.folders import lock_place, places
from zarr.steps.requests import LockScope

warnings.simplefilter("ignore")
COUNT, KILL, FAIL, SHORT = range(4)
FAULTS = ctypes.CDLL(os.environ["ZARR_TEST_FAULTS"])
FAULTS.faults_arm.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_int]
FAULTS.faults_disarm.restype = ctypes.c_long
PATIENCE_SECONDS = 30
SOON_SECONDS = 10
LOOK_SECONDS = 0.2
"""So long one looks whether a process waits for another one; it is killed after, whatever it did."""
CALLS_OF_A_WAIT = 30
"""So many more system calls are tried of who waits: what it does again and again is among them."""


def in_child(action: Callable[[], Any], kill_after: float | None = None) -> Any:
    """What an action returns in a forked child; None where the child died."""
    pid, pipe = start(action)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(pid, signal.SIGKILL)
    return finish(pid, pipe)


def start(action: Callable[[], Any]) -> tuple[int, int]:
    """Begin an action in a forked child: its number, and the pipe from which its answer is read."""
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(here)
        try:
            answer = {"answer": action()}
        except BaseException as error:
            answer = {"crash": f"{type(error).__name__}: {error}"}
        data = json.dumps(answer).encode()
        while data:
            data = data[os.write(there, data) :]
        os._exit(0)
    os.close(there)
    return pid, here


def finish(pid: int, pipe: int) -> Any:
    """Wait for what was begun; None where the child died."""
    with os.fdopen(pipe, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    if not data:
        return None
    try:
        answer = json.loads(data)
    except ValueError:
        return None
    if "crash" in answer:
        raise RuntimeError(answer["crash"])
    return answer["answer"]


# What is there


def state_of(store: Any) -> dict[str, Any]:
    """All nodes of a store with what they hold, as JSON."""
    nodes: dict[str, Any] = {}
    keys = sorted(store.list_sync())
    names = {key.rpartition("/")[0] for key in keys if key.rpartition("/")[2] in {"zarr.json", ".zarray", ".zgroup"}}
    for path in sorted(names):
        node = zarr.open(store, path=path, mode="r")
        if isinstance(node, zarr.Group):
            copy = node.metadata.consolidated_metadata
            listed = None if copy is None else sorted(copy.metadata)
            nodes[path] = {"attributes": dict(node.attrs), "consolidated": listed}
        else:
            values = np.asarray(node[...]).tolist()
            nodes[path] = {"attributes": dict(node.attrs), "shape": list(node.shape), "values": values}
    return nodes


def is_mixture(found: Any, old: Any, new: Any) -> bool:
    """Whether each chunk is an old or a new one; the arrays of the scenarios have chunks (or shards) of four."""
    if {**found, "g/x": 0} != {**old, "g/x": 0}:
        return False
    a, b, c = (np.array(state["g/x"]["values"]) for state in (found, old, new))
    parts = [slice(start, start + 4) for start in range(0, len(b), 4)]
    return len(a) == len(b) and all((a[p] == b[p]).all() or (a[p] == c[p]).all() for p in parts)


def litter(folder: Path) -> list[str]:
    """Files and folders that no one needs."""
    found = []
    for place, folders, files in os.walk(folder):
        found += [os.path.join(place, name) for name in [*folders, *files] if ".partial" in name]
    return found


class Case:
    """One scenario over one kind of store."""

    def __init__(self, kind: str, name: str, folder: str, fsync: bool = False) -> None:
        self.kind, self.name, self.fsync = kind, name, fsync
        self.scenario: Scenario = SCENARIOS[name]
        self.template = Path(folder) / "template"
        self.work = Path(folder) / "work"
        shutil.rmtree(folder, ignore_errors=True)
        self.template.mkdir(parents=True)
        in_child(lambda: self.with_store(self.scenario.prepare, self.template))
        self.old, self.old_keys = in_child(lambda: self.look(self.template))
        self.renew()
        in_child(lambda: self.with_store(self.scenario.act, self.work))
        self.new, self.new_keys = in_child(lambda: self.look(self.work))

    def renew(self) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.template, self.work)

    def with_store(self, action: Callable[[Any], Any], folder: Path, fsync: bool = False) -> Any:
        """Open, act, close; what the action returns, if it is JSON."""
        store = open_store(self.kind, folder, fsync)
        try:
            answer = action(store)
        finally:
            store.close()
        return answer if isinstance(answer, dict | list) else None

    def look(self, folder: Path) -> Any:
        """The nodes of the store, and its keys."""
        return self.with_store(lambda store: [state_of(store), list(store.list_sync())], folder)

    # The hit

    def hit(self, mode: int, place: int, code: int = 0, log: int = -1) -> Any:
        """Run the operation with a fault: how many file operations there were, and the error, if any."""

        def act() -> Any:
            signal.alarm(PATIENCE_SECONDS)
            error: list[Any] | None = None
            FAULTS.faults_arm(mode, place, code, log)
            try:
                self.with_store(self.scenario.act, self.work, self.fsync)
            except Exception as caught:
                number = next((e.errno for e in _chain(caught) if isinstance(e, OSError) and e.errno), None)
                error = [type(caught).__name__, number, str(caught)]
            return {"count": FAULTS.faults_disarm(), "error": error}

        return in_child(act)

    def judge(self, what: str, done: bool = False) -> list[str]:
        """Look at what a hit left; the complaints. What was said to be done must be there."""
        said: list[str] = []
        try:
            found, keys = in_child(lambda: self.look(self.work))
        except RuntimeError as error:
            return [f"{what}: cannot be read: {error}"]
        whole = found in (self.old, self.new)
        if not whole and not (self.scenario.piecewise and is_mixture(found, self.old, self.new)):
            said.append(f"{what}: neither old nor new: {found}")
        if done and found != self.new:
            said.append(f"{what}: not done, without an error: {found}")
        said += [f"{what}: litter {name}" for name in litter(self.work)]
        said += [f"{what}: stray key {key}" for key in set(keys) - set(self.old_keys) - set(self.new_keys)]
        if found != self.new:
            said += self.retry(what)
        if "g/x" in (found or {}) and "shape" in found["g/x"] and self.name.startswith(("append", "shrink", "grow")):
            said += self.grow(what)
        return said

    def retry(self, what: str) -> list[str]:
        def again() -> Any:
            self.with_store(self.scenario.act, self.work)
            return self.look(self.work)[0]

        try:
            found = in_child(again)
        except RuntimeError as error:
            return [f"{what}: the retry failed: {error}"]
        said = [] if found == self.new else [f"{what}: after a retry: {found}"]
        return said + [f"{what}: litter after a retry {name}" for name in litter(self.work)]

    def grow(self, what: str) -> list[str]:
        """Nothing may come back that was cut off, or never became part of the array."""

        def act(store: Any) -> list[str]:
            array = zarr.open_array(store, path="g/x", mode="r+")
            before, shape = array[...], array.shape
            array.resize(tuple(40 for _ in shape))
            expected = np.zeros(array.shape, array.dtype)
            expected[tuple(slice(0, n) for n in shape)] = before
            return [] if (array[...] == expected).all() else [f"{what}: old data came back: {array[...].tolist()}"]

        answer: list[str] = in_child(lambda: self.with_store(act, self.work))
        return answer

    # Sweeps

    def count(self) -> int:
        self.renew()
        return int(self.hit(COUNT, -1)["count"])

    def kills(self, places: Iterator[int]) -> list[str]:
        said = []
        for place in places:
            self.renew()
            self.hit(KILL, place)
            said += self.judge(f"killed before operation {place}")
        return said

    def failures(self, places: Iterator[int], mode: int, code: int) -> list[str]:
        said = []
        for place in places:
            self.renew()
            answer = self.hit(mode, place, code)
            what = f"operation {place} failed with {code}" if code else f"operation {place} was short"
            if answer is None:
                said.append(f"{what}: the process died or hung")
                continue
            error = answer["error"]
            # What SQLite was told by the system it does not hand on, save that a write found no room.
            told = (code, errno.EIO) if self.kind == "sqlite" else (code,)
            # LMDB takes a short write for a full disk.
            told = (errno.ENOSPC,) if self.kind == "lmdb" and not code else told
            if error is not None and error[1] not in told:
                said.append(f"{what}: raised {error}")
            said += self.judge(what, done=error is None)
        return said

    def random_kills(self, count: int, seed: int) -> list[str]:
        draw = random.Random(seed)
        self.renew()
        start = time.perf_counter()
        self.hit(COUNT, -1)
        whole = time.perf_counter() - start
        said = []
        for _ in range(count):
            self.renew()
            after = draw.uniform(0, whole)
            in_child(lambda: self.with_store(self.scenario.act, self.work), kill_after=after)
            said += self.judge(f"killed after {after * 1e3:.2f} ms")
        return said

    def calls(self) -> list[list[str]]:
        """The file operations in order: name, path, other path."""
        self.renew()
        log = self.template.parent / "log"
        with open(log, "wb") as file:
            answer = self.hit(COUNT, -1, log=file.fileno())
        assert answer["error"] is None, answer
        return [line.split("\t") for line in log.read_text(errors="replace").splitlines()]

    # Who is stopped and killed while others wait

    def act_next(self, act: Callable[[Any], object]) -> list[str]:
        """Act on what is there; the error, if any. It is killed if that takes long."""
        signal.alarm(SOON_SECONDS)
        try:
            self.with_store(act, self.work)
        except Exception as error:
            return [type(error).__name__]
        return []

    def stop(self, place: int) -> Stopped:
        self.renew()
        return Stopped(self.act, place)

    def act(self) -> None:
        self.with_store(self.scenario.act, self.work)

    def ends(self, act: Callable[[Any], object]) -> dict[str, Any]:
        """What is there, with the error and the keys, where an operation comes first, and where it comes second."""
        found = {}
        for name in ("first", "second"):
            self.renew()
            if name == "second":
                in_child(self.act)
            found[name] = [in_child(lambda: self.act_next(act)), *in_child(lambda: self.look(self.work))]
        return found

    def stops(self, other: str, most: int | None) -> dict[str, Any]:
        """Stop the operation before its system calls in turn, let another process act, and kill the first.

        The other one may wait for the first while that one lives. Then it ends soon, with all that it wrote.
        """
        act = SCENARIOS[other].act
        count, ends = self.stop(-1).seen, self.ends(act)
        said, waited = [], 0
        for place in spread(count, most):
            holder = self.stop(place)
            pid, pipe = start(lambda: self.act_next(act))
            waited += not select.select([pipe], [], [], LOOK_SECONDS)[0]
            holder.kill()
            said += self.judge_next(f"killed before system call {place}", finish(pid, pipe), ends)
        return {"said": said, "calls": count, "waited": waited}

    def judge_next(self, what: str, error: list[str] | None, ends: dict[str, Any]) -> list[str]:
        """Look at what is there after the second process; it has done all, the first one all or nothing."""
        if error is None:
            return [f"{what}: another process waits for the dead one"]
        found, keys = in_child(lambda: self.look(self.work))
        (_, old, old_keys), (_, new, new_keys) = ends["first"], ends["second"]
        said = [f"{what}: litter {name}" for name in litter(self.work)]
        said += [f"{what}: stray key {key}" for key in set(keys).difference(self.old_keys, old_keys, new_keys)]
        # A transaction that has looked before the first one was carried out says so, and changes nothing.
        whole = [error, found] in [*(end[:2] for end in ends.values()), [["TransactionConflictError"], self.new]]
        if not whole and not (self.scenario.piecewise and error == [] and is_mixture(found, old, new)):
            said.append(f"{what}: the other process ended with {error or 'no error'} and left {found}")
        return said

    def waiters(self, node: str, key: str, shared: bool, most: int | None) -> dict[str, Any]:
        """Kill the operation before its system calls in turn while it waits for a lock, which is held here."""
        scope, root = LockScope(node, None, False), str(self.work / "data.zarr")
        family = "chunk" if "/c/" in key else "node"
        calls, ends = self.stop(-1).seen + CALLS_OF_A_WAIT, self.ends(self.scenario.act)
        ends["second"] = ends["first"]  # who waited has done nothing
        said = []
        for place in spread(calls, most):
            self.renew()
            (name,) = places(root, scope, [key], family)
            name.shared = shared
            lock = lock_place(name)
            assert lock is not None
            waiter = Stopped(self.act, place)
            what = f"a waiter killed before system call {place}"
            said += [f"{what}: it did not wait"] if waiter.ended else []
            waiter.kill()
            lock.close()
            said += self.judge_next(what, in_child(lambda: self.act_next(self.scenario.act)), ends)
        return {"said": said, "calls": calls}

    def load_modules(self) -> None:
        """Import here what the cases import, which each child would do anew: that is nine tenths of its time."""
        self.renew()

        def names() -> list[str]:
            self.with_store(self.scenario.act, self.work)
            self.look(self.work)
            return sorted(name for name, module in sys.modules.items() if getattr(module, "__spec__", None))

        for name in set(in_child(names)) - set(sys.modules):
            importlib.import_module(name)


def spread(count: int, most: int | None) -> range:
    """Some of so many places, all of them by default."""
    step = max(1, -(-count // (most or count)))
    return range((step - 1) // 2, count, step)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def serve(request: dict[str, Any]) -> Any:
    """Answer one request: a sweep of one scenario."""
    case = Case(request["store"], request["scenario"], request["folder"], request.get("fsync", False))
    case.load_modules()
    what = request["what"]
    if what == "calls":
        return case.calls()
    if what in ("stop", "wait"):
        try:
            if what == "stop":
                return case.stops(request["other"], request.get("most"))
            return case.waiters(request["node"], request["key"], request["shared"], request.get("most"))
        except NotTracedError:
            return None
    if what == "random":
        return case.random_kills(request["count"], request["seed"])
    count = case.count()
    step = max(1, -(-count // request.get("most", count or 1)))
    places = iter(range(request.get("first", 0) % step, count, step))
    if what == "kill":
        return case.kills(places)
    return case.failures(places, SHORT if what == "short" else FAIL, request.get("code", 0))


def main() -> None:
    for line in sys.stdin:
        try:
            answer = {"answer": serve(json.loads(line))}
        except Exception as error:
            answer = {"crash": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
