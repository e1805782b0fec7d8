"""Documents of format 2 that were read before are not parsed again, and nothing is shared that a user may change."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from zarr.buffer.core import default_buffer_prototype
from zarr.dtype import Int32
from zarr.metadata import ArrayV2Metadata
from zarr.storage import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    group = zarr.create_group(store, zarr_format=2)
    for name in "ab":
        array = group.create_array(name, shape=(7,), chunks=(3,), dtype="f4", attributes={"list": [1]})
        array[...] = np.arange(7)
    return store


def test_equal_documents_are_parsed_once(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    parse = ArrayV2Metadata.from_dict.__func__  # type: ignore[attr-defined]

    def noting(cls: Any, *args: Any, **options: Any) -> Any:
        calls.append(args)
        return parse(cls, *args, **options)

    monkeypatch.setattr(ArrayV2Metadata, "from_dict", classmethod(noting))
    zarr.registry.register_codec("test.clears_what_is_kept", zarr.codecs.GzipCodec)
    arrays = [zarr.open_array(store, path=name, mode="r") for name in "abab"]
    assert len(calls) == 1
    for array in arrays:
        assert array[...].tolist() == list(range(7))
    assert arrays[0]._async_array._handle.state.layout.chain is arrays[1]._async_array._handle.state.layout.chain


def test_attributes_are_not_shared(store: MemoryStore) -> None:
    one, other = (zarr.open_array(store, path=name, mode="r+") for name in "ab")
    one.metadata.attributes["list"].append(2)
    one.attrs["b"] = 1
    assert dict(other.attrs) == {"list": [1]}
    assert dict(zarr.open_array(store, path="b").attrs) == {"list": [1]}


def test_a_shape_is_not_shared(store: MemoryStore) -> None:
    one = zarr.open_array(store, path="a", mode="r+")
    one.resize(20)
    one[15:] = 5
    assert zarr.open_array(store, path="b").shape == (7,)
    again = zarr.open_array(store, path="a")
    assert (again.shape, again.nchunks, again[18]) == ((20,), 7, 5)
    assert one.metadata.chunk_grid == again.metadata.chunk_grid


def test_documents_that_are_repaired_warn_each_time(store: MemoryStore) -> None:
    document = json.loads(store._store_dict["a/.zarray"].to_bytes())
    store._store_dict["a/.zarray"] = type(store._store_dict["a/.zarray"]).from_bytes(
        json.dumps({**document, "chunks": [0]}).encode()
    )
    for _ in range(2):
        with pytest.warns(zarr.errors.ZarrUserWarning):
            zarr.open_array(store, path="a", mode="r")


class Own(numcodecs.Zlib):  # type: ignore[misc]
    codec_id = "test_own"


def test_codecs_of_others_are_not_shared() -> None:
    numcodecs.register_codec(Own)
    store = MemoryStore()
    for name in "ab":
        zarr.create_array(store, name=name, shape=4, dtype="i4", zarr_format=2, compressors=Own(), fill_value=0)[:] = 1
    one, other = (zarr.open_array(store, path=name) for name in "ab")
    assert one.compressors[0] is not other.compressors[0]
    assert one[...].tolist() == other[...].tolist() == [1] * 4


@pytest.mark.parametrize("indent", [2, 0, None, "\t"])
def test_documents_after_changes_are_those_of_new_metadata(indent: Any) -> None:
    """What does not change is written once; the result must be that of writing all anew."""
    prototype = default_buffer_prototype()
    members = {"dtype": Int32(), "chunks": (5, 3), "fill_value": 7, "order": "F", "compressor": numcodecs.Zlib(3)}
    changed = ArrayV2Metadata(shape=(10, 3), filters=[numcodecs.Delta("<i4")], **members)
    with zarr.config.set(json_indent=indent):
        for shape, attributes in [((12, 3), {}), ((12, 3), {"a": [1]}), ((0, 9), {"a": "ä"}), ((10, 3), {})]:
            changed = changed.update_shape(shape).update_attributes(attributes)
            new = ArrayV2Metadata(shape=shape, filters=[numcodecs.Delta("<i4")], attributes=attributes, **members)
            for _ in range(2):
                found = changed.to_buffer_dict(prototype)
                assert [*found] == [".zarray", ".zattrs"]
                for name, raw in new.to_buffer_dict(prototype).items():
                    assert found[name].to_bytes() == raw.to_bytes()
            assert changed == new
            assert pickle.loads(pickle.dumps(changed)) == new
