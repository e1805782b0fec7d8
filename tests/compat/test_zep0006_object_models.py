"""The object models of ZEP 6, statement by statement (M-1 to M-9) and example by example.

The document was never finished: its JSON examples contradict the final specifications. Models are built on those; the
examples come in through the lenient importer, and the strict one says what is wrong with them.
"""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, List, TypedDict, Union  # noqa: UP035  (as the document has it)

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr
from zarr import models
from zarr.codecs import ShardingCodec
from zarr.errors import ContainsArrayError, ContainsGroupError, MetadataValidationError, UnknownCodecError
from zarr.models import ArraySpec, GroupSpec, v2
from zarr.models.plain import from_model_names, to_model_names
from zarr.storage import MemoryStore

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

V3_EXAMPLE = """
{
  "zarr_format": 3, "node_type": "group",
  "attributes": {"foo": 42, "bar": false},
  "members": {
    "array": {
      "zarr_format": 3, "node_type": "array",
      "attributes": {"baz": [1, 2, 3]},
      "shape": [1000, 1000],
      "data_type": "|u1",
      "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1000, 100]}},
      "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
      "fill_value": 0,
      "codecs": [{"name": "GZip", "configuration": {"level": 1}}],
      "storage_transformers": null,
      "dimension_names": ["rows", "columns"]
    }
  }
}
"""
V2_EXAMPLE = """
{
  "zarr_format" : 2,
  "attributes": {"foo" : 42, "bar" : false},
  "members": {
    "foo": {
      "zarr_format" : 2, "shape" : [1000, 1000], "chunks": [100, 100], "dtype": "|u1", "compressor": null,
      "fill_value": 0, "order": "C", "dimension_separator":  "/", "filters": {}, "attributes" : {"baz": true}
    }
  }
}
"""


def array_v3(**changes: Any) -> ArraySpec[Any]:
    members: dict[str, Any] = {
        "attributes": {"baz": [1, 2, 3]},
        "shape": (6, 4),
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": (3, 4)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": (
            {"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "gzip", "configuration": {"level": 1}},
        ),
    }
    return ArraySpec(**{**members, **changes})


def array_v2(**changes: Any) -> v2.ArraySpec[Any]:
    return v2.ArraySpec(**{"attributes": {}, "shape": (6, 4), "chunks": (3, 4), "dtype": "<i2", **changes})


def hierarchy() -> GroupSpec[Any, Any]:
    inner = GroupSpec(attributes={"deep": True}, members={"b": array_v3(dimension_names=("y", None))})
    return GroupSpec(attributes={"foo": 42}, members={"a": array_v3(), "g": inner, "empty": GroupSpec(attributes={})})


# ----------------------------------------------------------------------------------------------- M-1, M-2


def test_m1_an_array_model_has_the_properties_of_the_metadata_and_attributes() -> None:
    array = zarr.create_array({}, shape=(6, 4), chunks=(3, 4), dtype="int16", attributes={"a": 1})
    document = ArraySpec.from_zarr(array).to_json()
    assert document == json.loads(json.dumps(array.metadata.to_dict()))
    old = zarr.create_array({}, shape=(6, 4), chunks=(3, 4), dtype="int16", attributes={"a": 1}, zarr_format=2)
    assert v2.ArraySpec.from_zarr(old).to_json() == json.loads(json.dumps(old.metadata.to_dict()))


def test_m2_a_group_model_adds_members() -> None:
    document = hierarchy().to_json()
    assert set(document) == {"zarr_format", "node_type", "attributes", "members"}
    assert set(document["members"]) == {"a", "g", "empty"}
    assert set(v2.GroupSpec(attributes={}).to_json()) == {"zarr_format", "attributes", "members"}


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "zarr.json"])
def test_m2_names_of_members_are_names_of_nodes(name: str) -> None:
    with pytest.raises(MetadataValidationError, match="node name"):
        GroupSpec(attributes={}, members={name: array_v3()})


