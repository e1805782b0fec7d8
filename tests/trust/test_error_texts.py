"""Every error of damaged, lost or misplaced data says where: store, array, key and codec; and what can be done."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from tests.stores import WRITABLE, make
from tests.trust.fuzzing.cases import DOCUMENTED, text_of
from tests.trust.fuzzing.documents import hierarchy, stored_documents
from tests.trust.test_places import THINGS
from zarr.buffer import default_buffer_prototype
from zarr.buffer.cpu import Buffer
from zarr.dtype import parse_dtype
from zarr.dtype.base import v3_unstable_dtype_warning
from zarr.errors import (
    ChunkError,
    FileInPlaceError,
    FolderInPlaceError,
    NotAValueError,
    ReadOnlyError,
    UnstableSpecificationWarning,
)
from zarr.registry.codecs import _missing_codec_message
from zarr.storage import LocalStore, MemoryStore, ZipStore
from zarr.types import ZarrFormat

ZSTD = zarr.codecs.ZstdCodec(checksum=True)
WITHOUT_CHECKSUM: tuple[str, ...] = ("raw", "blosc", "vlen", "v2 zlib")
LAYOUTS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "raw": ({"compressors": None}, ("bytes",)),
    "zstd": ({"compressors": ZSTD}, ("zstd",)),
    "gzip": ({"compressors": zarr.codecs.GzipCodec()}, ("gzip",)),
    "blosc": ({"compressors": zarr.codecs.BloscCodec()}, ("blosc",)),
    "crc32c": ({"compressors": zarr.codecs.Crc32cCodec()}, ("crc32c",)),
    "shard": ({"compressors": ZSTD, "chunks": (2,), "shards": (4,)}, ("sharding_indexed", "zstd")),
    "vlen": ({"dtype": str, "compressors": None, "fill_value": ""}, ("vlen-utf8",)),
    "v2 zlib": ({"zarr_format": 2, "compressors": numcodecs.Zlib()}, ("zlib",)),
}
FAULTS: dict[str, Callable[[bytes], bytes | None]] = {
    "missing": lambda raw: None,
    "empty": lambda raw: b"",
    "cut": lambda raw: raw[: len(raw) // 2],
    "long": lambda raw: raw + b"\1" * 40,
    "flipped": lambda raw: bytes([*raw[: len(raw) // 2], raw[len(raw) // 2] ^ 255, *raw[len(raw) // 2 + 1 :]]),
    "ones": lambda raw: b"\xff" * len(raw),
    "page": lambda raw: b"<html>404 Not Found</html>",
}
READS: dict[str, Callable[[Any], Any]] = {
    "all": lambda array: array[...],
    "element": lambda array: array[5],
    "part": lambda array: array[5:7],
    "points": lambda array: array.oindex[[0, 5]],
    "many": lambda array: array.read_many([slice(0, 5), slice(4, 7)]),
    "async": lambda array: asyncio.run(array.async_array.getitem(slice(0, 16))),
    "cached": lambda array: array.with_config({"chunk_cache_bytes": 1 << 20})[5],
}


@pytest.fixture(params=WRITABLE)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    made = make(request.param, tmp_path)
    yield made
    made.close()


def put(store: Any, key: str, value: bytes | None) -> None:
    asyncio.run(store.delete(key) if value is None else store.set(key, Buffer.from_bytes(value)))


def filled(store: Any, name: str, settings: dict[str, Any]) -> tuple[Any, str, bytes]:
    """An array of sixteen elements in four chunks or shards, and the key and the value of the second."""
    given: dict[str, Any] = {"shape": (16,), "chunks": (4,), "dtype": "i4", "fill_value": 7} | settings
    array = zarr.create_array(store, name=name, **given)
    array[...] = np.array([f"text {k}" for k in range(16)], object) if given["dtype"] is str else np.arange(16)
    key = f"{name}/1" if given.get("zarr_format") == 2 else f"{name}/c/1"
    value = asyncio.run(store.get(key, default_buffer_prototype()))
    config: Any = {"read_missing_chunks": False}
    return zarr.open_array(store, path=name, config=config), key, value.to_bytes()


def lacks(error: Exception, store: Any, name: str, key: str) -> list[str]:
    """What an error ought to say and does not: in its message alone, for those of chunks."""
    text = str(error) if isinstance(error, ChunkError) else text_of(error)
    wanted = {"the store": type(store).__name__, "the array": f"/{name} ", "the key": key.removeprefix(f"{name}/")}
    return [what for what, part in wanted.items() if part not in text]


def wrong_with(read: Callable[[Any], Any], array: Any, fault: str, layout: str, key: str) -> list[str]:
    """What is not as promised of one way of reading a damaged chunk."""
    name = array.path
    try:
        read(array)
    except DOCUMENTED as error:
        found, text = lacks(error, array.store, name, key), text_of(error)
        if fault == "missing":
            return found
        if not isinstance(error, ChunkError) or error.key != key or error.array != name:
            found.append("the attributes")
        if not any(f"decoding with codec {codec!r}" in text for codec in LAYOUTS[layout][1]):
            found.append("the codec and its direction")
        if "What to do" not in text:
            found.append("a remedy")
        return found
    except Exception as error:
        return [repr(error)]
    sound = layout in WITHOUT_CHECKSUM or (layout == "shard" and fault == "flipped")  # in the other inner chunk
    return [] if fault in {"flipped", "ones", "long"} and sound else ["any error"]


def test_damage_is_named(store: Any) -> None:
    """Every kind of store, of codec, of damage and of reading."""
    wrong = []
    for number, layout in enumerate(LAYOUTS):
        array, key, raw = filled(store, f"a/b{number}", LAYOUTS[layout][0])
        for fault, damage in FAULTS.items():
            put(store, key, damage(raw))
            for name, read in READS.items():
                found = wrong_with(read, array, fault, layout, key)
                wrong += [(layout, fault, name, *found)] if found else []
        put(store, key, raw)
    assert wrong == []


def test_a_chunk_error_survives_pickling() -> None:
    store = MemoryStore()
    array, key, _ = filled(store, "a", {"compressors": ZSTD})
    put(store, key, b"damaged")
    with pytest.raises(ChunkError) as caught:
        array[...]
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.key, copy.array, copy.codec) == (str(caught.value), "a/c/1", "a", "zstd")


@pytest.mark.parametrize("shards", [None, (8,)])
@pytest.mark.parametrize("thing", [name for name in THINGS if name not in {"terminal", "unreadable"}])
def test_what_is_no_chunk_is_named(thing: str, shards: Any, tmp_path: Path) -> None:
    """By every way of reading, and of writing a part, which reads."""
    store = LocalStore(tmp_path / "root")
    array, key, _ = filled(store, "a/b", {"compressors": None, "shards": shards})
    (tmp_path / "root" / key).unlink()
    THINGS[thing](tmp_path / "root" / key, tmp_path)
    at = 9 if shards else 5
    reads: dict[str, Callable[[], Any]] = {
        "all": lambda: array[...],
        "element": lambda: array[at],
        "many": lambda: array.read_many([slice(0, 16), slice(at, 16)]),
        "async": lambda: asyncio.run(array.async_array.getitem(slice(0, 16))),
        "write": lambda: array.__setitem__(at, 1),
    }
    for name, read in reads.items():
        with pytest.raises(NotAValueError) as caught:
            read()
        assert lacks(caught.value, store, "a/b", key) == [], name
        assert str(tmp_path / "root" / key) in str(caught.value)


@pytest.mark.parametrize("thing", [name for name in THINGS if name not in {"terminal", "unreadable"}])
def test_what_is_no_document_is_named(thing: str, tmp_path: Path) -> None:
    filled(LocalStore(tmp_path / "root"), "a/b", {})
    place = tmp_path / "root/a/b/zarr.json"
    place.unlink()
    THINGS[thing](place, tmp_path)
    for mode in ("r", "a"):
        with pytest.raises(NotAValueError, match=r"zarr\.json"):
            zarr.open(LocalStore(tmp_path / "root"), path="a/b", mode=mode)


def test_a_folder_is_not_written_over(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    array, key, _ = filled(store, "a/b", {})
    (tmp_path / key).unlink()
    (tmp_path / key).mkdir()
    for selection in (slice(None), slice(4, 8)):
        with pytest.raises(FolderInPlaceError) as caught:
            array[selection] = 1
        assert lacks(caught.value, store, "a/b", key) == []


def test_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    array, _, _ = filled(store, "a/b", {"chunk_key_encoding": {"name": "default", "separator": "/"}})
    for child in (tmp_path / "a/b/c").iterdir():
        child.unlink()
    (tmp_path / "a/b/c").rmdir()
    (tmp_path / "a/b/c").write_bytes(b"x")
    acts: list[Callable[[], Any]] = [lambda: array[...], lambda: array[5], lambda: array.__setitem__(5, 1)]
    acts.append(lambda: array.__setitem__(..., 1))
    for act in acts:
        with pytest.raises(FileInPlaceError, match="a file stands where a folder should be") as caught:
            act()
        assert isinstance(caught.value, NotADirectoryError)
        assert "of array /a/b of LocalStore" in text_of(caught.value)
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(FileNotFoundError, match="file/x"):
        zarr.open_array(store, path="file/x", mode="r")
    with pytest.raises(FileInPlaceError, match="file"):
        zarr.create_array(store, name="file/x", shape=(2,), dtype="i1")


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many chunks that go to one file at once, and the commit of that file."""
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def pwrite(*_: Any) -> int:
        raise full

    store = ZipStore(tmp_path / "a.zip", mode="w")
    array: Any = zarr.create_array(store, name="x", shape=(40,), chunks=(10,), dtype="i4")
    store.commit()
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", pwrite)
        with pytest.raises(OSError, match="No space") as caught:
            array[:] = 1
        assert any("'x/c/0' to 'x/c/3'" in note and "a.zip" in note for note in caught.value.__notes__)
    array[:] = 1
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", pwrite)
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with pytest.raises(OSError, match="No space") as caught:
            store.close()
        assert any("a.zip" in note for note in caught.value.__notes__)


