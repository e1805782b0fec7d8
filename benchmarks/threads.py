"""One thread against two: wall time of whole reads and writes, in fresh processes that take turns.

    python benchmarks/threads.py [--python PYTHON] [--rounds 5]

PYTHON has this library installed (default: the one that runs this script). The number of threads is set by
``threading.max_workers``. Wall times count here, so that the machine must be idle: the load is printed beside them.
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

HERE = Path(__file__).resolve().parent
ROWS = (
    "read_256MiB_zstd",
    "read_256MiB_blosc",
    "write_256MiB_zstd",
    "read_shards_of_64KiB",
    "write_shards_of_64KiB",
    "read_4096_files_64KiB",
    "read_10000_files_1KiB",
    "element_20KB_raw_file",
)
HEADING = ["| workload | unit | one thread | two threads | one / two |", "|---|---|---|---|---|"]


def run_here(threads: int, name: str, folder: Path) -> None:
    """Run one workload in this process and print its figures."""
    from peers import make_peer
    from workloads import WORKLOADS
    from workloads.registry import measure

    import zarr

    zarr.config.set({"threading.max_workers": threads})
    print(json.dumps(measure(WORKLOADS[name], make_peer("ours"), folder)))


def run_fresh(python: str, threads: int, name: str, folder: Path) -> dict[str, float]:
    """Run one workload in a process of its own."""
    command = [python, "-W", "ignore", str(HERE / "threads.py"), "--here", f"{threads},{name},{folder}"]
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=HERE, env=clean)
    figures: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def measure_row(python: str, name: str, rounds: int, root: Path) -> str:
    """Return the line of one workload: the least wall time of each."""
    least = {1: float("inf"), 2: float("inf")}
    unit = ""
    for _ in range(rounds):
        for threads in least:
            folder = root / name
            folder.mkdir(exist_ok=True)
            result = run_fresh(python, threads, name, folder)
            least[threads], unit = min(least[threads], result["wall"]), str(result["unit"])
    shutil.rmtree(root / name)
    return f"| {name} | {unit} | {least[1]:.3g} | {least[2]:.3g} | {least[1] / least[2]:.2f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--here", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    if options.here:
        threads, name, folder = options.here.split(",", 2)
        run_here(int(threads), name, Path(folder))
        return
    from environments import work_folder

    root = Path(tempfile.mkdtemp(prefix="zarr-bench-", dir=work_folder()))
    try:
        (root / "inputs").mkdir()
        os.environ["ZARR_BENCH_INPUTS"] = str(root / "inputs")
        print(*HEADING, sep="\n")
        for name in ROWS:
            print(measure_row(options.python, name, options.rounds, root), flush=True)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        print(f"\nOn {cores} cores, load {os.getloadavg()[0]:.1f} at the end.")
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
