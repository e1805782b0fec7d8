"""Making, changing and removing members."""

from __future__ import annotations

import asyncio
import pickle
import threading
import warnings
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from zarr.codecs import ZstdCodec
from zarr.dtype import Int16
from zarr.errors import ContainsArrayError, ContainsGroupError
from zarr.metadata.group import GroupMetadata
from zarr.storage import MemoryStore


def test_create_group_makes_the_groups_between(root: zarr.Group, zarr_format: int) -> None:
    made = root.create_group("a/b", attributes={"k": 1})
    assert made.attrs.asdict() == {"k": 1}
    assert root["a"].metadata.zarr_format == zarr_format
    with pytest.raises(ContainsGroupError):
        root.create_group("a/b")
    made.create_group("c")
    assert list(root.create_group("a/b", overwrite=True)) == []
    assert root["a/b"].attrs.asdict() == {}


def test_nothing_is_made_below_an_array(root: zarr.Group) -> None:
    root.create_array("x", shape=(4,), dtype="int8")
    with pytest.raises(ValueError, match="array"):
        root.create_group("x/y")
    with pytest.raises(ContainsArrayError):
        root.create_group("x")
    with pytest.raises(ContainsArrayError):
        root.create_array("x", shape=(4,), dtype="int8")


def test_create_array_takes_the_groups_format(root: zarr.Group, zarr_format: int) -> None:
    array = root.create_array("x", data=np.arange(6), chunks=(2,), attributes={"unit": "m"})
    assert array.metadata.zarr_format == zarr_format
    np.testing.assert_array_equal(root["x"][:], np.arange(6))
    assert root["x"].chunks == (2,)
    assert root["x"].attrs["unit"] == "m"
    again = root.create("x", shape=(3,), dtype="int8", overwrite=True)
    assert again.shape == root["x"].shape == (3,)


def test_compressor_is_another_name(root: zarr.Group) -> None:
    old = root.metadata.zarr_format == 2
    for name, compressor in (("v", None), ("w", numcodecs.Zstd(level=3) if old else ZstdCodec(level=3))):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            array = root.create_array(name, shape=(4,), dtype="int8", compressor=compressor)
        assert array.compressors == (() if compressor is None else (compressor,))
        # in format 2 it is the word of the format
        assert [warning.category for warning in told] == ([] if old else [zarr.errors.ZarrUserWarning])
    with pytest.raises(ValueError, match="both"):
        root.create_array("y", shape=(4,), dtype="int8", compressor=None, compressors=None)


def test_require_group(root: zarr.Group) -> None:
    first = root.require_group("a/b")
    first.attrs["k"] = 1
    assert root.require_group("a/b").attrs["k"] == 1
    assert root.require_group("a/b", overwrite=True).attrs.asdict() == {}
    assert [group.path for group in root.require_groups("p", "q")] == ["p", "q"]
    assert root.require_groups() == ()
    root.create_array("x", shape=(4,), dtype="int8")
    with pytest.raises(TypeError, match="Incompatible object"):
        root.require_group("x")


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_require_what_the_copy_lacks(zarr_format: Any) -> None:
    store = MemoryStore()
    zarr.create_group(store, zarr_format=zarr_format)
    other = MemoryStore()  # another writer has stored the documents, and not yet the copy
    made = zarr.create_group(other, zarr_format=zarr_format)
    made.create_group("g", attributes={"k": 1})
    made.create_array("x", shape=(2,), dtype="i4")
    root = zarr.consolidate_metadata(store)
    for key in list(other.list_sync()):
        if "/" in key:
            store.set_sync(key, other.get_sync(key))
    assert root.require_group("g").attrs.asdict() == {"k": 1}
    assert root.require_array("x", shape=(2,), dtype="i4").path == "x"
    with pytest.raises(TypeError, match="array"):
        root.require_group("x")
    with pytest.raises(TypeError, match="group"):
        root.require_array("g", shape=(2,))


def test_require_array(root: zarr.Group) -> None:
    made = root.require_array("x", shape=(4,), dtype="int16")
    assert root.require_array("x", shape=4, dtype="int16") == made
    assert root.require_array("x", shape=(4,), dtype="int32") == made
    for wrong in ({"shape": (5,), "dtype": "int16"}, {"shape": (4,), "dtype": "int8"}):
        with pytest.raises(TypeError, match="Incompatible"):
            root.require_array("x", **wrong)
    with pytest.raises(TypeError, match="dtype"):
        root.require_array("x", shape=(4,), dtype="int32", exact=True)
    root.create_group("g")
    with pytest.raises(TypeError, match="Incompatible object"):
        root.require_array("g", shape=(4,), dtype="int8")


