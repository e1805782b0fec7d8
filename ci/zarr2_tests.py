"""zarr 2.18.7's own tests: what passes with it passes with this project, or ``zarr2_tests.md`` says why not.

Fetches its source distribution, makes an environment with it under ``.zarr2``, runs its tests there and in this
interpreter, and compares. Exits with 1 if fewer pass than ``AT_LEAST``, or if a test fails that no line of
``zarr2_tests.md`` names.

    ci/zarr2_tests.sh           all of it
    --reuse                     take the figures of zarr 2.18.7 from the last run
    --compare                   run nothing: compare the last reports
    anything else               is given to pytest, when it runs the tests with this project
"""

from __future__ import annotations

import collections
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".zarr2"
VERSION = "2.18.7"
AT_LEAST = 2000
"""The number of tests that pass with zarr 2.18.7 and with this project, at least."""
NEEDED = [f"zarr=={VERSION}", "numcodecs<0.16", "fsspec", "h5py", "lmdb", "msgpack"]
NEEDED += ["pytest", "pytest-timeout", "pytest-xdist"]
OWN = {"--reuse", "--compare"}
FLAGS = set(sys.argv[1:]) & OWN


class Outcome(NamedTuple):
    """The outcome of a test, and the last line of its error."""

    kind: str
    error: str


def python_of_reference() -> str:
    """Return the interpreter that has zarr 2.18.7; make it where there is none."""
    python = WORK / "reference" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(WORK / "reference")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *NEEDED], check=True)
    return str(python)


def unpack_source() -> Path:
    """Return the folder of the source distribution, fetched once."""
    archive = WORK / "sdist" / f"zarr-{VERSION}.tar.gz"
    if not archive.exists():
        command = [python_of_reference(), "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "zarr"]
        subprocess.run([*command, "--dest", str(archive.parent), f"zarr=={VERSION}"], check=True)
    with tarfile.open(archive) as tar:
        tar.extractall(WORK / "source", filter="data")
    return WORK / "source" / f"zarr-{VERSION}"


def copy_tests() -> Path:
    """Return a folder with the tests and their fixtures, of the source distribution, as the package ``zarr.tests``."""
    source, copy = unpack_source(), WORK / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source / "zarr" / "tests", copy / "zarr" / "tests")
    shutil.copytree(source / "fixture", copy / "fixture")
    (copy / "zarr" / "__init__.py").touch()  # for pytest, which finds the names of modules by these files
    for file in (copy / "zarr" / "tests").glob("*.py"):  # fixtures are beside the copy
        file.write_text(file.read_text().replace("pathlib.Path(zarr.__file__)", "pathlib.Path(__file__).parent"))
    return copy


def run_tests(kind: str, python: str, arguments: list[str], environment: dict[str, str]) -> None:
    """Run pytest in an empty folder and leave a report."""
    folder = WORK / f"run-{kind}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [python, "-P", "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "--timeout=120", "--tb=short"]
    command += ["-c", os.devnull, f"--junitxml={WORK / kind}.xml", *arguments]
    with (WORK / f"{kind}.log").open("w") as log:
        subprocess.run(command, cwd=folder, env=os.environ | environment, stdout=log, stderr=log, check=False)


def run_both() -> None:
    """Run the tests in both environments."""
    reference, copy = python_of_reference(), copy_tests()
    if "--reuse" not in FLAGS or not (WORK / "theirs.xml").exists():
        run_tests("theirs", reference, ["--pyargs", "zarr.tests"], {})
    tests = copy / "zarr" / "tests"
    given = [argument for argument in sys.argv[1:] if argument not in OWN]
    places = ["-p", "zarr2_stand_ins", f"--rootdir={copy}", f"--confcutdir={tests}", *given, str(tests)]
    paths = os.pathsep.join([str(ROOT / "ci"), str(ROOT)])
    run_tests("ours", sys.executable, places, {"PYTHONPATH": paths, "ZARR2_TESTS": str(copy)})


def read_report(kind: str) -> dict[str, Outcome]:
    """Return how each test ended: passed, failure, error or skipped."""
    found = {}
    for case in ElementTree.parse(WORK / f"{kind}.xml").iter("testcase"):
        where = str(case.get("classname")).rpartition("tests.")[2]
        ends = [child for child in case if child.tag in ("failure", "error", "skipped")]
        message = str(ends[0].get("message") or "").strip() if ends else ""
        found[f"{where}.{case.get('name')}"] = Outcome(ends[0].tag if ends else "passed", " ".join(message.split()))
    return found


def read_reasons() -> dict[str, str]:
    """Return pattern of names of tests -> heading it stands under, from ``zarr2_tests.md``."""
    heading, found = "", {}
    for line in (ROOT / "ci" / "zarr2_tests.md").read_text().splitlines():
        if line.startswith("## "):
            heading = line[3:].strip()
        elif match := re.match(r"- `([^`]+)`", line):
            found[match[1]] = heading
    return found


def reason_of(test: str, reasons: dict[str, str]) -> str:
    """Return the heading under which a test stands."""
    escaped = test.replace("[", "(").replace("]", ")")
    for pattern, heading in reasons.items():
        if fnmatch.fnmatchcase(escaped, pattern.replace("[", "(").replace("]", ")")):
            return heading
    return "not sorted"


def compare() -> int:
    """Print and keep how the tests that pass with zarr 2.18.7 end here; return the exit code."""
    theirs, ours, reasons = read_report("theirs"), read_report("ours"), read_reasons()
    wanted = [test for test, outcome in theirs.items() if outcome.kind == "passed"]
    absent = Outcome("absent", "did not run")
    failed = {test: ours.get(test, absent) for test in wanted if ours.get(test, absent).kind != "passed"}
    sorted_tests: dict[str, list[str]] = collections.defaultdict(list)
    for test, outcome in sorted(failed.items()):
        sorted_tests[reason_of(test, reasons)].append(f"{test}  {outcome.kind}: {outcome.error[:300]}")
    lines = [f"{len(wanted)} tests pass with zarr {VERSION}, {len(wanted) - len(failed)} of them here"]
    lines += [f"{len(tests):5} do not: {reason}" for reason, tests in sorted(sorted_tests.items())]
    print("\n".join(lines))
    for reason, tests in sorted(sorted_tests.items()):
        lines += ["", f"== {reason}", *tests]
    (WORK / "REPORT.txt").write_text("\n".join(lines) + "\n")
    for test in sorted_tests["not sorted"][:20]:
        print(test[:200])
    return 1 if sorted_tests["not sorted"] or len(wanted) - len(failed) < AT_LEAST else 0


if __name__ == "__main__":
    if "--compare" not in FLAGS:
        run_both()
    sys.exit(compare())
