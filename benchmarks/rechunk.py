"""Rechunk an array larger than the memory that is allowed, here and with the peers; CPU, wall time and peak memory.

    python benchmarks/rechunk.py [--gib 4] [--memory "512 MiB"] [--rounds 1] [--only NAME,NAME]

The array is float32, in chunks of 1 x 1024 x 1024, compressed with Zstandard; it becomes chunks of 256 x 64 x 64. Each
run is a fresh process; CPU time and peak memory count all its children. The peers: rechunker with the zarr 2 that it
needs, and ``dask.array.rechunk`` through zarr-python 3.4.2; their environments are made under ``.bench``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from environments import BENCH, find_python, work_folder

ENVIRONMENTS = {
    "rechunker": ("3.11", ["rechunker==0.5.4", "zarr==2.18.7", "numcodecs==0.15.1", "dask[array]<2025", "numpy<2.3"]),
    "dask": ("3.13", ["zarr==3.4.2", "dask[array]"]),
}
SOURCE = """
import sys, numpy as np, zarr
length = int(sys.argv[2])
options = {"zarr_format": 2} if sys.argv[3] == "2" else {}
if options:
    options["compressors"] = __import__("numcodecs").Zstd(level=0)
array = zarr.create_array(sys.argv[1], shape=(length, 1024, 1024), chunks=(1, 1024, 1024), dtype="f4", **options)
base = np.cumsum(np.random.default_rng(0).normal(size=(1024, 1024)), axis=1)
for i in range(length):
    array[i] = np.round(base + i / 10, 1)
"""
OURS = """
import sys, zarr
if __name__ == "__main__":
    executor = None
    if sys.argv[4] == "processes":
        from concurrent.futures import ProcessPoolExecutor
        executor = ProcessPoolExecutor(2)
    zarr.tools.rechunk(sys.argv[1], sys.argv[2], chunks=(256, 64, 64), memory=int(sys.argv[3]), executor=executor)
    if executor is not None:
        executor.shutdown()
"""
RECHUNKER = """
import sys, zarr
from rechunker import rechunk
if __name__ == "__main__":
    source = zarr.open(sys.argv[1], mode="r")
    plan = rechunk(source, (256, 64, 64), int(sys.argv[3]), sys.argv[2], temp_store=sys.argv[2] + ".between",
                   target_options={"compressor": source.compressor})
    plan.execute(scheduler="threads", num_workers=2)
"""
DASK = """
import sys, dask, dask.array as da
if __name__ == "__main__":
    dask.config.set(scheduler="threads", num_workers=2)
    da.from_zarr(sys.argv[1]).rechunk((256, 64, 64)).to_zarr(sys.argv[2])
"""
MEASURE = """
import json, os, resource, subprocess, sys, time
begin = time.monotonic()
subprocess.run(sys.argv[1:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, time.monotonic() - begin, used.ru_maxrss / 1024]))
"""
CHECK = """
import sys, numpy as np, zarr
source, target = zarr.open_array(sys.argv[1], mode="r"), zarr.open_array(sys.argv[2], mode="r")
assert target.chunks == (256, 64, 64), target.chunks
for i in range(0, source.shape[0], 64):
    assert np.array_equal(source[i], target[i]), i
"""


def interpreter(name: str) -> str:
    """Return the interpreter of a peer, making its environment at the first call."""
    if name not in ENVIRONMENTS:
        return sys.executable
    version, requirements = ENVIRONMENTS[name]
    python = BENCH / f"rechunk-{name}" / "bin" / "python"
    if not python.exists():
        subprocess.run([find_python(version), "-m", "venv", str(python.parent.parent)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *requirements], check=True)
    return str(python)


def measure(name: str, folder: Path, memory: int) -> list[float]:
    """Return CPU seconds, wall seconds and peak MiB of one run, after a look at its result."""
    script = {"rechunker": RECHUNKER, "dask": DASK}.get(name, OURS)
    source, target = folder / ("v2" if name == "rechunker" else "v3"), folder / f"target-{name}"
    command = [interpreter(name), "-W", "ignore", "-c", script, source, target, str(memory), name]
    file = folder / f"run_{name}.py"  # processes that a pool starts import it
    file.write_text(script)
    command[3:5] = [str(file)]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *map(str, command)], check=False, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": ""},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{name} failed: {done.stderr[-2000:]}")
    subprocess.run([sys.executable, "-W", "ignore", "-c", CHECK, str(source), str(target)], check=True)
    shutil.rmtree(target)
    shutil.rmtree(f"{target}.between", ignore_errors=True)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Make the input, measure in turn, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gib", type=float, default=4)
    parser.add_argument("--memory", default="512 MiB")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="threads,processes,rechunker,dask")
    options = parser.parse_args()
    from zarr.tools.plans.plan import parse_bytes

    length, memory = max(256, int(options.gib * 256)), parse_bytes(options.memory)  # one new chunk is the least
    with tempfile.TemporaryDirectory(prefix="zarr-rechunk-", dir=work_folder() if options.gib <= 1 else None) as name:
        folder = Path(name)
        for number in "23":
            place = str(folder / f"v{number}")
            subprocess.run([sys.executable, "-W", "ignore", "-c", SOURCE, place, str(length), number], check=True)
        print("| library | CPU s | wall s | peak MiB of a process |\n|---|---|---|---|")
        names = options.only.split(",")
        runs = {each: [] for each in names}
        for _ in range(options.rounds):
            for each in names:
                runs[each].append(measure(each, folder, memory))
        for each in names:
            best = [min(column) for column in zip(*runs[each], strict=True)]
            print(f"| {each} | {best[0]:.1f} | {best[1]:.1f} | {best[2]:.0f} |", flush=True)


if __name__ == "__main__":
    main()
