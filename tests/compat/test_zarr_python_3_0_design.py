"""The design document of zarr-python 3.0 (October 2023), walked: its examples verbatim, its tables row by row.

Where a row cannot be as the document has it, ``REASONS`` says why, and the row is tested as it is instead.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import logging
import sys
import threading
from collections import UserDict
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import zarr
from zarr import Array
from zarr.abc import codec as codec_abcs
from zarr.abc import nodes as array_abcs
from zarr.abc import nodes as group_abcs
from zarr.abc import store as store_abcs
from zarr.buffer.cpu import Buffer
from zarr.registry import tables
from zarr.storage import LoggingStore, MappingStore, MemoryStore
from zarr.testing.store import LatencyStore

REASONS = {
    "store methods": "get and get_partial_values take a buffer prototype, and values are buffers, not bytes: so "
    "zarr-python 3 was released, and stores written for it must work here",
    "AsyncGroup.array_key": "a slip of the pen in the table: the method is array_keys, as in its Group column",
    "Group.visit*": "the document leaves them open ('?'): Group.members(max_depth=None) walks, and the h5py columns "
    "have them",
    "Array.__eq__": "compares which array it is, not element by element: it is what zarr-python 3 released",
    "Array.__bool__": "an array with dimensions is true, as it is in zarr-python 3; the standard has an error there",
    "Array.__array_namespace__": "in the column 'Not Included'; there with the setting array.array_namespace, since "
    "libraries that find it compute with the array instead of reading it",
    "operators": "in the column 'Not Included': what computes is numpy's, after reading",
    "metadata classes": "released as ArrayV2Metadata and ArrayV3Metadata; the names of the document are not used",
}


def run(coroutine: Any) -> Any:
    return asyncio.run(coroutine)


# ------------------------------------------------------------------------------------------ examples, verbatim


def test_example_create_and_save() -> None:
    store = MemoryStore()
    arr1 = Array(shape=(10, 10), path="foo/bar", dtype="i4", store=store)
    arr2 = Array(shape=(10, 10), path="foo/spam", dtype="f8", store=store)
    assert not store._store_dict
    arr1.save()
    arr2.save()
    assert {name: str(a.dtype) for name, a in zarr.open_group(store, path="foo").arrays()} == {
        "bar": "int32",
        "spam": "float64",
    }


def test_example_save_many() -> None:
    store = MemoryStore()
    arr1 = Array(shape=(10, 10), path="foo/bar", dtype="i4", store=store)
    arr2 = Array(shape=(10, 10), path="foo/spam", dtype="f8", store=store)
    # or equivalently
    zarr.save_many([arr1 ,arr2])
    assert sorted(zarr.open_group(store, path="foo")) == ["bar", "spam"]


def test_example_create_hierarchy() -> None:
    store = MemoryStore()
    nodes = {"": zarr.group().metadata, "a": zarr.group().metadata, "a/x": zarr.zeros(3).metadata}
    assert sorted(path for path, _ in zarr.create_hierarchy(store=store, nodes=nodes)) == ["", "a", "a/x"]


def test_example_array_and_group_wrap_their_asynchronous_twins() -> None:
    root = zarr.group()
    made = root.create_group("a")
    assert isinstance(root._async_group, zarr.AsyncGroup)
    assert made == root["a"]
    array = root.create_array("x", data=np.arange(5))
    assert run(array._async_array.getitem(slice(1, 3))).tolist() == array[1:3].tolist()
    assert isinstance(run(root._async_group.create_group("b")), zarr.AsyncGroup)


@pytest.mark.parametrize(
    "method",
    ["get", "get_partial_values", "set", "set_partial_values", "list", "list_prefix", "list_dir", "getsize", "rename"],
)
def test_example_store_methods(method: str) -> None:
    found = getattr(store_abcs.Store, method)
    awaited = inspect.iscoroutinefunction(found) or method.startswith("list")
    assert awaited, REASONS["store methods"]


def test_example_store_optional_methods_work() -> None:
    async def work() -> tuple[int, list[str]]:
        store = MemoryStore()
        await store.set("a", Buffer.from_bytes(b"abc"))
        await store.set_partial_values([("a", 2, b"xyz"), ("b", 0, memoryview(b"1"))])
        await store.rename("a", "c")
        return await store.getsize("c"), sorted([key async for key in store.list()])

    assert run(work()) == (5, ["b", "c"])


def test_example_a_mutable_mapping_is_a_store() -> None:
    plain: UserDict[str, Any] = UserDict()
    zarr.create_array(plain, name="a", data=np.arange(3))
    assert isinstance(zarr.open_array(plain, path="a").store, MappingStore)
    assert "a/zarr.json" in plain


def test_example_entry_points_of_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    entry_points = """
    [zarr.codecs]
    blosc_codec=codec_plugin:make_blosc_codec
    zlib_codec=codec_plugin:make_zlib_codec
    """
    lines = [line.strip() for line in entry_points.strip().splitlines()]
    group = lines[0].strip("[]")
    points = tuple(EntryPoint(*line.split("="), group) for line in lines[1:])
    plugin = ModuleType("codec_plugin")
    vars(plugin).update(make_blosc_codec=zarr.codecs.BloscCodec, make_zlib_codec=zarr.codecs.GzipCodec)
    monkeypatch.setitem(sys.modules, "codec_plugin", plugin)
    monkeypatch.setattr(tables, "entry_points_by_group", lambda: {group: points})
    tables.collect_entry_points.cache_clear()
    try:
        assert zarr.registry.get_codec_class("blosc_codec") is zarr.codecs.BloscCodec
        assert zarr.registry.get_codec_class("zlib_codec") is zarr.codecs.GzipCodec
    finally:
        tables.collect_entry_points.cache_clear()
        for point in points:
            tables._codec_registries.pop(point.name, None)
    # Installed packages of all six kinds: tests/unit/registry/test_plugins.py


# ------------------------------------------------------------------------------------------ the array API table


@pytest.fixture
def matrix() -> zarr.Array[Any]:
    return zarr.array(np.arange(6, dtype="int32").reshape(2, 3), chunks=(1, 2))


def test_array_api_attributes(matrix: zarr.Array[Any]) -> None:
    assert (matrix.dtype, matrix.ndim, matrix.shape, matrix.size) == (np.dtype("int32"), 2, (2, 3), 6)
    assert matrix.device == "cpu"
    np.testing.assert_array_equal(matrix.T, np.arange(6).reshape(2, 3).T)
    stack = zarr.array(np.arange(24).reshape(4, 2, 3))
    np.testing.assert_array_equal(stack.mT, np.arange(24).reshape(4, 2, 3).mT)
    with pytest.raises(ValueError, match="two dimensions"):
        _ = zarr.zeros(3).mT


def test_array_api_included_methods(matrix: zarr.Array[Any]) -> None:
    matrix[0, 0] = 9
    assert matrix[0, 0] == 9
    assert (matrix == zarr.open_array(matrix.store)) is True, REASONS["Array.__eq__"]
    assert bool(matrix) is True, REASONS["Array.__bool__"]
    assert [bool(zarr.array(value)) for value in (0, 1, 0.0, True)] == [False, True, False, True]
    assert len(matrix) == 2


def test_array_api_unknown_methods(matrix: zarr.Array[Any]) -> None:
    assert matrix.to_device("cpu") is matrix
    with pytest.raises(ValueError, match="'gpu'"):
        matrix.to_device("gpu")
    np.testing.assert_array_equal(np.from_dlpack(matrix), matrix[...])
    assert matrix.__dlpack_device__() == (1, 0)
    assert (int(zarr.array(3)), float(zarr.array(2.5)), complex(zarr.array(1 + 2j))) == (3, 2.5, 1 + 2j)
    assert "abc"[zarr.array(1)] == "b"  # type: ignore[index]
    assert matrix.astype("float32").dtype == "float32"
    with pytest.raises(TypeError, match="integer"):
        "abc"[zarr.array(1.5)]  # type: ignore[index]
    for convert in (int, float, complex):
        with pytest.raises(TypeError, match=r"\(2, 3\)"):
            convert(matrix)


def test_array_api_namespace(matrix: zarr.Array[Any]) -> None:
    assert not hasattr(matrix, "__array_namespace__"), REASONS["Array.__array_namespace__"]
    assert not hasattr(type(matrix), "__array_namespace__")  # protocols are looked for in the class (anndata)
    with zarr.config.set({"array.array_namespace": True}):
        xp = matrix.__array_namespace__(api_version="2022.12")
        with pytest.raises(ValueError, match="9999"):
            matrix.__array_namespace__(api_version="9999.12")
    assert xp is zarr.array_api
    assert int(xp.sum(matrix)) == 15
    assert xp.concat([matrix, matrix]).shape == (4, 3)
    assert (xp.float32, xp.pi, xp.isdtype(matrix.dtype, "integral")) == (np.float32, np.pi, True)


@pytest.mark.parametrize(
    "name",
    [
        *("abs", "add", "and", "floordiv", "ge", "gt", "invert", "le", "lshift", "lt", "matmul", "mod"),
        *("mul", "neg", "or", "pos", "pow", "rshift", "sub", "truediv", "xor"),
    ],
)
def test_array_api_operators_are_not_included(name: str) -> None:
    method = f"__{name}__"
    classes = [base for base in zarr.Array.__mro__ if base is not object]
    assert not any(method in vars(base) for base in classes), REASONS["operators"]


@pytest.mark.parametrize("name", [a + b for a in ("zeros", "ones", "full", "empty") for b in ("", "_like")])
def test_creation_functions_included(name: str) -> None:
    assert getattr(zarr.creation, name) is getattr(zarr, name)


CREATED: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "arange": ((2, 20, 3), {"dtype": "float32"}),
    "asarray": (([[1, 2], [3, 4]],), {}),
    "eye": ((4, 5), {"k": 1}),
    "from_dlpack": ((np.arange(4),), {}),
    "linspace": ((0, 5, 7), {"endpoint": False}),
    "tril": ((np.arange(16).reshape(4, 4),), {"k": -1}),
    "triu": ((np.arange(16).reshape(4, 4),), {"k": 1}),
}


@pytest.mark.parametrize("name", CREATED)
def test_creation_functions_of_the_standard(name: str) -> None:
    args, options = CREATED[name]
    made = getattr(zarr.creation, name)(*args, **options)
    assert isinstance(made, zarr.Array)
    expected = getattr(np, name)(*args, **options)
    np.testing.assert_array_equal(made[...], expected)
    assert made.dtype == expected.dtype
    store = MemoryStore()
    getattr(zarr.creation, name)(*args, **options, store=store, name="a/b", zarr_format=2)
    np.testing.assert_array_equal(zarr.open_array(store, path="a/b")[...], expected)


def test_creation_meshgrid_and_copies() -> None:
    for indexing in ("xy", "ij"):
        made = zarr.creation.meshgrid([1, 2], zarr.array([3, 4, 5]), indexing=indexing)
        for one, other in zip(made, np.meshgrid([1, 2], [3, 4, 5], indexing=indexing), strict=True):  # type: ignore[call-overload]
            np.testing.assert_array_equal(one[...], other)
    array = zarr.array([1, 2])
    assert zarr.creation.asarray(array) is array
    assert zarr.creation.asarray(array, copy=True) is not array
    for function in (zarr.creation.asarray, zarr.creation.from_dlpack):
        with pytest.raises(ValueError, match="copy=False"):
            function(np.arange(3), copy=False)


# ------------------------------------------------------------------------------------------ arrays and groups


def test_array_properties_of_zarr() -> None:
    array = zarr.array([1, 2, 3])
    array.attrs["a"] = 1
    assert isinstance(array.metadata, zarr.metadata.v3.ArrayV3Metadata), REASONS["metadata classes"]
    assert array.metadata.attributes == {"a": 1}
    assert "Shape" in repr(array.info)
    assert zarr.zeros(3, zarr_format=2).metadata.to_dict()["zarr_format"] == 2


def test_indexing_stays() -> None:
    array = zarr.array(np.arange(12).reshape(3, 4))
    assert array.oindex[[0, 2], [1, 3]].tolist() == [[1, 3], [9, 11]]
    assert array.vindex[[0, 2], [1, 3]].tolist() == [1, 11]


@pytest.mark.parametrize(
    ("plain", "awaited"), [("__getitem__", "getitem"), ("__setitem__", "setitem"), ("__eq__", "equals")]
)
def test_sync_and_async_array_methods(plain: str, awaited: str) -> None:
    assert callable(getattr(zarr.Array, plain))
    assert inspect.iscoroutinefunction(getattr(zarr.AsyncArray, awaited))
    array = zarr.array([1])
    assert run(array.async_array.equals(array.async_array)) is True


GROUP_ROWS = [
    ("length", "__len__"),
    ("__aiter__", "__iter__"),
    ("contains", "__contains__"),
    ("getitem", "__getitem__"),
    ("group_keys", "group_keys"),
    ("groups", "groups"),
    ("array_keys", "array_keys"),
    ("arrays", "arrays"),
    ("tree", "tree"),
    ("create_group", "create_group"),
    ("create_array", "create_array"),
    ("empty", "empty"),
    ("zeros", "zeros"),
    ("ones", "ones"),
    ("full", "full"),
    ("empty_like", "empty_like"),
    ("zeros_like", "zeros_like"),
    ("ones_like", "ones_like"),
    ("full_like", "full_like"),
    ("move", "move"),
    # the rows of the document that say "?" or "N/A", and are there
    ("require_group", "require_group"),
    ("require_groups", "require_groups"),
    ("create_groups", "create_groups"),
    ("create_hierarchy", "create_hierarchy"),
]


@pytest.mark.parametrize(("awaited", "plain"), GROUP_ROWS)
def test_group_table(awaited: str, plain: str) -> None:
    assert callable(getattr(zarr.AsyncGroup, awaited)), REASONS["AsyncGroup.array_key"]
    assert callable(getattr(zarr.Group, plain)), REASONS["Group.visit*"]


@pytest.mark.parametrize(
    "name",
    [
        *("__len__", "__iter__", "__contains__", "__getitem__", "visit", "visititems", "create_group", "require_group"),
        *("create_dataset", "require_dataset", "move", "__enter__", "__exit__"),
    ],
)
def test_group_table_of_h5py(name: str) -> None:
    cls = zarr.h5py_compat.File if name in ("__enter__", "__exit__") else zarr.h5py_compat.Group
    assert callable(getattr(cls, name))


def test_groups_walked() -> None:
    root = zarr.group()
    made = root.create_groups("a", "b/c")
    assert [group.path for group in made] == ["a", "b/c"]
    with pytest.raises(zarr.errors.ContainsGroupError):
        root.create_groups("d", "a")
    assert [group.path for group in root.require_groups("a", "e")] == ["a", "e"]

    async def walk() -> tuple[int, list[str]]:
        group = root._async_group
        return await group.length(), sorted([name async for name in group])

    names = sorted(root)
    assert run(walk()) == (len(root), names)
    root.move("a", "z")
    assert "a" not in root
    assert "z" in root
    made_async = run(root._async_group.create_groups("p", "q"))
    assert [group.path for group in made_async] == ["p", "q"]


def test_info_does_not_list_the_store_unless_it_is_asked_to() -> None:
    store = LoggingStore(MemoryStore())
    array = zarr.create_array(store, data=np.arange(6), chunks=(2,), compressors=None)
    store.counter.clear()
    assert "Chunks Initialized" not in repr(array.info)
    assert set(store.counter) <= {"read_only"}
    assert "Chunks Initialized : 3" in repr(array.info_complete())
    assert any(name.startswith("list") for name in store.counter)


def test_several_arrays_are_read_concurrently() -> None:
    store = LatencyStore(MemoryStore(), get_latency=0.05)
    names = [f"{n}" for n in range(10)]
    for name in names:
        metadata = zarr.create_array(store, name=name, data=np.full(4, int(name)), chunks=(4,)).metadata

    async def read() -> list[Any]:
        arrays = [zarr.AsyncArray(metadata, zarr.storage.StorePath(store, name)) for name in names]
        begin = asyncio.get_running_loop().time()
        found = await asyncio.gather(*(array.getitem(...) for array in arrays))
        assert asyncio.get_running_loop().time() - begin < 0.25  # one after another would take 0.5
        return [part.tolist() for part in found]

    assert run(read()) == [[int(name)] * 4 for name in names]


def test_sync_runs_an_awaitable_in_a_loop_of_the_library() -> None:
    async def where() -> tuple[int, str]:
        return 7, threading.current_thread().name

    value, name = zarr.core.sync.sync(where())
    assert value == 7
    assert name != threading.current_thread().name


# ------------------------------------------------------------------------------------------ ABCs


@pytest.mark.parametrize("name", ["Store", "ReadStore", "ReadWriteStore", "ReadListStore", "ReadWriteListStore"])
def test_store_abcs(name: str) -> None:
    abc = getattr(store_abcs, name)
    assert inspect.isabstract(abc)
    assert issubclass(MemoryStore, abc)


@pytest.mark.parametrize("name", ["BaseArray", "SynchronousArray", "AsynchronousArray"])
def test_array_abcs(name: str) -> None:
    abc = getattr(array_abcs, name)
    assert inspect.isabstract(abc)
    face = zarr.AsyncArray if name == "AsynchronousArray" else zarr.Array
    assert issubclass(face, abc)
    assert all(hasattr(face, member) for member in abc.__abstractmethods__)


@pytest.mark.parametrize("name", ["BaseGroup", "SynchronousGroup", "AsynchronousGroup"])
def test_group_abcs(name: str) -> None:
    abc = getattr(group_abcs, name)
    assert inspect.isabstract(abc)
    face = zarr.AsyncGroup if name == "AsynchronousGroup" else zarr.Group
    assert issubclass(face, abc)
    assert all(hasattr(face, member) for member in abc.__abstractmethods__)


@pytest.mark.parametrize("name", ["Codec", "ArrayArrayCodec", "ArrayBytesCodec", "BytesBytesCodec"])
def test_codec_abcs(name: str) -> None:
    assert hasattr(codec_abcs, name)


# ------------------------------------------------------------------------------------------ loggers, registering


@pytest.mark.parametrize("name", ["array", "group", "store", "codec"])
def test_loggers(name: str, caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger(f"zarr.{name}")
    with caplog.at_level("DEBUG", logger.name):
        zarr.create_array({}, name="a", data=np.arange(3))
        root = zarr.group()
        assert sorted(root) == []
    assert {record.name for record in caplog.records} == {logger.name}
    assert logger.name in str(zarr.logs.__doc__)  # users know how to turn it on


@pytest.mark.parametrize(
    "name", ["codec", "chunk_grid", "chunk_key_encoding", "storage_transformer", "store", "pipeline", "buffer"]
)
def test_extensions_are_registered_at_run_time(name: str) -> None:
    assert callable(getattr(zarr.registry, f"register_{name}"))


@pytest.mark.parametrize("room", ["zarr.array_api", "zarr.creation", "zarr.abc.store", "zarr.abc.storage_transformer"])
def test_rooms(room: str) -> None:
    assert importlib.import_module(room).__doc__
