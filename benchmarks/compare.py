"""Run the same workloads against this library and its peers, interleaved, and print the ratios.

    python benchmarks/compare.py [PYTHON ...] [--only NAME,NAME] [--rounds 5] [--peers z34,z2,ts] [--save] [--quick]

PYTHON is an interpreter that has this library installed (default: the one that runs this script); more interpreters
are further builds of it (``ours``, ``ours2`` …). The peers' environments are made under ``.bench`` when they are
missing: zarr-python 3.4.2 with tensorstore, zarrs and h5py on Python 3.13, and zarr 2.18.7 on Python 3.11. The
``limit`` is a C loop that is compiled with gcc. Every run is a fresh process. ``--save`` writes the tables to
``benchmarks/RESULTS.md``; ``--quick`` takes small inputs, for a look and not for figures.
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
from typing import Any

HERE = Path(__file__).resolve().parent


def run_once(python: str, peer: str, workload: str) -> dict[str, Any] | None:
    """Run one workload in a fresh process; None where the peer does not offer it."""
    from environments import work_folder

    folder = tempfile.mkdtemp(prefix="zarr-bench-", dir=work_folder())
    kind = "ours" if peer.startswith("ours") else peer
    command = [python, "-W", "ignore", "-m", "workloads", kind, workload, folder]
    # Nothing of the caller's Python settings: a run without cached bytecode would measure the compiler.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=HERE, timeout=900, env=clean)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if done.returncode:
        print(f"  {peer} {workload}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    result: dict[str, Any] | None = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def measure(pythons: dict[str, str], names: list[str], rounds: int) -> Any:
    """Run every workload with every peer in turn, round by round; print a line for each workload."""
    from report import format_row

    figures: Any = {name: {} for name in names}
    for name in names:
        for _ in range(rounds):
            for peer, python in pythons.items():
                result = run_once(python, peer, name)
                if result is not None:
                    figures[name].setdefault(peer, []).append(result)
        print(format_row(name, figures[name], list(pythons), "cpu"), flush=True)
    return figures


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    parser.add_argument("--only", default="", help="comma-separated workloads or themes, or parts of their names")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default="z34,fused,zarrs,z2,ts,h5py,limit")
    parser.add_argument("--save", action="store_true", help="write benchmarks/RESULTS.md")
    parser.add_argument("--remote", action="store_true", help="with --save: measure stores over a network, too")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    parser.add_argument("--quick", action="store_true", help="small inputs")
    return parser.parse_args()


def main() -> None:
    """Measure, print, save."""
    options = parse_arguments()
    if options.quick:
        os.environ["ZARR_BENCH_QUICK"] = "1"
    sys.path.insert(0, str(HERE))
    from environments import describe_machine, interpreters
    from report import heading, save, shortfalls
    from workloads import WORKLOADS

    parts = [part for part in options.only.split(",") if part]
    chosen = [
        name
        for name, workload in WORKLOADS.items()
        if not parts or any(part in name or part == workload.theme for part in parts)
    ]
    pythons = interpreters(options.pythons, [peer for peer in options.peers.split(",") if peer])
    machine = describe_machine()
    print(*heading(list(pythons)), sep="\n")
    figures = measure(pythons, chosen, options.rounds)
    print("\nshort of the goal:", *shortfalls(figures), sep="\n")
    if options.json:
        options.json.write_text(json.dumps(figures))
    if options.save:
        save(figures, pythons, options.rounds, machine, options.remote)


if __name__ == "__main__":
    main()
