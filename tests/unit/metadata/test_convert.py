"""Metadata of format 2 said in format 3: as zarr-python says it, and where zarr-python gives up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from zarr.buffer.core import default_buffer_prototype
from zarr.dtype import Float64, Int32, UInt8, VariableLengthBytes, VariableLengthUTF8
from zarr.metadata import ArrayV2Metadata, GroupMetadata
from zarr.metadata.convert import convert_array_metadata, convert_group_metadata, find_codec
from zarr.storage import MemoryStore

DATA = Path(__file__).parent / "data"
OLD: dict[str, dict[str, str]] = json.loads((DATA / "documents.json").read_text())
NEW: dict[str, str] = json.loads((DATA / "migrated.json").read_text())


@pytest.mark.parametrize("case", NEW)
def test_same_bytes(case: str) -> None:
    documents = {key: json.loads(text) for key, text in OLD[case].items()}
    old = ArrayV2Metadata.from_dict({**documents[".zarray"], "attributes": documents[".zattrs"]})
    new = convert_array_metadata(old).to_buffer_dict(default_buffer_prototype())["zarr.json"]
    assert new.to_bytes().decode() == NEW[case]


def codecs_of(**changes: Any) -> list[Any]:
    parameters: dict[str, Any] = {"shape": (4, 6), "dtype": Int32(), "chunks": (2, 3), "fill_value": 0, "order": "C"}
    metadata = convert_array_metadata(ArrayV2Metadata(**{**parameters, **changes}))
    codecs: Any = metadata.to_dict()["codecs"]
    return [codec["name"] for codec in codecs]


def test_strings() -> None:
    strings: dict[str, Any] = {"dtype": VariableLengthUTF8(), "fill_value": "", "filters": [numcodecs.VLenUTF8()]}
    assert codecs_of(**strings) == ["vlen-utf8"]
    assert codecs_of(**strings, compressor=numcodecs.Zstd()) == ["vlen-utf8", "zstd"]
    assert codecs_of(dtype=VariableLengthUTF8(), fill_value="", compressor=numcodecs.VLenUTF8()) == ["vlen-utf8"]
    assert codecs_of(dtype=VariableLengthBytes(), fill_value=b"", filters=[numcodecs.VLenBytes()]) == ["vlen-bytes"]


def test_filters_of_bytes() -> None:
    filters = [numcodecs.Delta("<i4"), numcodecs.Shuffle(4), numcodecs.CRC32()]
    assert codecs_of(filters=filters) == ["numcodecs.delta", "bytes", "numcodecs.shuffle", "numcodecs.crc32"]
    with pytest.raises(TypeError, match="after codecs of bytes"):
        codecs_of(filters=[numcodecs.Zstd(), numcodecs.Delta("<i4")])


def test_byte_order_is_that_of_what_is_stored() -> None:
    filters = [numcodecs.FixedScaleOffset(offset=0, scale=1, dtype=">f8", astype="<i4")]
    old = ArrayV2Metadata(
        shape=(4,), dtype=Float64(endianness="big"), chunks=(2,), fill_value=0, order="C", filters=filters
    )
    codecs: Any = convert_array_metadata(old).to_dict()["codecs"]
    assert codecs[1] == {"name": "bytes", "configuration": {"endian": "little"}}


@pytest.mark.parametrize(
    ("name", "filters"),
    [
        (">i4", [numcodecs.Delta(">i4")]),
        (">i4", [numcodecs.Delta(">i4", astype="<i8")]),
        (">f8", [numcodecs.FixedScaleOffset(1, 2, ">f8", "<i4")]),
        (">f4", [numcodecs.FixedScaleOffset(0, 1, ">f4", ">i4"), numcodecs.Delta(">i4"), numcodecs.Shuffle(4)]),
        ("<f8", [numcodecs.AsType(">f4", "<f8")]),
        (">f8", [numcodecs.Quantize(1, ">f8", ">f4")]),
    ],
    ids=str,
)
def test_chunks_behind_filters_of_any_byte_order_are_read(name: str, filters: list[Any]) -> None:
    store = MemoryStore()
    array = zarr.create_array(
        store, shape=6, chunks=3, dtype=name, filters=filters, zarr_format=2, chunk_key_encoding={"name": "v2"}
    )
    array[:] = [200, 500, 900, 1300, 256, 17]
    assert isinstance(array.metadata, ArrayV2Metadata)
    for key, value in convert_array_metadata(array.metadata).to_buffer_dict(default_buffer_prototype()).items():
        store.set_sync(key, value)
    new = zarr.open_array(store, zarr_format=3)
    assert np.asarray(new[:]).tolist() == [200, 500, 900, 1300, 256, 17]


def test_filters_that_take_elements_for_others_have_no_counterpart() -> None:
    assert codecs_of(filters=[numcodecs.Delta("<i4")])[0] == "numcodecs.delta"
    with pytest.raises(ValueError, match="other byte order"):
        codecs_of(filters=[numcodecs.Delta(">i4")])
    with pytest.raises(ValueError, match="'<i2' in the other byte order"):
        codecs_of(filters=[numcodecs.Delta("<i4", astype="<i2"), numcodecs.Delta(">i2")])


@pytest.mark.parametrize("order", ["<", ">"])
def test_records_of_either_byte_order_are_read(order: str) -> None:
    store = MemoryStore()
    dtype = np.dtype([("a", f"{order}i2"), ("b", [("c", f"{order}f4"), ("d", "S3")]), ("e", f"{order}U2")])
    values = np.array([(1, (2.5, b"x"), "y"), (300, (-1, b""), "é")], dtype)
    array = zarr.create_array(
        store, shape=2, chunks=1, dtype=dtype, zarr_format=2, chunk_key_encoding={"name": "v2", "separator": "."}
    )
    array[:] = values
    assert isinstance(array.metadata, ArrayV2Metadata)
    for key, value in convert_array_metadata(array.metadata).to_buffer_dict(default_buffer_prototype()).items():
        store.set_sync(key, value)
    assert np.asarray(zarr.open_array(store, zarr_format=3)[:]).tolist() == values.tolist()


def test_records_of_two_byte_orders_have_no_counterpart() -> None:
    array = zarr.create_array({}, shape=2, dtype=np.dtype([("a", ">i2"), ("b", "<i2")]), zarr_format=2)
    assert isinstance(array.metadata, ArrayV2Metadata)
    with pytest.raises(ValueError, match="different byte orders"):
        convert_array_metadata(array.metadata)


def test_a_shuffle_that_depends_on_the_item() -> None:
    for dtype, shuffle in ((Int32(), "shuffle"), (UInt8(), "bitshuffle")):
        old = ArrayV2Metadata(
            shape=(4,), dtype=dtype, chunks=(2,), fill_value=0, order="C", compressor=numcodecs.Blosc(shuffle=-1)
        )
        codecs: Any = convert_array_metadata(old).to_dict()["codecs"]
        assert codecs[1]["configuration"]["shuffle"] == shuffle


def test_an_undefined_fill_value_becomes_the_default() -> None:
    old = ArrayV2Metadata(shape=(4,), dtype=Int32(), chunks=(2,), fill_value=None, order="C")
    assert convert_array_metadata(old).fill_value == 0


def test_codecs_without_a_counterpart() -> None:
    with pytest.raises(ValueError, match="codec for pickle"):
        find_codec(numcodecs.Pickle())


def test_groups() -> None:
    assert convert_group_metadata(GroupMetadata({"a": 1}, 2)) == GroupMetadata({"a": 1}, 3)
