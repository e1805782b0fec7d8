"""The stores over databases: the contract, and what comes with transactions, threads, forks and full maps."""

from __future__ import annotations

import asyncio
import dbm.dumb
import multiprocessing
import os
import pickle
import sqlite3
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.abc.store import RangeByteRequest, SuffixByteRequest
from zarr.buffer import cpu
from zarr.buffer.core import default_buffer_prototype
from zarr.errors import ReadOnlyError
from zarr.storage import DBMStore, LMDBStore, LocalStore, MemoryStore, ObjectStore, SQLiteStore, WrapperStore
from zarr.storage.databases.dbm import DBMFile
from zarr.storage.databases.lmdb import ENVIRONMENTS, Environment
from zarr.storage.databases.sqlite import PAGE_BYTES
from zarr.testing.store import StoreTests

B = cpu.Buffer.from_bytes
posix = pytest.mark.skipif(sys.platform == "win32", reason="posix only")


class _Database(StoreTests[Any, cpu.Buffer]):
    """What the three have in common."""

    buffer_cls = cpu.Buffer

    async def set(self, store: Any, key: str, value: Any) -> None:
        store.with_read_only(False)._set_payloads([(key, value.to_bytes())])

    async def get(self, store: Any, key: str) -> Any:
        return B(store._get_payloads([key])[0])

    def test_store_supports_writes(self, store: Any) -> None:
        assert store.supports_writes

    def test_store_supports_listing(self, store: Any) -> None:
        assert store.supports_listing

    def test_store_repr(self, store: Any) -> None:
        assert str(store).endswith(f"://{store.path.as_posix()}")
        assert repr(store) == f"{type(store).__name__}('{store}')"

    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        kwargs = {"path": tmp_path / "data", **self.options()}
        with self.store_cls(**kwargs) as store:  # there is something to open for reading
            store.set_sync("k", B(b"1"))
            store.delete_sync("k")
        return kwargs

    def options(self) -> dict[str, Any]:
        return {}


class TestSQLite(_Database):
    store_cls = SQLiteStore


class TestSQLiteRollbackJournal(_Database):
    store_cls = SQLiteStore

    def options(self) -> dict[str, Any]:
        return {"journal": "truncate", "synchronous": "extra"}


class TestDBM(_Database):
    store_cls = DBMStore

    def options(self) -> dict[str, Any]:
        return {"opener": dbm.dumb.open}


class TestLMDB(_Database):
    store_cls = LMDBStore

    @pytest.fixture(autouse=True)
    def _needs_lmdb(self) -> None:
        pytest.importorskip("lmdb")

    def options(self) -> dict[str, Any]:
        return {"sync": False}


KINDS = ["sqlite", "lmdb", "dbm", "dbm.sqlite3"]


def make(kind: str, path: Path, **options: Any) -> Any:
    if kind == "lmdb":
        pytest.importorskip("lmdb")
        return LMDBStore(path, sync=False, **options)
    if kind == "dbm.sqlite3":
        return DBMStore(path, opener=pytest.importorskip("dbm.sqlite3").open, **options)
    return SQLiteStore(path, **options) if kind == "sqlite" else DBMStore(path, opener=dbm.dumb.open, **options)


def value(store: Any, key: str) -> bytes | None:
    found = store.get_sync(key)
    return None if found is None else found.to_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_and_groups(kind: str, tmp_path: Path) -> None:
    store = make(kind, tmp_path / "data")
    group = zarr.open_group(store, mode="w")
    data = np.random.default_rng(0).integers(0, 100, (50, 60))
    group.create_array("a/plain", data=data, chunks=(7, 9))
    group.create_array("a/sharded", data=data, chunks=(5, 5), shards=(20, 20))
    again = zarr.open_group(make(kind, tmp_path / "data"), mode="r+")
    assert sorted(again["a"].array_keys()) == ["plain", "sharded"]
    for name in ("a/plain", "a/sharded"):
        np.testing.assert_array_equal(again[name][...], data)
        again[name][3:20, ::7] = -1
        again[name].resize((40, 70))
    expected = np.zeros((40, 70), data.dtype)
    expected[:, :60] = data[:40]
    expected[3:20, 0:60:7] = -1
    for name in ("a/plain", "a/sharded"):
        np.testing.assert_array_equal(group[name][:, :60], expected[:, :60])
    del group["a"]
    assert list(store.list_sync()) == ["zarr.json"]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_made_for_a_look(kind: str, tmp_path: Path) -> None:
    store = make(kind, tmp_path / "typo")
    assert value(store, "a") is None
    assert not store.exists_sync("a")
    assert list(store.list_sync()) == list(store.list_dir_sync("a")) == []
    assert store._get_payloads(["a"]) == [None]
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        asyncio.run(type(store).open(tmp_path / "typo", read_only=True))


