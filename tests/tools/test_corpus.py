"""Forty files of other libraries become Zarr and files again without a loss; what cannot be carried is listed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.tools.contents_of_files import fill_values
from zarr.tools import convert, diff
from zarr.tools.conversion.contents import ArrayContents, walk_contents
from zarr.tools.conversion.formats import format_of_file, function_of

h5py = pytest.importorskip("h5py", reason="h5py is not installed")
tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
netcdf = pytest.importorskip("netCDF4", reason="netCDF4 is not installed")
xarray = pytest.importorskip("xarray", reason="xarray is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

RANDOM = np.random.default_rng(0)
GRID = RANDOM.normal(size=(12, 10, 14))
POINTS = np.array([(1, 2.5, b"ab"), (3, -1, b"c")], dtype=[("id", "i4"), ("x", "f8"), ("tag", "S4")])


def hdf5(path: Path, data: Any, options: dict[str, Any]) -> None:
    with h5py.File(path, "w") as file:
        file.attrs["title"] = "corpus"
        dataset = file.create_dataset("group/x", data=data, **options)
        dataset.attrs["units"] = "K"
        dataset.attrs["range"] = np.array([0.5, 2.5])


def scales(path: Path) -> None:
    with h5py.File(path, "w") as file:
        for name, length in zip("tyx", GRID.shape, strict=True):
            file[name] = np.arange(length, dtype="f8")
            file[name].make_scale(name)
        file["v"] = GRID
        for axis, name in enumerate("tyx"):
            file["v"].dims[axis].attach_scale(file[name])


def resized(path: Path) -> None:
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("x", shape=(3, 4), maxshape=(None, 4), chunks=(2, 3), dtype="i2", fillvalue=-7)
        dataset[0] = 5
        dataset.resize((9, 4))


def netcdf4(path: Path, dtype: str = "f4", packed: bool = False, unlimited: bool = False, chunks: Any = None) -> None:
    with netcdf.Dataset(path, "w") as file:
        file.createDimension("time", None if unlimited else 12)
        file.createDimension("lat", 10)
        time = file.createVariable("time", "f8", ("time",))
        time[:] = np.arange(12)
        time.units = "days since 2001-01-01"
        variable = file.createVariable("v", dtype, ("time", "lat"), zlib=True, chunksizes=chunks, fill_value=99)
        variable.set_auto_maskandscale(False)
        if packed:
            variable.scale_factor, variable.add_offset = 0.5, 10.0
        variable[:] = RANDOM.integers(0, 90, (12, 10))
        file.Conventions = "CF-1.8"


def groups(path: Path) -> None:
    with netcdf.Dataset(path, "w") as file:
        inner = file.createGroup("a").createGroup("b")
        inner.createDimension("n", 5)
        inner.createVariable("x", "i8", ("n",))[:] = np.arange(5)


def texts(path: Path) -> None:
    with netcdf.Dataset(path, "w") as file:
        file.createDimension("n", 3)
        names = file.createVariable("name", str, ("n",))
        names[:] = np.array(["a", "ü", ""], dtype=object)


def from_xarray(path: Path, encoding: dict[str, Any]) -> None:
    times = np.arange("2020-01-01", "2020-01-13", dtype="M8[D]").astype("M8[ns]")
    coords = {"time": times, "lat": np.linspace(-45, 45, 10), "lon": np.linspace(0, 130, 14)}
    data = xarray.Dataset({"air": (("time", "lat", "lon"), GRID.astype("f4"), {"units": "degC"})}, coords=coords)
    data.to_netcdf(path, encoding={"air": encoding})


def tiff(path: Path, data: Any, **options: Any) -> None:
    tifffile.imwrite(path, data, **options)


def pyramid(path: Path) -> None:
    image = RANDOM.integers(0, 255, (64, 64), dtype="u1")
    with tifffile.TiffWriter(path, ome=True) as file:
        file.write(image, subifds=1, tile=(16, 16))
        file.write(image[::2, ::2], subfiletype=1, tile=(16, 16))


def geotiff(path: Path, **options: Any) -> None:
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")
    data = RANDOM.integers(0, 1000, (2, 40, 50)).astype("i2")
    place = rasterio.transform.from_origin(500000, 5200000, 30, 30)
    kept = {"driver": "GTiff", "width": 50, "height": 40, "count": 2, "dtype": "int16", "nodata": -1}
    with rasterio.open(path, "w", transform=place, crs="EPSG:32633", **kept, **options) as file:
        file.write(data)


def table(path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    parquet.write_table(pyarrow.table({"n": [1, 2, None], "x": [0.5, 1.5, 2.5], "s": ["a", "b", "ü"]}), path)


def text(path: Path, lines: str) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    path.write_text(lines)


def numpy_file(path: Path, data: Any) -> None:
    np.save(path, data)


def numpy_files(path: Path) -> None:
    np.savez(path, a=GRID, b=np.arange(4))


IMAGE = (GRID[0] * 100).astype("u2").repeat(5, 0).repeat(5, 1)
FILES: dict[str, Callable[[Path], None]] = {
    **{
        f"{name}.h5": partial(hdf5, data=data, options=options)
        for name, (data, options) in {
            "contiguous": (GRID, {}),
            "chunked": (GRID, {"chunks": (5, 3, 14)}),
            "gzip": (GRID, {"chunks": (4, 10, 7), "compression": "gzip", "compression_opts": 7}),
            "shuffle": (GRID, {"chunks": (4, 10, 7), "compression": "gzip", "shuffle": True}),
            "fletcher": (GRID, {"chunks": (4, 10, 7), "fletcher32": True}),
            "lzf": (GRID, {"chunks": (4, 10, 7), "compression": "lzf"}),
            "big_endian": (GRID.astype(">f4"), {"chunks": (6, 5, 7)}),
            "half": (GRID.astype("f2"), {}),
            "complex": (GRID[0].astype("c16"), {}),
            "bool": (GRID[0] > 0, {}),
            "unsigned": (np.arange(20, dtype="u8"), {"maxshape": (None,), "chunks": (7,)}),
            "compound": (POINTS, {}),
            "bytes": (np.array([b"ab", b"", b"xyz"], dtype="S5"), {}),
            "strings": (np.array(["a", "ü", ""], dtype=object), {"dtype": h5py.string_dtype()}),
            "scalar": (np.float64(4.5), {}),
            "empty": (np.zeros((0, 4), "i4"), {"maxshape": (None, 4), "chunks": (2, 4)}),
        }.items()
    },
    "scales.h5": scales,
    "resized.h5": resized,
    "plain.nc": netcdf4,
    "packed.nc": partial(netcdf4, dtype="i2", packed=True),
    "unlimited.nc": partial(netcdf4, unlimited=True, chunks=(5, 3)),
    "bytes.nc": partial(netcdf4, dtype="u1"),
    "groups.nc": groups,
    "texts.nc": texts,
    "xarray.nc": partial(from_xarray, encoding={}),
    "xarray_packed.nc": partial(from_xarray, encoding={"dtype": "i2", "scale_factor": 0.001, "_FillValue": -32768}),
    "xarray_chunks.nc": partial(from_xarray, encoding={"zlib": True, "chunksizes": (5, 10, 3)}),
    "grey.tif": partial(tiff, data=IMAGE),
    "tiles.tif": partial(tiff, data=IMAGE, tile=(16, 32), compression="zlib"),
    "strips.tif": partial(tiff, data=IMAGE, rowsperstrip=7),
    "colour.tif": partial(tiff, data=np.stack([IMAGE.astype("u1")] * 3, -1), photometric="rgb"),
    "pages.tif": partial(tiff, data=GRID.astype("f4")),
    "axes.ome.tif": partial(tiff, data=GRID.astype("f4")[None], ome=True, metadata={"axes": "CZYX"}),
    "pyramid.ome.tif": pyramid,
    "map.tif": geotiff,
    "odd_tiles.tif": partial(geotiff, tiled=True, blockxsize=16, blockysize=32, compress="deflate"),
    "cube.npy": partial(numpy_file, data=GRID),
    "records.npy": partial(numpy_file, data=POINTS),
    "several.npz": numpy_files,
    "table.parquet": table,
    "table.csv": partial(text, lines="n,x,s\n1,0.5,a\n2,1.5,b\n"),
}


def test_there_are_forty() -> None:
    assert len(FILES) >= 40


@pytest.mark.parametrize("name", FILES)
def test_there_and_back(name: str, tmp_path: Path) -> None:
    FILES[name](tmp_path / name)
    row = format_of_file(str(tmp_path / name))
    assert row is not None
    there = convert(tmp_path / name, tmp_path / "one.zarr")
    arrays = 0
    for path, contents in walk_contents(function_of(row, "reader")(str(tmp_path / name), [])):
        node: Any = there.result[path] if path else there.result
        if isinstance(contents, ArrayContents):
            arrays += 1
            region = tuple(slice(0, length) for length in contents.shape)
            np.testing.assert_array_equal(np.asarray(node[...]), np.asarray(contents.read(region)))
            assert contents.chunks is None or node.chunks == tuple(contents.chunks)
        given = {key: value for key, value in contents.attributes.items() if key != "_FillValue"}
        assert given.items() <= dict(node.attrs).items()
        assert ("_FillValue" in contents.attributes) == ("_FillValue" in node.attrs)
    assert arrays
    back = convert(tmp_path / "one.zarr", tmp_path / f"back-{name}", to=row.name)
    losses = [*there.losses, *back.losses]
    assert losses == LOSSES.get(name, [])
    convert(tmp_path / f"back-{name}", tmp_path / "two.zarr")
    found = {each.aspect for each in diff(tmp_path / "one.zarr", tmp_path / "two.zarr")}
    assert found <= ({"chunks", "codecs", "attribute", "fill value"} if losses else set())
    if row.name in ("hdf5", "netcdf"):
        assert fill_values(tmp_path / f"back-{name}") == fill_values(tmp_path / name)


LOSSES: dict[str, list[str]] = {
    "lzf.h5": [
        "/group/x: the filter lzf: Zarr has none that does the same, the codecs are chosen anew",
        "/group/x: the codec zstd: HDF5 has none that does the same, deflate is in its place",
    ],
    "unlimited.nc": [
        "/time: that the dimension is unlimited: each array of Zarr can be resized",
        "/time: chunks of shape (512,): none of NetCDF-4 is longer than a dimension",
    ],
    "axes.ome.tif": ["/: OME-XML besides names and colours of channels, sizes and units: it is written anew"],
    "pyramid.ome.tif": ["/: OME-XML besides names and colours of channels, sizes and units: it is written anew"],
    "map.tif": ["/: the fill value -1", "/: chunks of shape (2, 40, 50): tiles are of shape (48, 64)"],
    "odd_tiles.tif": ["/: the fill value -1", "/: chunks of shape (2, 32, 16): tiles are of shape (32, 16)"],
}
"""What conversion lists, there and back."""
