"""Rechunk an array larger than the memory that is allowed, here and with the peers; CPU, wall time and peak memory.

    python benchmarks/rechunk.py [--gib 4] [--memory "512 MiB"] [--rounds 1] [--only NAME,NAME] [--codec zstd|lz4]
    python benchmarks/rechunk.py --cluster [--kill-every 10]

The array is float32, in chunks of 1 x 1024 x 1024, compressed with Zstandard, or with LZ4 in Blosc; it becomes chunks
of 256 x 64 x 64. Each
run is a fresh process; CPU time and peak memory count all its children. The peers: rechunker with the zarr 2 that it
needs, and ``dask.array.rechunk`` through zarr-python 3.4.2; their environments are made under ``.bench``. The row
``codec`` is the least that any of them can take: all chunks decoded once and encoded once, nothing else.

``--cluster`` runs on a dask cluster of four processes instead, and kills one of them every few seconds; then it kills
the client with all its workers in the middle, and goes on with ``resume=True``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from environments import BENCH, find_python, work_folder

ENVIRONMENTS = {
    "rechunker": ("3.11", ["rechunker==0.5.4", "zarr==2.18.7", "numcodecs==0.15.1", "dask[array]<2025", "numpy<2.3"]),
    "dask": ("3.13", ["zarr==3.4.2", "dask[array]"]),
}
SOURCE = """
import sys, numcodecs, numpy as np, zarr
length = int(sys.argv[2])
codecs = {
    "zstd2": numcodecs.Zstd(level=0), "zstd3": zarr.codecs.ZstdCodec(),
    "lz42": numcodecs.Blosc("lz4"), "lz43": zarr.codecs.BloscCodec(cname="lz4", shuffle="shuffle", typesize=4),
}
options = {"zarr_format": int(sys.argv[3]), "compressors": codecs[sys.argv[4] + sys.argv[3]]}
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
CODEC = """
import sys, time, numcodecs, numpy as np, zarr
source = zarr.open_array(sys.argv[1], mode="r")
codec = numcodecs.Zstd(level=0) if sys.argv[2] == "zstd" else numcodecs.Blosc("lz4")
slabs = [source[i] for i in range(256)]
chunks = [np.stack([slab[:64, j : j + 64] for slab in slabs]) for j in range(0, 1024, 64)]
begin = time.process_time()
for chunk in chunks:
    codec.decode(codec.encode(chunk))
print((time.process_time() - begin) * source.nbytes / sum(chunk.nbytes for chunk in chunks))
"""
CLUSTER = """
import os, random, resource, signal, sys, threading, zarr
from distributed import Client, LocalCluster
told = []
def tell(*far):
    told.append(far)
    say(*far)
def say(*words):  # one write for a line, since two threads write lines
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
def kill(cluster, every, ended):
    before = 0
    while not ended.wait(every):
        known = cluster.scheduler.workers  # who dies while it starts is not started again
        pids = [nanny.pid for nanny in cluster.workers.values() if nanny.pid and nanny.worker_address in known]
        if pids and len(told) > before:  # a machine that starts workers slowly gets on, too
            before = len(told)
            os.kill(random.choice(pids), signal.SIGKILL)
            say("killed")
if __name__ == "__main__":
    source, target, memory, chunks, every, resume = sys.argv[1:]
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(n_workers=4, **options) as cluster, Client(cluster) as client:
        cluster.adapt(minimum=4, maximum=4)  # a worker that gives up is replaced
        ended = threading.Event()
        killer = threading.Thread(target=kill, args=(cluster, float(every), ended))
        killer.start()
        try:
            zarr.tools.rechunk(source, target, chunks=eval(chunks), memory=int(memory), executor=client,
                               resume=resume == "resume", progress=tell)
        finally:
            ended.set()
            killer.join()
        peaks = client.run(peak, on_error="ignore")  # some may not have started again
        say("peak", max(peaks.values(), default=0))
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


def run_cluster(
    folder: Path,
    source: Path,
    memory: int,
    chunks: tuple[int, ...],
    every: float,
    die_after: float = 1.0,
    resume: str = "",
    patience: float = 3600,
) -> tuple[int, int, int, int]:
    """Rechunk on a cluster; return the first and last number of ended tasks, those of kills and of MiB of a worker.

    Parameters
    ----------
    folder : Path
        The target is made in it, and the files of the workers.
    source : Path
    memory : int
    chunks : tuple of int
    every : float
        Seconds between two kills of a worker.
    die_after : float
        The part of the tasks after which the client is killed.
    resume : str
        ``"resume"`` goes on.
    patience : float
        Seconds after which all is killed.
    """
    file = folder / "cluster.py"  # the processes of the cluster import it
    file.write_text(CLUSTER)
    words = [sys.executable, "-W", "ignore", file, source, folder / "target", memory, chunks, every, resume]
    told: list[int] = []
    kills = peak = 0
    errors = folder / "cluster.err"
    with (
        errors.open("w") as stderr,
        subprocess.Popen(
            list(map(str, words)), cwd=folder, stdout=subprocess.PIPE, stderr=stderr, text=True, start_new_session=True
        ) as client,
    ):
        assert client.stdout is not None
        limit = threading.Timer(patience, os.killpg, (client.pid, signal.SIGKILL))
        limit.start()
        try:
            for line in client.stdout:
                if line.startswith("killed"):
                    kills += 1
                    continue
                if line.startswith("peak"):  # all is written, and the cluster need not close
                    peak = int(line.split()[1])
                    break
                told.append(int(line.split()[0]))
                if told[-1] >= die_after * int(line.split()[1]) and die_after < 1:
                    break
            else:
                raise SystemExit(f"the cluster failed with exit code {client.wait()}:\n{errors.read_text()[-4000:]}")
        finally:  # of a cluster that failed, some processes may be left
            limit.cancel()
            with suppress(ProcessLookupError):
                os.killpg(client.pid, signal.SIGKILL)
    return told[0], told[-1], kills, peak


def print_cluster(folder: Path, memory: int, every: float) -> None:
    """Measure a cluster whose workers are killed, and one whose client is killed, too."""
    runs = [("all tasks", 1.0, ""), ("client killed", 0.5, ""), ("gone on", 1.0, "resume")]
    print("| run | wall s | tasks ended | workers killed | peak MiB of a worker at the end |\n|---|---|---|---|---|")
    for name, die_after, resume in runs:
        begin = time.monotonic()
        first, last, kills, peak = run_cluster(folder, folder / "v3", memory, (256, 64, 64), every, die_after, resume)
        print(f"| {name} | {time.monotonic() - begin:.1f} | {first} to {last} | {kills} | {peak or ''} |", flush=True)
        if die_after == 1:
            subprocess.run([sys.executable, "-W", "ignore", "-c", CHECK, folder / "v3", folder / "target"], check=True)
            shutil.rmtree(folder / "target")


def main() -> None:
    """Make the input, measure in turn, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gib", type=float, default=4)
    parser.add_argument("--memory", default="512 MiB")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--kill-every", type=float, default=10, metavar="SECONDS")
    parser.add_argument("--codec", default="zstd", choices=["zstd", "lz4"])
    parser.add_argument("--only", default="threads,processes,rechunker,dask")
    options = parser.parse_args()
    from zarr.tools.plans.plan import parse_bytes

    length, memory = max(256, int(options.gib * 256)), parse_bytes(options.memory)  # one new chunk is the least
    with tempfile.TemporaryDirectory(prefix="zarr-rechunk-", dir=work_folder() if options.gib <= 1 else None) as name:
        folder = Path(name)
        for number in "23":
            place = str(folder / f"v{number}")
            made = [SOURCE, place, str(length), number, options.codec]
            subprocess.run([sys.executable, "-W", "ignore", "-c", *made], check=True)
        if options.cluster:
            print_cluster(folder, memory, options.kill_every)
            return
        print("| library | CPU s | wall s | peak MiB of a process |\n|---|---|---|---|")
        names = options.only.split(",")
        runs = {each: [] for each in names}
        for _ in range(options.rounds):
            for each in names:
                runs[each].append(measure(each, folder, memory))
        alone = [sys.executable, "-c", CODEC, str(folder / "v3"), options.codec]
        codec = subprocess.run(alone, check=True, capture_output=True)
        print(f"| codec | {float(codec.stdout):.1f} | | |")
        for each in names:
            best = [min(column) for column in zip(*runs[each], strict=True)]
            print(f"| {each} | {best[0]:.1f} | {best[1]:.1f} | {best[2]:.0f} |", flush=True)


if __name__ == "__main__":
    main()
