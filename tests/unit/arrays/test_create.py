"""What documents the parameters of a new array make, and what parameters are refused."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec
from zarr.errors import ContainsArrayError, UnnamedCodecError, ZarrUserWarning

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
ZSTD = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}
CRC = {"name": "crc32c"}


def document(key: str = "zarr.json", **parameters: Any) -> Any:
    """The JSON document that a new array is stored with."""
    store: dict[str, Any] = {}
    zarr.create_array(store, **parameters)
    return json.loads(store[key].to_bytes())


def sharding(shape: list[int], codecs: list[Any], location: str = "end") -> dict[str, Any]:
    """The JSON form of a sharding codec."""
    return {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": shape,
            "codecs": codecs,
            "index_codecs": [BYTES, CRC],
            "index_location": location,
        },
    }


def test_whole_v3_document() -> None:
    assert document(shape=(10,), dtype="i4", attributes={"a": 1}) == {
        "shape": [10],
        "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [BYTES, ZSTD],
        "attributes": {"a": 1},
        "zarr_format": 3,
        "node_type": "array",
        "storage_transformers": [],
    }


def test_whole_v2_document() -> None:
    assert document(".zarray", shape=(10,), dtype="i4", zarr_format=2) == {
        "shape": [10],
        "chunks": [10],
        "dtype": "<i4",
        "fill_value": 0,
        "order": "C",
        "filters": None,
        "dimension_separator": ".",
        "compressor": {"id": "zstd", "level": 0},
        "zarr_format": 2,
    }


@pytest.mark.parametrize(
    ("parameters", "codecs"),
    [
        ({"compressors": None}, [BYTES]),
        ({"compressors": ()}, [BYTES]),
        ({"filters": None}, [BYTES, ZSTD]),
        ({"serializer": BytesCodec(endian="big")}, [{"name": "bytes", "configuration": {"endian": "big"}}, ZSTD]),
        ({"compressors": {"name": "gzip", "configuration": {"level": 2}}},
         [BYTES, {"name": "gzip", "configuration": {"level": 2}}]),
        ({"compressors": [ZstdCodec(level=3), Crc32cCodec()]},
         [BYTES, {"name": "zstd", "configuration": {"level": 3, "checksum": False}}, CRC]),
        ({"compressors": numcodecs.GZip(3)}, [BYTES, {"name": "gzip", "configuration": {"level": 3}}]),
        ({"compressors": numcodecs.Zstd(3)},
         [BYTES, {"name": "zstd", "configuration": {"level": 3, "checksum": False}}]),
        ({"compressors": numcodecs.Blosc(cname="lz4", clevel=4, shuffle=2)},
         [BYTES, {"name": "blosc", "configuration": {
             "cname": "lz4", "clevel": 4, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 0}}]),
    ],
)  # fmt: skip
def test_codecs(parameters: Any, codecs: Any) -> None:
    assert document(shape=(3,), dtype="i4", **parameters)["codecs"] == codecs


def test_filters() -> None:
    made = document(shape=(3, 4), dtype="i4", filters=[TransposeCodec(order=(1, 0))])
    assert made["codecs"][0] == {"name": "transpose", "configuration": {"order": [1, 0]}}
    made = document(".zarray", shape=(3,), dtype="i4", filters=[numcodecs.Delta("i4")], zarr_format=2)
    assert made["filters"] == [{"id": "delta", "dtype": "<i4", "astype": "<i4"}]


def test_shards() -> None:
    made = document(shape=(8, 8), dtype="i4", chunks=(2, 2), shards=(4, 4))
    assert made["chunk_grid"]["configuration"] == {"chunk_shape": [4, 4]}
    assert made["codecs"] == [sharding([2, 2], [BYTES, ZSTD])]
    made = document(shape=(8,), dtype="i4", chunks=(2,), shards={"shape": (4,), "index_location": "start"})
    assert made["codecs"] == [sharding([2], [BYTES, ZSTD], "start")]


@pytest.mark.filterwarnings("ignore:Automatic shard")
def test_automatic_chunks_and_shards() -> None:
    assert zarr.create_array({}, shape=(10000, 8000), dtype="f8").chunks == (625, 500)
    array = zarr.create_array({}, shape=(10000, 8000), dtype="i4", shards="auto")
    assert (array.chunks, array.shards) == ((313, 500), (626, 1000))
    assert zarr.create_array({}, shape=(10000, 3000), dtype=str).chunks == (1250, 750)
    assert zarr.create_array({}, shape=(0, 8), dtype="i4").chunks == (1, 8)
    assert zarr.create_array({}, shape=(8, 8), dtype="i4", chunks=(-1, 1)).chunks == (8, 1)
    assert zarr.create_array({}, shape=(8, 8), dtype="i4", chunks=3).chunks == (3, 3)


@pytest.mark.parametrize(
    ("dtype", "name", "fill", "serializer"),
    [
        ("bool", "bool", False, {"name": "bytes"}),
        ("i1", "int8", 0, {"name": "bytes"}),
        (">f4", "float32", 0.0, BYTES),
        ("c8", "complex64", [0.0, 0.0], BYTES),
        ("U3", {"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}}, "", BYTES),
        (
            "M8[s]",
            {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}},
            -9223372036854775808,
            BYTES,
        ),
        (str, "string", "", {"name": "vlen-utf8", "configuration": {}}),
        (
            [("a", "i4")],
            {"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int32"}]}},
            {"a": 0},
            BYTES,
        ),
    ],
)
def test_data_types(dtype: Any, name: Any, fill: Any, serializer: Any) -> None:
    made = document(shape=(3,), dtype=dtype)
    assert made["data_type"] == name
    assert made["fill_value"] == fill
    assert made["codecs"] == [serializer, ZSTD]


def test_fill_values() -> None:
    assert document(shape=(3,), dtype="f4", fill_value=np.nan)["fill_value"] == "NaN"
    assert document(shape=(3,), dtype="f4", fill_value=None)["fill_value"] == 0.0
    assert document(".zarray", shape=(3,), dtype="f4", fill_value=None, zarr_format=2)["fill_value"] is None
    assert document(".zarray", shape=(3,), dtype="V3", zarr_format=2)["fill_value"] == "AAAA"


def test_keys_and_names() -> None:
    made = document(
        shape=(3, 4), dtype="i1", dimension_names=["x", None], chunk_key_encoding={"name": "v2", "separator": "/"}
    )
    assert made["dimension_names"] == ["x", None]
    assert made["chunk_key_encoding"] == {"name": "v2", "configuration": {"separator": "/"}}
    made = document(
        ".zarray", shape=(3,), dtype="i1", zarr_format=2, chunk_key_encoding={"name": "v2", "separator": "/"}
    )
    assert made["dimension_separator"] == "/"


def test_rectilinear() -> None:
    made = document(shape=(6, 6), dtype="i4", chunks=[[1, 2, 3], [2, 2, 2]])
    assert made["chunk_grid"] == {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[1, 2, 3], [[2, 3]]]},
    }
    array = zarr.create_array({}, shape=(6, 6), dtype="i4", chunks=(2, 2), shards=[[2, 4], [4, 2]])
    assert array.chunks == (2, 2)
    assert array.write_chunk_sizes == ((2, 4), (4, 2))
    with pytest.raises(NotImplementedError):
        _ = array.shards


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"chunks": (3, 3), "shards": (4, 4)}, ValueError),
        ({"chunks": (2, 2), "shards": (4, 4), "zarr_format": 2}, ValueError),
        ({"chunks": (3,)}, ValueError),
        ({"chunks": (0, 1)}, ValueError),
        ({"chunks": (-2, 1)}, ValueError),
        ({"fill_value": "x"}, ValueError),
        ({"dimension_names": ["x"]}, ValueError),
        ({"dimension_names": ["x", "y"], "zarr_format": 2}, ValueError),
        ({"serializer": BytesCodec(), "zarr_format": 2}, ValueError),
        ({"compressors": ZstdCodec(), "zarr_format": 2}, ValueError),
        ({"compressors": [numcodecs.Zstd(), numcodecs.Zstd()], "zarr_format": 2}, TypeError),
        ({"chunk_key_encoding": {"name": "default", "separator": "/"}, "zarr_format": 2}, ValueError),
        ({"chunks": [[1, 7], [8]], "zarr_format": 2}, ValueError),
        ({"chunks": [[2, 2], [8]]}, ValueError),
        ({"chunks": [[1, 7], [8]], "shards": (8, 8)}, ValueError),
        ({"zarr_format": 4}, ValueError),
        ({"dtype": str, "zarr_format": 2, "filters": None}, ValueError),
        ({"compressors": BytesCodec()}, TypeError),
        ({"compressors": "zstd"}, TypeError),
        ({"compressors": ["zstd"]}, TypeError),
        ({"filters": ["numcodecs.delta"]}, TypeError),
        ({"serializer": "bytes"}, TypeError),
        ({"serializer": {"configuration": {}}}, UnnamedCodecError),
        ({"compressors": [{"level": 1}]}, UnnamedCodecError),
        ({"compressors": [{"level": 1}], "zarr_format": 2}, UnnamedCodecError),
        ({"compressors": "zstd", "zarr_format": 2}, TypeError),
        ({"filters": ["delta"], "zarr_format": 2}, TypeError),
        ({"filters": 3, "zarr_format": 2}, TypeError),
        ({"filters": [ZstdCodec()], "zarr_format": 2}, TypeError),
        ({"data": np.zeros((8, 8))}, ValueError),
    ],
)
def test_refused(parameters: Any, error: type[Exception]) -> None:
    store: dict[str, Any] = {}
    with pytest.raises(error):
        zarr.create_array(store, **{"shape": (8, 8), "dtype": "i4", **parameters})
    assert store == {}


def test_a_nan_of_arithmetic_is_the_usual_one() -> None:
    inf = float("inf")
    for fill, expected in ((inf * 1j, ["NaN", "Infinity"]), (complex(-float("nan"), 1), ["NaN", 1.0])):
        array = zarr.create_array({}, shape=(2,), dtype="complex64", fill_value=fill)
        assert list(array.metadata.to_dict()["fill_value"]) == expected  # type: ignore[call-overload]


def test_shape_and_dtype_are_needed() -> None:
    with pytest.raises(ValueError, match="shape was not specified"):
        zarr.create_array({}, dtype="i4")
    with pytest.raises(ValueError, match="dtype was not specified"):
        zarr.create_array({}, shape=(3,))


def test_data_is_written_or_not() -> None:
    data = np.arange(6).reshape(2, 3)
    assert (zarr.create_array({}, data=data)[...] == data).all()
    assert (zarr.create_array({}, data=data, write_data=False)[...] == 0).all()
    assert (zarr.create_array({}, data=np.asfortranarray(data), zarr_format=2, order="F")[...] == data).all()


def test_overwrite() -> None:
    store: dict[str, Any] = {}
    zarr.create_array(store, data=np.arange(3))
    with pytest.raises(ContainsArrayError):
        zarr.create_array(store, shape=(4,), dtype="i1")
    array = zarr.create_array(store, shape=(4,), dtype="i1", overwrite=True)
    assert array[...].tolist() == [0, 0, 0, 0]
    assert sorted(store) == ["zarr.json"]


def test_order_says_nothing_in_format_3() -> None:
    with pytest.warns(RuntimeWarning, match="order"):
        assert zarr.create_array({}, shape=(3, 4), dtype="i4", order="F").order == "C"
    array = zarr.create_array({}, shape=(3, 4), dtype="i4", order="F", zarr_format=2)
    assert array.order == "F"
    assert array[...].flags.f_contiguous
    assert zarr.open_array(array.store)[...].flags.f_contiguous


def test_from_array_keeps() -> None:
    source = zarr.create_array(
        {}, shape=(20, 20), chunks=(5, 5), shards=(10, 10), dtype="f4", fill_value=7, attributes={"q": 1},
        dimension_names=["x", "y"], compressors=GzipCodec(), chunk_key_encoding={"name": "v2", "separator": "."},
    )  # fmt: skip
    source[:10] = 3
    store: dict[str, Any] = {}
    copied = zarr.from_array(store, data=source)
    assert copied.metadata == source.metadata
    assert (copied[...] == source[...]).all()
    assert copied.nchunks_initialized == 8
    assert sorted(store) == ["0.0", "0.1", "zarr.json"]
    assert zarr.from_array({}, data=source, shards=None).shards is None
    assert zarr.from_array({}, data=source, write_data=False).nchunks_initialized == 0
    assert zarr.from_array({}, data=source, fill_value=1).nchunks_initialized == 16
    assert zarr.from_array({}, data=source, attributes={}).attrs.asdict() == {}
    assert isinstance(zarr.from_array({}, data=source, compressors="auto").compressors[0], ZstdCodec)
    with pytest.raises(ValueError, match="shard_shape"):
        zarr.from_array({}, data=source, zarr_format=2)


def test_from_array_between_formats() -> None:
    source = zarr.create_array(
        {}, data=np.arange(400, dtype="f4").reshape(20, 20), chunks=(5, 5), zarr_format=2, order="F",
        filters=[numcodecs.Delta("f4")],
    )  # fmt: skip
    same = zarr.from_array({}, data=source)
    assert same.metadata == source.metadata
    with pytest.warns(UserWarning, match="order"):
        other = zarr.from_array({}, data=source, zarr_format=3)
    assert other.chunks == (5, 5)
    assert other.filters == ()
    for array in (same, other):
        assert (array[...] == source[...]).all()
    assert zarr.from_array({}, data=[[1, 2], [3, 4]])[...].tolist() == [[1, 2], [3, 4]]
    rectilinear = zarr.create_array({}, shape=(6,), chunks=[[1, 2, 3]], dtype="i4")
    assert zarr.from_array({}, data=rectilinear).write_chunk_sizes == ((1, 2, 3),)


def test_from_array_does_not_delete_its_source() -> None:
    store = zarr.storage.MemoryStore()
    source = zarr.create_array(store, name="a", data=np.arange(3))
    with pytest.raises(ValueError, match="paths overlap"):
        zarr.from_array(store, data=source, name="a", overwrite=True)
    for name in ("", "a/c", "a/c/0", "a/0"):
        with pytest.raises(ValueError, match="paths overlap"):
            zarr.from_array(store, data=source, name=name, overwrite=True)
    assert source[...].tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["below", "b/c", "copy"])
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("keys", [".", "/"])
def test_from_array_below_its_source(tmp_path: Path, name: str, zarr_format: Any, keys: str) -> None:
    kind = "v2" if zarr_format == 2 else "default"
    source = zarr.create_array(
        tmp_path, data=np.arange(3), zarr_format=zarr_format, chunk_key_encoding={"name": kind, "separator": keys}
    )
    for _ in range(2):
        made = zarr.from_array(tmp_path / name, data=source, overwrite=True)
        assert made[...].tolist() == source[...].tolist() == [0, 1, 2]


def test_python_objects_in_format_2() -> None:
    dtype = zarr.dtype.parse_dtype({"name": "|O", "object_codec_id": "json2"}, zarr_format=2)
    array = zarr.create_array({}, shape=(4,), chunks=(3,), dtype=dtype, zarr_format=2, fill_value=None)
    array[0:2] = np.array([{"a": 1}, [1, 2]], dtype=object)
    assert array[0:2].tolist() == [{"a": 1}, [1, 2]]


def test_nested_shards() -> None:
    data = np.arange(32)
    array = zarr.create_array({}, data=data, chunks=(4,), shards=(8,), serializer=ShardingCodec(chunk_shape=(2,)))
    assert (array.chunks, array.shards) == ((4,), (8,))
    array[3:13] = 0
    data[3:13] = 0
    assert (array[...] == data).all()


def test_a_codec_beside_shards_is_told_of_once() -> None:
    store: dict[str, Any] = {}
    root = zarr.create_group(store)
    codecs = [TransposeCodec(order=(1, 0)), ShardingCodec(chunk_shape=(2, 2))]
    with pytest.warns(ZarrUserWarning, match="disables partial reads") as told:
        zarr.create(shape=(4, 4), chunks=(4, 4), dtype="i4", codecs=codecs, store=store, path="a")
    assert len(told) == 1
    for look in (lambda: zarr.open_array(store, path="a"), lambda: zarr.open(store, path="a"), lambda: root["a"]):
        with pytest.warns(ZarrUserWarning, match="disables partial reads") as told:
            array = look()
        assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        array[1:3, 1:3] = 7
        assert array[...].sum() == 28


def test_shards_of_our_choice_follow_the_configuration_and_are_told_of_each_time() -> None:
    parameters: dict[str, Any] = {"shape": (1000, 1000), "dtype": "i4", "chunks": (10, 10), "shards": "auto"}
    shards = []
    for target in (None, 100_000, 100_000, None):
        with zarr.config.set({"array.target_shard_size_bytes": target}), pytest.warns(ZarrUserWarning, match="shard"):
            shards.append(zarr.create_array({}, **parameters).shards)
    assert shards == [(20, 20), (150, 150), (150, 150), (20, 20)]


def test_a_rectilinear_grid_of_lengths_is_kept_as_it_is() -> None:
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [2, 3]}}
    store: dict[str, Any] = {}
    made = zarr.create_array(store, shape=(6, 6), dtype="i4", chunks=[[1, 2, 3], [3, 3]])
    known = json.loads(store["zarr.json"].to_bytes())
    store["zarr.json"] = store["zarr.json"].from_bytes(json.dumps({**known, "chunk_grid": grid}).encode())
    made = zarr.open_array(store)
    copied: dict[str, Any] = {}
    assert zarr.from_array(copied, data=made).read_chunk_sizes == ((2, 2, 2), (3, 3))
    assert json.loads(copied["zarr.json"].to_bytes())["chunk_grid"] == grid


def test_no_dimension_names_are_none() -> None:
    assert "dimension_names" not in document(shape=(2,), dtype="i4", dimension_names=[])