def test_m2_members_are_of_the_format_of_their_group() -> None:
    with pytest.raises(MetadataValidationError, match="format 3"):
        GroupSpec(attributes={}, members={"a": array_v2()})
    with pytest.raises(MetadataValidationError, match="zarr_format"):
        GroupSpec(attributes={}, members={"a": {**array_v3().to_json(), "zarr_format": 2}})


# ----------------------------------------------------------------------------------------------- M-3

IGNORABLE = {"must_understand": False, "value": 1}


def test_m3_a_property_called_members_gets_an_underscore() -> None:
    model: GroupSpec[Any, Any] = GroupSpec(attributes={}, members={}, extra_fields={"members": IGNORABLE})
    document = model.to_json()
    assert document["members"] == {}
    assert document["_members"] == IGNORABLE
    assert GroupSpec.from_json(document) == model
    assert GroupSpec.from_json(document).extra_fields == {"members": IGNORABLE}


def test_m3_and_another_one_where_that_is_taken() -> None:
    other = {"must_understand": False, "value": 2}
    model: GroupSpec[Any, Any] = GroupSpec(attributes={}, extra_fields={"members": IGNORABLE, "_members": other})
    document = model.to_json()
    assert document["__members"] == IGNORABLE
    assert document["_members"] == other
    assert GroupSpec.from_json(document).extra_fields == model.extra_fields


def test_m3_in_a_store_the_property_has_its_own_name() -> None:
    store = MemoryStore()
    GroupSpec(attributes={}, extra_fields={"members": IGNORABLE}).to_zarr(store)
    assert json.loads(store._store_dict["zarr.json"].to_bytes())["members"] == IGNORABLE
    found = GroupSpec.from_zarr(zarr.open_group(store))
    assert found.extra_fields == {"members": IGNORABLE}
    assert found.members == {}


@given(st.integers(1, 4))
def test_m3_renaming_is_undone(count: int) -> None:
    names = {"_" * i + "members": i for i in range(count)}
    renamed = to_model_names(names)
    assert "members" not in renamed
    assert from_model_names(renamed) == names


# ----------------------------------------------------------------------------------------------- M-4, and JSON examples


