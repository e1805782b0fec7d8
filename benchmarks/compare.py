"""Run the same workloads against this library and its peers, interleaved, and print the ratios.

    python benchmarks/compare.py [PYTHON ...] [--only NAME,NAME] [--rounds 5] [--peers ours,z34,z2,ts,h5py]

PYTHON is an interpreter that has this library installed (default: the one that runs this script); more interpreters
are further builds of it (``ours``, ``ours2`` …). The peers' environments are made under ``.bench`` when they are
missing: zarr-python 3.4.2 with tensorstore, zarrs and h5py on Python 3.13, and zarr 2.18.7 on Python 3.11. Every run
is a fresh process; a figure is the median over the rounds of the least run in each process. CPU time counts all
threads: on a shared machine its ratios hold where wall times do not. Writes a table to ``benchmarks/RESULTS.md``
with ``--save``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCH = HERE.parent / ".bench"
REQUIREMENTS = {
    "new": ("3.13", ["zarr==3.4.2", "tensorstore==0.1.86", "zarrs==0.2.3", "h5py"]),
    "old": ("3.11", ["zarr==2.18.7", "numcodecs==0.15.1"]),
}
ENVIRONMENT_OF = {"z34": "new", "fused": "new", "zarrs": "new", "ts": "new", "h5py": "new", "z2": "old"}
Figures = dict[str, dict[str, list[dict[str, float]]]]  # workload -> peer -> one result a round


def find_python(version: str) -> str:
    """Return an interpreter of that version: on the path, or under pyenv."""
    found = shutil.which(f"python{version}")
    if found and subprocess.run([found, "-c", ""], check=False, capture_output=True).returncode == 0:
        return found
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    if not candidates:
        raise SystemExit(f"no Python {version} found: the peers need it")
    return str(candidates[-1])


def make_environment(name: str) -> str:
    """Return the interpreter of a peer environment, making it at the first call."""
    version, requirements = REQUIREMENTS[name]
    python = BENCH / name / "bin" / "python"
    if not python.exists():
        subprocess.run([find_python(version), "-m", "venv", str(BENCH / name)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *requirements], check=True)
    return str(python)


def run_once(python: str, peer: str, workload: str) -> dict[str, float] | None:
    """Run one workload in a fresh process; None where the peer does not offer it."""
    folder = tempfile.mkdtemp(prefix="zarr-bench-")
    kind = "ours" if peer.startswith("ours") else peer
    command = [python, "-W", "ignore", str(HERE / "workloads.py"), kind, workload, folder]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=HERE, timeout=900)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if done.returncode:
        print(f"  {peer} {workload}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    result: dict[str, float] | None = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def measure(pythons: dict[str, str], workloads: list[str], rounds: int) -> Figures:
    """Run every workload with every peer in turn, round by round."""
    figures: Figures = {name: {} for name in workloads}
    for name in workloads:
        for _ in range(rounds):
            for peer, python in pythons.items():
                result = run_once(python, peer, name)
                if result is not None:
                    figures[name].setdefault(peer, []).append(result)
        print(format_row(name, figures[name], list(pythons)), flush=True)
    return figures


def middle(results: list[dict[str, float]], clock: str) -> float:
    """Return the median over the rounds."""
    return statistics.median(result[clock] for result in results)


def best_ratio(row: dict[str, list[dict[str, float]]], clock: str) -> float | None:
    """Return best peer / ours: above 1, ours is ahead of everyone."""
    peers = [middle(results, clock) for peer, results in row.items() if not peer.startswith("ours")]
    if "ours" not in row or not peers:
        return None
    return min(peers) / middle(row["ours"], clock)


def format_row(name: str, row: dict[str, list[dict[str, float]]], peers: list[str]) -> str:
    """Return one line of the table: CPU figures, the ratio to the default of zarr-python 3.4, to the best peer."""
    cells = [f"{middle(row[p], 'cpu'):.3g}" if p in row else "-" for p in peers]
    unit = next(iter(row.values()))[0]["unit"] if row else ""
    default = f"{middle(row['z34'], 'cpu') / middle(row['ours'], 'cpu'):.1f}" if {"z34", "ours"} <= set(row) else "-"
    best = best_ratio(row, "cpu")
    wall = best_ratio(row, "wall")
    tail = [default, f"{best:.2f}" if best else "-", f"{wall:.2f}" if wall else "-"]
    return "| " + " | ".join([name, str(unit), *cells, *tail]) + " |"


def describe_machine() -> str:
    """Return one line on the machine and its load."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, load {os.getloadavg()[0]:.1f}"


def versions(pythons: dict[str, str]) -> list[str]:
    """Return one line a peer with what is installed there."""
    code = (
        "import sys, importlib.metadata as m; print(sys.version.split()[0], "
        "*(f'{n} {m.version(n)}' for n in ('zarr','numcodecs','numpy','tensorstore','zarrs','h5py') "
        "if any(d.name == n for d in m.distributions())))"
    )
    lines = []
    for peer, python in pythons.items():
        done = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
        lines.append(f"- {peer}: Python {done.stdout.strip()}")
    return lines


def save(figures: Figures, pythons: dict[str, str], rounds: int) -> None:
    """Write benchmarks/RESULTS.md."""
    peers = list(pythons)
    head = ["workload", "unit", *peers, "z34 / ours", "best peer / ours", "the same, wall"]
    lines = [
        "# Measured side by side",
        "",
        f"CPU time of the process, all threads; median of {rounds} rounds, fresh processes, interleaved. "
        "Ratios above 1: this library is ahead.",
        "",
        f"Machine: {describe_machine()}",
        "",
        *versions(pythons),
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *(format_row(name, row, peers) for name, row in figures.items()),
        "",
        "Made by `python benchmarks/compare.py --save`.",
    ]
    (HERE / "RESULTS.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    """Parse the command line, measure, print, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    parser.add_argument("--only", default="", help="comma-separated workloads, or parts of their names")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default="z34,fused,zarrs,z2,ts,h5py")
    parser.add_argument("--save", action="store_true", help="write benchmarks/RESULTS.md")
    options = parser.parse_args()
    ours = {"ours" if i == 0 else f"ours{i + 1}": p for i, p in enumerate(options.pythons)}
    peers = [p for p in options.peers.split(",") if p]
    pythons = ours | {peer: make_environment(ENVIRONMENT_OF[peer]) for peer in peers}
    listing = subprocess.run(
        [options.pythons[0], "-c", "import workloads; print(*workloads.WORKLOADS)"],
        check=True, capture_output=True, text=True, cwd=HERE,
    ).stdout.split()  # fmt: skip
    parts = [part for part in options.only.split(",") if part]
    chosen = [name for name in listing if not parts or any(part in name for part in parts)]
    print("| " + " | ".join(["workload", "unit", *pythons, "z34 / ours", "best peer / ours", "the same, wall"]) + " |")
    figures = measure(pythons, chosen, options.rounds)
    if options.save:
        save(figures, pythons, options.rounds)


if __name__ == "__main__":
    main()
