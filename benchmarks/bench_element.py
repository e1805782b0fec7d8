"""Benchmarks of the theme "element"; what each does stands in ``workloads/element.py``. Run by ``ci/bench.sh``."""

from __future__ import annotations

from collections.abc import Callable

THEME = "element"


def test_element(workload_name: str, run_workload: Callable[[str], None]) -> None:
    """Time one workload."""
    run_workload(workload_name)
