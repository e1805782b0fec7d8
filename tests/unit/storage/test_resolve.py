"""From what a user calls a store to a store and a place in it."""

from __future__ import annotations

import asyncio
import errno
import os
import pickle
import shutil
import warnings
import zipfile
from collections import UserDict
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
import zarr.h5py_compat
import zarr.storage
from zarr.buffer.cpu import Buffer
from zarr.errors import PlaceNotFoundError, ZarrDeprecationWarning, ZarrUserWarning
from zarr.storage import (
    FsspecStore,
    LocalStore,
    ManagedMemoryStore,
    MappingStore,
    MemoryStore,
    ReferenceStore,
    StorePath,
    WrapperStore,
    ZipStore,
)
from zarr.storage.keys import normalize_path
from zarr.storage.resolve import make_store, make_store_path, resolve_store, resolve_store_path
from zarr.storage.url import parse_store_url

B = Buffer.from_bytes


@pytest.mark.parametrize(
    ("path", "expected"),
    [(None, ""), ("", ""), ("/", ""), ("a", "a"), ("/a/", "a"), ("a//b", "a/b"), ("a\\b", "a/b"), (b"a", "a"),
     (Path("a/b"), "a/b")],
)  # fmt: skip
def test_normalize_path(path: Any, expected: str) -> None:
    assert normalize_path(path) == expected


@pytest.mark.parametrize("path", ["./a", "a/../b", "..", ".", "a/./b", "a\0b"])
def test_paths_that_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="is invalid"):
        normalize_path(path)
    with pytest.raises(TypeError, match='invalid type for "path": int'):
        normalize_path(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "scheme", "name", "path"),
    [
        ("a", "", None, "a"),
        ("/a", "", None, "/a"),
        ("file:///a/b", "file", None, "/a/b"),
        ("memory://", "memory", None, ""),
        ("memory://x", "memory", "x", ""),
        ("memory://x/y/z", "memory", "x", "y/z"),
        ("s3://b/k", "s3", "b", "k"),
        ("http://a/b?c=1", "http", "a", "b"),
    ],
)
def test_parse_store_url(url: str, scheme: str, name: str | None, path: str) -> None:
    parsed = parse_store_url(url)
    assert (parsed.scheme, parsed.name, parsed.path, parsed.raw) == (scheme, name, path, url)


def test_what_names_a_store(tmp_path: Path) -> None:
    store = MemoryStore()
    data: dict[str, Any] = {}
    mapping: UserDict[str, bytes] = UserDict()
    assert resolve_store(store) is store
    assert resolve_store(StorePath(store, "a")) is store
    assert type(resolve_store(None)) is MemoryStore
    found = resolve_store(data)
    assert type(found) is MemoryStore
    assert found._store_dict is data
    mapped = resolve_store(mapping)
    assert type(mapped) is MappingStore
    assert mapped.mapping is mapping
    for name in (tmp_path, str(tmp_path), f"file://{tmp_path}", f"file:{tmp_path}"):
        assert resolve_store(name) == LocalStore(tmp_path)
    named = ManagedMemoryStore("some-name")
    assert resolve_store("memory://some-name") == named
    assert type(resolve_store("memory://not-in-use")) is (FsspecStore if find_spec("fsspec") else ManagedMemoryStore)
    for wrong in (5, b"abc", [1], object()):
        with pytest.raises(TypeError, match="Unsupported type for store_like"):
            resolve_store(wrong)  # type: ignore[arg-type]


def test_storage_options_are_for_fsspec_urls(tmp_path: Path) -> None:
    for store_like in (None, {}, tmp_path, str(tmp_path), f"file://{tmp_path}", "memory://x", MemoryStore()):
        with pytest.raises(TypeError, match="'storage_options' was provided but unused"):
            resolve_store(store_like, storage_options={"a": 1})  # type: ignore[arg-type]
    store = resolve_store(f"local://{tmp_path}", storage_options={"auto_mkdir": True})
    assert type(store) is FsspecStore