def test_m4_the_example_of_format_3_comes_in_leniently() -> None:
    model = GroupSpec.from_json(V3_EXAMPLE, lenient=True)
    array = model.members["array"] if model.members else None
    assert isinstance(array, ArraySpec)
    assert array.data_type == "uint8"
    assert array.codecs == ({"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}})
    assert array.storage_transformers == ()
    stored = model.to_zarr(MemoryStore())
    assert stored["array"].shape == (1000, 1000)
    assert stored["array"].metadata.dimension_names == ("rows", "columns")
    assert GroupSpec.from_zarr(stored) == model


def test_m4_the_example_of_format_3_is_refused_strictly() -> None:
    with pytest.raises(MetadataValidationError, match="format 3 calls it 'uint8'"):
        GroupSpec.from_json(V3_EXAMPLE.replace("null", "[]"))
    with pytest.raises(MetadataValidationError, match="storage_transformers"):
        GroupSpec.from_json(V3_EXAMPLE.replace("|u1", "uint8"))
    final = GroupSpec.from_json(V3_EXAMPLE.replace("null", "[]").replace("|u1", "uint8"))
    with pytest.raises(UnknownCodecError, match="GZip"):
        final.validate()


def test_m4_the_example_of_format_2() -> None:
    with pytest.raises(MetadataValidationError, match="filters"):
        v2.GroupSpec.from_json(V2_EXAMPLE)
    model = v2.GroupSpec.from_json(V2_EXAMPLE, lenient=True)
    stored = model.to_zarr(MemoryStore())
    assert stored["foo"].metadata.dimension_separator == "/"
    assert v2.GroupSpec.from_zarr(stored) == model
    assert models.from_json(V2_EXAMPLE, lenient=True) == model


@pytest.mark.parametrize("make", [hierarchy, lambda: v2.GroupSpec(attributes={"x": None}, members={"a": array_v2()})])
def test_m4_json_goes_round(make: Any) -> None:
    model = make()
    text = model.model_dump_json(indent=2)
    assert type(model).from_json(text) == model
    assert models.from_json(json.loads(text)) == model
    assert type(model)(**model.model_dump()) == model
    assert pickle.loads(pickle.dumps(model)) == model
    assert copy.deepcopy(model) == model


@settings(deadline=None, max_examples=40)
@given(
    data_type=st.sampled_from(["bool", "int8", "uint16", "float32", "float64", "complex64"]),
    shape=st.lists(st.integers(0, 9), min_size=0, max_size=3),
    fill=st.sampled_from([0, 1]),
    attributes=st.dictionaries(st.text(max_size=3), st.none() | st.booleans() | st.text(max_size=3) | st.integers()),
    zarr_format=st.sampled_from([2, 3]),
)
def test_m4_m5_what_is_stored_is_found_again(
    data_type: str, shape: list[int], fill: int, attributes: dict[str, Any], zarr_format: int
) -> None:
    module: Any = v2 if zarr_format == 2 else models
    array = module.ArraySpec.from_array(
        np.zeros(shape, dtype=data_type), attributes=attributes, fill_value=np.dtype(data_type).type(fill)
    )
    assert module.ArraySpec.from_json(array.to_json()) == array
    group = module.GroupSpec(attributes=attributes, members={"a": array})
    assert module.GroupSpec.from_zarr(group.to_zarr(MemoryStore(), "x/y")) == group


@pytest.mark.parametrize("fill", [np.nan, np.inf, -np.inf, "NaN"])
def test_m4_fill_values_that_are_no_json_numbers(fill: Any) -> None:
    model = array_v3(data_type="float64", fill_value=fill)
    assert isinstance(model.to_json()["fill_value"], str)
    assert ArraySpec.from_json(model.model_dump_json()) == model
    assert ArraySpec.from_zarr(model.to_zarr(MemoryStore())) == model


# ----------------------------------------------------------------------------------------------- M-5


def test_m5_a_hierarchy_is_made_from_its_model_and_the_other_way_round() -> None:
    model, store = hierarchy(), MemoryStore()
    group = model.to_zarr(store, "some/where")
    assert group.path == "some/where"
    assert dict(group.attrs) == {"foo": 42}
    assert group["g/b"].metadata.dimension_names == ("y", None)
    assert GroupSpec.from_zarr(group) == model
    assert models.from_zarr(zarr.open_group(store, path="some/where")) == model


def test_m5_structure_does_not_depend_on_data_and_store(tmp_path: Path) -> None:
    model = hierarchy()
    first, second = model.to_zarr(MemoryStore()), model.to_zarr(tmp_path / "h.zarr")
    first["a"][...] = 7
    assert GroupSpec.from_zarr(first) == GroupSpec.from_zarr(second)
    assert hash(GroupSpec.from_zarr(first)) == hash(model)
    second["a"].attrs["new"] = 1
    assert GroupSpec.from_zarr(second) != model


def test_m5_what_is_there_is_taken_where_it_is_the_same_and_kept_where_it_is_not() -> None:
    model, store = hierarchy(), MemoryStore()
    model.to_zarr(store)["a"][0, 0] = 5
    assert model.to_zarr(store)["a"][0, 0] == 5
    with pytest.raises(ContainsGroupError):
        GroupSpec(attributes={"other": 1}).to_zarr(store)
    with pytest.raises(ContainsArrayError):
        array_v3(shape=(1, 1)).to_zarr(store, "a")
    assert array_v3().to_zarr(store, "a")[0, 0] == 5
    assert model.to_zarr(store, overwrite=True)["a"][0, 0] == 0


def test_m5_depth() -> None:
    group = hierarchy().to_zarr(MemoryStore())
    assert GroupSpec.from_zarr(group, depth=0).members is None
    shallow = GroupSpec.from_zarr(group, depth=1).members
    assert shallow is not None
    assert shallow["g"].members is None
    assert GroupSpec.from_zarr(group, depth=2) == hierarchy()


def test_m5_true_is_not_one() -> None:
    assert array_v2(dtype="bool", fill_value=0) == array_v2(dtype="bool", fill_value=False)
    assert GroupSpec(attributes={"a": True}) != GroupSpec(attributes={"a": 1})
    assert GroupSpec(attributes={"a": 1.0}) == GroupSpec(attributes={"a": 1})


# ----------------------------------------------------------------------------------------------- M-6


def test_m6_schemas_are_schemas_and_models_fit_them() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    old = v2.GroupSpec(
        attributes={}, members={"a": array_v2(compressor={"id": "zlib", "level": 1}), "g": v2.GroupSpec(attributes={})}
    )
    for model in (hierarchy(), old, array_v3(), array_v2()):
        schema = type(model).json_schema()
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(model.to_json(), schema)


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [-1]},
        {"codecs": []},
        {"node_type": "group"},
        {"zarr_format": 2},
        {"unknown": 1},
        {"dimension_names": [1, 2]},
        {"chunk_grid": {"name": "regular", "options": {}}},
        {"storage_transformers": None},
    ],
)
def test_m6_what_the_schema_refuses_the_model_refuses(change: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = {**array_v3().to_json(), **change}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, ArraySpec.json_schema())
    with pytest.raises(MetadataValidationError):
        ArraySpec.from_json(document)


