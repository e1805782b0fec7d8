"""500 random programs: what they and other libraries read is what a model of NumPy arrays holds."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

import zarr
from tests.stateful.programs.making import make
from tests.stateful.programs.places import KINDS
from tests.stateful.programs.reducing import as_script, failure, reduced, smaller
from tests.stateful.programs.rounds import have_peers, run_round
from tests.stateful.programs.running import WrongError

BLOCK = 50


@pytest.mark.parametrize("block", range(10))
def test_programs_do_what_the_model_does(block: int) -> None:
    report = run_round(range(block * BLOCK, (block + 1) * BLOCK), peers=have_peers())
    assert not report.wrong, "\n".join(f"seed {seed}: {text}" for seed, text in report.wrong.items())
    assert report.programs == BLOCK


def names(steps: list[Any]) -> set[str]:
    return {name for name, _ in steps} | {n for _, p in steps for n in names(p.get("steps", []))}


def test_every_operation_and_store_is_drawn() -> None:
    programs = [make(seed) for seed in range(300)]
    assert {kind for kind, _, _ in programs} == set(KINDS)
    assert set.union(*(names(steps) for _, _, steps in programs)) >= {
        "create_array", "create_group", "write", "read", "read_many", "lazy", "append", "resize", "attributes",
        "delete", "move", "copy", "consolidate", "members", "reopen", "threads", "tasks", "group_batch", "array_batch",
        "transaction", "conflict",
    }  # fmt: skip


def test_a_fault_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here appending does not store what it was given; the script that is printed fails in the same way."""
    append = zarr.Array.append

    def forgetful(self: Any, data: Any, axis: int = 0) -> Any:
        return append(self, data * 0, axis=axis)

    monkeypatch.setattr(zarr.Array, "append", forgetful)
    for seed in range(200):
        kind, zarr_format, steps = make(seed, ["memory"], without=("transaction", "threads", "tasks"))
        error = failure(kind, zarr_format, steps)
        if isinstance(error, WrongError):
            break
    else:
        pytest.fail("no program met it")
    kind, steps = reduced(kind, zarr_format, steps, error)
    assert "append" in names(steps)
    assert all(failure(kind, zarr_format, fewer) is None for fewer in smaller(steps))
    with pytest.raises(WrongError), tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "mkdtemp", lambda: folder)
        exec(as_script(kind, zarr_format, steps), {})
    assert not any(Path(folder).glob("*"))