def test_modes() -> None:
    store = MemoryStore()
    with pytest.raises(ValueError, match=r"Invalid mode: zz, expected one of \('r', 'r\+', 'a', 'w', 'w-'\)"):
        resolve_store(store, mode="zz")  # type: ignore[arg-type]
    assert resolve_store_path(store, mode="r").read_only
    assert not store.read_only
    for mode in ("r+", "a", "w", "w-", None):
        assert not resolve_store_path(store, mode=mode).read_only  # type: ignore[arg-type]
    frozen = store.with_read_only(read_only=True)
    assert resolve_store_path(frozen).store is frozen
    assert resolve_store_path(frozen, mode="r").store is frozen
    for mode in ("r+", "a", "w", "w-"):
        with pytest.raises(ValueError, match=f"Store is read-only but mode is '{mode}'".replace("+", r"\+")):
            resolve_store_path(frozen, mode=mode)  # type: ignore[arg-type]


async def test_w_minus_wants_an_empty_place() -> None:
    store = MemoryStore()
    await store.set("a/zarr.json", B(b"{}"))
    assert (await make_store_path(store, path="b", mode="w-")).path == "b"
    for place in (store, StorePath(store, "a")):
        with pytest.raises(FileExistsError, match="with mode 'w-' because it already contains data"):
            await make_store_path(place, mode="w-")
    with pytest.raises(FileExistsError):
        await StorePath.open(store, "a", "w-")


def test_read_modes_create_nothing(tmp_path: Path) -> None:
    typo = tmp_path / "typo"
    with pytest.raises(FileNotFoundError, match="typo does not exist"):
        asyncio.run(make_store_path(typo, mode="r"))
    with pytest.raises(FileNotFoundError, match="typo does not exist"):
        resolve_store_path(str(typo), mode="r")
    for mode in ("r+", "a", "w", None):
        asyncio.run(make_store_path(typo, mode=mode))  # type: ignore[arg-type]
    assert not typo.exists()


def test_a_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.zarr").symlink_to("moved.zarr")
    with pytest.raises(PlaceNotFoundError, match=r"a\.zarr is a link to 'moved\.zarr', which does not exist$"):
        zarr.open(tmp_path / "a.zarr", mode="r")


def test_paths_are_joined() -> None:
    store = MemoryStore()
    assert resolve_store_path(StorePath(store, "q"), path="/z//y/").path == "q/z/y"
    assert resolve_store_path(store, path="a").path == "a"
    place = StorePath(store, "q")
    assert resolve_store_path(place) is place
    with pytest.raises(ValueError, match="is invalid"):
        resolve_store_path(store, path="../x")


def test_named_memory_stores() -> None:
    store = ManagedMemoryStore("test-named")
    store.set_sync("p/zarr.json", B(b"1"))
    place = resolve_store_path("memory://test-named/p")
    assert str(place) == "memory://test-named/p"
    assert asyncio.run((place / "zarr.json").get()) == B(b"1")
    assert str(resolve_store_path("memory://test-named/p", path="q")) == "memory://test-named/p/q"
    below = ManagedMemoryStore("test-named", path="p")
    assert list(below.list_sync()) == ["zarr.json"]
    assert below != store
    assert pickle.loads(pickle.dumps(below)) == below
    numbers = {ManagedMemoryStore().name for _ in range(3)}
    assert all(number.isdigit() for number in numbers)
    with pytest.raises(ValueError, match="cannot contain '/'"):
        ManagedMemoryStore("a/b")
    with pytest.raises(ValueError, match="Memory store not found"):
        ManagedMemoryStore.from_url("memory://never-made")
    with pytest.raises(ValueError, match="Expected a 'memory://' URL"):
        ManagedMemoryStore.from_url("file://a")
    del store, below, place
    with pytest.raises(ValueError, match="garbage collected"):
        ManagedMemoryStore.from_url("memory://test-named")


def test_zip_files_are_known_by_suffix_and_by_content(tmp_path: Path) -> None:
    new = resolve_store(f"{tmp_path}/new.zip", mode="a")
    assert type(new) is ZipStore
    assert not new.read_only
    with zipfile.ZipFile(tmp_path / "data.zarr", "w") as file:
        file.writestr("zarr.json", b"{}")
    for mode, read_only in (("r", True), ("a", False), ("r+", False), (None, False)):
        found = resolve_store(f"file://{tmp_path}/data.zarr", mode=mode)  # type: ignore[arg-type]
        assert type(found) is ZipStore
        assert found.read_only is read_only
        assert found.exists_sync("zarr.json")
    place = resolve_store_path(f"{tmp_path}/data.zarr", mode="r", path="a")
    assert place.read_only
    with pytest.raises(FileExistsError):
        asyncio.run(make_store_path(f"{tmp_path}/data.zarr", mode="w-"))
    (tmp_path / "folder.zip").mkdir()
    assert type(resolve_store(f"{tmp_path}/folder.zip")) is LocalStore
    os.chmod(tmp_path / "data.zarr", 0o444)
    if not os.access(tmp_path / "data.zarr", os.W_OK):
        assert resolve_store(f"{tmp_path}/data.zarr").read_only


