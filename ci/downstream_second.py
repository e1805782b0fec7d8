"""Programs that were written for zarr 2, and what ``downstream.py --second`` runs of them.

Of each, scripts that use it as its users do (``second/test_*.py``, each of which compares with NumPy or with what the
program says without zarr). They are run unchanged, with zarr 2.18.7 and with this project in its place. xarray's own
tests are not run: from the number 3 of the version they conclude that zarr has the interface of its alphas.
"""

from __future__ import annotations

from pathlib import Path

from downstream_libraries import Library

SCRIPTS = Path(__file__).resolve().parent / "second"

REQUIREMENTS = (
    "numcodecs<0.16", "xarray==2024.10.0", "anemoi-datasets==0.5.35", "tifffile==2025.5.10", "imagecodecs", "netCDF4",
    "h5netcdf", "dask[array]", "scikit-allel==1.3.13", "sgkit==0.10.0", "napari==0.5.6", "fsspec", "h5py", "cftime",
)  # fmt: skip
"""One set of releases that agree with zarr 2.18.7 and with each other."""

AS_2_WROTE = (("ZARR_DEFAULT_ZARR_FORMAT", "2"), ("ZARR_ARRAY__WRITE_EMPTY_CHUNKS", "True"))
"""Settings for programs that look at the files of a store: without them new arrays are of format 3, and chunks of the
fill value alone are not stored."""


def script(requirement: str, environment: tuple[tuple[str, str], ...] = ()) -> Library:
    """Return how the script of a program is run."""
    name = requirement.partition("==")[0].partition("-")[0]
    arguments = (str(SCRIPTS / f"test_{name}.py"), "-c", "pytest.ini", "-W", "ignore", "--timeout", "600")
    return Library(requirement, (), arguments, from_source=False, environment=environment)


PROGRAMS = {
    "anemoi": script("anemoi-datasets==0.5.35", AS_2_WROTE),
    "tifffile": script("tifffile==2025.5.10"),
    "napari": script("napari==0.5.6"),
    "allel": Library(
        "scikit-allel==1.3.13", (),
        (str(SCRIPTS / "test_allel.py"), "-c", "pytest.ini", "-W", "ignore"), from_source=False,
    ),
    "sgkit": script("sgkit==0.10.0"),
    "xarray": script("xarray==2024.10.0"),
}  # fmt: skip
