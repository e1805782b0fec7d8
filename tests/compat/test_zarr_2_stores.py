"""Stores used as zarr-python 2's were: as mappings of keys to bytes, by the calls of that time."""

from __future__ import annotations

import asyncio
import dbm.dumb
import os
import pickle
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr

KINDS: dict[str, Callable[[Path], Any]] = {
    "DirectoryStore": lambda folder: zarr.DirectoryStore(folder / "a"),
    "NestedDirectoryStore": lambda folder: zarr.NestedDirectoryStore(folder / "a"),
    "folded": lambda folder: zarr.DirectoryStore(folder / "a", normalize_keys=True),
    "TempStore": lambda folder: zarr.TempStore(dir=str(folder)),
    "MemoryStore": lambda folder: zarr.MemoryStore(),
    "KVStore": lambda folder: zarr.storage.KVStore({}),
    "LRUStoreCache": lambda folder: zarr.LRUStoreCache({}, max_size=1000),
    "FSStore": lambda folder: zarr.storage.FSStore(str(folder / "a")),
    "FSStore-memory": lambda folder: zarr.storage.FSStore(f"memory://{folder.name}"),
    "SQLiteStore": lambda folder: zarr.storage.SQLiteStore(folder / "a"),
    "SQLiteStore-memory": lambda folder: zarr.storage.SQLiteStore(":memory:"),
    "LMDBStore": lambda folder: zarr.storage.LMDBStore(folder / "a", buffers=False, lock=True),
    "DBMStore": lambda folder: zarr.storage.DBMStore(folder / "a", flag="n", open=dbm.dumb.open),
}
OF_NOW: dict[str, Callable[[Path], Any]] = {
    "MemoryStore": lambda folder: zarr.storage.MemoryStore(),
    "ZipStore": lambda folder: zarr.storage.ZipStore(folder / "a.zip", mode="w"),
}


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "LMDBStore":
        pytest.importorskip("lmdb")
    if request.param == "FSStore-memory":
        pytest.importorskip("fsspec")
    return KINDS[request.param](tmp_path)


def test_a_store_is_a_mapping(store: Any) -> None:
    assert isinstance(store, MutableMapping)
    assert (len(store), list(store), bool(store)) == (0, [], True)
    store["a"] = bytearray(b"1")
    store["b/c"] = np.array([[1, 2]], dtype="u1")
    store.update({"b/d/e": b"333"}, f=b"")
    store.setitems({"g": b"7"})
    assert sorted(store) == sorted(store.keys()) == ["a", "b/c", "b/d/e", "f", "g"]
    assert sorted(map(bytes, store.values())) == [b"", b"\1\2", b"1", b"333", b"7"]
    assert bytes(dict(store.items())["b/c"]) == bytes(store["b/c"]) == b"\1\2"
    assert "a" in store
    assert not any(key in store for key in ("b", "b/", "x", "a/x"))
    assert store.getitems(["a", "x"]) == {"a": b"1"}
    assert store.pop("g") == b"7"
    assert store.pop("g", None) is None
    assert store.setdefault("f", b"other") == b""
    with pytest.raises(KeyError):
        store["x"]
    with pytest.raises(KeyError):
        store.pop("x")
    with pytest.raises(KeyError):
        del store["x"]


def test_calls_that_are_coroutines_now_answer_at_once(store: Any) -> None:
    store.update({"a": b"1", "b/c": b"22", "b/d/e": b"333"})
    assert (store.get("a"), store.get("x"), store.get("x", b"-"), store.get("x", default=5)) == (b"1", None, b"-", 5)
    assert (store.getsize(), store.getsize("b"), store.getsize("b/c"), store.getsize("x")) == (1, 2, 2, 0)
    assert (store.listdir(), store.listdir("b"), store.listdir("x")) == (["a", "b"], ["c", "d"], [])
    store.rename("b", "z/y")
    assert sorted(store) == ["a", "z/y/c", "z/y/d/e"]
    store.rmdir("z/y/d")
    assert sorted(store) == ["a", "z/y/c"]
    store.clear()
    assert len(store) == 0


def test_and_they_can_be_awaited(store: Any) -> None:
    async def use() -> tuple[Any, ...]:
        value = await store.get("a", zarr.buffer.default_buffer_prototype())
        size = await store.getsize("a")
        await store.rename("a", "b")
        await store.clear()
        with pytest.raises(FileNotFoundError):
            await store.getsize("a")
        return value.to_bytes(), size, [key async for key in store.list()]

    store["a"] = b"123"
    assert asyncio.run(use()) == (b"123", 3, [])


def test_lists_are_no_bytes(store: Any) -> None:
    if isinstance(store, zarr.storage.KVStore) and not isinstance(store, zarr.LRUStoreCache):
        return  # whose values are whatever its mapping takes
    with pytest.raises(TypeError):
        store["a"] = [1, 2]


def test_arrays_in_them(store: Any) -> None:
    array = zarr.open(store, mode="w", shape=(4, 4), chunks=(2, 2), dtype="i4", path="x", zarr_format=2)
    array[:] = np.arange(16).reshape(4, 4)
    assert zarr.open(store, mode="r", path="x")[:].sum() == 120
    assert any(key.endswith("1") for key in store.listdir("x"))
    with store as same:
        assert same is store


