"""Is the layout that ``zarr.tools.tune`` picks from a sample as good as one that an exhaustive search finds?

    python benchmarks/tune.py [--days 8] [--scale 1] [--sample "64 MiB"] [--rounds 3] [--no-codecs]

The array is the grid of the demo: the bathymetry that matplotlib ships, one survey a day. ``--scale`` repeats each
cell, with noise, for a larger grid; a small ``--sample`` shows what carrying over costs. Each chunk shape that ``tune``
tries is stored whole with each codec that it tries (``--no-codecs``: with that of the array alone), and each read is
measured there. ``compromise`` is the worst ratio, over both reads, to the best candidate for that read: the least that
any candidate reaches is the best compromise there is. In a large array it is far above 1.5: a chunk that
suits one read does not suit the other.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.cbook import get_sample_data

import zarr
from zarr.tools.measurements.candidates import codec_text, default_codecs, ladder, own_layout, parse_codecs
from zarr.tools.measurements.costs import cpu_seconds
from zarr.tools.measurements.reads import parse_reads

READS = ("map", "time-series")
NAMES = ("time", "latitude", "longitude")
GOAL = 1.5
SHOWN = 16

Candidate = tuple[tuple[int, ...], tuple[int, ...] | None, str]


def make_grid(folder: Path, days: int, scale: int) -> Any:
    """Store the grid as the demo does."""
    topo = np.kron(get_sample_data("topobathy.npz")["topo"], np.ones((scale, scale), "f4"))
    if scale > 1:
        topo += np.random.default_rng(0).normal(size=topo.shape).round(1).astype("f4")
    array = zarr.create_array(
        folder / "grid.zarr", shape=(days, *topo.shape), dtype="f4", chunks=(1, 46 * scale, 60 * scale),
        compressors=zarr.codecs.ZstdCodec(level=3), fill_value=np.nan, dimension_names=NAMES,
    )  # fmt: skip
    for day in range(days):
        array[day] = topo - day
    return array


def measure_all(
    array: Any, codecs: list[Any], more: list[Any], folder: Path, rounds: int
) -> dict[Candidate, dict[str, float]]:
    """Return the CPU time of each read of the whole array in each candidate: over some places, the mean of the least.

    All candidates are read in turn, in each round: a time in which the machine is slow does not meet one of them alone.
    """
    reads, copies = parse_reads(READS, array.shape, NAMES), {}
    for layout in {each.grid: each for each in (own_layout(array), *ladder(array, reads), *more)}.values():
        for codec in ({}, *parse_codecs(array, codecs)):
            copy = zarr.tools.rechunk(
                array, folder / f"{len(copies)}.zarr", chunks=layout.chunks, shards=layout.shards, **codec
            )
            copies[*layout.grid, codec_text(copy)] = copy
    places = {read.name: read.selections(array.shape) for read in reads}
    least = {(key, name, number): math.inf for key in copies for name in places for number in range(len(places[name]))}
    for _ in range(rounds):
        for key, name, number in least:
            seconds = cpu_seconds(copies[key], places[name][number])
            least[key, name, number] = min(least[key, name, number], seconds)
    return {
        key: {name: sum(least[key, name, n] for n in range(len(found))) / len(found) for name, found in places.items()}
        for key in copies
    }


def main() -> None:
    """Measure all candidates, tune, and print how both compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=8)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--sample", default="64 MiB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-codecs", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        array = make_grid(Path(name), asked.days, asked.scale)
        codecs = [] if asked.no_codecs else default_codecs(array)
        found = zarr.tools.tune(array, reads=READS, sample=asked.sample, codecs=codecs, progress=False)
        measured = measure_all(array, codecs, found.rows + found.codecs, Path(name), asked.rounds)
    print(f"{array.shape} float32, {array.nbytes / 2**20:.1f} MiB, sample {found.sample}\n")
    report(found, measured)


def report(found: Any, measured: dict[Candidate, dict[str, float]]) -> None:
    """Print the best candidates, what was picked, and whether the goal is reached."""
    least = {name: min(each[name] for each in measured.values()) for name in READS}
    worst = {key: max(each[name] / least[name] for name in READS) for key, each in measured.items()}
    predicted = {(*row.grid, row.codec): row.seconds for row in (*found.rows, *found.codecs)}
    picked, best = (*found.best.grid, found.best.codec), min(worst, key=lambda key: worst[key])
    print(f"{'CPU ms, measured / predicted':<80}" + "".join(f"{name:>20}" for name in READS) + f"{'compromise':>12}")
    for key in sorted(worst, key=lambda key: worst[key])[:SHOWN]:
        said = {name: f"{predicted[key][name] * 1e3:.3g}" if key in predicted else "-" for name in READS}
        cells = "".join(f"{f'{measured[key][name] * 1e3:.3g} / {said[name]}':>20}" for name in READS)
        print(f"{' '.join(map(str, key)):<80}{cells}{worst[key]:>12.2f}")
    print(f"\ntune picks {' '.join(map(str, picked))}")
    print(f"the best compromise of the exhaustive search is {' '.join(map(str, best))}")
    for name in READS:
        here = measured[picked][name]
        print(f"  {name}: {here / measured[best][name]:.2f} of that, {here / least[name]:.2f} of the best one for it")
    ratio = worst[picked] / worst[best]
    print(f"compromise of the pick {worst[picked]:.2f}, the least reachable {worst[best]:.2f}: ratio {ratio:.2f},")
    print(f"{'within' if ratio <= GOAL else 'NOT within'} {GOAL} of the best compromise")
    if worst[best] > GOAL:
        print(f"no candidate is within {GOAL} of the best one for each read: {worst[best]:.2f} is the least reachable")
    off = [max(p[n] / measured[key][n], measured[key][n] / p[n]) for key, p in predicted.items() for n in READS]
    print(f"predictions are off by a factor of {np.median(off):.2f} (median), {max(off):.2f} (most)")


if __name__ == "__main__":
    main()
