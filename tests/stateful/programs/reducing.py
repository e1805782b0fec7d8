"""Make a failing program small, and print it as a script."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from pprint import pformat
from typing import Any

from .model import Step
from .places import ways
from .running import run_program


def failure(kind: str, zarr_format: int, steps: list[Step], rounds: int = 1) -> Exception | None:
    """Run a program some times in new folders; return its first error."""
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            try:
                run_program(kind, zarr_format, steps, Path(folder))
            except Exception as error:
                return error
    return None


def smaller(steps: list[Step]) -> Iterator[list[Step]]:
    """Programs with less: without a step, a scope without a step, or the steps of a scope without it."""
    for i, (name, parameters) in enumerate(steps):
        rest = steps[i + 1 :]
        yield steps[:i] + rest
        if "steps" in parameters:
            yield [*steps[:i], *parameters["steps"], *rest]
            for fewer in smaller(parameters["steps"]):
                yield [*steps[:i], (name, {**parameters, "steps": fewer}), *rest]


def simpler(steps: list[Step]) -> Iterator[list[Step]]:
    """Programs of the same steps with plainer parameters."""
    plain: dict[str, Any] = {"way": "held", "face": "sync", "direct": False, "attributes": {}, "overwrite": False}
    for i, (name, parameters) in enumerate(steps):
        changes = [{key: value} for key, value in plain.items() if parameters.get(key, value) != value]
        spec = parameters.get("spec", {})
        changes += [{"spec": {k: v for k, v in spec.items() if k != option}} for option in spec
                    if option not in ("dtype", "shape", "chunks")]  # fmt: skip
        if spec.get("dtype") not in (None, "i4"):
            changes.append({"spec": {k: v for k, v in spec.items() if k != "fill_value"} | {"dtype": "i4"}})
        for change in changes:
            yield [*steps[:i], (name, parameters | change), *steps[i + 1 :]]
        for inner in simpler(parameters.get("steps", [])):
            yield [*steps[:i], (name, parameters | {"steps": inner}), *steps[i + 1 :]]


def fitting(kind: str, steps: list[Step]) -> list[Step]:
    """The same steps, by ways that a kind of store has."""
    found: list[Step] = []
    for name, parameters in steps:
        fitted = dict(parameters)
        if fitted.get("way", "held") not in ways(kind):
            fitted["way"] = "store"
        if "steps" in fitted:
            fitted["steps"] = fitting(kind, fitted["steps"])
        found.append((name, fitted))
    return found


def reduced(
    kind: str, zarr_format: int, steps: list[Step], error: Exception, rounds: int = 1
) -> tuple[str, list[Step]]:
    """The smallest program found that fails with an error of the same class, and the plainest store for it."""

    def fails(kind: str, steps: list[Step]) -> bool:
        return type(failure(kind, zarr_format, steps, rounds)) is type(error)

    for plainer in ("memory", "local"):
        if kind != plainer and fails(plainer, fitting(plainer, steps)):
            kind, steps = plainer, fitting(plainer, steps)
            break
    for candidates in (smaller, simpler, smaller):
        steps = shrink(steps, candidates, lambda steps: fails(kind, steps))
    return kind, steps


def shrink(steps: list[Step], candidates: Any, fails: Callable[[list[Step]], bool]) -> list[Step]:
    """Take the first candidate that still fails, until there is none."""
    while True:
        for candidate in candidates(steps):
            if fails(candidate):
                steps = candidate
                break
        else:
            return steps


def as_script(kind: str, zarr_format: int, steps: list[Step]) -> str:
    """A program that runs these steps."""
    return (
        "import tempfile\nfrom pathlib import Path\n\nfrom tests.stateful.programs.running import run_program\n\n"
        "nan, inf = float('nan'), float('inf')\n"
        f"steps = {pformat(steps, width=118, sort_dicts=False)}\n"
        f"run_program({kind!r}, {zarr_format}, steps, Path(tempfile.mkdtemp()))\n"
    )
