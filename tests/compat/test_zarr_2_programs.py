"""Programs written for zarr-python 2: what they import, how they call, and what they ask of arrays, groups and stores.

The names of zarr-python 2.18.7 are listed in ``tests/data/surfaces``.
"""

from __future__ import annotations

import json
from collections import UserDict
from functools import partial
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from tests.trust.together import rounds, run_together
from zarr.errors import ArrayNotFoundError, CopyError, GroupNotFoundError, PathNotFoundError

from .names import resolve

SURFACE = Path(__file__).resolve().parents[1] / "data" / "surfaces" / "zarr_2.18.7.json"
RECORDS: list[dict[str, Any]] = json.loads(SURFACE.read_text())["records"]
# What was the inside of zarr-python 2, or drew trees for one version of a notebook's library.
LEFT_OUT = {
    "zarr": "ncores",
    "zarr.codecs": "ncores",
    "zarr.convenience": "LazyLoader",
    "zarr.indexing": "Order PartialChunkIterator",
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


@pytest.mark.parametrize("how", ["create_dataset", "array", "require_dataset"])
@pytest.mark.parametrize(
    ("parameters", "values"),
    [
        ({"dtype": str}, ["a", "bc", "longer"]),
        ({"dtype": object, "object_codec": numcodecs.VLenUTF8()}, ["a", "bc", "longer"]),
        ({"dtype": object, "filters": [numcodecs.VLenUTF8()]}, ["a", "bc", "longer"]),
        ({"dtype": bytes}, [b"a", b"bc", b"longer"]),
        ({"dtype": "bytes", "fill_value": None}, [b"a", b"bc", b"longer"]),
        ({"dtype": object, "object_codec": numcodecs.JSON()}, [{"a": 1}, [1, 2], None]),
        ({"dtype": "array:i4"}, [[1], [2, 3], []]),
    ],
    ids=str,
)
def test_members_of_objects_from_data(parameters: dict[str, Any], values: list[Any], how: str) -> None:
    """What is appended is kept whole: NumPy's type for ``str`` is as long as the longest text of some data."""
    root = zarr.group(store=zarr.MemoryStore())
    data = np.empty(2, dtype=object)
    data[:] = [np.array(v, "i4") for v in values[:2]] if parameters["dtype"] == "array:i4" else values[:2]
    shape = {"shape": 2} if how == "require_dataset" else {}
    getattr(root, how)("x", data=data, chunks=2, **shape, **parameters)
    array: Any = root.require_dataset("x", shape=2, dtype=parameters["dtype"])
    last = np.empty(1, dtype=object)
    last[0] = np.array(values[2], "i4") if parameters["dtype"] == "array:i4" else values[2]
    array.append(last)
    assert [v.tolist() if isinstance(v, np.ndarray) else v for v in root["x"][:]] == values


@pytest.mark.parametrize(
    ("parameters", "values"),
    [
        ({"dtype": object, "object_codec": numcodecs.JSON()}, [{"a": 1}, None]),
        ({"dtype": object, "filters": [numcodecs.VLenUTF8()]}, ["a", "longer"]),
        ({"dtype": bytes}, [b"a", b"longer"]),
        ({"dtype": "i4", "dimension_separator": "/", "write_empty_chunks": False}, [0, 1]),
        ({"dtype": "i4", "compressor": "default", "synchronizer": None}, [0, 1]),
    ],
    ids=str,
)
def test_members_by_create(parameters: dict[str, Any], values: list[Any]) -> None:
    root: Any = zarr.group(store=zarr.MemoryStore())
    array = root.create("x", shape=2, chunks=1, **parameters)
    for place, value in enumerate(values):
        array[place] = value
    assert list(root["x"][:]) == values
    assert root["x"].chunks == (1,)


def test_members_of_format_3_hold_texts_of_any_length() -> None:
    array = zarr.group().create_dataset("x", data=["a", "bc"], dtype=str)
    array.append(["longer"])
    assert array[:].tolist() == ["a", "bc", "longer"]


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


def test_what_is_not_there_is_not_removed() -> None:
    root = zarr.group(zarr.MemoryStore())
    root.create_group("a")
    del root["a"]
    with pytest.raises(KeyError):
        del root["a"]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_absolute_names(zarr_format: Any) -> None:
    root = zarr.group(zarr.KVStore({}), zarr_format=zarr_format)
    below = root.create_group("a/b")
    assert below.create_group("/c/d").path == "c/d"
    assert below.require_group("/c/e").path == "c/e"
    assert below.create_dataset("/c/x", shape=3).path == below["/c/x"].path == "c/x"
    assert "/c/x" in below
    assert "/a/b/c" not in below
    with pytest.raises(ValueError, match="array"):
        root.require_group("c/x")
    del below["/c/x"]
    assert sorted(root["c"]) == ["d", "e"]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    ("words", "codec", "level"),
    [
        ({"compression": "gzip", "compression_opts": 9}, "gzip", 9),
        ({"compression": "zlib", "compression_opts": (7,)}, "zlib", 7),
        ({"compression": "zlib", "compression_opts": {"level": 2}}, "zlib", 2),
        ({"compression": numcodecs.BZ2(3)}, "bz2", 3),
        ({"compressor": "zlib"}, "zlib", 1),
        ({"compression": None}, None, None),
        ({"compression": "none"}, None, None),
        ({"compressor": []}, None, None),
    ],
)
def test_words_of_h5py(zarr_format: Any, words: dict[str, Any], codec: Any, level: Any) -> None:
    root = zarr.group(zarr_format=zarr_format)
    array = root.create_dataset("x", shape=10, dtype="i4", fillvalue=3, maxshape=None, **words)
    assert array.fill_value == 3
    found = [c.to_dict() if hasattr(c, "to_dict") else c.get_config() for c in array.compressors]
    names = [c.get("id", c.get("name", "")).removeprefix("numcodecs.") for c in found]
    told = {name: c.get("configuration", c)["level"] for name, c in zip(names, found, strict=True)}
    assert told == ({} if codec is None else {codec: level})
    array[:] = np.arange(10)
    assert array[:].tolist() == list(range(10))


