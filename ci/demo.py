"""The main job on real input: store, describe, coarsen and read back measured grids and a photograph.

Input: the terrain and bathymetry grids that matplotlib ships, and a photograph that scikit-learn ships. Every window
that is read back is compared with numpy; a difference ends the run with an error.
"""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.cbook import get_sample_data
from numcodecs import Blosc
from sklearn.datasets import load_sample_image

import zarr
from zarr.codecs import ZstdCodec

mpl.use("Agg")
import matplotlib.pyplot as plt


@dataclass
class Log:
    """Timings and checks of one run."""

    timings: list[tuple[str, float, int]] = field(default_factory=list)
    checks: int = 0

    def timed(self, label: str, nbytes: int, action: Any) -> Any:
        """Run ``action`` and note how long it took for ``nbytes`` bytes of array data."""
        start = time.perf_counter()
        result = action()
        self.timings.append((label, time.perf_counter() - start, nbytes))
        return result

    def same(self, label: str, got: Any, expected: Any) -> None:
        """Compare with numpy; end the run where they differ."""
        np.testing.assert_array_equal(np.asarray(got), np.asarray(expected), err_msg=label)
        self.checks += 1


def read_inputs() -> dict[str, np.ndarray[Any, Any]]:
    """Return the real input: terrain (m), bathymetry (m) with its coordinates, and a photograph."""
    terrain = get_sample_data("jacksboro_fault_dem.npz")
    bathymetry = get_sample_data("topobathy.npz")
    return {
        "terrain": terrain["elevation"],
        "bathymetry": bathymetry["topo"],
        "longitude": bathymetry["longitude"],
        "latitude": bathymetry["latitude"],
        "photograph": np.asarray(load_sample_image("china.jpg")),
    }


