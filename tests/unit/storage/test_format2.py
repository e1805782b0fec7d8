"""The stores of zarr-python 2: the format of what is made in them, their documents, their keys and values."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.buffer.cpu import Buffer
from zarr.storage import MemoryStore

VALUES = np.arange(12, dtype="i4").reshape(3, 4)
MAKERS: dict[str, Callable[[Path], Any]] = {
    "DirectoryStore": lambda folder: zarr.DirectoryStore(folder / "a"),
    "NestedDirectoryStore": lambda folder: zarr.NestedDirectoryStore(folder / "a"),
    "TempStore": lambda folder: zarr.TempStore(dir=folder),
    "MemoryStore": lambda folder: zarr.MemoryStore(),
    "KVStore": lambda folder: zarr.KVStore({}),
    "ZipStore": lambda folder: zarr.ZipStore(folder / "a.zip"),
    "SQLiteStore": lambda folder: zarr.SQLiteStore(folder / "a.sqlite"),
    "DBMStore": lambda folder: zarr.DBMStore(folder / "a.dbm"),
    "LRUStoreCache": lambda folder: zarr.LRUStoreCache(zarr.DirectoryStore(folder / "a"), max_size=1000),
    "FSStore": lambda folder: zarr.FSStore(str(folder / "a")),
}


@pytest.fixture(params=MAKERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    made = MAKERS[request.param](tmp_path)
    yield made
    made.close()


def test_what_is_made_is_of_format_2(store: Any) -> None:
    array = zarr.create(shape=(3, 4), chunks=(2, 2), dtype="i4", store=store, path="g/x", fill_value=-1)
    array[:] = VALUES
    array.attrs["unit"] = "m"
    between = "/" if isinstance(store, zarr.NestedDirectoryStore) else "."
    chunks = [f"g/x/{i}{between}{j}" for i in (0, 1) for j in (0, 1)]
    assert sorted(store) == sorted([".zgroup", "g/.zgroup", "g/x/.zarray", "g/x/.zattrs", *chunks])
    assert json.loads(store[".zgroup"]) == {"zarr_format": 2}
    group = zarr.open_group(store, mode="r")
    assert group["g/x"][:].tolist() == VALUES.tolist()
    assert dict(group["g/x"].attrs) == {"unit": "m"}
    np.testing.assert_array_equal(zarr.open(store, path="g/x")[1:, ::2], VALUES[1:, ::2])


def test_documents_are_written_as_they_were(store: Any) -> None:
    zarr.group(store).create_dataset("x", shape=(4,), chunks=(2,), dtype="<f8", compressor=None, fill_value=0)
    expected: dict[str, Any] = {
        "chunks": [2], "compressor": None, "dtype": "<f8", "fill_value": 0.0, "filters": None, "order": "C",
        "shape": [4], "zarr_format": 2,
    }  # fmt: skip
    raw = store["x/.zarray"].decode()
    document = json.loads(raw)
    document.pop("dimension_separator", None)
    assert document == expected
    assert raw == json.dumps(json.loads(raw), indent=4, sort_keys=True)
    assert "x/.zattrs" not in store


def test_resize_append_attributes_and_deletion(store: Any) -> None:
    root = zarr.group(store)
    array = root.create_dataset("x", data=np.arange(4), chunks=(2,))
    assert array.metadata.dimension_separator == ("/" if isinstance(store, zarr.NestedDirectoryStore) else ".")
    array.append(np.arange(3))
    array.attrs.update(a=1)
    array.attrs.clear()
    again = zarr.open_group(store, mode="r+")["x"]
    assert again[:].tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert dict(again.attrs) == {}
    again.resize(2)
    assert zarr.open_group(store, mode="r")["x"][:].tolist() == [0, 1]
    del root["x"]
    assert sorted(store) == [".zgroup"]


def test_format_3_on_request(store: Any) -> None:
    array = zarr.create_array(store, name="x", shape=(4,), chunks=(2,), dtype="i4")
    array[:] = 1
    assert array.metadata.zarr_format == 3
    assert "x/zarr.json" in store


def test_chunk_keys_of_format_3_make_format_3(tmp_path: Path) -> None:
    # ngff-zarr takes the class where it finds it, and gives it what its version of zarr gives to arrays.
    keys = {"chunk_key_encoding": {"name": "default", "separator": "/"}}
    store = zarr.DirectoryStore(tmp_path / "a", **keys)
    array = zarr.open_array(store=store, path="x/0", shape=(3, 4), chunks=(2, 2), dtype="i4", mode="a", **keys)
    array[:] = VALUES
    assert array.metadata.zarr_format == 3
    assert (tmp_path / "a/x/0/c/1/1").is_file()
    again = pickle.loads(pickle.dumps(store))
    assert zarr.create_group(again, path="y").metadata.zarr_format == 3
    assert np.array_equal(zarr.open_array(again, path="x/0", mode="r")[:], VALUES)
    assert zarr.DirectoryStore(tmp_path, chunk_key_encoding={"name": "default"}).default_zarr_format == 3
    for others in ({"name": "v2", "separator": "/"}, {"name": "default", "separator": "."}, {}):
        with pytest.raises(ValueError, match="pass another one to the function"):
            zarr.DirectoryStore(tmp_path / "a", chunk_key_encoding=others)
    assert zarr.DirectoryStore(tmp_path / "a").default_zarr_format == 2


def test_as_a_mapping(store: Any) -> None:
    store["a/b"] = b"1"
    store["a/c"] = bytearray(b"2")
    assert store["a/b"] == b"1"
    assert dict(store.items()) == {"a/b": b"1", "a/c": b"2"}
    assert (sorted(store.keys()), sorted(store.values()), len(store)) == (["a/b", "a/c"], [b"1", b"2"], 2)
    assert "a/b" in store
    assert "a/x" not in store
    assert store.listdir("a") == ["b", "c"]
    assert store.listdir() == ["a"]
    with pytest.raises(KeyError):
        store["a/x"]
    with pytest.raises(KeyError):
        del store["a/x"]
    del store["a/b"]
    assert list(store) == ["a/c"]
    store.rmdir("a")
    assert len(store) == 0
    assert bool(store)


def test_consolidated(store: Any) -> None:
    root = zarr.group(store)
    root.create_dataset("g/x", data=VALUES, chunks=(2, 2))
    zarr.consolidate_metadata(store)
    assert zarr.open_consolidated(store)["g/x"][:].tolist() == VALUES.tolist()
    for key in [key for key in store if key.endswith((".zarray", ".zgroup")) and "/" in key]:
        del store[key]
    copied = zarr.open_group(zarr.ConsolidatedMetadataStore(store), mode="r", use_consolidated=False)
    assert copied["g/x"][:].tolist() == VALUES.tolist()
    with pytest.raises(ValueError, match="read"):
        copied["g/x"][0, 0] = 1


def test_lmdb(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    store = zarr.LMDBStore(tmp_path / "a.lmdb")
    zarr.create(shape=(3, 4), dtype="i4", store=store)[:] = VALUES
    assert ".zarray" in store
    store.close()


def test_fsspec(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    store = zarr.FSStore("/data", fs=fsspec.filesystem("memory"), dimension_separator="/")
    array = zarr.create(shape=(3, 4), chunks=(2, 2), dtype="i4", store=store, overwrite=True)
    array[:] = VALUES
    assert zarr.open(store, mode="r")[:].tolist() == VALUES.tolist()
    assert array.metadata.encode_chunk_key((0, 1)) == "0/1"


def test_folders_that_do_not_say_their_separator(tmp_path: Path) -> None:
    store = zarr.NestedDirectoryStore(tmp_path / "a")
    zarr.create(shape=(3, 4), chunks=(2, 2), dtype="i4", store=store)[:] = VALUES
    document = json.loads((tmp_path / "a" / ".zarray").read_text())
    assert document.pop("dimension_separator") == "/"
    (tmp_path / "a" / ".zarray").write_text(json.dumps(document))
    assert zarr.open(zarr.NestedDirectoryStore(tmp_path / "a"), mode="r")[:].tolist() == VALUES.tolist()
    assert not zarr.open(zarr.DirectoryStore(tmp_path / "a"), mode="r")[:].any()


def test_a_cache_keeps_what_was_read_up_to_its_size() -> None:
    below = zarr.MemoryStore({"a": b"1" * 60, "b": b"2" * 60})
    cache = zarr.LRUStoreCache(below, max_size=100)
    assert cache["a"] == cache["a"]
    assert (cache.hits, cache.misses) == (1, 1)
    below["a"] = b"changed"
    assert cache["a"] == b"1" * 60
    cache.invalidate()
    assert cache["a"] == b"changed"
    cache["a"] = b"mine"
    assert cache["a"] == below["a"] == b"mine"
    assert cache["b"] == b"2" * 60
    misses = cache.misses
    assert cache["a"] == b"mine"
    assert cache.misses == misses
    cache.set_sync("a", Buffer.from_bytes(b"x" * 90))
    assert cache["a"] == b"x" * 90
    assert cache["b"] == b"2" * 60
    assert cache.max_size == 100


def test_n5(tmp_path: Path) -> None:
    block = np.arange(4, dtype=">i4")
    folder = tmp_path / "a.n5" / "x"
    (folder / "0").mkdir(parents=True)
    attributes = {"dimensions": [2, 2], "blockSize": [2, 2], "dataType": "int32", "compression": {"type": "raw"}}
    (folder / "attributes.json").write_text(json.dumps(attributes))
    (folder / "0" / "0").write_bytes(b"\0\0\0\2\0\0\0\2\0\0\0\2" + block.tobytes())
    for store in (zarr.N5Store(tmp_path / "a.n5"), zarr.N5FSStore(str(tmp_path / "a.n5"))):
        assert isinstance(store, zarr.storage.N5Store)
        assert zarr.open_group(store, mode="r")["x"][:].tolist() == [[0, 1], [2, 3]]


def test_temporary_folders_go_with_the_process(tmp_path: Path) -> None:
    store = zarr.TempStore(dir=tmp_path)
    assert os.path.dirname(store.path) == str(tmp_path)


def test_pickled(tmp_path: Path) -> None:
    for made in (zarr.DirectoryStore(tmp_path / "a"), zarr.LRUStoreCache(zarr.DirectoryStore(tmp_path / "a"), 10)):
        made["k"] = b"v"
        assert pickle.loads(pickle.dumps(made))["k"] == b"v"


@pytest.mark.parametrize("name", ["ABSStore", "RedisStore", "MongoDBStore"])
def test_stores_that_are_gone_name_the_remedy(name: str) -> None:
    with pytest.raises(TypeError, match=r"zarr\.storage\."):
        getattr(zarr, name)(prefix="x")
    assert getattr(zarr.storage, name) is getattr(zarr, name)


def test_names(tmp_path: Path) -> None:
    for name in ("DirectoryStore", "FSStore", "KVStore", "LRUStoreCache", "NestedDirectoryStore", "TempStore"):
        assert getattr(zarr.storage, name) is getattr(zarr, name)
    for name in ("MemoryStore", "ZipStore", "SQLiteStore", "LMDBStore", "DBMStore"):
        assert getattr(zarr.storage, name) is not getattr(zarr, name)
    assert zarr.Blosc(cname="zstd").codec_id == "blosc"
    with pytest.raises(ValueError, match="separator"):
        zarr.NestedDirectoryStore(tmp_path, dimension_separator=".")
    with pytest.raises(ValueError, match="dimension_separator"):
        zarr.DirectoryStore(tmp_path, dimension_separator="-")
    with pytest.raises(ValueError, match="flag"):
        zarr.DBMStore(tmp_path / "x", flag="x")
    with pytest.raises(TypeError, match="KVStore"):
        zarr.MemoryStore(cls=list)


class _Interrupted(zarr.storage.MemoryStore):
    """Lets somebody write between its answer and whoever asked."""

    meanwhile: Any = None

    def get_sync(self, key: str, **options: Any) -> Any:
        found = super().get_sync(key, **options)
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            act()
        return found


def test_a_cache_does_not_keep_what_was_replaced_while_it_was_read() -> None:
    below = _Interrupted({"a": Buffer.from_bytes(b"old")})
    cache = zarr.LRUStoreCache(below, max_size=None)
    below.meanwhile = lambda: cache.set_sync("a", Buffer.from_bytes(b"new"))
    assert cache["a"] == b"old"
    assert cache["a"] == b"new"


class _Noting(MemoryStore):
    """A store that overrides how values are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def get_sync(self, key: str, **options: Any) -> Any:
        self.read.append(key)
        return super().get_sync(key, **options)


