"""What somebody else put into a store under a name that is no key is neither listed nor reached."""

from __future__ import annotations

import asyncio
import base64
import os
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import zarr
from tests.stores import make
from tests.trust.test_keys import drain, fsspec_store
from zarr.buffer.cpu import Buffer
from zarr.errors import KeyNotAllowedError, StoreDamagedError
from zarr.storage import (
    DBMStore,
    FsspecStore,
    LMDBStore,
    LocalStore,
    MappingStore,
    MemoryStore,
    ReferenceStore,
    SQLiteStore,
    ZipStore,
)

BAD = [
    "../x", "a/../x", "/abs", "q\\r", "a//b", "a/./b", "..", "a\0b", ".", "a/..\\x/zarr.json",
    "a/../x/zarr.json", "a/q\\r/zarr.json", "a/../zarr.json", "../zarr.json",
]  # fmt: skip


def sound() -> dict[str, bytes]:
    store = MemoryStore()
    zarr.create_group(store, path="a").create_array("x", shape=(4,), chunks=(2,), dtype="i4")[...] = 1
    return {key: value.to_bytes() for key, value in store._store_dict.items()}


SOUND = sound()
HOSTILE = SOUND | dict.fromkeys(BAD, SOUND["a/zarr.json"])


def sqlite_store(path: Path) -> Any:
    SQLiteStore(path / "a.sqlite", journal="delete").set_sync("zarr.json", Buffer.from_bytes(b""))
    connection = sqlite3.connect(path / "a.sqlite")
    connection.executemany("INSERT OR REPLACE INTO zarr VALUES (?, ?)", [*HOSTILE.items(), ("", b""), (b"blob", b"")])
    connection.commit()
    connection.close()
    return SQLiteStore(path / "a.sqlite")


def lmdb_store(path: Path) -> Any:
    lmdb = pytest.importorskip("lmdb")
    with lmdb.open(str(path / "a.lmdb")) as environment, environment.begin(write=True) as transaction:
        for key, value in HOSTILE.items():
            transaction.put(key.encode(), value)
        transaction.put(b"a/\xff\xfe/zarr.json", SOUND["a/zarr.json"])
    return LMDBStore(path / "a.lmdb")


def dbm_store(path: Path) -> Any:
    import dbm

    with dbm.open(str(path / "a.dbm"), "n") as database:
        for key, value in HOSTILE.items():
            database[key.encode()] = value
        database[b"a/\xff\xfe/zarr.json"] = SOUND["a/zarr.json"]
    return DBMStore(path / "a.dbm")


def folder(path: Path) -> Path:
    for key, value in SOUND.items():
        (path / key).parent.mkdir(parents=True, exist_ok=True)
        (path / key).write_bytes(value)
    for name in ("q\\r", "..\\x") if os.name == "posix" else ():
        (path / "a" / name).mkdir()
        (path / "a" / name / "zarr.json").write_bytes(SOUND["a/zarr.json"])
    return path


def zip_store(path: Path) -> Any:
    with zipfile.ZipFile(path / "a.zip", "w") as archive:
        for key, value in HOSTILE.items():
            if "\0" not in key:  # the writer cuts names there
                archive.writestr(zipfile.ZipInfo(key), value)
    return ZipStore(path / "a.zip")


def references() -> dict[str, Any]:
    return {"version": 1, "refs": {key: "base64:" + base64.b64encode(raw).decode() for key, raw in HOSTILE.items()}}


def fsspec_references(path: Path) -> Any:
    fsspec = pytest.importorskip("fsspec")
    options = {"fo": references(), "asynchronous": True, "remote_protocol": "memory"}
    return FsspecStore(fsspec.filesystem("reference", **options))


def obstore_local(path: Path) -> Any:
    folder(path / "store")
    return make("obstore-local", path)


STORES: dict[str, Callable[[Path], Any]] = {
    "memory": lambda path: MemoryStore({key: Buffer.from_bytes(raw) for key, raw in HOSTILE.items()}),
    "mapping": lambda path: MappingStore(dict(HOSTILE)),
    "sqlite": sqlite_store,
    "lmdb": lmdb_store,
    "dbm": dbm_store,
    "local": lambda path: LocalStore(folder(path / "inside")),
    "fsspec local": lambda path: fsspec_store(f"file://{folder(path / 'inside')}"),
    "obstore local": obstore_local,
    "zip": zip_store,
    "references": lambda path: ReferenceStore(references()),
    "references by fsspec": fsspec_references,
}


@pytest.mark.parametrize("name", STORES)
def test_names_that_are_no_keys_are_not_listed(name: str, tmp_path: Path) -> None:
    """A program that stores what it lists elsewhere, under the same names, writes nothing outside."""
    store = STORES[name](tmp_path)
    listed = [
        *asyncio.run(drain(store.list())),
        *asyncio.run(drain(store.list_prefix("a"))),
        *[f"a/{part}" for part in asyncio.run(drain(store.list_dir("a")))],
        *asyncio.run(drain(store.list_dir(""))),
    ]
    for key in listed:
        assert ".." not in key
        assert "\\" not in key
        assert "\0" not in key
        assert not key.startswith("/")
        assert "//" not in key
        key.encode()
    assert set(SOUND) <= set(listed)
    group: Any = zarr.open_group(store, path="a", mode="r")
    assert [path for path, _ in group.members(max_depth=None)] == ["x"]
    assert list(group.keys()) == ["x"]
    assert "x" in repr(group.tree())
    assert group["x"][...].tolist() == [1] * 4
    target = tmp_path / "target" / "deep"
    zarr.copy_store(store, LocalStore(target))
    assert os.listdir(tmp_path / "target") == ["deep"]
    store.close()


@pytest.mark.skipif(os.name != "posix", reason="file names are text elsewhere")
@pytest.mark.parametrize("kind", ["local", "fsspec local", "obstore local"])
def test_a_file_name_that_is_no_text(kind: str, tmp_path: Path) -> None:
    store = STORES[kind](tmp_path)
    try:
        (tmp_path / "inside/a" / os.fsdecode(b"\xff\xfe")).write_bytes(b"")
    except OSError:
        pytest.skip("the file system takes text only")
    try:
        assert [path for path, _ in zarr.open_group(store, path="a", mode="r").members()] == ["x"]
    except StoreDamagedError:
        assert kind == "obstore local"
    with pytest.raises(KeyNotAllowedError):
        asyncio.run(store.exists("a/\udcff"))
