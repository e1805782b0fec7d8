"""Ctrl-C at any moment of a bulk write, a transaction's commit and the end of a batch, on each kind of store.

It returns soon, nothing is written after it, what is stored is the old state or the new, no lock is left, and the store
works on: in this process, and for who opens it next.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import KINDS, SLOWNESS, make_store, open_descriptors, rounds
from zarr.runners.locks.table import GIL, LOCKS
from zarr.storage import LMDBStore, LocalStore, SQLiteStore, ZipStore
from zarr.storage.keys import JOURNAL_FOLDER

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="posix signals")
SOON = 1.0 * SLOWNESS
COUNT, WIDTH = 60, 500
"""Chunks, and elements of each: of several kilobytes, so that stores write for a while."""


def interrupt_after(seconds: float, action: Callable[[], Any]) -> float | None:
    """Do something while Ctrl-C is pressed a while after it began; how long it went on then, or None: it was done."""
    pressed: list[float] = []

    def handler(*_: object) -> None:
        pressed.append(time.process_time())
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            action()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return time.process_time() - pressed[0]
    finally:
        signal.signal(signal.SIGALRM, former)
    return None


def opened_again(kind: str, store: Any) -> Any:
    """The same data as another process finds it."""
    if kind == "memory":
        return store
    if kind == "local":
        return LocalStore(store.root, read_only=True)
    if kind == "zip":
        return ZipStore(store.path, mode="r")
    return (SQLiteStore if kind == "sqlite" else LMDBStore)(store.path, read_only=True)


def bulk(array: Any, value: int) -> None:
    array[...] = value


def in_batch(array: Any, value: int) -> None:
    with array.batch():
        for row in range(0, COUNT, 7):
            array[row : row + 7] = value


def in_transaction(array: Any, value: int) -> None:
    with zarr.transaction(array.store) as inside:
        zarr.open_array(inside, path="a")[...] = value
        zarr.open_group(inside).attrs["value"] = value


WAYS = {"bulk": bulk, "batch": in_batch, "transaction": in_transaction}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_at_any_moment(kind: str, way: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    group = zarr.create_group(store, attributes={"value": 1})
    codec = zarr.codecs.ZstdCodec(level=1)
    array = group.create_array("a", shape=(COUNT, WIDTH), chunks=(1, WIDTH), dtype="i4", compressors=codec)
    array[...] = 1
    act = WAYS[way]
    act(array, 1)  # what is loaded and opened once
    chance, value, hits, took = random.Random(7), 1, 0, 10.0
    threads, files = threading.active_count(), open_descriptors()
    for turn in range(rounds(10 if (kind, way) == ("local", "transaction") else 30, 1000)):
        begin = time.monotonic()
        value += 1
        act(array, value)  # it works on
        took = min(took, time.monotonic() - begin)
        late = interrupt_after(chance.uniform(1e-5, 1.1 * took), lambda value=value: act(array, value + 1))
        hits += late is not None
        assert late is None or late < SOON
        found = array[:, 0]
        time.sleep(0.002)
        assert len(LOCKS) == 0, list(LOCKS.queues)
        np.testing.assert_array_equal(array[:, 0], found, err_msg="nothing is written after")
        assert set(found.tolist()) <= {value, value + 1}
        if way == "transaction":
            assert zarr.open_group(store, mode="r").attrs["value"] == found[0]
            assert len(set(found.tolist())) == 1, "a transaction is stored whole or not at all"
        if late is None:
            assert set(found.tolist()) == {value + 1}
        value += 1
        assert hits or turn < 9
    act(array, value)
    np.testing.assert_array_equal(array[:, -1], value)
    assert threading.active_count() <= threads + 3
    # SQLite closes some with the last connection to a file, which may be later without the GIL.
    assert open_descriptors() <= files + 4 or (kind == "sqlite" and not GIL)
    if kind == "zip":
        store.commit()
    np.testing.assert_array_equal(zarr.open_array(opened_again(kind, store), path="a", mode="r")[:, 0], value)
    store.close()


def test_ctrl_c_just_after_the_journal_got_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LocalStore(tmp_path)
    zarr.create_group(store, attributes={"value": 1})
    rename, pressed = os.rename, []

    def press(source: Any, target: Any) -> None:
        rename(source, target)
        if str(target).endswith(JOURNAL_FOLDER) and not pressed:
            pressed.append(target)
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", press)
    for expected in (1, 3):
        with suppress(KeyboardInterrupt), zarr.transaction(store) as inside:
            zarr.open_group(inside).attrs["value"] = 3
        assert zarr.open_group(store, mode="r").attrs["value"] == expected
    assert pressed
    assert {path.name for path in tmp_path.iterdir()} == {"zarr.json"}