NAMES: dict[str, Callable[[Path], Any]] = {
    "str": str,
    "Path": lambda path: path,
    "file:": lambda path: f"file:{path}",
    "file://": lambda path: f"file://{path}",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_path_means_the_same_however_it_is_written(tmp_path: Path, name: str) -> None:
    named = NAMES[name]
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as file:
        file.writestr("zarr.json", b"{}")
    shutil.copy(tmp_path / "old.zip", tmp_path / "archive.zarr")
    (tmp_path / "folder.zip").mkdir()
    (tmp_path / "text.zip").write_text("no zip file")
    (tmp_path / "refs.json").write_text("{}")
    for mode in ("r", "r+", "a", "w"):
        for there in ("old.zip", "archive.zarr"):
            store = resolve_store(named(tmp_path / there), mode=mode)  # type: ignore[arg-type]
            assert type(store) is ZipStore
            assert store.read_only is (mode == "r")
        assert type(resolve_store(named(tmp_path / "new.ZIP"), mode=mode)) is ZipStore  # type: ignore[arg-type]
        for folder in ("folder.zip", "text.zip", "new.zarr"):
            assert type(resolve_store(named(tmp_path / folder), mode=mode)) is LocalStore  # type: ignore[arg-type]
        assert type(resolve_store(named(tmp_path / "refs.json"), mode=mode)) is ReferenceStore  # type: ignore[arg-type]
    with pytest.raises(FileExistsError, match="no zip file") as caught:
        resolve_store_path(named(tmp_path / "text.zip"), mode="a")
    assert caught.value.errno == errno.EEXIST
    for absent in ("new.zip", "new.zarr"):
        with pytest.raises(PlaceNotFoundError, match="does not exist"):
            resolve_store_path(named(tmp_path / absent), mode="r")
    assert sorted(os.listdir(tmp_path)) == ["archive.zarr", "folder.zip", "old.zip", "refs.json", "text.zip"]


@pytest.mark.parametrize("written", NAMES)
@pytest.mark.parametrize("read", NAMES)
@pytest.mark.parametrize("file", ["x.zip", "x.zarr"])
def test_written_by_one_name_and_read_by_another(tmp_path: Path, written: str, read: str, file: str) -> None:
    zarr.save_array(NAMES[written](tmp_path / file), np.arange(5))
    assert (tmp_path / file).is_file() is (file == "x.zip")
    assert zarr.load(NAMES[read](tmp_path / file))[4] == 4
    group = zarr.open_group(NAMES[written](tmp_path / f"group-{file}"), mode="w")
    group.create_array("a/b", data=np.arange(5))  # is seen though nobody has closed the store
    assert zarr.open_group(NAMES[read](tmp_path / f"group-{file}"), mode="r")["a/b"][3] == 3  # type: ignore[index]
    del group
    for mode in ("r+", "a"):
        again = zarr.open_group(NAMES[written](tmp_path / f"group-{file}"), mode=mode)  # type: ignore[arg-type]
        again.attrs[mode] = 1
        again.store.close()
    found = zarr.open_group(NAMES[read](tmp_path / f"group-{file}"), mode="r")
    assert dict(found.attrs) == {"r+": 1, "a": 1}
    with pytest.raises(FileExistsError):
        zarr.open_group(NAMES[read](tmp_path / f"group-{file}"), mode="w-")


def test_a_path_is_no_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("memory:x", "file:x", "a|zip:b"):
        store = resolve_store(Path(name), mode="a")
        assert type(store) is LocalStore
        assert store.root == Path(name)


def test_a_folder_called_zip_is_used_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "x.zip").mkdir()
    for name in (str(tmp_path / "x.zip"), tmp_path / "x.zip"):
        zarr.open_group(name, mode="w").create_array("x", data=np.arange(3))
        assert (tmp_path / "x.zip" / "x" / "zarr.json").is_file()
        assert zarr.load(name, path="x")[2] == 2
    (tmp_path / "y.zip").mkdir()
    with zarr.h5py_compat.File(tmp_path / "y.zip", "w") as file:
        file["x"] = np.arange(4)
    with zarr.h5py_compat.File(str(tmp_path / "y.zip")) as file:
        assert file["x"][3] == 3
    assert (tmp_path / "y.zip" / "x" / "zarr.json").is_file()


