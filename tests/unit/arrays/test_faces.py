"""What arrays tell of themselves, how they change, and that both faces see it."""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from zarr.buffer import cpu
from zarr.codecs import Crc32cCodec, GzipCodec, TransposeCodec
from zarr.errors import ChunkNotFoundError, UnknownCodecError, ZarrDeprecationWarning
from zarr.storage import LocalStore, MemoryStore

from .conftest import open_store


@pytest.fixture
def array() -> Any:
    return zarr.create_array({}, data=np.arange(36, dtype="i4").reshape(6, 6), chunks=(2, 4))


def test_properties(array: Any) -> None:
    assert (array.shape, array.ndim, array.size, array.nbytes) == ((6, 6), 2, 36, 144)
    assert (array.chunks, array.shards, array.nchunks, array.cdata_shape) == ((2, 4), None, 6, (3, 2))
    assert array.read_chunk_sizes == array.write_chunk_sizes == ((2, 2, 2), (4, 2))
    assert (array.path, array.name, array.basename) == ("", "/", "")
    assert (array.order, array.read_only, array.fill_value) == ("C", False, 0)
    assert array.filters == ()
    assert [type(codec).__name__ for codec in (array.serializer, *array.compressors)] == ["BytesCodec", "ZstdCodec"]
    assert repr(array) == f"<Array {array.store} shape=(6, 6) dtype=int32>"
    assert repr(array.async_array) == f"<AsyncArray {array.store} shape=(6, 6) dtype=int32>"
    with pytest.warns(ZarrDeprecationWarning, match="compressors"):
        assert array.compressor == numcodecs.Zstd(level=0)


def test_properties_of_a_sharded_array() -> None:
    group = zarr.create_group({})
    array = group.create_array("a/b", shape=(5, 4), chunks=(2, 2), shards=(4, 4), dtype="f4")
    assert (array.chunks, array.shards, array.nchunks, array.cdata_shape) == ((2, 2), (4, 4), 6, (3, 2))
    assert (array.read_chunk_sizes, array.write_chunk_sizes) == (((2, 2, 1), (2, 2)), ((4, 1), (4,)))
    assert (array.path, array.name, array.basename) == ("a/b", "/a/b", "b")
    assert array.nchunks_initialized == 0
    array[0, 0] = 1
    assert array.nchunks_initialized == 4


def test_properties_of_format_2() -> None:
    array = zarr.create_array(
        {}, shape=(5,), dtype="f4", zarr_format=2, compressors=numcodecs.Zstd(1), filters=[numcodecs.Delta("f4")]
    )
    assert array.serializer is None
    assert array.filters == (numcodecs.Delta("f4"),)
    with pytest.warns(ZarrDeprecationWarning, match="compressors"):
        assert array.compressor == array.compressors[0]


def test_rectilinear_has_no_single_chunk_shape() -> None:
    array = zarr.create_array({}, shape=(6, 6), chunks=[[1, 2, 3], [2, 2, 2]], dtype="i4")
    with pytest.raises(NotImplementedError):
        _ = array.chunks
    assert array.shards is None
    assert array.read_chunk_sizes == ((1, 2, 3), (2, 2, 2))
    assert "Chunk shape        : <variable>" in repr(array.info)


def test_info() -> None:
    array = zarr.create_array(
        {}, shape=(10, 10), chunks=(5, 5), shards=(10, 10), dtype="f8",
        filters=[TransposeCodec(order=(1, 0))], compressors=[GzipCodec(level=1), Crc32cCodec()],
    )  # fmt: skip
    expected = """\
Type               : Array
Zarr format        : 3
Data type          : Float64(endianness='little')
Fill value         : 0.0
Shape              : (10, 10)
Shard shape        : (10, 10)
Chunk shape        : (5, 5)
Order              : C
Read-only          : False
Store type         : MemoryStore
Filters            : (TransposeCodec(order=(1, 0)),)
Serializer         : BytesCodec(endian='little')
Compressors        : (GzipCodec(level=1), Crc32cCodec())
No. bytes          : 800"""
    assert repr(array.info) == expected
    array[...] = np.random.default_rng(0).random((10, 10))
    complete = repr(array.info_complete())
    assert complete.startswith(expected)
    assert f"No. bytes stored   : {array.nbytes_stored()}" in complete
    assert complete.endswith("Shards Initialized : 1")


