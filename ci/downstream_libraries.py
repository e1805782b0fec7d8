"""The libraries whose zarr tests ``downstream.py`` runs: their release, what the tests need, and how they are run."""

from __future__ import annotations

from dataclasses import dataclass

COMMON = ["pytest", "hypothesis", "pytest-xdist", "pytest-timeout", "pytest-mock", "pytest-asyncio"]


@dataclass(frozen=True)
class Library:
    """How one library's tests are run."""

    requirement: str
    extras: tuple[str, ...]
    arguments: tuple[str, ...]
    from_source: bool = True
    mends: tuple[tuple[str, str, str], ...] = ()  # (file, as shipped, as run): slips that stop the tests in both

    @property
    def name(self) -> str:
        return self.requirement.partition("==")[0].partition("[")[0]

    @property
    def version(self) -> str:
        return self.requirement.partition("==")[2]


LIBRARIES = {
    "xarray": Library(
        "xarray==2026.9.0",
        ("dask[distributed]", "pytest-asyncio", "fsspec", "aiohttp", "netCDF4", "h5netcdf", "scipy", "cftime"),
        ("xarray/tests/test_backends.py", "xarray/tests/test_backends_datatree.py", "xarray/tests/test_backends_api.py",
         "xarray/tests/test_distributed.py", "-o", "addopts=", "-k", "zarr or Zarr", "-W", "ignore"),
    ),
    "dask": Library(
        "dask[array,distributed]==2026.8.0", ("xarray",),
        ("--pyargs", "dask.array.tests.test_array_core", "dask.tests.test_distributed", "dask.tests.test_order",
         "dask.tests.test_sizeof", "dask.tests.test_graph_manipulation", "dask.array.tests.test_xarray", "-k", "zarr",
         "-W", "error::dask.array.core.PerformanceWarning"), from_source=False,
    ),
    "anndata": Library(
        "anndata==0.13.4",
        ("jsonschema", "scanpy", "awkward", "pytest-memray", "fast-array-utils", "xarray", "dask[distributed]",
         "filelock", "boltons", "joblib", "openpyxl", "pyarrow", "httpx", "zarrs"),
        ("tests", "-k", "zarr", "--ignore", "tests/test_concatenate_disk.py"),
    ),
    "ome-zarr": Library(
        "ome-zarr==0.21.0", (),
        ("tests", "-W", "ignore", "-k", "not test_s3_info and not test_class_reader"),
    ),
    "virtualizarr": Library(
        "virtualizarr==2.8.0",
        ("icechunk", "obstore", "kerchunk", "h5netcdf", "h5py", "xarray", "dask", "netCDF4", "s3fs", "fastparquet",
         "obspec-utils", "scipy", "tifffile", "imagecodecs", "imagecodecs-numcodecs", "arro3-core", "numcodecs",
         "hdf5plugin", "astropy", "pooch", "pytest-mypy-plugins", "aiohttp", "universal-pathlib"),
        ("virtualizarr/tests", "-o", "addopts=", "-o", "asyncio_mode=auto", "-W", "ignore"),
    ),
    "pydantic-zarr": Library(
        "pydantic-zarr==0.10.0", ("xarray", "pytest-examples"), ("tests", "-o", "addopts=", "-W", "ignore"),
        # The class that its conftest names has been called Struct since zarr 3.2: without this nothing is collected.
        mends=(("tests/test_pydantic_zarr/conftest.py", "elif dtype_cls == Structured:",
                'elif dtype_cls.__name__ in ("Structured", "Struct"):'),),
    ),
}  # fmt: skip
