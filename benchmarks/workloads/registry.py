"""Define, register and time workloads."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Run = Callable[[], Any]
Prepared = tuple[Run, int, str]
"""The function to time, the number of units in one run, and the unit."""
Prepare = Callable[[Any, Path], Prepared]

PEERS = ("ours", "z34", "fused", "zarrs", "z2", "ts", "h5py", "limit")
QUICK = os.environ.get("ZARR_BENCH_QUICK", "") not in ("", "0")
"""Small inputs: for a look at changes, not for figures that are published."""

BUDGET = 1.0
"""Seconds after which a run is not repeated in its process: the rounds repeat it."""

INPUTS = os.environ.get("ZARR_BENCH_INPUTS", "")
"""A folder for inputs that all processes of a comparison load; without it each makes its own."""

RNG = np.random.default_rng(0)
SCALE = {"us": 1e6, "us/chunk": 1e6, "us/row": 1e6, "ms": 1e3, "s": 1.0, "ns": 1e9}
RATIO = "x array"
"""The unit of workloads that measure memory themselves: their runs return the figure."""


@dataclass(frozen=True)
class Workload:
    """One row of the table.

    Attributes
    ----------
    name : str
    theme : str
        The file that it stands in.
    prepare : callable
        Makes the input in a folder and returns what to time.
    peers : frozenset of str
        Who can run it.
    repeats : int
        How often it is timed in one process.
    over_best, over_default : float
        The goals: how far ahead of the best peer, and of zarr-python 3.4's default.
    cold : bool
        Timed once, without a run to warm up, and given the peer's name: the peer is not imported before.
    keeps : str
        What it reads and leaves as it is: a folder of that name is kept for the rounds, and for other rows that name
        the same. Empty: each run has a folder of its own.
    """

    name: str
    theme: str
    prepare: Prepare
    peers: frozenset[str]
    repeats: int
    over_best: float
    over_default: float | None
    cold: bool
    keeps: str


WORKLOADS: dict[str, Workload] = {}


def add(
    name: str,
    prepare: Prepare,
    *,
    leave_out: str = "limit",
    repeats: int = 5,
    best: float = 1.0,
    default: float | None = None,
    cold: bool = False,
    keeps: str = "",
) -> None:
    """Register a workload.

    Parameters
    ----------
    name : str
    prepare : callable
    leave_out : str
        The peers that cannot run it.
    repeats : int
    best, default : float
        The goals over the best peer and over zarr-python 3.4's default.
    cold : bool
    keeps : str
        "own", or a name that rows share.
    """
    peers = frozenset(PEERS) - set(leave_out.split())
    theme = sys._getframe(1).f_globals["__name__"].rpartition(".")[2]
    keeps = name if keeps == "own" else keeps
    WORKLOADS[name] = Workload(name, theme, prepare, peers, 1 if cold else repeats, best, default, cold, keeps)


def smooth(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return float32 data that compresses like a measured field does: the same in every process."""
    file = Path(INPUTS) / f"smooth-{'x'.join(map(str, shape))}.npy" if INPUTS else None
    if file is not None and file.exists():
        loaded: np.ndarray[Any, Any] = np.load(file)
        return loaded
    steps = np.random.default_rng(1).standard_normal(int(np.prod(shape)), dtype="f4")
    values = np.round(np.cumsum(steps).reshape(shape), 2)
    if file is not None:
        np.save(file.with_suffix(".part.npy"), values)
        file.with_suffix(".part.npy").rename(file)
    return values


def stored(peer: Any, folder: Path, spec: dict[str, Any], values: Callable[[], Any], name: str = "array") -> Any:
    """Return an open array that holds some values, written by the peer itself unless an earlier round did so."""
    if not (folder / f"{name}.made").exists():
        peer.write(peer.create(folder / name, spec), ..., values())
        (folder / f"{name}.made").touch()
    return peer.open(folder / name)


def time_run(run: Run, repeats: int, warm: bool = True) -> tuple[float, float]:
    """Return the least CPU and wall seconds of some runs, after one to warm up.

    There are as many as asked for, or as fit into the budget, and one at least.
    """
    if warm:
        run()
    cpu, wall = [], []
    while len(cpu) < repeats and sum(wall) < BUDGET:
        start_cpu, start = time.process_time(), time.perf_counter()
        run()
        cpu.append(time.process_time() - start_cpu)
        wall.append(time.perf_counter() - start)
    return min(cpu), min(wall)


def measure(workload: Workload, peer: Any, folder: Path) -> dict[str, Any]:
    """Prepare and time one workload; the figures are per unit."""
    run, units, unit = workload.prepare(peer, folder)
    if unit == RATIO:
        figure = run()
        return {"cpu": figure, "wall": figure, "unit": unit}
    cpu, wall = time_run(run, workload.repeats, warm=not workload.cold)
    scale = SCALE[unit] / units
    return {"cpu": cpu * scale, "wall": wall * scale, "unit": unit}
