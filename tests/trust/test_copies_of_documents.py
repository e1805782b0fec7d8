"""Consolidated copies while several threads change the same node: they keep every update that the node has."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import zarr
from zarr.storage import LocalStore, MemoryStore, SQLiteStore

STORES: dict[str, Callable[[Path], Any]] = {
    "memory": lambda path: MemoryStore(),
    "local": LocalStore,
    "sqlite": lambda path: SQLiteStore(path / "a.sqlite"),
}


@pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")
@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_updates_by_threads_are_all_in_the_copy(kind: str, zarr_format: Any, tmp_path: Path) -> None:
    store = STORES[kind](tmp_path)
    zarr.create_group(store, zarr_format=zarr_format).create_array("x", shape=(4,), chunks=(2,), dtype="i4")
    zarr.consolidate_metadata(store)
    arrays: list[Any] = [zarr.open_array(store, path="x") for _ in range(4)]

    def work(number: int) -> None:
        for turn in range(15):
            arrays[number].update_attributes({f"{number}-{turn}": turn})
            arrays[number].append([turn])

    for _ in range(3):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        node, copied = zarr.open_array(store, path="x"), zarr.open_group(store, use_consolidated=True)["x"]
        assert len(node.attrs) == 60
        assert dict(copied.attrs) == dict(node.attrs)
        assert copied.shape == node.shape
    store.close()
