"""Environments to try wheels in: made without the network, of this checkout and of stand-ins."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "pyproject.toml"
VERSION = tomllib.loads(PROJECT.read_text())["project"]["version"] if PROJECT.exists() else "0+core.0"
OWN_VERSION = VERSION.partition("+core.")[2]
DIST_INFO = f"zarr-{VERSION}.dist-info"
METADATA = f"""Metadata-Version: 2.4
Name: zarr
Version: {VERSION}
Requires-Dist: numpy>=2.0
Provides-Extra: all
Requires-Dist: zarr[cli,remote]; extra == "all"

Name: zarr is a line of the page
"""
ENTRY_POINTS = "[pytest11]\nzarr = zarr.testing\n"
# What an installed zarr-python looks like to programs that ask for its version, its file and its entry points.
OTHER_ZARR = {
    "zarr/__init__.py": '__version__ = "3.4.2"\n',
    "zarr/testing.py": "",
    "zarr-3.4.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: zarr\nVersion: 3.4.2\n",
    "zarr-3.4.2.dist-info/entry_points.txt": ENTRY_POINTS,
    # Another package, with something for zarr.
    "plugin-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n",
    "plugin-1.0.dist-info/entry_points.txt": "[zarr.codecs]\nexample.codec = builtins:dict\n",
}


def make_plain_wheel(folder: Path) -> Path:
    """Write the wheel that a build of this checkout would give, with the extension modules that lie in it."""
    target = folder / f"zarr-{VERSION}-cp311-cp311-linux_x86_64.whl"
    with ZipFile(target, "w") as wheel:
        for path in sorted([*ROOT.glob("zarr/**/*"), *ROOT.glob("zarr_core/**/*")]):
            if path.name.endswith((".py", "py.typed", *EXTENSION_SUFFIXES)):
                wheel.write(path, path.relative_to(ROOT).as_posix())
        for name, text in [("METADATA", METADATA), ("entry_points.txt", ENTRY_POINTS), ("RECORD", ""), ("WHEEL", "")]:
            wheel.writestr(f"{DIST_INFO}/{name}", text)
    return target


def make_wheel_beside(source: Path, folder: Path) -> Path:
    """Make the wheel of zarr-core of one of zarr, as a release does."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "ci" / "beside"), str(source), str(folder)],
        check=True,
        capture_output=True,
        text=True,
    )
    return Path(done.stdout.strip())


def make_environment(folder: Path, *wheels: Path) -> Path:
    """Make a virtual environment with a stand-in for zarr-python and with unpacked wheels; return its Python."""
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    paths = sysconfig.get_paths("venv", {"base": str(folder), "platbase": str(folder)})
    site = Path(paths["platlib"])
    for name, text in OTHER_ZARR.items():
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(text)
    for wheel in wheels:
        with ZipFile(wheel) as files:
            files.extractall(site)
    # numpy, numcodecs and the others that the library needs: those of the Python that runs the tests, behind.
    others = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (site / "zzz_others.pth").write_text("\n".join(others) + "\n")
    return Path(paths["scripts"]) / Path(sys.executable).name


def run(python: Path, *arguments: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder; variables of zarr come from the arguments alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZARR_", "PYTHONPATH"))}
    return subprocess.run(
        [str(python), *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**kept, **variables},
    )
