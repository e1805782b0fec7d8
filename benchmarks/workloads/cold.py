"""``import zarr`` in a fresh process that has imported numpy, and what a program waits for until it has read a number.

What is loaded at the first use and not at import is not gained: the second row counts it.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

from workloads.registry import Prepared, add

MODULES = {"ts": "tensorstore", "h5py": "h5py"}


def import_library(peer: str, folder: Path) -> Prepared:
    """Import the peer's library; another process has done so before, so that files are cached and compiled."""
    name = MODULES.get(peer, "zarr")
    subprocess.run([sys.executable, "-W", "ignore", "-c", f"import numpy, {name}"], check=True, cwd=folder)
    return (lambda: importlib.import_module(name)), 1, "ms"


READING = "import sys, numpy, zarr; zarr.open_array(sys.argv[1], mode='r')[0]"


def import_and_read(peer: str, folder: Path) -> Prepared:
    """Import the peer's library, open an array in a folder, read an element; another process made the array."""
    path = str(folder / "one")
    chunked = "chunks=(1000,), dtype='f4'"
    made = f"import sys, zarr; zarr.open_array(sys.argv[1], mode='w', shape=(4000,), {chunked})[:] = 1"
    for script in (made, READING):
        subprocess.run([sys.executable, "-W", "ignore", "-c", script, path], check=True, cwd=folder)
    return (lambda: importlib.import_module("zarr").open_array(path, mode="r")[0]), 1, "ms"


# Other formats' libraries are no measure here: what counts is what a program that says "import zarr" waits for.
add("import_zarr", import_library, leave_out="fused zarrs ts h5py limit", cold=True)
add("import_zarr_and_read", import_and_read, leave_out="fused zarrs ts h5py limit", cold=True)
