"""The commands that measure: ``tune`` and ``bench``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import zarr
from zarr._cli.answers import say_result
from zarr._cli.arguments import AsJson, NodePath, Options, Place, Store, Yes, parse_chunks, parse_place
from zarr._cli.change import DestOptions, clear_way, ends, refuse_overlap
from zarr._cli.create import parse_codecs
from zarr._lazy import load_extra
from zarr.tools.measurements.tuning import READS, SAMPLE
from zarr.tools.plans.plan import MEMORY

Size = Annotated[str, typer.Option("--size", help="The size of the sample of the array; 0: the whole array.")]
Memory = Annotated[str, typer.Option(help="The memory that may be used; a quarter of it for the sample.")]
Scratch = Annotated[Path | None, typer.Option(help="A folder below which the sample is written, and removed.")]


def tune(
    store: Store,
    path: NodePath = None,
    reads: Annotated[
        str, typer.Option(help="What matters: time-series, map, window:256, plane:lat,lon, line:depth, all.")
    ] = ",".join(READS),
    chunks: Annotated[
        list[str] | None, typer.Option(help="A chunk shape to try, as in 100,-1 or time=100,lat=-1. Repeat.")
    ] = None,
    codecs: Annotated[
        list[str] | None,
        typer.Option(help="Codecs to try, as in none,zstd:1,zstd:9; or the JSON of one. Repeat. An empty text: none."),
    ] = None,
    size: Size = SAMPLE,
    seconds: Annotated[float | None, typer.Option(help="No trial begins later.")] = None,
    memory: Memory = MEMORY,
    latency: Annotated[float, typer.Option(help="Seconds that each request of a read takes in addition.")] = 0.0,
    bandwidth: Annotated[str | None, typer.Option(help="Stored bytes that come in a second, as in 100MB.")] = None,
    scratch: Scratch = None,
    apply: Annotated[
        str | None, typer.Option("--apply", metavar="DEST", help="Copy the array into the best layout there.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Remove what is at DEST.")] = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Save a picture in this file.")] = None,
    option: Options = None,
    dest_option: DestOptions = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Find the chunks and codecs of an array that suit all of some reads, by trials on a sample of it."""
    taken = parse_place(store, path, option)
    given = None if apply is None else _destination(taken, apply, option, dest_option, overwrite, yes)
    if plot is not None:
        load_extra("matplotlib.figure", "plot", "--plot")  # before the trials, which take long
    with taken.opened() as node:
        found = zarr.tools.tune(
            node,
            reads=reads,
            chunks=None if chunks is None else [parse_chunks(text, "--chunks") for text in chunks],
            codecs=None if codecs is None else _parse_entries(codecs, node.metadata.zarr_format),
            sample=_parse_size(size), seconds=seconds, memory=memory, latency=latency, bandwidth=bandwidth,
            scratch=scratch,
        )  # fmt: skip
        if plot is not None:
            found.plot(plot)
        if given is not None:
            with given.located("a") as place:
                found.apply(place, overwrite=overwrite, memory=memory)
    result = {**found.to_json(), "dest": None if given is None else str(given)}
    say_result(as_json, result, found.table() + ("" if given is None else f"\nmade {given}"))


def _destination(
    taken: Place, dest: str, option: list[str] | None, dest_option: list[str] | None, overwrite: bool, yes: bool
) -> Place:
    """Return the place of the copy; a node that is there is an error before the trials begin."""
    _, given = ends(str(taken), dest, option, dest_option)
    refuse_overlap(taken, given)
    clear_way(given, overwrite, yes)
    return given


def _parse_size(text: str) -> str | int:
    return 0 if text.strip() == "0" else text


def _parse_entries(texts: list[str], zarr_format: Any) -> list[dict[str, Any]]:
    """Return the codecs to try; the commas of JSON stay."""
    words = [word for text in texts for word in ([text] if text.startswith("{") else text.split(","))]
    return [parse_codecs([word.strip()], zarr_format) for word in words if word.strip()]


def bench(
    store: Store,
    path: NodePath = None,
    reads: Annotated[str, typer.Option(help="As for zarr tune, and chunks: one after the other.")] = "chunks",
    write: Annotated[bool, typer.Option("--write", help="Measure writes, too, of a copy of a sample.")] = False,
    seconds: Annotated[float, typer.Option(help="How long all takes, about.")] = 5.0,
    size: Size = SAMPLE,
    memory: Memory = MEMORY,
    scratch: Scratch = None,
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """Measure how fast an array is read, and a copy of it written, as it is."""
    with parse_place(store, path, option).opened() as node:
        found = zarr.tools.bench(
            node, reads=reads, write=write, seconds=seconds, sample=_parse_size(size), memory=memory, scratch=scratch
        )
    say_result(as_json, found.to_json(), found.table())
