"""Rows on shards of many inner chunks."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from growth_rows.places import fsspec_memory, new_folder, obstore_memory
from growth_rows.row import Call, Row, sizes

LENGTH = 10
"""The elements of an inner chunk."""


def shard_bytes(count: int) -> bytes:
    """Return a shard of so many uncompressed inner chunks of 0, 1, 2 ..., as every writer would store it."""
    import google_crc32c

    index = np.empty((count, 2), "<u8")
    index[:, 0] = np.arange(count) * 4 * LENGTH
    index[:, 1] = 4 * LENGTH
    checksum = int(google_crc32c.value(index.tobytes())).to_bytes(4, "little")
    return np.arange(count * LENGTH, dtype="<i4").tobytes() + index.tobytes() + checksum


def put(store: Any, key: str, value: bytes) -> None:
    """Store one value, by the interface that all stores have."""
    import asyncio

    from zarr.core.buffer import default_buffer_prototype

    async def store_value() -> None:
        await store.set(key, default_buffer_prototype().buffer.from_bytes(value))

    asyncio.run(store_value())


def shard(count: int, store: Any, **options: Any) -> Any:
    """Return an array of one shard of so many inner chunks."""
    import zarr

    zarr.create_array(
        store, shape=(LENGTH * count,), chunks=(LENGTH,), shards=(LENGTH * count,), dtype="i4", compressors=None
    )
    if isinstance(store, str):
        Path(store, "c").mkdir()
        Path(store, "c", "0").write_bytes(shard_bytes(count))
    else:
        put(store, "c/0", shard_bytes(count))
    time.sleep(0.2)  # a file is recognised by its times only when it is older than a step of the clock
    return zarr.open_array(store, mode="r+", **options)


def memory() -> Any:
    """Return an empty store in memory."""
    import zarr

    return zarr.storage.MemoryStore()


def zip_file() -> Any:
    """Return an empty store in a zip file."""
    import zarr

    return zarr.storage.ZipStore(f"{new_folder()}/x.zip", mode="w")


def sqlite() -> Any:
    """Return an empty store in SQLite."""
    import zarr

    return zarr.storage.SQLiteStore(f"{new_folder()}/x.sqlite")


def element(make: Callable[[], Any], **options: Any) -> Callable[[int], Call]:
    """Return what makes the reading of one element, again and again."""

    def made(count: int) -> Call:
        array = shard(count, make(), **options)
        place = 7 * count + 5
        assert array[place] == place
        return lambda: array[place]

    return made


def many(make: Callable[[], Any], number: int, loop: bool = False) -> Callable[[int], Call]:
    """Return what makes the reading of some elements in one call; in a loop without such a call, or if asked."""

    def made(count: int) -> Call:
        array = shard(count, make())
        places = np.random.default_rng(0).integers(0, LENGTH * count, number).tolist()
        if loop or not hasattr(array, "read_many"):
            return lambda: [array[place] for place in places]
        return lambda: array.read_many(places)

    return made


STORES = {
    "memory": memory,
    "local": new_folder,
    "zip": zip_file,
    "SQLite": sqlite,
    "obstore": obstore_memory,
    "fsspec": fsspec_memory,
}
UNCHECKED = {"config": {"immutable": True}}

ROWS = {
    **{
        f"an element, {name}; inner chunks in a shard": Row(element(make), sizes(10_000))
        for name, make in STORES.items()
    },
    **{
        f"an element, {name}, immutable=True; inner chunks in a shard": Row(element(make, **UNCHECKED), sizes(10_000))
        for name, make in STORES.items()
    },
    "read_many of 1, memory; inner chunks in a shard": Row(many(memory, 1), sizes(1_000)),
    "read_many of 100, memory; inner chunks in a shard": Row(many(memory, 100), sizes(1_000)),
    "a loop of 100 elements, memory; inner chunks in a shard": Row(many(memory, 100, loop=True), sizes(1_000)),
    "read_many of 100, local; inner chunks in a shard": Row(many(new_folder, 100), sizes(1_000)),
    "a loop of 100 elements, local; inner chunks in a shard": Row(many(new_folder, 100, loop=True), sizes(1_000)),
}