def test_a_document_without_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LocalStore(tmp_path / "a")
    group = zarr.create_group(store)

    def put(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(store, "set_sync", put)
    with pytest.raises(OSError, match="No space") as caught:
        group.attrs["x"] = 1
    assert caught.value.__notes__ == [f"at the key 'zarr.json' of {store!r}"]


WRITES: dict[str, Callable[[Any], Any]] = {
    "all": lambda array: array.__setitem__(..., 1),
    "element": lambda array: array.__setitem__(3, 1),
    "attributes": lambda array: array.attrs.update(x=1),
    "resize": lambda array: array.resize((20,)),
    "append": lambda array: array.append(np.ones(4, "i4")),
    "async": lambda array: asyncio.run(array.async_array.setitem(slice(0, 4), 2)),
}


def test_a_store_that_is_read_only_is_named(store: Any) -> None:
    """Also a ValueError and a PermissionError, whichever a program waits for."""
    filled(store, "a/b", {})
    array: Any = zarr.open_array(store, path="a/b", mode="r")
    for name, write in WRITES.items():
        with pytest.raises(ReadOnlyError, match=r"/a/b (of|in)") as caught:
            write(array)
        assert isinstance(caught.value, ValueError), name
        assert isinstance(caught.value, PermissionError), name
    for create in (
        lambda: zarr.create_array(array.store, name="c", shape=(2,), dtype="i4"),
        lambda: zarr.create_group(array.store, path="d"),
    ):
        with pytest.raises(ReadOnlyError, match=type(store).__name__):
            create()


DOCUMENTS: dict[str, tuple[Any, str]] = {
    "array of format 3": (3, "a/b/zarr.json"),
    "array of format 2": (2, "a/b/.zarray"),
}
OPTIONAL = {"attributes", "dimension_names", "storage_transformers", "filters", "order", "compressor", "fill_value",
            "dimension_separator"}  # fmt: skip


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_damaged_member_is_named(kind: str) -> None:
    """The store, the file, and the place in the document."""
    zarr_format, name = DOCUMENTS[kind]
    stored = stored_documents(zarr_format=zarr_format)
    document = json.loads(stored[name])
    for member in set(document) - OPTIONAL:
        without = {other: value for other, value in document.items() if other != member}
        for damaged in (without, document | {member: True}, document | {member: {"x": []}}, document | {member: "x"}):
            with pytest.raises(DOCUMENTED) as caught:
                open_documents(stored | {name: json.dumps(damaged).encode()})
            text = text_of(caught.value)
            assert name in text
            assert "MemoryStore" in text
            assert member in text, damaged.get(member)


@pytest.mark.parametrize("name", ["a/b/zarr.json", "a/b/.zgroup", "a/b/.zattrs", "a/b/.zmetadata"])
def test_a_damaged_document_of_a_group_is_named(name: str) -> None:
    stored = hierarchy(3 if name.endswith(".json") else 2)
    for damaged in (b"", b"{", b"[]", b"nul", b"\xff\xfe", b"[" * 100_000, stored[name][:-5]):
        with pytest.raises(DOCUMENTED) as caught:
            open_documents(stored | {name: damaged})
        assert name in text_of(caught.value)
        assert "MemoryStore" in text_of(caught.value)


def open_documents(stored: dict[str, bytes]) -> Any:
    return zarr.open(MemoryStore({key: Buffer.from_bytes(raw) for key, raw in stored.items()}), path="a/b", mode="r")


def test_no_message_leads_to_the_site_of_another_project() -> None:
    cases: list[tuple[str, ZarrFormat]] = [("nonsense", 3), ("nonsense", 2), ("gribberish", 3)]
    for name, zarr_format in cases:
        said = _missing_codec_message(name, zarr_format=zarr_format)
        assert "http" not in said
        assert "registry.register_codec" in said
    with pytest.warns(UnstableSpecificationWarning) as caught:
        v3_unstable_dtype_warning(parse_dtype(np.dtype("M8[s]"), zarr_format=3))
    assert "http" not in str(caught[0].message)
