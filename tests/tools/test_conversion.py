"""Conversion between files of NumPy, the formats of Zarr and N5, and what all conversions have in common."""

from __future__ import annotations

import gzip
import json
import struct
import sys
import zipfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.dtype import VariableLengthBytes
from zarr.storage import MemoryStore
from zarr.tools import convert
from zarr.tools.conversion import formats
from zarr.tools.conversion.numpy_files import ReadNpz

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")

DATA = np.random.default_rng(0).integers(0, 1000, (30, 7)).astype("i4")
STRUCTURED = np.array([(1, 2.5, b"a"), (3, -4.0, b"bc")], dtype=[("x", "<i4"), ("y", "<f8"), ("s", "S3")])


# ------------------------------------------------------------------------------------------------ NumPy


@pytest.mark.parametrize(
    "data",
    [
        DATA,
        np.asfortranarray(DATA),
        DATA.astype(">f8"),
        np.array(3.5),
        np.empty((0, 3)),
        np.array(["ä", "bcd"]),
        np.array([b"x", b"yz"]),
        np.array([True, False]),
        np.array([1 + 2j], dtype="c8"),
        np.array(["2020-01-01", "NaT"], dtype="M8[s]"),
        STRUCTURED,
    ],
    ids=lambda data: f"{data.dtype}{data.shape}",
)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_npy_there_and_back(data: np.ndarray[Any, Any], zarr_format: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", data)
    made = convert(tmp_path / "a.npy", tmp_path / "a.zarr", zarr_format=zarr_format)
    assert made.losses == ()
    np.testing.assert_array_equal(made.result[...], data)
    back = convert(str(tmp_path / "a.zarr"), str(tmp_path / "b.npy"))
    assert back.losses == ()
    assert back.result == tmp_path / "b.npy"
    found = np.load(tmp_path / "b.npy")
    np.testing.assert_array_equal(found, data)
    assert found.dtype == data.dtype
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npy", "a.zarr", "b.npy"]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_there_and_back(save: Any, tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"a": DATA, "g/b": np.arange(5.0), "g/h/c": np.array(1)}
    save(tmp_path / "a.npz", **arrays)
    root = convert(tmp_path / "a.npz", {}, chunks={"a": (4, 5)}).result
    assert root["a"].chunks == (4, 5)
    assert sorted(name for name, _ in root.members(max_depth=None)) == ["a", "g", "g/b", "g/h", "g/h/c"]
    assert convert(root, tmp_path / "b.npz").losses == ()
    with np.load(tmp_path / "b.npz") as found:
        assert set(found) == set(arrays)
        for name, data in arrays.items():
            np.testing.assert_array_equal(found[name], data)


def test_a_member_of_an_npz_file_that_another_thread_drops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last region is read by one thread of a pool while another has just read the member."""
    np.savez(tmp_path / "a.npz", a=DATA)
    read = ReadNpz(str(tmp_path / "a.npz"), "a.npy")
    last = (slice(20, 30), slice(0, 7))

    class Dropping(zipfile.ZipFile):
        def close(self) -> None:
            super().close()
            if read._data is not None:
                read(last)

    monkeypatch.setattr(zipfile, "ZipFile", Dropping)
    np.testing.assert_array_equal(read((slice(0, 5), slice(0, 7))), DATA[:5])
    np.testing.assert_array_equal(read(last), DATA[20:])


def test_what_files_of_numpy_lack_is_listed(tmp_path: Path) -> None:
    root = zarr.create_group({}, attributes={"title": "t"})
    root.create_array("a", data=DATA, dimension_names=["y", "x"], attributes={"units": "K"})
    root.create_array("t", shape=2, dtype="str")[:] = ["ä", "bcd"]
    root.create_group("empty")
    assert convert(root, tmp_path / "a.npz").losses == (
        "/: attributes (title): files of NumPy have none",
        "/a: attributes (units): files of NumPy have none",
        "/a: names of dimensions: files of NumPy have none",
        "/empty: the group: npz files have arrays only",
        "/t: strings of any length: all take the room of the longest",
    )
    with np.load(tmp_path / "a.npz") as found:
        assert found["t"].tolist() == ["ä", "bcd"]
    with pytest.raises(ValueError, match="a group cannot be an npy file"):
        convert(root, tmp_path / "a.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_elements_that_files_of_numpy_lack_are_named(name: str, tmp_path: Path) -> None:
    numcodecs = pytest.importorskip("numcodecs")
    mixed = zarr.create(shape=2, dtype=object, object_codec=numcodecs.MsgPack(), zarr_format=2, store={})
    mixed[:] = np.array(["a", b"b"], dtype=object)
    with pytest.raises(TypeError, match="text or bytes, and no bytes and str in one array"):
        convert(mixed, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_pickles_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="pickled objects"):
        convert(tmp_path / "a.npy", {})


# ------------------------------------------------------------------------------------------- Zarr to Zarr


def test_format_2_to_3_and_back() -> None:
    old = zarr.create_group({}, zarr_format=2, attributes={"title": "t"})
    made: Any = {"zarr_format": 2, "attributes": {"_ARRAY_DIMENSIONS": ["y", "x"], "units": "K"}}
    coded = {"filters": [{"id": "shuffle", "elementsize": 4}], "compressors": {"id": "zlib", "level": 3}, "order": "F"}
    array = zarr.create_array(old.store_path / "a", shape=DATA.shape, chunks=(7, 4), dtype=">i4", fill_value=-1,
                              **coded, **made)  # fmt: skip
    array[:] = DATA
    new = convert(old, {}, zarr_format=3)
    assert new.losses == ()
    found = new.result["a"]
    assert new.result.attrs.asdict() == {"title": "t"}
    assert found.metadata.dimension_names == ("y", "x")
    assert found.attrs.asdict() == {"units": "K", "_FillValue": -1}
    assert [codec.to_dict()["name"] for codec in found.metadata.codecs] == [
        "transpose", "bytes", "numcodecs.shuffle", "numcodecs.zlib"
    ]  # fmt: skip
    np.testing.assert_array_equal(found[:], DATA)
    back = convert(new.result, {}, zarr_format=2)
    assert back.losses == ()
    assert back.result["a"].metadata.to_dict() == array.metadata.to_dict()
    np.testing.assert_array_equal(back.result["a"][:], DATA)


@pytest.mark.parametrize("endian", ["little", "big"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_filters_with_data_types_in_any_byte_order(order: str, endian: str) -> None:
    values = np.array([200.0, 500, 900, 1300, 256, 17])
    filters = [
        zarr.codecs.numcodecs.FixedScaleOffset(offset=1, scale=2, dtype=f"{order}f8", astype=f"{order}i4"),
        zarr.codecs.numcodecs.Delta(dtype=f"{order}i4"),
    ]
    serializer = zarr.codecs.BytesCodec(endian=endian)
    codecs: Any = {"filters": filters, "serializer": serializer, "compressors": zarr.codecs.GzipCodec()}
    store = zarr.storage.MemoryStore()
    array = zarr.create_array(store, shape=6, chunks=4, dtype="f8", **codecs, chunk_key_encoding={"name": "v2"})
    array[:] = values
    old: Any = zarr.tools.convert(array, {}, zarr_format=2)
    assert (old.losses, old.result[:].tolist()) == ((), values.tolist())
    assert len(old.result.filters) == 2
    models = pytest.importorskip("zarr.models", exc_type=ImportError)
    chunks = {key: value for key, value in store._store_dict.items() if key != "zarr.json"}
    assert (
        models.to_zarr(models.to_v2(models.from_zarr(array)), zarr.storage.MemoryStore(chunks))[:].tolist()
        == values.tolist()
    )


def test_texts_behind_several_codecs_of_bytes() -> None:
    codecs: Any = [zarr.codecs.ZstdCodec(), zarr.codecs.GzipCodec(), zarr.codecs.Crc32cCodec()]
    new = zarr.create_array({}, data=np.array(["a", "łó"], dtype="T"), chunks=1, compressors=codecs)
    old: Any = zarr.tools.convert(new, {}, zarr_format=2)
    assert (old.losses, old.result[:].tolist(), len(old.result.filters)) == ((), ["a", "łó"], 3)


def test_fill_values_that_are_no_json_come_back() -> None:
    root = zarr.create_group({}, zarr_format=2)
    fills: dict[str, Any] = {"c8": 1 + 2j, "S3": b"ab", "V2": b"\xff\0", "M8[D]": "2001-02-03", "f4": 1.5}
    for dtype, fill in fills.items():
        named: Any = {"_ARRAY_DIMENSIONS": ["x"]}
        root.create_array(dtype, shape=3, dtype=dtype, fill_value=np.array(fill, dtype)[()], attributes=named)
    new: Any = zarr.tools.convert(root, {}, zarr_format=3)
    assert new.losses == ()
    assert "_FillValue" not in new.result["S3"].attrs  # with it xarray opens no group of format 3
    back: Any = zarr.tools.convert(new.result, {}, zarr_format=2).result
    for dtype in ("c8", "f4", "S3"):
        assert back[dtype].fill_value == fills[dtype]
    for dtype, fill in fills.items():
        assert new.result[dtype][:].tolist() == [np.array(fill, dtype)[()].tolist()] * 3


def test_scalars_beside_named_dimensions_name_theirs_in_format_2() -> None:
    """Else xarray refuses the whole group: it asks for names of each array."""
    root = zarr.create_group({})
    root.create_array("crs", shape=(), dtype="i4")
    root.create_array("below/t", shape=3, dtype="i4", dimension_names=["x"])
    old: Any = zarr.tools.convert(root, {}, zarr_format=2).result
    assert old["crs"].attrs.asdict() == {"_ARRAY_DIMENSIONS": []}
    back: Any = zarr.tools.convert(old, {}, zarr_format=3).result
    assert back["crs"].attrs.asdict() == {}
    plain = zarr.create_group({})
    plain.create_array("a", shape=(), dtype="i4")
    assert zarr.tools.convert(plain, {}, zarr_format=2).result["a"].attrs.asdict() == {}


def test_what_format_2_lacks_is_listed() -> None:
    array = zarr.create_array({}, data=DATA, chunks=(5, 7), shards=(10, 7), dimension_names=["y", None],
                              filters=[zarr.codecs.TransposeCodec(order=(1, 0))],
                              compressors=[zarr.codecs.BloscCodec(cname="lz4"), zarr.codecs.Crc32cCodec()])  # fmt: skip
    made = convert(array, {}, zarr_format=2)
    assert made.losses == (
        "/: shards: format 2 has none, its chunks are stored one by one",
        "/: dimensions without a name: format 2 names all or none, they are called dim_0, dim_1 …",
    )
    assert made.result.metadata.order == "F"
    assert made.result.attrs["_ARRAY_DIMENSIONS"] == ["y", "dim_1"]
    np.testing.assert_array_equal(made.result[:], DATA)


def test_codecs_without_a_counterpart_are_listed() -> None:
    pytest.importorskip("pcodec")
    array = zarr.create_array({}, data=DATA, serializer={"name": "numcodecs.pcodec"}, compressors=None)
    made = convert(array, {}, zarr_format=2)
    assert made.losses == ("/: the serializer numcodecs.pcodec: elements are stored as they are",)
    np.testing.assert_array_equal(made.result[:], DATA)


def test_bytes_of_any_length_in_both_formats() -> None:
    values = np.array([b"a", b"", b"xyz\0"], object)
    root = zarr.open_group({})
    root.create_array("x", shape=(3,), chunks=(2,), dtype=VariableLengthBytes())[:] = values
    older, newer = MemoryStore(), MemoryStore()
    assert convert(root, older, zarr_format=2).losses == ()
    assert convert(older, newer, zarr_format=3).losses == ()
    for store in (older, newer):
        assert zarr.open_array(store, path="x")[:].tolist() == values.tolist()


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_n5_to_zarr(zarr_format: Any) -> None:
    data = np.arange(24, dtype=">u2").reshape(4, 6)
    head = struct.pack(">HHII", 0, 2, 3, 2)
    documents = {
        "attributes.json": {"n5": "2.0.0", "title": "t"},
        "g/a/attributes.json": {"dimensions": [6, 4], "blockSize": [3, 2], "dataType": "uint16",
                                "compression": {"type": "gzip"}, "resolution": [1, 2]},
    }  # fmt: skip
    values = {key: json.dumps(document).encode() for key, document in documents.items()}
    for x in range(2):
        for y in range(2):
            block = data[2 * y : 2 * y + 2, 3 * x : 3 * x + 3]
            values[f"g/a/{x}/{y}"] = head + gzip.compress(block.tobytes())
    store = MemoryStore({key: zarr.core.buffer.cpu.Buffer.from_bytes(value) for key, value in values.items()})
    made = convert(store, {}, zarr_format=zarr_format)
    assert made.losses == ()
    array = made.result["g/a"]
    np.testing.assert_array_equal(array[:], data)
    assert array.chunks == (2, 3)
    assert array.attrs.asdict() == {"resolution": [1, 2]}
    assert made.result.attrs.asdict() == {"title": "t"}
    names = [codec.codec_id if zarr_format == 2 else codec.to_dict()["name"] for codec in array.compressors]
    assert names == ["gzip"]


def test_the_same_format_is_refused() -> None:
    with pytest.raises(ValueError, match="format 3 already: use copy, rechunk or reencode"):
        convert(zarr.create_array({}, data=DATA), {})


# ------------------------------------------------------------------------------------------------- in common


def test_memory_is_kept_by_an_array_in_between(tmp_path: Path) -> None:
    data = np.arange(256 * 256, dtype="i4").reshape(256, 256)
    source = zarr.create_array(tmp_path / "a.zarr", data=data, chunks=(1, 256), zarr_format=2)
    planned = convert(source, tmp_path / "b.zarr", chunks=(256, 4), memory=32 << 10, dry_run=True)
    assert "arrays in between" in planned.plan
    assert planned.result is None
    assert not (tmp_path / "b.zarr").exists()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        made = convert(source, tmp_path / "b.zarr", chunks=(256, 4), memory=32 << 10, executor=pool)
    np.testing.assert_array_equal(made.result[:], data)
    assert [path.name for path in (tmp_path / "b.zarr").iterdir() if "job" in path.name] == []
    with pytest.raises(ValueError, match="one chunk or shard of the target takes 262144 bytes"):
        convert(source, {}, chunks=(256, 256), memory=32 << 10)


def test_nothing_is_replaced_unless_asked(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", DATA)
    convert(tmp_path / "a.npy", tmp_path / "a.zarr")
    with pytest.raises(zarr.errors.ContainsArrayError):
        convert(tmp_path / "a.npy", tmp_path / "a.zarr")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        convert(tmp_path / "a.zarr", tmp_path / "a.npy")
    assert convert(tmp_path / "a.npy", tmp_path / "a.zarr", overwrite=True).result.shape == DATA.shape
    assert convert(tmp_path / "a.zarr", tmp_path / "a.npy", overwrite=True).losses == ()


def test_a_writer_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError("disk full")

    source = zarr.create_array({}, data=DATA)
    (tmp_path / "a.npy").write_bytes(b"old")
    monkeypatch.setattr("zarr.tools.conversion.numpy_files.write_npy", fail)
    with pytest.raises(OSError, match="disk full"):
        convert(source, tmp_path / "a.npy", overwrite=True)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_parts_and_paths(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **{"g/x": DATA, "y": DATA})
    made = convert(f"{tmp_path / 'a.npz'}::/g", f"{tmp_path / 'a.zarr'}::in/it").result
    assert [name for name, _ in made.members()] == ["x"]
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a.zarr", path="in/it/x")[:], DATA)
    convert(f"{tmp_path / 'a.zarr'}::in/it/x", tmp_path / "x.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), DATA)
    with pytest.raises(FileNotFoundError, match="has no nothing: at 'nothing' there is g, y"):
        convert(f"{tmp_path / 'a.npz'}::nothing", {})


def test_formats_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\x89HDF\r\n\x1a\n")
    (tmp_path / "u.nc").write_bytes(bytes(512) + b"\x89HDF\r\n\x1a\n")
    (tmp_path / "b.ome.tif").write_bytes(b"II*\0")
    (tmp_path / "c.dat").write_bytes(b"hello")
    (tmp_path / "d.nc").write_bytes(b"CDF\1")
    found = [formats.format_of_file(str(tmp_path / name)) for name in ("a.bin", "u.nc", "b.ome.tif", "c.dat")]
    assert [row.name if row else None for row in found] == ["hdf5", "netcdf", "ome-tiff", None]
    with pytest.raises(ValueError, match="is of no known format: there are hdf5, netcdf"):
        convert(tmp_path / "c.dat", {})
    with pytest.raises(ValueError, match="classic format"):
        convert(tmp_path / "d.nc", {})
    with pytest.raises(ValueError, match="there is no format 'doc': there are hdf5, netcdf"):
        convert(zarr.create_array({}, data=DATA), tmp_path / "x", to="doc")
    with pytest.raises(TypeError, match="is written to a path"):
        convert(zarr.create_array({}, data=DATA), {}, to="npy")


@pytest.mark.parametrize("row", [row for row in formats.FORMATS.values() if row.reader[:4] != "hdf5"])
def test_all_readers_and_writers_are_there(row: formats.Format) -> None:
    if row.library:
        pytest.importorskip(row.library)
    assert callable(formats.function_of(row, "reader"))
    assert callable(formats.function_of(row, "writer"))


@pytest.mark.parametrize("name", ["a.tif", "a.ome.tif", "a.geo.tif"])
def test_images_by_their_names(name: str, tmp_path: Path) -> None:
    pytest.importorskip("tifffile")
    if "geo" in name:
        pytest.importorskip("rasterio")
    image = zarr.create_array({}, data=DATA.astype("u2"), chunks=(16, 16), dimension_names=["y", "x"])
    convert(image, tmp_path / name)
    found = convert(tmp_path / name, {}).result
    array = found["0"] if isinstance(found, zarr.Group) else found
    np.testing.assert_array_equal(array[...].squeeze(), DATA)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_tables_by_their_names(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    table = zarr.create_group({})
    table.create_array("x", data=DATA[:, 0])
    convert(table, tmp_path / name)
    np.testing.assert_array_equal(convert(tmp_path / name, {}).result["x"][:], DATA[:, 0])


def test_a_missing_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    (tmp_path / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(ImportError, match=r"reading HDF5 needs the package h5py: pip .*'zarr\[hdf5\]'"):
        convert(tmp_path / "a.h5", {})


def objects(values: list[Any], dtype: str) -> Any:
    data = np.empty(len(values), object)
    data[:] = values
    array = zarr.create_array({}, shape=len(values), dtype=dtype)
    array[:] = data
    return array


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_bytes_of_any_length_stay_bytes(name: str, tmp_path: Path) -> None:
    found = convert(objects([b"\xff\x01", b"\0b", b""], "variable_length_bytes"), tmp_path / name)
    loaded = np.load(tmp_path / name)
    data = loaded["arr_0"] if name == "a.npz" else loaded
    assert data.tolist() == [b"\xff\x01", b"\0b", b""]
    assert not [text for text in found.losses if "zeros" in text]


def test_zeros_at_the_ends_of_strings_are_listed_where_they_are_lost(tmp_path: Path) -> None:
    found = convert(objects(["a\0", "\0b"], "str"), tmp_path / "a.npy")
    assert found.losses[-1] == "/: zeros at the ends of strings: NumPy takes them for unused room"
    assert np.load(tmp_path / "a.npy").tolist() == ["a", "\0b"]
    convert(objects(["a\0", "\0b"], "str"), tmp_path / "a.parquet")
    convert(tmp_path / "a.parquet", tmp_path / "a.zarr")
    assert zarr.open_array(tmp_path / "a.zarr" / "values")[:].tolist() == ["a\0", "\0b"]
    for name in ("a.h5", "a.nc"):
        with pytest.raises(ValueError, match="/data: strings of HDF5 end at a zero character"):
            convert(objects(["a\0", "\0b"], "str"), tmp_path / name)
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("name", "dtype", "message"),
    [
        ("a.nc", "c8", "/data: the array: NetCDF-4 has no data type for complex64"),
        ("a.nc", "f2", "/data: the array: NetCDF-4 has no data type for float16"),
        ("a.tif", "str", "/: TIFF has no data type StringDType"),
        ("a.parquet", "c8", "none that can be one .*the data type complex64: Arrow has none"),
    ],
)
def test_a_file_of_nothing_is_not_written(name: str, dtype: str, message: str, tmp_path: Path) -> None:
    array = zarr.create_array({}, shape=(4, 4) if name == "a.tif" else 4, dtype=dtype)
    with pytest.raises((TypeError, ValueError), match=message):
        convert(array, tmp_path / name)
    assert not list(tmp_path.iterdir())
