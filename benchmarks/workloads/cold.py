"""``import zarr`` in a fresh process that has imported numpy."""

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


# Other formats' libraries are no measure here: what counts is what a program that says "import zarr" waits for.
add("import_zarr", import_library, leave_out="fused zarrs ts h5py limit", cold=True)
