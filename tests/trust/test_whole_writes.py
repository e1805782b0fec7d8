"""Whole values written in bulk, and parts of the same values written one by one, do not undo each other."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import KINDS, make_store, rounds, run_together
from zarr.runners.locks.table import LOCKS, Claim, wait_async
from zarr.storage import MemoryStore

STEP = 5.0


class PausedBulk(MemoryStore):
    """Stops at the first reading or writing of a chunk in a thread of one name, until it is told to go on."""

    def __init__(self, name: str, method: str) -> None:
        super().__init__()
        self.name, self.method = name, method
        self.armed, self.reached, self.go_on = False, threading.Event(), threading.Event()

    def pause(self, method: str) -> None:
        if self.armed and method == self.method and threading.current_thread().name == self.name:
            self.armed = False
            self.reached.set()
            assert self.go_on.wait(STEP)

    def _set_payloads(self, items: Any) -> None:
        self.pause("set")
        super()._set_payloads(items)


class Paused(PausedBulk):
    """The same for a store of which single values are seen to, one after the other."""

    def get_sync(self, key: str, **options: Any) -> Any:
        found = super().get_sync(key, **options)
        self.pause("get")
        return found

    def set_sync(self, key: str, value: Any) -> None:
        self.pause("set")
        super().set_sync(key, value)


def start(name: str, action: Any) -> threading.Thread:
    thread = threading.Thread(target=action, name=name, daemon=True)
    thread.start()
    return thread


def write(array: Any, region: Any, value: Any) -> Any:
    def action() -> None:
        array[region] = value

    return action


@pytest.mark.parametrize("shards", [None, 8])
def test_whole_write_waits_for_a_partial_write_that_has_read(shards: int | None) -> None:
    """The partial write has read its chunk; the whole one must come before that reading, or after the writing."""
    store = Paused("partial", "get")
    array = zarr.create_array(store, shape=16, chunks=4, shards=shards, dtype="i4")
    array[:] = 1
    store.armed = True
    partial = start("partial", write(array, slice(1, 2), 7))
    assert store.reached.wait(STEP)
    whole = start("whole", write(array, slice(None), 2))
    whole.join(0.2)
    assert whole.is_alive()
    store.go_on.set()
    partial.join(STEP)
    whole.join(STEP)
    np.testing.assert_array_equal(array[:], np.full(16, 2))
    assert len(LOCKS) == 0


@pytest.mark.parametrize("shards", [None, 8])
@pytest.mark.parametrize("kind", [Paused, PausedBulk])
def test_partial_write_waits_for_a_whole_write_under_way(kind: Any, shards: int | None) -> None:
    """The whole write has begun: a partial one that came before it would read what is about to be replaced."""
    store = kind("whole", "set")
    array = zarr.create_array(store, name="one", shape=16, chunks=4, shards=shards, dtype="i4")
    array[:] = 1
    store.armed = True
    whole = start("whole", write(array, slice(None), 2))
    assert store.reached.wait(STEP)
    partial = start("partial", write(array, slice(1, 2), 7))
    partial.join(0.2)
    assert partial.is_alive()
    beside = zarr.create_array(store, name="one-more", shape=4, dtype="i4")
    other = start("other", write(beside, slice(1, 2), 7))
    other.join(STEP)
    assert not other.is_alive(), "another array has nothing to do with it"
    store.go_on.set()
    whole.join(STEP)
    partial.join(STEP)
    np.testing.assert_array_equal(array[:], [2, 7, *[2] * 14])
    assert len(LOCKS) == 0


def test_parts_of_other_chunks_do_not_wait() -> None:
    store = PausedBulk("whole", "set")
    array = zarr.create_array(store, shape=64, chunks=4, dtype="i4")
    store.armed = True
    whole = start("whole", write(array, slice(0, 32), 2))
    assert store.reached.wait(STEP)
    array[33] = 7
    assert whole.is_alive()
    store.go_on.set()
    whole.join(STEP)
    assert array[30:35].tolist() == [2, 2, 0, 7, 0]


def test_deletes_of_filled_chunks_are_whole_writes() -> None:
    store = Paused("partial", "get")
    array = zarr.create_array(store, shape=16, chunks=4, dtype="i4")
    array[:] = 1
    store.armed = True
    partial = start("partial", write(array, slice(1, 2), 7))
    assert store.reached.wait(STEP)
    whole = start("whole", write(array, slice(None), 0))
    whole.join(0.2)
    store.go_on.set()
    partial.join(STEP)
    whole.join(STEP)
    np.testing.assert_array_equal(array[:], np.zeros(16))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shards", [None, 8])
@pytest.mark.parametrize("compressor", [None, "auto"])
def test_random_races(kind: str, shards: int | None, compressor: Any, tmp_path: Any) -> None:
    """Each chunk ends as its last whole write, with those partial writes that came after it and no others.

    The partial writers own one element each and count up; the whole writer sets all to minus one. In the end each
    element is minus one or the last number of its owner: an older number would be an update that was undone.
    """
    for number in range(rounds(4, 75)):
        store = make_store(kind, tmp_path / str(number))
        array = zarr.create_array(store, shape=16, chunks=4, shards=shards, dtype="i4", compressors=compressor)
        handles = [zarr.open_array(store, mode="r+") if kind != "zip" else array for _ in range(4)]
        array[:] = -1
        last = 6

        def count(place: int, handle: Any, last: int = last) -> None:
            for value in range(1, last + 1):
                handle[place] = value
                assert handle[place] in (value, -1)

        def replace(handle: Any = handles[3]) -> None:
            for _ in range(3):
                handle[:] = -1

        run_together([*[lambda p=p, h=h: count(p, h) for p, h in zip((0, 5, 6), handles, strict=False)], replace])
        found = array[:]
        assert set(found[[0, 5, 6]].tolist()) <= {-1, last}, found
        assert set(np.delete(found, [0, 5, 6]).tolist()) == {-1}
        store.close()
    assert len(LOCKS) == 0


@pytest.mark.parametrize("kind", ["memory", "local"])
async def test_tasks(kind: str, tmp_path: Any) -> None:
    store = make_store(kind, tmp_path)
    array = await zarr.api.asynchronous.create_array(store, shape=4096, chunks=64, dtype="i8")
    for value in range(rounds(5, 50)):
        parts = [array.setitem(slice(64 * i + 1, 64 * i + 2), value + 1) for i in range(64)]
        await asyncio.gather(*parts, array.setitem(slice(None), 0))
        found = await array.getitem(slice(None))
        assert set(found[1::64].tolist()) <= {0, value + 1}
        found[1::64] = 0
        assert not found.any()
    assert len(LOCKS) == 0


def test_claims_share_and_hand_on() -> None:
    first, second = (Claim("chunk:s/c", 2, lambda: ["chunk:s/c/0", "chunk:s/c/1"]) for _ in range(2))
    assert LOCKS.claim(first, lambda name: False)
    assert LOCKS.claim(second, lambda name: False)
    assert not LOCKS.try_acquire("chunk:s/c/0")
    assert LOCKS.try_acquire("chunk:s/c/2")
    LOCKS.release("chunk:s/c/2")
    LOCKS.end_claim(first)
    assert not LOCKS.try_acquire("chunk:s/c/0"), "the second one has it now"
    third = Claim("chunk:s/c", 1, lambda: ["chunk:s/c/0"])
    assert not LOCKS.claim(third, lambda name: False), "somebody waits for it already"
    LOCKS.end_claim(second)
    assert LOCKS.try_acquire("chunk:s/c/0")
    assert LOCKS.claim(third, lambda name: name == "chunk:s/c/0"), "what is one's own is in nobody's way"
    LOCKS.end_claim(third)
    LOCKS.release("chunk:s/c/0")
    assert len(LOCKS) == 0


def test_large_claims_name_no_keys() -> None:
    def never() -> list[str]:
        raise AssertionError("these are too many to be named")

    claim = Claim("chunk:s/a/", 10**9, never)
    assert claim.covers("chunk:s/a/c/0")
    assert not claim.covers("chunk:s/b/c/0")


def test_many_who_take_and_let_go_exclude_each_other() -> None:
    """Threads, tasks and claims want few keys; some give up; nobody is left waiting, and no two are in at once."""
    inside = dict.fromkeys(("chunk:t/0", "chunk:t/1"), 0)
    entries = []

    def use(name: str) -> None:
        inside[name] += 1
        assert inside[name] == 1
        time.sleep(0)
        entries.append(name)
        inside[name] -= 1

    def thread(number: int, turns: int) -> None:
        for turn in range(turns):
            name = f"chunk:t/{(number + turn) % 2}"
            LOCKS.acquire(name)
            use(name)
            LOCKS.release(name)

    def tasks(turns: int) -> None:
        async def one(number: int) -> None:
            name = f"chunk:t/{number % 2}"
            try:
                await asyncio.wait_for(wait_async(LOCKS.acquiring(name)), 0.0005 if number % 3 else None)
            except TimeoutError:
                return
            use(name)
            LOCKS.release(name)

        async def all_of_them() -> None:
            await asyncio.gather(*(one(number) for number in range(turns)))

        asyncio.run(all_of_them())

    def claimant(turns: int) -> None:
        for _ in range(turns):
            claim = Claim("chunk:t/", 1, lambda: ["chunk:t/0"])
            if LOCKS.claim(claim, lambda name: False):
                use("chunk:t/0")
                LOCKS.end_claim(claim)

    turns = rounds(150, 3000)
    run_together([*[lambda n=n: thread(n, turns) for n in range(4)], lambda: tasks(turns), lambda: claimant(turns)])
    assert len(entries) > 4 * turns
    assert len(LOCKS) == 0
