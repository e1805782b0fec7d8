"""A document of which little changes is written as any other is: byte for byte, and with the same errors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr
from zarr.buffer.core import default_buffer_prototype
from zarr.metadata.documents import dump_document, dump_framed

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
documents = st.dictionaries(st.sampled_from(list("abcdef")), values, min_size=1)


@settings(deadline=None)
@given(documents, st.lists(values, min_size=3, max_size=3), st.sampled_from([0, 1, 2, 5, None, "\t"]))
def test_it_is_written_as_a_whole_document_is(document: dict[str, Any], news: list[Any], indent: Any) -> None:
    frames: dict[int, Any] = {}
    name = sorted(document)[-1]
    for new in news:
        written = dump_framed(frames, lambda: dict(document), {name: new}, indent)
        assert written == dump_document({**document, name: new}, indent=indent)


def test_what_cannot_be_written_is_told_as_ever() -> None:
    frames: dict[int, Any] = {}
    for indent in (2, 2, None, None):
        with pytest.raises(TypeError, match="attributes"):
            dump_framed(frames, lambda: {"shape": (1,), "attributes": {}}, {"attributes": {"x": object()}}, indent)
    loop: list[Any] = []
    loop.append(loop)
    for indent, message in ((2, "contains itself"), (None, "Circular reference")):
        with pytest.raises(ValueError, match=message):
            dump_framed(frames, lambda: {"shape": (1,), "attributes": {}}, {"attributes": loop}, indent)


@pytest.mark.parametrize("options", [{}, {"shards": (8,)}, {"dimension_names": ["t"]}, {"attributes": {"shape": []}}])
def test_documents_after_changes(options: dict[str, Any]) -> None:
    store: dict[str, Any] = {}
    array = zarr.create_array(store, name="a", shape=(8,), chunks=(4,), dtype="f4", **options)
    twin = zarr.open_array(store, path="a")

    def check() -> None:
        expected = dump_document(array.metadata.to_dict())
        assert store["a/zarr.json"].to_bytes() == expected
        assert array.metadata.to_buffer_dict(default_buffer_prototype())["zarr.json"].to_bytes() == expected
        assert zarr.open_array(store, path="a").metadata == array.metadata

    check()
    for number in range(2):
        array.append([1, 2, 3])
        check()
        array.attrs.update(number=number, nested={"attributes": {}})
        check()
        twin.resize((5,))
        array.attrs["seen"] = True  # takes up what the twin has made of the document
        check()
    with zarr.config.set({"json_indent": 1}):
        array.resize((40,))
        check()
    with zarr.config.set({"json_indent": None}):
        array.resize((4,))
        check()
    array.attrs.clear()
    check()
