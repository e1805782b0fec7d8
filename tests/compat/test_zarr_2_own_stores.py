"""Stores that programs for zarr-python 2 define or combine: classes that override items, two stores for one node.

The layouts that are written by hand here are those that zarr-python 2.18.7 wrote for the same calls.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import run_together
from zarr.errors import ReadOnlyError


def inverted(value: Any) -> bytes:
    return bytes(255 - byte for byte in bytes(value))


class Encoded:
    """Items are stored with all bits inverted."""

    def __setitem__(self: Any, key: str, value: Any) -> None:
        super().__setitem__(key, inverted(value))  # type: ignore[misc]

    def __getitem__(self: Any, key: str) -> bytes:
        return inverted(super().__getitem__(key))  # type: ignore[misc]


class EncodedDirectory(Encoded, zarr.DirectoryStore):
    pass


class EncodedNested(Encoded, zarr.NestedDirectoryStore):
    pass


class EncodedTemp(Encoded, zarr.TempStore):
    pass


class EncodedMemory(Encoded, zarr.MemoryStore):
    pass


class EncodedKV(Encoded, zarr.KVStore):
    pass


class EncodedCache(Encoded, zarr.LRUStoreCache):
    pass


class EncodedZip(Encoded, zarr.ZipStore):
    pass


class EncodedFS(Encoded, zarr.storage.FSStore):
    pass


class EncodedSQLite(Encoded, zarr.SQLiteStore):
    pass


class EncodedDBM(Encoded, zarr.DBMStore):
    pass


KINDS: dict[str, Callable[[Path], Any]] = {
    "DirectoryStore": lambda folder: EncodedDirectory(folder / "a"),
    "NestedDirectoryStore": lambda folder: EncodedNested(folder / "a"),
    "TempStore": lambda folder: EncodedTemp(dir=str(folder)),
    "MemoryStore": lambda folder: EncodedMemory(),
    "KVStore": lambda folder: EncodedKV({}),
    "LRUStoreCache": lambda folder: EncodedCache({}, max_size=None),
    "ZipStore": lambda folder: EncodedZip(folder / "a.zip", mode="w"),
    "FSStore": lambda folder: EncodedFS(str(folder / "a")),
    "FSStore-memory": lambda folder: EncodedFS(f"memory://{folder.name}"),
    "SQLiteStore": lambda folder: EncodedSQLite(folder / "a"),
    "DBMStore": lambda folder: EncodedDBM(folder / "a"),
}


@pytest.fixture(params=KINDS)
def encoded(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "FSStore-memory":
        pytest.importorskip("fsspec")
    return KINDS[request.param](tmp_path)


def as_stored(store: Any, key: str) -> bytes:
    """Return the stored bytes: those of the class of the library, without the override."""
    return bytes(type(store).__mro__[2].__getitem__(store, key))


PLAIN: dict[str, Any] = {"chunks": 2, "dtype": "<i4", "compressor": None, "fill_value": 0}


def test_arrays_go_by_the_items_that_a_subclass_overrides(encoded: Any) -> None:
    group = zarr.group(encoded)
    array = group.create("x", shape=4, **PLAIN)
    array[:] = [1, 2, 3, 4]
    array.attrs["unit"] = "m"
    assert array.store is encoded
    assert as_stored(encoded, "x/0") == inverted(np.array([1, 2], "<i4"))
    assert encoded["x/0"] == np.array([1, 2], "<i4").tobytes()
    assert json.loads(inverted(as_stored(encoded, ".zgroup"))) == {"zarr_format": 2}
    assert encoded["x/.zattrs"] == b'{\n    "unit": "m"\n}'
    again = zarr.open(encoded)["x"]
    assert again[:].tolist() == [1, 2, 3, 4]
    assert again[1:3].tolist() == [2, 3]
    assert again.attrs["unit"] == "m"
    array[1:3] = 0
    assert encoded["x/1"] == np.array([0, 4], "<i4").tobytes()
    del group["x"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of a folder that is no node
        assert list(group) == []


def test_what_other_functions_do_with_such_a_store(encoded: Any) -> None:
    zarr.group(encoded).create("x", shape=4, **PLAIN)[:] = 7
    zarr.consolidate_metadata(encoded)
    assert zarr.open_consolidated(encoded)["x"][:].tolist() == [7] * 4
    copied = zarr.MemoryStore()
    zarr.copy_store(encoded, copied)
    assert zarr.open(copied)["x"][:].tolist() == [7] * 4
    with pytest.raises(ReadOnlyError):
        zarr.open(encoded, mode="r")["x"][:] = 1


def test_what_a_subclass_stored_before_is_read(tmp_path: Path) -> None:
    document = {
        "chunks": [2], "compressor": None, "dtype": "<i4", "fill_value": 0, "filters": None, "order": "C",
        "shape": [4], "zarr_format": 2,
    }  # fmt: skip
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".zarray").write_bytes(inverted(json.dumps(document, indent=4, sort_keys=True).encode()))
    (tmp_path / "a" / "1").write_bytes(inverted(np.array([5, 6], "<i4")))
    assert zarr.open(EncodedDirectory(tmp_path / "a"), mode="r")[:].tolist() == [0, 0, 5, 6]
    assert zarr.open(EncodedNested(tmp_path / "a"), mode="r")[:].tolist() == [0, 0, 5, 6]


def test_threads_that_write_parts_of_one_chunk(tmp_path: Path) -> None:
    store = EncodedDirectory(tmp_path / "a")
    zarr.create(64, chunks=64, dtype="i4", store=store, path="x")

    def write(number: int) -> Callable[[], None]:
        def run() -> None:
            part = zarr.open(store, path="x")
            for place in range(number, 64, 4):
                part[place] = place

        return run

    run_together([write(number) for number in range(4)])
    assert zarr.open(store)["x"][:].tolist() == list(range(64))


def test_pickles_and_coroutines_and_transactions_go_by_items(tmp_path: Path) -> None:
    store = EncodedDirectory(tmp_path / "a")
    zarr.group(store).create("x", shape=4, **PLAIN)[:] = 7
    loaded = pickle.loads(pickle.dumps(zarr.open(store)["x"]))
    loaded[0] = 1
    assert type(loaded.store) is EncodedDirectory

    async def read() -> Any:
        array = await zarr.api.asynchronous.open_array(store=store, path="x")
        await array.setitem(slice(1, 2), 2)
        return await array.getitem(slice(None))

    assert asyncio.run(read()).tolist() == [1, 2, 7, 7]
    with zarr.transaction(store) as changes:
        changes.group()["x"][3] = 4
    assert zarr.open(store)["x"][:].tolist() == [1, 2, 7, 4]
    assert as_stored(store, "x/1") == inverted(np.array([7, 4], "<i4"))


class Recorded(zarr.DirectoryStore):
    """Calls of items are noted, and nothing below ``hidden`` is contained."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.calls: list[str] = []

    def __contains__(self, key: object) -> bool:
        return not str(key).startswith("hidden") and super().__contains__(key)

    def __delitem__(self, key: str) -> None:
        self.calls.append(key)
        super().__delitem__(key)