@pytest.mark.parametrize("name", ["shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs"])
def test_m6_required_members(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = array_v3().to_json()
    del document[name]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, ArraySpec.json_schema())
    with pytest.raises(MetadataValidationError, match=name):
        ArraySpec.from_json(document)


def test_m6_no_further_members() -> None:
    assert ArraySpec.json_schema()["$defs"]["NamedConfig"]["additionalProperties"] is False
    assert v2.ArraySpec.json_schema()["$defs"]["ArraySpec"]["additionalProperties"] is False
    with pytest.raises(MetadataValidationError, match="extra"):
        v2.ArraySpec.from_json({**array_v2().to_json(), "extra": 1})
    ignorable = {**array_v3().to_json(), "extra": {"must_understand": False}}
    assert ArraySpec.from_json(ignorable).to_json() == ignorable


def test_m6_typed_models_have_typed_schemas() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = XArraySpec.json_schema()  # type: ignore[attr-defined]
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(array_v2(attributes={"_ARRAY_DIMENSIONS": ["a", "b"]}).to_json(), schema)
    for wrong in ({"foo": 10}, {"_ARRAY_DIMENSIONS": "a"}, {"_ARRAY_DIMENSIONS": ["a"], "more": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(array_v2(attributes=wrong).to_json(), schema)
    members = GroupSpec[Any, Weather].json_schema()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(GroupSpec(attributes={}).to_json(), members)


# ----------------------------------------------------------------------------------------------- M-7


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"order": "F"},
        {"dtype": ">f8", "fill_value": "NaN"},
        {"compressor": {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 1, "blocksize": 0}},
        {"compressor": {"id": "zlib", "level": 1}, "dimension_separator": "/"},
        {"compressor": {"id": "gzip", "level": 1}, "filters": [{"id": "delta", "dtype": "<i2", "astype": "<i2"}]},
        {"attributes": {"_ARRAY_DIMENSIONS": ["y", "x"]}},
    ],
)
def test_m7_format_2_to_format_3_and_back(changes: dict[str, Any]) -> None:
    old = v2.GroupSpec(attributes={"a": 1}, members={"x": array_v2(**changes), "g": v2.GroupSpec(attributes={})})
    new = models.to_v3(old)
    assert isinstance(new, GroupSpec)
    assert new.validate().members is not None
    assert models.to_v2(new) == old
    if "attributes" in changes:
        assert new.members["x"].dimension_names == ("y", "x")