def test_pickled(store: Any, tmp_path: Path) -> None:
    store["a"] = b"1"
    if isinstance(store, zarr.storage.SQLiteStore) and store.is_temporary:
        with pytest.raises(pickle.PicklingError):
            pickle.dumps(store)
    else:
        assert pickle.loads(pickle.dumps(store))["a"] == b"1" or "memory" in str(store)


@pytest.mark.parametrize("kind", OF_NOW)
def test_stores_of_now_have_the_protocol_too(kind: str, tmp_path: Path) -> None:
    store = OF_NOW[kind](tmp_path)
    store.update({"a": b"1", "b/c": np.arange(2, dtype="u1")})
    assert (sorted(store), len(store), store["b/c"], "x" in store, store.listdir("b")) == (
        ["a", "b/c"], 2, b"\0\1", False, ["c"],
    )  # fmt: skip
    assert store.pop("a") == b"1"
    assert asyncio.run(store.is_empty("")) is False


@pytest.mark.parametrize("kind", ["DirectoryStore", "TempStore", "FSStore"])
def test_a_value_takes_the_place_of_a_folder(kind: str, tmp_path: Path) -> None:
    store = KINDS[kind](tmp_path)
    store["a/b"] = b"1"
    with pytest.raises(KeyError):
        store["a/b/c"] = b"2"
    store["a"] = b"3"
    assert dict(store.items()) == {"a": b"3"}


def test_keys_are_folded(tmp_path: Path) -> None:
    store = zarr.DirectoryStore(tmp_path, normalize_keys=True)
    store["FOO/Bar"] = b"1"
    assert store["foo/bar"] == store["Foo/BAR"] == b"1"
    assert list(store) == ["foo/bar"]


@pytest.mark.parametrize("separator", [None, ".", "/"])
@pytest.mark.parametrize("name", ["SQLiteStore", "DBMStore", "LMDBStore"])
def test_separators_of_databases(name: str, separator: Any, tmp_path: Path) -> None:
    store = getattr(zarr.storage, name)(tmp_path / "a", dimension_separator=separator)
    zarr.storage.init_array(store, (4, 4), chunks=(2, 2))
    assert zarr.Array(store).metadata.dimension_separator == (separator or ".")


class Counting(zarr.storage.BaseStore):
    """Counts how often it is read."""

    def __init__(self) -> None:
        self.values_: dict[str, Any] = {}
        self.reads: list[str] = []

    def __getitem__(self, key: str) -> Any:
        self.reads.append(key)
        return self.values_[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.values_[key] = value

    def __delitem__(self, key: str) -> None:
        del self.values_[key]

    def __iter__(self) -> Any:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)


@pytest.mark.parametrize(("max_size", "reads"), [(None, 2), (6, 2), (5, 4), (2, 4)])
def test_a_cache_over_any_mapping(max_size: int | None, reads: int) -> None:
    below = Counting()
    below.update({"a": b"xxx", "b": b"yyy"})
    cache = zarr.LRUStoreCache(below, max_size=max_size)
    assert [cache[key] for key in "abab"] == [b"xxx", b"yyy"] * 2
    assert (len(below.reads), cache.misses, cache.hits) == (reads, reads, 4 - reads)


def test_a_cache_is_used_by_arrays() -> None:
    below = Counting()
    cache = zarr.LRUStoreCache(below, max_size=None)
    array = zarr.create((10,), chunks=(5,), dtype="i4", store=cache)
    array[:] = 7
    below.reads.clear()
    for _ in range(3):
        assert zarr.open_array(cache, mode="r")[:].sum() == 70
    assert not {"0", "1"} & set(below.reads)
    cache.invalidate()
    assert zarr.open_array(cache, mode="r")[:].sum() == 70
    assert below.reads.count("0") == 1


class Watched(dict[str, Any]):
    """A mapping in which somebody acts between what is done and the end of the call."""

    meanwhile: Any = None

    def _act(self) -> None:
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            act()

    def __getitem__(self, key: str) -> Any:
        found = super().__getitem__(key)
        self._act()
        return found

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self._act()


def test_a_cache_of_threads_has_no_old_values() -> None:
    below = Watched(a=b"old")
    cache = zarr.LRUStoreCache(below, max_size=4)
    below.meanwhile = lambda: cache.__setitem__("a", b"newer")  # too long to be cached itself
    assert cache["a"] == b"old"
    assert cache["a"] == b"newer"
    below.meanwhile = lambda: cache.__delitem__("a")
    assert cache["a"] == b"newer"
    with pytest.raises(KeyError):
        cache["a"]
    below.meanwhile = lambda: cache.__setitem__("a", b"2")
    cache["a"] = b"1"
    assert (cache["a"], below["a"]) == (b"2", b"2")
    cache.invalidate()
    below.meanwhile = lambda: (below.update(a=b"3"), cache.invalidate())
    assert cache["a"] == b"2"
    assert cache["a"] == b"3"


