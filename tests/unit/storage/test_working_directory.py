"""A store that was named by a relative path stays where it was made, whatever the working directory becomes."""

from __future__ import annotations

import asyncio
import dbm.dumb
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
import zarr.h5py_compat
from zarr.abc.store import Store
from zarr.buffer.core import default_buffer_prototype
from zarr.buffer.cpu import Buffer
from zarr.errors import NodeNotFoundError
from zarr.experimental.cache_store import CacheStore
from zarr.storage import (
    DBMStore,
    FsspecStore,
    LMDBStore,
    LocalStore,
    LoggingStore,
    MappingStore,
    MemoryStore,
    ObjectStore,
    ReferenceStore,
    SQLiteStore,
    WrapperStore,
    ZipStore,
)


def _fsspec(name: str) -> Store:
    local = pytest.importorskip("fsspec.implementations.local")
    return FsspecStore(local.LocalFileSystem(auto_mkdir=True), path=name)


def _fsspec_mapper(name: str) -> Store:
    fsspec = pytest.importorskip("fsspec")
    return FsspecStore.from_mapper(fsspec.get_mapper(f"file://{name}", auto_mkdir=True))


def _obstore(name: str) -> Store:
    obstore = pytest.importorskip("obstore.store")
    return ObjectStore(obstore.LocalStore(prefix=name, mkdir=True))


def _lmdb(name: str) -> Store:
    pytest.importorskip("lmdb")
    return LMDBStore(name, sync=False, map_size=1 << 16)


STORES: dict[str, Callable[[str], Store]] = {
    "local": LocalStore,
    "local-path": lambda name: LocalStore(Path(name)),
    "local-up": lambda name: LocalStore(os.path.join("../here/.", name)),
    "zip": lambda name: ZipStore(name, mode="w" if not os.path.exists(name) else "a"),
    "sqlite": SQLiteStore,
    "sqlite-url": lambda name: SQLiteStore.from_url(f"sqlite://{name}"),
    "lmdb": _lmdb,
    "dbm": lambda name: DBMStore(name, opener=dbm.dumb.open),
    "fsspec": _fsspec,
    "fsspec-mapper": _fsspec_mapper,
    "fsspec-url": lambda name: FsspecStore.from_url(f"file://{name}", storage_options={"auto_mkdir": True}),
    "obstore": _obstore,
    "wrapper": lambda name: WrapperStore(LocalStore(name)),
    "logging": lambda name: LoggingStore(LocalStore(name), log_level="CRITICAL"),
    "cache": lambda name: CacheStore(LocalStore(name), cache_store=MemoryStore()),
    "cache-in-folder": lambda name: CacheStore(MemoryStore(), cache_store=LocalStore(name)),
    "mapping": lambda name: MappingStore(zarr.DirectoryStore(name)),
    "v2-directory": zarr.DirectoryStore,
    "v2-nested": zarr.NestedDirectoryStore,
    "v2-zip": zarr.ZipStore,
    "v2-sqlite": zarr.SQLiteStore,
    "v2-dbm": lambda name: zarr.DBMStore(name, open=dbm.dumb.open),
    "v2-fsspec": zarr.storage.FSStore,
    "v2-cache": lambda name: zarr.LRUStoreCache(zarr.DirectoryStore(name), max_size=1 << 20),
    "v2-temp": lambda name: zarr.TempStore(dir=_made(name)),
}
PICKLED = [kind for kind in STORES if kind not in ("mapping", "cache-in-folder", "v2-cache")]
LASTING = [kind for kind in STORES if kind != "v2-temp"]


def _made(name: str) -> str:
    os.makedirs(name, exist_ok=True)
    return name


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, beside another one to change to."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def _leave(here: Path) -> None:
    os.chdir(here.parent / "there")


@pytest.mark.parametrize("kind", LASTING)
def test_what_is_written_after_leaving_lies_where_the_store_was_made(kind: str, here: Path) -> None:
    store = STORES[kind]("data.x")
    array = zarr.create_array(store, name="a", shape=6, chunks=2, dtype="i4", fill_value=-1)
    array[:2] = [1, 2]
    _leave(here)
    array[2:4] = [3, 4]
    group = zarr.open_group(store, mode="a")
    group.create_array("b", data=np.arange(3, dtype="i4"))
    group.attrs["unit"] = "m"
    np.testing.assert_array_equal(zarr.open_array(store, path="a", mode="r")[:], [1, 2, 3, 4, -1, -1])
    store.with_read_only(read_only=True)
    store.close()
    assert os.listdir() == []
    again = STORES[kind](str(here / "data.x"))
    if kind == "cache-in-folder":  # what is kept of the other store lies there
        assert asyncio.run(again._cache.exists("a/zarr.json"))  # type: ignore[attr-defined]
        return
    np.testing.assert_array_equal(zarr.open_array(again, path="a", mode="r")[:], [1, 2, 3, 4, -1, -1])
    np.testing.assert_array_equal(zarr.open_array(again, path="b", mode="r")[:], [0, 1, 2])
    assert zarr.open_group(again, mode="r").attrs["unit"] == "m"
    again.close()