def test_m7_the_chunks_of_the_old_array_are_read_by_the_new_model() -> None:
    store = MemoryStore()
    old = array_v2(compressor={"id": "zlib", "level": 1}, order="F").to_zarr(store, "a")
    data = np.arange(24, dtype="<i2").reshape(6, 4)
    old[...] = data
    models.to_v3(v2.ArraySpec.from_zarr(old)).to_zarr(store, "b")
    for key in [key for key in store._store_dict if key.startswith("a/") and "/." not in key]:
        store._store_dict["b/" + key[2:]] = store._store_dict[key]
    np.testing.assert_array_equal(zarr.open_array(store, path="b")[...], data)


def test_m7_what_format_2_cannot_say_is_named() -> None:
    shards = ShardingCodec(chunk_shape=(3, 2)).to_dict()
    with pytest.raises(MetadataValidationError, match="shards") as caught:
        models.to_v2(GroupSpec(attributes={}, members={"a": array_v3(codecs=(shards,))}))
    assert "in the model of /a" in caught.value.__notes__


# ----------------------------------------------------------------------------------------------- M-8


def test_m8_consolidated_metadata_comes_from_the_model() -> None:
    store = MemoryStore()
    group = hierarchy().to_zarr(store)
    zarr.consolidate_metadata(group.store)
    document = json.loads(store._store_dict["zarr.json"].to_bytes())
    assert hierarchy().to_consolidated() == document
    assert GroupSpec.from_consolidated(document) == hierarchy()


def test_m8_also_in_format_2() -> None:
    store = MemoryStore()
    model = v2.GroupSpec(attributes={"a": 1}, members={"x": array_v2(), "g": v2.GroupSpec(attributes={"b": 2})})
    model.to_zarr(store)
    zarr.consolidate_metadata(store, zarr_format=2)
    document = json.loads(store._store_dict[".zmetadata"].to_bytes())
    assert model.to_consolidated() == document
    assert v2.GroupSpec.from_consolidated(document) == model


def test_m8_a_hierarchy_is_made_with_its_copy() -> None:
    store = MemoryStore()
    hierarchy().to_zarr(store, consolidated=True)
    found = zarr.open_consolidated(store)
    assert found.metadata.consolidated_metadata is not None
    assert GroupSpec.from_zarr(found) == hierarchy()