@pytest.mark.parametrize("kind", KINDS)
def test_read_only_refuses_every_change(kind: str, tmp_path: Path) -> None:
    make(kind, tmp_path / "data").set_sync("a/b", B(b"1"))
    store = make(kind, tmp_path / "data", read_only=True)
    assert value(store, "a/b") == b"1"
    for change in (
        lambda: store.set_sync("a", B(b"2")),
        lambda: store.delete_sync("a/b"),
        lambda: store.delete_dir_sync("a"),
        lambda: store.set_many_sync([("a", B(b"2"))]),
        lambda: store.set_if_match_sync("a", B(b"2"), None),
        lambda: asyncio.run(store.clear()),
    ):
        with pytest.raises(ReadOnlyError):
            change()
    writable = store.with_read_only(False)
    writable.set_sync("c", B(b"3"))
    assert value(store, "c") == b"3"


@pytest.mark.parametrize("kind", KINDS)
def test_pickles_go_by_path(kind: str, tmp_path: Path) -> None:
    store = make(kind, tmp_path / "data")
    store.set_sync("a", B(b"1"))
    other = pickle.loads(pickle.dumps(store))
    other.set_sync("b", B(b"2"))
    assert value(store, "b") == b"2"


@pytest.mark.parametrize("kind", KINDS)
def test_ranges_do_not_touch_the_rest(kind: str, tmp_path: Path) -> None:
    store = make(kind, tmp_path / "data")
    data = os.urandom(200_000)
    store.set_sync("a", B(data))
    for start, end in [(0, 1), (100_000, 150_000), (199_999, 300_000), (5, 5), (300_000, 300_001)]:
        assert store.get_sync("a", byte_range=RangeByteRequest(start, end)).to_bytes() == data[start:end]


@pytest.mark.parametrize("kind", KINDS)
def test_listing_by_range(kind: str, tmp_path: Path) -> None:
    store = make(kind, tmp_path / "data")
    keys = ["a", "a-b/x", "a/b", "a/b.c", "a/b/c/0", "a/b/c/1", "a/b0", "a/é/x", "a0", "b/\U0010ffff/x", "b/\U0010ffff"]
    for key in keys:
        store.set_sync(key, B(b""))
    for prefix in ["", "a", "a/", "a/b", "a/b/c", "b", "b/\U0010ffff", "nope"]:
        folder = f"{prefix.rstrip('/')}/" if prefix else ""
        names = {key[len(folder) :].split("/")[0] for key in keys if key.startswith(folder)}
        assert sorted(store.list_dir_sync(prefix)) == sorted(names), prefix
        assert sorted(store.list_prefix_sync(prefix)) == sorted(key for key in keys if key.startswith(prefix)), prefix
    store.delete_dir_sync("a")
    assert sorted(store.list_sync()) == sorted(key for key in keys if not key.startswith("a/"))


# ----------------------------------------------------------------------------------------------- compare and swap


def match_stores(tmp_path: Path) -> list[Any]:
    stores = [MemoryStore(), LocalStore(tmp_path / "local"), WrapperStore(MemoryStore())]
    kinds = [kind for kind in KINDS if find_spec(kind) or kind == "sqlite"]
    return stores + [make(kind, tmp_path / kind) for kind in kinds]


