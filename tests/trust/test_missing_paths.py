"""A lost chunk by every way of reading: filled, told, or asked for again, as the array's policy says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.test_missing_chunks import LATE, LAYOUTS, AsyncLateStore, LateStore
from zarr.errors import ChunkNotFoundError
from zarr.storage import LocalStore, MemoryStore, SQLiteStore, ZipStore


def batched(array: Any) -> Any:
    with array.batch():
        return array[...]


def batched_after_a_write(array: Any) -> Any:
    with array.batch():
        array[0] = 0
        return array[...]


async def both(array: Any) -> Any:
    first, second = await asyncio.gather(array.async_array.getitem(slice(0, 5)), array.async_array.getitem(slice(3, 8)))
    return np.concatenate([first, second[2:]])


PATHS: dict[str, Callable[[Any], Any]] = {
    "all": lambda array: array[...],
    "one chunk": lambda array: array[4:8],
    "part of a chunk": lambda array: array[5:7],
    "element": lambda array: np.asarray([array[4]]),
    "steps": lambda array: array[::3],
    "orthogonal": lambda array: array.oindex[[0, 4, 7]],
    "coordinates": lambda array: array.vindex[[0, 4, 7]],
    "mask": lambda array: array.get_mask_selection(np.arange(8) > 3),
    "blocks": lambda array: array.blocks[1:],
    "many": lambda array: np.concatenate(array.read_many([slice(0, 5), slice(3, 8)])),
    "cached": lambda array: array.with_config({"chunk_cache_bytes": 1 << 20})[4:8],
    "lazy": lambda array: np.asarray(array.lazy[2:8]),
    "batch": batched,
    "batch after a write": batched_after_a_write,
    "async": lambda array: asyncio.run(array.async_array.getitem(slice(0, 8))),
    "async, element": lambda array: np.asarray([asyncio.run(array.async_array.getitem(4))]),
    "async, two": lambda array: asyncio.run(both(array)),
    "numpy": np.asarray,
}


def make(store: Any, layout: str, **config: Any) -> Any:
    given: dict[str, Any] = {"shape": (8,), "dtype": "i4", "fill_value": 7, "overwrite": True} | LAYOUTS[layout]
    zarr.create_array(store, name="a/b", **given)[...] = np.arange(8)
    return zarr.open_array(store, path="a/b", config={"missing_chunk_delay": 0.001} | config)  # type: ignore[arg-type]


@pytest.mark.parametrize("store", [LateStore, AsyncLateStore])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("path", PATHS)
def test_every_path(path: str, layout: str, store: Any) -> None:
    read, lost = PATHS[path], store("a/b/c/1", 10**9)
    sound = np.asarray(read(make(MemoryStore(), layout))).tolist()
    filled = np.asarray(read(make(lost, layout))).tolist()
    assert filled == [7 if value > 3 else value for value in sound]
    with pytest.raises(ChunkNotFoundError, match="c/1") as caught:
        read(make(lost, layout, read_missing_chunks=False))
    assert "a/b" in str(caught.value)
    assert "LateStore" in str(caught.value)
    late = store("a/b/c/1", LATE)
    array = make(late, layout, missing_chunk_retries=LATE, read_missing_chunks=False)
    late.asked = 0
    assert np.asarray(read(array)).tolist() == sound


STORES: dict[str, Callable[[Path], Any]] = {
    "local": LocalStore,
    "zip": lambda path: ZipStore(path / "a.zip", mode="a"),
    "sqlite": lambda path: SQLiteStore(path / "a.sqlite"),
}


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_bulk_path(layout: str, kind: str, tmp_path: Path) -> None:
    store = STORES[kind](tmp_path)
    strict = make(store, layout, read_missing_chunks=False)
    store.delete_sync("a/b/c/1")
    lenient = strict.with_config({"read_missing_chunks": True, "missing_chunk_retries": 1})
    for name, read in PATHS.items():
        with pytest.raises(ChunkNotFoundError, match="c/1"):
            read(strict)
        assert 7 in np.asarray(read(lenient)).tolist(), name
    store.close()
