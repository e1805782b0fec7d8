"""Trees and summaries."""

from __future__ import annotations

import pytest

import zarr
from zarr.groups.summary import draw_tree


@pytest.fixture
def filled(root: zarr.Group) -> zarr.Group:
    root.create_array("arr", shape=(3, 4), dtype="int32")
    root.create_array("sub/deep/s", shape=(1,), dtype="U3")
    root.create_array("sub/x", shape=(), dtype="float64")
    return root


def test_tree(filled: zarr.Group) -> None:
    assert str(filled.tree()) == (
        "/\n"
        "├── arr (3, 4) int32\n"
        "└── sub\n"
        "    ├── deep\n"
        "    │   └── s (1,) <U3\n"
        "    └── x () float64\n"
    )
    assert str(filled["sub"].tree()).startswith("/sub\n├── deep\n")
    assert str(filled.tree(level=0)) == "/\n├── arr (3, 4) int32\n└── sub\n"
    assert str(filled.tree(plain=True)) == str(filled.tree(expand=True)) == str(filled.tree())


def test_a_large_tree_is_cut_and_says_so(filled: zarr.Group) -> None:
    text = str(filled.tree(max_nodes=2))
    assert text.startswith("Truncated at max_nodes=2")
    assert text.endswith("/\n├── arr (3, 4) int32\n└── sub\n")


def test_tree_as_html() -> None:
    drawn = draw_tree("/", [("a<b", "")])
    assert "<b>a&lt;b</b>" in drawn._repr_html_()
    assert drawn._repr_html_().endswith("</pre>\n")
    assert drawn._repr_mimebundle_()["text/plain"] == "/\n└── a<b\n"


def test_old_tree_function_warns(filled: zarr.Group) -> None:
    with pytest.warns(zarr.errors.ZarrDeprecationWarning, match=r"Group\.tree"):
        assert str(zarr.tree(filled)) == str(filled.tree())


def test_info(filled: zarr.Group) -> None:
    assert "No. members" not in repr(filled.info)
    text = repr(filled.info_complete())
    for line in ("Type        : Group", "No. members : 5", "No. arrays  : 3", "No. groups  : 2"):
        assert line in text
