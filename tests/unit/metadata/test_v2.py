"""The documents of an array of format 2."""

from __future__ import annotations

import pickle
from typing import Any

import numcodecs
import numpy as np
import pytest

from zarr.buffer.core import default_buffer_prototype
from zarr.chunks import ChunkGrid
from zarr.chunks.keys import V2ChunkKeyEncoding
from zarr.chunks.spec import ArrayConfig
from zarr.dtype import Float64, Int32, VariableLengthUTF8
from zarr.errors import MetadataValidationError, UnknownCodecError, ZarrUserWarning
from zarr.metadata import ArrayV2Metadata
from zarr.metadata.v2 import get_object_codec_id, parse_compressor, parse_filters

DOCUMENT: dict[str, Any] = {
    "shape": [10, 20],
    "chunks": [5, 5],
    "fill_value": 0,
    "order": "C",
    "filters": None,
    "dimension_separator": ".",
    "compressor": {"id": "zstd", "level": 1},
    "dtype": "<i4",
    "zarr_format": 2,
}


def parse(**changes: Any) -> ArrayV2Metadata:
    document = {key: value for key, value in {**DOCUMENT, **changes}.items() if value is not ...}
    return ArrayV2Metadata.from_dict(document)


def test_members() -> None:
    metadata = parse(attributes={"b": 1})
    assert (metadata.shape, metadata.chunks, metadata.shards, metadata.ndim) == ((10, 20), (5, 5), None, 2)
    assert metadata.dtype == Int32()
    assert isinstance(metadata.fill_value, np.int32)
    assert (metadata.order, metadata.filters, metadata.dimension_separator) == ("C", None, ".")
    assert metadata.compressor == numcodecs.Zstd(level=1)
    assert metadata.attributes == {"b": 1}
    assert metadata.zarr_format == 2
    assert metadata.chunk_grid == ChunkGrid.from_sizes((10, 20), (5, 5))
    assert metadata.chunk_grid.to_core((10, 20)).nchunks == 8
    assert metadata.chunk_key_encoding == V2ChunkKeyEncoding(".")
    assert metadata.encode_chunk_key((1, 2)) == "1.2"
    spec = metadata.get_chunk_spec((0, 0), ArrayConfig("C", True), default_buffer_prototype())
    assert (spec.shape, spec.dtype, spec.fill_value) == ((5, 5), Int32(), 0)


@pytest.mark.parametrize(
    ("changes", "member", "expected"),
    [
        ({"filters": ...}, "filters", None),
        ({"filters": []}, "filters", None),
        ({"compressor": ...}, "compressor", None),
        ({"compressor": None}, "compressor", None),
        ({"dimension_separator": ...}, "dimension_separator", "."),
        ({"dimension_separator": None}, "dimension_separator", "."),
        ({"dimension_separator": "/"}, "dimension_separator", "/"),
        ({"order": "F"}, "order", "F"),
        ({"chunks": [0, 5]}, "chunks", (1, 5)),
        ({"fill_value": None}, "fill_value", None),
        ({"attributes": None}, "attributes", {}),
        ({"filters": [{"id": "delta", "dtype": "<i4"}]}, "filters", (numcodecs.Delta("<i4"),)),
    ],
)
def test_forms(changes: dict[str, Any], member: str, expected: Any) -> None:
    assert getattr(parse(**changes), member) == expected


def test_unknown_members_are_ignored() -> None:
    assert parse(_nczarr_array={"dimrefs": ["/x"]}, node_type="array") == parse()
    assert "_nczarr_array" not in parse(_nczarr_array={}).to_dict()


@pytest.mark.parametrize(
    ("dtype", "stored", "expected"),
    [
        ("<f8", "NaN", np.nan),
        ("<f8", "Infinity", np.inf),
        ("<f8", "-Infinity", -np.inf),
        ("<f8", float("nan"), np.nan),
        ("<f8", 1, 1.0),
        ("|b1", 0, False),
        ("<c16", [1, "NaN"], complex(1, np.nan)),
        ("<M8[ns]", "NaT", np.datetime64("NaT", "ns")),
        ("<m8[25us]", -(2**63), np.timedelta64("NaT")),
        ("|S5", "", b""),
        ("|S3", "YWI=", b"ab"),
        ("<U5", "a", "a"),
        # Zero was once stored for types that have no zero, and lists of one number have been seen.
        ("|S5", 0, b""),
        ("<U5", 0, ""),
        ("<i4", [-1], -1),
        ([["a", "<f4"], ["b", "<i2"]], "AACAPwIA", (1.0, 2)),
        ([["a", "<f4"], ["b", "<i2"]], 0, (0.0, 0)),
    ],
)
def test_fill_values(dtype: Any, stored: Any, expected: Any) -> None:
    fill = parse(dtype=dtype, fill_value=stored).fill_value
    value = fill.item() if isinstance(fill, np.void) else fill
    np.testing.assert_equal(value, expected)


def test_a_void_fill_value_of_zero() -> None:
    assert parse(dtype="|V3", fill_value=0).fill_value.tobytes() == bytes(3)


@pytest.mark.parametrize(
    "dtype",
    ["|b1", "|i1", "<u2", ">i8", "<f2", ">c8", "<M8[25s]", ">m8[ns]", "|S4", "<U3", "|V6",
     [["a", "<f4"], ["b", [["c", "|u1"], ["d", ">i4"]]]], [["z", "<f4", [2, 2]]]],
)  # fmt: skip
def test_data_types_round_trip(dtype: Any) -> None:
    metadata = parse(dtype=dtype, fill_value=None)
    assert parse(**metadata.to_dict()) == metadata
    written: Any = metadata.to_dict()["dtype"]
    assert str(written).replace("(", "[").replace(")", "]") == str(dtype)