# ----------------------------------------------------------------------------------------------- M-9


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"dimension_names": ("a",)}, "1 entries for an array of 2 dimensions"),
        ({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": (1,)}}}, "chunk_shape"),
        ({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": (0, 1)}}}, "at least 1"),
        ({"shape": (2.5, 1)}, "integers"),
        ({"attributes": [1]}, "object"),
        ({"codecs": "bytes"}, "codecs"),
        ({"zarr_format": 2}, "zarr_format"),
    ],
)
def test_m9_values_that_contradict_each_other(change: dict[str, Any], match: str) -> None:
    with pytest.raises(MetadataValidationError, match=match):
        array_v3(**change)


def test_m9_a_change_is_checked_again() -> None:
    with pytest.raises(MetadataValidationError, match="dimension_names"):
        array_v3(dimension_names=("y", "x")).model_copy(update={"shape": (1,), "chunk_grid": "rectangular"})
    with pytest.raises(MetadataValidationError, match="chunks"):
        array_v2(shape=(1,))


def test_m9_a_convention_of_ones_own() -> None:
    """The example of the text: the attribute must name each dimension of the shape."""

    @dataclass(frozen=True, kw_only=True, eq=False)
    class Named(v2.ArraySpec[XAttrs]):
        def __post_init__(self) -> None:
            super().__post_init__()
            if len(self.attributes._ARRAY_DIMENSIONS) != len(self.shape):
                raise MetadataValidationError("_ARRAY_DIMENSIONS must name each dimension")

    names = XAttrs(_ARRAY_DIMENSIONS=["a"])
    assert Named(shape=(3,), chunks=(3,), dtype="uint8", attributes=names).attributes is names
    with pytest.raises(MetadataValidationError, match="each dimension"):
        Named(shape=(3, 3), chunks=(3, 3), dtype="uint8", attributes=names)
    stored = array_v2(attributes={"_ARRAY_DIMENSIONS": ["a"]}).to_zarr(MemoryStore())
    with pytest.raises(MetadataValidationError, match="each dimension"):
        Named.from_zarr(stored)


def test_m9_foreign_codecs_can_be_described_but_not_made() -> None:
    model = array_v3(codecs=({"name": "nobody.knows"},))
    assert ArraySpec.from_json(model.to_json()) == model
    with pytest.raises(UnknownCodecError, match=r"nobody\.knows"):
        model.to_zarr(MemoryStore())


# ----------------------------------------------------------------------------------------------- types


@dataclass
class XAttrs:
    _ARRAY_DIMENSIONS: List[str]  # noqa: UP006  (as the document has it)


XArraySpec = v2.ArraySpec[XAttrs]
XGroupSpec = v2.GroupSpec[Any, Union[XArraySpec, v2.GroupSpec[Any, Any]]]  # noqa: UP007


class Weather(TypedDict):
    temperature: ArraySpec[Any]


def test_the_valid_example_at_run_time() -> None:
    valid = XGroupSpec(
        attributes={},
        members={
            "array_0": XArraySpec(
                shape=[10, 10],
                attributes=XAttrs(_ARRAY_DIMENSIONS=["a", "b"]),
                dtype="uint8",
                chunks=[10, 10],
                compressor=None,
                dimension_separator=".",
            )
        },
    )
    found = XGroupSpec.from_zarr(valid.to_zarr(MemoryStore()))
    assert found == valid
    assert found.members is not None
    assert found.members["array_0"].attributes == XAttrs(_ARRAY_DIMENSIONS=["a", "b"])
    assert pickle.loads(pickle.dumps(valid)) == valid


def test_the_invalid_example_at_run_time() -> None:
    with pytest.raises(MetadataValidationError, match="foo"):
        XArraySpec(shape=[10, 10], attributes={"foo": 10}, dtype="uint8", chunks=[10, 10])  # type: ignore[arg-type]
    plain = v2.GroupSpec(attributes={}, members={"a": array_v2()}).to_zarr(MemoryStore())
    with pytest.raises(MetadataValidationError, match="fits none"):
        XGroupSpec.from_zarr(plain)


def test_members_by_name() -> None:
    model = GroupSpec[Any, Weather](attributes={}, members={"temperature": array_v3()})  # type: ignore[dict-item]
    assert GroupSpec[Any, Weather].from_json(model.to_json()) == model
    for members in ({}, {"temperature": GroupSpec(attributes={})}):
        with pytest.raises(MetadataValidationError, match=r"temperature|ArraySpec"):
            GroupSpec[Any, Weather](attributes={}, members=members)


@pytest.mark.slow
def test_the_examples_are_checked_statically() -> None:
    pytest.importorskip("mypy")
    folder = HERE / "object_models"
    names = [str((folder / f"{name}.py").relative_to(ROOT)) for name in ("valid", "version_three", "invalid")]
    environment = {**os.environ, "MYPYPATH": os.pathsep.join([str(ROOT), str(folder)])}
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *names]
    found = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280, check=False)
    assert found.stdout.splitlines() == [
        f'{names[-1]}:10: error: Argument "attributes" to "ArraySpec" has incompatible type "dict[str, int]"; '
        'expected "XAttrs"  [arg-type]'
    ], found.stdout + found.stderr


