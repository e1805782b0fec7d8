"""The commands that store arrays in another layout: ``rechunk``, ``reencode``, ``coarsen``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from typing import Annotated, Any, cast

import typer

import zarr
from zarr._cli.answers import agree, counted, say, say_json
from zarr._cli.arguments import AsJson, Options, Yes, parse_chunks, parse_lengths, parse_pairs
from zarr._cli.change import Dest, DestOptions, Source, ends, find, refuse_overlap
from zarr._cli.create import Codec, parse_codecs
from zarr.tools.copies.coarsening import Convention
from zarr.tools.copies.reductions import METHODS, Method
from zarr.tools.plans.plan import MEMORY, Plan, parse_bytes

Memory = Annotated[str, typer.Option(help="The memory that a task may use.")]
Workers = Annotated[int, typer.Option(min=0, help="Run the tasks in so many processes; 0: in this one.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Remove what is at DEST.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where the same command was stopped.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print the plan.")]


def rechunk(
    source: Source,
    dest: Dest,
    chunks: Annotated[str, typer.Option(help="As in 100,-1 or time=100,lat=-1; -1 is a whole axis.")],
    shards: Annotated[str | None, typer.Option(help="In the same way; by default no shards.")] = None,
    codec: Codec = None,
    memory: Memory = MEMORY,
    workers: Workers = 0,
    overwrite: Overwrite = False,
    resume: Resume = False,
    dry_run: DryRun = False,
    option: Options = None,
    dest_option: DestOptions = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Copy an array, or all arrays of a group, into other chunks or shards."""
    options: dict[str, Any] = {
        "chunks": parse_chunks(chunks, "--chunks"),
        "shards": None if shards is None else parse_chunks(shards, "--shards"),
    }
    job = _Job(source, dest, option, dest_option, memory, workers, overwrite, resume, dry_run, yes, as_json)
    job.run(lambda node, place, more: zarr.tools.rechunk(node, place, **options, **job.codecs(codec, node), **more))


def reencode(
    source: Source,
    dest: Dest,
    codec: Codec = None,
    memory: Memory = MEMORY,
    workers: Workers = 0,
    overwrite: Overwrite = False,
    resume: Resume = False,
    dry_run: DryRun = False,
    option: Options = None,
    dest_option: DestOptions = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Copy an array, or all arrays of a group, with other codecs; by default those of a new array."""
    job = _Job(source, dest, option, dest_option, memory, workers, overwrite, resume, dry_run, yes, as_json)
    job.run(lambda node, place, more: zarr.tools.reencode(node, place, **job.codecs(codec, node), **more))


def coarsen(
    source: Source,
    dest: Dest,
    factors: Annotated[str, typer.Option(help="As in 2, in 1,2,2 or in y=2,x=2.")] = "2",
    levels: Annotated[
        int | None, typer.Option(min=1, help="How many coarser levels; by default down to a chunk.")
    ] = None,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")] = "mean",
    convention: Annotated[str, typer.Option(help="The metadata: ome, geozarr or none.")] = "ome",
    memory: Memory = MEMORY,
    workers: Workers = 0,
    overwrite: Overwrite = False,
    resume: Resume = False,
    dry_run: DryRun = False,
    option: Options = None,
    dest_option: DestOptions = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Make a pyramid: a group with a copy of an array and coarser levels of it."""
    options: dict[str, Any] = {
        "factors": _parse_factors(factors),
        "levels": levels,
        "method": cast("Method", method),
        "convention": None if convention == "none" else cast("Convention", convention),
    }
    job = _Job(source, dest, option, dest_option, memory, workers, overwrite, resume, dry_run, yes, as_json)
    job.run(lambda node, place, more: zarr.tools.coarsen(node, place, **options, **more))


def _parse_factors(text: str) -> int | tuple[int, ...] | dict[str, Any]:
    if "=" in text:
        return parse_pairs(text.split(","), "--factors")
    lengths = parse_lengths(text, "--factors")
    return lengths[0] if len(lengths) == 1 else lengths


class _Job:
    """Run what the three commands have in common: source, destination and options."""

    def __init__(
        self,
        source: str,
        dest: str,
        option: list[str] | None,
        dest_option: list[str] | None,
        memory: str,
        workers: int,
        overwrite: bool,
        resume: bool,
        dry_run: bool,
        yes: bool,
        as_json: bool,
    ) -> None:
        self.taken, self.given = ends(source, dest, option, dest_option)
        refuse_overlap(self.taken, self.given)
        try:
            self.memory = parse_bytes(memory)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--memory") from None
        self.workers, self.overwrite, self.resume, self.dry_run = workers, overwrite, resume, dry_run
        self.yes, self.as_json = yes, as_json

    def codecs(self, codec: list[str] | None, node: Any) -> dict[str, Any]:
        """Return the parameters of codecs, in the format of the source."""
        return parse_codecs(codec, node.metadata.zarr_format) if codec else {}

    def run(self, tool: Callable[[Any, Any, dict[str, Any]], Any]) -> None:
        """Call a tool, and print what it has made, or its plan."""
        if self.overwrite and not self.dry_run and not self.resume and (there := find(self.given)) is not None:
            agree(f"Remove {there.words}?", self.yes)
        more: dict[str, Any] = {"memory": self.memory, "overwrite": self.overwrite}
        with ExitStack() as stack:
            node = stack.enter_context(self.taken.opened())
            place = stack.enter_context(self.given.located("a"))
            plan = tool(node, place, {**more, "dry_run": True})
            assert isinstance(plan, Plan)
            if not self.dry_run:
                plan.run(stack.enter_context(_pool(self.workers)), resume=self.resume)
        if self.as_json:
            say_json({"dest": str(self.given), "made": not self.dry_run, "tasks": len(plan), "plan": plan.explain()})
        else:
            say(plan.explain() if self.dry_run else f"made {self.given} by {counted(len(plan), 'task')}")


@contextmanager
def _pool(workers: int) -> Iterator[Executor | None]:
    """Yield a pool of processes; none for no workers."""
    if not workers:
        yield None
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield pool
