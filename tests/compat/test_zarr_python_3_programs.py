"""What programs for zarr-python 3.4 rely on, beyond names and signatures: places, messages, warnings."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.codecs import GzipCodec, ShardingCodec
from zarr.core.buffer import cpu, default_buffer_prototype
from zarr.core.group import ConsolidatedMetadata, GroupMetadata, _getitem_semaphore
from zarr.errors import (
    ContainsArrayError,
    ContainsGroupError,
    DataTypeValidationError,
    MetadataValidationError,
    UnknownCodecError,
    ZarrUserWarning,
)
from zarr.registry import get_codec_class, get_numcodec
from zarr.storage import LocalStore, MemoryStore, StorePath, ZipStore


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("kind", ["dict", "memory", "local", "zip"])
def test_a_name_with_a_slash_is_a_name_in_the_group(kind: str, zarr_format: Any, tmp_path: Path) -> None:
    stores = {
        "dict": dict, "memory": MemoryStore, "local": lambda: LocalStore(tmp_path / "a"),
        "zip": lambda: ZipStore(tmp_path / "a.zip", mode="w"),
    }  # fmt: skip
    root = zarr.open_group(stores[kind](), mode="w", zarr_format=zarr_format)
    group = root.create_group("a")
    assert group.create_group("/b").path == "a/b"
    assert group.require_group("/b/c").path == "a/b/c"
    assert group.create_array("/x", shape=3, dtype="i4").path == group["/x"].path == "a/x"
    group["/y"] = np.arange(3)
    assert "/x" in group
    assert sorted(group) == ["b", "x", "y"]
    assert list(root) == ["a"]
    del group["/x"]
    assert sorted(group) == ["b", "y"]


@pytest.mark.parametrize(("cls", "kind"), [(ContainsArrayError, "An array"), (ContainsGroupError, "A group")])
def test_what_is_there_is_told_in_the_words_that_programs_compare(cls: type[ValueError], kind: str) -> None:
    error = cls("store", "path")
    assert str(error) == f"{kind} exists in store 'store' at path 'path'."
    assert "overwrite=True" in error.__notes__[0]


def test_the_warning_of_codecs_around_shards_begins_as_there() -> None:
    with pytest.warns(ZarrUserWarning, match="^Combining a `sharding_indexed` codec disables partial reads and writes"):
        zarr.create_array(
            {}, shape=(4,), chunks=(4,), dtype="i4", serializer=ShardingCodec(chunk_shape=(2,)), compressors=GzipCodec()
        )


def test_a_group_without_members_is_consolidated_without_a_warning() -> None:
    root = zarr.open_group({}, mode="w")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zarr.consolidate_metadata(root.store)
    root.create_group("a")
    with pytest.warns(ZarrUserWarning, match="^Consolidated metadata is currently not part"):
        zarr.consolidate_metadata(root.store)


@pytest.mark.parametrize("error", [TypeError, ValueError])
def test_a_range_that_is_none_is_refused(error: type[Exception]) -> None:
    store = MemoryStore({"a": cpu.Buffer.from_bytes(b"0123")})
    with pytest.raises(error, match="Unexpected byte_range, got"):
        asyncio.run(store.get("a", default_buffer_prototype(), (1, 3)))  # type: ignore[arg-type]


def test_packages_that_bring_a_codec_are_named_last() -> None:
    with pytest.raises(UnknownCodecError, match=r"Known packages supporting this codec: gribberish\.$"):
        get_codec_class("gribberish")
    with pytest.raises(UnknownCodecError, match=r"Known packages supporting this codec: wavpack-numcodecs\.$"):
        get_numcodec({"id": "wavpack"})


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_functions_on_documents_and_paths_that_other_tests_import(zarr_format: Any) -> None:
    from zarr.core.group import _build_metadata_v3, _get_roots
    from zarr.storage._common import _contains_node_v3

    assert _get_roots(["a/x", "b/y", "a/x/z"]) == ("a/x", "b/y")
    assert _get_roots([]) == ()
    root = zarr.open_group(MemoryStore(), mode="w", zarr_format=zarr_format)
    array = root.create_array("x", shape=3, dtype="i4")
    for node in (root, array) if zarr_format == 3 else ():
        assert _build_metadata_v3(node.metadata.to_dict()) == node.metadata
    with pytest.raises(MetadataValidationError, match="Required key 'node_type' is missing"):
        _build_metadata_v3({"zarr_format": 3})
    with pytest.raises(MetadataValidationError, match="node_type"):
        _build_metadata_v3({"zarr_format": 3, "node_type": "table"})
    found = [asyncio.run(_contains_node_v3(StorePath(root.store, path))) for path in ("", "x", "y")]
    assert found == (["group", "array", "nothing"] if zarr_format == 3 else ["nothing"] * 3)


def test_a_zip_file_whose_folder_is_gone_ends_silently(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    store = ZipStore(folder / "a.zip", mode="w")
    zarr.create_array(store, shape=3, dtype="i4")
    shutil.rmtree(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pytest.PytestUnraisableExceptionWarning)
        store._shared.end()
        del store
        gc.collect()
    assert not folder.exists()


def test_a_copy_of_an_array_or_group_with_other_metadata_is_made_as_of_a_dataclass() -> None:
    store = MemoryStore()
    array = zarr.create_array(store, name="a", shape=8, chunks=2, shards=4, dtype="i4", attributes={"a": 1})
    array[:] = range(8)
    sharding: Any = dataclasses.replace(array.metadata.codecs[0], subchunk_write_order="lexicographic")
    metadata = dataclasses.replace(array.metadata, codecs=(sharding,))
    changed: Any = zarr.Array(dataclasses.replace(array.async_array, metadata=metadata))
    changed[2:6] = 9
    assert changed.metadata.codecs[0].subchunk_write_order == "lexicographic"
    assert array[:].tolist() == changed[:].tolist() == [0, 1, 9, 9, 9, 9, 6, 7]
    assert dataclasses.replace(array.async_array, config={"order": "F"}).order == "F"
    assert array.order == "C"

    group = zarr.create_group(store, path="g", attributes={"a": 1})
    other = dataclasses.replace(group.metadata, attributes={"b": 2})
    copy = dataclasses.replace(group, _async_group=dataclasses.replace(group._async_group, metadata=other))
    assert dict(copy.attrs) == {"b": 2}
    assert dict(group.attrs) == {"a": 1}


def test_a_dataclass_may_have_an_array_or_a_group_for_its_base() -> None:
    @dataclasses.dataclass(frozen=True)
    class NamedGroup(zarr.Group):
        label: str = ""

    @dataclasses.dataclass
    class NamedArray(zarr.Array):  # type: ignore[type-arg]
        label: str = ""

    group = zarr.create_group({})
    array = group.create_array("a", shape=3, dtype="i4")
    assert NamedGroup(group._async_group, label="x").label == "x"  # type: ignore[call-arg]
    assert NamedArray(array._async_array, label="x").label == "x"


def test_dask_names_an_array_that_is_opened_again_alike(tmp_path: Path) -> None:
    tokenize: Any = pytest.importorskip("dask.base").tokenize
    created = zarr.create_array(tmp_path / "a", shape=3, dtype="i4")
    assert tokenize(created) == tokenize(zarr.open_array(tmp_path / "a"))
    assert tokenize(created) != tokenize(zarr.create_array(tmp_path / "b", shape=3, dtype="i4"))


@pytest.mark.parametrize("value", ["i4", 5, None, np.int32])
def test_what_is_no_dtype_of_numpy_is_refused_as_one(value: Any) -> None:
    for name in ("Bool", "Int32", "Float64", "DateTime64", "VariableLengthUTF8", "RawBytes", "Structured"):
        with pytest.raises(DataTypeValidationError, match="Expected an instance of <class 'numpy"):
            getattr(zarr.dtype, name).from_native_dtype(value)


def test_a_slash_names_the_root_of_each_store(tmp_path: Path) -> None:
    for store in (MemoryStore(), LocalStore(tmp_path / "a"), ZipStore(tmp_path / "a.zip", mode="w")):
        zarr.create_group(store).create_group("x")
        assert sorted(asyncio.run(_collected(store.list_dir("/")))) == ["x", "zarr.json"]


async def _collected(names: Any) -> list[str]:
    return [name async for name in names]


def test_a_program_that_consolidates_by_itself() -> None:
    store = MemoryStore()
    root = zarr.create_group(store)
    root.create_array("h/k/b", shape=2, dtype="i4")
    root.create_array("a", shape=3, dtype="i4")

    def with_copy(node: Any, members: Any) -> Any:
        if isinstance(node, GroupMetadata):
            return dataclasses.replace(node, consolidated_metadata=ConsolidatedMetadata(members))
        return dataclasses.replace(node, metadata=with_copy(node.metadata, members))

    async def consolidate() -> list[Any]:
        members = {path: node.metadata async for path, node in root._async_group.members(max_depth=None)}
        members.update({path: with_copy(node, {}) for path, node in members.items() if isinstance(node, GroupMetadata)})
        ConsolidatedMetadata._flat_to_nested(members)
        assert sorted(members) == ["a", "h"]
        group = with_copy(root._async_group, members)
        await group._save_metadata()
        found: list[Any] = [await _getitem_semaphore(group, "h/k/b", asyncio.Semaphore(1))]
        return [*found, await _getitem_semaphore(group, "a", None)]

    assert [node.shape for node in asyncio.run(consolidate())] == [(2,), (3,)]
    paths = [path for path, _ in zarr.open_consolidated(store).members(max_depth=None)]
    assert sorted(paths) == ["a", "h", "h/k", "h/k/b"]


def test_programs_that_choose_codecs_by_themselves() -> None:
    from zarr.core.array import default_compressor_v2, default_compressors_v3, default_filters_v3
    from zarr.core.metadata.v2 import parse_compressor, parse_filters

    dtype = zarr.dtype.Int32()
    array = zarr.create_array({}, shape=2, dtype=dtype)
    assert (default_filters_v3(dtype), default_compressors_v3(dtype)) == (array.filters, array.compressors)
    older = zarr.create_array({}, shape=2, dtype=dtype, zarr_format=2)
    assert (default_compressor_v2(dtype),) == older.compressors
    assert parse_filters(None) is None
    assert parse_filters([]) is None
    assert [codec.codec_id for codec in parse_filters([{"id": "delta", "dtype": "<i4"}]) or ()] == ["delta"]
    assert parse_compressor({"id": "zlib", "level": 1}).level == 1
    assert parse_compressor(None) is None
    with pytest.raises(TypeError, match="Invalid filters"):
        parse_filters(5)
    with pytest.raises(ValueError, match="Invalid compressor"):
        parse_compressor(5)


def test_the_older_spelling_wins_over_the_configuration_and_says_so() -> None:
    with (
        pytest.warns(RuntimeWarning, match="The `write_empty_chunks` keyword argument"),
        pytest.warns(UserWarning, match="Both write_empty_chunks and config keyword arguments are set"),
    ):
        array = zarr.create(2, store={}, write_empty_chunks=True, config={"write_empty_chunks": False})
    assert array.config.write_empty_chunks