def test_deletions_and_questions_go_by_items(tmp_path: Path) -> None:
    zarr.open(zarr.DirectoryStore(tmp_path / "a"), path="hidden", mode="w", shape=2, dtype="i4")
    store = Recorded(tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        zarr.open(store, path="hidden", mode="r")
    array = zarr.create(4, store=store, path="x", **PLAIN)
    array[:] = 1
    array.resize(2)
    assert store.calls == ["x/1"]
    del zarr.group(store)["x"]
    assert sorted(store.calls) == ["x/.zarray", "x/0", "x/1"]


def test_a_subclass_of_a_subclass_and_one_that_overrides_no_item(tmp_path: Path) -> None:
    class Twice(EncodedMemory):
        def __getitem__(self, key: str) -> bytes:
            return super().__getitem__(key)[:]

    store = Twice()
    zarr.create(4, store=store, **PLAIN)[:] = 1
    assert zarr.open(store)[:].tolist() == [1] * 4

    class Named(zarr.DirectoryStore):
        name = "a"

    assert zarr.abc.store.bulk_access_of(Named(tmp_path / "a")) is not None
    assert zarr.abc.store.bulk_access_of(store) is None


class Prefixed:
    """Keys are stored below a folder, and values are encoded."""

    def __setitem__(self: Any, key: str, value: Any) -> None:
        super().__setitem__(f"p/{key}", inverted(value))  # type: ignore[misc]

    def __getitem__(self: Any, key: str) -> bytes:
        return inverted(super().__getitem__(f"p/{key}"))  # type: ignore[misc]

    def __delitem__(self: Any, key: str) -> None:
        super().__delitem__(f"p/{key}")  # type: ignore[misc]

    def __contains__(self: Any, key: object) -> bool:
        return super().__contains__(f"p/{key}")  # type: ignore[misc,no-any-return]

    def keys(self: Any) -> list[str]:
        stored: list[str] = super().keys()  # type: ignore[misc]
        return [key.removeprefix("p/") for key in stored if key.startswith("p/")]

    def getsize(self: Any, path: str = "") -> Any:
        return super().getsize(f"p/{path}")  # type: ignore[misc]


class Listed(Prefixed):
    def listdir(self: Any, path: str = "") -> list[str]:
        return super().listdir(f"p/{path}")  # type: ignore[misc,no-any-return]


@pytest.mark.parametrize("mixin", [Prefixed, Listed])
@pytest.mark.parametrize("kind", ["DirectoryStore", "MemoryStore", "FSStore-memory"])
def test_a_subclass_may_store_keys_in_its_own_way(kind: str, mixin: Any, tmp_path: Path) -> None:
    if kind == "FSStore-memory":
        pytest.importorskip("fsspec")
    base: Any = getattr(zarr.storage if kind == "FSStore-memory" else zarr, kind.removesuffix("-memory"))
    place = {"DirectoryStore": [tmp_path / "a"], "MemoryStore": [], "FSStore-memory": [f"memory://{tmp_path.name}"]}
    store = type("Mine", (mixin, base), {})(*place[kind])
    base.__setitem__(store, "x/kept", b"1")
    group = zarr.group(store)
    group.create("x", shape=4, **PLAIN)[:] = [1, 2, 3, 4]
    assert sorted(store) == [".zgroup", "x/.zarray", "x/0", "x/1"]
    assert json.loads(inverted(base.__getitem__(store, "p/.zgroup"))) == {"zarr_format": 2}
    assert list(group) == ["x"]
    assert (group["x"].nchunks_initialized, store.getsize("x/0")) == (2, 8)
    group["x"].resize(2)
    assert zarr.open(store)["x"][:].tolist() == [1, 2]
    assert sorted(store) == [".zgroup", "x/.zarray", "x/0"]
    del group["x"]
    assert sorted(store) == [".zgroup"]
    assert base.__getitem__(store, "x/kept") == b"1"


def test_an_item_without_bytes_is_refused() -> None:
    class Numbers(zarr.MemoryStore):
        def __getitem__(self, key: str) -> Any:
            return 5 if key == "0" else super().__getitem__(key)

    array = zarr.create(4, store=Numbers(), **PLAIN)
    with pytest.raises(TypeError, match="bytes-like"):
        array[:]