def coarsen(grid: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Halve the resolution by the mean of 2 x 2 cells (a last odd row or column is dropped)."""
    rows, columns = grid.shape[0] // 2 * 2, grid.shape[1] // 2 * 2
    blocks = grid[:rows, :columns].reshape(rows // 2, 2, columns // 2, 2)
    return np.asarray(blocks.mean(axis=(1, 3)).astype(grid.dtype))


def multiscales(levels: int) -> dict[str, Any]:
    """Return what OME-Zarr says of a pyramid: which arrays are the levels, and how large a cell of each is."""
    scales = [{"type": "scale", "scale": [2.0**level, 2.0**level]} for level in range(levels)]
    datasets = [{"path": str(level), "coordinateTransformations": [scale]} for level, scale in enumerate(scales)]
    axes = [{"name": name, "type": "space"} for name in ("y", "x")]
    return {"version": "0.5", "multiscales": [{"axes": axes, "datasets": datasets}]}


def write_v3(path: Path, data: dict[str, np.ndarray[Any, Any]], log: Log) -> Any:
    """Write a format 3 hierarchy: sharded and zstd-compressed, with dimension names, a pyramid, labels and times."""
    root = zarr.open_group(path, mode="w", zarr_format=3, attributes={"title": "Terrain, sea floor and a photograph"})
    terrain = data["terrain"]
    pyramid = root.create_group("terrain", attributes={"units": "m", "levels": 4, "ome": multiscales(4)})
    for level in range(4):
        array = pyramid.create_array(
            str(level), shape=terrain.shape, dtype=terrain.dtype, chunks=(32, 32), shards=(128, 128),
            compressors=ZstdCodec(level=5), dimension_names=("y", "x"), attributes={"factor": 2**level},
        )  # fmt: skip
        log.timed(f"write v3 terrain/{level}", terrain.nbytes, lambda a=array, t=terrain: a.__setitem__(..., t))
        log.same(f"terrain/{level}", array[...], terrain)
        terrain = coarsen(terrain)
    write_series(root, data, log)
    write_photograph(root, data["photograph"], log)
    root.create_array("stations", data=np.array(["Jacksboro", "Vancouver", "Peking 北京", "København", ""], dtype="T"))
    zarr.consolidate_metadata(root.store)
    return root


def write_series(root: Any, data: dict[str, np.ndarray[Any, Any]], log: Log) -> None:
    """Write the sea floor as a growing time series: one (made-up) survey a day, appended along time."""
    topo = data["bathymetry"]
    sea = root.create_group("bathymetry", attributes={"units": "m", "_note": "one survey a day, each 1 m deeper"})
    for name in ("longitude", "latitude"):
        sea.create_array(name, data=data[name], dimension_names=(name,))
    times = np.datetime64("2026-01-01") + np.arange(8)
    sea.create_array("time", data=times.astype("M8[s]"), dimension_names=("time",))
    series = sea.create_array(
        "depth", shape=(0, *topo.shape), dtype=topo.dtype, chunks=(1, 46, 60), compressors=ZstdCodec(level=3),
        fill_value=np.nan, dimension_names=("time", "latitude", "longitude"),
    )  # fmt: skip
    for day in range(times.size):
        log.timed("append a survey", topo.nbytes, lambda d=day: series.append((topo - d)[np.newaxis]))
    log.same("depth at one place", series[:, 40, 50], topo[40, 50] - np.arange(8, dtype="f4"))
    log.same("time", sea["time"][2:4], times[2:4].astype("M8[s]"))


def write_photograph(root: Any, photo: np.ndarray[Any, Any], log: Log) -> None:
    """Write the photograph in shards that hold one chunk a channel."""
    array = root.create_array(
        "photograph", shape=photo.shape, dtype=photo.dtype, chunks=(64, 64, 1), shards=(256, 256, 3),
        dimension_names=("y", "x", "channel"),
    )  # fmt: skip
    log.timed("write v3 photograph", photo.nbytes, lambda: array.__setitem__(..., photo))


def write_v2(path: Path, data: dict[str, np.ndarray[Any, Any]], log: Log) -> Any:
    """Write a format 2 hierarchy: blosc-compressed, as older programs expect it."""
    root = zarr.open_group(path, mode="w", zarr_format=2)
    root.attrs["title"] = "The same grids in format 2"
    for name, compressor in (
        ("terrain", Blosc(cname="zstd", clevel=5, shuffle=Blosc.BITSHUFFLE)),
        ("bathymetry", Blosc(cname="lz4", clevel=5, shuffle=Blosc.SHUFFLE)),
        ("photograph", Blosc(cname="lz4hc", clevel=9, shuffle=Blosc.NOSHUFFLE)),
    ):
        values = data[name]
        array = root.create_array(
            name, shape=values.shape, dtype=values.dtype, chunks=(64, 64, 3)[: values.ndim], compressors=compressor,
            order="F" if name == "bathymetry" else "C",
        )  # fmt: skip
        log.timed(f"write v2 {name}", values.nbytes, lambda a=array, v=values: a.__setitem__(..., v))
        array.attrs["_ARRAY_DIMENSIONS"] = ["y", "x", "channel"][: values.ndim]
    return root


def check_windows(root: Any, older: Any, data: dict[str, np.ndarray[Any, Any]], log: Log) -> None:
    """Read windows back by every kind of selection and compare each with numpy."""
    terrain, photo = data["terrain"], data["photograph"]
    for name, array in (("v3", root["terrain/0"]), ("v2", older["terrain"])):
        log.same(f"{name} window", log.timed(f"read {name} window", 100 * 120 * 2, lambda a=array: a[50:150, 200:320]),
                 terrain[50:150, 200:320])  # fmt: skip
        log.same(f"{name} steps", array[::7, 3::5], terrain[::7, 3::5])
        log.same(f"{name} row", array[-1], terrain[-1])
        rows, columns = np.array([300, 3, 77]), np.array([1, 400, 200, 5])
        log.same(f"{name} orthogonal", array.oindex[rows, columns], terrain[np.ix_(rows, columns)])
        log.same(f"{name} points", array.vindex[rows, columns[:3]], terrain[rows, columns[:3]])
        log.same(f"{name} mask", array[terrain > 900], terrain[terrain > 900])
        log.same(f"{name} block", array.blocks[1, 2], terrain[array_block(array, 1, 2)])
    log.same("v3 photograph", log.timed("read v3 photograph", photo.nbytes, lambda: root["photograph"][...]), photo)
    log.same("v2 photograph", log.timed("read v2 photograph", photo.nbytes, lambda: older["photograph"][...]), photo)
    log.same("v2 bathymetry", older["bathymetry"][...], data["bathymetry"])
    stations = root["stations"]
    log.same("labels", stations[1:4], np.array(["Vancouver", "Peking 北京", "København"], dtype=stations.dtype))


def array_block(array: Any, row: int, column: int) -> tuple[slice, slice]:
    """Return the window of one block of an array; a block is a shard where there are shards."""
    height, width = (array.shards or array.chunks)[:2]
    return np.s_[row * height : (row + 1) * height, column * width : (column + 1) * width]


def stored_bytes(array: Any) -> tuple[int, float]:
    """Return the bytes that the chunks of an array take, and the compression ratio."""
    stored = array.nbytes_stored()
    return stored, array.nbytes / max(stored, 1)


def print_report(root: Any, older: Any, log: Log) -> None:
    """Print the hierarchy, one array's description, sizes and timings."""
    print(root.tree())
    print()
    print(root["terrain/0"].info_complete())
    print()
    print(f"{'array':<28}{'bytes':>10}{'stored':>10}{'ratio':>8}")
    for prefix, group in (("v3", root), ("v2", older)):
        for name, array in group.members(max_depth=None):
            if isinstance(array, zarr.Array):
                stored, ratio = stored_bytes(array)
                print(f"{prefix + ' ' + name:<28}{array.nbytes:>10}{stored:>10}{ratio:>8.2f}")
    print()
    print(f"{'operation':<28}{'ms':>10}{'MB/s':>10}")
    for label, seconds, nbytes in log.timings:
        print(f"{label:<28}{seconds * 1e3:>10.2f}{nbytes / seconds / 1e6:>10.1f}")
    print(f"\n{log.checks} comparisons with numpy, all equal.")


def save_figure(root: Any, path: Path) -> None:
    """Draw what was read back from the store."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 8), constrained_layout=True)
    image = axes[0, 0].imshow(root["terrain/0"][...], cmap="terrain")
    axes[0, 0].set_title("terrain/0: elevation (m), zstd shards")
    figure.colorbar(image, ax=axes[0, 0])
    axes[0, 1].imshow(root["terrain/3"][...], cmap="terrain")
    axes[0, 1].set_title("terrain/3: the coarsest level of the pyramid")
    sea = root["bathymetry"]
    mesh = axes[1, 0].pcolormesh(sea["longitude"][...], sea["latitude"][...], sea["depth"][0], cmap="RdBu_r")
    axes[1, 0].set_title(f"bathymetry/depth (m) on {sea['time'][0]}")
    figure.colorbar(mesh, ax=axes[1, 0])
    axes[1, 1].imshow(root["photograph"][64:320, 128:512])
    axes[1, 1].set_title("photograph[64:320, 128:512]")
    figure.savefig(path, dpi=110)


def main() -> None:
    """Write, read, compare, print and draw."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ".demo")
    target.mkdir(parents=True, exist_ok=True)
    for name in ("grids_v3.zarr", "grids_v2.zarr"):
        shutil.rmtree(target / name, ignore_errors=True)
    log, data = Log(), read_inputs()
    root = write_v3(target / "grids_v3.zarr", data, log)
    older = write_v2(target / "grids_v2.zarr", data, log)
    root = zarr.open_group(target / "grids_v3.zarr", mode="r")
    older = zarr.open_group(target / "grids_v2.zarr", mode="r")
    check_windows(root, older, data, log)
    print(f"zarr {zarr.__version__}\n")
    print_report(root, older, log)
    figure = target / "demo.png"
    save_figure(root, figure)
    print(f"figure: {figure}")


if __name__ == "__main__":
    main()
