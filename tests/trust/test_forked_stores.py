"""Databases in one file, forked amid all that threads do with them: parent, child and grandchild use them on."""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import SHARED_KINDS, make_store, rounds
from zarr.errors import TransactionConflictError

METHODS = [method for method in ("fork", "spawn") if method in multiprocessing.get_all_start_methods()]
WAYS = [pytest.param(method, marks=pytest.mark.slow) if method == "spawn" else method for method in METHODS]
PROCESS = {"locking": "process"}


def work_on(store: Any, name: str, depth: int = 0) -> None:
    """Read, write, list, make, change and remove, by a store that came along; and once more in a child of the child."""
    array = zarr.open_array(store, path="a", config=PROCESS)
    assert array.shape == (8, 64)
    row = 4 + depth
    array[row, :] = 5
    assert set(array[row].tolist()) == {5}
    group = zarr.open_group(store)
    group.create_group(name, attributes={"by": name})
    assert name in set(group.group_keys())
    with zarr.transaction(store) as inside:
        zarr.open_group(inside, path=name).create_array("x", data=np.arange(3))
    assert group[f"{name}/x"][:].tolist() == [0, 1, 2]
    del group[name]
    if depth == 0 and multiprocessing.get_start_method() == "fork":
        child = multiprocessing.get_context("fork").Process(target=work_on, args=(store, f"{name}-below", 1))
        child.start()
        child.join(60)
        assert child.exitcode == 0


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("method", WAYS)
@pytest.mark.parametrize("kind", SHARED_KINDS)
def test_children_made_amid_the_work_of_threads(method: str, kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    root = zarr.create_group(store)
    array = root.create_array("a", shape=(8, 64), chunks=(1, 16), dtype="i4")
    stop, errors = threading.Event(), []

    def write() -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            array[0:4] = turn
            array[1, 3:40] = turn

    def look() -> None:
        while not stop.is_set():
            list(store.list_sync())
            array[...]

    def change() -> None:
        group = zarr.open_group(store)
        for turn in range(1_000_000):
            if stop.is_set():
                return
            group.create_group(f"mine/{turn}").attrs["turn"] = turn
            with contextlib.suppress(TransactionConflictError), zarr.transaction(store) as inside:
                zarr.open_group(inside, path="mine").attrs["last"] = turn
            del group[f"mine/{turn}"]

    def guarded(action: Any) -> None:
        try:
            action()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(action,), daemon=True) for action in (write, look, change)]
    for thread in threads:
        thread.start()
    context = multiprocessing.get_context(method)
    try:
        for turn in range(rounds(2, 10)):
            children = [context.Process(target=work_on, args=(store, f"child-{turn}-{n}")) for n in range(2)]
            for child in children:
                child.start()
            for child in children:
                child.join(90)
            hanging = [child for child in children if child.is_alive()]
            for child in hanging:
                child.kill()
            assert not hanging
            assert [child.exitcode for child in children] == [0, 0]
    finally:
        stop.set()
        for thread in threads:
            thread.join(30)
    assert not errors, errors
    assert not any(thread.is_alive() for thread in threads)
    array[7] = 9
    assert set(zarr.open_array(store, path="a", mode="r")[4].tolist()) == {5}
    store.close()
