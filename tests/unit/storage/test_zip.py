"""The zip store: what is committed stays, what is replaced goes, and nothing in a hostile file gets out."""

from __future__ import annotations

import asyncio
import dataclasses
import io
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

import zarr
from zarr.abc.store import OffsetByteRequest, SuffixByteRequest
from zarr.buffer.core import default_buffer_prototype
from zarr.buffer.cpu import Buffer
from zarr.storage import ZipStore
from zarr.storage.resolve import looks_like_zip
from zarr.storage.zip.container import (
    Entry,
    ZipFormatError,
    data_offset,
    directory_bytes,
    local_header,
    read_directory,
)

B = Buffer.from_bytes
PROTOTYPE = default_buffer_prototype()
posix = pytest.mark.skipif(sys.platform == "win32", reason="posix only")


def value(store: ZipStore, key: str) -> bytes | None:
    found = store.get_sync(key)
    return None if found is None else found.to_bytes()


def contents(path: Path) -> dict[str, bytes | None]:
    with ZipStore(path) as store:
        return {key: value(store, key) for key in store.list_sync()}


def write(path: Path, items: dict[str, bytes], mode: str = "a") -> None:
    with ZipStore(path, mode=mode) as store:  # type: ignore[arg-type]
        for key, item in items.items():
            store.set_sync(key, B(item))


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_others_can_read_what_is_written(tmp_path: Path, compression: int) -> None:
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w", compression=compression) as store:
        store.set_sync("a/b", B(b"1" * 1000))
        store.set_sync("é", B(b""))
        store.set_sync("a/b", B(b"2" * 1000))
    with zipfile.ZipFile(path) as other:
        assert other.testzip() is None
        assert sorted(other.namelist()) == ["a/b", "é"]
        assert other.read("a/b") == b"2" * 1000


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("prefix", [b"", b"#!/bin/sh\n" * 10])
def test_what_others_write_can_be_read(tmp_path: Path, method: int, prefix: bytes) -> None:
    path = tmp_path / "a.zip"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=method) as other:
        other.comment = b"a comment"
        other.mkdir("folder") if hasattr(other, "mkdir") else None
        other.writestr("a/b", b"1" * 1000)
        with other.open("a/streamed", "w", force_zip64=True) as stream:
            stream.write(b"2" * 500)
    path.write_bytes(prefix + buffer.getvalue())
    assert contents(path) == {"a/b": b"1" * 1000, "a/streamed": b"2" * 500}
    write(path, {"c": b"3"})
    assert contents(path) == {"a/b": b"1" * 1000, "a/streamed": b"2" * 500, "c": b"3"}


