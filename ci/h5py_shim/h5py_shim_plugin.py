"""A pytest plugin: tests that end in ``UnsupportedFeature`` are skipped for that reason; outcomes go to a file."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from typing import Any

import pytest

from zarr.h5py_compat import UnsupportedFeature

OUTCOMES: dict[str, tuple[str, str]] = {}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """Turn a refusal of what zarr has no place for into a skip."""
    outcome = yield
    report = outcome.get_result()
    if call.excinfo is not None and call.excinfo.errisinstance(UnsupportedFeature):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, f"Skipped: absent: {call.excinfo.value}")


def pytest_runtest_logreport(report: Any) -> None:
    """Remember how a test ended; a failure of any phase counts."""
    before = OUTCOMES.get(report.nodeid, ("passed", ""))[0]
    if report.when == "call" or report.outcome != "passed":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr or "")[-300:]
        OUTCOMES[report.nodeid] = (report.outcome if before == "passed" else before, reason)


def pytest_sessionfinish() -> None:
    """Write the outcomes where the runner reads them."""
    with open(os.environ["H5PY_TESTS_OUTCOMES"], "w", encoding="utf-8") as file:
        json.dump(OUTCOMES, file)
