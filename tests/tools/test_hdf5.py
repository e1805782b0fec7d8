"""Files of HDF5 and NetCDF-4 to Zarr and back: values, types, attributes, chunks, filters; what is lost, exactly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.tools.contents_of_files import fill_values
from zarr.tools import convert

h5py = pytest.importorskip("h5py")

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")

RANDOM = np.random.default_rng(0)
FLOATS = RANDOM.normal(size=(13, 7, 5)).astype("f4")
INTS = RANDOM.integers(-100, 100, (20, 9)).astype("i2")
INTERNAL = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS"}

Made = Callable[[Any], None]


def simple(data: Any, **options: Any) -> Made:
    return lambda file: file.create_dataset("a", data=data, **options) and None


def attributes(**values: Any) -> Made:
    def make(file: Any) -> None:
        file["a"] = [1, 2]
        file["a"].attrs.update(values)
        file.attrs.update(values)

    return make


def groups(file: Any) -> None:
    file.create_group("g/h").attrs["n"] = 1
    file["g/x"] = INTS
    file.create_group("empty")


def scales(file: Any) -> None:
    file["v"], file["y"], file["x"] = INTS, np.arange(20), np.arange(9.0)
    for axis, name in enumerate("yx"):
        file[name].make_scale(name)
        file["v"].dims[axis].attach_scale(file[name])


def labels(file: Any) -> None:
    file["v"] = INTS
    file["v"].dims[1].label = "x"


def links(file: Any) -> None:
    file["a"] = INTS
    file["b"] = file["a"]
    file["c"] = h5py.SoftLink("/a")
    file["d"] = h5py.ExternalLink("other.h5", "/x")
    file["g"] = h5py.Group(file.create_group("h").id)
    file["t"] = np.dtype("f8")


def lost_types(file: Any) -> None:
    file.create_dataset("vlen", (2,), dtype=h5py.vlen_dtype("i4"))
    file.create_dataset("ref", (2,), dtype=h5py.ref_dtype)
    file["null"] = h5py.Empty("f4")
    file["sub"] = np.zeros((2,), dtype=[("a", "i4", (2,))])["a"]
    file.create_dataset("compound", (2,), dtype=np.dtype([("a", "i4"), ("s", h5py.string_dtype())]))


def lost_attributes(file: Any) -> None:
    file.attrs["ref"] = file.ref
    file.attrs["pair"] = np.zeros((), [("a", "i4")])
    file.attrs["single"] = np.float32(0.5)
    file.attrs["none"] = h5py.Empty("f4")
    file.attrs["kept"] = h5py.Empty(h5py.string_dtype())


ZIPPED = {"compression": "gzip", "compression_opts": 5}
COMPOUND = np.array([(1, 2.5, b"a", 1), (3, -4.0, b"bc", 0)], [("x", "<i4"), ("y", "<f8"), ("s", "S3"), ("b", "?")])

HDF5_FILES: dict[str, tuple[Made, tuple[str, ...]]] = {
    "contiguous": (simple(FLOATS), ()),
    "odd chunks": (simple(FLOATS, chunks=(4, 3, 5)), ()),
    "chunks past the end": (simple(INTS, chunks=(64, 64), maxshape=(None, None)), ()),
    "unlimited": (simple(INTS, chunks=(7, 9), maxshape=(None, 9)), ()),
    "deflate": (simple(INTS, chunks=(7, 9), **ZIPPED), ()),
    "shuffle, deflate": (simple(FLOATS, chunks=(4, 7, 5), shuffle=True, **ZIPPED), ()),
    "shuffle alone": (simple(FLOATS, chunks=(4, 7, 5), shuffle=True), ()),
    "checksums": (simple(INTS, chunks=(7, 9), fletcher32=True, **ZIPPED), ()),
    "lzf": (simple(INTS, chunks=(7, 9), compression="lzf"),
            ("/a: the filter lzf: Zarr has none that does the same, the codecs are chosen anew",)),
    "scale offset": (simple(INTS, chunks=(7, 9), scaleoffset=0),
                     ("/a: the filter scaleoffset: Zarr has none that does the same, the codecs are chosen anew",)),
    "fill value": (simple(INTS, chunks=(7, 9), fillvalue=-1), ()),
    "big endian": (simple(INTS.astype(">i8")), ()),
    "empty axis": (simple(np.empty((0, 3)), chunks=(2, 3), maxshape=(None, 3)), ()),
    "scalar": (simple(np.float32(2.5)), ()),
    "half": (simple(FLOATS.astype("f2")), ()),
    "complex": (simple(FLOATS.astype("c16")), ()),
    "unsigned": (simple(INTS.astype("u8")), ()),
    "bool": (simple(INTS > 0), ()),
    "strings": (simple(np.array(["a", "", "ä€"], object)), ()),
    "chunked strings": (simple(np.array(list("abcdefg"), object), chunks=(3,), dtype=h5py.string_dtype()), ()),
    "fixed strings": (simple(np.array([b"a", b"bcd"])), ()),
    "opaque": (simple(np.array([b"ab", b"\0c"], "V2")), ()),
    "dates": (simple(np.array(["2020-01-01"], "M8[ns]").astype(h5py.opaque_dtype("M8[ns]"))), ()),
    "compound": (simple(COMPOUND, chunks=(1,)), ()),
    "enum": (simple(np.array([0, 1], h5py.enum_dtype({"R": 0, "G": 1}))), ("/a: names of values (G=1, R=0)",)),
    "groups": (groups, ()),
    "scales": (scales, ()),
    "labels": (labels, ()),
    "attributes": (attributes(t="ä", i=3, f=0.5, b=True, e="", l=np.array([1, 2]), m=np.eye(2), n=float("nan")), ()),
    "texts": (attributes(t=np.array(["a", "ä"], h5py.string_dtype()), _FillValue=7, valid_range=np.array([1, 2])), ()),
    "links": (links, ("/b: a second name of /a", "/c: a link to /a", "/d: a link to /x in the file other.h5",
                      "/h: a second name of /g", "/t: a data type that has a name")),
    "types without a counterpart": (lost_types, (
        "/compound: the array: its field s has strings of any length, sequences or references",
        "/null: the array: it has no elements and no shape",
        "/ref: the array: references to other objects of the file",
        "/vlen: the array: sequences of different lengths")),
    "attributes without a counterpart": (lost_attributes, (
        "/: the attribute none: it is empty",
        "/: the attribute pair: elements of type [('a', '<i4')], which JSON does not have",
        "/: the attribute ref: a reference to another object of the file",
        "/: the types of attributes, for JSON has one of numbers: single (float32)")),
}  # fmt: skip
SAME_FILTERS = {name for name in HDF5_FILES if name not in ("lzf", "scale offset")}


def settings(dataset: Any) -> tuple[Any, ...]:
    return dataset.chunks, dataset.compression, dataset.compression_opts, dataset.shuffle, dataset.fletcher32


def compare(old: Any, new: Any, lost: set[str], same_filters: bool) -> None:
    """The second file has all of the first but what was lost."""
    for name in old:
        path = f"{old.name.rstrip('/')}/{name}"
        if path in lost and name not in new:
            continue
        first, second = old[name], new[name]
        if isinstance(first, h5py.Group):
            compare(first, second, lost, same_filters)
            continue
        np.testing.assert_array_equal(first[()], second[()], path)
        if path not in lost:
            assert first.dtype == second.dtype, path
            np.testing.assert_array_equal(np.asarray(first.fillvalue).tobytes(), np.asarray(second.fillvalue).tobytes())
            assert [list(each.keys()) for each in first.dims] == [list(each.keys()) for each in second.dims]
            assert [each.label for each in first.dims] == [each.label for each in second.dims]
        if same_filters:
            assert settings(first) == settings(second), path
        compare_attributes(first.attrs, second.attrs)
    if old.name not in lost:
        compare_attributes(old.attrs, new.attrs)


def compare_attributes(old: Any, new: Any) -> None:
    assert set(old) - INTERNAL == set(new) - INTERNAL
    for name in set(old) - INTERNAL:
        first, second = (value if isinstance(value, str) else np.asarray(value) for value in (old[name], new[name]))
        if isinstance(first, str):
            assert first == second
        elif "Empty" in str(first):
            assert second == ""
        else:
            np.testing.assert_array_equal(first, second, name)
            assert first.dtype == second.dtype


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", HDF5_FILES)
def test_hdf5_there_and_back(name: str, zarr_format: Any, tmp_path: Path) -> None:
    make, losses = HDF5_FILES[name]
    with h5py.File(tmp_path / "a.h5", "w") as file:
        make(file)
    made = convert(tmp_path / "a.h5", tmp_path / "a.zarr", zarr_format=zarr_format)
    if (name, zarr_format) == ("labels", 2):
        assert ["dimensions without a name" in text for text in made.losses] == [True]
        return
    assert made.losses == losses
    back = convert(tmp_path / "a.zarr", tmp_path / "b.h5")
    if name in SAME_FILTERS:
        assert back.losses == ()
    lost = {text.partition(":")[0] for text in losses}
    with h5py.File(tmp_path / "a.h5") as old, h5py.File(tmp_path / "b.h5") as new:
        compare(old, new, lost, name in SAME_FILTERS)


@pytest.mark.parametrize(
    ("codecs", "found"),
    [(zarr.codecs.GzipCodec(level=2), "gzip"), ([{"name": "gzip"}], "gzip"), (None, None), ("auto", "gzip")],
)
def test_codecs_of_the_caller(codecs: Any, found: str | None, tmp_path: Path) -> None:
    source = zarr.create_array({}, data=INTS, chunks=(7, 9))
    assert convert(source, tmp_path / "a.h5", compressors=codecs).losses == ()
    with h5py.File(tmp_path / "a.h5") as file:
        assert (file["data"].compression, file["data"].chunks) == (found, (7, 9))
        np.testing.assert_array_equal(file["data"][:], INTS)
    with pytest.raises(TypeError, match="a codec for a file is one of format 3"):
        convert(source, tmp_path / "b.h5", compressors={"id": "zlib"})


# -------------------------------------------------------------------------------------------------- NetCDF


def dataset(**more: Any) -> Any:
    xr = pytest.importorskip("xarray")
    t2m = 280 + RANDOM.normal(size=(6, 4, 5)).astype("f4")
    t2m[1, 2, 3] = np.nan
    return xr.Dataset(
        {"t2m": (("time", "lat", "lon"), t2m, {"units": "K", "long_name": "Temperatur in 2 m Höhe"}), **more},
        {
            "time": np.datetime64("2020-01-01", "ns") + np.arange(6) * np.timedelta64(6, "h"),
            "lat": ("lat", [50.0, 49.5, 49, 48.5], {"units": "degrees_north"}),
            "lon": ("lon", np.arange(5.0)),
            "height": 2.0,
        },
        {"Conventions": "CF-1.8", "title": "t"},
    )


UNLIMITED = ("/time: that the dimension is unlimited: each array of Zarr can be resized",)
PACKED = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768}

NETCDF_FILES: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]] = {
    "plain": ({}, {}, ()),
    "packed": ({}, {"t2m": PACKED}, ()),
    "packed unsigned": ({}, {"t2m": {"dtype": "u1", "scale_factor": 0.5, "add_offset": 250.0, "_FillValue": 255}}, ()),
    "chunks": ({}, {"t2m": {"chunksizes": (4, 3, 5), "zlib": True, "complevel": 7}}, ()),
    "no shuffle": ({}, {"t2m": {"chunksizes": (1, 4, 5), "zlib": True, "shuffle": False}}, ()),
    "checksums": ({}, {"t2m": {"chunksizes": (6, 1, 5), "zlib": True, "fletcher32": True}}, ()),
    "unlimited": ({}, {"unlimited": {}}, UNLIMITED),
    "missing value": ({}, {"t2m": {"_FillValue": -9999.0}}, ()),
    "no fill value": ({}, {"t2m": {"_FillValue": None}, "lat": {"_FillValue": None}}, ()),
    "strings": ({"name": (("lat",), np.array(["a", "bcd", "", "ü"], object))}, {}, ()),
    "characters": ({"name": (("lat",), np.array([b"a", b"bcd", b"", b"x"]))}, {}, ()),
    "scalar": ({"crs": ((), np.int32(0), {"grid_mapping_name": "latitude_longitude"})}, {}, ()),
    "flags": ({"flag": (("lat",), np.array([0, 1, 2, 1], "i1"), {"flag_values": np.array([0, 1, 2], "i1"),
                                                             "flag_meanings": "a b c"})}, {}, ()),
    "two dimensions of coordinates": ({"area": (("lat", "lon"), np.ones((4, 5)), {"coordinates": "height"})}, {}, ()),
    "integers of 64 bits": ({"count": (("time",), np.arange(6) + 2**60)}, {}, ()),
}  # fmt: skip


@pytest.mark.parametrize(("engine", "zarr_format"), [("netcdf4", 2), ("netcdf4", 3), ("h5netcdf", 3)])
@pytest.mark.parametrize("name", NETCDF_FILES)
def test_netcdf_there_and_back(name: str, zarr_format: Any, engine: Any, tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    pytest.importorskip("h5netcdf")
    more, encoding, losses = NETCDF_FILES[name]
    encoding = dict(encoding)
    unlimited = ["time"] if encoding.pop("unlimited", None) is not None else []
    dataset(**more).to_netcdf(tmp_path / "a.nc", engine=engine, encoding=encoding, unlimited_dims=unlimited)
    made = convert(tmp_path / "a.nc", tmp_path / "a.zarr", zarr_format=zarr_format)
    assert tuple(text for text in made.losses if "types of attributes" not in text) == losses
    shorter = "chunks of shape (512,): none of NetCDF-4 is longer than a dimension"
    grown = (f"/time: {shorter}",) if (name, engine) == ("unlimited", "netcdf4") else ()
    assert convert(tmp_path / "a.zarr", tmp_path / "b.nc").losses == grown
    with (
        xr.open_dataset(tmp_path / "a.nc", engine="netcdf4") as old,
        xr.open_zarr(tmp_path / "a.zarr", consolidated=False) as new,
        xr.open_dataset(tmp_path / "b.nc", engine="netcdf4") as back,
    ):
        xr.testing.assert_identical(old.load(), new.load())
        xr.testing.assert_identical(old, back.load())
        for variable in old.variables:
            first, second = old[variable].encoding, back[variable].encoding
            for key in ("dtype", "zlib", "complevel", "fletcher32", "scale_factor", "add_offset"):
                if key != "dtype" or first[key] != "S1":
                    assert first.get(key) == second.get(key), (variable, key)
            if not first.get("contiguous", True) and name != "unlimited":
                assert tuple(first["chunksizes"]) == tuple(second["chunksizes"])


TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "S1")


@pytest.mark.parametrize("engine", ["netCDF4", "h5netcdf.legacyapi"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_fill_values_of_netcdf_come_back(zarr_format: Any, engine: str, tmp_path: Path) -> None:
    """An attribute ``_FillValue`` comes back where there was one, and only there."""
    library = pytest.importorskip(engine)
    with library.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("x", 3)
        for dtype in TYPES:
            given = b"x" if dtype == "S1" else 7
            for name, dimensions in ((f"{dtype}-line", ("x",)), (f"{dtype}-one", ())):
                file.createVariable(f"{name}-none", dtype, dimensions)
                file.createVariable(f"{name}-given", dtype, dimensions, fill_value=given)
                if dtype != "S1":
                    file.createVariable(f"{name}-zero", dtype, dimensions, fill_value=0)
        file.createVariable("nan", "f4", ("x",), fill_value=np.nan)
        file.createVariable("text", str, ("x",))
    made = convert(tmp_path / "a.nc", tmp_path / "a.zarr", zarr_format=zarr_format)
    assert made.losses == ()
    assert convert(tmp_path / "a.zarr", tmp_path / "b.nc").losses == ()
    with h5py.File(tmp_path / "a.nc") as old, h5py.File(tmp_path / "b.nc") as new:
        for name in old:
            if name != "x":
                np.testing.assert_array_equal(old[name][()], new[name][()], name)
    assert fill_values(tmp_path / "a.nc") == fill_values(tmp_path / "b.nc")


def test_fill_values_that_are_lost_are_listed(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("x", 2)
        file.createVariable("v", "i4", ("x",), fill_value=False)[:] = 1
    undefined = "/v: that elements never written are undefined: those of Zarr have the fill value"
    assert convert(tmp_path / "a.nc", tmp_path / "a.zarr").losses == (undefined,)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, fill in (("v", 7), ("w", 0)):
            file.create_dataset(name, data=[1, 2], fillvalue=fill).dims[0].label = "x"
    assert convert(tmp_path / "a.h5", tmp_path / "3.zarr").losses == ()
    missing = "/v: the fill value 7: in format 2 it would mean a missing value"
    assert convert(tmp_path / "a.h5", tmp_path / "2.zarr", zarr_format=2).losses == (missing,)


def test_fill_values_that_hdf5_lacks_are_listed(tmp_path: Path) -> None:
    root = zarr.create_group(tmp_path / "a.zarr")
    root.create_array("date", shape=4, dtype="M8[D]", fill_value=np.datetime64("NaT"), compressors=None)
    root.create_array("first", shape=4, dtype="M8[D]", fill_value=np.datetime64(0, "D"), compressors=None)
    root.create_array("text", shape=4, dtype=str, fill_value="none", compressors=None)
    root.create_array("void", shape=4, dtype=str, fill_value="", compressors=None)
    assert convert(root, tmp_path / "a.h5").losses == (
        "/date: the fill value NaT: there is none for datetime64[D]",
        "/text: the fill value none: there is none for StringDType()",
    )


@pytest.mark.parametrize("target", ["a.zarr", "old.zarr", "a.json"])
def test_variables_are_as_long_as_their_unlimited_dimension(target: str, tmp_path: Path) -> None:
    """NetCDF reads what nobody wrote as fill values; in the file a variable ends after its last element."""
    netcdf = pytest.importorskip("netCDF4")
    xr = pytest.importorskip("xarray")
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        for name in ("time", "run"):
            file.createDimension(name, None)
        file.createDimension("x", 3)
        file.createVariable("time", "f8", ("time",))[:2] = [0, 1]
        file.createVariable("long", "i2", ("time", "x"), chunksizes=(4, 3))[:6] = np.arange(18).reshape(6, 3)
        file.createVariable("short", "f4", ("time", "x"), fill_value=-1, chunksizes=(2, 3))[:3] = 7
        file.createVariable("never", "i4", ("time",))
        file.createVariable("text", str, ("time",))[0] = "a"
        below = file.createGroup("below")
        below.createVariable("longest", "u1", ("run",))[:4] = 5
        below.createVariable("other", "i4", ("run",))
        below.createVariable("crs", "i4", ())[...] = 1
    given: Any = {"virtual": True} if target == "a.json" else {"zarr_format": 2 if target == "old.zarr" else 3}
    zarr.tools.convert(str(tmp_path / "a.nc"), str(tmp_path / target), **given)
    for group in ("", "below"):
        with netcdf.Dataset(tmp_path / "a.nc") as file:
            file.set_auto_mask(False)
            variables = (file[group] if group else file).variables
            expected = {name: variable[...] for name, variable in variables.items()}
        for name, values in expected.items():
            found = zarr.open_array(tmp_path / target, path=f"{group}/{name}", mode="r")[...]
            assert np.shape(found) == values.shape
            assert np.asarray(found).tolist() == values.tolist()
        if target != "a.json":
            opened = xr.open_zarr(tmp_path / target, group=group, consolidated=False, chunks=None, decode_cf=False)
            assert set(opened.variables) == set(expected)


def test_groups_of_netcdf(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("x", 4)
        file.createDimension("n", 3)
        file.createDimension("unused", 2)
        file.createVariable("x", "f8", ("x",))[:] = range(4)
        group = file.createGroup("g")
        group.createVariable("v", "i4", ("n", "x"), fill_value=-1)[:] = np.arange(12).reshape(3, 4)
        group.history = "made"
    made = convert(tmp_path / "a.nc", {})
    assert made.losses == ("/unused: the dimension, of length 2: no array has it",)
    assert made.result["g/v"].metadata.dimension_names == ("n", "x")
    assert made.result["g/v"].attrs["_FillValue"] == -1
    convert(made.result, tmp_path / "b.nc")
    with netcdf.Dataset(tmp_path / "b.nc") as file:
        np.testing.assert_array_equal(file["g/v"][:], np.arange(12).reshape(3, 4))
        assert file["g/v"].dimensions == ("n", "x")
        assert file["g"].history == "made"


def test_integers_of_more_than_64_bits_become_text(tmp_path: Path) -> None:
    root = zarr.create_group({}, attributes={"big": 2**70, "low": -(2**63), "high": 2**64 - 1, "many": [2**70, 1]})
    for name in ("a.h5", "a.nc"):
        assert convert(root, tmp_path / name).losses == tuple(
            f"/: the attribute {each}: written as a text of JSON" for each in ("big", "many")
        )
        with h5py.File(tmp_path / name) as file:
            assert {key: file.attrs[key] for key in root.attrs} == {
                "big": "1180591620717411303424", "low": -(2**63), "high": 2**64 - 1,
                "many": "[1180591620717411303424, 1]",
            }  # fmt: skip


def test_what_netcdf_lacks_is_listed(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    pytest.importorskip("h5netcdf")
    root = zarr.create_group({}, attributes={"flag": True, "nested": {"a": [1, "b"]}, "none": None})
    root.create_array("bool", data=np.array([True, False]), dimension_names=["n"])
    root.create_array("complex", data=np.array([1j]))
    root.create_array("longer", data=np.arange(3), dimension_names=["n"], chunks=(2,), compressors=None)
    root.create_array("plain", data=np.zeros((2, 2)), chunks=(1, 2))
    assert convert(root, tmp_path / "a.nc").losses == (
        "/: the attribute flag: NetCDF-4 has int8 for bool",
        "/: the attribute nested: written as a text of JSON",
        "/: the attribute none: it is empty",
        "/bool: the data type bool: NetCDF-4 has int8 for it",
        "/bool: the codec zstd: HDF5 has none that does the same, deflate is in its place",
        "/complex: the array: NetCDF-4 has no data type for complex128",
        "/longer: the name n of a dimension: another length has it, this one is called n_0",
        "/plain: the codec zstd: HDF5 has none that does the same, deflate is in its place",
    )
    with netcdf.Dataset(tmp_path / "a.nc") as file:
        assert file["bool"][:].tolist() == [1, 0]
        assert file["plain"].dimensions == ("phony_dim_0", "phony_dim_1")


# ---------------------------------------------------------------------------------------------- references


@pytest.mark.parametrize("userblock", [0, 1024])
def test_references_to_hdf5(userblock: int, tmp_path: Path) -> None:
    large = RANDOM.normal(size=(300, 40))
    arrays: dict[str, Any] = {
        "contiguous": (INTS, {}),
        "scalar": (np.float64(2.5), {}),
        "big": (FLOATS.astype(">f8"), {"chunks": (4, 3, 5)}),
        "all filters": (INTS, {"chunks": (7, 4), "shuffle": True, "fletcher32": True, **ZIPPED}),
        "empty": (np.empty((0, 2)), {}),
        "compound": (COMPOUND, {"chunks": (1,)}),
        "lzf": (INTS, {"chunks": (7, 4), "compression": "lzf"}),
        "strings": (np.array(["a", "ü"], object), {}),
        "large lzf": (large, {"chunks": (7, 4), "compression": "lzf"}),
        "bool": (INTS > 0, {}),
    }
    with h5py.File(tmp_path / "a.h5", "w", userblock_size=userblock) as file:
        for name, (data, options) in arrays.items():
            file.create_dataset(f"g/{name}", data=data, **options).attrs["n"] = 1
        part = file.create_dataset("part", (9,), "i4", chunks=(4,), fillvalue=-5, **ZIPPED)
        part[:4] = range(4)
        part.id.write_direct_chunk((4,), np.arange(4, dtype="i4").tobytes(), filter_mask=1)
        shrunk = file.create_dataset("shrunk", data=INTS, chunks=(5, 9), maxshape=(None, 9))
        shrunk.resize((7, 9))
        swapped = file.create_dataset("swapped", data=np.ones(2, [("x", ">i4"), ("y", "<i4")]))
        assert swapped.chunks is None
    made = convert(tmp_path / "a.h5", tmp_path / "a.json", virtual=True)
    chosen = "the filter lzf: Zarr has none that does the same, the codecs are chosen anew"
    assert set(made.losses) == {
        "/swapped: the byte order of fields: format 3 has one for all",
        f"/g/large lzf: {chosen}",
        f"/g/lzf: {chosen}",
        "/g/large lzf: the array: its bytes are not those of chunks of Zarr, and too many for the table",
    }
    root = zarr.open_group(tmp_path / "a.json", mode="r")
    assert set(root["g"].array_keys()) == set(arrays) - {"large lzf"}
    for name, array in root["g"].arrays():
        expected = arrays[name][0]
        np.testing.assert_array_equal(array[...], expected.tolist() if name == "strings" else expected)
        assert array.attrs["n"] == 1
    assert root["swapped"][:].tolist() == [(1, 1), (1, 1)]
    assert root["part"][:].tolist() == [0, 1, 2, 3, 0, 1, 2, 3, -5]
    np.testing.assert_array_equal(root["shrunk"][:], INTS[:7])
    chunks = {"contiguous": 1, "scalar": 1, "big": 12, "all filters": 9, "compound": 2, "bool": 1}
    chunks |= {"part": 1, "shrunk": 2}
    assert (tmp_path / "a.json").read_text().count("a.h5") == sum(chunks.values())


def test_references_to_netcdf_for_xarray(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    dataset().to_netcdf(tmp_path / "a.nc", engine="netcdf4", encoding={"t2m": {**PACKED, "zlib": True}})
    assert convert(tmp_path / "a.nc", tmp_path / "a.json", virtual=True).losses == ()
    with (
        xr.open_dataset(tmp_path / "a.nc", engine="netcdf4") as old,
        xr.open_zarr(str(tmp_path / "a.json"), consolidated=False) as new,
    ):
        xr.testing.assert_identical(old.load(), new.load())


@pytest.mark.parametrize("suffix", ["h5", "nc"])
def test_elements_in_attributes_that_the_type_lacks(suffix: str, tmp_path: Path) -> None:
    if suffix == "nc":
        pytest.importorskip("h5netcdf")
    given = {"missing_value": -9999, "valid_max": 1e20, "valid_min": 3, "_FillValue": 300, "flag_values": [1, 256]}
    array = zarr.create_array(tmp_path / "a", data=np.arange(3, dtype="u1"), attributes=given)
    losses = zarr.tools.convert(array, tmp_path / f"a.{suffix}").losses
    with h5py.File(tmp_path / f"a.{suffix}") as file:
        attributes = {name: np.squeeze(value).tolist() for name, value in file["data"].attrs.items() if name in given}
        assert file["data"].attrs["valid_min"].dtype == "u1"
    kept = dict(given)
    if suffix == "nc":
        del kept["_FillValue"]  # which must be an element there
    assert attributes == kept
    for name in ("missing_value", "valid_max", "_FillValue", "flag_values"):
        assert any(name in text and "uint8 does not have" in text for text in losses), name
    floats = zarr.create_array(tmp_path / "f", data=np.arange(3, dtype="f4"), attributes={"missing_value": 0.1})
    assert not any("missing_value" in text for text in zarr.tools.convert(floats, tmp_path / f"f.{suffix}").losses)


def test_texts_that_are_not_of_utf_8(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.arange(3)
        file["x"].attrs["units"] = np.bytes_("°C".encode("latin-1"))
        file["x"].attrs["names"] = np.array(["é".encode("latin-1"), b"a"])
        file["x"].attrs["good"] = np.bytes_("°C".encode())
        file.create_dataset("text", data=[b"caf\xe9"], dtype=h5py.string_dtype("ascii"))
    made = convert(f"{tmp_path / 'a.h5'}::x", tmp_path / "a.zarr")
    assert dict(made.result.attrs) == {"units": "°C", "names": ["é", "a"], "good": "°C"}
    assert sum("they are read as Latin-1" in text for text in made.losses) == 2
    assert "\\ud" not in (tmp_path / "a.zarr" / "zarr.json").read_text()
    with h5py.File(convert(made.result, tmp_path / "b.h5").result) as file:
        assert file["data"].attrs["units"] == "°C"
    with pytest.raises(ValueError, match=r"by h5py: file\['/text'\]\.asstr"):
        convert(tmp_path / "a.h5", tmp_path / "b.zarr")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"chunks": "large"}, "'keep' or 'auto'"),
        ({"shards": "auto"}, "'keep' or None"),
        ({"chunks": (2,), "virtual": True}, "copies nothing"),
        ({"compressors": None, "virtual": True}, "copies nothing"),
        ({"zarr_format": 2, "virtual": True}, "copies nothing"),
    ],
)
def test_what_would_be_ignored_is_refused(given: Any, said: str, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.arange(3)
    with pytest.raises(ValueError, match=said):
        convert(tmp_path / "a.h5", tmp_path / ("b.json" if "virtual" in given else "b.zarr"), **given)
    assert len(list(tmp_path.iterdir())) == 1