@pytest.mark.parametrize("kind", LASTING)
def test_a_store_that_was_not_used_before_leaving(kind: str, here: Path) -> None:
    store = STORES[kind]("data.x")
    _leave(here)
    zarr.create_array(store, name="a", data=np.arange(4, dtype="i4"))
    copy = store.with_read_only(read_only=True)
    np.testing.assert_array_equal(zarr.open_array(copy, path="a", mode="r")[:], [0, 1, 2, 3])
    assert copy == copy.with_read_only(read_only=True)
    store.close()
    assert os.listdir() == []


@pytest.mark.parametrize("kind", PICKLED)
def test_pickled_before_leaving(kind: str, here: Path) -> None:
    store = STORES[kind]("data.x")
    array = zarr.create_array(store, name="a", data=np.arange(4, dtype="i4"), chunks=2)
    unused = pickle.dumps(STORES[kind]("data.x"))
    store.close()
    if kind in ("zip", "v2-zip"):
        array = zarr.open_array(STORES[kind]("data.x"), path="a", mode="r+")
    pickled = pickle.dumps(array), pickle.dumps(array.store)
    _leave(here)
    again: Any = pickle.loads(pickled[0])
    np.testing.assert_array_equal(again[:], [0, 1, 2, 3])
    assert pickle.loads(pickled[1]) == array.store
    again[1] = 9
    again.store.close()
    if kind not in ("zip", "v2-zip", "v2-temp"):
        np.testing.assert_array_equal(zarr.open_array(pickle.loads(unused), path="a", mode="r")[:], [0, 9, 2, 3])
    assert os.listdir() == []


@pytest.mark.parametrize("kind", ["local", "zip", "sqlite", "lmdb", "dbm", "fsspec"])
def test_names_are_shown_as_they_were_given(kind: str, here: Path) -> None:
    store: Any = STORES[kind]("data.x")
    shown = str(store), repr(store)
    assert str(here) not in shown[0] or kind == "fsspec"
    _leave(here)
    assert (str(store), repr(store)) == shown
    copy = store.with_read_only(read_only=True)
    assert str(copy) == shown[0] or kind == "fsspec"
    assert str(pickle.loads(pickle.dumps(store))) == shown[0] or kind == "fsspec"
    if kind != "fsspec":
        assert (store.root if kind == "local" else store.path) == Path("data.x")
        assert (copy.root if kind == "local" else copy.path) == Path("data.x")


@pytest.mark.parametrize("make", [LocalStore, lambda name: ZipStore(name, mode="a")])
def test_equal_are_those_of_one_name_in_one_folder(make: Callable[[str], Any], here: Path) -> None:
    store = make("data.x")
    assert store == make("data.x")
    assert store == make("./data.x")
    assert store != make(str(here / "data.x"))  # as in zarr-python, which compares names
    _leave(here)
    assert store != make("data.x")


@pytest.mark.parametrize("kind", ["local", "zip", "sqlite", "lmdb", "dbm", "fsspec", "obstore"])
def test_locks_are_those_of_the_place(kind: str, here: Path) -> None:
    store: Any = STORES[kind]("data.x")
    _leave(here)
    assert store.lock_prefix == STORES[kind](str(here / "data.x")).lock_prefix  # type: ignore[attr-defined]
    if kind in ("local", "sqlite", "lmdb", "obstore"):
        there = STORES[kind](str(here / "data.x")).lock_folder("a")  # type: ignore[attr-defined]
        assert os.path.realpath(store.lock_folder("a")) == os.path.realpath(there)


@pytest.mark.parametrize("name", ["a.zarr", "a.zip", Path("a.zarr"), Path("a.zip"), "file://a.zarr", "file:a.zip"])
def test_what_open_and_save_make(name: Any, here: Path) -> None:
    group = zarr.open_group(name, mode="w")
    _leave(here)
    group.create_array("x", data=np.arange(3))
    group.store.close()
    assert os.listdir() == []
    found = zarr.open_group(here / str(name).removeprefix("file:").removeprefix("//"), mode="r")
    np.testing.assert_array_equal(found["x"][:], [0, 1, 2])


def test_a_transaction_and_its_journal(here: Path) -> None:
    zarr.open_group("data.zarr", mode="w")
    with zarr.transaction("data.zarr") as changes:
        changes.group().create_array("x", data=np.arange(3))
        _leave(here)
        changes.group().create_array("y", data=np.arange(4))
    np.testing.assert_array_equal(zarr.open_array(here / "data.zarr", path="y", mode="r")[:], np.arange(4))
    assert os.listdir() == []


