"""docs/reference/formats.md says what the code does now: its own columns are measured again."""

from __future__ import annotations

import importlib.util
import json
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .peers import peer_python

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCRIPT = DOCS / "formats_table.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the documentation is not part of this copy")


@pytest.fixture(scope="module")
def formats_table() -> Any:
    spec = importlib.util.spec_from_file_location("formats_table", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(DOCS))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(DOCS))
    return module


def lacks_package(answer: dict[str, Any]) -> bool:
    """Whether a case failed for want of an optional package."""
    error = str(answer.get("error", ""))
    return error.startswith(("ImportError", "ModuleNotFoundError")) or "pip install" in error or "numcodecs[" in error


def test_the_table_is_what_the_code_says(formats_table: Any) -> None:
    written = formats_table.TABLE.read_text().splitlines()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("pyarrow", reason="one of the layouts is made of parquet")
        made = formats_table.table().splitlines()
        asked = [(case.name, formats_table.answers_of(case)) for case in formats_table.cases.all_cases()]
        lacking = [name for name, answer in asked if lacks_package(answer)]
    assert len(written) == len(made)
    differing = [new for old, new in zip(written, made, strict=True) if old != new]
    assert [line for line in differing if not any(line.startswith(f"| {name} |") for name in lacking)] == []


def test_every_case_is_read_and_written(formats_table: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = {case.folder: formats_table.answers_of(case) for case in formats_table.cases.all_cases()}
    assert len(answers) > 150
    wrong = {name: answer for name, answer in answers.items() if not answer["read"] and not lacks_package(answer)}
    assert wrong == {}


def test_every_layout_is_read(formats_table: Any) -> None:
    pytest.importorskip("pyarrow", reason="one of the layouts is made of parquet")
    answers = formats_table.layout_answers()
    assert {name for name, answer in answers.items() if not answer["read"]} == set()
    assert len(answers) == 12


def test_every_codec_and_data_type_that_is_registered_has_a_row(formats_table: Any) -> None:
    from zarr.defaults import CODEC_CLASSES, EXTENSION_CODECS
    from zarr.dtype import data_type_registry

    names = {case.name for case in formats_table.cases.all_cases()}
    codecs = {*EXTENSION_CODECS, *CODEC_CLASSES} - {"endian", "zarr.n5_lz4"}  # the last one reads N5 only
    assert codecs - names == set()
    assert sum(name.startswith("numcodecs.") for name in codecs) == 21
    builtin = {name for name, cls in data_type_registry.contents.items() if cls.__module__.startswith("zarr.")}
    assert builtin - names == set()


def same_versions(now: dict[str, Any], before: dict[str, Any]) -> None:
    """Skip where the other libraries are not those that the table is of."""
    for peer, answers in before.items():
        if answers["version"] != now[peer]["version"]:
            pytest.skip(f"the table is of {answers['version']}, here is {now[peer]['version']}")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore")
def test_others_still_read_and_write_what_the_table_says(formats_table: Any) -> None:
    before = json.loads(formats_table.PEERS.read_text())
    now = formats_table.ask_peers(peer_python(), formats_table.cases.all_cases(), formats_table.layouts.LAYOUTS)
    same_versions(now, before)
    assert now == before


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore")
def test_files_cross_both_ways_whatever_the_shape(formats_table: Any) -> None:
    """Every data type and codec that another library has, over random shapes and chunks."""
    before = json.loads(formats_table.PEERS.read_text())
    varied = [formats_table.cases.varied(case, seed) for seed, case in enumerate(formats_table.cases.all_cases())]
    asked = [case for case in varied if case is not None]
    now = formats_table.ask_peers(peer_python(), asked)
    same_versions(now, before)
    expected = {(peer, case.folder): before[peer]["cases"][case.folder] for peer in before for case in asked}
    found = {(peer, case.folder): now[peer]["cases"][case.folder] for peer in before for case in asked}
    assert {key: answer for key, answer in found.items() if not set(answer) >= set(expected[key])} == {}
    assert sum("rw" in answer for answer in expected.values()) > 200