def test_objects() -> None:
    strings = parse(dtype="|O", filters=[{"id": "vlen-utf8"}], fill_value="")
    assert strings.dtype == VariableLengthUTF8()
    assert strings.to_dict()["dtype"] == "|O"
    assert strings.to_dict()["filters"] == [{"id": "vlen-utf8"}]
    with pytest.raises(MetadataValidationError, match=r"'dtype' of '\.zarray'"):
        parse(dtype="|O")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"shape": ...}, KeyError, "'shape'"),
        ({"chunks": ...}, KeyError, "'chunks'"),
        ({"dtype": ...}, KeyError, "'dtype'"),
        ({"fill_value": ...}, KeyError, "'fill_value'"),
        ({"order": ...}, KeyError, "'order'"),
        ({"zarr_format": ...}, KeyError, "'zarr_format'"),
        ({"zarr_format": 3}, ValueError, "zarr_format"),
        ({"shape": [-1, 2]}, ValueError, "'shape' of '.zarray'"),
        ({"shape": [2**63, 2]}, ValueError, "too large"),
        ({"shape": 5}, ValueError, "same length"),
        ({"chunks": [5]}, ValueError, "same length"),
        ({"chunks": [-1, 5]}, ValueError, "'chunks' of"),
        ({"chunks": [5.0, 5]}, TypeError, "'chunks' of"),
        ({"chunks": None}, TypeError, "'chunks' of"),
        ({"order": "X"}, ValueError, "'order'"),
        ({"dimension_separator": "x"}, ValueError, "separator"),
        ({"compressor": "zstd"}, ValueError, "compressor"),
        ({"compressor": {"id": "zstd", "nonsense": 1}}, TypeError, "'compressor' of"),
        ({"filters": 5}, TypeError, "'filters' of"),
        ({"filters": ["x"]}, TypeError, "index 0"),
        ({"dtype": "i4"}, ValueError, "'dtype' of"),
        ({"dtype": None}, ValueError, "'dtype' of"),
        ({"fill_value": "a"}, TypeError, "'fill_value' of"),
        ({"fill_value": [1, 2]}, TypeError, "'fill_value' of"),
        ({"fill_value": 2**40}, OverflowError, "'fill_value' of"),
        ({"attributes": 5}, TypeError, "attributes"),
    ],
)
def test_refused(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        parse(**changes)
    assert isinstance(caught.value, MetadataValidationError)


@pytest.mark.parametrize("changes", [{"compressor": {"id": "zigzag"}}, {"filters": [{"id": "zigzag"}]}])
def test_unknown_codecs(changes: dict[str, Any]) -> None:
    with pytest.raises(UnknownCodecError, match="zigzag"):
        parse(**changes)


def test_constructor() -> None:
    metadata = ArrayV2Metadata(
        shape=(10,),
        dtype=Int32(),
        chunks=(5,),
        fill_value=None,
        order="C",
        compressor={"id": "zstd"},
        filters=[numcodecs.Delta("<i4")],
    )
    assert metadata.compressor == numcodecs.Zstd()
    assert metadata.fill_value is None
    again = pickle.loads(pickle.dumps(metadata))
    assert again == metadata
    assert hash(again) == hash(metadata)
    assert ArrayV2Metadata(shape=10, dtype=Int32(), chunks=5, fill_value=0, order="C").shape == (10,)  # type: ignore[arg-type]


def test_equality() -> None:
    nan = ArrayV2Metadata(shape=(4,), dtype=Float64(), chunks=(2,), fill_value=np.nan, order="C")
    assert nan == ArrayV2Metadata.from_dict(nan.to_dict())
    assert nan != parse()
    assert nan != "something else"


def test_updates_leave_the_old_alone() -> None:
    metadata = parse()
    assert metadata.update_shape((3, 4)).shape == (3, 4)
    assert metadata.update_shape((3, 4)).chunk_grid.array_shape == (3, 4)
    assert metadata.update_attributes({"q": 1}).attributes == {"q": 1}
    assert metadata == parse()
    with pytest.raises(ValueError, match="same length"):
        metadata.update_shape((3,))


def test_parsers() -> None:
    zstd = numcodecs.Zstd()
    assert parse_compressor(zstd) is zstd
    assert parse_filters(zstd) == (zstd,)
    assert parse_filters([zstd, {"id": "zstd"}]) == (zstd, zstd)
    assert get_object_codec_id([{"id": "x"}, {"id": "vlen-bytes"}]) == "vlen-bytes"
    assert get_object_codec_id([None]) is None


def test_object_filters_behind_another_data_type_say_nothing_of_it() -> None:
    document = {
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<u2", "fill_value": 0, "order": "C",
        "filters": [{"id": "categorize", "labels": ["a"], "dtype": "|O", "astype": "|u1"}], "compressor": None,
    }  # fmt: skip
    assert ArrayV2Metadata.from_dict(document).dtype.to_native_dtype() == np.dtype("<u2")


def test_an_empty_list_of_filters_is_told_of() -> None:
    with pytest.warns(ZarrUserWarning, match="empty list of filters"):
        assert parse(filters=[]).filters is None
