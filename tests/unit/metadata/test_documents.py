"""JSON in and out: bounded on the way in, equal to ``json.dumps`` on the way out."""

from __future__ import annotations

import enum
import json
import time
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zarr
from zarr.errors import MetadataValidationError
from zarr.metadata.documents import dump_document, load_document
from zarr.settings import config

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner), max_leaves=20
)
keys = st.text() | st.integers() | st.booleans() | st.none() | st.floats()


@given(st.dictionaries(keys, values), st.sampled_from([None, 0, 1, 2, 4]))
def test_as_the_standard_library_writes(document: dict[Any, Any], indent: int | None) -> None:
    assert dump_document(document, indent=indent).decode() == json.dumps(document, indent=indent)


def test_kinds_of_the_standard_library() -> None:
    class Text(str):
        __slots__ = ()

    class Level(enum.IntEnum):
        HIGH = 3

    document = {"a": Text("x"), "b": Level.HIGH, "c": True, Text("d"): [(), {}, ((1,),)]}
    assert dump_document(document, indent=2).decode() == json.dumps(document, indent=2)


def test_indent_is_a_setting() -> None:
    assert dump_document({"a": [1]}) == b'{\n  "a": [\n    1\n  ]\n}'
    with config.set({"json_indent": None}):
        assert dump_document({"a": [1]}) == b'{"a": [1]}'


@given(st.dictionaries(st.text(), values))
def test_round_trip(document: dict[str, Any]) -> None:
    loaded = load_document(dump_document(document), "zarr.json")
    assert json.dumps(loaded, sort_keys=True) == json.dumps(document, sort_keys=True)


@pytest.mark.parametrize("bad", [np.arange(3), b"x", {1, 2}, np.complex64(1), 1j, object()])
def test_what_has_no_json_form(bad: Any) -> None:
    with pytest.raises(TypeError, match=rf"Object of type {type(bad).__name__} is not JSON serializable \(at "):
        dump_document({"attributes": {"x": [1, {"y": bad}]}})
    with pytest.raises(TypeError, match=r"attributes\['x'\]\[1\]\['y'\]"):
        dump_document({"attributes": {"x": [1, {"y": bad}]}})
    with pytest.raises(TypeError, match="not JSON serializable"):
        dump_document({"x": bad}, indent=None)


def test_keys_without_a_json_form() -> None:
    with pytest.raises(TypeError, match="keys must be str"):
        dump_document({"a": {(1, 2): 3}})


def test_a_document_that_contains_itself() -> None:
    document: dict[str, Any] = {}
    document["self"] = document
    for indent in (None, 2):
        with pytest.raises(ValueError, match=r"itself|Circular"):
            dump_document(document, indent=indent)


def test_numbers_are_exact() -> None:
    loaded = load_document(b'{"a": 123456789012345678901234567890, "b": 9007199254740993}', "x")
    assert loaded == {"a": 123456789012345678901234567890, "b": 9007199254740993}


def test_numbers_that_are_not_json() -> None:
    loaded = load_document(b'{"a": NaN, "b": Infinity, "c": -Infinity}', "x")
    assert np.isnan(loaded["a"])
    assert (loaded["b"], loaded["c"]) == (np.inf, -np.inf)


def test_a_byte_order_mark_is_passed_over() -> None:
    assert load_document(b"\xef\xbb\xbf{}", "x") == {}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"{", "not valid JSON"),
        (b"{'a': 1}", "line 1 column 2"),
        (b'{"a": 1} x', "Extra data"),
        (b"[]", "an array"),
        (b"null", "null"),
        (b"true", "a boolean"),
        (b"3", "a number"),
        (b'"text"', "a string"),
        (b'{"a": "\xff"}', "not UTF-8: byte 0xff at offset 7"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"a": ' + b'{"a": ' * 100_000 + b"1" + b"}" * 100_001, "nested too deeply"),
        (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"[" * 600 + b"]" * 600 + b"}", "nested too deeply"),
        (b'{"a": [' * 300 + b"]}" * 300, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not valid JSON"),
    ],
)
def test_refused(raw: bytes, message: str) -> None:
    with pytest.raises(MetadataValidationError, match=message) as caught:
        load_document(raw, "a/b/zarr.json")
    assert "a/b/zarr.json" in str(caught.value)


def test_brackets_in_text_are_no_depth() -> None:
    assert load_document(json.dumps({"a": "[{" * 10_000}).encode(), "x") == {"a": "[{" * 10_000}
    wide = {"a": [[i] for i in range(10_000)]}
    assert load_document(json.dumps(wide).encode(), "x") == wide
    shut = {"a": "]" * 1000, "b": [[[]]] * 1000}
    assert load_document(json.dumps(shut).encode(), "x") == shut
    with pytest.raises(MetadataValidationError, match="nested too deeply"):
        load_document(b'{"a": "' + b"]" * 1000 + b'", "b": ' + b"[" * 600 + b"]" * 600 + b"}", "x")


def test_brackets_are_counted_once() -> None:
    begin = time.process_time()
    load_document(b'{"a": "' + b"[" * 10_000_000 + b'"}', "x")
    assert time.process_time() - begin < 5  # to remove pairs again and again takes 15


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_attributes_that_contain_themselves_are_one_clear_error(zarr_format: Literal[2, 3]) -> None:
    loop: list[Any] = []
    loop.append({"a": loop})
    group = zarr.create_group({}, zarr_format=zarr_format)
    with pytest.raises(ValueError, match="contains itself"):
        group.attrs["x"] = loop
    with pytest.raises(ValueError, match="contains itself"):
        group.create_array("a", shape=2, dtype="i1", attributes={"x": loop})
    assert not group.attrs
    assert "a" not in group


@given(st.binary(max_size=200))
def test_any_bytes(raw: bytes) -> None:
    try:
        assert isinstance(load_document(raw, "x"), dict)
    except MetadataValidationError:
        pass
