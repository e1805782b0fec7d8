"""The folder store: values in one step, one winner, nothing left over, and nothing strange in a value's place."""

from __future__ import annotations

import asyncio
import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import pytest

import zarr
import zarr_core
from zarr.buffer.cpu import Buffer
from zarr.storage import LocalStore
from zarr.storage.keys import is_partial
from zarr.storage.local import files

B = Buffer.from_bytes
posix = pytest.mark.skipif(sys.platform == "win32", reason="posix only")


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def names(path: Path) -> list[str]:
    return sorted(str(p.relative_to(path)) for p in path.rglob("*") if p.is_file())


def test_making_and_reading_creates_nothing(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "typo")
    assert store.get_sync("zarr.json") is None
    assert list(store.list_sync()) == []
    assert list(store.list_dir_sync("a")) == []
    asyncio.run(store.get("zarr.json"))
    assert not (tmp_path / "typo").exists()


def test_root_must_be_a_path() -> None:
    with pytest.raises(TypeError, match="'root' must be a string or Path instance"):
        LocalStore(5)  # type: ignore[arg-type]


def test_open_modes(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        asyncio.run(LocalStore.open(tmp_path / "no", read_only=True))
    with pytest.raises(FileNotFoundError, match="does not exist"):
        asyncio.run(LocalStore.open(tmp_path / "no", mode="r"))
    assert asyncio.run(LocalStore.open(tmp_path / "yes"))._is_open
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="file"):
        asyncio.run(LocalStore.open(tmp_path / "file"))


def test_value_is_replaced_by_rename(store: LocalStore) -> None:
    store.set_sync("a/b", B(b"old"))
    with open(store.root / "a/b", "rb") as reader:
        store.set_sync("a/b", B(b"new value"))
        assert reader.read() == b"old"
    assert names(store.root) == ["a/b"]