def test_fsspec_mappers(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    mapper = fsspec.get_mapper(f"memory://{tmp_path}/m")
    store = resolve_store(mapper)
    assert type(store) is FsspecStore
    asyncio.run(store.set("a", B(b"1")))
    assert mapper["a"] == b"1"
    assert resolve_store(mapper, mode="r").read_only


async def test_stores_are_opened() -> None:
    store = MemoryStore()
    assert await make_store(store) is store
    assert store._is_open
    place = await make_store_path({}, path="a")
    assert place.store._is_open


async def test_store_path() -> None:
    store = MemoryStore()
    place = StorePath(store, "/a//b/")
    assert place.path == "a/b"
    assert (place / "/c/d/").path == "a/b/c/d"
    with pytest.raises(ValueError, match="is invalid"):
        place / "../x"
    assert str(place) == f"{store}/a/b"
    assert repr(place) == f"StorePath(MemoryStore, '{store}/a/b')"
    assert str(StorePath(store)) == str(store)
    assert place == StorePath(store, "a/b")
    assert place != StorePath(store, "a")
    assert place != 5
    with pytest.raises(TypeError):
        hash(place)
    assert await place.get() is None
    assert await place.get_json() is None
    await place.set(B(b'{"a": 1}'))
    assert await place.get_json() == {"a": 1}
    await place.set_if_not_exists(B(b"2"))
    assert await place.exists()
    assert place.get_sync() == B(b'{"a": 1}')
    place.set_sync(B(b"3"))
    assert await place.get() == B(b"3")
    assert not await StorePath(store, "a").is_empty()
    place.delete_sync()
    await place.delete()
    assert await StorePath(store, "a").is_empty()
    await place.set(B(b"4"))
    await StorePath(store, "a").delete_dir()
    assert not await place.exists()
    assert place.read_only is False


def test_setting_an_old_default_says_so() -> None:
    with pytest.warns(ZarrDeprecationWarning, match="default_compressor"):
        zarr.storage.default_compressor = 1  # type: ignore[attr-defined]
    assert zarr.storage.default_compressor != 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zarr.storage.anything_else = 1  # type: ignore[attr-defined]
    del zarr.storage.anything_else  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(zarr.storage)) is zarr.storage


def test_wrappers_hand_on(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    wrapper = WrapperStore(store)
    assert wrapper == WrapperStore(LocalStore(tmp_path))
    assert wrapper != store
    assert repr(wrapper) == f"WrapperStore(LocalStore, '{store}')"
    assert str(wrapper) == f"wrapping-{store}"
    assert wrapper.lock_prefix == store.lock_prefix
    assert wrapper.with_read_only(read_only=True).read_only
    assert wrapper.bulk_access() == store.bulk_access()

    class Watching(WrapperStore[LocalStore]):
        def get_sync(self, key: str, **kwargs: Any) -> Any:
            return super().get_sync(key, **kwargs)

    assert Watching(store).bulk_access() is None
    opened = asyncio.run(WrapperStore.open(LocalStore, tmp_path))
    assert opened._is_open


def test_memory_stores_copy_and_freeze() -> None:
    import numpy as np

    store = MemoryStore()
    array = np.zeros(4, dtype="uint8")
    store.set_sync("a", Buffer.from_array_like(array))
    array[:] = 7
    found = store.get_sync("a")
    assert found is not None
    assert found.to_bytes() == bytes(4)
    with pytest.raises(ValueError, match="read-only"):
        found.as_numpy_array()[:] = 1
    with pytest.raises(ValueError, match="read-only"):
        store.get_sync("a").as_numpy_array()[1:2] = 1  # type: ignore[union-attr]
    given = {"b": Buffer.from_array_like(np.zeros(2, dtype="uint8")), "c": b"bytes"}
    store = MemoryStore(given)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="read-only"):
        store.get_sync("b").as_numpy_array()[:] = 1  # type: ignore[union-attr]
    assert store.get_sync("c").to_bytes() == b"bytes"  # type: ignore[union-attr]
    access = store.bulk_access()
    assert access is not None
    assert access.get_many is not None
    assert [bytes(part) for part in access.get_many(["b", "c"]) if part is not None] == [bytes(2), b"bytes"]
    buffer = bytearray(b"12")
    assert access.set_many is not None
    access.set_many([("d", buffer)])
    buffer[:] = b"xx"
    assert store.get_sync("d").to_bytes() == b"12"  # type: ignore[union-attr]


