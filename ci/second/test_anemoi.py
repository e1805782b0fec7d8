"""anemoi-datasets 0.5.35, the last release for zarr 2 alone: makes a dataset of a NetCDF file, copies and opens it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from anemoi.datasets import open_dataset

import zarr

RECIPE = """
dates: {start: 2020-01-01T00:00:00, end: 2020-01-02T18:00:00, frequency: 6h}
input:
  netcdf:
    path: in.nc
    param: [t2m, msl]
"""
COORDINATES = {"latitude": "degrees_north", "longitude": "degrees_east"}


def run(folder: Path, *words: str) -> None:
    command = [sys.executable, "-m", "anemoi.datasets", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("anemoi")
    rng = np.random.default_rng(0)
    values = {name: rng.normal(size=(8, 10, 10)).astype("f4") for name in ("t2m", "msl")}
    axes = ("time", "latitude", "longitude")
    places = {"latitude": np.linspace(90, -90, 10), "longitude": np.arange(0, 360, 36.0)}
    coords: dict[str, Any] = {"time": pd.date_range("2020-01-01", periods=8, freq="6h")}
    for name, unit in COORDINATES.items():
        coords[name] = (name, places[name], {"standard_name": name, "units": unit})
    xr.Dataset({name: (axes, each) for name, each in values.items()}, coords).to_netcdf(folder / "in.nc")
    (folder / "recipe.yaml").write_text(RECIPE)
    run(folder, "create", "recipe.yaml", "made.zarr", "--overwrite")
    return folder, values


def check(path: Path, values: dict[str, Any]) -> None:
    dataset = open_dataset(str(path))
    assert dataset.shape == (8, 2, 1, 100)
    for place, name in enumerate(dataset.variables):
        expected = values[name].reshape(8, 100)
        np.testing.assert_array_equal(dataset[:, place, 0, :], expected)
        used = expected[:6]  # statistics are those of the first part of the dates
        np.testing.assert_allclose(dataset.statistics["mean"][place], used.mean(), rtol=1e-4, atol=1e-6)
        assert dataset.statistics["maximum"][place] == used.max()


def test_create(made: tuple[Path, dict[str, Any]]) -> None:
    folder, values = made
    check(folder / "made.zarr", values)


def test_selections(made: tuple[Path, dict[str, Any]]) -> None:
    folder, values = made
    dataset = open_dataset(str(folder / "made.zarr"), select=["msl"], start="2020-01-02", frequency="12h")
    assert dataset.shape == (2, 1, 1, 100)
    np.testing.assert_array_equal(dataset[1][0, 0], values["msl"][6].reshape(100))


def test_copy(made: tuple[Path, dict[str, Any]]) -> None:
    folder, values = made
    run(folder, "copy", "made.zarr", "copied.zarr", "--transfers", "2")
    check(folder / "copied.zarr", values)


def test_inspect(made: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = made
    run(folder, "inspect", "made.zarr")


def test_an_opened_group_is_a_dataset(made: tuple[Path, dict[str, Any]]) -> None:
    folder, values = made
    dataset = open_dataset(zarr.open(str(folder / "made.zarr"), mode="r"))
    np.testing.assert_array_equal(dataset[0][dataset.variables.index("t2m"), 0], values["t2m"][0].reshape(100))
