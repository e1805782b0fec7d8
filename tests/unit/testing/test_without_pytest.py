"""What of ``zarr.testing`` needs no pytest works in programs that have none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys, warnings
sys.modules["pytest"] = None  # as if it were not installed
import zarr
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from zarr.testing.buffer import TestBuffer
assert ["pytest not installed" in str(each.message) for each in caught] == [True]
zarr.testing.assert_bytes_equal(b"a", TestBuffer.from_bytes(b"a"))
try:
    zarr.testing.StoreTests
except ImportError:
    print("no tests")
"""


def test_buffers_and_assertions() -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", SCRIPT], check=False, capture_output=True, text=True, cwd=root)
    assert (done.stdout, done.returncode) == ("no tests\n", 0), done.stderr
