"""A user's work with tifffile: TIFF files and sequences of files opened as arrays, and its own codec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import zarr

if TYPE_CHECKING:
    from pathlib import Path

tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
pytest.importorskip("tifffile.zarr", reason="this tifffile has no store for zarr 3")

IMAGE = np.random.default_rng(3).integers(0, 60_000, (3, 100, 90), dtype="uint16")


@pytest.fixture
def tiled(tmp_path: Path) -> Path:
    path = tmp_path / "tiled.tif"
    tifffile.imwrite(path, IMAGE, tile=(32, 48), photometric="minisblack")
    return path


@pytest.fixture
def pyramid(tmp_path: Path) -> Path:
    path = tmp_path / "pyramid.ome.tif"
    with tifffile.TiffWriter(path, ome=True) as writer:
        writer.write(IMAGE, tile=(32, 32), subifds=1, photometric="minisblack")
        writer.write(IMAGE[:, ::2, ::2], tile=(32, 32), subfiletype=1, photometric="minisblack")
    return path


@pytest.mark.parametrize("chunkmode", ["STRILE", "PAGE"])
def test_reads_a_tiff_as_an_array(tiled: Path, chunkmode: str) -> None:
    with tifffile.imread(tiled, aszarr=True, chunkmode=chunkmode) as store:
        array = zarr.open_array(store, mode="r")
        assert array.shape == IMAGE.shape
        np.testing.assert_array_equal(array[...], IMAGE)
        np.testing.assert_array_equal(array[1, 30:70, 5:60:2], IMAGE[1, 30:70, 5:60:2])
        np.testing.assert_array_equal(array.oindex[[2, 0], [1, 99]], IMAGE[np.ix_([2, 0], [1, 99])])


def test_reads_the_levels_of_a_pyramid(pyramid: Path) -> None:
    with tifffile.imread(pyramid, aszarr=True) as store:
        group: Any = zarr.open(store, mode="r")
        assert isinstance(group, zarr.Group)
        assert sorted(group) == ["0", "1"]
        np.testing.assert_array_equal(group["0"][:], IMAGE)
        np.testing.assert_array_equal(group["1"][2, 3:7], IMAGE[2, ::2, ::2][3:7])


def test_writes_into_the_tiles_of_a_tiff(tiled: Path) -> None:
    with tifffile.imread(tiled, mode="r+", aszarr=True) as store:
        array: Any = zarr.open_array(store, mode="r+")
        array[1, 10:50, 20:80] = 7
    expected = IMAGE.copy()
    expected[1, 10:50, 20:80] = 7
    np.testing.assert_array_equal(tifffile.imread(tiled), expected)


def test_reads_a_sequence_of_files(tmp_path: Path) -> None:
    for index, plane in enumerate(IMAGE):
        tifffile.imwrite(tmp_path / f"plane_{index}.tif", plane)
    with tifffile.imread(str(tmp_path / "plane_*.tif"), aszarr=True) as store:
        array = zarr.open_array(store, mode="r")
        np.testing.assert_array_equal(array[1:], IMAGE[1:])


def test_selects_while_reading(tiled: Path) -> None:
    selection = (slice(0, 2), slice(10, 40), slice(None))
    np.testing.assert_array_equal(tifffile.imread(tiled, selection=selection), IMAGE[selection])
    out = np.zeros((2, 30, 90), dtype="uint16")
    tifffile.imread(tiled, selection=selection, out=out)
    np.testing.assert_array_equal(out, IMAGE[selection])


def test_the_older_name_of_regular_chunks() -> None:
    from zarr.core.chunk_grids import RegularChunkGrid

    assert RegularChunkGrid is zarr.core.metadata.v3.RegularChunkGridMetadata


@pytest.mark.skipif(not hasattr(tifffile.zarr, "register_codec"), reason="this tifffile has no codec")
def test_its_codec_stores_chunks_as_tiff() -> None:
    tifffile.zarr.register_codec()
    array = zarr.create_array({}, data=IMAGE, chunks=(1, 50, 90), serializer=tifffile.zarr.Tiff(), compressors=None)
    np.testing.assert_array_equal(array[:], IMAGE)
    np.testing.assert_array_equal(zarr.open_array(array.store, mode="r")[2, 49:52], IMAGE[2, 49:52])