def test_set_if_match(tmp_path: Path) -> None:
    for store in match_stores(tmp_path):
        assert not store.set_if_match_sync("a/k", B(b"1"), B(b"0"))
        assert value(store, "a/k") is None
        assert store.set_if_match_sync("a/k", B(b"1"), None)
        assert not store.set_if_match_sync("a/k", B(b"2"), None)
        assert not store.set_if_match_sync("a/k", B(b"2"), B(b""))
        assert not store.set_if_match_sync("a/k", B(b"2"), B(b"11"))
        assert asyncio.run(store.set_if_match("a/k", B(b"2"), B(b"1")))
        assert value(store, "a/k") == b"2"
        assert store.set_if_match_sync("a/k", B(b""), B(b"2"))
        assert store.set_if_match_sync("a/k", B(b"3"), B(b""))
        assert value(store, "a/k") == b"3"


async def test_set_if_match_of_objects() -> None:
    obstore = pytest.importorskip("obstore.store")
    store: Any = ObjectStore(obstore.MemoryStore())

    async def count() -> None:
        for _ in range(10):
            while True:
                seen = await store.get("n", default_buffer_prototype())
                await asyncio.sleep(0)
                following = str(int(seen.to_bytes()) + 1 if seen is not None else 1).encode()
                if await store.set_if_match("n", B(following), seen):
                    break

    await asyncio.gather(*(count() for _ in range(4)))
    assert (await store.get("n", default_buffer_prototype())).to_bytes() == b"40"
    assert not await store.set_if_match("absent", B(b"1"), B(b"0"))
    assert store.supports_set_if_match
    assert not ObjectStore(obstore.LocalStore()).supports_set_if_match


def count_up(store: Any, times: int) -> None:
    for _ in range(times):
        while True:
            seen = store.get_sync("n")
            following = str(int(seen.to_bytes()) + 1 if seen is not None else 1).encode()
            if store.set_if_match_sync("n", B(following), seen):
                break


def test_set_if_match_among_threads(tmp_path: Path) -> None:
    for store in match_stores(tmp_path):
        others = [store] * 4
        if hasattr(store, "path"):
            others = [store, *(pickle.loads(pickle.dumps(store)) for _ in range(3))]
        threads = [threading.Thread(target=count_up, args=(other, 25)) for other in others]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert value(store, "n") == b"100", store


