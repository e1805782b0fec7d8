"""A climate grid: days appended as they arrive, read back by name through xarray where it is installed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import zarr


def make(path: Path, days: int) -> zarr.Group:
    """Create the grid and append one day after the other; the shape grows only once a day's data are stored."""
    root = zarr.open_group(path, mode="w", attributes={"title": "synthetic temperature"})
    grid = root.create_array(
        "temperature",
        shape=(0, 180, 360),
        chunks=(1, 90, 90),
        shards=(1, 180, 360),
        dtype="float32",
        fill_value=np.nan,
        dimension_names=("time", "lat", "lon"),
        attributes={"units": "degC"},
    )
    random = np.random.default_rng(0)
    latitude = np.linspace(-89.5, 89.5, 180, dtype="float32")
    for day in range(days):
        field = 30 - 0.5 * np.abs(latitude)[:, None] + random.normal(0, 2, (180, 360)).astype("float32")
        grid.append((field + np.sin(day / 58))[None].astype("float32"), axis=0)
    root.create_array("lat", data=latitude, dimension_names=("lat",))
    root.create_array("lon", data=np.arange(0.5, 360, dtype="float32"), dimension_names=("lon",))
    units = {"units": "days since 2026-01-01"}
    root.create_array("time", data=np.arange(days), dimension_names=("time",), attributes=units)
    zarr.consolidate_metadata(root.store)
    return root


def main(folder: str = ".") -> None:
    """Write the grid, read a window and a time series."""
    path = Path(folder) / "climate.zarr"
    root = make(path, days=12)
    grid = root["temperature"]
    print(root.tree())
    print("window", grid[3, 80:100, 10:20].mean().round(2), "series", grid[:, 90, 180].round(1)[:4])
    try:
        import xarray
    except ImportError:
        print("xarray is not installed; the rest of this example needs it")
        return
    with xarray.open_zarr(path, chunks=None) as dataset:
        print(dataset.temperature.sel(lat=45.5, lon=10.5).mean().item())


if __name__ == "__main__":
    main(*sys.argv[1:])
