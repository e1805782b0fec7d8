"""The interpreters that are compared, and what runs in them."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent / ".bench"
REQUIREMENTS = {
    "new": ("3.13", ["zarr==3.4.2", "tensorstore==0.1.86", "zarrs==0.2.3", "h5py", "xarray", "fsspec", "obstore"]),
    "old": ("3.11", ["zarr==2.18.7", "numcodecs==0.15.1", "xarray==2024.11.0"]),
}
ENVIRONMENT_OF = {"z34": "new", "fused": "new", "zarrs": "new", "ts": "new", "h5py": "new", "z2": "old"}
LIBRARIES = ("zarr", "numcodecs", "numpy", "tensorstore", "zarrs", "h5py", "xarray")
MEMORY_FOLDER = Path("/dev/shm")
ROOM = 8 << 30


def find_python(version: str) -> str:
    """Return an interpreter of that version: on the path, or under pyenv."""
    found = shutil.which(f"python{version}")
    if found and subprocess.run([found, "-c", ""], check=False, capture_output=True).returncode == 0:
        return found
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    if not candidates:
        raise SystemExit(f"no Python {version} found: the peers need it")
    return str(candidates[-1])


def make_environment(name: str) -> str:
    """Return the interpreter of a peer environment, making it at the first call."""
    version, requirements = REQUIREMENTS[name]
    python = BENCH / name / "bin" / "python"
    if not python.exists():
        subprocess.run([find_python(version), "-m", "venv", str(BENCH / name)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *requirements], check=True)
    return str(python)


def interpreters(ours: list[str], peers: list[str]) -> dict[str, str]:
    """Return the interpreter of every column: builds of this library, its C limit, the peers."""
    pythons = {"ours" if i == 0 else f"ours{i + 1}": p for i, p in enumerate(ours)}
    return pythons | {peer: ours[0] if peer == "limit" else make_environment(ENVIRONMENT_OF[peer]) for peer in peers}


def work_folder() -> str | None:
    """Return a folder in memory where there is one with room, so that no disk is measured; else None."""
    if MEMORY_FOLDER.is_dir() and shutil.disk_usage(MEMORY_FOLDER).free > ROOM:
        return str(MEMORY_FOLDER)
    return None


def describe_machine() -> str:
    """Return one line on the machine and its load."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    files = "files in memory (tmpfs)" if work_folder() else "files on disk, cached"
    system = f"{platform.system()} {platform.release()}"
    return f"{model}, {os.cpu_count()} cores, {system}, load {os.getloadavg()[0]:.1f}, {files}"


def versions(pythons: dict[str, str]) -> list[str]:
    """Return one line a column with what is installed there, whatever lies in the folder that this runs in."""
    code = (
        "import sys, importlib.metadata as m; names = {d.name.lower() for d in m.distributions()}; "
        f"print(sys.version.split()[0], *(f'{{n}} {{m.version(n)}}' for n in {LIBRARIES} if n in names))"
    )
    lines = []
    for peer, python in pythons.items():
        done = subprocess.run([python, "-P", "-c", code], check=True, capture_output=True, text=True)
        lines.append(f"- {peer}: Python {done.stdout.strip()}")
    return lines
