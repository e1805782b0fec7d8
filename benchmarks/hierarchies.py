"""Tools over hierarchies of many small arrays: CPU seconds, wall seconds and peak memory must not outgrow the arrays.

    python benchmarks/hierarchies.py [--arrays 1000,3000,10000] [--only tree,du] [--flat] [--rounds 1]

Groups of 100 arrays each (``--flat``: all in one group), each array of two chunks. Each run is a fresh process that
calls the tool on a hierarchy of two arrays first: the memory is what the large hierarchy adds to the peak.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from environments import work_folder

MAKE = """
import sys, numpy as np, zarr
store, count, width = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
root = zarr.open_group(store, mode="w")
for first in range(0, count, width):
    group = root.create_group(f"g{first:06}", attributes={"first": first})
    for number in range(first, min(count, first + width)):
        array = group.create_array(f"a{number:06}", shape=(8, 8), chunks=(4, 8), dtype="f4", attributes={"unit": "m"})
        array[:] = np.arange(64.0).reshape(8, 8) + number
"""
RUN = """
import contextlib, gc, io, json, os, resource, sys, time, zarr
from zarr.tools import checksum, copy, diff, stats, verify
def command(*words):
    from zarr._cli.cli import main
    with open(os.devnull, "w") as sink, contextlib.redirect_stdout(sink):
        main(list(words))
tools = {
    "tree": lambda place, other: command("tree", place),
    "du": lambda place, other: command("du", place),
    "verify": lambda place, other: verify(place),
    "copy": lambda place, other: copy(place, other, progress=False),
    "stats": lambda place, other: stats(place),
    "diff": lambda place, other: diff(place, place),
    "checksum": lambda place, other: checksum(place),
}
tool, small, place, other = tools[sys.argv[1]], *sys.argv[2:]
tool(small, other + "-small")
gc.collect()
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before, cpu, wall = peak(), time.process_time(), time.monotonic()
tool(place, other)
print(json.dumps([time.process_time() - cpu, time.monotonic() - wall, (peak() - before) / 1024]))
"""
TOOLS = ("tree", "du", "verify", "copy", "stats", "diff", "checksum")


def python(script: str, *words: object) -> str:
    """Run a program in a fresh process and return what it prints."""
    command = [sys.executable, "-W", "ignore", "-c", script, *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    """Make the hierarchies, run each tool on each, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arrays", default="1000,3000,10000")
    parser.add_argument("--only", default=",".join(TOOLS))
    parser.add_argument("--flat", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    counts = [int(word) for word in options.arrays.split(",")]
    with tempfile.TemporaryDirectory(prefix="zarr-hierarchies-", dir=work_folder()) as name:
        folder = Path(name)
        for count in (2, *counts):
            python(MAKE, folder / str(count), count, count if options.flat else 100)
        print(f"| tool | {' | '.join(f'{count} arrays' for count in counts)} |\n|---|{'---|' * len(counts)}")
        for tool in options.only.split(","):
            cells = []
            for count in counts:
                runs = []
                for number in range(options.rounds):
                    words = (folder / "2", folder / str(count), folder / f"{tool}-{count}-{number}")
                    runs.append(json.loads(python(RUN, tool, *words)))
                cells.append("{:.2f} s CPU, {:.2f} s, {:.1f} MiB".format(*map(min, zip(*runs, strict=True))))
            print(f"| `{tool}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