def test_words_of_h5py_without_effect_and_unknown_ones() -> None:
    for make in (zarr.group(zarr_format=2).create_dataset, lambda name, **words: zarr.create(**words)):
        for word in ("shuffle", "fletcher32"):
            with pytest.warns(UserWarning, match=f"ignoring keyword argument '{word}'"):
                make(word, shape=3, **{word: True})
        with pytest.warns(UserWarning, match="compression has no effect beside compressor"):
            assert make("x", shape=3, compressor=numcodecs.Zlib(1), compression="bz2").compressors[0].codec_id == "zlib"
        with pytest.raises(TypeError, match="external"):
            make("y", shape=3, external=[])
        with pytest.raises(ValueError, match="nonsense"):
            make("y", shape=3, compression="nonsense")


def test_codecs_by_position_are_those_of_numcodecs() -> None:
    assert zarr.codecs.Zlib(1) == numcodecs.Zlib(1)
    assert type(zarr.codecs.Zlib(level=1)).__module__.startswith("zarr.")


def test_attributes_of_a_store() -> None:
    values: dict[str, Any] = {}
    attrs = zarr.attrs.Attributes(values, key=".zattrs")
    attrs["a"] = 1
    attrs.update(b=[2])
    del attrs["a"]
    assert json.loads(values[".zattrs"]) == attrs.asdict() == {"b": [2]}
    assert (attrs.key, attrs._ipython_key_completions_(), attrs.cache) == (".zattrs", ["b"], True)
    values[".zattrs"] = b'{"c": 3}'
    assert dict(attrs) == {"b": [2]}
    attrs.refresh()
    assert dict(attrs) == dict(zarr.attrs.Attributes(store=values, key=".zattrs", cache=False)) == {"c": 3}
    with pytest.raises(PermissionError):
        zarr.attrs.Attributes(values, read_only=True)["a"] = 1


def test_attributes_of_a_store_among_threads() -> None:
    """Also with those of an array at the same place."""

    def change(attrs: Any, number: int) -> None:
        for i in range(4):
            attrs[f"{number}.{i}"] = i
            assert attrs[f"{number}.{i}"] == i

    for _ in range(rounds(5, 50)):
        values = zarr.storage.KVStore({})
        array = zarr.create(3, store=values)
        shared, own = (zarr.attrs.Attributes(values, key=".zattrs") for _ in range(2))
        users = [shared, shared, own, array.attrs]
        run_together([partial(change, attrs, number) for number, attrs in enumerate(users)])
        assert len(json.loads(values[".zattrs"])) == 16


