"""The commands that check what is stored: ``verify``, ``repair``, ``checksum``, ``diff``, ``stats``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

import zarr
from zarr._cli.answers import FoundError, agree, counted, say, say_json
from zarr._cli.arguments import AsJson, NodePath, Options, Store, Yes, parse_place
from zarr.arrays.array import Array
from zarr.tools.contents.statistics import ArrayStatistics
from zarr.tools.repairs import Change

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
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """Search a hierarchy for faults; nothing is changed. The exit code is 1 if there are any."""
    place = parse_place(store, path, option)
    with place.located() as located:
        report = zarr.tools.verify(located, sample=sample, values=values)
        same = against is None or str(zarr.tools.checksum(located)) == against.read_text().split()[0]
    if as_json:
        say_json({**report.to_json(), **({} if against is None else {"same_checksum": same})})
    else:
        say(str(report))
    if not report:
        number = counted(sum(report.counts.values()), "fault")
        raise FoundError(f"{number} in {place}: zarr repair --dry-run says what it would mend")
    if not same:
        raise FoundError(f"{place} is sound, and holds something else than {against} says")


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
        say_json({"changed": bool(changes) and not dry_run, "changes": [_as_dict(change) for change in changes]})
    elif not changes:
        say("nothing to mend")
    elif dry_run or yes:
        say("\n".join(map(str, changes)))


def _as_dict(change: Change) -> dict[str, str]:
    return {"action": change.action, "key": change.key, "target": change.target, "reason": change.reason}


def checksum(store: Store, path: NodePath = None, option: Options = None, as_json: AsJson = False) -> None:
    """Print a checksum of what a hierarchy holds: the same for the same content in any store, chunks and codecs."""
    with parse_place(store, path, option).located() as located:
        found = zarr.tools.checksum(located)
    if as_json:
        say_json({"checksum": str(found), "nodes": found.nodes, "elements": found.elements})
    else:
        say(str(found))


def diff(
    left: Left,
    right: Left,
    values: Annotated[bool, typer.Option(help="Compare values; otherwise documents alone.")] = True,
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """Print what differs between two hierarchies. The exit code is 1 if anything does."""
    one, other = parse_place(left, None, option), parse_place(right, None, option)
    with one.opened() as first, other.opened() if one != other else nullcontext(first) as second:
        found = zarr.tools.diff(first, second, values=values)
    if as_json:
        rows = [{"path": each.path, "aspect": each.aspect, "text": str(each)} for each in found]
        say_json({"equal": not found, "differences": rows})
    else:
        say("\n".join(map(str, found)))
    if found:
        raise FoundError(f"{one} and {other} differ: {counted(len(found), 'difference')}")


def stats(
    store: Store,
    path: NodePath = None,
    bins: Annotated[int, typer.Option(min=0, help="Print a histogram of so many bins, too.")] = 0,
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """Print the range, mean, missing elements and sizes of an array, or of each array of a group."""
    with parse_place(store, path, option).opened() as node:
        found = [zarr.tools.stats(node, bins=bins)] if isinstance(node, Array) else zarr.tools.stats(node, bins=bins)
    if as_json:
        say_json([_numbers(each) for each in found])
        return
    for each in found:
        say(str(each))
        if each.histogram is not None:
            say(_bars(*each.histogram))


def _numbers(found: ArrayStatistics) -> dict[str, Any]:
    names = ("path", "shape", "data_type", "min", "max", "mean", "missing", "filled", "raw_bytes", "stored_bytes")
    numbers = {name: getattr(found, name) for name in (*names, "chunks_stored", "chunks")}
    if found.histogram is not None:
        numbers["histogram"] = {"counts": found.histogram[0], "edges": found.histogram[1]}
    return {name: value.item() if hasattr(value, "item") else value for name, value in numbers.items()}


def _bars(counts: list[int], edges: list[float]) -> str:
    """Return a histogram as lines with bars."""
    most = max(*counts, 1)
    rows = zip(edges, edges[1:], counts, strict=False)
    return "\n".join(f"  {low:>12.6g} to {high:<12.6g} {'#' * round(40 * n / most):<40} {n}" for low, high, n in rows)
