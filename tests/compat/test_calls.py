"""Calls of every function that makes, opens, reads and writes do what they do in zarr-python 3.4.2.

The programs are those of ``call_table.py``. Results are equal, an error is of a class below that of zarr-python, or the
reason is listed in ``call_differences.py``. ``ZARR_CALLS=1`` makes all calls, by default one in eight is made.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from .call_comparison import Difference, compare
from .call_differences import REASONS
from .call_table import table
from .peers import ROOT, peer_python

EVERY = os.environ.get("ZARR_CALLS", "8")
RUNNER = Path(__file__).with_name("call_runner.py")


def started(python: str, answers: Path, **environment: str) -> subprocess.Popen[str]:
    """Let an interpreter make the calls."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "ZARR"))}
    command = [python, "-P", "-W", "ignore", str(RUNNER), str(answers), EVERY]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=inherited | environment, text=True, **quiet)


def reason(difference: Difference) -> str:
    """Return why it is so, or nothing."""
    return next((listed.why for listed in REASONS if listed.explains(difference)), "")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What came of the calls in zarr-python, and here."""
    folder = tmp_path_factory.mktemp("calls")
    places = [folder / "theirs.json", folder / "ours.json"]
    makers = [started(peer_python(), places[0]), started(sys.executable, places[1], PYTHONPATH=str(ROOT))]
    for maker in makers:
        _, complaint = maker.communicate(timeout=3600)
        assert maker.returncode == 0, complaint[-2000:]
    return [json.loads(place.read_text()) for place in places]


def test_each_call_of_the_table_is_another() -> None:
    assert len({call.name for call in table()}) == len(table()) > 40_000


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_calls_do_what_they_do_in_zarr_python(answers: list[dict[str, Any]]) -> None:
    theirs, ours = answers
    assert theirs.keys() == ours.keys()
    assert len(ours) > 5_000
    found = [difference for call in ours for difference in compare(call, theirs[call], ours[call])]
    counted = Counter(map(reason, found))
    told = "\n".join(f"{count:5} {why}" for why, count in counted.most_common())
    print(f"{len(ours)} calls, {len(ours) - len({d.call for d in found})} equal\n{told}")
    assert [str(difference) for difference in found if not reason(difference)] == []


def test_a_difference_is_found_and_one_without_a_reason_is_told() -> None:
    value, error = (
        {"value": ["int", "1"], "warned": []},
        {"error": ["TypeError", "Exception"], "says": "no", "warned": []},
    )
    below = {"error": ["WrongTypeError", "ValueError", "TypeError", "Exception"], "says": "no", "warned": []}
    warned = {"value": ["int", "1"], "warned": [["UserWarning", "Warning", "Exception", "take care"]]}
    assert compare("f()", value, value) == compare("f()", error, below) == []
    pairs = [(value, error), (error, value), (below, error), (value, warned), (warned, value)]
    pairs += [(value, {"value": ["int", "2"], "warned": []}), ({"setup": error}, value)]
    for one, other in pairs:
        (difference,) = compare("f()", one, other)
        assert reason(difference) == ""
