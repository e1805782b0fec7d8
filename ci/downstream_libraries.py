"""The libraries whose zarr tests ``downstream.py`` runs: their release, what the tests need, and how they are run."""

from __future__ import annotations

from dataclasses import dataclass

COMMON = ["pytest", "hypothesis", "pytest-xdist", "pytest-timeout", "pytest-mock", "pytest-asyncio"]


@dataclass(frozen=True)
class Library:
    """The way in which the tests of one library are run."""

    requirement: str
    extras: tuple[str, ...]
    arguments: tuple[str, ...]
    from_source: bool = True
    mends: tuple[tuple[str, str, str], ...] = ()  # (file, as shipped, as run): slips that stop the tests in both
    environment: tuple[tuple[str, str], ...] = ()  # variables of the run
    folder: str = "."  # where in the source distribution the tests are run
    accepted: tuple[tuple[str, str], ...] = ()  # (test without its parameters, why it is meant to fail here)

    @property
    def name(self) -> str:
        return self.requirement.partition("==")[0].partition("[")[0]

    @property
    def version(self) -> str:
        return self.requirement.partition("==")[2]


STALE_COPY = (
    "TestPickleGateOnOpenedArrays::test_link_to_an_array_group_iteration_does_not_visit",
    "it changes attributes behind the consolidated metadata of a file; here these can be read, so they are believed: "
    "zarr-python cannot parse them, and hdmf-zarr reads without them",
)

READ_DIRECTLY = (
    "TestV2ConversionRefusesToDropEntries::test_fallback_read_warning_as_error_propagates",
    "where unpickling is allowed, arrays of pickled objects are read here: hdmf-zarr needs no other way to read them, "
    "of which it would warn",
)

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
        accepted=(("test_readwrite::test_read_zarr_zip_path_suggests_store",
                   "a path of a zip file is opened as one, where it expects the advice to open it by ZipStore"),),
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
    # Its source distribution is fetched unbuilt: pip can ask it for its metadata only with crates at hand. Tests
    # that need an S3 server are left out: each waits for one. Those that need other releases of it fail with both.
    "icechunk": Library(
        "icechunk==2.3.0",
        ("boto3", "mypy-boto3-s3", "termcolor", "rich", "flatbuffers", "zstandard", "xarray", "dask[distributed]"),
        ("tests/test_zarr", "tests/test_xarray.py", "tests/test_dask.py", "tests/test_dask_array.py",
         "tests/test_distributed_append.py", "tests/test_distributed_writers.py", "tests/test_concurrency.py",
         "tests/test_store.py", "tests/test_store_properties.py", "tests/test_pickle.py", "tests/test_timetravel.py",
         "tests/test_regressions.py", "tests/test_move.py", "tests/test_shift.py", "tests/test_session.py",
         "tests/run_xarray_backends_tests.py", "-o", "addopts=", "-o", "xfail_strict=false",
         "-o", "filterwarnings=default", "--timeout", "600", "-k", "not minio and not s3"),
        folder="icechunk-python", environment=(("ICECHUNK_XARRAY_BACKENDS_TESTS", "1"),),
        accepted=(("test_shift::test_shift_and_reindex_rejected_on_rectilinear_grid",
                   "a random test before it switches such grids on or off, and its last draw stays; passes alone"),),
    ),
    "spatialdata": Library(
        "spatialdata==0.8.0", ("filelock", "aiohttp"), ("tests/io", "-o", "addopts=--import-mode=importlib"),
    ),
    # Its settings turn each warning into an error: those of pandas 3.1 stop all its tests.
    "mudata": Library(
        "mudata==0.4.1", ("fast-array-utils", "jsonschema", "referencing", "fsspec"),
        ("tests", "-o", "filterwarnings=default", "-o", "asyncio_default_fixture_loop_scope=function"),
    ),
    # Its tests write into the folder they run in. Those that need S3 or zindi (on no index) fail with both.
    "hdmf-zarr": Library(
        "hdmf-zarr==0.14.0", ("hdf5plugin", "python-dateutil", "scipy", "tqdm", "fsspec", "s3fs"), ("tests",),
        accepted=(STALE_COPY,),
    ),
    "hdmf-zarr-unpickling": Library(
        "hdmf-zarr==0.14.0", ("hdf5plugin", "python-dateutil", "scipy", "tqdm", "fsspec", "s3fs"),
        ("tests/unit/test_zarrv2_backward_compat.py",), environment=(("NUMCODECS_ALLOW_UNSAFE_PICKLE_DECODE", "1"),),
        accepted=(STALE_COPY, READ_DIRECTLY),
    ),
    # Left out, as they fail with both: those with the dask executor, whose cluster starts no workers (seconds each, of
    # a hundred), and those that need S3. Those that draw a plan need graphviz's dot on the path.
    "cubed": Library(
        "cubed[diagnostics]==0.28.0", ("dill", "numpy_groupies", "obstore", "icechunk", "seaborn"),
        ("cubed/tests", "-o", "addopts=", "-W", "ignore",
         "-k", "not lithops and not modal and not mem_utilization and not dask and not matmul_cloud"),
    ),
    "geozarr-toolkit": Library("geozarr-toolkit==0.1.2", ("jsondiff",), ("tests", "-o", "addopts=")),
    # test_vlen imports a name that zarr-python has dropped. Fetched unbuilt, as icechunk.
    "zarrs": Library(
        "zarrs==0.2.3", (), ("tests", "--timeout", "120", "--ignore", "tests/test_vlen.py"),
        accepted=(("test_pipeline::test_ellipsis_indexing_invalid",
                   "the shape of a value is compared before any pipeline is called: an IndexError of another text"),),
    ),
}  # fmt: skip