# ----------------------------------------------------------------------------------------------- programs ported


def test_flat_form() -> None:
    tree = {
        "": v2.GroupSpec(members=None, attributes={"root": True}),
        "/a": v2.GroupSpec(members=None, attributes={"root": False}),
        "/a/b": v2.ArraySpec(shape=(10, 10), dtype="uint8", chunks=(1, 1), attributes={}),
    }
    model = v2.GroupSpec.from_flat(tree)
    assert model.model_dump()["members"]["a"]["members"]["b"]["dtype"] == "|u1"
    assert model.to_flat() == tree
    assert models.from_flat(tree) == model
    assert models.to_flat(model, "/x").keys() == {"/x", "/x/a", "/x/a/b"}
    assert models.from_flat({"": array_v3()}) == array_v3()
    assert v2.from_flat(v2.to_flat(model)) == model
    stored = v2.to_zarr(model, MemoryStore(), "x")
    assert v2.from_zarr(stored) == model
    assert v2.from_zarr(stored["a/b"]) == tree["/a/b"]


def test_flat_form_makes_the_groups_that_it_needs() -> None:
    model = GroupSpec.from_flat({"/a/b/c": array_v3()})
    assert model.to_flat().keys() == {"", "/a", "/a/b", "/a/b/c"}
    with pytest.raises(MetadataValidationError, match="must not have members"):
        GroupSpec.from_flat({"": GroupSpec(attributes={}), "/a": array_v3(), "/a/b": array_v3()})
    with pytest.raises(MetadataValidationError, match="at least one"):
        GroupSpec.from_flat({})


def test_like() -> None:
    small, large = array_v2(), array_v2(shape=(60, 40))
    assert not small.like(large)
    assert small.like(large, exclude={"shape"})
    assert small.like(large, include={"dtype", "chunks"})
    stored = small.to_zarr(MemoryStore())
    assert small.like(stored)
    assert not large.like(stored)
    first = v2.GroupSpec(attributes={"foo": 10}, members={"a": small})
    second = v2.GroupSpec(attributes={"foo": 11}, members={"a": large})
    assert first.like(first.to_zarr(MemoryStore()))
    assert not first.like(second, exclude={"attributes"})
    assert first.like(second, exclude={"attributes": True, "members": {"a": {"shape"}}})


def test_a_dumped_model_is_changed_and_stored() -> None:
    store = MemoryStore()
    group = zarr.create_group(store, path="foo", zarr_format=2, attributes={"group_metadata": 10})
    group.create_array("bar", shape=(10,), dtype="f8", compressors=None, attributes={"array_metadata": True})
    document = v2.GroupSpec.from_zarr(group).model_dump()
    document["attributes"] = {"a": 100, "b": "metadata"}
    document["members"]["bar"]["shape"] = (100,)
    other = v2.GroupSpec(**document).to_zarr(store, path="foo2")
    assert dict(other.attrs) == {"a": 100, "b": "metadata"}
    assert other["bar"].shape == (100,)
    assert dict(other["bar"].attrs) == {"array_metadata": True}


def test_from_array_takes_what_it_is_given() -> None:
    array = zarr.create_array({}, shape=(6, 4), chunks=(3, 2), dtype="int16", attributes={"a": 1})
    assert ArraySpec.from_array(array) == ArraySpec.from_zarr(array)
    assert ArraySpec.from_array(array, attributes={}).attributes == {}
    assert v2.ArraySpec.from_array(array).chunks == (3, 2)
    spec = v2.ArraySpec.from_array(np.zeros((4, 4), "u1"), chunks=(2, 2), compressor={"id": "zlib", "level": 1})
    assert spec.to_zarr(MemoryStore()).chunks == (2, 2)
    text = ArraySpec.from_array(np.array(["a"], dtype=np.dtypes.StringDType()))
    assert text.codecs == ({"name": "vlen-utf8"},)