@pytest.mark.parametrize("value", [np.arange(5), [1, 2, 3], 7, np.float32(1.5)])
def test_setitem_stores_and_replaces(root: zarr.Group, value: Any) -> None:
    root["x"] = np.zeros(3)
    root["x"] = value
    np.testing.assert_array_equal(root["x"][...], value)
    assert root["x"].dtype == np.asarray(value).dtype


def test_setitem_copies_zarr_arrays(root: zarr.Group) -> None:
    other = zarr.create_array({}, data=np.arange(10), chunks=(3,))
    root["x"] = other
    np.testing.assert_array_equal(root["x"][:], np.arange(10))
    assert root["x"].chunks == (3,)


def test_a_group_does_not_replace_or_remove_itself(root: zarr.Group) -> None:
    root.create_group("a")
    with pytest.raises(ValueError, match="itself"):
        root[""] = np.zeros(3)
    with pytest.raises(ValueError, match="itself"):
        del root["/"]
    assert list(root) == ["a"]


def test_delete(root: zarr.Group) -> None:
    root.create_array("a/x", shape=(4,), dtype="int8")
    root.create_group("ab")
    del root["a"]
    assert list(root) == ["ab"]
    del root["not there"]


def test_read_only_groups_refuse(root: zarr.Group) -> None:
    root.create_group("a")
    reader = zarr.open_group(root.store.with_read_only(read_only=True), mode="r")
    assert reader.read_only
    assert reader["a"].read_only
    for change in (
        lambda: reader.create_group("b"),
        lambda: reader.create_array("b", shape=(1,), dtype="int8"),
        lambda: reader.attrs.put({"k": 1}),
        lambda: reader.update_attributes({"k": 1}),
        lambda: reader.__delitem__("a"),
        lambda: reader.move("a", "b"),
    ):
        with pytest.raises(ValueError, match="read-only"):
            change()
    assert list(root) == ["a"]


@pytest.mark.parametrize("method", ["empty", "zeros", "ones", "full"])
def test_arrays_of_one_value(root: zarr.Group, method: str) -> None:
    value = {"empty": 0, "zeros": 0, "ones": 1, "full": 7}[method]
    more = {"fill_value": 7} if method == "full" else {}
    made = getattr(root, method)(name="x", shape=(3,), dtype="int8", **more)
    np.testing.assert_array_equal(made[:], np.full(3, value))
    like = getattr(root, f"{method}_like")(name="y", data=made)
    assert (like.shape, like.dtype, like.chunks) == (made.shape, made.dtype, made.chunks)
    np.testing.assert_array_equal(like[:], np.full(3, value))


def test_full_like_needs_a_value(root: zarr.Group) -> None:
    assert root.full_like(name="x", data=np.zeros(3), fill_value=4)[0] == 4
    with pytest.raises(TypeError, match="fill_value"):
        root.full_like(name="y", data=np.zeros(3))


def test_attributes(root: zarr.Group) -> None:
    root.attrs["a"] = 1
    assert root.update_attributes({"b": [1, 2]}) is root
    root.attrs.update(c=None)
    del root.attrs["a"]
    again = zarr.open_group(root.store)
    assert again.attrs.asdict() == {"b": [1, 2], "c": None}
    root.attrs.put({"z": 1})
    assert zarr.open_group(root.store).attrs.asdict() == {"z": 1}


def test_two_who_change_different_attributes_both_keep_theirs(root: zarr.Group) -> None:
    other = zarr.open_group(root.store)
    root.attrs["mine"] = 1
    other.attrs["yours"] = 2
    assert zarr.open_group(root.store).attrs.asdict() == {"mine": 1, "yours": 2}


def test_many_threads_change_attributes() -> None:
    root = zarr.group(MemoryStore())

    def work(i: int) -> None:
        zarr.open_group(root.store).attrs[str(i)] = i

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert zarr.open_group(root.store).attrs.asdict() == {str(i): i for i in range(16)}