def test_nbytes_stored_counts_every_key() -> None:
    store: dict[str, Any] = {}
    array = zarr.create_array(store, data=np.arange(100), chunks=(7,))
    assert array.nbytes_stored() == sum(len(value) for value in store.values())


def test_iteration_reads_each_row_of_chunks_once(array: Any) -> None:
    assert [row.tolist() for row in array] == array[...].tolist()
    assert len(array) == 6
    scalar = zarr.create_array({}, shape=(), dtype="i4")
    assert list(scalar) == []
    with pytest.raises(TypeError, match="0-dim"):
        len(scalar)
    assert [x.shape for x in zarr.create_array({}, data=np.arange(3))] == [(), (), ()]


def test_numpy_protocol(array: Any) -> None:
    assert np.asarray(array).dtype == "i4"
    assert np.array(array, dtype="f4").dtype == "f4"
    with pytest.raises(ValueError, match="copy"):
        np.array(array, copy=False)
    assert bool(zarr.create_array({}, shape=(0,), dtype="i4")) is True


def test_equality_and_hash(array: Any) -> None:
    assert array == zarr.Array(array.async_array)
    assert array != zarr.create_array({}, shape=(1,), dtype="i4")
    assert (array == array[...]).all()
    with pytest.raises(TypeError, match="unhashable"):
        hash(array)


def test_pickling(tmp_path: Any) -> None:
    array = zarr.create_array(LocalStore(tmp_path), name="a", data=np.arange(10), config={"order": "F"})
    array[0]
    again = pickle.loads(pickle.dumps(array))
    assert again == array
    assert again[...].tolist() == list(range(10))
    assert again.config == array.config
    assert pickle.loads(pickle.dumps(array.async_array)) == array.async_array


def test_attributes(array: Any) -> None:
    array.attrs["a"] = 1
    array.attrs.update({"b": 2}, c=3)
    del array.attrs["a"]
    assert dict(array.attrs) == {"b": 2, "c": 3}
    assert zarr.open_array(array.store).attrs.asdict() == {"b": 2, "c": 3}
    array.attrs.put({"z": 1})
    assert array.async_array.attrs == {"z": 1}
    assert array.update_attributes({"y": 2}).attrs.asdict() == {"z": 1, "y": 2}
    with pytest.raises(KeyError):
        del array.attrs["nothing"]
    with pytest.raises(TypeError, match="JSON"):
        array.attrs["bad"] = object()
    assert "bad" not in array.attrs


def test_both_faces_see_a_change(array: Any) -> None:
    other = array.async_array
    array.resize((8, 6))
    assert other.shape == (8, 6)
    asyncio.run(other.append(np.ones((1, 6), "i4")))
    assert array.shape == (9, 6)
    assert array[8].tolist() == [1] * 6
    asyncio.run(other.update_attributes({"a": 1}))
    assert array.attrs["a"] == 1


def test_read_only() -> None:
    store = MemoryStore()
    zarr.create_array(store, data=np.arange(10), chunks=(2,))
    array = zarr.open_array(store.with_read_only(True), mode="r")
    for change in (
        lambda: array.__setitem__(0, 1),
        lambda: array.__setitem__(Ellipsis, 1),
        lambda: array.resize(3),
        lambda: array.append([1]),
        lambda: array.attrs.update(a=1),
    ):
        with pytest.raises(ValueError, match="read-only"):
            change()


def test_with_config(array: Any) -> None:
    other = array.with_config({"order": "F", "write_empty_chunks": True})
    assert (other.config.order, other.config.write_empty_chunks) == ("F", True)
    assert other[...].flags.f_contiguous
    assert array.config.order == "C"
    with pytest.raises(TypeError):
        array.with_config({"unknown": 1})


@pytest.mark.parametrize("shards", [None, (4,)])
def test_missing_chunks(shards: Any, way: Any) -> None:
    array = zarr.create_array({}, shape=(8,), chunks=(2,), shards=shards, dtype="i4", fill_value=5)
    assert way(array)[...].tolist() == [5] * 8
    strict = way(array.with_config({"read_missing_chunks": False}))
    with pytest.raises(ChunkNotFoundError, match="c/1"):
        strict[...]
    strict[0:2] = 1
    assert strict[0:2].tolist() == [1, 1]
    if shards:
        assert strict[0:4].tolist() == [1, 1, 5, 5]
    with pytest.raises(ChunkNotFoundError, match=r"1 chunk\(s\) not found" if shards else r"3 chunk\(s\)"):
        strict[...]