def test_logging_store_counts(caplog: pytest.LogCaptureFixture) -> None:
    from zarr.storage import LoggingStore

    store = LoggingStore(MemoryStore(), log_level="INFO")
    asyncio.run(store.set("a", B(b"1")))
    store.get_sync("a")
    assert store.counter["set"] == 1
    assert store.counter["get"] == 1
    assert "Calling MemoryStore.set(a)" in caplog.text
    again = pickle.loads(pickle.dumps(store))
    assert again.counter["set"] == 1


@pytest.mark.parametrize("url", ["memory://bucket/a.zarr", "file://{tmp}/a.zarr", "{tmp}/a.zarr"])
def test_a_path_of_universal_pathlib(url: str, tmp_path: Path) -> None:
    upath = pytest.importorskip("upath")
    pytest.importorskip("fsspec")
    place = upath.UPath(url.format(tmp=tmp_path))
    zarr.create_array(place, shape=(3,), dtype="i4")[:] = 7
    assert zarr.open_array(place, mode="r")[:].tolist() == [7, 7, 7]
    store = resolve_store(place)
    if "memory" in url:
        assert isinstance(store, FsspecStore)
        with pytest.raises(TypeError, match="storage_options"):
            resolve_store(place, storage_options={"a": 1})
    else:
        assert isinstance(store, LocalStore)
        assert store.root == tmp_path / "a.zarr"


def test_a_file_system_that_waits_is_told_of_and_served_by_one_that_does_not() -> None:
    asyn = pytest.importorskip("fsspec.asyn")
    with pytest.warns(ZarrUserWarning, match="was not created with `asynchronous=True`"):
        assert FsspecStore(asyn.AsyncFileSystem(skip_instance_cache=True), path="a").fs.asynchronous
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FsspecStore(asyn.AsyncFileSystem(asynchronous=True, skip_instance_cache=True), path="a")


FOREIGN = {
    "h5": (b"\x89HDF\r\n\x1a\n" + bytes(100), "an HDF5 or NetCDF-4 file", "h5py.File"),
    "userblock.h5": (bytes(1024) + b"\x89HDF\r\n\x1a\n", "an HDF5 or NetCDF-4 file", "h5py.File"),
    "nc": (b"CDF\x02" + bytes(100), "a NetCDF-3 file", "xarray.open_dataset"),
    "tif": (b"II*\x00" + bytes(100), "a TIFF file", "tifffile.imread"),
    "big.tif": (b"MM\x00+", "a TIFF file", "tifffile.imread"),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("opener", [zarr.open, zarr.open_group, zarr.open_array])
@pytest.mark.parametrize("mode", ["r", "r+", "a", "w", "w-"])
def test_a_file_of_another_format_is_named(name: str, opener: Any, mode: str, tmp_path: Path) -> None:
    content, what, reader = FOREIGN[name]
    file = tmp_path / f"file.{name}"
    file.write_bytes(content)
    for place in (file, str(file), f"file://{file}", LocalStore(file)):
        with pytest.raises(FileNotFoundError if mode == "r" else FileExistsError) as caught:
            opener(place, mode=mode)
        for words in (what, reader, str(file)):
            assert words in str(caught.value)
    assert file.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b"II*", b"CDF\x03 is no version", b"plain text"])
def test_a_file_of_no_known_format_is_not_named(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(FileNotFoundError, match="unknown format; a store is a folder"):
        zarr.open_group(file, mode="r")
    with pytest.raises(FileExistsError, match="a file that is no zip file"):
        zarr.open_group(file, mode="a")
