"""Print what operations cost as work grows: each row at n, 10 n and 100 n, ours beside zarr-python and TensorStore.

    python benchmarks/growth.py [--only read_many] [--passes 3] [--rounds 20] [--seconds 60] [--save]

Each number is the least CPU time of a call in milliseconds, if the row names no other unit. A straight line is one that
grows no faster than n. Each row runs in a process of its own, the libraries in turn. A row that raises is printed with
its error, one that takes longer than ``--seconds`` with that limit. Other work slows a shared machine down for minutes:
``--passes`` measures the whole table several times, and each number is the least of its passes. ``--save`` puts the
rows of each finished pass into ``growth.json``, from which ``docs/figures.py`` draws a figure for each row.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from environments import describe_machine
from growth_rows import ROWS, TENSORSTORE, Row, Timed

HERE: Final = Path(__file__).resolve().parent
RESULTS: Final = HERE / "growth.json"
PEER_PYTHON: Final = HERE.parent / ".venv-peers" / "bin" / "python"
MOST_SECONDS_OF_ROUNDS: Final = 5.0


def least(row: Row, size: int, rounds: int) -> float:
    """Return the least CPU time of some calls in milliseconds, or the least of what they return in another unit."""
    made = row.make(size)
    timed = made if isinstance(made, Timed) else Timed(made)
    found, end = [], time.perf_counter() + MOST_SECONDS_OF_ROUNDS
    while len(found) < 2 or (len(found) <= rounds and time.perf_counter() < end):  # the first one warms up
        timed.before()
        start = time.process_time()
        value = timed.call()
        taken = (time.process_time() - start) * 1000
        found.append(value if row.unit != "ms" or isinstance(value, float) else taken)
    return min(found[1:])


def measure_here(name: str, library: str, rounds: int) -> None:
    """Print a line of JSON for each size of one row: the number, or the error."""
    warnings.simplefilter("ignore")
    row = (TENSORSTORE if library == "tensorstore" else ROWS)[name]
    for size in row.sizes:
        try:
            value: Any = least(row, size, rounds)
        except Exception as error:  # what a library cannot do is a result
            value = f"{type(error).__name__}: {' '.join(str(error).split())}"[:100]
        print(json.dumps(value), flush=True)


def measure(python: str, name: str, library: str, options: argparse.Namespace) -> list[Any]:
    """Return the numbers or errors of one row, measured in a process of its own."""
    command = [python, __file__, "--row", name, "--library", library, "--rounds", str(options.rounds)]
    own = {key: value for key, value in os.environ.items() if key != "PYTHONPATH" or library == "ours"}
    run = partial(subprocess.run, command, check=False, capture_output=True, text=True, env=own)
    try:
        done = run(timeout=options.seconds)
        printed, rest = done.stdout, (done.stderr.strip().splitlines() or ["no result"])[-1][:100]
    except subprocess.TimeoutExpired as error:
        printed = error.stdout.decode() if isinstance(error.stdout, bytes) else ""
        rest = f"more than {options.seconds:g} s"
    values = [json.loads(line) for line in printed.splitlines()]
    return values + [rest] * (3 - len(values))


def results(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the rows with the numbers of each library."""
    peer = str(options.peer_python)
    for name, row in ROWS.items():
        if options.only not in name:
            continue
        found = {"ours": measure(sys.executable, name, "ours", options)}
        if options.peer_python.exists():
            found["zarr-python"] = measure(peer, name, "zarr-python", options)
            if name in TENSORSTORE:
                found["tensorstore"] = measure(peer, name, "tensorstore", options)
        yield name, {"sizes": row.sizes, "unit": row.unit, "libraries": found}


def least_of_passes(before: dict[str, Any] | None, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with the least number of an earlier pass and this one; a number goes before an error."""
    if before is None:
        return row
    both = {
        library: [min(pair, key=_order) for pair in zip(before["libraries"][library], values, strict=True)]
        for library, values in row["libraries"].items()
    }
    return row | {"libraries": both}


def _order(value: Any) -> tuple[bool, float]:
    return isinstance(value, str), 0.0 if isinstance(value, str) else value


def shown(value: Any) -> str:
    """Return a cell as it is printed."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def lines(name: str, row: dict[str, Any]) -> Iterator[str]:
    """Return the lines of one row: a heading, and a line for each library."""
    yield f"{name}: {', '.join(f'{size:,}' for size in row['sizes'])} [{row['unit']}]"
    for library, values in row["libraries"].items():
        parts = [values[0]] if len(set(map(str, values))) == 1 and isinstance(values[0], str) else values
        yield f"    {library:12} {'  '.join(f'{shown(value):>9}' for value in parts)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a part of the name of a row")
    parser.add_argument("--passes", type=int, default=1, help="how often the table is measured")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60, help="the limit of one row and library")
    parser.add_argument("--peer-python", type=Path, default=PEER_PYTHON)
    parser.add_argument("--save", action="store_true", help=f"put the rows into {RESULTS.name}")
    parser.add_argument("--row", help="measure this row in this process, for the caller")
    parser.add_argument("--library", default="ours")
    options = parser.parse_args()
    if options.row:
        measure_here(options.row, options.library, options.rounds)
        return
    rows: dict[str, Any] = {}
    for number in range(options.passes):
        if options.passes > 1:
            print(f"pass {number + 1} of {options.passes}")
        for name, row in results(options):
            rows[name] = least_of_passes(rows.get(name), row)
            print("\n".join(lines(name, rows[name])), flush=True)
        if options.save:
            save(rows, options.rounds)


def save(rows: dict[str, Any], rounds: int) -> None:
    """Put rows into the file of results; rows that were not measured keep their numbers."""
    old = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else {}
    all_rows = {name: (old | rows)[name] for name in ROWS if name in old | rows}
    RESULTS.write_text(json.dumps({"machine": describe_machine(), "rounds": rounds, "rows": all_rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