@pytest.mark.parametrize("shards", [None, (4,)])
def test_empty_chunks(shards: Any, way: Any) -> None:
    store: dict[str, Any] = {}
    array = way(zarr.create_array(store, shape=(8,), chunks=(2,), shards=shards, dtype="f4", fill_value=np.nan))
    array[...] = np.arange(8)
    count = len(store)
    array[...] = np.nan
    assert sorted(store) == ["zarr.json"]
    kept = way(array.with_config({"write_empty_chunks": True}))
    kept[...] = np.nan
    assert len(store) == count


def test_negative_zero_is_no_fill(way: Any) -> None:
    array = way(zarr.create_array({}, shape=(4,), chunks=(2,), dtype="f4"))
    array[...] = -0.0
    assert np.signbit(array[...]).all()


def test_a_small_selection_touches_its_chunks_only() -> None:
    array = zarr.create_array({}, shape=(10**9, 10**9), chunks=(10**4, 10**4), dtype="i1", compressors=None)
    array.vindex[[3, 10**9 - 1], [5, 10**9 - 1]] = [1, 2]
    assert array.vindex[[3, 10**9 - 1, 7], [5, 10**9 - 1, 7]].tolist() == [1, 2, 0]
    array.resize((20, 20))
    assert array[3, 5] == 1
    assert array.nchunks_initialized == 1


STRUCT = np.dtype([("x", "<i4"), ("y", "<f8"), ("z", "S3")])


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("shards", [None, (6,)])
def test_fields(zarr_format: Any, shards: Any, way: Any) -> None:
    if zarr_format == 2 and shards:
        return
    data = np.array([(i, i * 1.5, b"ab") for i in range(10)], dtype=STRUCT)
    array = way(zarr.create_array({}, data=data, chunks=(3,), shards=shards, zarr_format=zarr_format))
    assert array["x"].tolist() == list(range(10))
    assert (array["x", 2:5] == data["x"][2:5]).all()
    assert (array[2:5, "x"] == data["x"][2:5]).all()
    assert (array[0:3, "x", "y"] == data[["x", "y"]][0:3]).all()
    assert (array[["x", "y"]] == data[["x", "y"]]).all()
    assert (array.oindex["x", [1, 2]] == data["x"][[1, 2]]).all()
    assert (array.vindex["x", [1, 2]] == data["x"][[1, 2]]).all()
    assert (array.blocks["x", 0] == data["x"][: shards[0] if shards else 3]).all()
    assert (array.get_basic_selection(slice(0, 2), fields="y") == data["y"][:2]).all()
    with pytest.raises(IndexError, match="'q'"):
        array["q"]
    array["x"] = 7
    data["x"] = 7
    array[0:2, "y"] = [1, 2]
    data["y"][0:2] = [1, 2]
    array.set_basic_selection(slice(2, 3), np.array((5, 6.0), dtype=[("x", "i4"), ("y", "f8")]), fields=["x", "y"])
    data["x"][2], data["y"][2] = 5, 6.0
    array[4] = (100, 200.0, b"zz")
    data[4] = (100, 200.0, b"zz")
    assert (array[...] == data).all()


@pytest.mark.parametrize("inner", [[("f", "<i4"), ("y", "<f8")], [("x", "<i4"), ("y", "<f8")]])
@pytest.mark.parametrize("shards", [None, (6,)])
def test_a_field_that_is_a_structure(inner: Any, shards: Any, way: Any) -> None:
    data = np.zeros(10, dtype=[("f", inner), ("g", "<i2")])
    data["g"] = range(10)
    array = way(zarr.create_array({}, data=data, chunks=(3,), shards=shards))
    value = np.array([(i, i * 1.5) for i in range(10)], dtype=inner)
    array["f"] = data["f"] = value
    assert (array[...] == data).all()
    array["f", 2:5] = data["f"][2:5] = np.array((7, 8.0), dtype=inner)
    array.set_basic_selection(slice(6, 8), value[:2], fields="f")
    array.set_coordinate_selection([9], value[:1], fields="f")
    data["f"][6:8], data["f"][9] = value[:2], value[0]
    assert (array[...] == data).all()
    array.set_basic_selection(slice(0, 1), data[["g", "f"]][4:5], fields=["g", "f"])
    data[0] = data[4]
    assert (array[...] == data).all()


