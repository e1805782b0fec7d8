"""Images and tables through ``zarr.tools.convert``: into stores, by pools of processes, and back."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.tools import convert

RANDOM = np.random.default_rng(8)
STACK = RANDOM.integers(0, 60_000, (3, 150, 130), dtype="u2")


def carried(source: Any, target: Any, *lost: str, **options: Any) -> Any:
    made = convert(source, target, **options)
    assert made.losses == lost
    return made.result


def write_pyramid(path: Path) -> Any:
    tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
    pytest.importorskip("tifffile.zarr", reason="this tifffile has no store for zarr 3")
    told = {"axes": "CYX", "Channel": {"Name": ["a", "b", "c"]}, "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5}
    with tifffile.TiffWriter(path) as writer:
        writer.write(STACK, subifds=1, tile=(32, 64), metadata=told, compression="zlib")
        writer.write(STACK[:, ::2, ::2], subfiletype=1, tile=(32, 64), compression="zlib")
    return tifffile


@pytest.mark.parametrize("target", ["a.zarr", "a.zip"])
def test_ome_tiff_there_and_back(target: str, tmp_path: Path) -> None:
    tifffile = write_pyramid(tmp_path / "a.ome.tif")
    group = carried(tmp_path / "a.ome.tif", tmp_path / target)
    np.testing.assert_array_equal(group["0"][...], STACK)
    np.testing.assert_array_equal(group["1"][...], STACK[:, ::2, ::2])
    assert (group["0"].chunks, group["0"].metadata.dimension_names) == ((1, 32, 64), ("c", "y", "x"))
    lost = "/: OME-XML besides names and colours of channels, sizes and units: it is written anew"
    carried(group, tmp_path / "b.ome.tif", lost)
    again = carried(tmp_path / "b.ome.tif", {})
    assert again.attrs["ome"] == group.attrs["ome"]
    for level, first in enumerate(tifffile.TiffFile(tmp_path / "a.ome.tif").series[0].levels):
        second = tifffile.TiffFile(tmp_path / "b.ome.tif").series[0].levels[level]
        np.testing.assert_array_equal(first.asarray(), second.asarray())
        assert second.keyframe.chunks == first.keyframe.chunks


def test_processes_read_the_file_themselves(tmp_path: Path) -> None:
    write_pyramid(tmp_path / "a.ome.tif")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        options: dict[str, Any] = {"executor": pool, "memory": 100_000, "chunks": (3, 40, 40)}
        group = carried(tmp_path / "a.ome.tif", tmp_path / "a.zarr", **options)
    np.testing.assert_array_equal(group["0"][...], STACK)
    assert group["1"].chunks == (3, 40, 40)


def test_references_in_place(tmp_path: Path) -> None:
    write_pyramid(tmp_path / "a.ome.tif")
    plan = convert(tmp_path / "a.ome.tif", tmp_path / "a.json", virtual=True, dry_run=True)
    assert (plan.result, " 63 references to " in plan.plan) == (None, True), plan.plan
    group = carried(tmp_path / "a.ome.tif", tmp_path / "a.json", virtual=True)
    np.testing.assert_array_equal(group["1"][...], STACK[:, ::2, ::2])
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "a.json", mode="r")["0"][...], STACK)  # type: ignore[index]
    (tmp_path / "deep").mkdir()
    below = carried(tmp_path / "a.ome.tif", tmp_path / "deep" / "a.json", virtual=True)
    np.testing.assert_array_equal(below["0"][...], STACK)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        convert(tmp_path / "a.ome.tif", tmp_path / "a.json", virtual=True)
    with pytest.raises(ValueError, match="json"):
        convert(tmp_path / "a.ome.tif", tmp_path / "a.zarr", virtual=True)
    (tmp_path / "a.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="cannot be referred to in place"):
        convert(tmp_path / "a.csv", tmp_path / "b.json", virtual=True)


def test_parts_of_files(tmp_path: Path) -> None:
    write_pyramid(tmp_path / "a.ome.tif")
    array = carried(f"{tmp_path}/a.ome.tif::1", {}, zarr_format=2)
    np.testing.assert_array_equal(array[...], STACK[:, ::2, ::2])


def test_geotiff_as_xarray_reads_it(tmp_path: Path) -> None:
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")
    data = RANDOM.integers(-9, 9, (2, 60, 50), dtype="i2")
    place = rasterio.Affine(0.5, 0.0, 7.0, 0.0, -0.5, 50.0)
    options = {"count": 2, "height": 60, "width": 50, "dtype": "int16", "crs": "EPSG:4326", "nodata": -9}
    with rasterio.open(tmp_path / "a.tif", "w", transform=place, **options) as file:
        file.write(data)
        file.scales, file.offsets = (0.5, 0.5), (3.0, 3.0)
    for level in (1, 2):
        group = carried(tmp_path / "a.tif", tmp_path / f"{level}.zarr")
        carried(group, tmp_path / f"{level}.tif", to="geotiff")
        with rasterio.open(tmp_path / "a.tif") as one, rasterio.open(tmp_path / f"{level}.tif") as two:
            assert (one.crs, one.transform, one.nodata, one.scales) == (two.crs, two.transform, two.nodata, two.scales)
            assert one.overviews(1) == two.overviews(1)
            np.testing.assert_array_equal(one.read(), two.read())
        if level == 1:
            with rasterio.open(tmp_path / "a.tif", "r+") as file:
                file.build_overviews([2], rasterio.enums.Resampling.average)
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    expected = np.where(data == -9, np.nan, data * 0.5 + 3.0)
    zarr.create_group(tmp_path / "x.zarr")
    carried(tmp_path / "1.tif", tmp_path / "x.zarr", path="v")
    np.testing.assert_allclose(xarray.open_zarr(tmp_path / "x.zarr", consolidated=False)["v"], expected)
    found = xarray.open_zarr(tmp_path / "2.zarr", consolidated=False, drop_variables=["1"])
    np.testing.assert_allclose(found["0"], expected)
    assert found.attrs["proj:code"] == "EPSG:4326"


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_tables_there_and_back(zarr_format: Any, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="this pyarrow has no parquet")
    table = arrow.table(
        {
            "z": [3, None, 1],
            "name": ["ü", None, ""],
            "at": arrow.array([1, None, 3], arrow.timestamp("us")),
            "raw": arrow.array([b"\0", b"", b"\xff"], arrow.large_binary()),
            "size": [0.5, float("inf"), -1.0],
        }
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    group = carried(tmp_path / "a.parquet", tmp_path / "a.zarr", zarr_format=zarr_format)
    assert group.attrs["columns"] == table.column_names
    assert group["name"][:].tolist() == ["ü", "", ""]
    carried(group, tmp_path / "b.parquet")
    assert parquet.read_table(tmp_path / "b.parquet").to_pydict() == table.to_pydict()
    carried(group, tmp_path / "b.csv", "/raw: csv has text and no bytes")
    again = carried(tmp_path / "b.csv", {})
    assert again["at"][:].astype("M8[us]").tolist() == group["at"][:].tolist()
    np.testing.assert_array_equal(again["z_valid"][:], [True, False, True])
