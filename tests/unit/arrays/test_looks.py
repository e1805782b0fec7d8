"""What notebooks show of arrays: honest about what is stored, escaped, whole in itself, and cheap."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr
from zarr.arrays.show.html import MAX_CELLS, chunk_counts, chunk_grid_svg, escaped
from zarr.storage import LocalStore, MemoryStore

EVIL = 'a"\x1b[31m\u202e</svg><script>alert(1)</script>'


def well_formed(page: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<x>{page}</x>")


def titles(page: str) -> list[str]:
    return re.findall(r"<title>(.*?)</title>", page)


def test_stored_chunks_are_drawn() -> None:
    array = zarr.create_array({}, shape=(4, 6), chunks=(2, 2), dtype="int8", attributes={"unit": "m"})
    array[0, 3] = 1
    page = array._repr_html_()
    well_formed(page)
    assert titles(page) == ["0 of 1 chunks stored", "1 of 1 chunks stored", *["0 of 1 chunks stored"] * 4]
    for text in ("Shape", "(4, 6)", "Chunk shape", "(2, 2)", "unit", "Int8"):
        assert text in page
    complete = array.info_complete()._repr_html_()
    well_formed(complete)
    assert titles(complete) == titles(page)
    assert "Chunks Initialized" in complete


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_cells_count_every_chunk_once(draw: st.DataObject) -> None:
    shape = tuple(draw.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)))
    mask = np.array(draw.draw(st.lists(st.booleans(), min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))))
    stored = np.argwhere(mask.reshape(shape))
    rows = 1 if len(shape) == 1 else shape[-2]
    cells = (draw.draw(st.integers(1, rows)), draw.draw(st.integers(1, shape[-1])))
    found, every = chunk_counts(shape, stored, cells)
    assert found.sum() == mask.sum()
    assert every.sum() == mask.size
    assert (found <= every).all()
    if cells == (rows, shape[-1]):
        counted = mask.reshape(-1, rows, shape[-1]).sum(axis=0)
        np.testing.assert_array_equal(found, counted)


def test_large_grids_are_binned() -> None:
    svg = chunk_grid_svg((10_000, 500), (1000, 50), None, np.array([[0, 0]]))
    well_formed(svg)
    assert len(titles(svg)) == MAX_CELLS * MAX_CELLS
    assert len(svg) < 400_000


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (5,), (2, 3, 4)])
def test_every_shape_has_a_page(shape: tuple[int, ...]) -> None:
    array = zarr.create_array({}, shape=shape, dtype="int8")
    for page in (array._repr_html_(), array.async_array._repr_html_(), array.info._repr_html_()):
        well_formed(page)
    if len(shape) == 3:
        assert "over 2" in array._repr_html_()


def test_shards_are_what_is_drawn() -> None:
    array = zarr.create_array({}, shape=(8,), chunks=(2,), shards=(4,), dtype="int8")
    array[0] = 1
    assert titles(array._repr_html_()) == ["1 of 1 chunks stored", "0 of 1 chunks stored"]


def test_names_and_attributes_are_escaped_and_nothing_is_loaded() -> None:
    array = zarr.create_array(
        MemoryStore(), name=EVIL.replace("/", "|"), shape=(2, 2), dtype=[(EVIL, "i4")], fill_value=(0,),
        dimension_names=(EVIL, "x"), attributes={EVIL: [EVIL], "long": "y" * 10_000},
    )  # fmt: skip
    group = zarr.open_group(array.store, zarr_format=3)
    group.attrs[EVIL] = EVIL
    for page in (array._repr_html_(), array.info_complete()._repr_html_(), group._repr_html_()):
        well_formed(page)
        assert "<script" not in page
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert len(page) < 20_000
        assert not re.search(r"(src|href|url\()", page.replace("http://www.w3.org/2000/svg", ""))
    assert escaped("x" * 50, 10) == "x" * 10 + "…"


def test_a_store_that_is_not_at_hand_is_not_asked() -> None:
    class Remote(MemoryStore):
        asked: list[str] = []

        async def get(self, key: str, *args: Any, **kwargs: Any) -> Any:
            self.asked.append(key)
            return await super().get(key, *args, **kwargs)

        async def list_prefix(self, prefix: str) -> Any:  # type: ignore[override]
            self.asked.append(prefix)
            async for key in super().list_prefix(prefix):
                yield key

        async def list_dir(self, prefix: str) -> Any:  # type: ignore[override]
            self.asked.append(prefix)
            async for key in super().list_dir(prefix):
                yield key

    store = Remote()
    group = zarr.create_group(store)
    array = group.create_array("a", shape=(4,), chunks=(2,), dtype="int8")
    array[...] = 1
    Remote.asked.clear()
    page, whole = array._repr_html_(), group._repr_html_()
    assert Remote.asked == []
    assert titles(page) == ["1 chunks", "1 chunks"]
    assert "info_complete()" in page
    assert "tree()" in whole
    assert titles(array.info_complete()._repr_html_()) == ["1 of 1 chunks stored"] * 2
    assert Remote.asked


def test_an_array_that_is_gone_has_a_page(tmp_path: Any) -> None:
    import shutil

    array = zarr.create_array(LocalStore(tmp_path / "a"), shape=(4,), dtype="int8")
    shutil.rmtree(tmp_path / "a")
    well_formed(array._repr_html_())


def test_pages_of_groups() -> None:
    root = zarr.create_group(MemoryStore(), attributes={"title": "t"})
    root.create_array("g/x", shape=(3,), dtype="int8")
    page = root._repr_html_()
    well_formed(page)
    assert "<b>x</b> (3,) int8" in page
    assert "title" in page
    well_formed(root.info_complete()._repr_html_())
    assert "No. members" in root.info_complete()._repr_html_()
    assert "tree()" in root._async_group._repr_html_()


def test_debug_info_names_versions(capsys: pytest.CaptureFixture[str]) -> None:
    zarr.print_debug_info()
    printed = capsys.readouterr().out
    for text in ("platform: ", "python: ", f"zarr: {zarr.__version__}", "numpy: ", "zarr_core: "):
        assert text in printed
