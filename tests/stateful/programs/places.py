"""Stores of every kind, and the ways to open what they hold."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import zarr
from zarr.experimental.cache_store import CacheStore
from zarr.storage import (
    DBMStore,
    FsspecStore,
    LMDBStore,
    LocalStore,
    LoggingStore,
    MemoryStore,
    ObjectStore,
    SQLiteStore,
    StorePath,
    WrapperStore,
    ZipStore,
)  # fmt: skip

# One store a kind in a program: the weights say how often it is drawn.
KINDS: dict[str, int] = {
    "local": 6, "memory": 4, "zip": 3, "sqlite": 3, "dbm": 1, "cached": 2, "logging": 1, "wrapped": 1, "mapping": 1,
    **({"lmdb": 3} if find_spec("lmdb") else {}),
    **({"fsspec-local": 1, "fsspec-memory": 1} if find_spec("fsspec") else {}),
    **({"obstore-local": 2, "obstore-memory": 2} if find_spec("obstore") else {}),
}  # fmt: skip
FOLDERS = ("local", "fsspec-local", "obstore-local", "wrapped")
URLS = {"local": "file://", "sqlite": "sqlite://", "lmdb": "lmdb://", "fsspec-memory": "memory://",
        "fsspec-local": "file://", "obstore-local": "file://", "wrapped": "file://"}  # fmt: skip
LOCKED = ("local", "sqlite", "lmdb", "memory")
"""Stores that keep other processes out where an array asks for it."""
TRANSACTIONS = [kind for kind in KINDS if kind not in ("logging",)]


def ways(kind: str) -> list[str]:
    """The ways by which a program opens what a store of a kind holds."""
    found = ["held", "held", "store", "store", "storepath"]
    if can_reopen(kind):  # of a store in memory a pickle is another store
        found += ["pickled"]
    if kind in FOLDERS:
        found += ["str", "Path", "local"]
    if kind in URLS and kind != "fsspec-memory":
        found += ["url"]
    return found


def make_store(kind: str, place: Path) -> Any:
    """Make a store, or open it again."""
    path = str(place)
    match kind:
        case "local":
            return LocalStore(path)
        case "memory":
            return MemoryStore()
        case "mapping":
            return MemoryStore({})
        case "zip":
            return ZipStore(path, mode="a")
        case "sqlite":
            return SQLiteStore(path)
        case "lmdb":
            return LMDBStore(path, sync=False)
        case "dbm":
            return DBMStore(path)
        case "cached":
            return CacheStore(MemoryStore(), cache_store=MemoryStore())
        case "logging":
            return LoggingStore(MemoryStore(), log_level="ERROR", log_handler=logging.NullHandler())
        case "wrapped":
            return WrapperStore(LocalStore(path))
        case "fsspec-local":
            return FsspecStore.from_url(f"file://{path}")
        case "fsspec-memory":
            return FsspecStore.from_url(f"memory://{path}")
    import obstore.store

    if kind == "obstore-memory":
        return ObjectStore(obstore.store.MemoryStore())
    return ObjectStore(obstore.store.LocalStore(path, mkdir=True, automatic_cleanup=True))


def can_reopen(kind: str) -> bool:
    """Whether what was stored is there after the store was closed."""
    return kind in ("local", "zip", "sqlite", "lmdb", "dbm", *FOLDERS)


class Place:
    """A store in use, and the group at its root as it was made."""

    def __init__(self, kind: str, folder: Path, zarr_format: int) -> None:
        self.kind = kind
        self.path = folder / f"data{'.zip' if kind == 'zip' else ''}"
        self.store = make_store(kind, self.path)
        self.held: Any = zarr.create_group(self.store, zarr_format=zarr_format)  # type: ignore[arg-type]
        self.in_transaction = False

    def reopen(self) -> None:
        """Close the store and open it anew."""
        if can_reopen(self.kind):
            self.store.close()
            self.store = make_store(self.kind, self.path)
        self.held = zarr.open_group(self.store, mode="r+", use_consolidated=False)

    def like(self, way: str) -> Any:
        """What is given to a function that opens: a store, a path, a URL …"""
        if self.in_transaction or way in ("held", "store"):
            return self.store
        match way:
            case "storepath":
                return StorePath(self.store)
            case "pickled":
                return pickle.loads(pickle.dumps(self.store))
            case "copied":
                return copy.copy(self.store)
            case "str":
                return str(self.path)
            case "Path":
                return self.path
            case "local":
                return LocalStore(self.path)
        return f"{URLS[self.kind]}{self.path}"

    def root(self, way: str) -> Any:
        """The group at the root, by one of the ways."""
        if way == "held":
            return self.held
        if way == "pickled" and not self.in_transaction:
            return pickle.loads(pickle.dumps(zarr.open_group(self.store, mode="r+")))
        return zarr.open_group(self.like(way), mode="r+")

    def dump(self, folder: Path) -> None:
        """Write all values as files, for libraries that read files."""

        async def collect() -> None:
            prototype = zarr.core.buffer.default_buffer_prototype()
            async for key in self.store.list():
                value = await self.store.get(key, prototype)
                target = folder / key
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(value.to_bytes())

        folder.mkdir(parents=True)
        asyncio.run(collect())

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()
