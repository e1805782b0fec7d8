"""Tests what pyproject.toml declares: the lowest versions, the newest, and each extra alone.

    ci/versions.sh [OLDEST NEWEST]     two interpreters; default: the oldest and the newest that the library runs on
    --only=lowest|newest|extras        one part

Wheels are taken from dist/, where ci/wheels.sh leaves them, or built. Of each extra it is tried that its door opens
with it, and that without it the error is one line that names it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from installing import installer

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
NAME = re.compile(r"[\w-]+")
RUNNERS = ("pytest", "hypothesis", "msgpack", "xarray")  # and pandas, which xarray brings
TESTS = ("tests/core", "tests/parity", "tests/unit", "tests/tools", "tests/serving", "-m", "not slow")
START = "import numpy as np, zarr, zarr.storage, zarr.tools; a = zarr.array(np.arange(4.0)); "
# What needs each extra, as one statement.
DOORS = {
    "remote": "zarr.storage.FsspecStore.from_url('memory://x')",
    "cli": "import runpy, sys; sys.argv = ['zarr', '--version']; runpy.run_module('zarr', run_name='__main__')",
    "gpu": "from zarr.buffer import gpu; gpu.Buffer.from_bytes(b'x')",
    "lmdb": "zarr.storage.LMDBStore('x.lmdb').set_sync('a', zarr.buffer.cpu.Buffer.from_bytes(b'x'))",
    "arrow": "a.to_arrow()",
    "hdf5": "zarr.tools.convert(zarr.save('h.zarr', x=a[:]) or 'h.zarr', 'x.h5')",
    "tiff": "zarr.tools.convert(zarr.save('t.zarr', x=np.zeros((8, 8), 'u1')) or 't.zarr', 'x.tif')",
    "geo": "zarr.tools.convert(zarr.save('g.zarr', x=np.zeros((8, 8), 'u1')) or 'g.zarr', 'x.tif', to='geotiff')",
    "awkward": "a.to_awkward()",
    "ml-dtypes": "zarr.create_array({}, shape=2, dtype='bfloat16')",
    "zfp": "zarr.create_array({}, shape=4, dtype='f8', serializer={'name': 'zfp', 'configuration': {'mode': "
    "'reversible'}})[:] = 1",
    "pcodec": "zarr.create_array({}, shape=4, dtype='f8', serializer={'name': 'pcodec', 'configuration': {}})[:] = 1",
    "plot": "import os; os.environ['MPLBACKEND'] = 'Agg'; zarr.plot_chunks(zarr.zeros((4, 4), chunks=(2, 2)))",
    "serve": "import zarr.serving; s = zarr.serving.serve({}); s.__enter__(); s.__exit__(None, None, None)",
    "dask": "zarr.tools.to_dask(a)",
}
# `optional` and `test` have no door of ours; `gpu` needs a device, `all` and `docs` are the others together.
NOT_TRIED = ("all", "docs", "gpu", "optional", "test")


def run(python: Path, *arguments: str, folder: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run an interpreter in a folder, without a variable that leads to this checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZARR_", "PYTHONPATH"))}
    variables = kept | {"PYTHONDONTWRITEBYTECODE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    command = [str(python), *arguments]
    done = subprocess.run(command, check=False, text=True, capture_output=True, cwd=folder, env=variables)
    if check and done.returncode:
        sys.exit(f"{' '.join(arguments)[:200]} failed:\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}")
    return done


def pip(python: Path, *arguments: str, folder: Path) -> None:
    command = installer(str(python))
    run(Path(command[0]), *command[1:], "--quiet", *arguments, folder=folder)


def environment(python: str, folder: Path, behind: Path | None = None) -> Path:
    """Make a virtual environment; behind it may lie what another one holds."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    made = folder / "bin" / "python"
    if behind is not None:
        find = "import sysconfig; print(sysconfig.get_path('platlib'))"
        sites = [Path(run(each, "-c", find, folder=folder).stdout.strip()) for each in (made, behind)]
        (sites[0] / "behind.pth").write_text(f"{sites[1]}\n")
    return made


def wheel_for(python: str, folder: Path) -> Path:
    """Return the wheel of this version for an interpreter, from dist/ or built."""
    ask = "import sys; print('cp%d%d' % sys.version_info[:2])"
    tag = subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
    pattern = f"zarr-{PROJECT['version']}-{tag}-*.whl"
    if not (found := [*(ROOT / "dist").glob(pattern)]):
        builder = environment(python, folder / f"build-{tag}")
        run(builder, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT), folder=folder)
        found = [*folder.glob(pattern)]
    return found[0]


