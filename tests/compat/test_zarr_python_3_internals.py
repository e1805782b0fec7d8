"""Functions and classes below ``zarr.core`` that programs import: what they do, beyond their names."""

from __future__ import annotations

import asyncio
import json
import warnings
from typing import Any, Literal

import numpy as np
import pytest

import zarr
from zarr import AsyncGroup
from zarr.abc.codec import ArrayBytesCodec, _check_codecjson_v2
from zarr.abc.store import RangeByteRequest, _store_supports_sync_io
from zarr.api.asynchronous import _get_shape_chunks, _like_args
from zarr.codecs import BytesCodec, GzipCodec, ShardingCodec, TransposeCodec
from zarr.codecs.sharding import _ShardIndex, _ShardingByteSetter, _ShardReader
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import cpu, default_buffer_prototype
from zarr.core.chunk_utils import (
    ChunkTransform,
    _merge_chunk_array,
    chunk_is_empty,
    encode_or_elide_chunk,
    evolve_codecs,
)
from zarr.core.codec_pipeline import AsyncChunkTransform
from zarr.core.dtype import Int16
from zarr.core.indexing import (
    _lexicographic_order,
    _morton_order,
    lexicographic_order_coords,
    morton_order_coords,
)
from zarr.core.json_parse import convert, parse_field
from zarr.core.metadata import io
from zarr.errors import MetadataValidationError, ZarrUserWarning
from zarr.experimental.cache_store import CacheStore
from zarr.storage import FsspecStore, MemoryStore, StorePath, WrapperStore
from zarr.testing.store import LatencyStore

# ------------------------------------------------------------------------------------------- json_parse


@pytest.mark.parametrize(
    ("value", "type_", "result"),
    [
        ([1, 2], tuple[int, ...], (1, 2)), ([1, "a"], tuple[int, str], (1, "a")), ((1,), list[int], [1]),
        (1, float, 1.0), ({"a": [1]}, dict[str, tuple[int, ...]], {"a": (1,)}), (None, int | None, None),
        ("F", Literal["C", "F"], "F"), ([1], Any, [1]),
    ],
)  # fmt: skip
def test_a_json_value_becomes_the_type(value: Any, type_: Any, result: Any) -> None:
    found = convert(value, type_)
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (True, int), (1, bool), (True, Literal[1]), (1.0, int), ("1", int), (True, float), ([1], tuple[int, int]),
        ("ab", tuple[str, ...]), ({"a": "b"}, dict[str, int]), (4, Literal[3]), (None, int),
    ],
)  # fmt: skip
def test_a_json_value_of_another_type_is_refused(value: Any, type_: Any) -> None:
    with pytest.raises(ValueError, match="Expected instance of"):
        convert(value, type_)


def test_a_member_is_refused_by_its_name() -> None:
    with pytest.raises(MetadataValidationError, match=r"'zarr_format': Expected instance of Literal\[3\], got 4"):
        parse_field(4, Literal[3], "zarr_format", error=MetadataValidationError)
    assert parse_field([1], tuple[int, ...], "shape") == (1,)


def test_codecs_of_format_2_have_an_id() -> None:
    assert _check_codecjson_v2({"id": "gzip", "level": 1})
    assert not any(map(_check_codecjson_v2, ({"id": 1}, {"name": "gzip"}, ["id"], None)))


# --------------------------------------------------------------------------------------------- documents


def test_the_smallest_values_that_differ_are_named() -> None:
    stored = {"zarr.json": {"shape": [1, 2], "a": {"x": 1, "y": 1.0, "z": True}, "gone": None}}
    new = {"zarr.json": {"shape": [1], "a": {"x": 1, "y": 1, "z": 1}, "new": []}, ".zattrs": {}}
    assert [tuple(change) for change in io.diff_documents(stored, new)] == [
        (("zarr.json", "shape", 1), 2, io.ABSENT), (("zarr.json", "a", "y"), 1.0, 1),
        (("zarr.json", "a", "z"), True, 1), (("zarr.json", "gone"), None, io.ABSENT),
        (("zarr.json", "new"), io.ABSENT, []), ((".zattrs",), io.ABSENT, {}),
    ]  # fmt: skip


