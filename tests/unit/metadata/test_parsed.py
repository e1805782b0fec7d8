"""Documents that were read before: shared where nobody can tell, forgotten when they might mean something else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import zarr
from zarr.codecs import BytesCodec
from zarr.dtype import Int32
from zarr.metadata import cache
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.registry import register_codec
from zarr.registry.tables import Changes
from zarr.storage import LocalStore, MemoryStore

DOCUMENT: dict[str, Any] = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [4],
    "data_type": "int32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    "chunk_key_encoding": {"name": "default"},
    "fill_value": 0,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "attributes": {"a": [1, {"b": 2}]},
}


@pytest.fixture(autouse=True)
def _nothing_is_known() -> Iterator[None]:
    Changes.note()
    yield
    Changes.note()


def copy(**changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps({**DOCUMENT, **changes}))
    return document


def test_structure_is_shared_and_attributes_are_not() -> None:
    first, second = ArrayV3Metadata.from_dict(copy()), ArrayV3Metadata.from_dict(copy())
    other = ArrayV3Metadata.from_dict(copy(attributes={"a": 2}))
    assert first.codecs is second.codecs is other.codecs
    assert first == second != other
    first.attributes["a"][1]["b"] = 3
    assert second.attributes == {"a": [1, {"b": 2}]}


@pytest.mark.parametrize("kind", ["memory", "local"])
def test_opened_twice_is_changed_once(kind: str, tmp_path: Any) -> None:
    store = MemoryStore() if kind == "memory" else LocalStore(tmp_path)
    zarr.create_array(store, shape=4, dtype="int32", attributes={"deep": {"list": [1.5, None, True, "x"]}})
    first, second = zarr.open_array(store), zarr.open_array(store)
    assert first.metadata.codecs is second.metadata.codecs
    first.metadata.attributes["deep"]["list"].append(2)
    assert second.attrs["deep"] == zarr.open_array(store).attrs["deep"] == {"list": [1.5, None, True, "x"]}
    second.attrs["more"] = 1
    assert "more" in zarr.open_array(store).attrs
    second.resize(8)
    assert zarr.open_array(store).shape == (8,)


@pytest.mark.parametrize(
    "changes", [{"shape": [5]}, {"fill_value": 1}, {"fill_value": "0x00000001"}, {"dimension_names": ["x"]}]
)
def test_another_document_is_another_array(changes: dict[str, Any]) -> None:
    plain = ArrayV3Metadata.from_dict(copy())
    try:
        changed = ArrayV3Metadata.from_dict(copy(**changes))
    except (TypeError, ValueError):
        return
    assert changed != plain


SHARDS = {
    "name": "sharding_indexed",
    "configuration": {
        "chunk_shape": [2],
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
    },
}
GRIDS: list[dict[str, Any]] = [
    {"shape": [4], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}}},
    {"shape": [9], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}}},
    {"shape": [9], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}}},  # no multiple of 2
    {"shape": [0], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0]}}},
    {"shape": [9], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [True]}}},
    {"shape": [-1]},
    {"shape": [True]},
    {"shape": [4, 4], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}}},
    {"shape": [4], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}}},
    {"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 3]]}}},
    {"shape": [9], "attributes": None},
    {"shape": [9], "attributes": [1]},
]


@pytest.mark.parametrize("codecs", [DOCUMENT["codecs"], [SHARDS]], ids=["plain", "shards"])
@pytest.mark.parametrize("names", [None, ["x"]])
def test_shapes_and_grids_of_a_known_kind(codecs: list[Any], names: list[str] | None) -> None:
    def outcome(document: dict[str, Any]) -> Any:
        try:
            return ArrayV3Metadata.from_dict(document).to_dict()
        except (TypeError, ValueError) as error:
            return type(error), str(error)

    documents = [copy(codecs=codecs, dimension_names=names, **grid) for grid in GRIDS]
    expected = []
    for document in documents:
        Changes.note()
        expected.append(outcome(document))
    Changes.note()
    outcome(copy(codecs=codecs, dimension_names=names))
    assert [outcome(document) for document in documents] == expected
    assert [outcome(document) for document in reversed(documents)] == expected[::-1]


def test_equal_in_python_is_not_equal_in_json() -> None:
    keys = [cache.structure_key({"fill_value": value}) for value in (1, True, 1.0, "1", None, 0.0, -0.0)]
    assert len(set(keys)) == len(keys)


def test_a_configured_codec_takes_the_place_at_once() -> None:
    class Mine(BytesCodec):
        pass

    ArrayV3Metadata.from_dict(copy())
    register_codec("bytes", Mine, qualname="example.Mine")
    with zarr.config.set({"codecs.bytes": "example.Mine"}):
        assert type(ArrayV3Metadata.from_dict(copy()).codecs[0]) is Mine
        assert type(ArrayV3Metadata.from_dict(copy()).codecs[0]) is Mine
    assert type(ArrayV3Metadata.from_dict(copy()).codecs[0]) is BytesCodec


def test_a_registered_data_type_takes_the_place_at_once() -> None:
    from zarr.dtype import data_type_registry

    class Mine(Int32):
        pass

    ArrayV3Metadata.from_dict(copy())
    data_type_registry.register("int32", Mine)
    try:
        assert type(ArrayV3Metadata.from_dict(copy()).data_type) is Mine
    finally:
        data_type_registry.register("int32", Int32)
    assert type(ArrayV3Metadata.from_dict(copy()).data_type) is Int32


def test_warnings_are_given_each_time() -> None:
    fields = {"name": "structured", "configuration": {"fields": [["a", "int32"], ["b", "float64"]]}}
    document = copy(data_type=fields, fill_value="AAAAAAAAAAAAAAAA", codecs=[{"name": "bytes"}])
    for _ in range(2):
        with pytest.warns(UserWarning, match="endian"):
            ArrayV3Metadata.from_dict(document)


def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_DOCUMENTS", 3)
    for length in range(10):
        ArrayV3Metadata.from_dict(copy(fill_value=length))
        assert len(cache.known_documents()) <= 3
    ArrayV3Metadata.from_dict(copy(dimension_names=["x" * cache.MAX_DOCUMENT_BYTES]))
    assert all(len(key) <= cache.MAX_DOCUMENT_BYTES for key in cache.known_documents())
