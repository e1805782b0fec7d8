"""Figures into tables: one line a workload, one column a library, and what falls short of its goal."""

from __future__ import annotations

import statistics
import subprocess
from pathlib import Path
from typing import Any

from environments import describe_machine, versions
from workloads import WORKLOADS

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "RESULTS.md"
REASONS = HERE / "reasons.md"
"""``workload: why it falls short``, a line each."""

Row = dict[str, list[dict[str, Any]]]
"""Library -> one result a round."""
Figures = dict[str, Row]

EXPLANATION = """\
A fresh process for every figure, the libraries in turn, {rounds} rounds. A cell is the median over the rounds, and in
brackets the least; each of these is the least of some runs in one process (up to five, fewer where they take seconds),
after one to warm up. Inputs are the same for all; what a row reads, each library has written itself. CPU time is that
of the process with all its threads; on a shared machine its ratios hold where wall times do not. Ratios above 1: this
library is ahead. `limit` is a C loop without Python for each chunk (`limit.c`); it has no part in "best peer".
Rows in "x array" are peak memory in multiples of the array."""


NOT_REMOTE = "Not measured here; `python benchmarks/remote.py` measures it."
NOT_THREADS = "Not measured here; `python benchmarks/threads.py` measures it."


def middle(results: list[dict[str, Any]], clock: str) -> float:
    """Return the median over the rounds."""
    return statistics.median(result[clock] for result in results)


def least(results: list[dict[str, Any]], clock: str) -> float:
    """Return the least over the rounds."""
    return float(min(result[clock] for result in results))


def is_peer(name: str) -> bool:
    """Return True if a column is another library."""
    return name != "limit" and not name.startswith("ours")


def over_best(row: Row, clock: str, take: Any = middle) -> float | None:
    """Return best peer / ours."""
    peers = [take(results, clock) for name, results in row.items() if is_peer(name)]
    return min(peers) / take(row["ours"], clock) if peers and "ours" in row else None


def over(row: Row, name: str, clock: str, take: Any = middle) -> float | None:
    """Return one column / ours."""
    return take(row[name], clock) / take(row["ours"], clock) if {name, "ours"} <= set(row) else None


def shown(value: float | None) -> str:
    """Return a ratio as it is printed."""
    return "-" if value is None else f"{value:.2f}"


def cell(results: list[dict[str, Any]] | None, clock: str) -> str:
    """Return the median and the least."""
    if not results:
        return "-"
    return f"{middle(results, clock):.3g} ({least(results, clock):.3g})"


def format_row(name: str, row: Row, columns: list[str], clock: str) -> str:
    """Return one line of a table."""
    unit = next(iter(row.values()))[0]["unit"] if row else ""
    limit = over(row, "limit", clock)
    ratios = [over(row, "z34", clock), over_best(row, clock), None if limit is None else 1 / limit]
    cells = [cell(row.get(column), clock) for column in columns]
    return "| " + " | ".join([name, str(unit), *cells, *map(shown, ratios)]) + " |"


def heading(columns: list[str]) -> list[str]:
    """Return the first two lines of a table."""
    head = ["workload", "unit", *columns, "z34 / ours", "best peer / ours", "ours / limit"]
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]


def shortfalls(figures: Figures) -> list[str]:
    """Return the rows that miss a goal, with the reason where one is noted."""
    reasons = dict(line.split(": ", 1) for line in REASONS.read_text().splitlines()) if REASONS.exists() else {}
    lines = []
    for name, row in figures.items():
        goals = WORKLOADS[name]
        best, default = over_best(row, "cpu"), over(row, "z34", "cpu")
        missed = []
        if best is not None and best < goals.over_best:
            missed.append(f"{best:.2f} over the best peer (goal {goals.over_best:g})")
        if default is not None and goals.over_default is not None and default < goals.over_default:
            missed.append(f"{default:.1f} over zarr-python 3.4 (goal {goals.over_default:g})")
        if missed:
            lines.append(f"- **{name}**: {', '.join(missed)}. {reasons.get(name, 'Not explained yet.')}")
    return lines or ["None."]


def remote_table(pythons: dict[str, str]) -> list[str]:
    """Return the table of ``remote.py``, which has its own kind of row: wall time, 20 ms away."""
    from environments import make_environment

    command = [pythons["ours"], "-W", "ignore", str(HERE / "remote.py"), "--peer-python", make_environment("new")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=HERE)
    table = [line for line in done.stdout.splitlines() if line.startswith("|")]
    print(done.stdout if table else done.stderr)
    return table or [NOT_REMOTE]


def threads_table(pythons: dict[str, str]) -> list[str]:
    """Return the table of ``threads.py``: wall time with one thread and with two."""
    command = [pythons["ours"], "-W", "ignore", str(HERE / "threads.py")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=HERE)
    table = [line for line in done.stdout.splitlines() if line and not line.startswith("On ")]
    print(done.stdout if done.returncode == 0 else done.stderr)
    return [*table, "", *done.stdout.splitlines()[-1:]] if done.returncode == 0 else [NOT_THREADS]


def save(figures: Figures, pythons: dict[str, str], rounds: int, machine: str, remote: bool = False) -> None:
    """Write RESULTS.md; with the table of the network, if so asked."""
    columns = list(pythons)
    rounds = min((len(results) for row in figures.values() for results in row.values()), default=rounds)
    lines = ["# Measured side by side", "", EXPLANATION.format(rounds=rounds), "", f"Machine: {machine}", ""]
    lines += [*versions(pythons), ""]
    for title, clock in (("CPU time", "cpu"), ("Wall time", "wall")):
        lines += [f"## {title}", "", *heading(columns)]
        lines += [*(format_row(name, row, columns, clock) for name, row in figures.items() if row), ""]
    lines += ["## Rows that fall short of their goal", "", *shortfalls(figures), ""]
    lines += ["## One thread against two (wall time, this library)", "", *threads_table(pythons), ""]
    lines += ["## Over a network", "", *(remote_table(pythons) if remote else [NOT_REMOTE]), ""]
    lines += ["Made by `python benchmarks/compare.py --save`."]
    RESULTS.write_text("\n".join(lines) + "\n")


__all__ = ["Figures", "describe_machine", "format_row", "heading", "over_best", "save", "shortfalls"]