@pytest.mark.parametrize("method", ["spawn", pytest.param("fork", marks=posix)])
@pytest.mark.parametrize("kind", ["sqlite", "lmdb"])
def test_set_if_match_among_processes(kind: str, method: str, tmp_path: Path) -> None:
    store = make(kind, tmp_path / "data")
    store.set_sync("n", B(b"0"))  # the parent has it open, too
    context = multiprocessing.get_context(method)
    processes = [context.Process(target=count_up, args=(store, 25)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert value(store, "n") == b"100"
    assert store.supports_set_if_match


# ----------------------------------------------------------------------------------------------- transactions


@pytest.mark.parametrize("kind", ["sqlite", "lmdb"])
def test_many_values_are_one_transaction(kind: str, tmp_path: Path) -> None:
    store = make(kind, tmp_path / "data")
    store.set_sync("old", B(b"1"))
    with pytest.raises((TypeError, ValueError)):
        store._set_payloads([("old", None), ("new", b"2"), ("bad", 1.5 if kind == "lmdb" else object())])
    assert value(store, "old") == b"1"
    assert value(store, "new") is None
    store.set_many_sync([("old", None), ("new", B(b"2")), ("twice", B(b"3")), ("twice", B(b"4"))])
    assert sorted(store.list_sync()) == ["new", "twice"]
    assert value(store, "twice") == b"4"


KILLED = """
import os, sys
from zarr.storage import LMDBStore, SQLiteStore
from zarr.buffer.cpu import Buffer
cls = {"sqlite": SQLiteStore, "lmdb": LMDBStore}[sys.argv[1]]
store = cls(sys.argv[2])
for n in range(1, 10**9):
    store.set_many_sync([(f"k{i}", Buffer.from_bytes(b"%d" % n * 3000)) for i in range(20)])
    if n == 3:
        print("ready", flush=True)
"""


@posix
@pytest.mark.parametrize("kind", ["sqlite", "lmdb"])
def test_killed_writer_leaves_one_whole_state(kind: str, tmp_path: Path) -> None:
    store = make(kind, tmp_path / "data")
    for round_number in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, kind, str(tmp_path / "data")], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            threading.Event().wait(0.01 * round_number)
            process.kill()
        assert len({value(store, f"k{i}") for i in range(20)}) == 1
        store.set_sync("again", B(b"1"))


# ----------------------------------------------------------------------------------------------- threads and forks


@pytest.mark.parametrize("kind", KINDS)
def test_threads(kind: str, tmp_path: Path) -> None:
    store, errors = make(kind, tmp_path / "data"), []

    def work(number: int) -> None:
        try:
            for i in range(20):
                store.set_sync(f"{number}/{i}", B(b"%d" % i))
                assert value(store, f"{number}/{i}") == b"%d" % i
                assert len(list(store.list_prefix_sync(f"{number}/"))) == i + 1
        except BaseException as error:  # looked at below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(list(store.list_sync())) == 120


# ----------------------------------------------------------------------------------------------- SQLite


def test_sqlite_options(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="journal must be one of"):
        SQLiteStore(tmp_path / "x", journal="none")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="synchronous must be one of"):
        SQLiteStore(tmp_path / "x", synchronous="1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="path of a file"):
        SQLiteStore("")
    with pytest.raises(TypeError, match="must be a string or Path"):
        SQLiteStore(5)  # type: ignore[arg-type]
    for journal in ("wal", "delete", "truncate", "persist"):
        store = SQLiteStore(tmp_path / journal, journal=journal, synchronous="full")  # type: ignore[arg-type]
        store.set_sync("a", B(b"1"))
        with store._connections.reading() as connection:
            assert connection is not None
            assert connection.execute("PRAGMA journal_mode").fetchone() == (journal,)
            assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_sqlite_has_a_map_of_pages_in_new_files_only(tmp_path: Path) -> None:
    def modes(path: Path) -> list[int]:
        with SQLiteStore(path) as store:
            store.set_sync("a", B(b"1"))
        with sqlite3.connect(path) as connection:
            return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("auto_vacuum", "page_size")]

    incremental, full = 2, 1
    assert modes(tmp_path / "new") == modes(tmp_path / "new") == [incremental, PAGE_BYTES]
    for mode in (0, full):
        with sqlite3.connect(tmp_path / str(mode)) as connection:
            connection.execute(f"PRAGMA auto_vacuum = {mode}")
            connection.execute("CREATE TABLE zarr (k TEXT PRIMARY KEY, v BLOB)")
        connection.close()
        assert modes(tmp_path / str(mode)) == [mode, 4096]


def test_sqlite_finds_ranges_of_a_large_value_without_its_other_pages(tmp_path: Path) -> None:
    path, size = tmp_path / "x", 32 << 20
    with SQLiteStore(path) as store:
        store.set_sync("a", B(bytes(size)))
    with open(path, "r+b", buffering=0) as file:  # pages that are read from here on are damaged
        file.seek(8 << 20)
        file.write(b"\xff" * (8 << 20))
    with SQLiteStore(path, read_only=True) as store:
        end = store.get_sync("a", byte_range=SuffixByteRequest(1000))
        assert end is not None
        assert end.to_bytes() == bytes(1000)


def test_sqlite_names_with_odd_letters(tmp_path: Path) -> None:
    path = tmp_path / "a ?#%20 é.sqlite"
    with SQLiteStore(path) as store:
        store.set_sync("a", B(b"1"))
    assert path.is_file()
    with SQLiteStore(path, read_only=True) as store:
        assert value(store, "a") == b"1"


def test_sqlite_reads_what_zarr_python_2_wrote(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "old.sqldb") as connection:
        connection.execute("CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB)")
        connection.execute("INSERT INTO zarr VALUES ('.zgroup', ?)", (b'{"zarr_format": 2}',))
    connection.close()
    assert zarr.open_group(SQLiteStore(tmp_path / "old.sqldb"), mode="r").metadata.zarr_format == 2


def test_sqlite_url(tmp_path: Path) -> None:
    array = zarr.create_array(f"sqlite://{tmp_path}/data.db", shape=3, dtype="i4")
    array[:] = [1, 2, 3]
    assert isinstance(array.store, SQLiteStore)
    assert zarr.open_array(f"sqlite://{tmp_path}/data.db", mode="r")[:].tolist() == [1, 2, 3]