@pytest.mark.parametrize("dtype", ["S5", "U3", "i4", "M8[s]", [("a", "S3"), ("b", "i4")]])
@pytest.mark.parametrize("shape", [(), (2,), (9, 1, 12)])
def test_copies_keep_fill_values_of_every_kind(dtype: Any, shape: tuple[int, ...]) -> None:
    root = zarr.group({})
    source = root.create_array("a", shape=shape, dtype=dtype)
    for like in (None, np.ones((), dtype)[()]):
        if like is not None:
            source = root.create_array("a", shape=shape, dtype=dtype, fill_value=like, overwrite=True)
        zarr.copy(source, root, name="b", if_exists="replace")
        copied = root["b"]
        assert copied.dtype == source.dtype
        assert np.asarray(copied[...]).tobytes() == np.asarray(source[...]).tobytes()  # bytes: NaT equals nothing
        assert np.asarray(copied.fill_value).tobytes() == np.asarray(source.fill_value).tobytes()


def test_empty_records_and_arrays_by_their_store() -> None:
    store = zarr.MemoryStore()
    zarr.create(3, dtype=[("a", "S3"), ("b", "i4")], fill_value=b"", store=store, path="x")
    array = zarr.Array(store=store, path="x")
    assert array[:].tolist() == [(b"", 0)] * 3
    assert (array._chunk_key((0,)), array._key_prefix, array._version, array._cache_metadata) == ("x/0", "x/", 2, True)


def codecs_of(array: Any) -> list[str]:
    return [type(codec).__name__ for codec in array.metadata.codecs]


def test_filters_that_work_on_bytes() -> None:
    root = zarr.group()
    for array in (
        root.zeros("a", shape=10, dtype="i8", filters=[numcodecs.Delta("i8"), numcodecs.Adler32()]),
        root.create_dataset("b", shape=10, dtype="i8", filters=[numcodecs.Delta("i8"), numcodecs.Adler32()]),
    ):
        assert codecs_of(array) == ["Delta", "BytesCodec", "Adler32", "ZstdCodec"]
        array[:] = np.arange(10)
        assert array[:].tolist() == list(range(10))


@pytest.mark.parametrize(
    ("codecs", "expected"),
    [
        ([zarr.codecs.ZstdCodec(level=3)], numcodecs.Zstd(3)),
        ([zarr.codecs.GzipCodec(level=2)], numcodecs.GZip(2)),
        ([zarr.codecs.BloscCodec(cname="lz4", shuffle="bitshuffle")], numcodecs.Blosc("lz4", 5, 2)),
        ([zarr.codecs.numcodecs.BZ2(level=4)], numcodecs.BZ2(4)),
        (None, None),
    ],
)
def test_the_compressor_of_format_3(codecs: Any, expected: Any) -> None:
    array = zarr.create_array({}, shape=4, dtype="i4", compressors=codecs)
    with pytest.warns(zarr.errors.ZarrDeprecationWarning):
        assert array.compressor == expected


def test_several_compressors_of_format_3_are_none() -> None:
    array = zarr.create_array({}, shape=4, dtype="i4", compressors=[zarr.codecs.ZstdCodec(), zarr.codecs.Crc32cCodec()])
    with pytest.warns(zarr.errors.ZarrUserWarning, match="no codec of numcodecs"):
        assert array.compressor is None


@pytest.mark.parametrize("shards", [None, (6,)])
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(("dtype", "other"), [("<f4", "i8"), (">i2", "f4"), ("M8[s]", "M8[ms]"), ("?", "u1")])
def test_elements_are_converted_as_they_are_read(dtype: str, other: str, zarr_format: Any, shards: Any) -> None:
    if zarr_format == 2 and shards:
        return
    data = np.arange(12).astype(dtype)
    array = zarr.create_array({}, data=data, chunks=2, shards=shards, zarr_format=zarr_format)
    view = array.astype(other)
    assert (view.is_view, view.read_only, view.dtype) == (True, True, np.dtype(other))
    np.testing.assert_array_equal(view[:], data.astype(other))
    np.testing.assert_array_equal(view[3:9:2], data[3:9:2].astype(other))
    with pytest.raises(zarr.errors.ReadOnlyError):
        view[0] = 0
    np.testing.assert_array_equal(array.astype(other, copy=True), data.astype(other))
    with zarr.config.set({"array.array_namespace": True}):
        assert isinstance(array.astype(other), np.ndarray)


