"""Damaged zip archives and SQLite databases: the right data, or a documented error; never a raw one, never a crash."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.fuzzing.cases import DOCUMENTED
from zarr.storage import SQLiteStore, ZipStore

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
            except ValueError as error:
                if "is not allowed" not in str(error):  # a name that no key may have
                    raise
    assert refused > 4


@pytest.mark.parametrize("kind", MAKE)
def test_what_is_no_container_says_so(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("something else" * 100)
    with pytest.raises(zarr.errors.StoreDamagedError, match="text"):
        use(OPEN[kind](path))
