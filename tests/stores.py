"""Stores for tests, one of each class in the table of stores (``zarr.defaults.STORES``), and some with options.

A new class whose constructor takes a path needs nothing here; any other one a line of ``MAKERS``.
"""

from __future__ import annotations

import dbm.dumb
import json
import tarfile
from collections import UserDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import zarr.storage
from zarr.defaults import STORES
from zarr.experimental.cache_store import CacheStore
from zarr.storage import (
    DBMStore,
    FsspecStore,
    LMDBStore,
    LocalStore,
    LoggingStore,
    ManagedMemoryStore,
    MappingStore,
    MemoryStore,
    N5Store,
    ObjectStore,
    ReferenceStore,
    SQLiteStore,
    WrapperStore,
    ZipStore,
)


def _fsspec(url: str) -> Any:
    pytest.importorskip("fsspec")
    return FsspecStore.from_url(url)


def _obstore(folder: Path | None) -> Any:
    stores = pytest.importorskip("obstore.store")
    return ObjectStore(stores.MemoryStore() if folder is None else stores.LocalStore(folder / "store", mkdir=True))


def _lmdb(folder: Path) -> Any:
    pytest.importorskip("lmdb")
    return LMDBStore(folder / "store.lmdb", sync=False, map_size=1 << 16)


def _on_a_gpu(folder: Path) -> Any:
    pytest.importorskip("cupy")
    return zarr.storage.GpuMemoryStore()


def _references(folder: Path) -> Any:
    (folder / "refs.json").write_text(json.dumps({"a/zarr.json": "{}", "../x": "base64:eA=="}))
    return ReferenceStore.from_path(folder / "refs.json")


def _tar(folder: Path) -> Any:
    (folder / "value").write_bytes(b"x")
    with tarfile.open(folder / "store.tar", "w") as archive:
        for name in ("a/zarr.json", "../x"):
            archive.add(folder / "value", name)
    return zarr.storage.TarStore(folder / "store.tar")


MAKERS: dict[str, Callable[[Path], Any]] = {
    "DBMStore": lambda folder: DBMStore(folder / "store", opener=dbm.dumb.open),
    "FsspecStore": lambda folder: _fsspec(f"memory://{folder}/store"),
    "GpuMemoryStore": _on_a_gpu,
    "LMDBStore": _lmdb,
    "LoggingStore": lambda folder: LoggingStore(LocalStore(folder / "store"), log_level="ERROR"),
    "ManagedMemoryStore": lambda folder: ManagedMemoryStore(),
    "MappingStore": lambda folder: MappingStore(UserDict()),
    "MemoryStore": lambda folder: MemoryStore(),
    "N5Store": lambda folder: N5Store(MemoryStore()),
    "ObjectStore": lambda folder: _obstore(None),
    "ReferenceStore": _references,
    "TarStore": _tar,
    "WrapperStore": lambda folder: WrapperStore(MemoryStore()),
    "ZipStore": lambda folder: ZipStore(folder / "store.zip", mode="w"),
}
VARIANTS: dict[str, Callable[[Path], Any]] = {
    "cache": lambda folder: CacheStore(MemoryStore(), cache_store=MemoryStore()),
    "fsspec-local": lambda folder: _fsspec(f"local://{folder}/store"),
    "local-fsync": lambda folder: LocalStore(folder / "store", fsync=True),
    "managed-below": lambda folder: ManagedMemoryStore(path="some/where"),
    "obstore-local": _obstore,
    "sqlite-rollback": lambda folder: SQLiteStore(folder / "store.sqlite", journal="delete", synchronous="full"),
    "zip-deflated": lambda folder: ZipStore(folder / "store.zip", mode="w", compression=8),
}
KINDS = [*STORES, *VARIANTS]
WRITABLE = [kind for kind in KINDS if kind in VARIANTS or getattr(zarr.storage, kind).supports_writes is not False]


def make(kind: str, folder: Path) -> Any:
    """Return a new store of a class of the table, or of a variant; skip the test where its library is missing."""
    maker = MAKERS.get(kind) or VARIANTS.get(kind)
    return getattr(zarr.storage, kind)(folder / "store") if maker is None else maker(folder)