def test_what_no_view_can_do() -> None:
    array = zarr.array([1, 2, 3])
    for change in (lambda: array.view().resize(5), lambda: array.view().append([4])):
        with pytest.raises(PermissionError, match="not permitted for views"):
            change()
    with pytest.raises(TypeError, match="no fixed size"):
        zarr.array(["a", "b"], dtype=str).astype("S1")


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_view_without_filters(zarr_format: Any) -> None:
    words: Any = [numcodecs.Delta("i4")]
    array = zarr.group(zarr_format=zarr_format).zeros("a", shape=6, chunks=2, dtype="i4", filters=words)
    array[:] = [1, 3, 6, 10, 15, 21]
    view = array.view(filters=[])
    assert view[:].tolist() == [1, 2, 6, 4, 15, 6]
    view[0] = 5
    assert array[:].tolist() == [5, 7, 6, 10, 15, 21]
    labels = zarr.array(np.array(["x", "y"]), filters=[numcodecs.Categorize(["x", "y"], "<U1", "u1")])
    assert labels.view(dtype="u1", filters=[])[:].tolist() == [1, 2]


@pytest.mark.parametrize("name", ["a.zarr", "a.zip"])
def test_saving_replaces_what_is_there(name: str, tmp_path: Path) -> None:
    zarr.save(tmp_path / name, np.arange(3))
    zarr.save(tmp_path / name, np.arange(4.0))
    np.testing.assert_array_equal(zarr.load(tmp_path / name), np.arange(4.0))
    zarr.save(tmp_path / name, a=np.arange(2), zarr_version=2)
    zarr.save(tmp_path / name, np.arange(5), zarr_version=2)
    assert zarr.load(tmp_path / name).tolist() == [0, 1, 2, 3, 4]
    assert zarr.open(tmp_path / name, mode="r").metadata.zarr_format == 2


def test_arrays_of_a_group_are_read_when_they_are_asked_for() -> None:
    store = zarr.MemoryStore()
    zarr.save(store, a=np.arange(3), b=np.arange(4))
    found = zarr.load(store)
    assert (sorted(found), len(found), "a" in found, "c" in found) == (["a", "b"], 2, True, False)
    assert repr(found) == "<LazyLoader: a, b>"
    zarr.open_array(store, path="a")[:] = 7
    assert found["a"].tolist() == [7, 7, 7]
    assert found["a"] is found["a"]
    with pytest.raises(KeyError):
        found["c"]


