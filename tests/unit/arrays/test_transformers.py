"""Storage transformers: chunks go through them in every way of reading and writing, documents pass them by."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.abc.storage_transformer import StorageTransformer
from zarr.buffer import default_buffer_prototype
from zarr.registry import register_storage_transformer
from zarr.registry.tables import _storage_transformer_registry
from zarr.storage import LocalStore, LoggingStore, MemoryStore, StorePath, WrapperStore


def _mask(value: Any, mask: int) -> Any:
    return None if value is None else type(value).from_bytes(bytes(byte ^ mask for byte in value.to_bytes()))


class _Masked(WrapperStore[Any]):
    """Every byte of every value, by exclusive or with one number; under keys that end otherwise."""

    def __init__(self, store: Any, mask: int = 90) -> None:
        super().__init__(store)
        self.mask = mask

    def with_read_only(self, read_only: bool = False) -> Any:
        return type(self)(self._store.with_read_only(read_only), self.mask)

    def get_sync(self, key: str, **options: Any) -> Any:
        return _mask(super().get_sync(key, **options), self.mask)

    def set_sync(self, key: str, value: Any) -> None:
        super().set_sync(key, _mask(value, self.mask))

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        return _mask(await super().get(key, prototype, byte_range), self.mask)

    async def set(self, key: str, value: Any) -> None:
        await super().set(key, _mask(value, self.mask))


class _CoroutinesOnly(_Masked):
    get_sync = WrapperStore.get_sync
    set_sync = WrapperStore.set_sync


class Mask(StorageTransformer):
    name = "test.mask"

    def wrap(self, store: Any, path: str) -> Any:
        cls = _CoroutinesOnly if self.configuration.get("coroutines") else _Masked
        return cls(store, self.configuration.get("mask", 90))


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    kept = dict(_storage_transformer_registry)
    register_storage_transformer("test.mask", Mask)
    yield
    _storage_transformer_registry.clear()
    _storage_transformer_registry.update(kept)


MASK: list[dict[str, Any]] = [{"name": "test.mask"}]
DATA = np.arange(60, dtype="int32").reshape(6, 10)


@pytest.fixture(params=["memory", "local", "logged"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "local":
        return LocalStore(tmp_path)
    memory = MemoryStore()
    return LoggingStore(memory) if request.param == "logged" else memory


@pytest.mark.parametrize("shards", [None, (6, 10)])
@pytest.mark.parametrize("configuration", [{}, {"coroutines": True}])
def test_chunks_go_through_it_and_come_back(store: Any, shards: Any, configuration: dict[str, Any]) -> None:
    transformers = [{"name": "test.mask", "configuration": configuration}]
    shared: dict[str, Any] = {"chunks": (3, 5), "shards": shards, "compressors": None, "filters": None}
    array = zarr.create(
        (6, 10), store=store, path="a/b", dtype="int32", chunks=(3, 5), storage_transformers=transformers
    )
    if shards is not None:
        metadata = zarr.create_array({}, shape=(6, 10), dtype="int32", **shared).metadata.to_dict()
        document = {**metadata, "storage_transformers": transformers}
        array = zarr.Array.from_dict(StorePath(store, "a/s"), document)
    array[...] = DATA
    array[1, 2:4] = 7
    expected = DATA.copy()
    expected[1, 2:4] = 7
    np.testing.assert_array_equal(array[...], expected)
    if isinstance(store, LocalStore):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(array))[2:5, ::3], expected[2:5, ::3])
    np.testing.assert_array_equal(array.oindex[[0, 5], [1, 9]], expected[np.ix_([0, 5], [1, 9])])
    np.testing.assert_array_equal(asyncio.run(array.async_array.getitem((slice(None), 1))), expected[:, 1])
    np.testing.assert_array_equal(zarr.read_many([(array, slice(0, 2)), (array, slice(1, 3))])[1], expected[1:3])


def _raw(store: Any, key: str) -> bytes:
    value = asyncio.run(store.get(key, default_buffer_prototype()))
    assert value is not None, key
    return bytes(value.to_bytes())


def test_what_is_stored_is_what_it_made(store: Any) -> None:
    more = {"codecs": ["bytes"], "storage_transformers": MASK, "data": np.arange(4)}
    array = zarr.create((4,), store=store, path="x", dtype="uint8", chunks=4, **more)
    assert _raw(store, "x/c/0") == bytes(i ^ 90 for i in range(4))
    assert b'"test.mask"' in _raw(store, "x/zarr.json")
    array.attrs["unit"] = "m"
    array.resize(6)
    array.append([9], axis=0)
    again = zarr.open_array(store, path="x")
    assert (again.attrs["unit"], again[:].tolist()) == ("m", [0, 1, 2, 3, 0, 0, 9])
    assert again.nchunks_initialized == 2
    with again.batch():
        again[5] = 3
        assert again[5] == 3
    assert zarr.open_array(store, path="x")[5] == 3
    group = zarr.open_group(store)
    with group.batch():
        group["x"][4] = 8
    assert _raw(store, "x/c/1")[0] == 8 ^ 90


def test_another_pipeline_reads_and_writes_through_it(store: Any) -> None:
    array = zarr.create((6, 10), store=store, path="x", dtype="int32", chunks=(3, 5), storage_transformers=MASK)
    with zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.FusedCodecPipeline"}):
        array[...] = DATA
        np.testing.assert_array_equal(zarr.open_array(store, path="x")[...], DATA)
    np.testing.assert_array_equal(array[...], DATA)
    assert array.nchunks_initialized == 4


def test_they_are_stacked_with_the_first_next_to_the_array() -> None:
    seen: list[str] = []

    class Noting(StorageTransformer):
        name = "test.noting"

        def wrap(self, store: Any, path: str) -> Any:
            seen.append(f"{self.configuration['mark']} over {type(store).__name__} at {path}")
            return _Masked(store, self.configuration["mark"])

    register_storage_transformer("test.noting", Noting)
    stack = [{"name": "test.noting", "configuration": {"mark": mark}} for mark in (1, 2)]
    store = MemoryStore()
    zarr.create((2,), store=store, path="x", dtype="uint8", codecs=["bytes"], storage_transformers=stack)[:] = [4, 5]
    assert seen[:2] == ["2 over MemoryStore at x", "1 over _Masked at x"]
    assert _raw(store, "x/c/0") == bytes([4 ^ 3, 5 ^ 3])


def test_copies_and_deletions(store: Any) -> None:
    kept: dict[str, Any] = {"store": store, "path": "x", "dtype": "uint8", "chunks": 2, "storage_transformers": MASK}
    source = zarr.create((4,), data=np.arange(4), **kept)
    copy = zarr.from_array(store, data=source, name="y")
    assert copy[:].tolist() == [0, 1, 2, 3]
    del zarr.open_group(store, mode="a")["x"]
    assert "x" not in zarr.open_group(store)
    source = zarr.create((4,), **kept)
    assert source[:].tolist() == [0, 0, 0, 0]
    with pytest.raises(ValueError, match="read-only"):
        zarr.open_array(store, path="x", mode="r")[0] = 1


def test_what_is_wrong_is_told_with_its_name() -> None:
    with pytest.raises(zarr.errors.MetadataValidationError, match=r"test\.none"):
        zarr.create((4,), dtype="uint8", storage_transformers=[{"name": "test.none"}])
    register_storage_transformer("test.dict", dict)
    with pytest.raises(TypeError, match=r"array /x: .*'test\.dict'.*StorageTransformer"):
        zarr.create((4,), store={}, path="x", dtype="uint8", storage_transformers=[{"name": "test.dict"}])
    with pytest.raises(ValueError, match="format 2 arrays do not support storage transformers"):
        zarr.create((4,), dtype="uint8", zarr_format=2, storage_transformers=MASK)
    assert Mask(mask=3).to_dict() == {"name": "test.mask", "configuration": {"mask": 3}}
