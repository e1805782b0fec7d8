"""Moving a store from format 2 to format 3."""

from __future__ import annotations

import logging
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from zarr.errors import GroupNotFoundError
from zarr.metadata.migrate_v3 import _convert_array_metadata, migrate_to_v3, migrate_v2_to_v3, remove_metadata
from zarr.storage import MemoryStore, StorePath


def keys(store: MemoryStore) -> set[str]:
    return set(store._store_dict)


def documents(store: MemoryStore, *names: str) -> set[str]:
    return {key for key in keys(store) if key.rpartition("/")[2] in names}


@pytest.fixture
def old() -> MemoryStore:
    store = MemoryStore()
    root = zarr.create_group(store, zarr_format=2, attributes={"r": 1})
    group = root.create_group("foo", attributes={"q": 1})
    group.create_array("z", shape=(4, 5), chunks=(2, 3), dtype=">i4", order="F")[:] = np.arange(20).reshape(4, 5)
    strings: Any = root.create_array("text", shape=(3,), dtype=str)
    strings[:] = np.array(["a", "bb", "ü"], dtype=object)
    root.create_array(
        "nested", shape=(4, 4), chunks=(2, 2), dtype="f8", chunk_key_encoding={"name": "v2", "separator": "/"}
    )[:] = 1
    return store


def test_the_same_data_in_format_3(old: MemoryStore) -> None:
    before = keys(old)
    migrate_v2_to_v3(input_store=old)
    assert keys(old) - before == {"zarr.json", "foo/zarr.json", "foo/z/zarr.json", "text/zarr.json", "nested/zarr.json"}
    root = zarr.open_group(old, zarr_format=3, mode="r")
    assert dict(root.attrs) == {"r": 1}
    assert dict(root["foo"].attrs) == {"q": 1}
    np.testing.assert_array_equal(root["foo/z"][:], np.arange(20).reshape(4, 5))
    assert list(root["text"][:]) == ["a", "bb", "ü"]
    assert (root["nested"][:] == 1).all()


def test_another_store_gets_documents_only(old: MemoryStore) -> None:
    output = MemoryStore()
    before = keys(old)
    migrate_v2_to_v3(input_store=old, output_store=output)
    assert keys(output) == documents(output, "zarr.json")
    assert len(keys(output)) == 5
    assert keys(old) == before


def test_dry_run(old: MemoryStore, caplog: pytest.LogCaptureFixture) -> None:
    before = keys(old)
    with caplog.at_level(logging.INFO, logger="zarr.metadata.migrate_v3"):
        migrate_v2_to_v3(input_store=old, dry_run=True)
    assert keys(old) == before
    assert sum("zarr.json" in record.getMessage() for record in caplog.records) == 5


def test_one_node(old: MemoryStore) -> None:
    output = MemoryStore()
    group = zarr.open_group(old, mode="r", zarr_format=2)
    migrate_to_v3(group["foo"], StorePath(output, "x/y"))
    assert keys(output) == {"x/y/zarr.json", "x/y/z/zarr.json"}
    migrate_to_v3(group["foo/z"], StorePath(output, "k"))
    assert "k/zarr.json" in keys(output)


def test_a_single_array() -> None:
    store = MemoryStore()
    zarr.create_array(store, shape=(3,), dtype="i4", zarr_format=2, attributes={"z": 1})
    migrate_v2_to_v3(input_store=store)
    assert dict(zarr.open_array(store, zarr_format=3).attrs) == {"z": 1}


def test_refused(old: MemoryStore) -> None:
    with pytest.raises(GroupNotFoundError):
        migrate_v2_to_v3(input_store=MemoryStore())
    new = zarr.create_array(MemoryStore(), shape=(3,), dtype="i4")
    with pytest.raises(TypeError, match="v2"):
        migrate_to_v3(new, StorePath(MemoryStore()))
    migrate_v2_to_v3(input_store=old)
    with pytest.raises(TypeError, match="v2"):
        migrate_v2_to_v3(input_store=old)


def test_nothing_is_written_when_a_node_cannot_be_moved(old: MemoryStore) -> None:
    zarr.open_group(old, zarr_format=2).create_array(
        "bad", shape=(3,), dtype="i4", filters=[numcodecs.Zstd(), numcodecs.Delta("<i4")]
    )
    before = keys(old)
    with pytest.raises(TypeError, match="after codecs of bytes"):
        migrate_v2_to_v3(input_store=old)
    assert keys(old) == before


async def test_removing_the_old_documents(old: MemoryStore) -> None:
    with pytest.raises(ValueError, match=r"Cannot remove v2 metadata at .*/.zgroup - no v3 metadata exists"):
        await remove_metadata(old, 2)
    migrate_v2_to_v3(input_store=old)
    before = keys(old)
    await remove_metadata(old, 2, dry_run=True)
    assert keys(old) == before
    await remove_metadata(old, 2)
    assert not documents(old, ".zarray", ".zgroup", ".zattrs")
    assert len(documents(old, "zarr.json")) == 5
    assert zarr.open_group(old, mode="r")["foo/z"].shape == (4, 5)
    with pytest.raises(ValueError, match="Cannot remove v3 metadata"):
        await remove_metadata(old, 3)
    await remove_metadata(old, 3, force=True)
    assert not documents(old, "zarr.json")


def test_the_private_name_that_others_use() -> None:
    old = zarr.create_array({}, shape=(3,), dtype="i4", zarr_format=2).metadata
    assert _convert_array_metadata(old).zarr_format == 3
