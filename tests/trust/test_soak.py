"""A short soak; ``bash ci/soak.sh 60`` runs a long one."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.trust.soak import POOLED

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_soak() -> None:
    """It has a process of its own: memory that other tests have left to the allocator must not count."""
    command = [sys.executable, "-m", "tests.trust.soak", "8"]
    run = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert run.stdout, run.stderr
    found = ast.literal_eval(run.stdout.partition(": ")[2])
    assert found["turns"] > 0
    assert found["bytes"] <= 5 << 20, found
    assert found["descriptors"] <= POOLED, found
    assert found["threads"] <= 0, found
