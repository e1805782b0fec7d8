"""Peak memory of a process, as a multiple of the array that is read or written.

The array is made in a forked child, so that nothing of the making counts. The peak is the kernel's own figure
(``VmHWM``, set back before the operation); what was resident before is taken off. For a write the array that is
written counts, once: the least possible is 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from workloads.bulk import BIG
from workloads.registry import RATIO, Prepare, Prepared, add, smooth, stored
from workloads.shards import SHARDS

STATUS = Path("/proc/self/status")


def in_child(function: Callable[[], Any]) -> None:
    """Run something in a fork; no thread is running yet."""
    child = os.fork()
    if child == 0:
        try:
            function()
            os._exit(0)
        except BaseException:  # whatever it is, the child must not go on as a second parent
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise SystemExit("the array could not be made")


def resident(field: str) -> int:
    """Return VmRSS or VmHWM in bytes."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"no {field} in {STATUS}")


def peak(action: Callable[[], Any], nbytes: int, counted: int) -> float:
    """Return the peak over what was resident, in multiples of the array."""
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    kept = action()
    del kept
    return (resident("VmHWM") - before + counted) / nbytes


def prepare_for(direction: str, codec: str, **more: Any) -> Prepare:
    """Return the workload of reading or writing a big array whole."""
    spec: dict[str, Any] = {**BIG, "codec": codec, **more}
    nbytes = int(np.prod(spec["shape"])) * 4

    def prepare(peer: Any, folder: Path) -> Prepared:
        if direction == "read":
            in_child(lambda: stored(peer, folder, spec, lambda: smooth(spec["shape"])))
            array = peer.open(folder / "array")
            return (lambda: peak(lambda: peer.read(array), nbytes, 0)), 1, RATIO
        in_child(lambda: peer.create(folder / "big", spec))
        values = smooth(spec["shape"])
        array = peer.open(folder / "big")
        return (lambda: peak(lambda: peer.write(array, ..., values), nbytes, nbytes)), 1, RATIO

    return prepare


add("peak_of_full_read", prepare_for("read", "zstd"), leave_out="h5py limit", keeps="big_zstd")
add("peak_of_full_write", prepare_for("write", "zstd"), leave_out="h5py limit")
add("peak_of_shard_read", prepare_for("read", "blosc", **SHARDS), leave_out="z2 h5py limit", keeps="own")
add("peak_of_shard_write", prepare_for("write", "blosc", **SHARDS), leave_out="z2 h5py limit")
