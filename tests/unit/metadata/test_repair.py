"""Malformed documents of earlier writers: what they are read as, and what becomes of them when one writes."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zarr
from zarr.chunks import RectilinearChunkGridMetadata
from zarr.errors import MetadataValidationError, ZarrUserWarning
from zarr.metadata import ArrayV2Metadata, ArrayV3Metadata
from zarr.metadata.repair import repair_array_document
from zarr.storage import MemoryStore

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def regular(shape: list[int], chunks: list[Any], inner: list[Any] | None = None) -> dict[str, Any]:
    codecs: list[Any] = [BYTES]
    if inner is not None:
        configuration = {"chunk_shape": inner, "codecs": [BYTES], "index_codecs": [BYTES], "index_location": "end"}
        codecs = [{"name": "sharding_indexed", "configuration": configuration}]
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": codecs,
    }


def of_format(zarr_format: int, shape: list[int], chunks: list[Any]) -> dict[str, Any]:
    if zarr_format == 3:
        return regular(shape, chunks)
    return {
        "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<i2", "fill_value": 0, "order": "C",
        "filters": None, "compressor": None,
    }  # fmt: skip


def parse(document: dict[str, Any]) -> Any:
    cls: Any = ArrayV2Metadata if document["zarr_format"] == 2 else ArrayV3Metadata
    return cls.from_dict(document, path="a/b")


@pytest.mark.parametrize("zarr_format", [2, 3])
@given(data=st.data())
def test_every_length_is_one_or_the_one_that_is_stored(zarr_format: int, data: Any) -> None:
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    stored = [data.draw(st.sampled_from([0, False, True, 1, 3])) for _ in shape]
    document = of_format(zarr_format, shape, stored)
    before = json.dumps(document)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        metadata = parse(document)
    assert metadata.chunks == tuple(int(entry) or 1 for entry in stored)
    assert json.dumps(document) == before
    assert len(told) == any(not entry and extent for entry, extent in zip(stored, shape, strict=True))
    assert all("Array 'a/b'" in str(warning.message) for warning in told)
    assert (metadata._stored_document is not None) == (not all(stored))
    plain = all(type(entry) is int and entry for entry in stored)
    assert (repair_array_document(document, zarr_format)[0] is document) == plain


@pytest.mark.parametrize("inner", [[2], [True]])
def test_shards_of_no_length_hold_one_chunk(inner: list[Any]) -> None:
    with pytest.warns(ZarrUserWarning, match="the inner chunk size"):
        metadata = parse(regular([5], [0], inner))
    assert metadata.chunk_grid.chunk_shape == metadata.codecs[0].chunk_shape == (int(inner[0]),)


@pytest.mark.parametrize(
    "document",
    [
        regular([4], [-1]),
        regular([4, 4], [0]),
        regular([4], [0], inner=[0]),
        regular([4], [2.0]),
        regular([4, 4], [[2, 2], [2, 2]]),
        regular([4, 4], [2, [[2, 2]]]),
        regular([4, 4], [2, [2.5, 2]]),
        regular([4, 4], [2, [2, 1]]),
    ],
)
def test_what_nobody_wrote_is_refused(document: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(MetadataValidationError):
            parse(document)


def test_lists_in_a_regular_grid() -> None:
    document = regular([6, 20], [True, [5.0, 10, 5]])
    with pytest.warns(ZarrUserWarning, match=r"in dimensions \[1\].*rectilinear") as told:
        metadata = parse(document)
    assert len(told) == 1
    assert metadata.chunk_grid == RectilinearChunkGridMetadata(chunk_shapes=(1, (5, 10, 5)))


def test_floats_and_booleans_among_rectilinear_lengths() -> None:
    document = regular([8, 10], [])
    configuration = {"kind": "inline", "chunk_shapes": [[[4.0, 2]], [True, 9.0]]}
    document["chunk_grid"] = {"name": "rectilinear", "configuration": configuration}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metadata = parse(document)
    assert metadata.chunk_grid.chunk_shapes == ((4, 4), (1, 9))
    assert metadata._stored_document is None
    configuration["chunk_shapes"] = [4.0, 10]
    with pytest.raises(TypeError, match="must be an int"):
        parse(document)


def stored_array(zarr_format: int) -> MemoryStore:
    store = MemoryStore()
    root = zarr.create_group(store, zarr_format=zarr_format)  # type: ignore[arg-type]
    root.create_array("a", shape=(3,), chunks=(3,), dtype="int16")
    name = document_name(zarr_format)
    document = json.loads(store._store_dict[name].to_bytes())
    if zarr_format == 2:
        document["chunks"] = [0]
    else:
        document["chunk_grid"]["configuration"]["chunk_shape"] = [0]
    put(store, name, document)
    return store


def document_name(zarr_format: int) -> str:
    return "a/.zarray" if zarr_format == 2 else "a/zarr.json"


def put(store: MemoryStore, name: str, document: Any) -> None:
    store._store_dict[name] = zarr.buffer.cpu.Buffer.from_bytes(json.dumps(document).encode())


def open_told(store: MemoryStore) -> zarr.Array[Any]:
    with pytest.warns(ZarrUserWarning, match="is read as") as told:
        array = zarr.open_array(store, path="a", mode="r+")
    assert len(told) == 1
    return array


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("change", ["write", "append", "attributes", "resize"])
def test_a_change_puts_the_document_right(zarr_format: int, change: str) -> None:
    store = stored_array(zarr_format)
    array = open_told(store)
    assert array[:].tolist() == [0, 0, 0]
    expected = [0, 0, 0]
    if change == "write":
        array[1:] = [8, 9]
        expected = [0, 8, 9]
    elif change == "append":
        array.append(np.array([7], dtype="int16"))
        expected = [0, 0, 0, 7]
    elif change == "attributes":
        array.attrs["x"] = 1
    else:
        array.resize((2,))
        expected = [0, 0]
    assert array.metadata._stored_document is None
    reopened = zarr.open_array(store, path="a")
    assert (reopened.chunks, reopened[:].tolist()) == ((1,), expected)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_document_stored_since_is_kept_or_in_the_way(zarr_format: int) -> None:
    store = stored_array(zarr_format)
    first, second = open_told(store), open_told(store)
    first.attrs["x"] = 1
    second[0] = 5
    assert zarr.open_array(store, path="a").attrs.asdict() == {"x": 1}
    assert first[0] == 5
    store = stored_array(zarr_format)
    array = open_told(store)
    name = document_name(zarr_format)
    text = store._store_dict[name].to_bytes().replace(b"[0]", b"[2]")
    put(store, name, json.loads(text))
    with pytest.raises(ValueError, match="has changed since this array was opened; reopen"):
        array[:] = 1
    assert not [key for key in store._store_dict if key.startswith("a/c") or key == "a/0"]


@pytest.mark.filterwarnings("ignore:Consolidated metadata is currently")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_consolidated_copy_says_what_the_document_says(zarr_format: int) -> None:
    store = stored_array(zarr_format)
    with pytest.warns(ZarrUserWarning, match="is read as"):
        zarr.consolidate_metadata(store)

    def copy() -> Any:
        if zarr_format == 2:
            return json.loads(store._store_dict[".zmetadata"].to_bytes())["metadata"]["a/.zarray"]["chunks"]
        metadata = json.loads(store._store_dict["zarr.json"].to_bytes())["consolidated_metadata"]["metadata"]
        return metadata["a"]["chunk_grid"]["configuration"]["chunk_shape"]

    assert copy() == [0]
    for opened in (zarr.open, zarr.open_consolidated):
        with pytest.warns(ZarrUserWarning, match=f"^Array '{store}/a': .* is read as"):
            group = opened(store)
    group.attrs["x"] = 1
    assert copy() == [0]
    group["a"][:] = 1
    assert copy() == [1]


def test_a_warning_names_what_is_known_and_is_short() -> None:
    metadata = zarr.create_array({}, shape=(4, 10_000), chunks=(1, 10), dtype="int8").metadata
    document = json.loads(json.dumps(metadata.to_dict()))
    document["chunk_grid"]["configuration"]["chunk_shape"] = [0, [10] * 1000]
    with pytest.warns(ZarrUserWarning) as told:
        read = type(metadata).from_dict(document)
    (text,) = [str(each.message) for each in told]
    assert text.startswith("The stored chunk shape [0, [10, 10,")
    assert "reading 0 in dimension 0 as 1" in text
    assert "lists chunk lengths in dimensions [1]" in text
    assert len(text) < 1600
    assert read.chunk_grid.chunk_shapes == (1, (10,) * 1000)