class CountedStore(MemoryStore):
    stored: list[str]

    async def set(self, key: str, value: Any, byte_range: Any = None) -> None:
        self.stored.append(key)
        await super().set(key, value, byte_range)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_only_documents_that_differ_are_stored(zarr_format: Any) -> None:
    store = CountedStore()
    store.stored = []
    place = StorePath(store, "a")
    wanted = zarr.create_array(store, name="a", shape=3, dtype="i2", zarr_format=zarr_format).metadata
    names = io.ARRAY_DOCUMENTS[wanted.zarr_format]
    found = asyncio.run(io.read_documents(place, names))
    store.stored = []
    assert asyncio.run(io.upsert_metadata(place, wanted, found)) == ()
    assert store.stored == []
    document = json.loads(found[names[0]].to_bytes())
    raw = cpu.Buffer.from_bytes(json.dumps({**document, "shape": [4]}).encode())
    changes = asyncio.run(io.upsert_metadata(place, wanted, {**found, names[0]: raw}))
    assert changes == (io.DocumentChange((names[0], "shape", 0), 4, 3),)
    assert store.stored == [f"a/{names[0]}"]


def test_a_document_that_is_no_object_stays() -> None:
    place = StorePath(MemoryStore())
    metadata = zarr.create_array({}, shape=3, dtype="i2").metadata
    asyncio.run(place.store.set("zarr.json", cpu.Buffer.from_bytes(b"[]")))
    with pytest.raises(TypeError, match="Expected a JSON object, got list"):
        asyncio.run(io.upsert_metadata(place, metadata, asyncio.run(io.read_documents(place, ["zarr.json"]))))
    assert asyncio.run(io.read_documents(place, ["zarr.json", "x"]))["zarr.json"].to_bytes() == b"[]"


def test_saved_metadata_is_a_node_with_its_parents() -> None:
    store = MemoryStore()
    metadata = zarr.create_array({}, shape=3, dtype="i2", attributes={"a": 1}).metadata
    asyncio.run(io.save_metadata(StorePath(store, "g/a"), metadata, ensure_parents=True))
    assert zarr.open_group(store)["g/a"].attrs["a"] == 1
    with pytest.raises(ValueError, match="array"):
        asyncio.run(io.save_metadata(StorePath(store, "g/a/b"), metadata, ensure_parents=True))


# ------------------------------------------------------------------------------------------------ chunks


def spec_of(shape: tuple[int, ...], write_empty_chunks: bool = True) -> ArraySpec:
    config = ArrayConfig(order="C", write_empty_chunks=write_empty_chunks)
    return ArraySpec(shape, Int16(), np.int16(0), config, default_buffer_prototype())


def chunk_of(values: Any) -> Any:
    return default_buffer_prototype().nd_buffer.from_numpy_array(np.asarray(values, dtype="i2"))


def test_a_transform_encodes_what_an_array_stores() -> None:
    data = np.arange(6, dtype="i2").reshape(2, 3)
    store: dict[str, Any] = {}
    array = zarr.create_array(
        store, shape=(2, 3), chunks=(2, 3), dtype="i2", filters=[TransposeCodec(order=(1, 0))],
        compressors=None, serializer=BytesCodec(endian="big"),
    )  # fmt: skip
    array[:] = data
    spec = spec_of((2, 3))
    codecs = evolve_codecs(array.metadata.codecs, spec)
    plain, coroutines = ChunkTransform(codecs=codecs), AsyncChunkTransform(codecs=codecs)
    encoded = plain.encode_chunk(chunk_of(data), spec)
    assert encoded is not None
    assert encoded.to_bytes() == store["c/0/0"].to_bytes()
    again = asyncio.run(coroutines.encode_chunk(chunk_of(data), spec))
    assert again is not None
    assert again.to_bytes() == encoded.to_bytes()
    for decoded in (plain.decode_chunk(encoded, spec), asyncio.run(coroutines.decode_chunk(encoded, spec))):
        np.testing.assert_array_equal(decoded.as_numpy_array(), data)
    assert plain.compute_encoded_size(12, spec) == 12


class CoroutinesOnly(ArrayBytesCodec):
    is_fixed_size = True


def test_a_transform_without_a_loop_needs_plain_functions() -> None:
    with pytest.raises(TypeError, match="CoroutinesOnly"):
        ChunkTransform(codecs=(CoroutinesOnly(), GzipCodec()))


