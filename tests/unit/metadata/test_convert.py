"""Metadata of format 2 said in format 3: as zarr-python says it, and where zarr-python gives up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numcodecs
import pytest

from zarr.buffer.core import default_buffer_prototype
from zarr.dtype import Float64, Int32, UInt8, VariableLengthBytes, VariableLengthUTF8
from zarr.metadata import ArrayV2Metadata, GroupMetadata
from zarr.metadata.convert import convert_array_metadata, convert_group_metadata, find_codec

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
