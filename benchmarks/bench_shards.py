"""Benchmarks of the theme "shards"; what each does stands in ``workloads/shards.py``. Run by ``ci/bench.sh``."""

from __future__ import annotations

from collections.abc import Callable

THEME = "shards"


def test_shards(workload_name: str, run_workload: Callable[[str], None]) -> None:
    """Time one workload."""
    run_workload(workload_name)