def test_modes(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with pytest.raises(FileNotFoundError):
        ZipStore(path, mode="r").get_sync("a")
    write(path, {"a": b"1"}, "x")
    with pytest.raises(FileExistsError):
        ZipStore(path, mode="x").set_sync("a", B(b""))
    write(path, {"b": b"2"}, "a")
    assert contents(path) == {"a": b"1", "b": b"2"}
    write(path, {"c": b"3"}, "w")
    assert contents(path) == {"c": b"3"}
    with pytest.raises(ValueError, match="Invalid mode"):
        ZipStore(path, mode="r+")  # type: ignore[arg-type]
    assert ZipStore(path).read_only
    with pytest.raises(ValueError, match="read-only"):
        ZipStore(path).set_sync("a", B(b""))


def test_nothing_is_lost_before_the_new_file_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    write(path, {"old": b"1"}, "w")
    store = ZipStore(path, mode="w")
    store.set_sync("new", B(b"2"))
    with zipfile.ZipFile(path) as other:
        assert other.namelist() == ["old"]
    store.close()
    assert contents(path) == {"new": b"2"}
    assert os.listdir(tmp_path) == ["a.zip"]


def test_replacing_deleting_compacting(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        for number in range(20):
            store.set_sync("a", B(b"%d" % number * 1000))
            store.set_sync(f"b/{number}", B(b"x" * 100))
        store.delete_sync("b/3")
        store.delete_dir_sync("b/1")
        store.commit()
        before = path.stat().st_size
        store.compact()
        assert path.stat().st_size < before // 3
        assert value(store, "a") == b"19" * 1000
        store.set_sync("after", B(b"1"))
    found = contents(path)
    assert found["a"] == b"19" * 1000
    assert "b/3" not in found
    assert found["after"] == b"1"
    assert len(found) == 21
    with zipfile.ZipFile(path) as other:
        assert other.testzip() is None


def test_close_compacts_what_is_mostly_dead(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        for _ in range(10):
            store.set_sync("a", B(os.urandom(1 << 20)))
    assert path.stat().st_size < 2 << 20


def test_uncommitted_garbage_is_ignored_and_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    write(path, {"a": b"1"}, "w")
    size = path.stat().st_size
    entry = Entry("half", 0, zlib.crc32(b"2" * 300_000), 300_000, 300_000, size)
    with open(path, "ab") as file:
        file.write(local_header(entry) + b"2" * 299_000)
    assert contents(path) == {"a": b"1"}
    write(path, {"b": b"3"})
    assert contents(path) == {"a": b"1", "b": b"3"}
    assert path.stat().st_size < 1000


def test_an_archive_inside_the_garbage_is_not_taken_for_the_archive(tmp_path: Path) -> None:
    inner = tmp_path / "inner.zip"
    write(inner, {"wrong": b"!"}, "w")
    path = tmp_path / "a.zip"
    write(path, {"right": b"1"}, "w")
    with open(path, "ab") as file:
        file.write(local_header(Entry("nested", 0, 0, 10, 10, 0)) + inner.read_bytes() + b"cut off")
    assert contents(path) == {"right": b"1"}


@pytest.mark.parametrize("cut", [1, 10, 21, 22, 40, 70])
def test_a_directory_that_is_cut_off_leaves_the_one_before(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.zip"
    write(path, {"a": b"1"}, "w")
    with ZipStore(path, mode="a") as store:
        store.set_sync("b", B(b"2" * 100))
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert contents(path) in ({"a": b"1"}, {"a": b"1", "b": b"2" * 100})


_WRITER = """
import sys
from zarr.buffer.cpu import Buffer
from zarr.storage import ZipStore
store = ZipStore(sys.argv[1], mode=sys.argv[2])
print("ready", flush=True)
number = 0
while True:
    number += 1
    for key in "abc":
        store.set_sync(key, Buffer.from_bytes(b"%d" % number * 20_000))
    store.commit()
"""


@posix
@pytest.mark.parametrize("mode", ["a", "w"])
def test_a_killed_writer_leaves_what_was_committed(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "a.zip"
    write(path, dict.fromkeys("abc", b"0" * 10), "w")
    for round_number in range(6):
        child = subprocess.Popen([sys.executable, "-c", _WRITER, str(path), mode], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        threading.Event().wait(0.008 * (round_number + 1))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        found = contents(path)
        assert sorted(found) == ["a", "b", "c"]
        assert len(set(found.values())) == 1


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("mode", ["w", "a"])
def test_a_close_that_failed_loses_nothing_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: Any, error: type[BaseException]
) -> None:
    write(tmp_path / "a.zip", {"a": b"old", "b": b"kept"}, "w")
    store = ZipStore(tmp_path / "a.zip", mode=mode)
    store.set_sync("a", B(b"new"))

    def fail(handle: Any) -> None:
        raise error("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(store._zf, "_write_directory", fail)
        with pytest.raises(error, match="disk full"):
            store.close()
        with zipfile.ZipFile(tmp_path / "a.zip") as committed:
            assert committed.read("a") == b"old"
    assert value(store, "a") == b"new"
    store.set_sync("c", B(b"later"))
    store.close()
    store = ZipStore(tmp_path / "a.zip")
    assert [value(store, key) for key in "ac"] == [b"new", b"later"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_an_archive_that_cannot_be_committed_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ZipStore(tmp_path / "a.zip", mode="w")
    store.set_sync("a", B(b"1"))
    monkeypatch.setattr(store._zf, "_write_directory", lambda handle: os.open(tmp_path / "none" / "x", os.O_WRONLY))
    with pytest.raises(FileNotFoundError):
        store._shared.end()
    assert not list(tmp_path.iterdir())


def test_failed_write_leaves_the_old_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.zip"
    write(path, {"a": b"1"}, "w")
    store = ZipStore(path, mode="a")
    store.set_sync("b", B(b"2"))
    handle = store._archive.known()[0]
    with monkeypatch.context() as patch:

        def fail(offset: int, data: bytes) -> None:
            type(handle).write_at(handle, offset, data[:3])
            raise OSError(28, "No space left on device")

        patch.setattr(handle, "write_at", fail)
        with pytest.raises(OSError, match="No space"):
            store.set_sync("a", B(b"x" * 1000))
        with pytest.raises(OSError, match="No space"):
            store.commit()
    assert value(store, "a") == b"1"
    store.close()
    assert contents(path) == {"a": b"1", "b": b"2"}


def test_dropped_and_forgotten_stores_commit(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    store = ZipStore(path, mode="w")
    store.set_sync("a", B(b"1"))
    assert contents(path) == {"a": b"1"}, "another store of this process sees what was set"
    store.set_sync("b", B(b"2"))
    del store
    assert contents(path) == {"a": b"1", "b": b"2"}
    program = (
        "import sys; from zarr.storage import ZipStore; from zarr.buffer.cpu import Buffer\n"
        "store = ZipStore(sys.argv[1], mode='a'); store.set_sync('exit', Buffer.from_bytes(b'3'))\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    assert contents(path)["exit"] == b"3"


def test_an_archive_that_outlives_the_modules_ends_without_a_message(tmp_path: Path) -> None:
    zarr.create_array(str(tmp_path / "a.zip"), name="x", shape=4, dtype="i4", fill_value=3)
    program = """
import sys, zarr
array = zarr.open_array(sys.argv[1], path="x", mode="r")
assert array[3] == 3
sys.excepthook = lambda *error, kept=array: None
"""
    command = [sys.executable, "-c", program, str(tmp_path / "a.zip")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == ""


def test_a_store_whose_folder_is_gone_ends_without_a_word(tmp_path: Path) -> None:
    program = """if True:
        import gc, os, shutil, sys, zarr
        os.mkdir(sys.argv[1])
        group = zarr.create_group({}, attributes={"a": 1})
        group.create_group("b").create_array("x", shape=1000, chunks=100, dtype="f8")[:] = 5
        copy = zarr.tools.copy(group, sys.argv[1] + "/b.zip", progress=False)
        opened = zarr.open_group(sys.argv[1] + "/b.zip", mode="r")  # a small new file is compacted at the end
        assert not zarr.tools.verify(sys.argv[1] + "/b.zip", progress=False).faults
        shutil.rmtree(sys.argv[1])
        del copy, opened
        gc.collect()
    """
    command = [sys.executable, "-c", program, str(tmp_path / "gone")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")
    assert not (tmp_path / "gone").exists()


@posix
def test_a_forked_child_commits_nothing_of_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    store = ZipStore(path, mode="w")
    store.set_sync("a", B(b"1"))
    pid = os.fork()
    if pid == 0:
        store.close()
        os._exit(0)
    os.waitpid(pid, 0)
    assert not path.exists()
    store.close()
    assert contents(path) == {"a": b"1"}


def test_a_pickled_writer_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    store = ZipStore(path, mode="w")
    store.set_sync("a", B(b"1"))
    again = pickle.loads(pickle.dumps(store))
    store.close()
    again.set_sync("b", B(b"2"))
    again.close()
    assert contents(path) == {"a": b"1", "b": b"2"}


def test_file_objects(tmp_path: Path) -> None:
    file = io.BytesIO()
    with ZipStore(file, mode="w") as store:
        store.set_sync("a", B(b"1"))
        store.set_sync("a", B(b"22"))
        store.compact()
    assert zipfile.ZipFile(file).read("a") == b"22"
    with ZipStore(file, mode="a") as store:
        store.set_sync("b", B(b"3"))
    reader = ZipStore(file)
    assert value(reader, "a") == b"22"
    assert value(reader, "b") == b"3"
    assert not file.closed
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(reader)
    with pytest.raises(TypeError, match="'path' must be"):
        ZipStore(5)  # type: ignore[arg-type]


def test_entries_that_climb_are_not_keys(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as other:
        for name in ("../up", "/abs", "a/../../b", "fine", "a//b", "./c"):
            other.writestr(name, b"1")
    assert contents(path) == {"fine": b"1"}
    with pytest.raises(ValueError, match="not allowed"):
        ZipStore(path).get_sync("../up")


def _patch(path: Path, offset: int, data: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def test_damage_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    write(path, {"a": b"1" * 100}, "w")
    _patch(path, 40, b"2")
    with pytest.raises(ZipFormatError, match=r"a\.zip.*'a'.*checksum"):
        ZipStore(path).get_sync("a")
    _patch(path, 0, b"XX")
    with pytest.raises(ZipFormatError, match=r"a\.zip.*'a'.*no entry"):
        ZipStore(path).get_sync("a")
    for junk in (b"no zip at all" * 10, b"", b"PK\5\6" + bytes(10)):
        path.write_bytes(junk)
        with pytest.raises(ZipFormatError, match=r"a\.zip"):
            ZipStore(path).get_sync("a")


def test_a_bomb_allocates_no_more_than_it_announces(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", compression=zipfile.ZIP_DEFLATED) as other:
        other.writestr("a", bytes(50 << 20))
    raw = bytearray(path.read_bytes())
    where = raw.rfind(b"PK\1\2")
    raw[where + 24 : where + 28] = struct.pack("<I", 100)
    path.write_bytes(raw)
    with pytest.raises(ZipFormatError, match="101 bytes where the directory states 100"):
        ZipStore(path).get_sync("a")


def test_mutated_directories_raise_nothing_unexpected(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    write(path, {f"k{number}": os.urandom(50) for number in range(5)}, "w")
    good = path.read_bytes()
    start, refused = good.find(b"PK\1\2"), 0
    for position in range(start, len(good)):
        for flip in (0x01, 0x80, 0xFF):
            bad = bytearray(good)
            bad[position] ^= flip
            path.write_bytes(bytes(bad))
            store = ZipStore(path)
            try:
                for key in list(store.list_sync()):
                    store.get_sync(key)
            except (ZipFormatError, ValueError):
                refused += 1
            finally:
                store.close()
    assert refused > 100


def test_zip64(tmp_path: Path) -> None:
    entries = [Entry(f"k{n}", 0, 0, 0, 0, 10) for n in range(70_000)]
    raw = bytes(100) + directory_bytes(entries, 100)
    found = read_directory(lambda offset, length: raw[offset : offset + length], len(raw))
    assert len(found.entries) == 70_000
    assert found.end == len(raw)
    with pytest.raises(ValueError, match="zip64"):
        directory_bytes(entries, 100, allow_zip64=False)
    large = Entry("big", 0, 1, 5 << 30, 6 << 30, 7 << 30)
    assert struct.pack("<2Q", 6 << 30, 5 << 30) in local_header(large)
    with pytest.raises(ZipFormatError, match="no zip directory"):
        tail = bytes(40) + directory_bytes([large], 40)
        read_directory(lambda offset, length: tail[offset : offset + length], len(tail))


def test_threads_write_and_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    store = ZipStore(path, mode="w")
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(50):
                key = f"{number}/{turn % 5}"
                store.set_sync(key, B(b"%d" % turn * 500))
                assert value(store, key) == b"%d" % turn * 500
                if turn % 20 == 0:
                    store.commit()
                if number == 0 and turn % 25 == 24:
                    store.compact()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    assert not errors
    found = contents(path)
    assert len(found) == 30
    assert all(len(set(item or b"")) <= 2 for item in found.values())


def test_looks_like_zip(tmp_path: Path) -> None:
    write(tmp_path / "data.bin", {"a": b"1"}, "w")
    (tmp_path / "folder.zip").mkdir()
    (tmp_path / "text.zip").write_text("no zip")
    assert looks_like_zip(str(tmp_path / "data.bin"))
    assert looks_like_zip(str(tmp_path / "new.ZIP"))
    assert not looks_like_zip(str(tmp_path / "folder.zip"))
    assert not looks_like_zip(str(tmp_path / "text.zip"))
    assert not looks_like_zip(str(tmp_path / "new.zarr"))


async def test_closed_store_opens_again(tmp_path: Path) -> None:
    store = await ZipStore.open(tmp_path / "a.zip", mode="w")
    assert store._is_open
    await store.set("a", B(b"1"))
    store.close()
    assert not store._is_open
    found = await store.get("a", PROTOTYPE)
    assert found is not None
    assert found.to_bytes() == b"1"
    assert str(store) == f"zip://{tmp_path / 'a.zip'}"


def test_empty_archive(tmp_path: Path) -> None:
    ZipStore(tmp_path / "never.zip", mode="w").close()
    assert not (tmp_path / "never.zip").exists()
    store = asyncio.run(ZipStore.open(tmp_path / "a.zip", mode="w"))
    store.close()
    assert contents(tmp_path / "a.zip") == {}
    assert zipfile.ZipFile(tmp_path / "a.zip").namelist() == []


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("size", [2**62, 2**63 + 5])
@pytest.mark.parametrize("part", [None, OffsetByteRequest(0), SuffixByteRequest(5)])
def test_a_size_beyond_all_files_is_damage(tmp_path: Path, compression: int, size: int, part: Any) -> None:
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w", compression=compression) as store:
        store.set_sync("a", B(b"value" * 100))
    raw = path.read_bytes()

    def read_at(offset: int, length: int) -> bytes:
        return raw[offset : offset + length]

    entry = read_directory(read_at, len(raw))[0]["a"]
    end = data_offset(read_at, entry) + entry.stored_size
    path.write_bytes(raw[:end] + directory_bytes([dataclasses.replace(entry, size=size)], end))
    with pytest.raises(ZipFormatError, match=r"a\.zip: entry 'a'"):
        ZipStore(path).get_sync("a", byte_range=part)


def test_end_records_that_lead_nowhere_are_not_followed_for_ever() -> None:
    record = struct.Struct("<4s4H2IH")
    count, looked = 2000, 0
    pieces = [b"PK\1\2" + bytes(1000)]
    for number in range(count):
        before = len(pieces[0]) + number * record.size
        pieces.append(record.pack(b"PK\5\6", 0, 0, 9, 9, before, 0, 0))
    raw = b"".join(pieces)

    def read_at(offset: int, length: int) -> bytes:
        nonlocal looked
        looked += length
        return raw[offset : offset + length]

    with pytest.raises(ZipFormatError, match="no zip directory found"):
        read_directory(read_at, len(raw))
    assert looked < 20 * len(raw)


@pytest.mark.parametrize(
    "replace",
    [
        lambda path: zarr.open_group(path, mode="w"),
        lambda path: zarr.create_array(path, shape=3, dtype="i4", overwrite=True),
        lambda path: ZipStore(path, mode="w").set_sync("a", B(b"1")),
        lambda path: asyncio.run(ZipStore(path, mode="a").clear()),
        lambda path: ZipStore(path, mode="a").delete_dir_sync(""),
    ],
)
def test_a_document_of_another_program_is_not_replaced(tmp_path: Path, replace: Any) -> None:
    """Many formats of files are zip archives."""
    path = tmp_path / "report.docx"
    with zipfile.ZipFile(path, "w") as document:
        document.writestr("word/document.xml", "<text/>")
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match=r"no Zarr document and is not named \*\.zip.*report\.docx"):
        replace(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_zip_files_that_may_be_replaced(tmp_path: Path) -> None:
    """One that is named as one, one with a document of Zarr in it, and an empty one."""
    write(tmp_path / "named.ZIP", {"a": b"1"}, "w")
    zarr.create_array(ZipStore(tmp_path / "data.bin", mode="w"), name="a/b", shape=3, dtype="i4").store.close()
    zipfile.ZipFile(tmp_path / "empty.bin", "w").close()
    for name in ("named.ZIP", "data.bin", "empty.bin"):
        zarr.open_group(tmp_path / name, mode="w").store.close()
        assert list(contents(tmp_path / name)) == ["zarr.json"]


def test_stores_that_may_add_to_a_file_see_each_other_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    write(path, {"old": b"1"}, "w")
    first, second, reader = ZipStore(path, mode="a"), ZipStore(path, mode="a"), ZipStore(path)
    assert list(reader.list_sync()) == ["old"]
    first.set_sync("new", B(b"2"))
    assert value(second, "new") == b"2"
    new = ZipStore(path, mode="w", compression=zipfile.ZIP_DEFLATED)
    assert value(second, "old") == b"1", "nothing is done before the store is used"
    new.set_sync("newest", B(b"3" * 1000))
    assert list(first.list_sync()) == list(second.list_sync()) == ["newest"]
    first.set_sync("last", B(b"4"))
    assert contents(path) == {"newest": b"3" * 1000, "last": b"4"}
    new.close()
    second.set_sync("later", B(b"5"))
    second.close()
    assert sorted(contents(path)) == ["last", "later", "newest"]
    with zipfile.ZipFile(path) as other:
        assert {info.filename: info.compress_type for info in other.infolist()} == {"newest": 8, "last": 0, "later": 0}
    assert value(reader, "old") == b"1", "who only reads has the file that it has opened"


@pytest.mark.parametrize("mode", ["a", "x", "w"])
def test_a_file_that_somebody_removed_is_made_again(tmp_path: Path, mode: Any) -> None:
    path = tmp_path / "a.zip"
    store = ZipStore(path, mode="w")
    store.set_sync("a", B(b"1"))
    store.commit()
    path.unlink()
    write(path, {"b": b"2"}, mode)
    assert contents(path) == {"b": b"2"}
    assert value(store, "a") == b"1"


def test_the_comment_of_an_archive_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as other:
        other.comment = b'{"ome":{"version":"0.5"}}'
        other.writestr("a", bytes(1000))
    with ZipStore(path, mode="a") as store:
        assert store.comment == b'{"ome":{"version":"0.5"}}'
        store.set_sync("a", B(b"2"))
        store.compact()
        store.set_sync("b", B(b"3"))
    with zipfile.ZipFile(path, "r") as other:
        assert other.comment == b'{"ome":{"version":"0.5"}}'
    with ZipStore(path, mode="a") as store:
        with pytest.raises(ValueError, match="65536 bytes"):
            store.comment = bytes(65536)
        store.comment = b"another"
    assert ZipStore(path).comment == b"another"
    assert contents(path) == {"a": b"2", "b": b"3"}
    with pytest.raises(ValueError, match="read-only"):
        ZipStore(path).comment = b"third"
    with ZipStore(path, mode="w") as store:
        store.set_sync("a", B(b"4"))
    with zipfile.ZipFile(path) as other:
        assert other.comment == b""


def test_a_new_small_file_with_a_comment_is_not_written_twice(tmp_path: Path) -> None:
    with ZipStore(tmp_path / "a.zip", mode="w") as store:
        store.set_sync("a", B(b"1"))
        store.comment = b"x" * 100
        store.commit()
        before = os.stat(tmp_path / "a.zip").st_ino
    assert os.stat(tmp_path / "a.zip").st_ino == before


class Commented(ZipStore):
    """A subclass as iohub has one: it asks whether the store is open, and sets the comment of the open file."""

    def close(self) -> None:
        if self._is_open:
            self._zf.comment = b"closed by hand"
            super().close()


def test_the_mode_is_the_one_that_the_next_use_has(tmp_path: Path) -> None:
    store = ZipStore(tmp_path / "a.zip", mode="w")
    assert store._zmode == "w"
    assert store._zipfile() is store._zf
    store.close()
    modes: list[Any] = ["a", "r"]
    assert [store._zmode, *[ZipStore(tmp_path / "a.zip", mode=mode)._zmode for mode in modes]] == ["a", "a", "r"]


@pytest.mark.parametrize("first", ["set", "begin", "read"])
def test_a_subclass_that_closes_by_itself_finds_the_store_open(tmp_path: Path, first: str) -> None:
    path = tmp_path / "a.zip"
    write(path, {"a": b"1"}, "w")
    store = Commented(path, mode="w" if first == "begin" else "a")
    assert not store._is_open
    if first == "read":
        assert value(store, "a") == b"1"
    else:
        store.set_sync("b", B(b"2"))
    assert store._is_open
    store.close()
    assert not store._is_open
    with zipfile.ZipFile(path) as other:
        assert other.comment == b"closed by hand"
        assert sorted(other.namelist()) == {"set": ["a", "b"], "begin": ["b"], "read": ["a"]}[first]
