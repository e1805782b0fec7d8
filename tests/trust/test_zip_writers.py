"""Several who open one zip archive lose nothing of each other, and nothing that was there is cut off."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import rounds, run_together
from zarr.buffer.cpu import Buffer
from zarr.errors import ValueReplacedError
from zarr.storage import ZipStore
from zarr.storage.zip.container import END_SIGNATURE

forks = pytest.mark.skipif(
    not hasattr(os, "fork") or sys.platform == "darwin", reason="the test forks: not on Windows, and not safe on macOS"
)


def put(store: ZipStore, key: str, value: bytes) -> None:
    store.set_sync(key, Buffer.from_bytes(value))


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_stores_over_one_file_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        put(store, "first", b"1")
    stores = [ZipStore(path, mode="a") for _ in range(3)]
    for store in stores:
        assert list(store.list_sync()) == ["first"]
    for turn in range(4):
        for number, store in enumerate(stores):
            put(store, f"{number}/{turn}", bytes([number, turn]) * 50)
            assert all(other.get_sync(f"{number}/{turn}") is not None for other in stores)
    for store in stores:
        store.close()
    assert contents(path) == {"first": b"1", **{f"{n}/{t}": bytes([n, t]) * 50 for n in range(3) for t in range(4)}}


def test_a_store_removes_what_another_has_added(tmp_path: Path) -> None:
    """Also a chunk that is not stored because it came to hold the fill value alone."""
    adding, removing = ZipStore(tmp_path / "a.zip", mode="a"), ZipStore(tmp_path / "a.zip", mode="a")
    array = zarr.create_array(adding, name="x", shape=(4,), chunks=(2,), dtype="i4")
    same = zarr.open_array(removing, path="x", mode="r+")
    array[:] = 7
    same[:2] = 0
    assert array[:].tolist() == same[:].tolist() == [0, 0, 7, 7]
    put(adding, "y", b"1")
    removing.delete_sync("y")
    for store in (adding, removing):
        store.close()
    assert not {"y", "x/c/0"} & set(contents(tmp_path / "a.zip"))


def test_threads_with_stores_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    zarr.create_array(ZipStore(path, mode="w"), name="x", shape=(4, 64), chunks=(4, 8), dtype="i4").store.close()
    turns = rounds(5, 50)

    def write(row: int) -> None:
        array = zarr.open_array(ZipStore(path, mode="a"), path="x", mode="r+")
        for turn in range(turns):
            array[row, turn % 64] = turn + 1
            assert array[row, turn % 64] == turn + 1
        array.store.close()

    run_together([lambda row=row: write(row) for row in range(4)])
    found = zarr.open_array(ZipStore(path), path="x", mode="r")[...]
    expected = np.zeros(64, "i4")
    for turn in range(turns):
        expected[turn % 64] = turn + 1
    assert (found == expected).all()


def add_or_be_refused(path: Path, key: str, answers: Any) -> None:
    try:
        with ZipStore(path, mode="a") as store:
            put(store, key, b"theirs")
    except BlockingIOError as error:
        answers.put(str(error))
    else:
        answers.put("done")


def test_threads_that_begin_to_change_a_file_together(tmp_path: Path) -> None:
    """One of them claims the file for all: none takes another one for a foreign process."""
    for turn in range(rounds(30, 300)):
        path = tmp_path / f"{turn}.zip"
        with ZipStore(path, mode="w") as store:
            put(store, "a/0", b"0")
            put(store, "b", b"1")
        with ZipStore(path, mode="a") as store:
            assert store.exists_sync("b")  # open, and not claimed yet
            actions = [lambda s=store: s.delete_dir_sync("a"), lambda s=store: s.delete_dir_sync("c")]
            readers = [lambda s=store: [s.get_sync("b") for _ in range(50)]]
            run_together([*actions, *readers, lambda s=store: put(s, "d", b"2")])
        assert contents(path) == {"b": b"1", "d": b"2"}


@pytest.mark.skipif(sys.platform == "win32", reason="no locks of whole files")
@pytest.mark.slow
def test_another_process_is_kept_out_while_one_adds(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    with ZipStore(path, mode="w") as store:
        put(store, "a", b"1")
    store = ZipStore(path, mode="a")
    put(store, "b", b"2")
    for key, expected in (("c", "another process"), ("d", "done")):
        process = context.Process(target=add_or_be_refused, args=(path, key, answers))
        process.start()
        assert expected in answers.get(timeout=60)
        process.join(60)
        store.close()
    assert contents(path) == {"a": b"1", "b": b"2", "d": b"theirs"}


def by_another_process(path: Path, program: str) -> None:
    """Run lines that change the archive, through a store of mode "a"."""
    lines = ["import sys, zarr", "store = zarr.storage.ZipStore(sys.argv[1], mode='a')", program, "store.close()"]
    subprocess.run([sys.executable, "-c", "\n".join(lines), str(path)], check=True, timeout=120)


def array_in(path: Path) -> Any:
    """An array of which each process writes a part."""
    with ZipStore(path, mode="w") as store:
        zarr.create_array(store, name="x", shape=(8,), chunks=(4,), dtype="i4")[:] = 0
    return zarr.open_array(ZipStore(path, mode="a"), path="x", mode="r+")


def values_in(path: Path, name: str = "x") -> list[int]:
    values: list[int] = zarr.open_array(ZipStore(path), path=name, mode="r")[:].tolist()
    return values


ADD = "zarr.create_array(store, name='y', shape=(2,), dtype='i4')[:] = 5"


@pytest.mark.parametrize("compacts", [False, True])
def test_what_another_process_added_after_the_opening_stays(tmp_path: Path, compacts: bool) -> None:
    array = array_in(tmp_path / "a.zip")
    assert array[:].tolist() == [0] * 8
    by_another_process(tmp_path / "a.zip", ADD + ("\nstore.compact()" if compacts else ""))
    array[4:] = 7
    with pytest.raises(zarr.errors.ContainsArrayError):
        zarr.create_array(array.store, name="y", shape=(3,), dtype="i4")
    array.store.close()
    assert values_in(tmp_path / "a.zip") == [0] * 4 + [7] * 4
    assert values_in(tmp_path / "a.zip", "y") == [5, 5]


def test_a_node_of_another_process_is_not_replaced_by_the_first_change(tmp_path: Path) -> None:
    store = array_in(tmp_path / "a.zip").store
    assert not store.exists_sync("y/zarr.json")
    by_another_process(tmp_path / "a.zip", ADD)
    with pytest.raises((zarr.errors.ContainsArrayError, ValueReplacedError)):
        zarr.create_array(store, name="y", shape=(3,), dtype="i4")
    store.close()
    assert values_in(tmp_path / "a.zip", "y") == [5, 5]


@pytest.mark.parametrize("compacts", [False, True])
def test_a_part_of_a_chunk_that_another_process_changed(tmp_path: Path, compacts: bool) -> None:
    """The first change has read the chunk before the file could be claimed: it is refused, once."""
    array = array_in(tmp_path / "a.zip")
    assert array[0] == 0
    program = "zarr.open_array(store, path='x', mode='r+')[1] = 5" + ("\nstore.compact()" if compacts else "")
    by_another_process(tmp_path / "a.zip", program)
    with pytest.raises(ValueReplacedError, match="another process has changed 'x/c/0'"):
        array[0] = 3
    array[0] = 3
    array[4:] = 9
    array.store.close()
    assert values_in(tmp_path / "a.zip") == [3, 5, 0, 0, 9, 9, 9, 9]


def test_attributes_that_another_process_changed(tmp_path: Path) -> None:
    array = array_in(tmp_path / "a.zip")
    by_another_process(tmp_path / "a.zip", "zarr.open_array(store, path='x', mode='r+').attrs['theirs'] = 1")
    with pytest.raises(ValueReplacedError, match=r"zarr\.json"):
        array.attrs["ours"] = 2
    array.attrs["ours"] = 2
    array.store.close()
    assert dict(zarr.open_array(ZipStore(tmp_path / "a.zip"), path="x", mode="r").attrs) == {"theirs": 1, "ours": 2}


def test_a_removal_removes_what_another_process_added(tmp_path: Path) -> None:
    store = array_in(tmp_path / "a.zip").store
    assert list(store.list_prefix_sync("x/"))
    by_another_process(tmp_path / "a.zip", "store.set_sync('x/more', store.get_sync('x/zarr.json'))")
    store.delete_dir_sync("x")
    store.close()
    assert not any(name.startswith("x/") for name in contents(tmp_path / "a.zip"))


def test_two_processes_that_begin_one_archive(tmp_path: Path) -> None:
    """Who commits first is kept."""
    path = tmp_path / "a.zip"
    store = ZipStore(path, mode="a")
    put(store, "ours", b"1")
    by_another_process(path, ADD)
    with pytest.raises(FileExistsError, match="another process has created"):
        store.close()
    assert values_in(path, "y") == [5, 5]
    put(store, "ours", b"1")
    store.close()
    assert contents(path)["ours"] == b"1"
    assert values_in(path, "y") == [5, 5]
    assert os.listdir(tmp_path) == ["a.zip"]


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("change", ["commit", "compact"])
def test_a_file_that_another_program_put_there(tmp_path: Path, removes: bool, change: str) -> None:
    """It keeps to no lock."""
    path = tmp_path / "a.zip"
    array = array_in(path)
    array[0] = 1
    if change == "compact":
        array.store.commit()
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("theirs", b"precious")
    os.unlink(path) if removes else os.replace(other, path)
    with pytest.raises(ValueReplacedError, match="replaced or removed"):
        getattr(array.store, change)()
    with contextlib.suppress(ValueReplacedError):
        array.store.close()
    assert not path.exists() if removes else contents(path) == {"theirs": b"precious"}


@forks
@pytest.mark.parametrize("mode", ["w", "a"])
def test_a_forked_child_does_not_write_into_its_parents_file(mode: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        put(store, "old", b"0")
    store = ZipStore(path, mode=mode)
    put(store, "a", b"1" * 100)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if store.get_sync("a").to_bytes() == b"1" * 100:
                put(store, "b", b"child" * 50)
        except BlockingIOError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    put(store, "c", b"3" * 100)
    store.close()
    expected = {"old": b"0"} if mode == "a" else {}
    assert contents(path) == {**expected, "a": b"1" * 100, "c": b"3" * 100}


def test_a_damaged_directory_is_not_cut_off(tmp_path: Path) -> None:
    """What it named can still be brought back by other means."""
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        put(store, "a", b"1")
    with ZipStore(path, mode="a") as store:
        put(store, "b", b"precious" * 100)
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\1\2")
    data[place] ^= 1
    path.write_bytes(data)
    with ZipStore(path, mode="a") as store:
        assert list(store.list_sync()) == ["a"]
        put(store, "c", b"3")
    assert path.read_bytes()[: len(data)] == data
    assert contents(path) == {"a": b"1", "c": b"3"}


def test_what_a_dead_writer_left_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        put(store, "a", b"1")
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + b"PK\3\4 half of a value")
    with ZipStore(path, mode="a") as store:
        put(store, "b", b"2")
    assert contents(path) == {"a": b"1", "b": b"2"}
    assert path.read_bytes().index(b"PK\3\4", size) == size
    assert path.read_bytes().count(END_SIGNATURE) == 2


def test_names_of_others_stay_as_they_are(tmp_path: Path) -> None:
    """Some are in the character set of DOS, some in none."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("cafe", b"1")
        archive.writestr("plain", b"2")
    path.write_bytes(path.read_bytes().replace(b"cafe", b"caf\x82"))
    for number in range(2):
        with ZipStore(path, mode="a") as store:
            put(store, f"{number}", b"3")
            assert store.get_sync("caf\u00e9").to_bytes() == b"1"
    assert contents(path) == {"caf\u00e9": b"1", "plain": b"2", "0": b"3", "1": b"3"}


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    with ZipStore(tmp_path / "a.zip", mode="w") as store:
        with pytest.raises(ValueError, match="65535"):
            put(store, "\u00e9" * 40000, b"1")
        put(store, "a" * 65535, b"1")
    assert list(contents(tmp_path / "a.zip")) == ["a" * 65535]


def test_readers_while_the_archive_is_compacted(tmp_path: Path) -> None:
    """Places in the old file are never looked up in the new one."""
    store = ZipStore(tmp_path / "a.zip", mode="w")
    keys = [f"{number}" for number in range(40)]
    done = threading.Event()

    def write() -> None:
        try:
            for _ in range(rounds(15, 300)):
                for key in keys[::3]:
                    put(store, key, key.encode() * 40)
                store.compact()
        finally:
            done.set()

    def read() -> None:
        while not done.is_set():
            for key in keys:
                assert store.get_sync(key).to_bytes() == key.encode() * 40
                assert store.getsize_sync(key) == 40 * len(key)

    for key in keys:
        put(store, key, key.encode() * 40)
    run_together([write, read, read])
    store.close()
