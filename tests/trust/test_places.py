"""What stands in a chunk's place and is no chunk: refused on every way of reading, never waited for, never fill."""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.abc.store import RangeByteRequest, SuffixByteRequest
from zarr.errors import ChunkDecodeError, NotAValueError
from zarr.storage import FsspecStore, LocalStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the things themselves are POSIX's")


def fifo(path: Path, outside: Path) -> None:
    os.mkfifo(path)


def folder(path: Path, outside: Path) -> None:
    path.mkdir()


def bound_socket(path: Path, outside: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket may not be long
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def device(path: Path, outside: Path) -> None:
    path.symlink_to("/dev/zero")


def terminal(path: Path, outside: Path) -> None:
    path.symlink_to("/dev/tty")


def loop(path: Path, outside: Path) -> None:
    path.symlink_to(path)


def unreadable(path: Path, outside: Path) -> None:
    path.write_bytes(bytes(16))
    path.chmod(0)


THINGS: dict[str, Callable[[Path, Path], None]] = {
    make.__name__: make for make in (fifo, folder, bound_socket, device, terminal, loop, unreadable)
}
READS: dict[str, Callable[[Any], Any]] = {
    "bulk": lambda array: array[...],
    "one chunk": lambda array: array[4:8],
    "one element": lambda array: array[5],
    "part of all": lambda array: array[1:15:2],
    "points": lambda array: array.oindex[[0, 5, 9]],
}


@contextmanager
def without_rights(name: str, inside: Path) -> Iterator[None]:
    """Let root be nobody for a while, since root may read everything; the folders on the way are opened for that."""
    if name != "unreadable" or os.geteuid() != 0:
        yield
        return
    ways = (inside, *inside.parents)
    own = list(takewhile(lambda folder: not folder.stat().st_mode & stat.S_ISVTX, ways))  # up to /tmp, /dev/shm, ...
    if len(own) == len(ways) or not all(folder.stat().st_mode & 0o001 for folder in ways[len(own) :]):
        pytest.skip("nobody may not enter the folder of temporary files")
    for folder in own:
        folder.chmod(folder.stat().st_mode | 0o011)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def make_array(root: Path, **settings: Any) -> Any:
    array = zarr.create_array(
        LocalStore(root), name="a/b", shape=(16,), chunks=(4,), dtype="i4", compressors=None, fill_value=7, **settings
    )
    array[...] = np.arange(16)
    return array


def replaced(root: Path, name: str, **settings: Any) -> Any:
    array = make_array(root, **settings)
    place = root / "a/b/c/1"
    place.unlink()
    THINGS[name](place, root.parent)
    return array


def text_of(error: BaseException) -> str:
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("name", THINGS)
def test_what_is_no_chunk_is_refused(name: str, read: str, tmp_path: Path) -> None:
    array = replaced(tmp_path / "root", name)
    with without_rights(name, tmp_path), pytest.raises(OSError) as caught:
        READS[read](array)
    assert "c/1" in text_of(caught.value)
    assert "a/b" in text_of(caught.value)
    assert array[8:].tolist() == list(range(8, 16))


@pytest.mark.parametrize("name", THINGS)
def test_a_shard_likewise(name: str, tmp_path: Path) -> None:
    array = make_array(tmp_path / "root", shards=(8,))
    place = tmp_path / "root/a/b/c/1"
    place.unlink()
    THINGS[name](place, tmp_path)
    for read in (lambda: array[...], lambda: array[9], lambda: array[8:16]):
        with without_rights(name, tmp_path), pytest.raises(OSError) as caught:
            read()
        assert "c/1" in text_of(caught.value)


@pytest.mark.parametrize("name", [name for name in THINGS if name != "unreadable"])
def test_every_call_of_the_store_refuses_it(name: str, tmp_path: Path) -> None:
    """Reading raises; what asks whether there is a value says no; listing does not wait."""
    array = replaced(tmp_path / "root", name)
    store = array.store
    key = "a/b/c/1"
    for part in (None, RangeByteRequest(0, 4), SuffixByteRequest(4)):
        with pytest.raises(OSError):
            store.get_sync(key, byte_range=part)
    assert not store.exists_sync(key)
    with pytest.raises(OSError):
        store.getsize_sync(key)
    assert "a/b/c/0" in list(store.list_sync())
    assert "a/b/c/0" in list(store.list_prefix_sync("a/b"))
    assert "0" in list(store.list_dir_sync("a/b/c"))


@pytest.mark.parametrize("name", [name for name in THINGS if name not in {"folder", "unreadable"}])
def test_a_write_takes_its_place(name: str, tmp_path: Path) -> None:
    """A whole chunk is renamed over it: nothing is written into a device or through a link."""
    array = replaced(tmp_path / "root", name)
    array[...] = 3
    assert (array[...] == 3).all()
    assert (tmp_path / "root/a/b/c/1").is_file()
    assert not (tmp_path / "root/a/b/c/1").is_symlink()


def test_a_dangling_link_is_no_value(tmp_path: Path) -> None:
    array = make_array(tmp_path / "root")
    place = tmp_path / "root/a/b/c/1"
    place.unlink()
    place.symlink_to(tmp_path / "nothing")
    for read in READS.values():
        with pytest.raises(OSError) as caught:
            read(array)
        assert "c/1" in text_of(caught.value)


@pytest.mark.parametrize(("size", "reads"), [(0, "0"), (15, "15"), (17, "17"), (1 << 20, str(1 << 20))])
def test_too_short_or_too_long(size: int, reads: str, tmp_path: Path) -> None:
    array = make_array(tmp_path / "root")
    (tmp_path / "root/a/b/c/1").write_bytes(bytes(size))
    for read in READS.values():
        with pytest.raises(ChunkDecodeError, match=reads) as caught:
            read(array)
        assert caught.value.key == "a/b/c/1"
        assert caught.value.array == "a/b"


def test_links_may_lead_out_unless_they_may_not(tmp_path: Path) -> None:
    """A link to a chunk elsewhere is followed by default; `links="inside"` refuses it, and folders alike."""
    array = make_array(tmp_path / "root")
    place = tmp_path / "root/a/b/c/1"
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    assert array[...].tolist() == list(range(16))
    store = LocalStore(tmp_path / "root", links="inside")
    strict: Any = zarr.open_array(store, path="a/b")
    assert strict[0:4].tolist() == [0, 1, 2, 3]
    for read in READS.values():
        with pytest.raises(PermissionError) as caught:
            read(strict)
        assert "c/1" in text_of(caught.value)
    with pytest.raises(PermissionError):
        store.exists_sync("a/b/c/1")
    place.unlink()
    place.symlink_to(tmp_path / "root/a/b/c/0")
    assert strict[4:8].tolist() == [0, 1, 2, 3]


def test_a_linked_folder_that_leads_out(tmp_path: Path) -> None:
    make_array(tmp_path / "other")
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a").symlink_to(tmp_path / "other/a")
    assert zarr.open_array(LocalStore(tmp_path / "root"), path="a/b")[3] == 3
    store = LocalStore(tmp_path / "root", links="inside")
    with pytest.raises(PermissionError):
        zarr.open_array(store, path="a/b")
    with pytest.raises(PermissionError):
        store.set_sync("a/x", zarr.buffer.cpu.Buffer.from_bytes(b"x"))
    with pytest.raises(PermissionError):
        store.delete_dir_sync("a/b")
    assert list(store.list_sync()) == []
    assert not (tmp_path / "other/a/x").exists()
    assert store.with_read_only(True).links == "inside"
    with pytest.raises(ValueError, match="links"):
        LocalStore(tmp_path, links="sometimes")  # type: ignore[arg-type]


def test_names_up_to_the_limit_of_the_file_system(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "root")
    limit = os.pathconf(tmp_path, "PC_NAME_MAX")
    for name in ("n" * limit, "é" * (limit // 2)):
        array = zarr.create_array(store, name=name, shape=(4,), chunks=(2,), dtype="i4")
        array[...] = 5
        assert zarr.open_array(store, path=name)[...].tolist() == [5, 5, 5, 5]
        store.set_sync(f"{name}/{name}", zarr.buffer.cpu.Buffer.from_bytes(b"x"))
        assert store.get_sync(f"{name}/{name}").to_bytes() == b"x"  # type: ignore[union-attr]
    with pytest.raises(OSError) as caught:
        zarr.create_array(store, name="n" * (limit + 1), shape=(4,), chunks=(2,), dtype="i4")
    assert caught.value.errno == errno.ENAMETOOLONG


@pytest.mark.parametrize("target", ["/dev/zero", "pipe"])
def test_a_local_file_system_of_fsspec_waits_for_nothing(target: str, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    array = zarr.create_array(FsspecStore.from_url(f"file://{tmp_path}"), shape=(4,), chunks=(2,), dtype="i4")
    array[...] = 1
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "c" / "1").unlink()
    os.symlink(tmp_path / target, tmp_path / "c" / "1")
    with pytest.raises(NotAValueError):
        array[...]
    assert array[:2].tolist() == [1, 1]
