"""The zarr tests that other libraries ship: what passes with zarr-python 3.4.2 passes with this project.

Makes two virtual environments under ``.downstream``, unpacks the libraries' source distributions (some tests need the
conftest that only those carry), runs the same command in both and prints, for each library, what passed with which
and the names of the tests that pass with zarr-python and fail here. Exits with 1 if there is one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".downstream"
PLAIN = ["-p", "no:cacheprovider", "-q", "--no-header", "--tb=no"]


@dataclass(frozen=True)
class Library:
    """How one library's tests are run."""

    requirement: str
    extras: tuple[str, ...]
    arguments: tuple[str, ...]
    from_source: bool = True


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
        "ome-zarr==0.21.0", ("pytest-xdist",),
        ("tests", "-W", "ignore", "-k", "not test_s3_info and not test_class_reader"),
    ),
    "virtualizarr": Library(
        "virtualizarr==2.8.0",
        ("icechunk", "obstore", "kerchunk", "h5netcdf", "h5py", "pytest-asyncio", "xarray", "dask", "netCDF4", "s3fs",
         "fastparquet", "obspec-utils", "scipy", "tifffile", "imagecodecs", "numcodecs", "hdf5plugin", "astropy",
         "pooch", "pytest-mypy-plugins", "aiohttp", "universal-pathlib"),
        ("virtualizarr/tests", "-o", "addopts=", "-o", "asyncio_mode=auto", "-W", "ignore"),
    ),
    "pydantic-zarr": Library("pydantic-zarr==0.10.0", ("xarray",), ("tests", "-o", "addopts=", "-W", "ignore")),
}  # fmt: skip
REUSE = "--reuse" in sys.argv  # take zarr-python's figures from the last run
COMMON = ["pytest", "hypothesis", "pytest-xdist", "pytest-timeout", "pytest-mock", "pytest-asyncio"]


def run(*command: str, **options: object) -> None:
    """Run a command; end with its error if it fails."""
    subprocess.run(command, check=True, **options)  # type: ignore[call-overload]


def python_of(kind: str) -> str:
    return str(WORK / kind / "bin" / "python")


def make_environment(kind: str, names: list[str]) -> None:
    """Install the libraries, then the zarr that this environment is about, and check that pip kept it."""
    if not Path(python_of(kind)).exists():
        run(sys.executable, "-m", "venv", str(WORK / kind))
    pip = [python_of(kind), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    zarr = "zarr==3.4.2" if kind == "theirs" else str(ROOT)
    for name in names:  # one at a time: some pin each other out, and a missing extra must not stop the rest
        library = LIBRARIES[name]
        if subprocess.run([*pip, *COMMON, library.requirement, *library.extras], check=False).returncode:
            run(*pip, *COMMON, library.requirement)
    run(*pip, "--no-deps", "--force-reinstall", zarr)
    run(*pip, "donfig", "msgspec", "google-crc32c", "numcodecs>=0.16.6,!=0.17.0")
    version = subprocess.run(
        [python_of(kind), "-c", "import importlib.metadata as m; print(m.version('zarr'))"],
        check=True, capture_output=True, text=True, cwd=WORK,
    ).stdout.strip()  # fmt: skip
    assert version.startswith("3.4.2"), version
    assert ("core" in version) == (kind == "ours"), version


def unpack(name: str) -> Path:
    """Return the folder of a library's source distribution, fetched once."""
    requirement = LIBRARIES[name].requirement.split("[")[0].split("==")[0]
    version = LIBRARIES[name].requirement.split("==")[1]
    source = WORK / "source"
    source.mkdir(parents=True, exist_ok=True)
    wanted = f"{requirement}-{version}"
    found = [p for p in source.iterdir() if p.is_dir() and p.name.replace("_", "-").lower() == wanted]
    if not found:
        run(python_of("theirs"), "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
            "--dest", str(source), f"{requirement}=={version}")  # fmt: skip
        for archive in source.glob("*.tar.gz"):
            with tarfile.open(archive) as tar:
                tar.extractall(source, filter="data")
        return unpack(name)
    return found[0]


def outcomes(kind: str, name: str) -> dict[str, str]:
    """Return test -> passed, failure, error or skipped for a library in one environment."""
    report = WORK / f"{name}-{kind}.xml"
    if not (REUSE and kind == "theirs" and report.exists()):
        run_tests(kind, name, report)
    return read_report(report)


def run_tests(kind: str, name: str, report: Path) -> None:
    """Run a library's tests in one environment and leave a JUnit report."""
    library = LIBRARIES[name]
    report.unlink(missing_ok=True)
    folder = unpack(name) if library.from_source else WORK
    command = [python_of(kind), "-m", "pytest", *library.arguments, *PLAIN, f"--junitxml={report}"]
    environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    with (WORK / f"{name}-{kind}.log").open("w") as log:
        subprocess.run(command, check=False, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)


def read_report(report: Path) -> dict[str, str]:
    """Return test -> verdict of a JUnit report; nothing where the run left none."""
    result: dict[str, str] = {}
    if not report.exists():
        return result
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        verdict = next((k for k in ("failure", "error", "skipped") if k in kinds), "passed")
        where = str(case.get("classname")).rpartition("site-packages.")[2]  # the environments differ, the tests do not
        result[f"{where}::{case.get('name')}"] = verdict
    return result


def main() -> int:
    """Run what was asked for; print and save the comparison."""
    names = [a for a in sys.argv[1:] if not a.startswith("-")] or list(LIBRARIES)
    WORK.mkdir(exist_ok=True)
    (WORK / "pytest.ini").write_text("[pytest]\n")  # keeps this project's own settings away
    for kind in ("theirs", "ours"):
        make_environment(kind, names)
    lines, lost = [], 0
    for name in names:
        theirs, ours = outcomes("theirs", name), outcomes("ours", name)
        missing = sorted(t for t, v in theirs.items() if v == "passed" and ours.get(t) not in ("passed", "skipped"))
        missing += sorted(t for t, v in theirs.items() if v == "passed" and ours.get(t) == "skipped")
        counts = [sum(v == "passed" for v in r.values()) for r in (theirs, ours)]
        lines.append(f"{name}: {counts[0]} passed with zarr-python, {counts[1]} with this project, {len(missing)} lost")
        lines += [f"    {test}" for test in missing]
        lost += len(missing)
        print("\n".join(lines[-len(missing) - 1 :]), flush=True)
    (WORK / "REPORT.txt").write_text("\n".join(lines) + "\n")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
