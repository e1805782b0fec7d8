"""Run the same workloads against this library and its peers, interleaved, and print the ratios.

    python benchmarks/compare.py [PYTHON ...] [--only NAME,NAME] [--rounds 5] [--peers z34,z2,ts] [--save] [--quick]
                                 [--json FILE] [--parts FILE,FILE]

PYTHON is an interpreter that has this library installed (default: the one that runs this script); more interpreters
are further builds of it (``ours``, ``ours2`` …). The peers' environments are made under ``.bench`` when they are
missing: zarr-python 3.4.2 with tensorstore, zarrs and h5py on Python 3.13, and zarr 2.18.7 on Python 3.11. The
``limit`` is a C loop that is compiled with gcc. Every run is a fresh process. ``--save`` writes the tables to
``benchmarks/RESULTS.md``; ``--quick`` takes small inputs, for a look and not for figures. A run can be made in parts:
``--json`` keeps the figures of each row as soon as it is measured, and what ``--parts`` name is not measured again.
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
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


class Folders:
    """The folders of inputs: one for all, made at the first need, and one that each row and peer reads from."""

    def __init__(self) -> None:
        from environments import work_folder

        self.root = Path(tempfile.mkdtemp(prefix="zarr-bench-", dir=work_folder()))
        (self.root / "inputs").mkdir()
        os.environ["ZARR_BENCH_INPUTS"] = str(self.root / "inputs")

    def folder(self, keeps: str, peer: str) -> Path:
        """Return the folder of one run; without a name to be kept by it is a new one."""
        if not keeps:
            return Path(tempfile.mkdtemp(dir=self.root))
        path = self.root / "kept" / keeps / peer
        path.mkdir(parents=True, exist_ok=True)
        return path

    def drop(self, keeps: str) -> None:
        """Remove what was kept by a name."""
        shutil.rmtree(self.root / "kept" / keeps, ignore_errors=True)

    def close(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.root, ignore_errors=True)


def run_once(python: str, peer: str, workload: str, folder: Path) -> dict[str, Any] | None:
    """Run one workload in a fresh process; None where it fails."""
    kind = "ours" if peer.startswith("ours") else peer
    command = [python, "-W", "ignore", "-m", "workloads", kind, workload, str(folder)]
    # Nothing of the caller's Python settings: a run without cached bytecode would measure the compiler.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=HERE, timeout=900, env=clean)
    if done.returncode:
        print(f"  {peer} {workload}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    result: dict[str, Any] | None = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def measure_row(name: str, pythons: dict[str, str], rounds: int, folders: Folders) -> dict[str, list[dict[str, Any]]]:
    """Run one workload with every peer that offers it in turn, round by round."""
    from workloads import WORKLOADS

    workload, row = WORKLOADS[name], {}
    for _ in range(rounds):
        for peer, python in pythons.items():
            if ("ours" if peer.startswith("ours") else peer) not in workload.peers:
                continue
            folder = folders.folder(workload.keeps, peer)
            result = run_once(python, peer, name, folder)
            if not workload.keeps:
                shutil.rmtree(folder, ignore_errors=True)
            if result is not None:
                row.setdefault(peer, []).append(result)
    return row


def measure(pythons: dict[str, str], names: list[str], rounds: int, known: Any, file: Path | None) -> Any:
    """Run every workload that is not known from an earlier part; print a line for each, and keep them in a file."""
    from report import format_row
    from workloads import WORKLOADS

    figures: Any = {}
    folders = Folders()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing is left behind
    try:
        for at, name in enumerate(names):
            figures[name] = known.get(name) or measure_row(name, pythons, rounds, folders)
            print(format_row(name, figures[name], list(pythons), "cpu"), flush=True)
            keeps = WORKLOADS[name].keeps
            if all(WORKLOADS[later].keeps != keeps for later in names[at + 1 :]):
                folders.drop(keeps)
            if file is not None:
                file.write_text(json.dumps(figures))
    finally:
        folders.close()
    return figures


def read_parts(files: str) -> Any:
    """Return the figures of earlier parts of a run; the later ones count where two have the same row."""
    known: Any = {}
    for file in files.split(","):
        if file and Path(file).exists():
            known.update(json.loads(Path(file).read_text()))
    return known


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    parser.add_argument("--only", default="", help="comma-separated workloads or themes, or parts of their names")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default="z34,fused,zarrs,z2,ts,h5py,limit")
    parser.add_argument("--save", action="store_true", help="write benchmarks/RESULTS.md")
    parser.add_argument("--remote", action="store_true", help="with --save: measure stores over a network, too")
    parser.add_argument("--json", type=Path, help="write the figures there, too, row by row")
    parser.add_argument("--parts", default="", help="comma-separated files of --json with rows that are measured")
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
    figures = measure(pythons, chosen, options.rounds, read_parts(options.parts), options.json)
    print("\nshort of the goal:", *shortfalls(figures), sep="\n")
    if options.save:
        save(figures, pythons, options.rounds, machine, options.remote)


if __name__ == "__main__":
    main()
