"""The zarr tests that other libraries ship: what passes with zarr-python 3.4.2 passes with this project.

Makes two virtual environments under ``.downstream`` that differ in nothing but ``zarr``, unpacks the libraries' source
distributions (some tests need the conftest that only those carry), runs the same command in both and prints, for each
library, what passed with which and the names of the tests that pass with zarr-python and fail here. Exits with 1 if
there is one that is not accepted, with a reason, in the table of libraries, or if a run left no report.

    ci/downstream.sh                     all libraries, from nothing
    ci/downstream.sh --second            programs that were written for zarr 2, with zarr 2.18.7 and with this project
    ci/downstream.sh xarray dask         some of them
    --beside                             instead of this project as zarr: zarr-core beside zarr-python, ZARR_CORE=1
    --reuse                              take zarr-python's figures from the last run
    --keep                               leave the environments as they are
    --only=theirs|ours|beside            run the tests of one environment and compare nothing
    --compare                            run nothing: compare the last reports
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from downstream_libraries import COMMON, LIBRARIES, Library
from downstream_second import PROGRAMS, REQUIREMENTS
from installing import installer

ROOT = Path(__file__).resolve().parent.parent
WORK = (ROOT / ".downstream").resolve()
PLAIN = ["-p", "no:cacheprovider", "-q", "--no-header", "--tb=short"]
FLAGS = {a for a in sys.argv[1:] if a.startswith("-")}
HOUR = 3600
SECOND = "--second" in FLAGS
OURS = "beside" if "--beside" in FLAGS else "ours"
BASELINE = "2.18.7" if SECOND else "3.4.2"
NEEDED = ["donfig", "google-crc32c", "typing_extensions>=4.14", "numcodecs>=0.16.6,!=0.17.0"]
"""The requirements of this project and of zarr-python 3."""


def note(text: str) -> None:
    """Say what is under way, with the time."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)


def folder_of(kind: str) -> Path:
    return WORK / (f"second-{kind}" if SECOND else kind)


def variables_of(kind: str) -> dict[str, str]:
    """Return the variables that the programs of an environment run with."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "ZARR_CORE")}
    return kept | ({"ZARR_CORE": "1"} if kind == "beside" else {})


def python_of(kind: str) -> str:
    return str(folder_of(kind) / "bin" / "python")


def libraries() -> dict[str, Library]:
    return PROGRAMS if SECOND else LIBRARIES


def pip(kind: str, *arguments: str, required: bool = True, scratch: Path | None = None) -> bool:
    """Run pip in an environment, its words in a log; say whether it worked, or end where it must."""
    log = WORK / f"pip-{kind}.log"
    with log.open("a") as out:
        command = [python_of(kind), "-m", "pip", *arguments, "--disable-pip-version-check"]
        if arguments[0] == "install":
            command = [*installer(python_of(kind)), *arguments[1:]]
        environment = os.environ | ({"TMPDIR": str(scratch)} if scratch else {})
        done = subprocess.run(command, check=False, stdout=out, stderr=subprocess.STDOUT, cwd=WORK,
                              env=environment).returncode == 0  # fmt: skip
    if required and not done:
        sys.exit(f"pip {' '.join(arguments[:6])} ... failed in {kind}: see {log}")
    return done


def frozen(kind: str) -> list[str]:
    """Return the pinned requirements of an environment, without the zarr it is about."""
    command = [python_of(kind), "-m", "pip", "freeze", "--disable-pip-version-check"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True, cwd=WORK).stdout.splitlines()
    return [line for line in lines if "#egg=zarr" not in line and not line.startswith(("zarr==", "zarr @", "# "))]


def make_theirs(names: list[str]) -> None:
    """Install the libraries and zarr-python."""
    if SECOND:  # whose releases agree with each other
        note("installing programs for zarr 2")
        pip("theirs", "install", *COMMON, *REQUIREMENTS, f"zarr=={BASELINE}")
        return
    for name in names:  # one at a time: some pin each other out, and a missing extra must not stop the rest
        library = libraries()[name]
        note(f"installing {name}")
        if not pip("theirs", "install", *COMMON, library.requirement, *library.extras, required=False):
            pip("theirs", "install", *COMMON, library.requirement)
    pip("theirs", "install", "msgspec", *NEEDED)
    pip("theirs", "install", "--no-deps", f"zarr=={BASELINE}")


def make_ours() -> None:
    """Install what zarr-python's environment holds, version by version, and this project as zarr or beside it."""
    pins = folder_of(OURS) / "pins.txt"
    pins.write_text("\n".join(frozen("theirs")) + "\n")
    note("installing the same versions beside this project")
    pip(OURS, "install", "--no-deps", "--requirement", str(pins))
    if OURS == "beside":
        pip(OURS, "install", "--no-deps", f"zarr=={BASELINE}")
        install_beside()
        return
    pip("ours", "uninstall", "--yes", "zarr", required=False)
    if SECOND:
        pip("ours", "install", *NEEDED)
    pip("ours", "install", "--no-deps", "--force-reinstall", str(ROOT))