def test_failed_write_leaves_the_old_value_and_no_litter(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.set_sync("a/b", B(b"old"))

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    for name in ("write", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            patch.setattr(zarr_core, "put_file", lambda *_: -28)  # the core says so, too: asked again at length
            with pytest.raises(OSError, match="No space left"):
                store.set_sync("a/b", B(b"new"))
        assert store.get_sync("a/b").to_bytes() == b"old"  # type: ignore[union-attr]
        assert names(store.root) == ["a/b"]


def test_fsync_file_before_rename_and_folder_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    real_fsync, real_replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (calls.append("fsync"), real_fsync(fd))[1])
    monkeypatch.setattr(os, "replace", lambda a, b: (calls.append("replace"), real_replace(a, b))[1])
    LocalStore(tmp_path, fsync=True).set_sync("k", B(b"1"))
    assert calls == (["fsync", "replace", "fsync"] if sys.platform != "win32" else ["fsync", "replace"])
    calls.clear()
    LocalStore(tmp_path).set_sync("k", B(b"1"))
    # Without syncing it is the core's business; the compiled one asks the system itself.
    assert calls == ([] if zarr_core.IMPLEMENTATION == "compiled" else ["replace"])
    calls.clear()
    monkeypatch.setattr(zarr_core, "put_file", lambda *_: -38)
    LocalStore(tmp_path).set_sync("k", B(b"1"))
    assert calls == ["replace"]


def test_partial_files_are_no_keys(store: LocalStore) -> None:
    store.set_sync("a/b", B(b"1"))
    for name in (files.partial_name("b"), "b.0123456789abcdef0123456789abcdef.partial"):
        (store.root / "a" / name).write_bytes(b"half")
        assert is_partial(name)
    assert list(store.list_sync()) == ["a/b"]
    assert list(store.list_dir_sync("a")) == ["b"]
    assert list(store.list_prefix_sync("a/")) == ["a/b"]
    for name in (files.partial_name("b"), "c.0123456789abcdef0123456789abcdef.partial", ".zarr-locks/x"):
        for change in (store.set_sync, store.put_if_absent_sync):
            with pytest.raises(ValueError, match="reserved"):
                change(f"a/{name}", B(b""))
    store.set_sync("a/mine.partial", B(b"not one of ours"))
    assert "a/mine.partial" in set(store.list_sync())


@posix
def test_leftovers_of_the_dead_are_swept_and_those_of_the_living_kept(store: LocalStore) -> None:
    store.set_sync("a/b", B(b"1"))
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    dead = store.root / "a" / f".b.{child.pid:x}-0.partial"
    dead.write_bytes(b"half")
    dead_folder = store.root / "a" / f".c.{child.pid:x}-1.partial"
    dead_folder.mkdir()
    living = store.root / "a" / files.partial_name("b")
    living.write_bytes(b"half")
    list(store.with_read_only(read_only=True).list_sync())
    assert dead.exists()
    assert list(store.list_sync()) == ["a/b"]
    assert not dead.exists()
    assert not dead_folder.exists()
    assert living.exists()


def test_names_up_to_the_limit(store: LocalStore) -> None:
    for name in ("n" * 255, "ü" * 127):
        store.set_sync(name, B(b"long"))
        assert store.get_sync(name).to_bytes() == b"long"  # type: ignore[union-attr]
        assert store.put_if_absent_sync(name, B(b"x")) is False


def test_a_folder_in_a_values_place(store: LocalStore) -> None:
    store.set_sync("a/c/0/0", B(b"1"))
    with pytest.raises(IsADirectoryError, match="c/0"):
        store.get_sync("a/c/0")
    with pytest.raises(OSError, match="c/0"):
        store.set_sync("a/c/0", B(b"1"))
    assert names(store.root) == ["a/c/0/0"]
    assert store.exists_sync("a/c/0") is False


def test_a_file_in_a_folders_place(store: LocalStore) -> None:
    store.set_sync("a/c", B(b"1"))
    with pytest.raises(NotADirectoryError):
        store.get_sync("a/c/0/0")
    assert store.get_sync("a/c/zarr.json") is None
    assert store.exists_sync("a/c/0/0") is False
    assert list(store.list_dir_sync("a/c")) == []
    with pytest.raises(ValueError, match="that is a file"):
        store.delete_dir_sync("a/c")
    with pytest.raises(OSError, match="a/c"):
        store.set_sync("a/c/0", B(b"1"))


@posix
def test_a_pipe_or_a_device_in_a_values_place_does_not_hang(store: LocalStore) -> None:
    store.set_sync("a/x", B(b"1"))
    os.mkfifo(store.root / "a" / "pipe")
    os.symlink("/dev/zero", store.root / "a" / "device")
    for key, what in (("a/pipe", "a pipe"), ("a/device", "a device")):
        with pytest.raises(OSError, match=what):
            store.get_sync(key)
        assert store.exists_sync(key) is False


def test_delete_of_a_folder_takes_all_of_it(store: LocalStore) -> None:
    store.set_sync("a/b/c", B(b"1"))
    store.set_sync("a/d", B(b"1"))
    store.delete_sync("a/b")
    assert list(store.list_sync()) == ["a/d"]
    assert names(store.root) == ["a/d"]


@posix
def test_delete_of_a_linked_folder_leaves_what_it_points_to(store: LocalStore, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_bytes(b"1")
    store.set_sync("a/b", B(b"1"))
    os.symlink(outside, store.root / "a" / "link")
    store.delete_dir_sync("a")
    assert (outside / "precious").read_bytes() == b"1"
    assert list(store.list_sync()) == []


@posix
def test_folders_may_lie_deeper_than_functions_may_call_each_other(store: LocalStore, tmp_path: Path) -> None:
    deep = "/".join("d" * 90)
    store.set_sync(f"{deep}/x", Buffer.from_bytes(b"1"))
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(len(traceback.extract_stack()) + 60)
        assert list(store.list_sync()) == [f"{deep}/x"]
    finally:
        sys.setrecursionlimit(limit)


def test_links_in_a_circle_end_the_listing(store: LocalStore) -> None:
    store.set_sync("a/b", B(b"1"))
    os.symlink(store.root, store.root / "a" / "up")
    os.symlink(store.root / "a", store.root / "again")
    assert sorted(store.list_sync()) == ["a/b", "again/b"]


def _race(store: LocalStore, number: int, barrier: Any, wins: Any) -> None:
    barrier.wait()
    if store.put_if_absent_sync("k", B(b"%d" % number * 1000)):
        wins.append(number)


def test_of_many_threads_one_wins(tmp_path: Path) -> None:
    for round_number in range(30):
        store = LocalStore(tmp_path / str(round_number))
        wins: list[int] = []
        barrier = threading.Barrier(8)
        threads = [threading.Thread(target=_race, args=(store, n, barrier, wins)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(wins) == 1
        assert store.get_sync("k").to_bytes() == b"%d" % wins[0] * 1000  # type: ignore[union-attr]
        assert names(store.root) == ["k"]


def _claim(path: str, number: int, queue: Any) -> None:
    queue.put(number if LocalStore(path).put_if_absent_sync("k", B(b"%d" % number)) else None)


@posix
def test_of_many_processes_one_wins(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    processes = [context.Process(target=_claim, args=(str(tmp_path), n, queue)) for n in range(4)]
    for process in processes:
        process.start()
    wins = [queue.get(timeout=30) for _ in processes]
    for process in processes:
        process.join()
    winner = [win for win in wins if win is not None]
    assert len(winner) == 1
    assert LocalStore(tmp_path).get_sync("k").to_bytes() == b"%d" % winner[0]  # type: ignore[union-attr]


def test_one_wins_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    store = LocalStore(tmp_path)
    assert store.put_if_absent_sync("k", B(b"1")) is True
    assert files.write_file(str(tmp_path / "k"), memoryview(b"2"), exclusive=True) is False
    assert names(tmp_path) == ["k"]
    assert store.get_sync("k").to_bytes() == b"1"  # type: ignore[union-attr]


def test_readers_see_old_or_new_while_a_value_is_replaced(store: LocalStore) -> None:
    store.set_sync("k", B(b"0" * 100_000))
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number = (number + 1) % 10
            store.set_sync("k", B(b"%d" % number * 100_000))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(500):
            data = store.get_sync("k").to_bytes()  # type: ignore[union-attr]
            assert len(data) == 100_000
            assert len(set(data)) == 1
    finally:
        stop.set()
        writer.join()


_WRITER = """
import sys
from zarr.buffer.cpu import Buffer
from zarr.storage import LocalStore
store = LocalStore(sys.argv[1])
print("ready", flush=True)
number = 0
while True:
    number = (number + 1) % 10
    store.set_sync("a/k", Buffer.from_bytes(b"%d" % number * 300_000))
"""


@posix
def test_a_killed_writer_leaves_a_whole_value_and_no_key_more(store: LocalStore) -> None:
    for round_number in range(5):
        child = subprocess.Popen([sys.executable, "-c", _WRITER, str(store.root)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        threading.Event().wait(0.01 * (round_number + 1))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert list(store.list_sync()) in (["a/k"], [])
        value = store.get_sync("a/k")
        if value is not None:
            assert len(set(value.to_bytes())) == 1
            assert len(value) == 300_000
        assert all(name == "a/k" for name in names(store.root))


async def test_move(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "a")
    store.set_sync("x/y", B(b"1"))
    await store.move(tmp_path / "deep" / "b")
    assert store.root == tmp_path / "deep" / "b"
    assert store.get_sync("x/y").to_bytes() == b"1"  # type: ignore[union-attr]
    assert not (tmp_path / "a").exists()
    other = LocalStore(tmp_path / "c")
    other.set_sync("k", B(b"2"))
    with pytest.raises(FileExistsError):
        await store.move(tmp_path / "c")


def test_one_place_has_one_lock_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    whole, relative, below = LocalStore(tmp_path / "a"), LocalStore("a"), LocalStore("a/b", read_only=True)
    assert whole.lock_prefix == relative.lock_prefix
    assert below.lock_prefix == f"{whole.lock_prefix}/b"


def test_text_forms(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    assert str(store) == f"file://{tmp_path.as_posix()}"
    assert repr(store) == f"LocalStore('{store}')"


def test_a_swept_partial_file_or_a_removed_folder_does_not_lose_the_value(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_replace, losses = os.replace, [0]

    def lose_some(source: str, target: str) -> None:
        losses[0] += 1
        if losses[0] < 4:
            os.unlink(source)
        real_replace(source, target)

    monkeypatch.setattr(zarr_core, "put_file", lambda *_: -2)
    monkeypatch.setattr(os, "replace", lose_some)
    store.set_sync("a/b", B(b"kept"))
    assert store.get_sync("a/b") == B(b"kept")
    assert losses[0] == 4


def test_writers_and_removers_of_one_folder(store: LocalStore) -> None:
    stop = threading.Event()
    errors: list[BaseException] = []

    def remove() -> None:
        while not stop.is_set():
            try:
                store.delete_dir_sync("a")
            except BaseException as error:
                errors.append(error)

    remover = threading.Thread(target=remove)
    remover.start()
    try:
        for number in range(200):
            store.set_sync(f"a/{number % 3}/x", B(b"1" * 100))
    finally:
        stop.set()
        remover.join()
    assert not errors
    store.delete_dir_sync("")
    assert names(store.root) == []


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_nodes_are_overwritten_where_names_cannot_be_exchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zarr_format: Any
) -> None:
    monkeypatch.setattr(zarr_core, "exchange_files", lambda *_: -errno.ENOSYS)
    for place in (tmp_path / "root", tmp_path / "root2" / "node"):
        for value in range(3):
            array = zarr.create_array(
                place, shape=4, chunks=2, dtype="i4", overwrite=True, fill_value=9, zarr_format=zarr_format
            )
            array[0] = value
            assert zarr.open_array(place)[:].tolist() == [value, 9, 9, 9]
    assert not [path.name for path in tmp_path.rglob(".*") if not path.name.startswith((".za", ".zg"))]


@posix
def test_a_link_to_a_folder_beside_is_followed_whatever_their_names(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.set_sync("data/x", B(b"1"))
    store.set_sync("data2/y", B(b"2"))
    (tmp_path / "data2" / "link").symlink_to(tmp_path / "data")
    (tmp_path / "data2" / "up").symlink_to(tmp_path)
    assert sorted(store.list_sync()) == ["data/x", "data2/link/x", "data2/y"]


def _refuse_link(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "no hard links here")


@pytest.fixture
def guard(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What keeps others from writing ``a``, where a file system has no hard links; somebody left it there."""
    store.set_sync("b", B(b"1"))
    monkeypatch.setattr(os, "link", _refuse_link)
    monkeypatch.setattr(zarr_core, "put_file", lambda *_: -1)
    guard = store.root / ".a.0-0.partial"
    guard.mkdir()
    return guard


def test_without_hard_links_what_a_dead_process_left_keeps_nobody_out(store: LocalStore, guard: Path) -> None:
    os.utime(guard, (0, 0))
    assert store.put_if_absent_sync("a", B(b"mine"))
    assert not store.put_if_absent_sync("a", B(b"other"))
    assert names(store.root) == ["a", "b"]
    assert not guard.exists()


def test_without_hard_links_who_comes_second_waits_for_the_first(store: LocalStore, guard: Path) -> None:
    given_up = threading.Timer(0.05, guard.rmdir)
    given_up.start()
    try:
        assert store.put_if_absent_sync("a", B(b"mine"))
    finally:
        given_up.join()
    assert store.get_sync("a").to_bytes() == b"mine"  # type: ignore[union-attr]
