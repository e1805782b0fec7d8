"""Stores that programs for zarr-python 2 define or combine: classes that override items, two stores for one node.

The layouts that are written by hand here are those that zarr-python 2.18.7 wrote for the same calls.
"""

from __future__ import annotations

import asyncio
import dbm.dumb
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
from zarr.errors import GroupNotFoundError, ReadOnlyError


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


# Documents in one store, chunks in another


def two_stores_of_2() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what ``zarr.group(documents, chunk_store=chunks)`` of zarr-python 2.18.7 stored with an array."""
    document = {
        "chunks": [2], "compressor": None, "dtype": "<i4", "fill_value": 0, "filters": None, "order": "C",
        "shape": [4], "zarr_format": 2,
    }  # fmt: skip
    documents = {".zgroup": b'{\n    "zarr_format": 2\n}', "x/.zarray": json.dumps(document).encode()}
    return documents, {"x/0": np.array([1, 2], "<i4").tobytes(), "x/1": np.array([3, 4], "<i4").tobytes()}


OPENERS: dict[str, Callable[[Any, Any], Any]] = {
    "open": lambda store, chunks: zarr.open(store, mode="r", chunk_store=chunks)["x"],
    "open-path": lambda store, chunks: zarr.open(store, mode="r", path="x", chunk_store=chunks),
    "open_group": lambda store, chunks: zarr.open_group(store, mode="r", chunk_store=chunks)["x"],
    "open_array": lambda store, chunks: zarr.open_array(store, mode="r", path="x", chunk_store=chunks),
    "group": lambda store, chunks: zarr.group(store, chunk_store=chunks)["x"],
    "group-position": lambda store, chunks: zarr.group(store, False, chunks)["x"],  # type: ignore[misc]
    "Group": lambda store, chunks: zarr.Group(store, chunk_store=chunks)["x"],  # type: ignore[arg-type]
    "Array": lambda store, chunks: zarr.Array(store, path="x", chunk_store=chunks),
    "coroutine": lambda store, chunks: zarr.Array(
        asyncio.run(zarr.api.asynchronous.open_array(store=store, path="x", mode="r", chunk_store=chunks))
    ),
}


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("kind", ["mapping", "KVStore", "DirectoryStore", "path"])
@pytest.mark.filterwarnings("error")
def test_values_that_2_stored_in_two_stores_are_read(kind: str, opener: str, tmp_path: Path) -> None:
    places: list[Any] = list(two_stores_of_2())
    if kind == "KVStore":
        places = [zarr.KVStore(values) for values in places]
    elif kind != "mapping":
        folders = [zarr.DirectoryStore(tmp_path / name) for name in "ab"]
        for folder, values in zip(folders, places, strict=True):
            folder.update(values)
        places = folders if kind == "DirectoryStore" else [str(tmp_path / name) for name in "ab"]
    array = OPENERS[opener](*places)
    assert array[:].tolist() == [1, 2, 3, 4]
    assert array.chunk_store is not array.store


def test_what_is_written_goes_into_two_stores() -> None:
    documents, chunks = zarr.MemoryStore(), zarr.MemoryStore()
    group = zarr.group(documents, chunk_store=chunks)
    array = group.create("a/x", shape=4, **PLAIN)
    array[:] = 1
    array.attrs["unit"] = "m"
    assert sorted(documents) == [".zgroup", "a/.zgroup", "a/x/.zarray", "a/x/.zattrs"]
    assert sorted(chunks) == ["a/x/0", "a/x/1"]
    assert array.chunk_store is chunks
    assert array.nchunks_initialized == 2
    assert sorted(group.store) == sorted([*documents, *chunks])
    group.move("a/x", "b")
    assert (sorted(documents)[-2:], sorted(chunks)) == (["b/.zarray", "b/.zattrs"], ["b/0", "b/1"])
    group["b"].resize(2)
    assert sorted(chunks) == ["b/0"]
    zarr.consolidate_metadata(documents)
    assert zarr.open_consolidated(documents, chunk_store=chunks)["b"][:].tolist() == [1, 1]
    assert pickle.loads(pickle.dumps(group["b"]))[:].tolist() == [1, 1]
    del group["b"]
    assert (sorted(documents), sorted(chunks)) == ([".zgroup", ".zmetadata", "a/.zgroup"], [])


MAKERS: dict[str, Callable[..., Any]] = {
    "create": lambda **how: zarr.create(4, chunks=2, **how),
    "zeros": lambda **how: zarr.zeros(4, chunks=2, **how),
    "ones": lambda **how: zarr.ones(4, chunks=2, **how),
    "full": lambda **how: zarr.full(4, fill_value=3, chunks=2, **how),
    "empty": lambda **how: zarr.empty(4, chunks=2, **how),
    "array": lambda **how: zarr.array(np.arange(4), chunks=2, **how),
    "array-of-array": lambda **how: zarr.array(zarr.ones(4, chunks=2), **how),
    "zeros_like": lambda **how: zarr.zeros_like(np.ones(4), chunks=2, **how),
    "open": lambda store, **how: zarr.open(store, mode="w", shape=4, chunks=2, **how),
    "open_array": lambda store, **how: zarr.open_array(store, mode="w", shape=4, chunks=2, **how),
}


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.filterwarnings("error")
def test_functions_that_make_arrays_in_two_stores(maker: str, zarr_format: Any, tmp_path: Path) -> None:
    documents, chunks = zarr.MemoryStore(), zarr.DirectoryStore(tmp_path / "chunks")
    made = MAKERS[maker](store=documents, chunk_store=chunks, zarr_format=zarr_format)
    made[:] = [5, 6, 7, 8]
    assert sorted(documents) == [".zarray" if zarr_format == 2 else "zarr.json"]
    assert len(chunks) == 2
    assert zarr.open(documents, chunk_store=chunks)[:].tolist() == [5, 6, 7, 8]


@pytest.mark.filterwarnings("error")
def test_no_chunk_store_and_the_same_one_change_nothing(tmp_path: Path) -> None:
    store = zarr.DirectoryStore(tmp_path / "a")
    for chunk_store in (None, store):
        array = zarr.create(4, chunks=2, store=store, chunk_store=chunk_store, overwrite=True)
        assert array.store is array.chunk_store is store


def test_modes_hold_for_both_stores(tmp_path: Path) -> None:
    documents, chunks = two_stores_of_2()
    read = zarr.open(documents, mode="r", chunk_store=chunks)["x"]
    with pytest.raises(ReadOnlyError):
        read[:] = 0
    archive = zarr.storage.ZipStore(tmp_path / "chunks.zip", mode="w")
    archive.close()
    with pytest.raises(ReadOnlyError):
        zarr.open(documents, mode="r+", chunk_store=zarr.storage.ZipStore(tmp_path / "chunks.zip", mode="r"))
    replaced = zarr.open(zarr.KVStore(documents), mode="w", chunk_store=zarr.KVStore(chunks), shape=2)
    assert (sorted(documents), chunks, replaced.shape) == ([".zarray"], {}, (2,))


def test_a_chunk_store_that_cannot_be_used_is_refused() -> None:
    documents, chunks = two_stores_of_2()
    with pytest.raises(TypeError, match="store_like"):
        zarr.open(documents, mode="r", chunk_store=5)
    place = zarr.storage.StorePath(zarr.storage.MemoryStore(), "below")
    with pytest.raises(ValueError, match="place in a store"):
        zarr.open(documents, mode="r", chunk_store=place)
    group = zarr.open_group(documents, chunk_store=chunks)
    for make in (group.create, group.create_dataset):
        with pytest.raises(TypeError, match="member of a group"):
            make("y", shape=4, chunk_store={})


def test_threads_that_write_parts_of_one_chunk_in_two_stores(tmp_path: Path) -> None:
    documents, chunks = zarr.DirectoryStore(tmp_path / "a"), zarr.DirectoryStore(tmp_path / "b")
    zarr.create(64, chunks=64, dtype="i4", store=documents, chunk_store=chunks)

    def write(number: int) -> Callable[[], None]:
        def run() -> None:
            part = zarr.open(documents, chunk_store=chunks)
            for place in range(number, 64, 4):
                part[place] = place

        return run

    run_together([write(number) for number in range(4)])
    assert zarr.open(documents, chunk_store=chunks)[:].tolist() == list(range(64))


def test_a_store_of_coroutines_holds_the_chunks(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    documents, chunks = zarr.MemoryStore(), f"memory://{tmp_path.name}"
    zarr.create(4, chunks=2, store=documents, chunk_store=chunks)[:] = [1, 2, 3, 4]
    assert sorted(documents) == [".zarray"]
    assert zarr.open(documents, mode="r", chunk_store=chunks)[1:3].tolist() == [2, 3]


# Stores that are opened for reading


READERS: dict[str, tuple[Callable[[Path], Any], Callable[[Path], Any]]] = {
    "ZipStore": (lambda path: zarr.ZipStore(path, mode="w"), lambda path: zarr.ZipStore(path, mode="r")),
    "DBMStore": (
        lambda path: zarr.DBMStore(path, flag="n", open=dbm.dumb.open),
        lambda path: zarr.DBMStore(path, flag="r", open=dbm.dumb.open),
    ),
    "FSStore": (lambda path: zarr.storage.FSStore(str(path)), lambda path: zarr.storage.FSStore(str(path), mode="r")),
}
WITHOUT_MODE: dict[str, Callable[[Any], Any]] = {
    "open": lambda store: zarr.open(store)["x"],
    "open_group": lambda store: zarr.open_group(store)["x"],
    "open_consolidated": lambda store: zarr.open_consolidated(store)["x"],
    "open_array": lambda store: zarr.open_array(store, path="x"),
    "group": lambda store: zarr.group(store)["x"],
    "Group": lambda store: zarr.Group(store)["x"],
    "Array": lambda store: zarr.Array(store, path="x"),
    "chunk_store": lambda store: zarr.open_group(store, chunk_store=store.with_read_only(True))["x"],
}


@pytest.mark.parametrize("opener", WITHOUT_MODE)
@pytest.mark.parametrize("kind", READERS)
def test_a_store_opened_for_reading_needs_no_mode(kind: str, opener: str, tmp_path: Path) -> None:
    write, read = READERS[kind]
    with write(tmp_path / "a") as store:
        zarr.group(store).create("x", shape=4, **PLAIN)[:] = 1
        zarr.consolidate_metadata(store)
    store = read(tmp_path / "a")
    array = WITHOUT_MODE[opener](store)
    assert array[:].tolist() == [1] * 4
    with pytest.raises(ReadOnlyError):
        array[:] = 2


def test_modes_that_write_and_missing_nodes_are_refused(tmp_path: Path) -> None:
    with zarr.ZipStore(tmp_path / "a.zip", mode="w") as store:
        zarr.group(store)
    store = zarr.ZipStore(tmp_path / "a.zip", mode="r")
    with pytest.raises(ReadOnlyError):
        zarr.open_group(store, mode="r+")
    with pytest.raises(ReadOnlyError):
        zarr.open_group(store, attributes={"a": 1})
    with pytest.raises(GroupNotFoundError):
        zarr.open_group(store, path="missing")
    with pytest.raises(ReadOnlyError):
        zarr.open_group(zarr.storage.ZipStore(tmp_path / "a.zip", mode="r"))


def test_what_follows_a_store_by_position() -> None:
    documents, chunks = two_stores_of_2()
    documents = {f"a/{key}": value for key, value in documents.items()}
    chunks = {f"a/{key}": value for key, value in chunks.items()}
    make: Any = zarr.Group
    group = make(documents, "a", True, chunks)
    assert (group.path, group.read_only, group["x"][:].tolist()) == ("a", True, [1, 2, 3, 4])
    assert make({**documents, **chunks}, "a")["x"][:].tolist() == [1, 2, 3, 4]
    make = zarr.Array
    array = make(documents, "a/x", True, chunks)
    assert (array.path, array.read_only, array[:].tolist()) == ("a/x", True, [1, 2, 3, 4])
    assert not make(documents, "a/x").read_only


@pytest.mark.parametrize("make", [zarr.Array, zarr.Group])
def test_what_cannot_follow_a_store_by_position(make: Any) -> None:
    documents, chunks = two_stores_of_2()
    with pytest.raises(TypeError, match="path of the node"):
        make(documents, chunks)
    with pytest.raises(TypeError, match="multiple values for argument 'path'"):
        make(documents, "x", path="y")
    with pytest.raises(TypeError, match="by position"):
        make(documents, "x", *[None] * 20)
    with pytest.raises(TypeError):
        make(zarr.group(documents)["x"]._async_array, "x")