def lowest(requirement: str) -> str:
    """Return a requirement of the lowest version that it allows."""
    needed, mark, marker = requirement.partition(";")
    name, bound, version = needed.partition(">=")
    return f"{name}=={version.partition(',')[0].strip()}{mark}{marker}" if bound else requirement


def run_tests(python: Path, what: str, folder: Path) -> None:
    """Run the tests of a copy of this checkout that holds no library of its own."""
    there = folder / "checkout"
    there.mkdir()
    shutil.copytree(ROOT / "tests", there / "tests")
    shutil.copytree(ROOT / "docs", there / "docs")  # what its pages name is tested, too
    shutil.copy(ROOT / "pyproject.toml", there)
    done = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, folder=there, check=False)
    print(f"{what}: {done.stdout.strip().splitlines()[-1]}", flush=True)
    if done.returncode:
        log = ROOT / "dist" / f"{what}.log"
        log.parent.mkdir(exist_ok=True)
        log.write_text(done.stdout)
        lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        sys.exit("\n".join([*lines, f"all that pytest said is in {log}"]))


def show_versions(python: Path, what: str, folder: Path) -> None:
    """Print the versions that are installed of what pyproject.toml names."""
    needed = [*PROJECT["dependencies"], *(each for extra in EXTRAS.values() for each in extra)]
    names = sorted({NAME.findall(each)[0].lower().replace("_", "-") for each in needed})
    ask = "import sys; from importlib.metadata import distributions as all; print(*sorted({f'{d.name} {d.version}'"
    ask += " for d in all() if d.name.lower().replace('_', '-') in sys.argv[1:]}), sep=', ')"
    print(f"{what}: {run(python, '-c', ask, *names, folder=folder).stdout.strip()}", flush=True)


def test_lowest(python: str, folder: Path) -> None:
    """Test the lowest versions; those of the tools that only run the tests are free."""
    made = environment(python, folder / "lowest")
    extras = [each for name, found in EXTRAS.items() if name not in NOT_TRIED for each in found]
    needed = [*PROJECT["dependencies"], *extras]
    pins = sorted({lowest(each) for each in needed})
    free = [each for each in EXTRAS["test"] if each.startswith(RUNNERS)]
    pip(made, f"{wheel_for(python, folder)}", *pins, *free, folder=folder)
    show_versions(made, "lowest", folder)
    run_tests(made, "lowest", folder / "lowest")


def test_newest(python: str, folder: Path) -> None:
    """Test the newest versions."""
    made = environment(python, folder / "newest")
    pip(made, "--upgrade", f"zarr[all,test] @ {wheel_for(python, folder).as_uri()}", folder=folder)
    show_versions(made, "newest", folder)
    run_tests(made, "newest", folder / "newest")


def test_extras(python: str, folder: Path) -> None:
    """Try the door of each extra without it and with it alone."""
    wheel, faults = wheel_for(python, folder), []
    plain = environment(python, folder / "plain")
    pip(plain, str(wheel), folder=folder)
    for extra, door in DOORS.items():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            done = run(plain, "-c", START + door, folder=Path(scratch), check=False)
            lines = [line for line in done.stderr.splitlines() if f"zarr[{extra}]" in line]
            line = lines[-1] if lines else done.stderr[-300:]
            print(f"without {extra}: {line}", flush=True)
            if done.returncode == 0 or not lines:
                faults.append(f"without the extra {extra!r} its door says {line!r}")
    for extra in sorted({*EXTRAS} - {*NOT_TRIED}):
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            made = environment(python, Path(scratch) / "environment", behind=plain)
            pip(made, f"zarr[{extra}] @ {wheel.as_uri()}", folder=folder)
            done = run(made, "-c", START + DOORS[extra], folder=Path(scratch), check=False)
            print(f"{extra} alone: {'fails' if done.returncode else 'works'}", flush=True)
            if done.returncode:
                faults.append(f"{extra} alone: {done.stderr[-1500:]}")
    if faults:
        sys.exit("\n".join(faults))


def main(oldest: str, newest: str, parts: set[str]) -> None:
    """Run the parts that were asked for; end the program at the first fault."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if "extras" in parts:
            test_extras(oldest, folder)
        if "lowest" in parts:
            test_lowest(oldest, folder)
        if "newest" in parts:
            test_newest(newest, folder)


if __name__ == "__main__":
    pythons = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    chosen = {argument.removeprefix("--only=") for argument in sys.argv[1:] if argument.startswith("--only=")}
    main(*pythons, chosen or {"extras", "lowest", "newest"})
