"""What zarr-python 3 pickled is read: its pickles name the classes and hold their fields."""

from __future__ import annotations

import asyncio
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.codecs import ShardingCodec
from zarr.core.array_spec import ArrayConfig
from zarr.experimental.cache_store import CacheStore, _CacheState
from zarr.storage import LocalStore, ManagedMemoryStore, MemoryStore, ObjectStore, ZipStore


def blank(cls: type) -> Any:
    return cls.__new__(cls)


class Fields:
    """Pickles as zarr-python does: a new object of a class, and its fields."""

    def __init__(self, cls: type, **fields: Any) -> None:
        self.cls, self.fields = cls, fields

    def __reduce__(self) -> tuple[Any, ...]:
        return blank, (self.cls,), self.fields


def read(value: Fields) -> Any:
    return pickle.loads(pickle.dumps(value))


def foreign_config(order: str = "C") -> Fields:
    """As of 3.4.2, which has fewer fields."""
    fields: dict[str, Any] = {"order": order, "write_empty_chunks": False, "read_missing_chunks": True}
    sizes = {"sharding_coalesce_max_gap_bytes": 1 << 20, "sharding_coalesce_max_bytes": 16 << 20}
    return Fields(ArrayConfig, **fields, **sizes)


@pytest.fixture
def array(tmp_path: Path) -> zarr.Array[Any]:
    made = zarr.create_array(LocalStore(tmp_path), name="a", shape=(6,), chunks=(2,), shards=(4,), dtype="int16")
    made[:] = np.arange(6)
    return made


def foreign_array(array: zarr.Array[Any], config: str = "config") -> Fields:
    return Fields(
        zarr.AsyncArray,
        metadata=array.metadata,
        store_path=array.store_path,
        codec_pipeline=array.async_array.codec_pipeline,
        **{config: foreign_config("F")},
    )


@pytest.mark.parametrize("config", ["config", "_config"])
def test_arrays(array: zarr.Array[Any], config: str) -> None:
    face = read(Fields(zarr.Array, _async_array=foreign_array(array, config)))
    assert (type(face), face.store_path, face.config.order) == (zarr.Array, array.store_path, "F")
    assert face[:].tolist() == list(range(6))
    face[0] = 9
    assert pickle.loads(pickle.dumps(face))[0] == 9
    assert asyncio.run(read(foreign_array(array)).getitem(slice(0, 2))).tolist() == [9, 1]


def test_groups(array: zarr.Array[Any]) -> None:
    group = zarr.open_group(array.store, mode="a")
    group.attrs["k"] = 1
    foreign = Fields(zarr.AsyncGroup, metadata=group.metadata, store_path=group.store_path)
    face = read(Fields(zarr.Group, _async_group=foreign))
    assert (type(face), dict(face.attrs), list(face)) == (zarr.Group, {"k": 1}, ["a"])
    assert face["a"][5] == 5
    assert read(foreign) == group._async_group


@pytest.mark.parametrize(("mode", "read_only"), [("r", True), ("a", False), ("a", True), ("w", False), ("x", False)])
def test_zip_stores(tmp_path: Path, mode: str, read_only: bool) -> None:
    path = tmp_path / "a.zip"
    if mode in "ra":
        with ZipStore(path, mode="w") as store:
            zarr.save_array(store, np.arange(3))
    options = {"compression": zipfile.ZIP_DEFLATED, "allowZip64": True, "_fileobj": None, "_was_opened": False}
    found = read(Fields(ZipStore, path=path, _zmode=mode, _read_only=read_only, _is_open=False, **options))
    assert (found.read_only, found.compression) == (read_only, zipfile.ZIP_DEFLATED)
    if mode in "wx":
        zarr.save_array(found, np.arange(3))
    assert zarr.open_array(pickle.loads(pickle.dumps(found)), mode="r")[:].tolist() == [0, 1, 2]
    found.close()


def test_a_cache_begins_empty(array: zarr.Array[Any]) -> None:
    records = Fields(_CacheState, current_size=7, hits=3)
    settings = {"max_age_seconds": 5, "max_size": 1000, "cache_set_data": False}
    cache = Fields(CacheStore, _store=array.store, _cache=MemoryStore(), _state=records, **settings)
    for found in (read(cache), pickle.loads(pickle.dumps(read(cache)))):
        assert found.cache_info().items() >= {**settings, "current_size": 0}.items()
        assert zarr.open_array(found, path="a")[:].tolist() == list(range(6))


def test_stores_of_obstore(array: zarr.Array[Any]) -> None:
    local = pytest.importorskip("obstore.store").LocalStore(str(array.store.root))
    found = read(Fields(ObjectStore, _is_open=False, _read_only=False, store=pickle.dumps(local)))
    assert zarr.open_array(found, path="a")[:].tolist() == list(range(6))


def test_a_store_in_the_memory_of_another_process_is_refused() -> None:
    store = ManagedMemoryStore(name="of-another")
    with pytest.raises(RuntimeError, match=r"memory://of-another.* process -1 "):
        store.__setstate__({"path": "", "read_only": False, "created_pid": -1})


def test_configurations() -> None:
    assert read(foreign_config()) == ArrayConfig(order="C", write_empty_chunks=False)


@pytest.mark.parametrize("order", ["morton", "lexicographic"])
def test_the_sharding_codec(order: Any) -> None:
    codec = ShardingCodec(chunk_shape=(2,), index_location="start", subchunk_write_order=order)
    assert read(Fields(ShardingCodec, subchunk_write_order=order, **codec.to_dict())) == codec


@pytest.mark.parametrize("value", ["a", ["b"], None])
def test_what_is_no_configuration_of_a_codec(value: Any) -> None:
    with pytest.raises(ValueError, match="must be an object"):
        zarr.registry.get_numcodec(value)


def test_a_format_that_is_none(tmp_path: Path) -> None:
    for opening in (zarr.AsyncArray.open, zarr.AsyncGroup.open):
        with pytest.raises(zarr.errors.MetadataValidationError, match="Expected 2, 3, or None"):
            asyncio.run(opening(LocalStore(tmp_path), zarr_format=7))  # type: ignore[operator]
