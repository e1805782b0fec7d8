"""A user's work with kerchunk: foreign files scanned into references, and the references opened as groups."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import zarr

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("kerchunk", reason="kerchunk is not installed")
h5py = pytest.importorskip("h5py", reason="h5py is not installed")
hdf = pytest.importorskip("kerchunk.hdf", reason="kerchunk cannot read HDF5 here")
fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")

VALUES = np.random.default_rng(1).normal(size=(40, 30)).astype("f4")


def write_hdf5(path: Path, values: np.ndarray, start: int = 0) -> None:
    with h5py.File(path, "w") as file:
        steps = file.create_dataset("time", data=np.arange(start, start + len(values), dtype="i8"))
        steps.make_scale("time")
        data = file.create_dataset("deep/values", data=values, chunks=(16, 10), compression="gzip", shuffle=True)
        data.attrs["unit"] = "K"
        flat = file.create_dataset("flat", data=values, chunks=(len(values), 10))
        flat.dims[0].attach_scale(steps)


@pytest.fixture
def references(tmp_path: Path) -> dict[str, Any]:
    write_hdf5(tmp_path / "a.h5", VALUES)
    found: dict[str, Any] = hdf.SingleHdf5ToZarr(str(tmp_path / "a.h5"), inline_threshold=100).translate()
    return found


def check(group: zarr.Group) -> None:
    array: Any = group["deep/values"]
    assert array.attrs["unit"] == "K"
    np.testing.assert_array_equal(array[:], VALUES)
    np.testing.assert_array_equal(array[10:20, ::7], VALUES[10:20, ::7])
    time: Any = group["time"]
    np.testing.assert_array_equal(time[:], np.arange(40))


def test_references_of_an_hdf5_file_open_as_a_group(references: dict[str, Any]) -> None:
    from kerchunk.utils import refs_as_store

    check(zarr.open_group(refs_as_store(references), mode="r", zarr_format=2))


def test_references_through_a_mapper(references: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "refs.json").write_text(json.dumps(references))
    options = {"fo": str(tmp_path / "refs.json"), "remote_protocol": "file"}
    check(zarr.open_group("reference://", mode="r", storage_options=options))


def test_consolidated_references(references: dict[str, Any]) -> None:
    from kerchunk.utils import consolidate, refs_as_store

    check(zarr.open_group(refs_as_store(consolidate(references["refs"])), mode="r", zarr_format=2))


def test_inlined_arrays(references: dict[str, Any]) -> None:
    from kerchunk.utils import inline_array, refs_as_store

    inlined = inline_array(references, threshold=1000, names=["time"])
    check(zarr.open_group(refs_as_store(inlined), mode="r", zarr_format=2))


def test_files_combined_along_an_axis(tmp_path: Path) -> None:
    combine = pytest.importorskip("kerchunk.combine", reason="kerchunk cannot combine here (xarray is not installed)")
    from kerchunk.utils import refs_as_store

    found = []
    for number in range(3):
        write_hdf5(tmp_path / f"{number}.h5", VALUES + number, 40 * number)
        found.append(hdf.SingleHdf5ToZarr(str(tmp_path / f"{number}.h5")).translate())
    both = combine.MultiZarrToZarr(found, concat_dims=["time"], remote_protocol="file").translate()
    group = zarr.open_group(refs_as_store(both), mode="r", zarr_format=2)
    array: Any = group["flat"]
    assert array.shape == (120, 30)
    np.testing.assert_array_equal(array[35:95, 3], np.concatenate([VALUES + number for number in range(3)])[35:95, 3])


def test_netcdf3(tmp_path: Path) -> None:
    scipy_io = pytest.importorskip("scipy.io", reason="scipy is not installed")
    netcdf3 = pytest.importorskip("kerchunk.netCDF3", reason="kerchunk cannot read NetCDF 3 here")
    from kerchunk.utils import refs_as_store

    with scipy_io.netcdf_file(tmp_path / "a.nc", "w") as file:
        file.createDimension("x", 40)
        file.createDimension("y", 30)
        file.createVariable("values", "f4", ("x", "y"))[:] = VALUES
    references = netcdf3.NetCDF3ToZarr(str(tmp_path / "a.nc"), inline_threshold=0).translate()
    group = zarr.open_group(refs_as_store(references), mode="r", zarr_format=2)
    np.testing.assert_array_equal(group["values"][3:9], VALUES[3:9])  # type: ignore[index]


def test_fortran_ordered_codec() -> None:
    codecs = pytest.importorskip("kerchunk.codecs")
    assert codecs.FillStringsCodec("S4", "x").get_config()["id"] == "fill_hdf_strings"
