"""Damaged zip archives and SQLite databases: the right data, or a documented error; never a raw one, never a crash."""

from __future__ import annotations

import os
import random
import sqlite3
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.fuzzing.cases import DOCUMENTED
from zarr.abc.store import RangeByteRequest
from zarr.errors import StoreDamagedError
from zarr.storage import LMDBStore, SQLiteStore, ZipStore

CASES = 60
MAKE: dict[str, Callable[[Path], Any]] = {"zip": lambda path: ZipStore(path, mode="w"), "sqlite": SQLiteStore}
OPEN: dict[str, Callable[[Path], Any]] = {
    "zip": lambda path: ZipStore(path, mode="r"),
    "sqlite": lambda path: SQLiteStore(path, read_only=True),
}


def sound(kind: str, path: Path) -> bytes:
    store = MAKE[kind](path)
    group = zarr.create_group(store, path="a")
    for name in ("x", "y", "z"):
        array = group.create_array(name, shape=(16,), chunks=(4,), dtype="i4", attributes={"unit": "m" * 200})
        array[...] = np.arange(16)
    store.close()
    return path.read_bytes()


def damaged(raw: bytes, pick: random.Random) -> bytes:
    data = bytearray(raw)
    for _ in range(pick.choice([1, 1, 2, 5])):
        near_end = pick.random() < 0.5  # where a zip archive has its directory
        place = len(data) - 1 - pick.randrange(min(len(data), 1500)) if near_end else pick.randrange(len(data))
        kind = pick.randrange(4)
        if kind == 0:
            data[place] ^= 1 << pick.randrange(8)
        elif kind == 1:
            width = pick.choice([1, 2, 4, 8])
            data[place : place + width] = pick.choice([b"\0", b"\xff", b"\x7f"]) * width
        elif kind == 2 and pick.random() < 0.3:
            data = data[: max(place, 1)]
        else:
            data[place : place + 8] = data[pick.randrange(len(data)) :][:8]
    return bytes(data)


def use(store: Any) -> None:
    group = zarr.open_group(store, path="a", mode="r")
    for _, member in group.members():
        member[...]  # type: ignore[index]
    list(store.list_sync())


@pytest.mark.parametrize("kind", MAKE)
def test_damaged_containers(kind: str, tmp_path: Path) -> None:
    raw, pick = sound(kind, tmp_path / "sound"), random.Random(5)
    refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(CASES):
            path = tmp_path / f"{number}.{kind}"
            path.write_bytes(damaged(raw, pick))
            try:
                store = OPEN[kind](path)
                try:
                    use(store)
                finally:
                    store.close()
            except DOCUMENTED:
                refused += 1
    assert refused > 4


@pytest.mark.parametrize("kind", MAKE)
def test_what_is_no_container_says_so(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("something else" * 100)
    with pytest.raises(StoreDamagedError, match="text"):
        use(OPEN[kind](path))


# A database may hold rows that this library would not write, or a table that is none.
ROWS: dict[str, str] = {
    "number for a chunk": "UPDATE zarr SET v = 5 WHERE k = 'a/x/c/1'",
    "nothing for a chunk": "UPDATE zarr SET v = NULL WHERE k = 'a/x/c/1'",
    "text for a document": "UPDATE zarr SET v = CAST(v AS TEXT) WHERE k = 'a/x/zarr.json'",
    "float for a document": "UPDATE zarr SET v = 1.5 WHERE k = 'a/x/zarr.json'",
    "key that is no text": "INSERT INTO zarr VALUES (CAST(x'612fff' AS TEXT), x'00')",
    "no table": "DROP TABLE zarr",
    "other columns": "DROP TABLE zarr; CREATE TABLE zarr (a, b)",
    "computed column": "DROP TABLE zarr; CREATE TABLE zarr (k, v AS (zeroblob(1000000000)))",
    "trigger": "CREATE TRIGGER t BEFORE UPDATE ON zarr BEGIN DELETE FROM zarr; END",
    "view": "ALTER TABLE zarr RENAME TO z; CREATE VIEW zarr AS SELECT k, v FROM z",
    "view without end": "ALTER TABLE zarr RENAME TO z; CREATE VIEW zarr AS "
    "WITH RECURSIVE c(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM c) SELECT k, k AS v FROM c",
}


def plain_database(path: Path) -> None:
    sound("sqlite", path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = delete")
    connection.close()


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("name", ROWS)
def test_a_database_that_is_not_what_it_should_be(name: str, read_only: bool, tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite"
    plain_database(path)
    connection = sqlite3.connect(path)
    connection.executescript(ROWS[name])
    connection.close()
    store = SQLiteStore(path, read_only=read_only)
    with pytest.raises(StoreDamagedError, match=r"data\.sqlite"):
        use(store)
    store.close()


@pytest.mark.parametrize("name", ["number for a chunk", "nothing for a chunk"])
def test_a_row_of_a_wrong_type_by_every_call(name: str, tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite"
    plain_database(path)
    connection = sqlite3.connect(path)
    connection.executescript(ROWS[name])
    connection.close()
    store = SQLiteStore(path)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: store.get_sync("a/x/c/1"),
        lambda: store.get_sync("a/x/c/1", byte_range=RangeByteRequest(0, 1)),
        lambda: store.get_many_sync(["a/x/c/0", "a/x/c/1"]),
        lambda: store.getsize_sync("a/x/c/1"),
    )
    for call in calls:
        with pytest.raises(StoreDamagedError, match="a/x/c/1"):
            call()
    store.close()


def outcome(action: Callable[[], Any]) -> int:
    """How a forked child ends that does something: 0, 2 where it was refused, 3 where it failed; else its signal."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            action()
            code = 0
        except DOCUMENTED:
            code = 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(sys.platform != "linux", reason="the test forks, which is safe with LMDB on Linux only")
@pytest.mark.parametrize("content", [b"text" * 5000, bytes(20_000), b"\xff" * 20_000])
def test_what_is_no_lmdb_file_says_so(content: bytes, tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    (tmp_path / "data.mdb").write_bytes(content)
    assert outcome(lambda: zarr.open_array(LMDBStore(tmp_path, read_only=True), path="a", mode="r")) == 2
