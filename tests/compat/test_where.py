"""Check that each place that docs/design/where.md names exists, and each file that ARCHITECTURE.md and rooms name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "design" / "where.md"

if not PAGE.exists():
    pytest.skip("docs lie in the source tree only", allow_module_level=True)

LINES = PAGE.read_text().splitlines()
ROWS = [line for line in LINES if re.match(r"\| \S", line) and not line.startswith("| where is")]
PLACE = re.compile(r"`([\w/]+\.(?:py|pyx))::([\w.]+)`")
PLACES = sorted({place for row in ROWS for place in PLACE.findall(row)})


def defined_names(path: Path) -> set[str]:
    """Return the functions and classes that a file defines; a method as ``Class.method``."""
    text = path.read_text()
    if path.suffix == ".pyx":
        return set(re.findall(r"^(?:def|cdef|cpdef)\b[^(=\n]*?(\w+)\(", text, re.MULTILINE))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = set()
    for node in ast.parse(text).body:
        if isinstance(node, kinds):
            names.add(node.name)
            if isinstance(node, ast.ClassDef):
                names.update(f"{node.name}.{part.name}" for part in node.body if isinstance(part, kinds))
    return names


def test_no_question_is_lost() -> None:
    assert len(ROWS) == 60


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_each_question_has_one_place(row: str) -> None:
    question, answer, _ = row.strip("|").split("|")
    assert question.strip()
    assert PLACE.fullmatch(answer.strip()), answer


@pytest.mark.parametrize(("file", "name"), PLACES, ids=lambda part: part)
def test_a_place_is_there(file: str, name: str) -> None:
    path = ROOT / file
    assert path.exists(), f"{PAGE.name} names {file}, which is not there"
    assert name in defined_names(path), f"{PAGE.name} names {name} of {file}, which defines no such thing"


def test_architecture_names_files_that_are_there() -> None:
    named = re.findall(r"`((?:zarr|zarr_core|ci|tests)/[\w/.]*\w\.pyx?)", (ROOT / "ARCHITECTURE.md").read_text())
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("door", sorted(ROOT.glob("zarr/**/__init__.py")), ids=lambda path: path.parent.name)
def test_a_room_names_files_that_are_there(door: Path) -> None:
    named = re.findall(r"`([\w/]+\.py)`", ast.get_docstring(ast.parse(door.read_text())) or "")
    assert [name for name in named if not (door.parent / name).exists() and not (ROOT / name).exists()] == []
