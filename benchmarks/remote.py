"""Read and write chunks over a network that answers after 20 ms, with this library and its peers, side by side.

    python benchmarks/remote.py [PYTHON ...] [--rounds 5] [--delay 0.02] [--only read,shards] [--peers z34,ts]

PYTHON is an interpreter that has this library installed (default: the one that runs this script). zarr-python 3.4.2
and tensorstore run in the environment that ``ci/peers.sh`` makes, or that ``--peer-python`` names. The server
(``slow_server.py``) is a process of its own; every run is a fresh process, which opens the array and is then timed:
wall clock, the least of its repeats, and the median of that over the rounds. Nothing is tuned but tensorstore
(128 requests at a time). Prints a table with the ratio zarr-python / ours.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
PEER_PYTHON = HERE.parent / ".venv-peers" / "bin" / "python"
COUNT, LENGTH = 1000, 1000  # chunks, and float32 elements in each
SHARDS, INNER = 100, 64  # shards, and chunks in each
TRANSPORTS = ("fsspec", "obstore")
WORKLOADS = ("read", "write", "shards")


def make_input(folder: Path) -> None:
    """Store what is read: 1000 chunks, and 100 shards of 64 chunks."""
    import zarr

    values = np.arange(COUNT * LENGTH, dtype="f4")
    plain = {"dtype": "f4", "compressors": None, "chunks": (LENGTH,)}
    for name in ("read", "write"):
        zarr.create_array(folder / name, shape=values.shape, **plain)[...] = values
    many = np.tile(values[: INNER * LENGTH], SHARDS)
    zarr.create_array(folder / "shards", shape=many.shape, shards=(INNER * LENGTH,), **plain)[...] = many


def rows() -> np.ndarray[Any, Any]:
    """Return the elements that are read of the shards: chunks 10 to 19 of each."""
    places = np.arange(SHARDS * INNER * LENGTH).reshape(SHARDS, INNER, LENGTH)
    return places[:, 10:20].ravel()


def zarr_run(transport: str, workload: str, url: str) -> Callable[[], Any]:
    """Open an array with ``zarr``, whichever is installed, and return what is timed."""
    import zarr

    if transport == "fsspec":
        store: Any = zarr.storage.FsspecStore.from_url(f"{url}/{workload}")
    else:
        from obstore.store import HTTPStore

        store = zarr.storage.ObjectStore(HTTPStore.from_url(f"{url}/{workload}", client_options={"allow_http": True}))
    array = zarr.open_array(store, mode="r+" if workload == "write" else "r")
    if workload == "write":
        values = np.arange(COUNT * LENGTH, dtype="f4") + 1
        return lambda: array.__setitem__(slice(None), values)
    if workload == "read":
        return lambda: array[:]
    selection = rows()
    return lambda: array.oindex[selection]


def tensorstore_run(workload: str, url: str) -> Callable[[], Any]:
    """Open an array with tensorstore over its own HTTP client; it reads only."""
    import tensorstore as ts

    context = ts.Context({"http_request_concurrency": {"limit": 128}, "cache_pool": {"total_bytes_limit": 0}})
    spec = {"driver": "zarr3", "kvstore": {"driver": "http", "base_url": url, "path": f"{workload}/"}}
    array = ts.open(spec, context=context).result()
    selection = rows()
    return (lambda: array.read().result()) if workload == "read" else (lambda: array.oindex[selection].read().result())


def run_here(peer: str, transport: str, workload: str, url: str) -> dict[str, float]:
    """Time one workload in this process: the first run, and the best of the next ones."""
    run = tensorstore_run(workload, url) if peer == "ts" else zarr_run(transport, workload, url)
    walls, cpus = [], []
    for _ in range(4):
        start, cpu = time.perf_counter(), time.process_time()
        run()
        walls.append(time.perf_counter() - start)
        cpus.append(time.process_time() - cpu)
    return {"first": walls[0], "wall": min(walls), "cpu": min(cpus)}


@contextmanager
def served(folder: Path, delay: float) -> Iterator[str]:
    """Run the server in a process of its own; yield its address."""
    command = [sys.executable, str(HERE / "slow_server.py"), str(folder), "--delay", str(delay)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.kill()
        server.wait()


def run_fresh(python: str, peer: str, transport: str, workload: str, url: str) -> dict[str, float] | None:
    """Time one workload in a fresh process; None where that fails."""
    command = [python, "-W", "ignore", str(HERE / "remote.py"), "--worker", peer, transport, workload, url]
    dropped = "ZARR_" if peer.startswith("ours") else ("ZARR_", "PYTHON")  # peers must not find this library
    environment = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=300)
    if done.returncode:
        print(f"  {peer} {transport} {workload}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    figures: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def measure(pythons: dict[str, str], transport: str, workload: str, options: argparse.Namespace, folder: Path) -> str:
    """Return one row of the table: every peer in turn, round by round, each against a server of its own."""
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(options.rounds):
        for peer, python in pythons.items():
            if peer == "ts" and (workload == "write" or transport != TRANSPORTS[0]):
                continue
            with served(folder, options.delay) as url:
                figures = run_fresh(python, peer, transport, workload, url)
            if figures is not None:
                found.setdefault(peer, []).append(figures)
    middle = {peer: statistics.median(one["wall"] for one in results) for peer, results in found.items()}
    cells = [f"{middle[peer]:.3f}" if peer in middle else "-" for peer in pythons]
    ratio = f"{middle['z34'] / middle['ours']:.1f}" if {"z34", "ours"} <= set(middle) else "-"
    cpu = statistics.median(one["cpu"] for one in found["ours"]) if "ours" in found else float("nan")
    first = statistics.median(one["first"] for one in found["ours"]) if "ours" in found else float("nan")
    return "| " + " | ".join([f"{workload}, {transport}", *cells, ratio, f"{first:.3f}", f"{cpu:.3f}"]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--delay", type=float, default=0.02, help="seconds until the server answers")
    parser.add_argument("--only", default="", help=f"of {', '.join((*WORKLOADS, *TRANSPORTS))}")
    parser.add_argument("--peers", default="z34,ts")
    parser.add_argument("--peer-python", default=str(PEER_PYTHON))
    parser.add_argument("--worker", nargs=4, metavar=("PEER", "TRANSPORT", "WORKLOAD", "URL"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(run_here(*options.worker)))
        return
    pythons = {"ours" if i == 0 else f"ours{i + 1}": python for i, python in enumerate(options.pythons)}
    pythons |= {peer: options.peer_python for peer in options.peers.split(",") if peer}
    chosen = set(options.only.split(",")) - {""} or {*WORKLOADS, *TRANSPORTS}
    workloads = [name for name in WORKLOADS if name in chosen] or WORKLOADS
    transports = [name for name in TRANSPORTS if name in chosen] or TRANSPORTS
    head = ["workload", *(f"{peer}, s" for peer in pythons), "z34 / ours", "ours, first run", "ours, CPU"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    with tempfile.TemporaryDirectory() as folder:
        make_input(Path(folder))
        for workload in workloads:
            for transport in transports:
                print(measure(pythons, transport, workload, options, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
