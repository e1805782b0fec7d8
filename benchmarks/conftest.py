"""Shared by the benchmark files: the workloads of a theme, run with this library on small inputs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

os.environ["ZARR_BENCH_QUICK"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture
def run_workload(benchmark: Any, tmp_path: Path) -> Callable[[str], None]:
    """Time one workload of the comparison."""
    from peers import make_peer
    from workloads import WORKLOADS

    def run(name: str) -> None:
        workload = WORKLOADS[name]
        timed, units, unit = workload.prepare(make_peer("ours"), tmp_path)
        benchmark.extra_info.update(units=units, unit=unit)
        benchmark.pedantic(timed, rounds=5, warmup_rounds=1)

    return run


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One benchmark for each workload of the theme that a file names."""
    if "workload_name" in metafunc.fixturenames:
        from workloads import WORKLOADS

        theme = metafunc.module.THEME
        metafunc.parametrize("workload_name", [n for n, w in WORKLOADS.items() if w.theme == theme and not w.cold])
