"""Define the commands that check stored data: ``verify``, ``repair``, ``checksum``, ``diff``, ``stats``.

``cli.py`` lists them. A command parses its arguments, calls the function of ``zarr.tools`` of the same name, and prints
the result; only ``repair`` can change a store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

import zarr
from zarr._cli.answers import FoundError, agree, counted, say, say_json, say_result
from zarr._cli.arguments import (
    AsJson,
    Memory,
    NodePath,
    Options,
    Store,
    Workers,
    Yes,
    parse_memory,
    parse_place,
    pool_of,
)
from zarr.tools.contents.statistics import ArrayStatistics
from zarr.tools.plans.plan import MEMORY


@contextmanager
def reading(memory: str, workers: int) -> Iterator[dict[str, Any]]:
    """Yield the parameters of a tool that reads."""
    limit = parse_memory(memory)
    with pool_of(workers) as pool:
        yield {"memory": limit, "executor": pool}


Left = Annotated[str, typer.Argument(help="An array or a group: STORE::PATH, or STORE for its root.")]


def verify(
    store: Store,
    path: NodePath = None,
    sample: Annotated[
        float | None, typer.Option(min=0, help="Read so many chunks: a fraction below 1, or a number.")
    ] = None,
    values: Annotated[bool, typer.Option(help="Read chunks; otherwise documents and keys alone.")] = True,
    against: Annotated[
        Path | None, typer.Option(help="A file that zarr checksum has written: compare with it, too.")
    ] = None,
    memory: Memory = MEMORY,
    workers: Workers = 0,
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """Search a hierarchy for faults; nothing is changed. The exit code is 1 if there are any."""
    place = parse_place(store, path, option)
    with place.located() as located, reading(memory, workers) as how:
        wanted = None if against is None else _read_checksum(against)
        report = zarr.tools.verify(located, sample=sample, values=values, **how)
        same = str(zarr.tools.checksum(located, **how)) == wanted if report and wanted is not None else None
    say_result(as_json, report.to_json() | ({} if wanted is None else {"same_checksum": same}), str(report))
    if not report:
        number = counted(sum(report.counts.values()), "fault")
        mends = any(fault.mendable for fault in report.faults)
        way = "zarr repair --dry-run lists the changes" if mends else "the report says of each what to do"
        raise FoundError(f"{number} in {place}: {way}")
    if same is False:
        raise FoundError(f"{place} is sound, and holds something else than {against} says")


def _read_checksum(file: Path) -> str:
    found = re.search("sha256:[0-9a-f]{64}", file.read_text())
    if found is None:
        raise ValueError(f"there is no checksum in {file}: make it by zarr checksum PLACE > {file}")
    return found.group()


def repair(
    store: Store,
    path: NodePath = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    option: Options = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Mend what can be mended of a hierarchy; what is replaced is kept below .zarr-repair."""
    place = parse_place(store, path, option)
    with place.located() as located:
        changes = zarr.tools.repair(located)
    if changes and not dry_run:
        if not yes:
            say("\n".join(map(str, changes)))
        agree(f"Make {counted(len(changes), 'change')} to {place}?", yes)
        with place.located("r+") as located:
            changes = zarr.tools.repair(located, dry_run=False)
    if as_json:
        say_json({"changed": bool(changes) and not dry_run, "changes": list(map(vars, changes))})
    elif not changes:
        say("nothing to mend")
    elif dry_run or yes:
        say("\n".join(map(str, changes)))


def checksum(
    store: Store,
    path: NodePath = None,
    memory: Memory = MEMORY,
    workers: Workers = 0,
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """Print a checksum of what a hierarchy holds: the same for the same content in any store, chunks and codecs."""
    with parse_place(store, path, option).located() as located, reading(memory, workers) as how:
        found = zarr.tools.checksum(located, **how)
    say_result(as_json, {"checksum": str(found), "nodes": found.nodes, "elements": found.elements}, str(found))


def diff(
    left: Left,
    right: Left,
    values: Annotated[bool, typer.Option(help="Compare values; otherwise documents alone.")] = True,
    memory: Memory = MEMORY,
    workers: Workers = 0,
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """Print what differs between two hierarchies. The exit code is 1 if anything does."""
    one, other = parse_place(left, None, option), parse_place(right, None, option)
    with ExitStack() as stack:
        first = stack.enter_context(one.opened())
        second = stack.enter_context(other.opened()) if one != other else first
        found = zarr.tools.diff(first, second, values=values, **stack.enter_context(reading(memory, workers)))
    rows = [{"path": f"/{each.path}", "aspect": each.aspect, "text": str(each)} for each in found]
    say_result(as_json, {"equal": not found, "differences": rows}, "\n".join(map(str, found)))
    if found:
        raise FoundError(f"{one} and {other} differ: {counted(len(found), 'difference')}")


def stats(
    store: Store,
    path: NodePath = None,
    bins: Annotated[int, typer.Option(min=0, help="Print a histogram of so many bins, too.")] = 0,
    memory: Memory = MEMORY,
    workers: Workers = 0,
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """Print the range, mean, missing elements and sizes of an array, or of each array of a group."""
    with parse_place(store, path, option).opened() as node, reading(memory, workers) as how:
        answer = zarr.tools.stats(node, bins=bins, **how)
    found = [answer] if isinstance(answer, ArrayStatistics) else answer
    if as_json:
        say_json([_numbers(each) for each in found])
        return
    for each in found:
        say(str(each))
        if each.histogram is not None:
            say(_bars(*each.histogram))


def _numbers(found: ArrayStatistics) -> dict[str, Any]:
    numbers = {**vars(found), "path": f"/{found.path}"}
    histogram = numbers.pop("histogram")
    if histogram is not None:
        numbers["histogram"] = dict(zip(("counts", "edges"), histogram, strict=True))
    return {name: value.item() if hasattr(value, "item") else value for name, value in numbers.items()}


def _bars(counts: list[int], edges: list[float]) -> str:
    """Return a histogram as lines with bars."""
    most = max(*counts, 1)
    rows = zip(edges, edges[1:], counts, strict=False)
    return "\n".join(f"  {low:>12.6g} to {high:<12.6g} {'#' * round(40 * n / most):<40} {n}" for low, high, n in rows)
