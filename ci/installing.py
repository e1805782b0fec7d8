"""Finds the quickest installer of packages; ci/install.sh is the same for shell scripts."""

from __future__ import annotations

import subprocess

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def installer(python: str) -> list[str]:
    """Return the command that installs packages into the environment of an interpreter: uv, or pip without it."""
    if subprocess.run([python, "-m", "uv", "--version"], check=False, **QUIET).returncode:
        pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
        if subprocess.run([*pip, "uv"], check=False, **QUIET).returncode:
            return pip
    return [python, "-m", "uv", "pip", "install", "--python", python]
