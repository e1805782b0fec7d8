"""What all tests share: no test fails because the machine was slow, and none starts after the time given for them."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes to draw says how busy the machine is, not whether the code is right.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

UNTIL = float(os.environ.get("ZARR_TESTS_UNTIL", "inf"))
"""When the last test may start, in seconds since 1970 (ci/test.sh)."""


def slowness() -> float:
    """Return how many times more than usual a sum takes now, by the clock."""
    begin = time.perf_counter()
    sum(range(1_000_000))
    return (time.perf_counter() - begin) / 0.015


def pytest_runtest_setup(item: pytest.Item) -> None:
    if time.time() > UNTIL:
        pytest.skip("the time for tests was over (ZARR_CI_MINUTES)")
    if item.get_closest_marker("clock") and min(slowness() for _ in range(3)) > 4:
        pytest.skip("measures time, and the machine is more than four times slower than usual")
