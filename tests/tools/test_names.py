"""The names of ``zarr.tools`` are functions and classes, whatever was imported before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import zarr.tools

ROOT = Path(__file__).resolve().parents[2]


def test_all_names() -> None:
    for name in zarr.tools.__all__:
        assert callable(getattr(zarr.tools, name)), name
    assert {"checksum", "diff", "repair", "stats", "verify"} <= set(zarr.tools.__all__)


def test_modules_do_not_hide_functions() -> None:
    script = (
        "import zarr.tools.repairs, zarr.tools.verification.run, zarr.tools.contents.statistics\n"
        "import zarr.tools.contents.checksums, zarr.tools.copies.copying\n"
        "import zarr.tools as t\nassert all(callable(getattr(t, name)) for name in t.__all__)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)


def test_nothing_is_loaded_before_it_is_used() -> None:
    script = "import sys, zarr.tools\nassert 'zarr.tools.repairs' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)
