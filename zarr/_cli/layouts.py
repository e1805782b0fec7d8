"""The commands that store arrays in another layout or format: ``rechunk``, ``reencode``, ``coarsen``, ``convert``."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated, Any, cast

import typer

import zarr
from zarr._cli.answers import agree, counted, say_result, saying_how_to_go_on
from zarr._cli.arguments import (
    AsJson,
    Memory,
    Options,
    Workers,
    Yes,
    parse_chunks,
    parse_lengths,
    parse_memory,
    parse_pairs,
    parse_place,
    pool_of,
)
from zarr._cli.change import Dest, DestOptions, Source, ends, find, is_stopped, refuse_overlap, whole_store
from zarr._cli.create import Codec, parse_codecs
from zarr.arrays.array import Array
from zarr.groups.group import Group
from zarr.tools.conversion.formats import FORMATS
from zarr.tools.copies.reductions import METHODS
from zarr.tools.plans.plan import MEMORY, Plan
from zarr.types import ZarrFormat

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
    cut = parse_chunks(chunks, "--chunks")
    shard = None if shards is None else parse_chunks(shards, "--shards")
    job = _Job(source, dest, option, dest_option, memory, workers, overwrite, resume, dry_run, yes, as_json)
    job.run(zarr.tools.rechunk, codec, chunks=cut, shards=shard)


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
    job.run(zarr.tools.reencode, codec)


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
    parsed = _parse_factors(factors)
    metadata = None if convention == "none" else convention
    job = _Job(source, dest, option, dest_option, memory, workers, overwrite, resume, dry_run, yes, as_json)
    job.run(zarr.tools.coarsen, factors=parsed, levels=levels, method=method, convention=metadata)


def _parse_factors(text: str) -> int | tuple[int, ...] | dict[str, Any]:
    if "=" in text:
        return parse_pairs(text.split(","), "--factors")
    lengths = parse_lengths(text, "--factors")
    return lengths[0] if len(lengths) == 1 else lengths


def convert(
    source: Annotated[str, typer.Argument(help="A file, or STORE::PATH; a part of a file follows after :: too.")],
    target: Annotated[str, typer.Argument(help="A file, or STORE::PATH.")],
    to: Annotated[str | None, typer.Option(help=f"zarr, {', '.join(FORMATS)}; by default by the name.")] = None,
    chunks: Annotated[
        str | None, typer.Option(help="As in 100,-1 or time=100; auto: chosen anew; by default those of SOURCE.")
    ] = None,
    shards: Annotated[str | None, typer.Option(help="In the same way; by default those of SOURCE.")] = None,
    codec: Codec = None,
    virtual: Annotated[bool, typer.Option("--virtual", help="Copy nothing: TARGET is a table of references.")] = False,
    zarr_format: Annotated[int, typer.Option(min=2, max=3, help="The format of new Zarr.")] = 3,
    memory: Memory = MEMORY,
    workers: Workers = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at TARGET.")] = False,
    resume: Resume = False,
    dry_run: DryRun = False,
    option: Options = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Convert HDF5, NetCDF, npy, npz, TIFF, Parquet, CSV or N5 to Zarr, or back; print what cannot be carried."""
    given: dict[str, Any] = parse_codecs(codec, cast("ZarrFormat", zarr_format)) if codec else {}
    for name, text in (("chunks", chunks), ("shards", shards)):
        if text is not None:
            given[name] = text if (name, text) == ("chunks", "auto") else parse_chunks(text, f"--{name}")
    place = parse_place(target, None, None)
    overwrite = overwrite and not (resume and is_stopped(place))  # what is there goes on
    if overwrite and not dry_run and (os.path.exists(whole_store(place)) or find(place) is not None):
        agree(f"Replace {target}?", yes)
    with pool_of(workers) as pool, saying_how_to_go_on():
        made = zarr.tools.convert(
            source, target, to=to, virtual=virtual, zarr_format=cast("ZarrFormat", zarr_format),
            memory=parse_memory(memory), overwrite=overwrite, executor=pool, resume=resume, dry_run=dry_run,
            storage_options=parse_pairs(option, "--option") or None, **given,
        )  # fmt: skip
    if isinstance(made.result, Array | Group):
        made.result.store.close()
    lines = [made.plan if dry_run else f"made {target}"]
    if made.losses:
        lines.append("cannot be carried:" if dry_run else "not carried:")
        lines += [f"  {text}" for text in made.losses]
    result = {"target": target, "made": not dry_run, "plan": made.plan, "losses": list(made.losses)}
    say_result(as_json, result, "\n".join(lines))


@dataclass(frozen=True)
class _Job:
    """The common options of the three commands."""

    source: str
    dest: str
    option: list[str] | None
    dest_option: list[str] | None
    memory: str
    workers: int
    overwrite: bool
    resume: bool
    dry_run: bool
    yes: bool
    as_json: bool

    def run(self, tool: Callable[..., Any], codec: list[str] | None = None, **parameters: Any) -> None:
        """Call a tool, and print its result or its plan."""
        taken, given = ends(self.source, self.dest, self.option, self.dest_option)
        refuse_overlap(taken, given)
        parameters["memory"] = parse_memory(self.memory)
        overwrite = self.overwrite and not (self.resume and is_stopped(given))  # what is there goes on
        if overwrite and not self.dry_run and (there := find(given)) is not None:
            agree(f"Remove {there.whole}?", self.yes)
        with ExitStack() as stack:
            node = stack.enter_context(taken.opened())
            place = stack.enter_context(given.located("a"))
            codecs = parse_codecs(codec, node.metadata.zarr_format) if codec else {}
            plan = tool(node, place, overwrite=overwrite, dry_run=True, **codecs, **parameters)
            assert isinstance(plan, Plan)
            if not self.dry_run:
                with saying_how_to_go_on():
                    plan.run(stack.enter_context(pool_of(self.workers)), resume=self.resume)
        result = {"dest": str(given), "made": not self.dry_run, "tasks": len(plan), "plan": plan.explain()}
        text = plan.explain() if self.dry_run else f"made {given} by {counted(len(plan), 'task')}"
        say_result(self.as_json, result, text)
