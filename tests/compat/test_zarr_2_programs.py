"""Programs written for zarr-python 2: what they import, how they call, and what they ask of arrays, groups and stores.

The names of zarr-python 2.18.7 are listed in ``tests/data/surfaces``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from zarr.errors import ArrayNotFoundError, CopyError, GroupNotFoundError, PathNotFoundError

from .names import resolve

SURFACE = Path(__file__).resolve().parents[1] / "data" / "surfaces" / "zarr_2.18.7.json"
RECORDS: list[dict[str, Any]] = json.loads(SURFACE.read_text())["records"]
# What was the inside of zarr-python 2, or drew trees for one version of a notebook's library.
LEFT_OUT = {
    "zarr": "ncores",
    "zarr.codecs": "ncores",
    "zarr.convenience": "LazyLoader",
    "zarr.indexing": "Order PartialChunkIterator check_fields check_no_multi_fields check_selection_length "
    "is_contiguous_selection is_contiguous_slice is_coordinate_selection is_mask_selection is_positive_slice "
    "replace_lists",
    "zarr.meta": "Metadata2 Metadata3 get_extended_dtype_info",
    "zarr.n5": "N5ChunkWrapper array_metadata_to_n5 array_metadata_to_zarr attrs_to_zarr compressor_config_to_n5 "
    "compressor_config_to_zarr group_metadata_to_n5 group_metadata_to_zarr invert_chunk_coords is_chunk_key",
    "zarr.storage": "init_store migrate_1to2",
    "zarr.sync": "Synchronizer",
    "zarr.types": "MetaArray",
    "zarr.util": "ConstantMap KeyType PartialReadBuffer TreeNode TreeTraversal TreeViewer "
    "UncompressedPartialReadBufferV3 ValueType ensure_contiguous_ndarray_or_bytes info_html_report tree_get_icon "
    "tree_widget tree_widget_sublist",
}


def test_every_name_is_there() -> None:
    missing = []
    for record in RECORDS:
        module, _, name = record["name"].rpartition(".")
        if name in LEFT_OUT.get(module, "").split():
            continue
        try:
            resolve(record["name"])
        except (AttributeError, AssertionError):
            missing.append(record["name"])
    assert missing == []


@pytest.mark.parametrize(
    "name",
    ["zarr.Array", "zarr.Group", "zarr.attrs.Attributes", "zarr.DirectoryStore", "zarr.MemoryStore", "zarr.KVStore"],
)
def test_every_member_is_there(name: str) -> None:
    records = {r["name"]: r for r in RECORDS}
    members = {m for m in records[name].get("members", {}) if not m.startswith("_")}
    assert members - set(dir(resolve(name))) <= {"cache", "cached_asdict"}


def test_arguments_by_position(tmp_path: Path) -> None:
    array = zarr.open(str(tmp_path / "a"), "w", shape=(4, 6), chunks=(2, None), dtype="i4")
    assert array.chunks == (2, 6)
    assert zarr.open(str(tmp_path / "a"), "r").read_only
    assert zarr.open_array(str(tmp_path / "b"), "w", (4,), 2, "i2").chunks == (2,)
    assert zarr.create((4, 4), (2, 2), "i1", None, 3)[0, 0] == 3
    assert zarr.open_group(str(tmp_path / "g"), "w", zarr_version=2).metadata.zarr_format == 2
    assert zarr.group({}, True, path="x").path == "x"
    with pytest.raises(TypeError, match="multiple values for argument 'mode'"):
        zarr.open(str(tmp_path / "a"), "w", mode="r")
    with pytest.raises(TypeError, match="by position"):
        zarr.open(str(tmp_path / "a"), "w", None)


def test_members_by_position() -> None:
    root = zarr.group()
    assert root.zeros("a", shape=3, dtype="i1")[:].tolist() == [0, 0, 0]
    assert root.full("b", 7, shape=2)[:].tolist() == [7, 7]
    assert root.ones_like("c", root["a"]).dtype == np.dtype("i1")
    assert root.require_dataset("d", 5, "f4").shape == (5,)
    assert root.create_group("e", True).path == "e"


@pytest.mark.parametrize(
    "words",
    [
        {"compressor": numcodecs.Blosc("lz4")},
        {"compressor": None},
        {"filters": [numcodecs.Delta("i4")]},
        {"dimension_separator": "/"},
        {"compressor": numcodecs.Zlib(1), "filters": [numcodecs.Delta("i4")]},
    ],
)
def test_words_of_format_2_make_an_array_of_format_2(words: dict[str, Any], tmp_path: Path) -> None:
    for array in (
        zarr.create((4, 4), chunks=(2, 2), dtype="i4", store=str(tmp_path / "a"), **words),
        zarr.open(str(tmp_path / "b"), mode="w", shape=(4, 4), chunks=(2, 2), dtype="i4", **words),
        zarr.array(np.zeros((4, 4), "i4"), chunks=(2, 2), **words),
    ):
        assert array.metadata.zarr_format == 2
        array[:] = np.arange(16).reshape(4, 4)
        assert array[3, 3] == 15
    with pytest.raises(ValueError, match="zarr_format 3"):
        zarr.create((4, 4), dtype="i4", zarr_format=3, **words)


def test_below_a_group_of_format_3_the_words_are_translated_or_refused() -> None:
    root = zarr.group()
    array = root.zeros("a", shape=4, dtype="i4", compressor=numcodecs.Zlib(1), filters=[numcodecs.Delta("i4")])
    assert array.metadata.zarr_format == 3
    assert [type(codec).__name__ for codec in (*array.filters, *array.compressors)] == ["Delta", "Zlib"]
    with pytest.raises(ValueError, match="zarr_format 3"):
        zarr.create(4, store=root.store, path="b", compressor=numcodecs.Zlib(1))


@pytest.mark.parametrize(
    ("parameters", "values"),
    [
        ({"dtype": object, "filters": [numcodecs.VLenUTF8()]}, ["a", "bc", ""]),
        ({"dtype": bytes}, [b"a", b"bc", b""]),
        ({"dtype": "array:i4"}, [[1], [2, 3], []]),
        ({"dtype": object, "object_codec": numcodecs.JSON()}, [{"a": 1}, [1, 2], None]),
    ],
)
def test_objects_one_by_one(parameters: dict[str, Any], values: list[Any]) -> None:
    array = zarr.empty(3, chunks=2, **parameters)
    for place, value in enumerate(values):
        array[place] = value
    assert [v.tolist() if isinstance(v, np.ndarray) else v for v in array[:]] == values


def test_arrays_and_groups_of_a_store() -> None:
    store = zarr.MemoryStore()
    root = zarr.group(store)
    root.zeros("a", shape=3)
    assert zarr.Array(store, path="a").shape == (3,)
    assert zarr.Array(store, path="a", read_only=True).read_only
    assert zarr.Group(store, read_only=True).read_only
    with pytest.raises(ArrayNotFoundError):
        zarr.Array(store)
    with pytest.raises(GroupNotFoundError):
        zarr.Group(store, path="a/b")
    with pytest.raises(PathNotFoundError):
        zarr.open(store, mode="r", path="nothing")


def test_what_an_array_tells_and_does() -> None:
    data = np.arange(40, dtype="i4").reshape(10, 4)
    array = zarr.array(data, chunks=(4, 4))
    assert (array.itemsize, array.initialized, array.is_view, array.synchronizer) == (4, 3, False, None)
    assert array.chunk_store is array.store
    assert dict(array.info_items())["Shape"] == "(10, 4)"
    np.testing.assert_array_equal(list(array.islice(2, 6)), data[2:6])
    assert list(array.islice(6, 2)) == []
    before = array.hexdigest("md5")
    assert before == array.digest("md5").hex()
    array[0, 0] = -1
    assert array.hexdigest("md5") != before
    array.resize(5, 4)
    assert array.shape == (5, 4)
    array.attrs["a"] = 1
    array.attrs.refresh()
    assert array.attrs.asdict() == {"a": 1}


def test_a_view_looks_at_the_same_chunks() -> None:
    for zarr_format in (2, 3):
        array = zarr.array(np.array([-1, 2, 3, 4], "i4"), chunks=2, zarr_format=zarr_format)
        view = array.view(dtype="u4", shape=(2,))
        assert view.is_view
        assert view[:].tolist() == [2**32 - 1, 2]
        view[1] = 9
        assert array[:].tolist() == [-1, 9, 3, 4]
        assert array.view(read_only=True).read_only


def test_a_group_is_a_mapping_and_has_its_members_as_attributes() -> None:
    root = zarr.group()
    root.create_group("foo/bar").zeros("baz", shape=3)
    assert root.foo.bar.baz.shape == (3,)
    assert "foo" in dir(root)
    with pytest.raises(AttributeError, match="nothing"):
        _ = root.nothing
    assert list(root.array_keys(recurse=True)) == ["baz"]
    root.update({"a": [1, 2]}, b=[3])
    assert root.setdefault("b", [4])[:].tolist() == [3]
    assert root.pop("b").path == "b"
    assert root.pop("b", None) is None
    root.clear()
    assert len(root) == 0
    assert "" in root


def test_the_copy_of_the_documents_by_its_key(tmp_path: Path) -> None:
    store = zarr.DirectoryStore(str(tmp_path / "s"))
    zarr.group(store).zeros("a", shape=3)
    zarr.consolidate_metadata(store, ".zmetadata")
    zarr.consolidate_metadata(store, metadata_key=".zmetadata")
    assert list(zarr.open_consolidated(store, ".zmetadata", "r")) == ["a"]
    assert zarr.open_consolidated(store, metadata_key=".zmetadata", mode="r").read_only


def test_copying_over_something_is_an_error_of_its_own() -> None:
    root = zarr.group()
    root.zeros("a", shape=3)
    root.zeros("b", shape=3)
    with pytest.raises(CopyError):
        zarr.copy(root["b"], root, name="a")


def test_copying_members_of_a_group_to_the_group_above() -> None:
    root = zarr.group()
    root.create_group("foo").zeros("a", shape=3)
    assert zarr.copy_all(root["foo"], root)[0] == 1
    assert "a" in root
    with pytest.raises(ValueError, match="lies within"):
        zarr.copy_all(root, root["foo"])


def test_moving_to_a_place_from_the_root() -> None:
    root = zarr.group()
    foo = root.create_group("foo")
    foo.create_group("bar").zeros("a", shape=3)
    foo.move("bar", "/top")
    assert sorted(root) == ["foo", "top"]
    assert root["top/a"].shape == (3,)
    with pytest.raises(zarr.errors.ContainsGroupError):
        root.move("top", "/foo")


def test_what_is_not_there_is_not_found_by_any_name(tmp_path: Path) -> None:
    for kind in (ArrayNotFoundError, GroupNotFoundError, PathNotFoundError, FileNotFoundError):
        with pytest.raises(kind):
            zarr.open(str(tmp_path / "nothing"), "r")


def test_objects_come_as_they_are() -> None:
    array = zarr.empty(2, dtype=object, object_codec=numcodecs.JSON())
    array[0] = {"a": [1]}
    assert array[0] == {"a": [1]}
    assert zarr.create(2, dtype=[("a", "i4", (2,)), ("b", "f4")]).metadata.zarr_format == 2
    with pytest.raises(ValueError, match="zarr_format=2"):
        zarr.group().create_dataset("a", shape=3, dtype=object, object_codec=numcodecs.JSON())


def test_requiring_a_dataset_asks_whether_its_type_takes_the_values() -> None:
    root = zarr.group()
    root.zeros("a", shape=3, dtype="f8")
    assert root.require_dataset("a", shape=3, dtype="f4").dtype == np.dtype("f8")
    with pytest.raises(TypeError, match="Incompatible dtype"):
        root.require_dataset("a", shape=3, dtype="c16")
    with pytest.raises(TypeError, match="Incompatible dtype"):
        root.require_dataset("a", shape=3, dtype="f4", exact=True)


def test_stores_are_mappings_and_functions_work_on_them(tmp_path: Path) -> None:
    from zarr.storage import contains_array, contains_group, getsize, init_array, init_group, listdir, rename, rmdir

    for store in ({}, zarr.MemoryStore(), zarr.DirectoryStore(str(tmp_path / "s")), zarr.KVStore({})):
        init_group(store)
        init_array(store, 4, 2, "i4", path="a")
        assert contains_group(store)
        assert contains_array(store, "a")
        assert not contains_array(store)
        assert "a" in listdir(store)
        assert getsize(store, "a") > 0
        rename(store, "a", "b")
        assert contains_array(store, "b")
        rmdir(store, "b")
        assert not contains_array(store, "b")
    store = zarr.MemoryStore()
    store.update({"x": b"1"}, y=b"2")
    assert store.getitems(["x", "z"]) == {"x": b"1"}
    assert store.pop("x") == b"1"
    assert store.setdefault("y") == b"2"
    store.delitems(["y", "z"])
    assert not list(store)


def test_functions_on_documents() -> None:
    from zarr import meta, util

    document = json.loads(
        zarr.create(4, dtype="i4", zarr_format=2, store=(store := zarr.MemoryStore())).store[".zarray"]
    )
    assert json.loads(meta.encode_array_metadata(meta.decode_array_metadata(document)))["shape"] == [4]
    assert json.loads(store[".zarray"]) == document
    with pytest.raises(zarr.errors.MetadataError):
        meta.decode_group_metadata({"zarr_format": 9})
    assert util.normalize_chunks((2, None), (10, 12), 8) == (2, 12)
    assert util.normalize_fill_value(0, np.dtype("U3")) == ""
    with pytest.raises(ValueError, match="object_codec"):
        util.normalize_dtype(object, None)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_group_of_a_zip_file_that_is_read(tmp_path: Path, zarr_format: Any) -> None:
    """The tutorial's ``zarr.group(store=zarr.ZipStore(path, mode="r"))``."""
    store = zarr.ZipStore(str(tmp_path / "example.zip"), mode="w")
    zarr.group(store=store, zarr_format=zarr_format).zeros("foo/bar", shape=(4, 4), chunks=(2, 2))[:] = 42
    store.close()
    store = zarr.ZipStore(str(tmp_path / "example.zip"), mode="r")
    root = zarr.group(store=store)
    assert (root["foo/bar"][0, 0], root.read_only) == (42, True)
    with pytest.raises(zarr.errors.GroupNotFoundError):
        zarr.group(store=store, path="elsewhere")
    with pytest.raises(zarr.errors.ReadOnlyError):
        zarr.group(store=store, overwrite=True)
    store.close()


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_a_store_contains_of_either_format(zarr_format: Any) -> None:
    from zarr.storage import contains_array, contains_group

    store: dict[str, Any] = {}
    zarr.group(store=store, zarr_format=zarr_format).zeros("a", shape=4)
    assert [contains_array(store, "a"), contains_group(store, "a"), contains_array(store, "b")] == [True, False, False]
    assert [contains_array(store), contains_group(store)] == [False, True]