def test_reads_that_the_store_overrides_are_called() -> None:
    below = _Noting()
    store = zarr.storage.normalize_store_arg(below)
    zarr.create(4, chunks=2, dtype="i4", store=store)[:] = [1, 2, 3, 4]
    assert zarr.open_array(store, mode="r")[:].tolist() == [1, 2, 3, 4]
    assert {"0", "1"} <= set(below.read)


class Vanishing(MemoryStore):
    """A store from which another thread removes a key that was just found."""

    def list_sync(self) -> Any:
        return [*super().list_sync(), "b/gone"]

    def list_prefix_sync(self, prefix: str) -> Any:
        return [*super().list_prefix_sync(prefix), "b/gone"]

    def exists_sync(self, key: str) -> bool:
        return key == "b/gone" or super().exists_sync(key)


def test_a_key_that_is_removed_while_a_mapping_is_read_is_left_out() -> None:
    store = Vanishing()
    store["b/a"] = b"12"
    assert store.getitems(["b/a", "b/gone", "c"]) == {"b/a": b"12"}
    assert (store.items(), store.values()) == ([("b/a", b"12")], [b"12"])
    assert store.directly_below("b") == 2
    assert store.pop("b/gone", None) is None
    with pytest.raises(KeyError):
        store.pop("b/gone")
    assert (store.pop("b/a", None), store.pop("b/a", 3)) == (b"12", 3)
