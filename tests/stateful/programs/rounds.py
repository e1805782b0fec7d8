"""Run many programs, and have other libraries read what they stored."""

from __future__ import annotations

import pickle
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.compat.peers import peer_python, run_peer

from .making import make
from .model import Model, Node
from .reducing import as_script, reduced
from .running import run_program

NUMERIC = set("biufc")


@dataclass
class Report:
    """How many programs were run, and what went wrong by seed."""

    programs: int = 0
    steps: int = 0
    read: dict[str, int] = field(default_factory=dict)
    wrong: dict[int, str] = field(default_factory=dict)


def have_peers() -> bool:
    """Whether there is an interpreter that has the other libraries."""
    try:
        return bool(peer_python())
    except pytest.skip.Exception:
        return False


def as_expected(model: Model) -> dict[str, Any]:
    """A model as plain values: what the peers compare with, and whether tensorstore is asked."""
    found = {}
    for path, node in model.nodes.items():
        found[path] = (node.attributes, node.values, node.spec is not None and is_for_tensorstore(node))
    return found


def is_for_tensorstore(node: Node) -> bool:
    """Numbers in a regular grid whose dimensions have names of their own."""
    assert node.spec is not None
    names = [name for name in node.spec.get("dimension_names", []) if name]
    return node.values.dtype.kind in NUMERIC and "rectilinear" not in node.spec and len(names) == len(set(names))


def run_round(seeds: range, without: tuple[str, ...] = (), peers: bool = True, reduce: bool = True) -> Report:
    """Run the programs of some seeds; peers read all of them in one process."""
    report, expected = Report(), []
    with tempfile.TemporaryDirectory() as scratch:
        for seed in seeds:
            kind, zarr_format, steps = make(seed, None, without)
            report.programs, report.steps = report.programs + 1, report.steps + len(steps)
            folder = Path(scratch) / str(seed)
            folder.mkdir()
            try:
                model = run_program(kind, zarr_format, steps, folder, folder / "dump" if peers else None)
            except Exception as error:
                if reduce:
                    kind, steps = reduced(kind, zarr_format, steps, error)
                report.wrong[seed] = f"{type(error).__name__}: {error}\n{as_script(kind, zarr_format, steps)}"
            else:
                expected.append((seed, f"{seed}/dump", as_expected(model)))
        if peers:
            (Path(scratch) / "expected.pickle").write_bytes(pickle.dumps(expected))
            found = run_peer(Path(__file__).with_name("peer_reading.py"), scratch)
            report.read = found["counts"]
            for seed, problems in found["wrong"].items():
                kind, zarr_format, steps = make(int(seed), None, without)
                script = as_script(kind, zarr_format, steps)
                report.wrong[int(seed)] = f"read by others ({kind}, format {zarr_format}): {problems}\n{script}"
    return report
