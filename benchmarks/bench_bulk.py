"""Benchmarks of the theme "bulk"; what each does stands in ``workloads/bulk.py``. Run by ``ci/bench.sh``."""

from __future__ import annotations

from collections.abc import Callable

THEME = "bulk"


def test_bulk(workload_name: str, run_workload: Callable[[str], None]) -> None:
    """Time one workload."""
    run_workload(workload_name)