def test_functions_of_stores() -> None:
    values: dict[str, Any] = {"foo": b"aaa", "bar/b": b"bb"}
    assert [zarr.storage.getsize(store) for store in (values, object(), {"a": None})] == [3, -1, -1]
    assert zarr.storage.KVStore({})._metadata_class.decode_group_metadata(b'{"zarr_format": 2}') == {"zarr_format": 2}
    store, chunks = zarr.storage.KVStore({}), {"0": b"old"}
    zarr.storage.init_array(store, 1000, chunks=100)
    array = zarr.Array(store)
    assert (array.dtype, array.fill_value, array.metadata.compressor.codec_id) == (np.dtype("f8"), None, "blosc")
    with pytest.raises(zarr.errors.ContainsArrayError):
        zarr.storage.init_array(store, 1000)
    zarr.storage.init_array(store, 10, compressor="none", overwrite=True, chunk_store=chunks)
    assert zarr.Array(store).metadata.compressor is None
    assert chunks == {}


def test_a_store_of_consolidated_metadata() -> None:
    values: dict[str, Any] = {}
    zarr.group(zarr.storage.KVStore(values)).create_dataset("a", data=[1, 2])
    zarr.consolidate_metadata(zarr.storage.KVStore(values))
    store = zarr.storage.ConsolidatedMetadataStore(values)
    assert zarr.open_group(store, mode="r")["a"][:].tolist() == [1, 2]
    assert store["a/.zarray"]["shape"] == [2]
    assert "a/.zarray" in store
    for change in (lambda: store.pop("a/.zarray"), lambda: store.update({"b": b"1"}), store.clear):
        with pytest.raises(PermissionError):
            change()


class Bare:
    """A mapping by its methods alone, which takes "zarr.json" for a chunk, as stores of files of images do."""

    def __init__(self) -> None:
        self.inner: dict[str, Any] = {}

    def keys(self) -> Any:
        return self.inner.keys()

    def __iter__(self) -> Any:
        return iter(self.inner)

    def __contains__(self, key: str) -> bool:
        return key in self.inner

    def __getitem__(self, key: str) -> Any:
        if key not in self.inner and not key.rpartition("/")[2].startswith(".z"):
            int(key.rpartition(".")[2])
        return self.inner[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.inner[key] = bytes(value)

    def __delitem__(self, key: str) -> None:
        del self.inner[key]


def test_a_mapping_of_no_class() -> None:
    store = Bare()
    zarr.create((4,), chunks=2, dtype="i4", store=store, zarr_format=2)[:] = [1, 2, 3, 4]
    array = zarr.open(store)
    assert array[:].tolist() == [1, 2, 3, 4]
    array.resize(2)
    assert sorted(store) == [".zarray", ".zattrs", "0"]


def test_fsspec_of_a_store(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    local = fsspec.filesystem("file")
    for store in (
        zarr.storage.FSStore(str(tmp_path / "a")),
        zarr.storage.FSStore("memory://fsspec-of-a-store"),
        zarr.storage.FSStore(str(tmp_path / "b"), fs=local, create=True, check=False),
    ):
        store["k"] = b"value"
        assert (store.map["k"], store.fs.exists(store.path)) == (b"value", True)
    # The path is that of the file system: absolute, without a protocol.
    assert zarr.storage.FSStore(f"file://{tmp_path}/a").path == str(tmp_path / "a")
    assert zarr.storage.FSStore("memory://fsspec-of-a-store/a").path == "/fsspec-of-a-store/a"
    with pytest.raises(ValueError, match="auto_mkdir"):
        zarr.storage.FSStore(str(tmp_path), fs=local, auto_mkdir=True)


@pytest.mark.parametrize("kind", [zarr.DirectoryStore, zarr.NestedDirectoryStore, zarr.storage.FSStore])
def test_a_change_of_attributes_writes_the_attributes_only(tmp_path: Path, kind: Any) -> None:
    group = zarr.open_group(kind(str(tmp_path)), mode="w", attributes={"a": 1})
    array = group.create_dataset("x", shape=4, chunks=2, dtype="i4")
    array.attrs["a"] = 1
    kept = [tmp_path / ".zgroup", tmp_path / "x" / ".zarray"]
    for file in kept:
        os.utime(file, (0, 0))
    group.attrs["a"] = array.attrs["a"] = 2
    assert [file.stat().st_mtime for file in kept] == [0, 0]
    array.resize(6)
    again = zarr.open_group(kind(str(tmp_path)), mode="r")
    assert (again.attrs["a"], again["x"].attrs["a"], again["x"].shape) == (2, 2, (6,))


def test_places_of_stores(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ValueError, match="a file where a folder"):
        zarr.DirectoryStore(tmp_path / "file")
    with pytest.warns(DeprecationWarning, match="MemoryStore"):
        assert isinstance(zarr.storage.DictStore(), zarr.MemoryStore)

    class Place:
        def __fspath__(self) -> str:
            return str(tmp_path / "place")

    zarr.save(Place(), np.arange(3))
    assert zarr.load(str(tmp_path / "place")).tolist() == [0, 1, 2]
