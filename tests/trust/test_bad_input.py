"""Bad input gets an error of a documented class that names the array, the key and the codec; never a crash."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.buffer.cpu import Buffer
from zarr.errors import BaseZarrError, BoundsCheckError, ChunkNotFoundError, MetadataValidationError
from zarr.storage import LocalStore, MemoryStore


def text_of(error: BaseException) -> str:
    """Return what a user sees: the message and its notes."""
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


@pytest.mark.parametrize("chunks", [(-2, 5), (0, 5), (5,), (5, 5, 5), (2.5, 5)])
def test_bad_chunks(chunks: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        zarr.create_array(MemoryStore(), shape=(10, 10), chunks=chunks, dtype="i4")


@pytest.mark.parametrize("shape", [(-1,), (2**70,), (1.5,), "abc"])
def test_bad_shape(shape: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        zarr.create_array(MemoryStore(), shape=shape, chunks=(5,), dtype="i4")


def test_zero_length_dimension_is_an_array_like_any_other() -> None:
    array = zarr.create_array(MemoryStore(), shape=(0, 7), chunks=(3, 3), dtype="i4")
    assert array[...].shape == (0, 7)
    array[...] = np.empty((0, 7), "i4")
    assert array[:, 2:5].shape == (0, 3)


@pytest.mark.parametrize(
    "selection", [(1, 2, 3), 10, -11, (0, 10), None, (slice(None), None), 1.5, "x", (0, slice(None, None, 0))]
)
def test_bad_selection(selection: Any) -> None:
    array = zarr.create_array(MemoryStore(), shape=(10, 10), chunks=(5, 5), dtype="i4")
    for access in (lambda: array[selection], lambda: array.__setitem__(selection, 1)):
        with pytest.raises((IndexError, ValueError)):
            access()


def test_out_of_bounds_names_the_number_and_the_length() -> None:
    array = zarr.create_array(MemoryStore(), shape=(10, 10), chunks=(5, 5), dtype="i4")
    with pytest.raises(BoundsCheckError, match="10"):
        array[3, 12]


def test_wrong_value_shape() -> None:
    array = zarr.create_array(MemoryStore(), shape=(10, 10), chunks=(5, 5), dtype="i4")
    with pytest.raises(ValueError, match="3"):
        array[0:2] = np.zeros((3, 3))


def damaged(how: str, codec: Any, where: Any) -> Any:
    """Make an array at path a/b whose chunk c/0/1 is damaged."""
    array = zarr.create_array(where, name="a/b", shape=(20, 20), chunks=(10, 10), dtype="i4", compressors=codec)
    array[...] = np.arange(400).reshape(20, 20)
    if isinstance(where, LocalStore):
        path = where.root / "a/b/c/0/1"
        raw = path.read_bytes()
        path.write_bytes(raw[: len(raw) // 2] if how == "cut" else b"\xff" * len(raw))
    else:
        raw = where._store_dict["a/b/c/0/1"].to_bytes()
        changed = raw[: len(raw) // 2] if how == "cut" else b"\xff" * len(raw)
        where._store_dict["a/b/c/0/1"] = Buffer.from_bytes(changed)
    return array


CODECS = [
    ("zstd", zarr.codecs.ZstdCodec()),
    ("blosc", zarr.codecs.BloscCodec()),
    ("gzip", zarr.codecs.GzipCodec()),
    ("crc32c", zarr.codecs.Crc32cCodec()),
]


@pytest.mark.parametrize("kind", ["memory", "local"])
@pytest.mark.parametrize("how", ["cut", "overwritten"])
@pytest.mark.parametrize(("name", "codec"), CODECS, ids=[name for name, _ in CODECS])
def test_damaged_chunk_names_array_key_and_codec(kind: str, how: str, name: str, codec: Any, tmp_path: Any) -> None:
    array = damaged(how, codec, LocalStore(tmp_path) if kind == "local" else MemoryStore())
    np.testing.assert_array_equal(array[10:, :10], np.arange(400).reshape(20, 20)[10:, :10])
    with pytest.raises((BaseZarrError, ValueError, RuntimeError)) as caught:
        array[...]
    message = text_of(caught.value)
    assert "a/b" in message
    assert "c/0/1" in message
    assert name in message


def test_truncated_raw_chunk_names_both_sizes() -> None:
    array = damaged("cut", None, MemoryStore())
    with pytest.raises(ValueError) as caught:
        array[0, 15]
    message = text_of(caught.value)
    assert "200" in message
    assert "400" in message
    assert "c/0/1" in message


def test_missing_chunk_when_asked_to_fail() -> None:
    store = MemoryStore()
    array = zarr.create_array(store, name="a/b", shape=(20, 20), chunks=(10, 10), dtype="i4", fill_value=7)
    array[:10] = 1
    assert array[15, 15] == 7
    strict = array.with_config({"read_missing_chunks": False})
    assert strict[5, 5] == 1
    with pytest.raises(ChunkNotFoundError) as caught:
        strict[15, 15]
    assert "c/1/1" in text_of(caught.value)


@pytest.mark.parametrize("kind", ["folder", "fifo"])
def test_wrong_thing_in_a_chunks_place(kind: str, tmp_path: Any) -> None:
    import os

    array = zarr.create_array(LocalStore(tmp_path), shape=(4,), chunks=(2,), dtype="i4")
    array[...] = 5
    (tmp_path / "c/1").unlink()
    if kind == "folder":
        (tmp_path / "c/1").mkdir()
    else:
        os.mkfifo(tmp_path / "c/1")
    with pytest.raises(OSError) as caught:
        array[...]
    assert "c/1" in text_of(caught.value)


def document(**changes: Any) -> dict[str, Any]:
    """Return a valid array document with some members changed."""
    return {
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "fill_value": 0, "attributes": {},
    } | changes  # fmt: skip


BAD_DOCUMENTS = {
    "format": document(zarr_format=4),
    "shape": document(shape=[-4]),
    "text shape": document(shape="x"),
    "data type": document(data_type="int33"),
    "grid": document(chunk_grid={"name": "spiral", "configuration": {}}),
    "chunk below zero": document(chunk_grid={"name": "regular", "configuration": {"chunk_shape": [-1]}}),
    "rank": document(chunk_grid={"name": "regular", "configuration": {"chunk_shape": [2, 2]}}),
    "codec": document(codecs=[{"name": "bytes"}, {"name": "no-such-codec"}]),
    "no serializer": document(codecs=[{"name": "zstd", "configuration": {"level": 1, "checksum": False}}]),
    "unknown key": document(surprise={"must_understand": True}),
    "transformer": document(storage_transformers=[{"name": "x"}]),
    "fill": document(fill_value="abc"),
    "list": [],
    "number": 3,
}


@pytest.mark.parametrize("name", BAD_DOCUMENTS)
def test_bad_document(name: str) -> None:
    store = MemoryStore({"a/zarr.json": Buffer.from_bytes(json.dumps(BAD_DOCUMENTS[name]).encode())})
    with pytest.raises((BaseZarrError, ValueError)):
        zarr.open_array(store, path="a", mode="r")


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a": ' * 50_000, b"nul"])
def test_document_that_is_no_json(raw: bytes) -> None:
    store = MemoryStore({"a/zarr.json": Buffer.from_bytes(raw)})
    with pytest.raises(MetadataValidationError) as caught:
        zarr.open_array(store, path="a", mode="r")
    assert "zarr.json" in text_of(caught.value)


def test_optional_extension_is_passed_over() -> None:
    text = json.dumps(document(hint={"must_understand": False}))
    store = MemoryStore({"a/zarr.json": Buffer.from_bytes(text.encode())})
    assert zarr.open_array(store, path="a", mode="r")[...].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("key", ["../x", "a/../../x", "/etc/passwd", "a\x00b"])
def test_no_key_leaves_the_store(key: str, tmp_path: Any) -> None:
    store = LocalStore(tmp_path / "root")
    for action in (
        lambda: store.get_sync(key),
        lambda: store.set_sync(key, Buffer.from_bytes(b"x")),
        lambda: store.delete_sync(key),
    ):
        with pytest.raises(ValueError):
            action()
    assert not (tmp_path / "x").exists()
