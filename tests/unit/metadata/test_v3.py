"""The document of an array of format 3."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from zarr.buffer.core import default_buffer_prototype
from zarr.chunks import RectilinearChunkGridMetadata, RegularChunkGridMetadata
from zarr.chunks.keys import DefaultChunkKeyEncoding, V2ChunkKeyEncoding
from zarr.codecs import BytesCodec, ShardingCodec, ZstdCodec
from zarr.dtype import Float32, Int32
from zarr.errors import MetadataValidationError, NodeTypeValidationError, UnknownCodecError
from zarr.metadata import ArrayV3Metadata
from zarr.metadata.fields import parse_dimension_names, parse_storage_transformers
from zarr.registry import register_storage_transformer

REGULAR = {"name": "regular", "configuration": {"chunk_shape": [5, 5]}}
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
DOCUMENT: dict[str, Any] = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [10, 20],
    "data_type": "int32",
    "chunk_grid": REGULAR,
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 0,
    "codecs": [BYTES],
    "attributes": {"b": 1, "a": 2},
    "dimension_names": ["x", None],
}


def parse(**changes: Any) -> ArrayV3Metadata:
    document = {key: value for key, value in {**DOCUMENT, **changes}.items() if value is not ...}
    return ArrayV3Metadata.from_dict(document)


def sharded(**changes: Any) -> ArrayV3Metadata:
    shard = {"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 5], "codecs": [BYTES]}}
    return parse(**{"codecs": [shard], **changes})


def test_members() -> None:
    metadata = parse()
    assert metadata.shape == (10, 20)
    assert metadata.ndim == 2
    assert metadata.data_type == metadata.dtype == Int32()
    assert metadata.chunk_grid == RegularChunkGridMetadata(chunk_shape=(5, 5))
    assert metadata.chunk_key_encoding == DefaultChunkKeyEncoding("/")
    assert metadata.fill_value == np.int32(0)
    assert isinstance(metadata.fill_value, np.int32)
    assert metadata.codecs == metadata.inner_codecs == (BytesCodec(endian="little"),)
    assert metadata.attributes == {"b": 1, "a": 2}
    assert metadata.dimension_names == ("x", None)
    assert (metadata.zarr_format, metadata.node_type) == (3, "array")
    assert (metadata.storage_transformers, metadata.extra_fields) == ((), {})
    assert (metadata.chunks, metadata.shards, metadata.sharding_codec) == ((5, 5), None, None)
    assert metadata.encode_chunk_key((1, 2)) == "c/1/2"


def test_sharded() -> None:
    metadata = sharded()
    assert (metadata.chunks, metadata.shards) == ((1, 5), (5, 5))
    assert isinstance(metadata.sharding_codec, ShardingCodec)
    assert metadata.inner_codecs == (BytesCodec(endian="little"),)


def test_rectilinear() -> None:
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[4, 6], 5]}}
    metadata = parse(chunk_grid=grid)
    assert metadata.shards is None
    with pytest.raises(NotImplementedError, match="read_chunk_sizes"):
        metadata.chunks  # noqa: B018
    assert metadata.update_shape((12, 20)).chunk_grid == RectilinearChunkGridMetadata(chunk_shapes=((4, 6, 2), 5))
    assert sharded(chunk_grid=grid).chunks == (1, 5)
    with pytest.raises(NotImplementedError, match="write_chunk_sizes"):
        sharded(chunk_grid=grid).shards  # noqa: B018
    short = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[4, 5], 5]}}
    with pytest.raises(MetadataValidationError, match="sum to 9 but array shape extent is 10"):
        parse(chunk_grid=short)


@pytest.mark.parametrize(
    "changes",
    [
        {"codecs": ["bytes"], "data_type": "uint8"},
        {"codecs": [{"name": "bytes"}], "data_type": "uint8"},
        {"codecs": [{"name": "bytes", "configuration": {}, "must_understand": True}], "data_type": "uint8"},
        {"chunk_key_encoding": "default"},
        {"chunk_key_encoding": {"name": "default"}},
        {"data_type": {"name": "int32"}},
        {"data_type": {"name": "int32", "configuration": {}}},
        {"data_type": {"name": "int32", "must_understand": False}},
        {"chunk_grid": {**REGULAR, "must_understand": False}},
        {"attributes": None},
        {"attributes": ...},
        {"storage_transformers": []},
        {"storage_transformers": None},
    ],
)
def test_short_forms_are_read_and_long_ones_written(changes: dict[str, Any]) -> None:
    usual = {"data_type": changes["data_type"]} if "codecs" in changes else {}
    if "attributes" in changes:
        usual["attributes"] = {}
    expected = parse(**usual)
    assert parse(**changes) == expected
    assert parse(**changes).to_dict() == expected.to_dict()


def test_byte_order_is_no_matter_of_single_bytes() -> None:
    assert parse(data_type="uint8").to_dict()["codecs"] == ({"name": "bytes"},)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"shape": ...}, KeyError, "required member 'shape'"),
        ({"data_type": ...}, KeyError, "'data_type'"),
        ({"chunk_grid": ...}, KeyError, "'chunk_grid'"),
        ({"chunk_key_encoding": ...}, KeyError, "'chunk_key_encoding'"),
        ({"fill_value": ...}, KeyError, "'fill_value'"),
        ({"codecs": ...}, KeyError, "'codecs'"),
        ({"zarr_format": ...}, KeyError, "'zarr_format'"),
        ({"node_type": ...}, KeyError, "'node_type'"),
        ({"zarr_format": 2}, ValueError, "'zarr_format'.*got 2"),
        ({"zarr_format": "3"}, ValueError, "'zarr_format'.*got '3'"),
        ({"zarr_format": 3.0}, ValueError, "zarr_format"),
        ({"node_type": "group"}, NodeTypeValidationError, "node_type"),
        ({"shape": [-1, 2]}, ValueError, r"non-negative.*'shape' of 'zarr.json'"),
        ({"shape": [2**63, 2]}, ValueError, "too large"),
        ({"shape": [1.0, 2]}, TypeError, "'shape' of"),
        ({"shape": "ab"}, TypeError, "'shape' of"),
        ({"shape": [1]}, ValueError, "same number of dimensions"),
        ({"data_type": "int33"}, ValueError, "int33.*'data_type' of"),
        ({"data_type": 5}, ValueError, "'data_type' of"),
        ({"chunk_grid": "regular"}, ValueError, "'chunk_grid' of"),
        ({"chunk_grid": {"name": "hexagons"}}, ValueError, "hexagons.*'chunk_grid' of"),
        ({"chunk_grid": []}, TypeError, "'chunk_grid' of"),
        ({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [-1, 5]}}}, ValueError, ">= 1"),
        ({"chunk_key_encoding": "zigzag"}, ValueError, "zigzag.*'chunk_key_encoding' of"),
        ({"fill_value": None}, TypeError, "'fill_value' of"),
        ({"fill_value": "a"}, TypeError, "'fill_value' of"),
        ({"fill_value": 2**40}, OverflowError, "'fill_value' of"),
        ({"codecs": []}, ValueError, "ArrayBytesCodec"),
        ({"codecs": None}, TypeError, "'codecs' of"),
        ({"codecs": [5]}, TypeError, "'codecs' of"),
        ({"codecs": [{}]}, ValueError, "name"),
        ({"codecs": [BYTES, BYTES]}, ValueError, "Only one"),
        ({"codecs": ["bytes"]}, ValueError, "endian"),
        ({"codecs": [{"name": "transpose", "configuration": {"order": [1, 0, 2]}}, BYTES]}, ValueError, "order"),
        ({"attributes": 5}, TypeError, "'attributes' of"),
        ({"dimension_names": ["x"]}, ValueError, "dimension_names"),
        ({"dimension_names": [1, 2]}, TypeError, "'dimension_names' of"),
        ({"storage_transformers": [{"name": "x"}]}, ValueError, "storage transformers.*'x'"),
        ({"storage_transformers": {"x": 1}}, ValueError, "not supported in zarr-python .* of 'x'"),
        ({"storage_transformers": 5}, TypeError, "storage_transformers"),
        ({"foo": 1}, ValueError, "foo"),
        ({"foo": None}, ValueError, "foo"),
        ({"foo": {}}, ValueError, "foo"),
        ({"foo": {"must_understand": True}}, ValueError, "foo"),
        ({"foo": {"must_understand": 0}}, ValueError, "foo"),
    ],
)
def test_refused(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        parse(**changes)
    assert isinstance(caught.value, MetadataValidationError)


def test_messages_name_the_document() -> None:
    with pytest.raises(MetadataValidationError, match=r"\(in 'shape' of 'a/b/zarr.json'\)"):
        ArrayV3Metadata.from_dict({**DOCUMENT, "shape": [-1, 1]}, path="a/b")


def test_unknown_codecs_keep_their_error() -> None:
    with pytest.raises(UnknownCodecError, match="'zigzag'") as caught:
        parse(codecs=[BYTES, {"name": "zigzag", "must_understand": False}])
    assert "'codecs' of 'zarr.json'" in "".join(caught.value.__notes__)


def test_members_that_need_not_be_understood() -> None:
    extra = {"zz": {"must_understand": False, "name": "q"}, "aa": {"must_understand": False}}
    metadata = parse(**extra)
    assert metadata.extra_fields == extra
    assert list(metadata.to_dict())[-2:] == ["zz", "aa"]


def test_storage_transformers_can_be_registered() -> None:
    assert parse_storage_transformers(iter([{"a": 1}])) == ({"a": 1},)
    register_storage_transformer("test.transformer", dict)
    assert parse(storage_transformers=[{"name": "test.transformer"}]).storage_transformers == (
        {"name": "test.transformer"},
    )


def create(**changes: Any) -> ArrayV3Metadata:
    parameters = {
        "shape": (10, 20),
        "data_type": Int32(),
        "chunk_grid": REGULAR,
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [BytesCodec()],
        "attributes": None,
        "dimension_names": None,
        **changes,
    }
    return ArrayV3Metadata(**parameters)


def test_constructor_raises_plain_errors() -> None:
    for changes, error in (
        ({"shape": (1,)}, ValueError),
        ({"fill_value": None}, TypeError),
        ({"extra_fields": {"shape": {"must_understand": False}}}, ValueError),
        ({"extra_fields": {"q": {"must_understand": True}}}, MetadataValidationError),
        ({"codecs": ()}, ValueError),
    ):
        with pytest.raises(error):
            create(**changes)


def test_equality() -> None:
    assert create() == create()
    assert hash(create()) == hash(create())
    assert create() != create(fill_value=1)
    assert create() != create(attributes={"a": 1})
    assert create() != "something else"
    nan = {"data_type": Float32(), "fill_value": np.nan}
    assert create(**nan) == create(**nan)
    assert create(data_type=Float32(), fill_value=-0.0) != create(data_type=Float32(), fill_value=0.0)


def test_frozen_and_picklable() -> None:
    metadata = parse()
    with pytest.raises(AttributeError):
        metadata.shape = (1, 1)  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(metadata)) == metadata


def test_updates_leave_the_old_alone() -> None:
    metadata = parse(foo={"must_understand": False})
    resized = metadata.update_shape((3, 4))
    assert resized.shape == (3, 4)
    assert resized.extra_fields == metadata.extra_fields
    changed = metadata.update_attributes({"q": 1})
    assert (changed.attributes, metadata.attributes) == ({"q": 1}, {"b": 1, "a": 2})
    assert changed.update_attributes(metadata.attributes) == metadata
    for shape in ((3,), (3, 4, 5)):
        with pytest.raises(ValueError, match="same number"):
            metadata.update_shape(shape)
    with pytest.raises(ValueError, match="non-negative"):
        metadata.update_shape((-1, 2))


@dataclass(frozen=True)
class UpToTen(ZstdCodec):
    """A codec that takes no longer arrays."""

    def validate(self, *, shape: tuple[int, ...], **_: Any) -> None:
        if max(shape) > 10:
            raise ValueError("too long")


def test_a_resized_array_is_as_if_made_so() -> None:
    zstd = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
    transpose = {"name": "transpose", "configuration": {"order": [1, 0]}}
    for changes in ({}, {"codecs": [BYTES, zstd]}, {"codecs": [transpose, BYTES]}):
        for made in (parse, sharded):
            metadata = made(**changes).update_shape((3, 4))
            assert metadata == made(**changes, shape=[3, 4])
            prototype = default_buffer_prototype()
            documents = [each.to_buffer_dict(prototype) for each in (metadata, made(**changes, shape=[3, 4]))]
            assert documents[0]["zarr.json"].to_bytes() == documents[1]["zarr.json"].to_bytes()


def test_codecs_have_a_say_in_a_new_shape() -> None:
    metadata = create(shape=(10, 10), codecs=(BytesCodec(), UpToTen()))
    assert metadata.update_shape((4, 10)).shape == (4, 10)
    with pytest.raises(ValueError, match="too long"):
        metadata.update_shape((4, 11))


def test_attributes_are_not_shared_with_the_caller() -> None:
    given = {"a": 1}
    metadata = create(attributes=given)
    given["b"] = 2
    assert metadata.attributes == {"a": 1}


def test_numpy_scalars_are_attributes_and_numpy_arrays_are_none() -> None:
    written = create(attributes={"x": np.int32(1)}).to_buffer_dict(default_buffer_prototype())
    assert json.loads(written["zarr.json"].to_bytes())["attributes"] == {"x": 1}
    with pytest.raises(TypeError, match=r"ndarray .*attributes\['x'\]"):
        create(attributes={"x": np.arange(2)}).to_buffer_dict(default_buffer_prototype())


def test_zero_dimensions() -> None:
    grid = {"name": "regular", "configuration": {"chunk_shape": []}}
    metadata = parse(shape=[], chunk_grid=grid, dimension_names=[], chunk_key_encoding="v2")
    assert (metadata.ndim, metadata.chunks, metadata.encode_chunk_key(())) == (0, (), "0")
    assert metadata.chunk_key_encoding == V2ChunkKeyEncoding()


@pytest.mark.parametrize(
    ("data", "expected"),
    [(None, None), ((), ()), (["a", None], ("a", None)), ("ab", ("a", "b")), (iter("ab"), ("a", "b"))],
)
def test_dimension_names(data: Any, expected: Any) -> None:
    assert parse_dimension_names(data) == expected


@pytest.mark.parametrize("data", [5, [1], b"ab"])
def test_bad_dimension_names(data: Any) -> None:
    with pytest.raises(TypeError, match="iterable of str"):
        parse_dimension_names(data)