def test_equality_and_pickles(root: zarr.Group) -> None:
    assert root == zarr.open_group(root.store)
    assert root != "a group"
    with pytest.raises(TypeError, match="unhashable"):
        hash(root)
    if not isinstance(root.store, MemoryStore):
        assert pickle.loads(pickle.dumps(root)) == root


def test_what_a_group_says_of_itself(root: zarr.Group, zarr_format: int) -> None:
    group = root.create_group("a/b")
    group.create_array("x", shape=(4,), dtype="int8")
    assert (group.name, group.path, group.basename) == ("/a/b", "a/b", "b")
    assert repr(group) == f"<Group {root.store}/a/b>"
    assert f"Zarr format : {zarr_format}" in repr(group.info)
    assert "No. arrays  : 1" in repr(group.info_complete())
    assert group.synchronizer is None
    assert group.store_path.path == "a/b"


def test_default_compressor_of_members(root: zarr.Group) -> None:
    if root.metadata.zarr_format == 2:
        expected: Any = numcodecs.Blosc()
        assert root.create_array("x", shape=(4,), dtype="int8").metadata.compressor == expected
        assert root.require_array("y", shape=(4,), dtype="int8").metadata.compressor == expected
        assert root.create_array("z", shape=(4,), dtype="int8", compressors=None).metadata.compressor is None
        asked = root.require_array("b", shape=(4,), compressors=numcodecs.Zstd(level=0))
        for other in (root.zeros(name="a", shape=(4,)), asked):
            assert other.metadata.compressor == numcodecs.Zstd(level=0)
        root["c"] = np.arange(4)
        assert root["c"].metadata.compressor == numcodecs.Zstd(level=0)
    else:
        assert root.create_array("x", shape=(4,), dtype="int8").compressors == (ZstdCodec(),)


def test_an_array_of_another_format_is_refused(root: zarr.Group) -> None:
    mine = root.metadata.zarr_format
    other = 5 - mine
    for make in (root.zeros, root.ones, root.empty):
        assert make(name="same", shape=(4,), zarr_format=mine, overwrite=True).metadata.zarr_format == mine
        with pytest.raises(ValueError, match=f"zarr_format={other} array in a zarr_format={mine} group"):
            make(name="x", shape=(4,), zarr_format=other)
    nodes = {"a": GroupMetadata(zarr_format=other)}
    with pytest.raises(ValueError, match=f"same as the parent group. The node at a has zarr_format {other}, but"):
        list(root.create_hierarchy(nodes))
    assert "a" not in root
    assert "x" not in root


@pytest.mark.parametrize("there", [True, False])
def test_require_array_opens_as_asked(root: zarr.Group, there: bool) -> None:
    if there:
        root.create_array("x", shape=(4,), dtype="int16")
    array = root.require_array("x", shape=(4,), dtype=Int16(), exact=True, config={"write_empty_chunks": True})
    assert array.config.write_empty_chunks
    with pytest.raises(TypeError, match="Unknown array config keys"):
        root.require_array("x", shape=(4,), dtype="int16", config={"nope": 1})
    with pytest.raises(TypeError, match="Incompatible dtype"):
        root.require_array("x", shape=(4,), exact=True)


def test_attributes_are_merged_or_replaced(root: zarr.Group) -> None:
    root.attrs["a"] = 1
    assert root.update_attributes({"b": 2}).attrs.asdict() == {"a": 1, "b": 2}
    assert asyncio.run(root.update_attributes_async({"c": 3})).attrs.asdict() == {"c": 3}


def test_deleting_shows_in_the_copy_at_once(root: zarr.Group) -> None:
    root.create_group("a")
    root.create_group("b")
    group = zarr.consolidate_metadata(root.store)
    del group["a"]
    assert list(group.metadata.consolidated_metadata.metadata) == ["b"]


def test_stores_that_keep_no_copies() -> None:
    class Plain(MemoryStore):
        @property
        def supports_consolidated_metadata(self) -> bool:
            return False

    store = Plain()
    zarr.create_group(store).create_group("a")
    for choice in (None, False):
        assert list(zarr.open_group(store, mode="r", use_consolidated=choice)) == ["a"]
    with pytest.raises(ValueError, match="doesn't support consolidated metadata"):
        zarr.open_group(store, mode="r", use_consolidated=True)