def install_beside() -> None:
    """Install zarr-core, made of a wheel of this project, and leave the zarr of the environment as it is."""
    with tempfile.TemporaryDirectory(dir=WORK) as made:
        pip("beside", "wheel", "--no-deps", "--wheel-dir", made, str(ROOT))
        (wheel,) = Path(made).glob("zarr-*.whl")
        subprocess.run([sys.executable, str(ROOT / "ci" / "beside"), str(wheel), made], check=True)
        (wheel,) = Path(made).glob("zarr_core-*.whl")
        pip("beside", "install", "--no-deps", "--force-reinstall", str(wheel))


def make_environments(names: list[str]) -> None:
    """Make or renew both environments, and check that pip kept the zarr of each."""
    for kind, make in (("theirs", lambda: make_theirs(names)), (OURS, make_ours)):
        if not Path(python_of(kind)).exists():
            subprocess.run([sys.executable, "-m", "venv", str(folder_of(kind))], check=True)
        if "--keep" not in FLAGS:
            make()
        command = [python_of(kind), "-c", "import importlib.metadata as m; print(m.version('zarr'))"]
        version = subprocess.run(command, check=True, capture_output=True, text=True, cwd=WORK,
                                 env=variables_of(kind)).stdout.strip()  # fmt: skip
        if ("core" in version) != (kind == OURS) or (kind == "theirs" and version != BASELINE):
            sys.exit(f"{kind} holds zarr {version}")
        note(f"{kind}: zarr {version}")


def unpack(library: Library) -> Path:
    """Return the folder of a library's source distribution, fetched once, with its known slips mended."""
    source = WORK / "source"
    source.mkdir(parents=True, exist_ok=True)
    folder = find_source(library)
    if folder is None:
        fetch_source(library, source)
        folder = find_source(library)
    if folder is None:
        sys.exit(f"no source distribution of {library.name} {library.version} in {source}")
    for file, old, new in library.mends:
        path = folder / file
        path.write_text(path.read_text().replace(old, new))
    return folder


def fetch_source(library: Library, source: Path) -> None:
    """Fetch and unpack a source distribution, also where pip cannot build what it asks for its metadata."""
    scratch = Path(tempfile.mkdtemp(dir=WORK))
    # Only this one from source: what pip builds its metadata with comes as wheels.
    whole = pip("theirs", "download", "--no-clean", "--no-deps", "--no-binary", library.name, "--dest", str(source),
                f"{library.name}=={library.version}", required=False, scratch=scratch)  # fmt: skip
    if whole:
        for archive in source.glob(f"{library.name.replace('-', '[-_]')}-{library.version}.tar.gz"):
            with tarfile.open(archive) as tar:
                tar.extractall(source, filter="data")
    else:  # pip unpacks before it builds, and leaves that folder here: enough for tests
        for folder in scratch.glob(f"pip-download-*/{library.name.replace('-', '[-_]')}_*"):
            shutil.move(folder, source / f"{library.name}-{library.version}")
    shutil.rmtree(scratch)