def test_a_folder_that_is_replaced_and_one_that_is_moved(here: Path) -> None:
    store = LocalStore("data.zarr")
    zarr.create_array(store, data=np.arange(3))
    _leave(here)
    zarr.create_array(store, data=np.arange(4), overwrite=True)
    asyncio.run(store.move("moved.zarr"))
    assert os.listdir() == ["moved.zarr"]
    os.chdir(here)
    assert zarr.open_array(store, mode="r").shape == (4,)
    assert str(store) == "file://moved.zarr"


def test_a_zip_file_that_is_moved(here: Path) -> None:
    store = ZipStore("data.zip", mode="w")
    zarr.create_array(store, data=np.arange(3))
    _leave(here)
    asyncio.run(store.move("moved.zip"))
    os.chdir(here)
    assert zarr.open_array(store, mode="r").shape == (3,)
    store.close()


def test_lock_files_of_a_synchronizer(here: Path) -> None:
    synchronizer = zarr.ProcessSynchronizer("locks")
    array = zarr.open_array("data.zarr", mode="w", shape=10, dtype="i4", synchronizer=synchronizer)
    _leave(here)
    array[2:5] = 1
    pickle.loads(pickle.dumps(array))[5] = 1
    with pickle.loads(pickle.dumps(synchronizer))["key"]:
        pass
    assert os.listdir() == []
    assert zarr.open_array(here / "data.zarr", mode="r")[:].sum() == 4


def test_references(here: Path) -> None:
    (here / "values.bin").write_bytes(bytes(range(8)))
    table = {".zgroup": '{"zarr_format":2}', "a/0": ["values.bin", 2, 4]}
    (here / "refs.json").write_text(json.dumps(table))
    stores = [
        ReferenceStore.from_path("refs.json"),
        ReferenceStore(table, folder="."),
        ReferenceStore(table, folder=""),
        ReferenceStore(table, allow_outside=True),
        zarr.open_group("refs.json", mode="r").store,
    ]
    pickled = pickle.dumps(stores)
    _leave(here)
    for store in [*stores, *pickle.loads(pickled)]:
        found = store.get_sync("a/0")
        assert found is not None
        assert found.to_bytes() == bytes(range(2, 6))


def test_links_between_files(here: Path) -> None:
    h5 = zarr.h5py_compat
    with h5.File("other.zarr", "w") as other:
        other["x"] = np.arange(3)
    with h5.File("data.zarr", "w") as file:
        file["link"] = h5.ExternalLink("other.zarr", "/x")
        _leave(here)
        assert file.filename == "data.zarr"
        assert file["link"][2] == 2


def test_a_zip_file_is_whole_after_the_program_has_ended(here: Path) -> None:
    program = (
        "import os, zarr; from zarr.storage import ZipStore; store = ZipStore('data.zip', mode='w');"
        "kept = zarr.create_array(store, data=__import__('numpy').arange(5)); os.chdir('../there')"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    assert os.listdir() == ["data.zip"]
    assert zarr.open_array("data.zip", mode="r")[4] == 4


def _write_there(array: Any, there: str) -> None:
    os.chdir(there)
    array[2:] = 7
    array.store.close()


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("kind", ["local", "sqlite", "lmdb", "dbm"])
def test_children_in_other_folders(method: str, kind: str, here: Path) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("this system does not fork")
    store = STORES[kind]("data.x")
    array = zarr.create_array(store, name="a", data=np.arange(4, dtype="i4"), chunks=2)
    store.close()
    child = multiprocessing.get_context(method).Process(target=_write_there, args=(array, str(here.parent / "there")))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    np.testing.assert_array_equal(zarr.open_array(store, path="a", mode="r")[:], [0, 1, 7, 7])
    assert os.listdir(here.parent / "there") == []


def test_what_is_not_there_is_named_as_it_was_asked_for(here: Path) -> None:
    for name in ("none.zarr", Path("none.zarr"), "none.zip", Path("none.zip")):
        with pytest.raises(FileNotFoundError, match=f"^{name} does not exist$") as caught:
            zarr.open(name, mode="r")
        assert isinstance(caught.value, NodeNotFoundError)


def test_bytes_of_a_key(here: Path) -> None:
    store = LocalStore("data.x")
    _leave(here)
    asyncio.run(store.set("a/b", Buffer.from_bytes(b"value")))
    found = asyncio.run(store.get("a/b", default_buffer_prototype()))
    assert found is not None
    assert found.to_bytes() == b"value"
    assert (here / "data.x" / "a" / "b").read_bytes() == b"value"
