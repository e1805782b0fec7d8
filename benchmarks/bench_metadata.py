"""Benchmarks of the theme "metadata"; what each does stands in ``workloads/metadata.py``. Run by ``ci/bench.sh``."""

from __future__ import annotations

from collections.abc import Callable

THEME = "metadata"


def test_metadata(workload_name: str, run_workload: Callable[[str], None]) -> None:
    """Time one workload."""
    run_workload(workload_name)