def test_sqlite_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"this is no database " * 100)
    with pytest.raises(OSError, match="not a database"):
        SQLiteStore(tmp_path / "bad").get_sync("a")
    with pytest.raises(OSError, match="not a database"):
        SQLiteStore(tmp_path / "bad").set_sync("a", B(b"1"))
    sqlite3.connect(tmp_path / "other").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(OSError, match="no table 'zarr'"):
        SQLiteStore(tmp_path / "other", read_only=True).get_sync("a")


def test_sqlite_locked_by_others_for_too_long(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "data", timeout=0.05)
    store.set_sync("a", B(b"1"))
    other = sqlite3.connect(tmp_path / "data", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(TimeoutError, match=r"more than 0\.05 seconds"):
        store.set_sync("a", B(b"2"))
    assert value(store, "a") == b"1"
    other.execute("ROLLBACK")
    store.set_sync("a", B(b"2"))
    other.close()


@posix
def test_sqlite_on_a_medium_that_cannot_be_written_to(tmp_path: Path) -> None:
    folder = tmp_path / "fixed"
    with SQLiteStore(folder / "data") as store:
        store.set_sync("a", B(b"1"))
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    (folder / "data").chmod(stat.S_IRUSR)
    try:
        with SQLiteStore(folder / "data", read_only=True) as store:
            assert value(store, "a") == b"1"
    finally:
        folder.chmod(0o700)


def test_sqlite_closes_its_files(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "data")
    store.set_sync("a", B(b"1"))
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["data"], "the log is folded up"
    assert value(store, "a") == b"1"


# ----------------------------------------------------------------------------------------------- LMDB


def test_lmdb_map_grows(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    store = LMDBStore(tmp_path / "data", map_size=1 << 16, sync=False)
    stop, errors = threading.Event(), []

    def read() -> None:
        try:
            while not stop.is_set():
                assert value(store, "k0") in (None, b"\0" * 50_000)
        except BaseException as error:  # looked at below
            errors.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for i in range(100):
        store.set_sync(f"k{i}", B(b"%c" % i * 50_000))
    store.set_many_sync([(f"m{i}", B(bytes(100_000))) for i in range(100)])
    stop.set()
    reader.join()
    assert not errors
    assert all(value(store, f"k{i}") == b"%c" % i * 50_000 for i in range(100))


GROW = """
import sys
from zarr.storage import LMDBStore
from zarr.buffer.cpu import Buffer
LMDBStore(sys.argv[1], map_size=1 << 16).set_sync("big", Buffer.from_bytes(bytes(10_000_000)))
"""


def test_lmdb_map_grown_by_another_process(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    store = LMDBStore(tmp_path / "data", map_size=1 << 16)
    store.set_sync("a", B(b"1"))
    subprocess.run([sys.executable, "-c", GROW, str(tmp_path / "data")], check=True)
    assert value(store, "big") == bytes(10_000_000)
    store.set_sync("b", B(b"2"))
    assert value(store, "b") == b"2"


def test_lmdb_one_environment_a_path(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    LMDBStore(tmp_path / "data").set_sync("a", B(b"1"))
    reader = LMDBStore(tmp_path / "data", read_only=True)
    assert value(reader, "a") == b"1"
    writer = LMDBStore(tmp_path / "data")
    writer.set_sync("a", B(b"2"))
    assert value(reader, "a") == b"2"
    options = {"sync": True, "map_size": 1 << 20, "subdir": True}
    one, other = (
        ENVIRONMENTS.get(store.path, Environment, read_only=store.read_only, **options) for store in (reader, writer)
    )
    assert one is other
    for _ in range(50):
        writer = LMDBStore(tmp_path / "data")
        assert value(writer, "a") == b"2"
        writer.close()


def test_lmdb_long_keys_are_refused_by_name(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    store = LMDBStore(tmp_path / "data")
    assert value(store, "k" * 600) is None
    store.set_sync("k" * 511, B(b"1"))
    with pytest.raises(ValueError, match="600 bytes, and LMDB takes up to 511"):
        store.set_sync("k" * 600, B(b"1"))
    with pytest.raises(ValueError, match="LMDB takes"):
        store.put_if_absent_sync("k" * 600, B(b"1"))
    assert value(store, "k" * 600) is None
    assert not store.exists_sync("k" * 600)
    store.delete_sync("k" * 600)


def test_lmdb_in_one_file(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    LMDBStore(tmp_path / "data.lmdb", subdir=False).set_sync("a", B(b"1"))
    assert (tmp_path / "data.lmdb").is_file()
    assert value(LMDBStore(tmp_path / "data.lmdb", read_only=True), "a") == b"1"


def test_lmdb_is_optional(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "lmdb", None)
    with pytest.raises(ImportError, match=r"pip install 'zarr\[lmdb\]'"):
        LMDBStore(tmp_path / "data")


def test_a_removal_makes_no_file(tmp_path: Path) -> None:
    store = DBMStore(tmp_path / "data", opener=dbm.dumb.open)
    store.delete_sync("a")
    store.set_many_sync([("a", None), ("b", None)])
    assert list(tmp_path.iterdir()) == []
    store.set_many_sync([("a", None), ("b", B(b"1"))])
    store.delete_sync("b")
    assert not store.exists_sync("b")
    with pytest.raises(ReadOnlyError):
        store.with_read_only(read_only=True).delete_sync("a")


def test_dbm_takes_any_module(tmp_path: Path) -> None:
    store = DBMStore(tmp_path / "data", opener=dbm.dumb.open, mode=0o600)
    store.set_sync("a", B(b"1"))
    assert DBMStore(tmp_path / "data").get_sync("a").to_bytes() == b"1"  # type: ignore[union-attr]

    def broken(path: str, flag: str) -> Any:
        raise dbm.error[0]("no such thing")  # type: ignore[index]

    with pytest.raises(OSError, match="no such thing"):
        DBMStore(tmp_path / "other", opener=broken).set_sync("a", B(b"1"))


def expect(store: Any, key: str, data: bytes) -> None:
    assert value(store, key) == data


@posix
@pytest.mark.parametrize("kind", ["dbm", "dbm.sqlite3"])
def test_a_dbm_file_is_used_by_parent_and_child(kind: str, tmp_path: Path) -> None:
    store = make(kind, tmp_path / "data")
    store.set_sync("a", B(b"1"))
    process = multiprocessing.get_context("fork").Process(target=expect, args=(store, "a", b"1"))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    store.set_sync("b", B(b"2"))
    store.close()
    assert (value(store, "a"), value(store, "b")) == (b"1", b"2")


def test_a_dbm_file_is_used_by_threads_whoever_has_opened_it(tmp_path: Path) -> None:
    for kind in ("dbm", "dbm.sqlite3") if find_spec("dbm.sqlite3") else ("dbm",):
        reader = make(kind, tmp_path / kind, read_only=True)
        store = make(kind, tmp_path / kind)
        for turn in range(3):
            key = f"a/{turn}"
            with ThreadPoolExecutor(1) as pool:
                pool.submit(store.set_sync, key, B(b"1")).result()
            assert value(reader, key) == b"1"
            store.set_sync(key, B(b"2"))
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(value, reader, key).result() == b"2"
        reader.close()
        store.close()


def test_a_dbm_file_that_is_read_while_it_is_made_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make("dbm", tmp_path / "data").set_sync("a", B(b"1"))
    reader = make("dbm", tmp_path / "data", read_only=True)
    close, threads = DBMFile.close, []

    def close_while_another_reads(file: DBMFile) -> None:
        close(file)
        threads.append(threading.Thread(target=value, args=(reader, "a")))
        threads[0].start()
        threads[0].join(0.3)  # it waits for the file; otherwise it opens it for reading, for all

    assert value(reader, "a") == b"1"
    with monkeypatch.context() as patch:
        patch.setattr(DBMFile, "close", close_while_another_reads)
        store = make("dbm", tmp_path / "data")
        store.set_sync("b", B(b"2"))
    threads[0].join()
    assert (value(reader, "a"), value(reader, "b")) == (b"1", b"2")
    reader.close()
    store.close()
