"""Locks on names in a folder: never two that exclude each other, compiled and reference core side by side."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from zarr_core.reference import folder_locks as reference

HELD, BUSY, REPLACED = 0, 1, 2
NAMES = ["c/0", "c/1", "c/0/1", "ä", "\udcff", ""]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="folders have such locks on Linux only")


def cores() -> list[Any]:
    """Both implementations, where the compiled one is built."""
    try:
        from zarr_core import folder_locks as compiled
    except ImportError:
        return [reference]
    return [compiled, reference]


def excludes(names: frozenset[str] | None, shared: bool, others: frozenset[str] | None, theirs: bool) -> bool:
    """Whether two locks of different processes exclude each other; None stands for all names."""
    return not (shared and theirs) and (names is None or others is None or bool(names & others))


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int, tmp_path: Path) -> None:
    """Several processes, each a descriptor of its own; in each, a name is locked alone by one at a time."""
    chance = random.Random(seed)
    found = cores()
    homes = [found[i % len(found)] for i in range(4)]
    opened = [home.Folder(str(tmp_path)) for home in homes]
    held: list[tuple[int, frozenset[str] | None, bool, bool, Any]] = []
    for _ in range(400):
        if held and chance.random() < 0.45:
            held.pop(chance.randrange(len(held)))[-1].close()
            continue
        who, shared = chance.randrange(4), chance.random() < 0.5
        names = frozenset(chance.sample(NAMES, chance.randint(1, 3) if shared else 1))
        wanted = None if not shared and chance.random() < 0.2 else names
        if any(other == who and excludes(wanted, shared, taken, theirs) for other, taken, theirs, *_ in held):
            continue  # the table of the process keeps them apart
        many = shared and chance.random() < 0.3
        given = None if wanted is None else (lambda n=names: sorted(n)) if many else sorted(names)
        lock = homes[who].FolderLock(opened[who], given, shared)
        state = lock.try_acquire()
        for _ in range(3 if many else 0):  # first all names of the folder, then the names one by one
            state = lock.try_acquire() if state == BUSY else state
        barred = any(other != who and excludes(wanted, shared, taken, theirs) for other, taken, theirs, *_ in held)
        if state == HELD:
            assert not barred, (names, shared)
            held.append((who, wanted, shared, many, lock))
        else:
            assert state == BUSY
            # Those who share many names may bar all of the folder.
            assert barred or (not shared and any(other != who and all_ for other, _, _, all_, _ in held))
            lock.close()
    for *_, lock in held:
        lock.close()
    for who, home in enumerate(homes):
        assert opened[who].fd >= 0
        for given in (NAMES, None):
            lock = home.FolderLock(opened[who], given)
            assert lock.try_acquire() == HELD
            lock.close()


def test_locks_of_one_process_do_not_withdraw_each_other(tmp_path: Path) -> None:
    for core in cores():
        mine, other = core.Folder(str(tmp_path)), core.Folder(str(tmp_path))
        pairs = [((["a"], False), (["a"], False)), ((["a"], False), (["a"], True)), ((None, False), (None, False))]
        for first, second in pairs:
            kept, gone = core.FolderLock(mine, *first), core.FolderLock(mine, *second)
            assert kept.try_acquire() == gone.try_acquire() == HELD
            gone.close()
            assert core.FolderLock(other, ["a"], True).try_acquire() == BUSY
            assert core.FolderLock(other, ["a"]).try_acquire() == BUSY
            kept.close()
            assert core.FolderLock(other, ["a"]).try_acquire() == HELD


def test_renamed_folders(tmp_path: Path) -> None:
    for core in cores():
        place = tmp_path / core.__name__
        place.mkdir()
        folder = core.Folder(str(place))
        place.rename(tmp_path / f"{core.__name__}-moved")
        place.mkdir()
        assert core.FolderLock(folder, ("a",)).try_acquire() == REPLACED


def test_removed_folders(tmp_path: Path) -> None:
    for core in cores():
        place = tmp_path / core.__name__
        place.mkdir()
        folder = core.Folder(str(place))
        place.rmdir()
        place.mkdir()
        assert core.FolderLock(folder, ("a",)).try_acquire() == REPLACED
        folder.close()
        assert core.FolderLock(folder, ("a",)).try_acquire() == REPLACED
        with pytest.raises(FileNotFoundError):
            core.Folder(str(tmp_path / "none"))


def test_locks_end_with_their_objects(tmp_path: Path) -> None:
    for core in cores():
        mine, other = core.Folder(str(tmp_path)), core.Folder(str(tmp_path))
        lock = core.FolderLock(mine, ("a",), path="of a")
        assert lock.try_acquire() == HELD == lock.try_acquire()
        assert lock.held
        assert lock.path == "of a"
        assert core.FolderLock(other, ("a",)).try_acquire() == BUSY
        del lock
        again = core.FolderLock(other, ("a",))
        assert again.try_acquire() == HELD
        queues = {"name": [0], "other": [1]}
        assert again.release_with(queues, "name") == [0]
        assert queues == {"other": [1]}
        assert core.FolderLock(mine, ("a",)).try_acquire() == HELD


def test_who_wants_a_name_alone_comes_before_those_who_share_it_later(tmp_path: Path) -> None:
    for core in cores():
        first, second, third = (core.Folder(str(tmp_path)) for _ in range(3))
        sharing = core.FolderLock(first, ("a",), True)
        assert sharing.try_acquire() == HELD
        alone = core.FolderLock(second, ("a",))
        assert alone.try_acquire() == BUSY
        assert core.FolderLock(third, ("a",), True).try_acquire() == BUSY
        sharing.close()
        assert alone.try_acquire() == HELD
        alone.close()
        assert core.FolderLock(third, ("a",), True).try_acquire() == HELD


def test_both_cores_trust_the_same_file_systems(tmp_path: Path) -> None:
    for path in (str(tmp_path), "/proc", "/dev/shm", "/no/such/folder"):
        assert len({core.trusts_locks(path) for core in cores()}) == 1


def test_one_try(tmp_path: Path) -> None:
    """The lock of a name in a folder that is open; None where another process has it, or the folder is gone."""
    for number, core in enumerate(cores()):
        place = str(tmp_path / f"{number}")
        os.mkdir(place)
        assert core.try_lock({}, place, "c/0", "text") is None
        mine, other = {place: core.Folder(place)}, {place: core.Folder(place)}
        lock, second = core.try_lock(mine, place, "c/0", "text"), core.try_lock(mine, place, "c/1", "other")
        assert (lock.held, lock.path) == (True, "text")
        assert core.try_lock(other, place, "c/0", "") is None
        second.close()
        assert core.try_lock(other, place, "c/0", "") is None, "the last lock but one has released all"
        lock.close()
        assert core.try_lock(other, place, "c/0", "").held
        os.rmdir(place)
        assert core.try_lock(mine, place, "c/0", "") is None