def test_a_part_of_a_chunk_is_replaced() -> None:
    value = chunk_of(np.arange(8))
    whole = _merge_chunk_array(None, value, (slice(4, 8),), spec_of((4,)), (slice(0, 4),), True, ())
    assert np.shares_memory(whole.as_numpy_array(), value.as_numpy_array())
    old = chunk_of([9, 9, 9, 9])
    part = _merge_chunk_array(old, value, (slice(0, 2),), spec_of((4,)), (slice(2, 4),), False, ())
    assert part.as_numpy_array().tolist() == [9, 9, 0, 1]
    assert old.as_numpy_array().tolist() == [9, 9, 9, 9]
    assert chunk_is_empty(chunk_of([0, 0]), spec_of((2,), write_empty_chunks=False))
    assert not chunk_is_empty(chunk_of([0, 0]), spec_of((2,)))


# ------------------------------------------------------------------------------------------------ shards


def test_an_inner_chunk_in_memory_is_a_place_of_bytes() -> None:
    shard: dict[tuple[int, ...], Any] = {}
    setter = _ShardingByteSetter(shard, (1,))
    prototype = default_buffer_prototype()
    assert asyncio.run(setter.get(prototype)) is None
    asyncio.run(setter.set_if_not_exists(cpu.Buffer.from_bytes(b"abcd")))
    asyncio.run(setter.set_if_not_exists(cpu.Buffer.from_bytes(b"x")))
    part = setter.get_sync(byte_range=RangeByteRequest(1, 3))
    assert part is not None
    assert part.to_bytes() == b"bc"
    assert list(shard) == [(1,)]
    asyncio.run(setter.delete())
    assert shard == {}


def test_an_index_is_dense_if_the_chunks_fill_the_file() -> None:
    index = _ShardIndex.create_empty((2,))
    assert not index.is_dense(4, data_section_start=8)
    index.set_chunk_slice((1,), slice(8, 12))
    index.set_chunk_slice((0,), slice(12, 16))
    assert index.is_dense(4, data_section_start=8)
    assert not index.is_dense(4, data_section_start=0)
    index.set_chunk_slice((0,), slice(10, 14))
    assert not index.is_dense(4, data_section_start=8)
    empty = _ShardReader.create_empty((2,))
    assert (len(empty), len(empty.buf), empty.index.is_all_empty()) == (2, 0, True)


def test_a_shard_of_fill_values_need_not_be_stored() -> None:
    codec = ShardingCodec(chunk_shape=(2,))
    zeros = chunk_of([0, 0, 0, 0])
    assert asyncio.run(codec._encode_single(zeros, spec_of((4,), write_empty_chunks=False))) is None
    assert asyncio.run(codec._encode_single(zeros, spec_of((4,)))) is not None


def test_a_codec_of_shards_knows_its_inner_chunks() -> None:
    codec = ShardingCodec(chunk_shape=(2,))
    assert list(codec._subchunk_order_iter((2, 2), "colexicographic")) == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert list(codec._subchunk_order_iter((2, 1), "morton")) == [(0, 0), (1, 0)]
    assert [codec._is_total_shard(coords, (2,)) for coords in ({(0,), (1,)}, {(1,)}, set())] == [True, False, False]
    assert codec._inner_codecs_fixed_size
    assert not ShardingCodec(chunk_shape=(2,), codecs=[BytesCodec(), GzipCodec()])._inner_codecs_fixed_size


# ------------------------------------------------------------------------------------------------ models


class Model:
    def __init__(self, **members: Any) -> None:
        vars(self).update(members)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_array_is_created_by_a_method_of_its_class(zarr_format: Any) -> None:
    place = StorePath(MemoryStore(), "a")
    made = zarr.Array._create(place, shape=(4,), dtype="int8", chunk_shape=(2,), zarr_format=zarr_format, fill_value=3)
    assert (made.chunks, made.metadata.zarr_format, made[:].tolist()) == ((2,), zarr_format, [3, 3, 3, 3])
    assert zarr.open_array(place) == made
    faced = asyncio.run(zarr.AsyncArray._create({}, shape=4, dtype="int8", codecs=[BytesCodec(), GzipCodec()]))
    assert (faced.metadata.zarr_format, faced.compressors) == (3, (GzipCodec(),))
    with pytest.raises(TypeError, match="shape"):
        zarr.Array._create({}, dtype="int8")  # type: ignore[call-arg]


