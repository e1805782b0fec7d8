"""Stores of three kinds, and small hierarchies in them, for the tests of the tools."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import zarr
from zarr.core.buffer.cpu import Buffer
from zarr.core.sync import sync
from zarr.storage import LocalStore, MemoryStore, ZipStore

STORES = ("folder", "memory", "zip")


def make_store(kind: str, folder: Path) -> Any:
    if kind == "folder":
        return LocalStore(folder / "h.zarr")
    return MemoryStore() if kind == "memory" else ZipStore(folder / "h.zip", mode="w")


def put(store: Any, key: str, value: bytes | str | dict[str, Any]) -> None:
    if isinstance(value, dict):
        value = json.dumps(value)
    sync(store.set(key, Buffer.from_bytes(value.encode() if isinstance(value, str) else value)))


def get(store: Any, key: str) -> bytes:
    found = sync(store.get(key, zarr.core.buffer.default_buffer_prototype()))
    assert found is not None, key
    return bytes(found.to_bytes())


def has(store: Any, key: str) -> bool:
    return sync(store.exists(key))


def delete(store: Any, key: str) -> None:
    sync(store.delete(key))


def keys(store: Any) -> list[str]:
    async def listed() -> list[str]:
        return sorted([key async for key in store.list()])

    return sync(listed())


def edit(store: Any, key: str, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change a document in place."""
    document = json.loads(get(store, key))
    change(document)
    put(store, key, document)


def chunk_key(zarr_format: int, path: str, *coords: int) -> str:
    name = ".".join(map(str, coords)) if zarr_format == 2 else "/".join(["c", *map(str, coords)])
    return f"{path}/{name}"


def fill(store: Any, zarr_format: Any, consolidated: bool = True) -> None:
    """A group with arrays of several kinds: ``a`` plain, ``g/b`` compressed, ``t`` text; ``s`` shards, ``c`` checks."""
    for key, value in _contents(zarr_format, consolidated).items():
        put(store, key, value)


@cache
def _contents(zarr_format: Any, consolidated: bool) -> dict[str, bytes]:
    store = MemoryStore()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = zarr.create_group(store, zarr_format=zarr_format, attributes={"title": "x"})
        group = root.create_group("g", attributes={"n": 1})
        plain = root.create_array("a", shape=(6, 4), chunks=(2, 2), dtype="i4", compressors=None)
        plain[:] = np.arange(1, 25).reshape(6, 4)
        group.create_array("b", shape=10, chunks=4, dtype="f8")[:] = np.arange(10) + 0.5
        root.create_array("t", shape=5, chunks=2, dtype="str")[:] = ["a", "bb", "", "ü", "e"]
        if zarr_format == 3:
            shards = root.create_array("s", shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="u2", compressors=None)
            shards[:] = np.arange(1, 65).reshape(8, 8)
            checked = zarr.codecs.Crc32cCodec()
            root.create_array("c", shape=6, chunks=3, dtype="i8", compressors=[checked])[:] = range(1, 7)
        if consolidated:
            zarr.consolidate_metadata(store, zarr_format=zarr_format)
    return {key: get(store, key) for key in keys(store)}
