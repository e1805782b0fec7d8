"""Over random parameters: what is written here is read by others, and what they write is read here.

Each library that offers all that a document uses, and reads what it writes by that document itself, is held to it.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from tests.compat.random_cases import BEYOND, random_case

from .peers import peer_python
from .test_formats_table import formats_table  # noqa: F401

COUNT = 160
# How many of the cases a library must take part in, so that the test says something.
LEAST = {"zarr-python": 100, "tensorstore": 70, "zarrs": 65}


@pytest.mark.parametrize("seed", range(60))
def test_what_is_written_is_read(formats_table: Any, seed: int) -> None:  # noqa: F811
    case, _ = random_case(formats_table.cases, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = formats_table.answers_of(case)
    assert answer["read"], (answer, case.document)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore")
def test_files_cross_both_ways_whatever_the_parameters(formats_table: Any) -> None:  # noqa: F811
    drawn = [random_case(formats_table.cases, seed) for seed in range(COUNT)]
    said = formats_table.ask_peers(peer_python(), [case for case, _ in drawn])
    for peer, least in LEAST.items():
        answers = {case.name: said[peer]["cases"][case.folder] for case, used in drawn if not used & BEYOND[peer]}
        answers = {name: answer for name, answer in answers.items() if answer != "x"}
        assert {name: answer for name, answer in answers.items() if answer != "rw"} == {}, peer
        assert len(answers) >= least, peer
