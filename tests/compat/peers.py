"""Where the peers of the compatibility tests live: an interpreter that has zarr-python 3.4.2, tensorstore and zarrs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def peer_python() -> str:
    """Return the peers' interpreter; skip the test where there is none."""
    for place in (os.environ.get("ZARR_PEER_PYTHON"), ROOT / ".venv-peers" / "bin" / "python"):
        if place and Path(place).exists():
            return str(place)
    pytest.skip("needs zarr-python 3.4.2, tensorstore and zarrs: bash ci/peers.sh, or ZARR_PEER_PYTHON=/path/to/python")


def run_peer(script: Path, *arguments: str) -> Any:
    """Run a script with the peers' interpreter and return the JSON of its last line."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "ZARR"))}
    done = subprocess.run(
        [peer_python(), "-W", "ignore", str(script), *arguments],
        capture_output=True, text=True, check=False, timeout=600, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])