def test_trees_of_h5py(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("foo/bar/baz", data=np.arange(3, dtype="i4"))
        assert str(zarr.tree(file)) == "/\n└── foo\n    └── bar\n        └── baz (3,) int32\n"
        assert str(zarr.tree(file["foo"], level=0)) == "/foo\n└── bar\n"


def test_copies_to_h5py_keep_chunks_and_codecs(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file, h5py.File(tmp_path / "b.h5", "w") as other:
        file.create_dataset("x", data=np.arange(10), chunks=(5,), compression="gzip", shuffle=True, fillvalue=3)
        lines: list[str] = []
        assert zarr.copy(file["x"], other, log=lines.append) == (1, 0, 80)
        made = other["x"]
        assert (made.chunks, made.compression, made.shuffle, made.fillvalue) == ((5,), "gzip", True, 3)
        assert lines[-1] == "all done: 1 copied, 0 skipped, 80 bytes copied"
        zarr.copy(zarr.array(np.arange(6), chunks=2), other, name="y")
        assert (other["y"].chunks, other["y"][:].tolist()) == ((2,), list(range(6)))
        with pytest.raises(ValueError, match="must be of Zarr"):
            zarr.copy(file["x"], other, if_exists="skip_initialized")
        with pytest.raises(ValueError, match="is a group"):
            zarr.copy(file["x"], other["x"])


def test_keys_are_copied_as_bytes() -> None:
    dest: dict[str, Any] = {}
    zarr.copy_store({"foo": b"xxx", "bar/baz": b"yyy"}, dest)
    assert dest == {"foo": b"xxx", "bar/baz": b"yyy"}


def test_modes_of_zarr_2(tmp_path: Path) -> None:
    zarr.open_group(tmp_path / "a", mode="x").create_array("b", data=np.arange(3))
    with pytest.raises(FileExistsError):
        zarr.open_group(tmp_path / "a", mode="x")
    root = zarr.open(tmp_path / "a", mode="w+")  # emptied nothing, other than its name says
    root.attrs["a"] = 1
    assert root["b"][:].tolist() == [0, 1, 2]
    with pytest.raises(FileNotFoundError):
        zarr.open(tmp_path / "nothing", mode="w+")


def test_the_store_of_an_array_over_any_mapping_is_a_mapping() -> None:
    values: UserDict[str, bytes] = UserDict()
    array = zarr.array(np.arange(10), chunks=5, store=values, zarr_format=2)
    assert set(array.store) == set(array.store.keys()) == set(values) == {".zarray", ".zattrs", "0", "1"}
    assert all(type(value) is bytes for value in array.store.values())
    assert dict(array.store.items()) == dict(values)
    array.store["9"] = b"more"
    assert values["9"] == b"more"
    assert len(array.store) == len(values) == 5
    del array.store["9"]
    assert "9" not in values
    assert "9" not in array.store


@pytest.mark.parametrize("dtype", ["(2, 2)f4", ("f4", (2, 2)), np.dtype(("f4", (2, 2)))])
@pytest.mark.parametrize(("chunks", "whole"), [(2, (2, 2, 2)), ((2,), (2, 2, 2)), ((2, 1, 2), (2, 1, 2))])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_data_types_with_axes_of_their_own(dtype: Any, chunks: Any, whole: Any, zarr_format: Any) -> None:
    data = np.arange(12, dtype="f4").reshape(3, 2, 2)
    array = zarr.create(3, chunks=chunks, dtype=dtype, zarr_format=zarr_format)
    array[:] = data
    assert (array.shape, array.chunks) == ((3, 2, 2), whole)
    np.testing.assert_array_equal(array[:], data)


def test_codecs_of_zarr_in_format_2() -> None:
    array = zarr.create(
        6, dtype="i4", zarr_format=2, compressor=zarr.codecs.Blosc(cname="zstd"),
        filters=[zarr.codecs.Delta(dtype="i4")],
    )
    assert array.compressors == (numcodecs.Blosc("zstd"),)
    assert array.filters == (numcodecs.Delta("i4"),)
    array[:] = np.arange(6)
    assert array[:].tolist() == list(range(6))


def test_groups_by_names_and_moves_of_zarr_2() -> None:
    class Name:
        def __str__(self) -> str:
            return "foo/bar"

    root = zarr.group()
    assert root.create_group(Name()).path == "foo/bar"
    assert root.create("x", shape=3).dtype == np.dtype("f8")
    with pytest.raises(ValueError, match="nothing"):
        root.move("nothing", "y")
    for start, end in ((-1, 0), (0, -1), (0.5, 1)):
        with pytest.raises(ValueError, match="from 0"):
            root["x"].islice(start, end)
    assert root["x"]._store is root.store


def test_the_separator_of_keys_and_the_folder_of_a_store(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"zarr_format": 2}, "."),
        ({"dimension_separator": "/", "zarr_format": 2}, "/"),
        ({"zarr_format": 3}, "/"),
    ]
    for number, (options, separator) in enumerate(cases):
        folder = tmp_path / str(number)
        array = zarr.open(str(folder), mode="w", shape=4, chunks=2, dtype="i4", **options)
        assert (array._dimension_separator, array.store.path) == (separator, str(folder))
        assert zarr.open_group(folder / "g", mode="w").store.path == str(folder / "g")


def test_keys_of_attributes_that_are_no_text() -> None:
    attrs = zarr.attrs.Attributes({}, key=".zattrs")
    for change in (lambda: attrs.__setitem__(1, "a"), lambda: attrs.put({1: "a"}), lambda: attrs.update({1: "a"})):
        with pytest.warns(DeprecationWarning, match="only attribute keys of type 'string'"):
            change()
    assert attrs.asdict() == {"1": "a"}
