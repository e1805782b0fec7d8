"""Benchmarks of the theme "indexing"; what each does stands in ``workloads/indexing.py``. Run by ``ci/bench.sh``."""

from __future__ import annotations

from collections.abc import Callable

THEME = "indexing"


def test_indexing(workload_name: str, run_workload: Callable[[str], None]) -> None:
    """Time one workload."""
    run_workload(workload_name)