def find_source(library: Library) -> Path | None:
    wanted = f"{library.name}-{library.version}"
    folders = [p for p in (WORK / "source").iterdir() if p.is_dir()]
    return next((p for p in folders if p.name.replace("_", "-").lower() == wanted), None)


def run_tests(kind: str, name: str) -> None:
    """Run a library's tests in one environment and leave a JUnit report."""
    library, report = libraries()[name], WORK / f"{name}-{kind}.xml"
    report.unlink(missing_ok=True)
    folder = unpack(library) / library.folder if library.from_source else WORK
    command = [python_of(kind), "-m", "pytest", *library.arguments, *PLAIN, f"--junitxml={report}"]
    environment = variables_of(kind) | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= dict(library.environment)
    environment["PATH"] = os.pathsep.join([str(folder_of(kind) / "bin"), environment["PATH"]])
    began = time.monotonic()
    with (WORK / f"{name}-{kind}.log").open("w") as log:
        try:
            subprocess.run(command, check=False, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT,
                           timeout=HOUR)  # fmt: skip
        except subprocess.TimeoutExpired:
            note(f"{name} with {kind}: stopped after an hour")
    note(f"{name} with {kind}: {time.monotonic() - began:.0f} s")


def read_report(kind: str, name: str) -> dict[str, str]:
    """Return test -> verdict (passed, failure, error or skipped) of the last run; nothing where it left no report."""
    report, result = WORK / f"{name}-{kind}.xml", {}
    if not report.exists():
        return {}
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        verdict = next((k for k in ("failure", "error", "skipped") if k in kinds), "passed")
        where = str(case.get("classname")).rpartition("site-packages.")[2]  # the environments differ, the tests do not
        label = f"{where}::{case.get('name')}"
        while label in result:  # subtests and inherited classes come by one name
            label += "'"
        result[label] = verdict
    return result


def compare(name: str) -> tuple[list[str], bool]:
    """Return the lines that say how a library fares, and whether all that passes with zarr-python passes here."""
    theirs, ours = read_report("theirs", name), read_report(OURS, name)
    lost = sorted(t for t, verdict in theirs.items() if verdict == "passed" and ours.get(t) != "passed")
    reasons = {
        test: why for test in lost for end, why in libraries()[name].accepted if test.partition("[")[0].endswith(end)
    }
    lost = [test for test in lost if test not in reasons]
    counts = [sum(v == "passed" for v in r.values()) for r in (theirs, ours)]
    lines = [f"{name}: {counts[0]} passed with zarr-python, {counts[1]} with this project, {len(lost)} lost"]
    lines += [f"    {test} ({ours.get(test, 'not run')})" for test in lost]
    lines += [f"    {test}: accepted, {why}" for test, why in reasons.items()]
    if 0 in counts:
        lines.append(f"    no test passed in one of the two: see {name}-theirs.log and {name}-{OURS}.log")
    return lines, not lost and 0 not in counts


def run_both(name: str) -> None:
    """Run a library's tests in the environments that were asked for."""
    for kind in ("theirs", OURS):
        kept = kind == "theirs" and "--reuse" in FLAGS and read_report(kind, name)
        if not kept and FLAGS.isdisjoint({"--only=theirs", f"--only={OURS}"} - {f"--only={kind}"}):
            run_tests(kind, name)


def main() -> int:
    """Run what was asked for; print and save the comparison."""
    names = [a for a in sys.argv[1:] if not a.startswith("-")] or list(libraries())
    if unknown := set(names) - set(libraries()):
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(libraries())}")
    WORK.mkdir(exist_ok=True)
    (WORK / "pytest.ini").write_text("[pytest]\n")  # keeps this project's own settings away
    if "--compare" not in FLAGS:
        make_environments(names)
        for name in names:
            run_both(name)
    if any(flag.startswith("--only") for flag in FLAGS):
        return 0
    lines, good = [], True
    for name in names:
        said, whole = compare(name)
        lines, good = lines + said, good and whole
    text = "\n".join(lines)
    (WORK / ("REPORT-second.txt" if SECOND else "REPORT.txt")).write_text(text + "\n")
    print(text, flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
