"""xarray 2024.10.0, the last release before it knew zarr 3 well: datasets stored, extended, changed and read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import zarr


def make(times: int = 12) -> xr.Dataset:
    rng = np.random.default_rng(0)
    axes = ("time", "y", "x")
    values = {
        "t": (axes, rng.normal(size=(times, 6, 8)).astype("f4"), {"units": "K"}),
        "n": (axes, rng.integers(0, 99, (times, 6, 8)).astype("i2")),
        "name": ("y", np.array(["a", "bc", "déf", "", "x", "yz"], dtype=object)),
    }
    coords = {"time": pd.date_range("2000-01-01", periods=times), "x": np.arange(8) * 0.5}
    return xr.Dataset(values, coords, {"title": "made"})


@pytest.mark.parametrize("consolidated", [True, False])
def test_there_and_back(consolidated: bool, tmp_path: Path) -> None:
    make().to_zarr(tmp_path / "a.zarr", consolidated=consolidated)
    xr.testing.assert_identical(xr.open_zarr(tmp_path / "a.zarr", consolidated=consolidated).load(), make())
    part = xr.open_zarr(tmp_path / "a.zarr").t.sel(time=slice("2000-01-03", "2000-01-05"), x=1.5)
    np.testing.assert_array_equal(part, make().t[2:5, :, 3])


def test_codecs_of_numcodecs(tmp_path: Path) -> None:
    encoding: dict[str, Any] = {
        "t": {"compressor": numcodecs.Blosc("zstd", 5), "chunks": (4, 3, 8)},
        "n": {"compressor": None, "filters": [numcodecs.Delta("i2")], "_FillValue": -1},
    }
    make().to_zarr(tmp_path / "a.zarr", encoding=encoding, zarr_version=2)
    found = xr.open_zarr(tmp_path / "a.zarr")
    assert found.t.encoding["compressor"] == numcodecs.Blosc("zstd", 5)
    assert found.t.encoding["chunks"] == (4, 3, 8)
    xr.testing.assert_equal(found.load(), make())


def test_appended_and_replaced_by_regions(tmp_path: Path) -> None:
    make().isel(time=slice(0, 6)).to_zarr(tmp_path / "a.zarr")
    make().isel(time=slice(6, 12)).drop_vars("name").to_zarr(tmp_path / "a.zarr", append_dim="time")
    xr.testing.assert_equal(xr.open_zarr(tmp_path / "a.zarr").load(), make())
    region = (make() * 0)[["n"]].isel(time=slice(2, 4)).drop_vars("x")
    region.to_zarr(tmp_path / "a.zarr", region={"time": slice(2, 4)})
    found = xr.open_zarr(tmp_path / "a.zarr").n.load()
    assert not found[2:4].any()
    np.testing.assert_array_equal(found[4:], make().n[4:])


def test_by_dask(tmp_path: Path) -> None:
    make().chunk(time=5, y=3).to_zarr(tmp_path / "a.zarr")
    found = xr.open_zarr(tmp_path / "a.zarr")
    assert found.t.chunks == ((5, 5, 2), (3, 3), (8,))
    np.testing.assert_allclose(found.t.mean("time").compute(), make().t.mean("time"), rtol=1e-5)


STORES: dict[str, Any] = {
    "DirectoryStore": lambda folder: zarr.DirectoryStore(str(folder / "a")),
    "NestedDirectoryStore": lambda folder: zarr.NestedDirectoryStore(str(folder / "a")),
    "ZipStore": lambda folder: zarr.ZipStore(str(folder / "a.zip")),
    "MemoryStore": lambda folder: zarr.MemoryStore(),
    "LRUStoreCache": lambda folder: zarr.LRUStoreCache(zarr.DirectoryStore(str(folder / "a")), max_size=None),
    "FSStore": lambda folder: zarr.storage.FSStore(str(folder / "a")),
    "dict": lambda folder: {},
}


@pytest.mark.parametrize("name", STORES)
def test_stores_of_zarr_2(name: str, tmp_path: Path) -> None:
    store = STORES[name](tmp_path)
    make().to_zarr(store, mode="w", consolidated=True, zarr_version=2)
    xr.testing.assert_identical(xr.open_zarr(store).load(), make())
    assert ".zmetadata" in store


def test_times_and_missing_values(tmp_path: Path) -> None:
    data = make().t.where(make().t > 0).to_dataset(name="t")
    data["when"] = ("time", pd.date_range("1900-01-01", periods=12, freq="h").to_numpy())
    data.to_zarr(tmp_path / "a.zarr")
    xr.testing.assert_equal(xr.open_dataset(tmp_path / "a.zarr", engine="zarr").load(), data)


def test_groups(tmp_path: Path) -> None:
    make().to_zarr(tmp_path / "a.zarr", group="one/two")
    make(3).to_zarr(tmp_path / "a.zarr", group="one/three", mode="a")
    xr.testing.assert_identical(xr.open_zarr(tmp_path / "a.zarr", group="one/three").load(), make(3))
    tree = xr.open_datatree(tmp_path / "a.zarr", engine="zarr")
    assert sorted(node.path for node in tree.leaves) == ["/one/three", "/one/two"]