@pytest.mark.parametrize(
    "value", [3, 3.7, "5", np.float64(2), [[1] * 6], np.arange(6), np.arange(6)[:, None], np.array(4)]
)
def test_values_are_cast_and_broadcast(value: Any, array: Any) -> None:
    expected = np.empty((6, 6), "i4")
    expected[...] = np.asarray(value).astype("i4")
    array[...] = value
    assert (array[...] == expected).all()


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (None, TypeError),
        (1j, TypeError),
        (2**40, OverflowError),
        (float("nan"), ValueError),
        (np.ones((5, 6)), ValueError),
        (np.ones((2, 6, 6)), ValueError),
    ],
)
def test_values_that_do_not_fit(value: Any, error: type[Exception], array: Any) -> None:
    before = array[...]
    with pytest.raises(error):
        array[...] = value
    assert (array[...] == before).all()


def test_points_need_one_value_each(array: Any) -> None:
    array.vindex[np.array([[0, 2], [1, 1]]), np.array([[1, 3], [1, 2]])] = [1, 2, 3, 4]
    assert array[1, 1] == 3
    with pytest.raises(ValueError, match="2 elements with an array of 3"):
        array.vindex[[0, 2], [1, 3]] = [9, 8, 7]


def test_out(array: Any) -> None:
    data = array[...]
    for make in (lambda a: a, zarr.buffer.cpu.NDBuffer):
        out = np.zeros((6, 6), "i4")
        array.get_basic_selection(out=make(out))
        assert (out == data).all()
        wide = np.zeros((6, 6), "f8")
        array.get_basic_selection(out=make(wide))
        assert (wide == data).all()
        column = np.zeros((6, 6), "i4")
        array.get_orthogonal_selection((slice(None), 2), out=make(column[:, 1]))
        assert (column[:, 1] == data[:, 2]).all()
        with pytest.raises(ValueError, match="shape of out"):
            array.get_basic_selection(slice(0, 2), out=make(out))


def test_async_face(store_kind: str) -> None:
    async def work(store: Any) -> None:
        face = zarr.create_array(store, data=np.arange(30), chunks=(4,), shards=(8,)).async_array
        assert (await face.getitem(slice(3, 20))).tolist() == list(range(3, 20))
        assert isinstance(await face.getitem(3), np.int64)
        await face.setitem(slice(0, 2), [7, 8])
        assert (await face.oindex.getitem(([0, 1],))).tolist() == [7, 8]
        assert (await face.vindex.getitem(([1, 0],))).tolist() == [8, 7]
        assert (await face.get_mask_selection(np.arange(30) > 27)).tolist() == [28, 29]
        assert (await face.get_coordinate_selection(([5],))).tolist() == [5]
        assert await face.nchunks_initialized() == 8
        await face.resize((10,))
        assert await face.append([1]) == (11,)
        assert await face.nbytes_stored() > 0
        again = await zarr.AsyncArray.open(face.store_path)
        assert again == face

    with open_store(store_kind) as store:
        asyncio.run(work(store))


def test_wrong_way_down_is_noted() -> None:
    store: dict[str, Any] = {}
    array = zarr.create_array(store, name="a", data=np.arange(10), chunks=(5,))
    store["a/c/1"] = store["a/c/1"][:3]
    with pytest.raises(Exception) as caught:
        array[...]
    notes = "\n".join(caught.value.__notes__)
    assert "c/1" in notes
    assert "/a" in notes
    assert "zstd" in notes + str(caught.value)


