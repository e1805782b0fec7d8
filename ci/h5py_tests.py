"""The tests that h5py ships in its wheel, run against ``zarr.h5py_compat``.

Run as ``python ci/h5py_tests.py [-v] [pytest arguments]`` with h5py and pytest installed. Modules that test HDF5
itself are left out (``LEFT_OUT``, with reasons); a test that reaches for HDF5's low-level interface, or for a feature
that ``zarr.h5py_compat`` documents as absent, is skipped with that reason. Prints how many passed, failed and were
left out; exits with 1 if fewer pass than ``AT_LEAST``.
"""

from __future__ import annotations

import collections
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
AT_LEAST = 559
"""The number of tests of h5py 3.16 that pass."""

LEFT_OUT = {
    "test_h5.py": "low-level interface",
    "test_h5d_direct_chunk.py": "low-level interface",
    "test_h5f.py": "low-level interface",
    "test_h5o.py": "low-level interface",
    "test_h5p.py": "low-level interface",
    "test_h5pl.py": "low-level interface",
    "test_h5s.py": "low-level interface",
    "test_h5t.py": "low-level interface",
    "test_h5z.py": "low-level interface",
    "test_objects.py": "low-level identifiers and HDF5's lock",
    "test_selections.py": "h5py's inner modules and HDF5's dataspaces",
    "test_native_complex.py": "HDF5's native complex type",
    "test_vds": "virtual datasets",
    "test_ros3.py": "HDF5's S3 driver",
    "test_file_image.py": "HDF5 file images",
    "test_file_alignment.py": "the layout of HDF5 files",
    "test_dataset_swmr.py": "HDF5's SWMR mode",
    "test_big_endian_file.py::test_vlen_big_endian": "reads an HDF5 file",
    "test_dataset.py::test_vlen_spacepad": "reads an HDF5 file",
    "test_dataset.py::test_vlen_nullterm": "reads an HDF5 file",
    "test_dimension_scales.py::TestH5DSBindings": "low-level interface",
    "test_dimension_scales.py::TestDimensionsHighLevel::test_attributes": "references in attributes",
    "test_dataset.py::TestCreateCompressionNumber::test_compression_number_invalid": "patches h5py's inner modules",
    "test_dataset.py::TestCreateScaleOffset::test_int_with_minbits_lossy": "asks that bits be lost; here they are kept",
    "test_attrs_data.py::TestWriteException": "NUL bytes in strings, refused by HDF5; here they are kept",
    "test_file.py::TestFileOpen::test_default": "replaces the file by another: a hierarchy is a folder",
    "test_file.py::TestFileOpen::test_append_permissions": "permissions of the file: a hierarchy is a folder",
    "test_file.py::test_reproducible_file": "reads the file: a hierarchy is a folder",
    "test_group.py::TestCopy::test_copy_external_links": "unlinks the file: a hierarchy is a folder",
    "test_errors.py::test_unsilence_errors": "HDF5's error stack",
    "test_file2.py::TestFileMetaBlockSize": "the layout of HDF5 files",
    "test_file2.py::TestCache": "HDF5's chunk cache",
    "test_file2.py::TestDriverRegistration": "HDF5's drivers",
    "test_file2.py::TestDealloc": "HDF5's counts of open objects",
    "test_file.py::TestDrivers": "HDF5's drivers",
    "test_file.py::TestNewLibver": "versions of the HDF5 format",
    "test_file.py::TestUserblock": "user blocks of HDF5 files",
    "test_file.py::TestSpaceStrategy": "the layout of HDF5 files",
    "test_file.py::TestPageBuffering": "the layout of HDF5 files",
    "test_file.py::TestMPI": "MPI",
    "test_file.py::TestSWMRMode": "HDF5's SWMR mode",
    "test_file.py::TestFileLocking": "HDF5's file locks",
    "test_file.py::test_file_locking_external_link": "HDF5's file locks",
}


class Counts(NamedTuple):
    """The outcomes of the tests; ``reasons`` counts those left out while they ran."""

    passed: int
    failed: int
    left_out: int
    failures: dict[str, str]
    reasons: dict[str, int]


def build(folder: Path) -> Path:
    """Lay out a package ``h5py`` in ``folder``, and return its tests.

    Raises
    ------
    ModuleNotFoundError
        If h5py is not installed.
    """
    spec = importlib.util.find_spec("h5py")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("h5py is not installed: its tests are in its wheel")
    package = folder / "h5py"
    package.mkdir()
    shim = ROOT / "ci" / "h5py_shim"
    shutil.copy(shim / "__init__.py", package)
    shutil.copy(shim / "h5py_shim_plugin.py", folder)
    shutil.copytree(Path(spec.origin).parent / "tests", package / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    return package / "tests"


def run(arguments: list[str] = []) -> Counts:  # noqa: B006 - never changed
    """Run the tests in an interpreter of their own, and count."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tests = build(folder)
        outcomes = folder / "outcomes.json"
        paths = os.pathsep.join([str(folder), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": paths, "H5PY_TESTS_OUTCOMES": str(outcomes)}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "h5py_shim_plugin", "-p", "no:cacheprovider"]
        command += ["--rootdir", name, "-c", os.devnull, "-W", "ignore", "--tb=short"]
        for entry in LEFT_OUT:
            option = "--deselect" if "::" in entry else "--ignore"
            command += [option, f"h5py/tests/{entry}" if "::" in entry else str(tests / entry)]
        command += [*arguments, str(tests)]
        done = subprocess.run(
            command, cwd=name, env=environment, text=True, capture_output=True, timeout=570, check=False
        )
        if not outcomes.exists():
            raise RuntimeError(f"the tests did not run:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return count(json.loads(outcomes.read_text(encoding="utf-8")))


def count(outcomes: dict[str, tuple[str, str]]) -> Counts:
    """Return the counts of outcomes by test."""
    kinds = collections.Counter(kind for kind, _ in outcomes.values())
    failures = {name: reason for name, (kind, reason) in sorted(outcomes.items()) if kind == "failed"}
    reasons = collections.Counter(
        reason.removeprefix("Skipped: ")[:90] for kind, reason in outcomes.values() if kind == "skipped"
    )
    return Counts(kinds["passed"], kinds["failed"], kinds["skipped"], failures, dict(reasons.most_common()))


def main() -> int:
    """Print the counts, and with ``-v`` every failure and every reason."""
    verbose = "-v" in sys.argv[1:]
    counts = run([argument for argument in sys.argv[1:] if argument != "-v"])
    if verbose:
        for name, reason in counts.failures.items():
            print(f"FAILED {name}\n       {reason.strip().splitlines()[-1] if reason.strip() else ''}")
        for reason, number in counts.reasons.items():
            print(f"{number:4} left out: {reason}")
        for entry, reason in LEFT_OUT.items():
            print(f"     left out whole: {entry}: {reason}")
    print(f"h5py's tests: {counts.passed} passed, {counts.failed} failed, {counts.left_out} left out while running,")
    print(f"{len(LEFT_OUT)} modules and classes left out whole")
    return 1 if counts.passed < AT_LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