def test_a_model_gives_what_it_has() -> None:
    assert _get_shape_chunks(Model()) == (None, None)
    assert _get_shape_chunks(Model(shape=(4, 3), chunklen=2)) == ((4, 3), (2, 3))
    assert _like_args(Model(shape=(4,), chunks=(2,)), 3) == {"shape": (4,), "chunks": (2,), "zarr_format": 3}
    array = zarr.zeros_like(Model(shape=(4, 3), chunks=(2, 3)))
    assert (array.shape, array.chunks, array.dtype) == ((4, 3), (2, 3), np.dtype("f8"))


# ------------------------------------------------------------------------------------------- orders, stores


@pytest.mark.parametrize("shape", [(), (0, 2), (4,), (2, 3), (3, 2, 2)])
def test_orders_of_chunks_are_rows_of_coordinates(shape: tuple[int, ...]) -> None:
    assert _lexicographic_order(shape).tolist() == [list(coords) for coords in np.ndindex(*shape)]
    for order, coords in (
        (_morton_order, morton_order_coords),
        (_lexicographic_order, lexicographic_order_coords),
    ):
        rows = order(shape)
        assert rows.shape == (np.prod(shape, dtype=int), len(shape))
        assert tuple(map(tuple, rows.tolist())) == coords(shape)
        assert sorted(coords(shape)) == list(np.ndindex(*shape))
        assert not rows.flags.writeable


class OtherStore(MemoryStore):
    _supports_sync_io = False


def test_a_wrapper_answers_for_its_store_whether_plain_methods_work() -> None:
    asynchronous = FsspecStore.from_url("memory://sync-io")
    for store in (WrapperStore(MemoryStore()), LatencyStore(MemoryStore())):
        assert _store_supports_sync_io(store)
    for store in (WrapperStore(asynchronous), LatencyStore(asynchronous)):
        assert not _store_supports_sync_io(store)
    assert not _store_supports_sync_io(CacheStore(MemoryStore(), cache_store=asynchronous))
    assert not _store_supports_sync_io(OtherStore())
    with pytest.raises(TypeError, match="does not support synchronous get"):
        WrapperStore(asynchronous).get_sync("a")


@pytest.mark.filterwarnings("ignore:Consolidated metadata is currently not part")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_change_of_a_group_does_not_repeat_what_opening_it_has_told(zarr_format: Any) -> None:
    store = MemoryStore()
    root = zarr.create_group(store, zarr_format=zarr_format)
    root.create_array("a", shape=2, chunks=2, dtype="i4", fill_value=0)
    zarr.consolidate_metadata(store)
    key = ".zmetadata" if zarr_format == 2 else "zarr.json"
    text = store._store_dict[key].to_bytes().decode()
    document = json.loads(text)
    if zarr_format == 2:
        document["metadata"]["a/.zarray"]["chunks"] = [0]
    else:
        document["consolidated_metadata"]["metadata"]["a"]["chunk_grid"]["configuration"]["chunk_shape"] = [0]
    store._store_dict[key] = cpu.Buffer.from_bytes(json.dumps(document).encode())
    with pytest.warns(ZarrUserWarning, match="is read as"):
        group = zarr.open_group(store, mode="r+", use_consolidated=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ZarrUserWarning)
        group.attrs["x"] = 1
        group.update_attributes({"y": 2})
    assert dict(zarr.open_group(store, use_consolidated=False).attrs) == {"x": 1, "y": 2}


def test_a_group_runs_coroutines_of_its_asynchronous_face() -> None:
    group = zarr.create_group(MemoryStore())
    group.create_array("a", shape=2, dtype="i4")
    face = group._async_group
    assert group._sync(face.getitem("a")).shape == (2,)
    assert [name for name, _ in group._sync_iter(face.members())] == ["a"]


