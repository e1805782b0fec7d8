"""GeoTIFF: files made by rasterio, and there and back, as rasterio reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.tools.contents_of_files import check_trip, plain, values
from zarr.tools.conversion.contents import ArrayContents, GroupContents

rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")

from zarr.tools.conversion.images.geotiff import read_geotiff  # noqa: E402
from zarr.tools.conversion.images.geotiff_writing import write_geotiff  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Dataset has no geotransform")
RANDOM = np.random.default_rng(6)
PLACE = rasterio.Affine(10.0, 0.0, 1000.0, 0.0, -20.0, 9000.0)
LAMBERT = "+proj=lcc +lat_0=46.5 +lon_0=3 +lat_1=49 +lat_2=44 +x_0=700000 +y_0=6600000 +ellps=GRS80 +units=m"


def make(path: Path, data: np.ndarray[Any, Any], **options: Any) -> Any:
    count, height, width = data.shape
    sizes = {"count": count, "height": height, "width": width, "dtype": data.dtype.name}
    file = rasterio.open(path, "w", driver="GTiff", **{"crs": "EPSG:32632", "transform": PLACE} | sizes | options)
    file.write(data)
    return file


def read(path: Path, lost: tuple[str, ...] = ()) -> Any:
    losses: list[str] = []
    contents = read_geotiff(str(path), losses)
    assert tuple(losses) == lost
    return contents


def check_same(first: Path, second: Path) -> None:
    """Rasterio says the same of both files."""
    with rasterio.open(first) as one, rasterio.open(second) as two:
        for name in (
            "crs",
            "transform",
            "dtypes",
            "descriptions",
            "units",
            "scales",
            "offsets",
            "colorinterp",
            "bounds",
        ):
            assert getattr(one, name) == getattr(two, name), name
        assert str(one.nodatavals) == str(two.nodatavals)
        assert one.tags() == two.tags()
        assert [one.overviews(n) for n in one.indexes] == [two.overviews(n) for n in two.indexes]
        np.testing.assert_array_equal(one.read(), two.read())


FLOATS = RANDOM.normal(size=(2, 70, 90)).astype("f4")
TILES = {"tiled": True, "blockxsize": 32, "blockysize": 16}
CASES: dict[str, tuple[np.ndarray[Any, Any], dict[str, Any], tuple[int, ...], float | None]] = {
    "pixels": (FLOATS, {**TILES, "interleave": "pixel", "nodata": np.nan, "compress": "deflate"}, (2, 16, 32), np.nan),
    "bands": (FLOATS, {**TILES, "interleave": "band", "nodata": -9999.0, "compress": "lzw"}, (1, 16, 32), -9999.0),
    "strips": (RANDOM.integers(-9, 9, (1, 70, 90), dtype="i2"), {"nodata": -9, "crs": LAMBERT}, (70, 90), -9),
    "rotated": (
        RANDOM.random((1, 33, 20)),
        {"transform": rasterio.Affine(8.0, 5.0, 1000.0, 5.0, -8.0, 9000.0)},
        (33, 20),
        None,
    ),
    "nodata-outside": (
        RANDOM.integers(0, 9, (3, 20, 30), dtype="u1"),
        {"nodata": 0, "photometric": "RGB"},
        (3, 20, 30),
        0,
    ),
    "no-place": (RANDOM.integers(0, 9, (1, 20, 30), dtype="u4"), {"crs": None, "transform": None}, (20, 30), None),
}


@pytest.mark.parametrize("case", CASES)
def test_images(case: str, tmp_path: Path) -> None:
    data, options, chunks, missing = CASES[case]
    make(tmp_path / "a.tif", data, **options).close()
    contents = read(tmp_path / "a.tif")
    flat = data[0] if len(data) == 1 else data
    assert (contents.shape, contents.dtype, contents.chunks) == (flat.shape, data.dtype, chunks)
    assert contents.dimension_names == ("band", "y", "x")[-flat.ndim :]
    assert str(contents.fill_value) == str(missing)
    np.testing.assert_array_equal(values(contents), flat)
    part = (slice(1, 2), slice(3, 17), slice(5, 19))[-flat.ndim :]
    np.testing.assert_array_equal(contents.read(part), flat[part])
    again = check_trip(contents, tmp_path / "b.tif", read_geotiff, write_geotiff, [])
    check_same(tmp_path / "a.tif", tmp_path / "b.tif")
    assert plain(again)[:2] == plain(contents)[:2]
    assert plain(again)[3:] == plain(contents)[3:]


def test_conventions(tmp_path: Path) -> None:
    make(tmp_path / "a.tif", FLOATS).close()
    told = read(tmp_path / "a.tif").attributes
    assert [each["name"] for each in told["zarr_conventions"]] == ["proj:", "spatial:"]
    assert told["proj:code"] == "EPSG:32632"
    assert told["proj:wkt2"].startswith("PROJCRS[")
    assert told["spatial:dimensions"] == ["y", "x"]
    assert told["spatial:transform"] == [10.0, 0.0, 1000.0, 0.0, -20.0, 9000.0]
    assert told["spatial:bbox"] == [1000.0, 7600.0, 1900.0, 9000.0]


def test_what_is_told_of_bands(tmp_path: Path) -> None:
    with make(tmp_path / "a.tif", FLOATS) as file:
        file.descriptions, file.units = ("red", "nir"), ("K", "m")
        file.scales, file.offsets = (2.0, 3.0), (0.0, 1.0)
        file.update_tags(mine="1", TIFFTAG_SOFTWARE="me")
        file.update_tags(2, of="band")
        file.update_tags(ns="MINE", deep="x")
    contents = read(tmp_path / "a.tif")
    assert contents.attributes["gdal"]["bands"][1]["tags"] == {"of": "band"}
    check_trip(contents, tmp_path / "b.tif", read_geotiff, write_geotiff, [])
    check_same(tmp_path / "a.tif", tmp_path / "b.tif")
    with rasterio.open(tmp_path / "b.tif") as file:
        assert (file.tags(2)["of"], file.tags(ns="MINE")) == ("band", {"deep": "x"})


def test_packed_values(tmp_path: Path) -> None:
    with make(tmp_path / "a.tif", FLOATS) as file:
        file.scales, file.offsets = (2.0, 2.0), (1.0, 1.0)
    told = read(tmp_path / "a.tif").attributes
    assert (told["scale_factor"], told["add_offset"]) == (2.0, 1.0)


def test_missing_values_by_the_convention_of_netcdf(tmp_path: Path) -> None:
    make(tmp_path / "a.tif", FLOATS.astype("i4"), nodata=-7).close()
    assert read(tmp_path / "a.tif").attributes["_FillValue"] == -7
    told = {"_FillValue": -3, "scale_factor": 2.0}
    array = ArrayContents(FLOATS.shape, np.dtype(">f4"), FLOATS.astype(">f4").__getitem__, attributes=told)
    write_geotiff(array, str(tmp_path / "b.tif"), [])
    with rasterio.open(tmp_path / "b.tif") as file:
        assert (file.nodata, file.scales) == (-3, (2.0, 2.0))
        np.testing.assert_array_equal(file.read(), FLOATS)


def test_colour_maps_and_control_points(tmp_path: Path) -> None:
    point = rasterio.control.GroundControlPoint(1, 2, 3.0, 4.0, 5.0)
    with make(tmp_path / "a.tif", (FLOATS[:1] * 10).astype("u1"), transform=None, crs=None) as file:
        file.write_colormap(1, {value: (value, 0, 9, 255) for value in range(256)})
        file.gcps = [point], rasterio.crs.CRS.from_epsg(4326)
    contents = read(tmp_path / "a.tif")
    check_trip(contents, tmp_path / "b.tif", read_geotiff, write_geotiff, [])
    with rasterio.open(tmp_path / "b.tif") as file:
        assert file.colormap(1)[7] == (7, 0, 9, 255)
        (found,), crs = file.gcps
        assert (found.x, found.row, crs.to_epsg()) == (3.0, 1.0, 4326)


def test_overviews(tmp_path: Path) -> None:
    data = RANDOM.integers(0, 99, (2, 150, 135), dtype="i2")
    make(tmp_path / "a.tif", data, **TILES, nodata=-1).close()
    with rasterio.open(tmp_path / "a.tif", "r+") as file:
        file.build_overviews([2, 4], rasterio.enums.Resampling.average)
    contents = read(tmp_path / "a.tif")
    assert [member.shape for member in contents.members.values()] == [(2, 150, 135), (2, 75, 68), (2, 38, 34)]
    layout = contents.attributes["multiscales"]["layout"]
    assert [entry["transform"]["scale"] for entry in layout] == [[1.0, 1.0, 1.0], [1.0, 2.0, 2.0], [1.0, 2.0, 2.0]]
    for level in (0, 1):
        with rasterio.open(tmp_path / "a.tif", overview_level=level) as file:
            np.testing.assert_array_equal(values(contents.members[str(level + 1)]), file.read())
            np.testing.assert_allclose(layout[level + 1]["spatial:transform"], list(file.transform)[:6])
    again = check_trip(contents, tmp_path / "b.tif", read_geotiff, write_geotiff, [])
    check_same(tmp_path / "a.tif", tmp_path / "b.tif")
    assert plain(again)[0] == plain(contents)[0]


def test_what_is_lost(tmp_path: Path) -> None:
    with make(tmp_path / "a.tif", FLOATS) as file:
        file.write_mask(np.ones((70, 90), dtype=bool))
    (tmp_path / "a.tif.msk").unlink(missing_ok=True)
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), make(tmp_path / "b.tif", FLOATS) as file:
        file.write_mask(np.ones((70, 90), dtype=bool))
    lost = "/: the mask of the file: Zarr has fill values, which the elements below it may not have"
    read(tmp_path / "b.tif", (lost,))
    array = ArrayContents((2, 3), np.dtype("f4"), FLOATS[0].__getitem__, attributes={"proj:code": "EPSG:0", "k": [1]})
    losses: list[str] = []
    write_geotiff(GroupContents({}, {"a": array, "g": GroupContents()}), str(tmp_path / "c.tif"), losses)
    assert losses == ["/g: it is beside the image a", "/: the coordinate system 'EPSG:0': GDAL does not know it"]
    assert read(tmp_path / "c.tif").attributes["k"] == [1]


def test_bands_of_several_types(tmp_path: Path) -> None:
    for number, dtype in enumerate(("u1", "f4")):
        make(tmp_path / f"{number}.tif", np.abs(FLOATS[:1] * 9).astype(dtype)).close()
    bands = "".join(
        f'<VRTRasterBand dataType="{kind}" band="{n + 1}"><SimpleSource><SourceFilename relativeToVRT="1">{n}.tif'
        "</SourceFilename><SourceBand>1</SourceBand></SimpleSource></VRTRasterBand>"
        for n, kind in enumerate(("Byte", "Float32"))
    )
    (tmp_path / "a.vrt").write_text(f'<VRTDataset rasterXSize="90" rasterYSize="70">{bands}</VRTDataset>')
    members = read(tmp_path / "a.vrt").members
    assert [str(member.dtype) for member in members.values()] == ["uint8", "float32"]
    np.testing.assert_array_equal(values(members["band_2"]), np.abs(FLOATS[0] * 9))


def test_what_is_refused(tmp_path: Path) -> None:
    def array_of(shape: tuple[int, ...], dtype: str = "f4") -> ArrayContents:
        return ArrayContents(shape, np.dtype(dtype), np.zeros(shape, dtype).__getitem__)

    path = str(tmp_path / "a.tif")
    with pytest.raises(TypeError, match="no data type float16"):
        write_geotiff(array_of((2, 3), "f2"), path, [])
    with pytest.raises(ValueError, match="bands, rows and columns"):
        write_geotiff(array_of((2, 3, 4, 5)), path, [])
    with pytest.raises(ValueError, match="2 arrays of two axes or more"):
        write_geotiff(GroupContents({}, {"a": array_of((2, 3)), "b": array_of((2, 3))}), path, [])
    (tmp_path / "b.tif").write_bytes(b"II*\0 no more")
    with pytest.raises(ValueError, match=r"b\.tif"):
        read_geotiff(str(tmp_path / "b.tif"), [])