@pytest.mark.parametrize("shards", [None, (4, 4)])
def test_an_array_whose_codec_is_not_installed_tells_of_itself(monkeypatch: Any, shards: Any) -> None:
    """Its shape, its chunks and its attributes are known; only its elements are not."""
    whole = zarr.create_group({}).create_array("a", shape=(6, 9), chunks=(2, 2), shards=shards, dtype="f8")
    whole[:2] = 1
    document = json.loads(whole.store_path.store._store_dict["a/zarr.json"].to_bytes())
    inner = document["codecs"][0]["configuration"]["codecs"] if shards else document["codecs"]
    inner[:] = [{"name": "numcodecs.pcodec", "configuration": {"level": 8}}]
    whole.store_path.store._store_dict["a/zarr.json"] = cpu.Buffer.from_bytes(json.dumps(document).encode())
    monkeypatch.setitem(sys.modules, "pcodec", None)
    monkeypatch.delitem(numcodecs.registry.codec_registry, "pcodec", raising=False)
    monkeypatch.delitem(numcodecs.registry.entries, "pcodec", raising=False)
    array: Any = zarr.open_group(whole.store_path.store)["a"]
    assert (array.shape, array.chunks, array.shards) == ((6, 9), (2, 2), shards)
    assert (array.cdata_shape, array.nchunks) == ((3, 5), 15)
    assert array.read_chunk_sizes == whole.read_chunk_sizes
    assert array.write_chunk_sizes == whole.write_chunk_sizes
    assert array.nchunks_initialized == whole.nchunks_initialized
    assert "(6, 9)" in repr(array)
    assert "pcodec" in str(array.info).lower()
    array.attrs["a"] = 1
    for refused in (
        lambda: array[:],
        lambda: array.__setitem__(0, 1),
        lambda: array.vindex[[0], [0]],
        lambda: array.resize((4, 4)),
        lambda: array.append(np.ones((1, 9))),
    ):
        with pytest.raises(UnknownCodecError, match="pcodec"):
            refused()
    assert zarr.open_group(whole.store_path.store)["a"].shape == (6, 9)


def overriding(name: str, calls: list[Any]) -> Any:
    """Return a method that notes that it was called, and with which fields, and goes on to the method of Array."""

    def method(self: Any, *args: Any, fields: Any = None) -> Any:
        calls.append((name, fields))
        return getattr(zarr.Array, name)(self, *args, fields=fields)

    return method


@pytest.mark.parametrize(
    ("index", "selection", "kind"),
    [
        ("oindex", ([0, 2],), "orthogonal"),
        ("oindex", slice(1, 3), "orthogonal"),
        ("blocks", 1, "block"),
        ("vindex", ([0, 3],), "coordinate"),
        ("vindex", [True, False, False, True], "mask"),
        ("vindex", np.array([True, False, False, True]), "mask"),
    ],
)
def test_a_subclass_can_override_how_its_selections_are_read_and_written(index: str, selection: Any, kind: str) -> None:
    calls: list[Any] = []
    names = [f"{verb}_{kind}_selection" for verb in ("get", "set")]
    subclass = type("Overriding", (zarr.Array,), {name: overriding(name, calls) for name in names})
    plain = zarr.create_array({}, data=np.zeros(4, dtype=[("x", "i4"), ("y", "f8")]), chunks=(2,))
    array = subclass(plain.async_array)
    getattr(array, index)[selection] = np.ones(1, plain.dtype)[0]
    assert (getattr(array, index)[selection] == np.ones(1, plain.dtype)[0]).all()
    given = selection if isinstance(selection, tuple) else (selection,)
    assert (getattr(array, index)["x", *given] == 1).all()
    assert calls == [(names[1], None), (names[0], None), (names[0], "x")]


async def _points(array: Any) -> list[Any]:
    return [await array.oindex.getitem(([0, 2],)), await array.vindex.getitem(([0, 2],))]


def test_a_subclass_of_the_asynchronous_face_can_too() -> None:
    class Doubled(zarr.AsyncArray[Any]):
        async def get_orthogonal_selection(self, selection: Any, **options: Any) -> Any:
            return 2 * await super().get_orthogonal_selection(selection, **options)

        async def get_coordinate_selection(self, selection: Any, **options: Any) -> Any:
            return 3 * await super().get_coordinate_selection(selection, **options)

    face = zarr.create_array({}, data=np.arange(4), chunks=(2,)).async_array
    read = asyncio.run(_points(Doubled(face.metadata, face.store_path)))
    assert [part.tolist() for part in read] == [[0, 4], [0, 6]]