def test_a_group_gives_nodes_of_its_consolidated_metadata_by_themselves() -> None:
    store = MemoryStore()
    zarr.create_group(store, zarr_format=2).create_array("g/a", shape=2, dtype="i4")
    zarr.consolidate_metadata(store)
    face = zarr.open_group(store)._async_group
    found = [face._getitem_consolidated(face.store_path, name, prefix="/") for name in ("g", "g/a")]
    assert [(type(node).__name__, node.name) for node in found] == [("AsyncGroup", "/g"), ("AsyncArray", "/g/a")]
    for name in ("b", "g/a/b"):
        with pytest.raises(KeyError, match=name):
            face._getitem_consolidated(face.store_path, name, prefix="/")


@pytest.mark.filterwarnings("ignore:Consolidated metadata is currently not part")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_group_is_made_of_the_bytes_of_its_documents(zarr_format: Any) -> None:
    store = MemoryStore()
    group = zarr.create_group(store, zarr_format=zarr_format, attributes={"a": 1})
    group.create_array("x", shape=2, dtype="i4")
    opened = zarr.consolidate_metadata(store)._async_group
    raw = store._store_dict
    if zarr_format == 2:
        made = AsyncGroup._from_bytes_v2(opened.store_path, raw[".zgroup"], raw[".zattrs"], raw[".zmetadata"])
        assert AsyncGroup._from_bytes_v2(opened.store_path, raw[".zgroup"], None, None).metadata.attributes == {}
    else:
        made = AsyncGroup._from_bytes_v3(opened.store_path, raw["zarr.json"], True)
    assert made == opened


# ------------------------------------------------------------------------------------------- shards written by hand


@pytest.mark.parametrize("location", ["start", "end"])
def test_a_program_that_writes_and_reads_shards_by_itself(location: Literal["start", "end"]) -> None:
    sharding = ShardingCodec(chunk_shape=(2, 3), index_location=location)
    array = zarr.create_array(
        {}, name="a", shape=(4, 6), chunks=(4, 6), serializer=sharding, compressors=None, dtype="f4", fill_value=0
    )
    data = np.arange(24, dtype="f4").reshape(4, 6)
    data[:2, :3] = 0
    codec: Any = array.metadata.codecs[0]
    spec = ArraySpec((4, 6), array.metadata.dtype, np.float32(0), ArrayConfig("C", False), default_buffer_prototype())
    counts = codec._get_chunks_per_shard(spec)
    chunk_spec, transform = codec._get_chunk_spec(spec), codec._get_inner_chunk_transform(spec)
    start = codec._shard_index_size(counts) if location == "start" else 0
    index, body = _ShardIndex.create_empty(counts), b""
    for i, j in ((1, 0), (1, 1), (0, 0), (0, 1)):
        part = cpu.NDBuffer.from_numpy_array(data[2 * i : 2 * i + 2, 3 * j : 3 * j + 3].copy())
        encoded = encode_or_elide_chunk(part, chunk_spec, transform.encode_chunk)
        if encoded is not None:
            index.set_chunk_slice((i, j), slice(start + len(body), start + len(body) + len(encoded)))
            body += encoded.to_bytes()
    table = codec._encode_shard_index_sync(index)
    assert asyncio.run(codec._encode_shard_index(index)) == table
    shard = table.to_bytes() + body if location == "start" else body + table.to_bytes()
    key = array.store_path / "c/0/0"
    asyncio.run(key.set(cpu.Buffer.from_bytes(shard)))
    assert np.array_equal(array[:], data)
    assert asyncio.run(_shard_read_by_hand(codec, key, counts)) == index.offsets_and_lengths.tolist()


async def _shard_read_by_hand(codec: Any, key: StorePath, counts: tuple[int, ...]) -> Any:
    prototype = default_buffer_prototype()
    whole = await codec._load_full_shard_maybe(key, prototype, counts)
    some = await codec._load_partial_shard_maybe(key, prototype, counts, {(0, 0), (0, 1), (1, 1)})
    assert some == {coords: whole[coords] for coords in ((0, 1), (1, 1))}
    for load in (codec._load_full_shard_maybe, codec._load_partial_shard_maybe):
        extra = ({(0, 0)},) if load == codec._load_partial_shard_maybe else ()
        assert await load(key / "absent", prototype, counts, *extra) is None
    return (await codec._load_shard_index_maybe(key, counts)).offsets_and_lengths.tolist()
