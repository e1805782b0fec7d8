"""What others rely on in their own tests: strategies, pickles of stores, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis.strategies import SearchStrategy

import zarr
import zarr.testing.strategies as zrst
from zarr.errors import ZarrUserWarning
from zarr.metadata import ArrayV2Metadata, ConsolidatedMetadata
from zarr.storage import MemoryStore


@pytest.mark.parametrize(
    "name",
    ["array_shapes", "attrs", "compressors", "node_names", "sharding_inner_codecs", "short_node_names", "stores"],
)
def test_what_is_a_strategy_itself(name: str) -> None:
    assert isinstance(getattr(zrst, name), SearchStrategy)


@pytest.mark.filterwarnings("ignore:fs .* was not created with")
def test_a_store_of_a_file_system_made_for_other_loops_equals_its_pickle() -> None:
    pytest.importorskip("fsspec", minversion="2024.12.0")
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
    from fsspec.implementations.local import LocalFileSystem

    from zarr.storage import FsspecStore

    for asynchronous in (False, True):
        fs = AsyncFileSystemWrapper(LocalFileSystem(auto_mkdir=True), asynchronous=asynchronous)
        store = FsspecStore(fs, path="/data")
        assert pickle.loads(pickle.dumps(store)) == store
    others = AsyncFileSystemWrapper(LocalFileSystem(auto_mkdir=False), asynchronous=True)
    assert FsspecStore(others, path="/data") != store


@pytest.mark.parametrize("filters", [(), []])
def test_no_filters_are_null(filters: object) -> None:
    document = {"zarr_format": 2, "shape": (1,), "chunks": (1,), "dtype": "|u1", "order": "C", "fill_value": 0}
    with pytest.warns(ZarrUserWarning, match="Found an empty list of filters in the array metadata document"):
        metadata = ArrayV2Metadata.from_dict({**document, "compressor": None, "filters": filters})
    assert metadata.filters is None


@pytest.mark.parametrize("member", [[1, 2, 3], "text", None, 3])
def test_a_copy_of_documents_holds_documents(member: object) -> None:
    copy = {"kind": "inline", "must_understand": False, "metadata": {"foo": member}}
    with pytest.raises(TypeError, match=rf"key='foo', type='{type(member).__name__}'"):
        ConsolidatedMetadata.from_dict(copy)  # type: ignore[arg-type]


@pytest.mark.parametrize("attributes", [{1: 2}, {None: 1}, [1], "text"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_names_of_attributes_of_a_new_group_are_strings(attributes: Any, zarr_format: Any) -> None:
    store = MemoryStore()
    root = zarr.create_group(store, zarr_format=zarr_format)
    with pytest.raises(TypeError, match="Expected dict with string keys"):
        root.create_group("a", attributes=attributes)
    assert "a" not in root


@pytest.mark.parametrize("name", [1, None, True])
def test_names_of_attributes_of_a_group_of_format_3_are_strings(name: Any) -> None:
    root = zarr.create_group(MemoryStore(), attributes={"1": "kept"})
    changes = (
        lambda: root.update_attributes({name: 1}),
        lambda: root.attrs.put({name: 1}),
        lambda: root.attrs.__setitem__(name, 1),
    )
    for change in changes:
        with pytest.raises(TypeError, match="Expected dict with string keys"):
            change()
    assert dict(root.attrs) == {"1": "kept"}
