"""tifffile 2025.5.10, whose stores are mappings of zarr 2: TIFF files, pyramids and sequences read through zarr."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dask.array
import fsspec
import numpy as np
import pytest
import tifffile

import zarr

DATA = np.random.default_rng(0).integers(0, 60000, (5, 301, 219), dtype="u2")


def test_a_file_of_tiles(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", DATA, tile=(64, 64), compression="zlib")
    with tifffile.imread(tmp_path / "a.tif", aszarr=True) as store:
        array = zarr.open(store, mode="r")
        assert (array.shape, array.chunks, array.dtype) == (DATA.shape, (1, 64, 64), DATA.dtype)
        np.testing.assert_array_equal(array[:], DATA)
        np.testing.assert_array_equal(array[3, 60:70, ::7], DATA[3, 60:70, ::7])


@pytest.mark.parametrize("chunkmode", [0, 2])
def test_a_file_of_strips(chunkmode: int, tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", DATA, rowsperstrip=50)
    with tifffile.TiffFile(tmp_path / "a.tif") as file, file.aszarr(chunkmode=chunkmode) as store:
        np.testing.assert_array_equal(zarr.open(store, mode="r")[1:3], DATA[1:3])


def write_pyramid(path: Path) -> None:
    with tifffile.TiffWriter(path) as writer:
        writer.write(DATA, subifds=2, tile=(64, 64))
        writer.write(DATA[:, ::2, ::2], subfiletype=1, tile=(64, 64))
        writer.write(DATA[:, ::4, ::4], subfiletype=1, tile=(64, 64))


def test_a_pyramid_is_a_group(tmp_path: Path) -> None:
    write_pyramid(tmp_path / "a.tif")
    with tifffile.imread(tmp_path / "a.tif", aszarr=True) as store:
        group = zarr.open(store, mode="r")
        paths = [level["path"] for level in group.attrs["multiscales"][0]["datasets"]]
        assert len(paths) == 3
        for step, path in zip((1, 2, 4), paths, strict=True):
            np.testing.assert_array_equal(group[path][:], DATA[:, ::step, ::step])
    with tifffile.imread(tmp_path / "a.tif", aszarr=True, level=1) as store:
        np.testing.assert_array_equal(zarr.open(store, mode="r")[:], DATA[:, ::2, ::2])


def test_a_sequence_of_files(tmp_path: Path) -> None:
    for i, page in enumerate(DATA):
        tifffile.imwrite(tmp_path / f"p{i}.tif", page)
    with tifffile.imread(sorted(str(path) for path in tmp_path.glob("p*.tif")), aszarr=True) as store:
        array = zarr.open(store, mode="r")
        assert array.shape == DATA.shape
        np.testing.assert_array_equal(array[2:4, 5], DATA[2:4, 5])


def test_by_dask(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", DATA, tile=(64, 64))
    with tifffile.imread(tmp_path / "a.tif", aszarr=True) as store:
        array = dask.array.from_zarr(store)
        np.testing.assert_array_equal(array[:, ::3].sum(axis=0).compute(), DATA[:, ::3].sum(axis=0))


def test_references_of_fsspec(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", DATA, tile=(64, 64))
    with tifffile.imread(tmp_path / "a.tif", aszarr=True) as store:
        store.write_fsspec(tmp_path / "a.json", url=tmp_path.as_uri())
    references: dict[str, Any] = json.loads((tmp_path / "a.json").read_text())
    mapper = fsspec.get_mapper("reference://", fo=references, target_protocol="file", remote_protocol="file")
    np.testing.assert_array_equal(zarr.open(mapper, mode="r")[:], DATA)


def test_written_through_zarr(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", shape=(2, 128, 128), dtype="u2", tile=(64, 64))
    with tifffile.imread(tmp_path / "a.tif", mode="r+", aszarr=True) as store:
        array = zarr.open(store, mode="r+")
        array[1, 10:100] = 7
    expected = np.zeros((2, 128, 128), "u2")
    expected[1, 10:100] = 7
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "a.tif"), expected)
