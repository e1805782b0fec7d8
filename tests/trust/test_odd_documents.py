"""Documents that are well-formed and make no sense, by every way in which they are met: shown, read and written."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from tests.trust.fuzzing.cases import DOCUMENTED, text_of
from zarr.buffer import default_buffer_prototype
from zarr.buffer.cpu import Buffer
from zarr.errors import ArrayTooLargeError, FileInPlaceError, KeyNotAllowedError, NotAValueError
from zarr.runners.locks.table import GIL
from zarr.storage import LocalStore, MemoryStore, ObjectStore

RECTILINEAR = {"name": "rectilinear", "configuration": {"kind": "inline"}}


def stored(member: str, value: Any, zarr_format: int = 3, **settings: Any) -> MemoryStore:
    """A store with an array ``a/b`` one member of whose document is another."""
    store = MemoryStore()
    given: dict[str, Any] = {"shape": (4, 4), "chunks": (2, 2), "dtype": "f4"} | settings
    array: Any = zarr.create_array(store, name="a/b", zarr_format=zarr_format, **given)
    if array.dtype == np.float32:
        array[...] = 1
    key = "a/b/zarr.json" if zarr_format == 3 else "a/b/.zarray"
    raw = asyncio.run(store.get(key, default_buffer_prototype()))
    assert raw is not None
    document = json.loads(raw.to_bytes())
    *folders, name = member.split(".")
    inside = document
    for folder in folders:
        inside = inside[int(folder) if folder.isdigit() else folder]
    inside[name] = value
    asyncio.run(store.set(key, Buffer.from_bytes(json.dumps(document).encode())))
    return store


@pytest.mark.parametrize("shape", [[2**62, 2**62], [2**31, 4], [4, 2**63 - 1], [2**63 - 1, 1]])
def test_an_array_of_any_size_is_shown(shape: list[int]) -> None:
    array = zarr.open_array(stored("shape", shape), path="a/b", mode="r")
    for shown in (array._repr_html_(), repr(array), str(array.info), array.info_complete()._repr_html_()):
        assert shown
    assert array[0, 0] == 1


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("shape", [[True, 4], [4, False], True])
def test_true_is_no_length(shape: Any, zarr_format: int) -> None:
    with pytest.raises(DOCUMENTED, match="shape") as caught:
        zarr.open_array(stored("shape", shape, zarr_format), path="a/b", mode="r")
    assert "a/b" in text_of(caught.value)


def test_true_is_no_repeat_count() -> None:
    """For a chunk length of 1 old releases wrote it: there it is read."""
    grid = RECTILINEAR | {"configuration": {"kind": "inline", "chunk_shapes": [2, [[2, True], 2]]}}
    with pytest.raises(DOCUMENTED, match="chunk_grid"):
        zarr.open_array(stored("chunk_grid", grid), path="a/b", mode="r")


def test_half_a_surrogate_pair_is_no_text() -> None:
    store = stored("fill_value", "\ud800", dtype=str)
    with pytest.raises(DOCUMENTED, match="fill_value"):
        zarr.open_array(store, path="a/b", mode="r")[...]


ODD_LEVELS: list[Any] = [1.5, "x", [], {}, 2**31, 2**62, 2**64, -(2**62)]


@pytest.mark.parametrize("level", ODD_LEVELS)
@pytest.mark.parametrize(
    "member", ["compressor.cname", "compressor.clevel", "compressor.blocksize", "compressor.shuffle"]
)
def test_what_no_codec_can_be_made_of(member: str, level: Any) -> None:
    """Reading may do without it, writing may not: the codec and the chunk are named then."""
    store = stored(member, level, 2, compressors=numcodecs.Blosc())
    try:
        array = zarr.open_array(store, path="a/b", mode="r+")
        assert str(array.info)
        array[...] = 2
    except DOCUMENTED as error:
        text = text_of(error)
        assert "/a/b" in text
        assert "blosc" in text or "compressor" in text
        assert "MemoryStore" in text


@pytest.mark.parametrize("level", [1.5, "x", [], {}, 2**62, 2**64, -(2**62)])
def test_a_level_that_is_none(level: Any) -> None:
    lzma = {"name": "numcodecs.lzma", "configuration": {"preset": 1}}
    store = stored("codecs.1.configuration.preset", level, compressors=[lzma])
    with pytest.raises(DOCUMENTED) as caught:
        zarr.open_array(store, path="a/b", mode="r+")[...] = 2
    assert "lzma" in text_of(caught.value).lower()


def test_a_codec_that_cannot_show_itself_is_shown() -> None:
    store = stored("compressor.shuffle", None, 2, compressors=numcodecs.Blosc())
    assert "blosc" in str(zarr.open_array(store, path="a/b", mode="r").info)


def test_the_key_is_named_as_the_store_has_it() -> None:
    store = MemoryStore()
    zarr.create_array(store, name="a/b", shape=(2,), chunks=(2,), dtype="i4")[...] = 1
    asyncio.run(store.set("a/b/c/0", Buffer.from_bytes(b"no chunk")))
    with pytest.raises(DOCUMENTED, match="'a/b/c/0'"):
        zarr.open_array(store, path="a/b")[...]
    asyncio.run(store.delete("a/b/c/0"))
    with pytest.raises(DOCUMENTED, match="'a/b/c/0'"):
        zarr.open_array(store, path="a/b", config={"read_missing_chunks": False})[...]


def test_links_that_lead_out(tmp_path: Path) -> None:
    """One class of error for all that leaves a store, whether by its name or by a link."""
    (tmp_path / "outside").write_bytes(b"secret")
    store = LocalStore(tmp_path / "store", links="inside")
    asyncio.run(store.set("key", Buffer.from_bytes(b"value")))
    os.symlink(tmp_path / "outside", tmp_path / "store" / "link")
    for call in (store.get, store.exists, store.getsize, store.delete):
        with pytest.raises(KeyNotAllowedError, match="out of"):
            asyncio.run(call("link"))
    assert (tmp_path / "outside").read_bytes() == b"secret"


@pytest.mark.parametrize(("target", "said"), [("circle", "circle"), ("nowhere", "link to nothing")])
def test_the_size_of_what_is_no_value(target: str, said: str, tmp_path: Path) -> None:
    os.symlink(target, tmp_path / "circle")
    with pytest.raises(NotAValueError, match=said):
        asyncio.run(LocalStore(tmp_path).getsize("circle"))


def test_a_file_is_no_folder_to_delete(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileInPlaceError, match="file"):
        asyncio.run(LocalStore(tmp_path).delete_dir("file"))


@pytest.mark.skipif(not GIL, reason="without the GIL, Python promises any size, and the system ends the process")
@pytest.mark.parametrize("name", ["a/zarr.json", "a/c/0"])
def test_a_value_larger_than_memory(name: str, tmp_path: Path) -> None:
    """A file with nothing in it may claim any size."""
    zarr.create_array(tmp_path, name="a", shape=(2,), chunks=(2,), dtype="i4")[...] = 1
    try:
        os.truncate(tmp_path / name, 2**42)
    except OSError:
        pytest.skip("the file system has no files of such a size")
    with pytest.raises(ArrayTooLargeError, match=f"{2**42} bytes"):
        zarr.open_array(tmp_path, path="a", mode="r")[...]


def test_an_object_larger_than_memory(tmp_path: Path) -> None:
    store = ObjectStore(pytest.importorskip("obstore.store").LocalStore(tmp_path))
    zarr.create_array(store, name="a", shape=(2,), chunks=(2,), dtype="i4")[...] = 1
    try:
        os.truncate(tmp_path / "a/c/0", 2**43)
    except OSError:
        pytest.skip("the file system has no files of such a size")
    with pytest.raises(ArrayTooLargeError, match=f"{2**43} bytes"):
        zarr.open_array(store, path="a", mode="r")[...]
