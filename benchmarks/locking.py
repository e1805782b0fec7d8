"""What locking costs: the same operations with the locks of chunks and without, interleaved, the least time of each.

    python benchmarks/locking.py
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np

import zarr
from zarr.runners.inline import InlineRunner
from zarr.runners.locks import Holder

ROUNDS = 30


@contextlib.contextmanager
def locking_off() -> Iterator[None]:
    """For measuring only: two who write parts of one chunk undo each other in here."""
    with (
        patch.object(Holder, "acquire", lambda self, *args: None),
        patch.object(InlineRunner, "_transfer_locked", lambda self, request, above: self.transfer(request)),
    ):
        yield


def operations(store: Any, shards: Any) -> dict[str, Callable[[], Any]]:
    array = zarr.create_array(store, shape=(1024, 1024), chunks=(128, 128), shards=shards, dtype="f4", overwrite=True)
    value = np.random.default_rng(0).normal(size=(1024, 1024)).astype("f4").round(1)
    array[...] = value
    return {
        "write all chunks": lambda: array.__setitem__(..., value),
        "write one chunk": lambda: array.__setitem__((slice(0, 128), slice(0, 128)), value[:128, :128]),
        "read all": lambda: array[...],
        "read a part": lambda: array[100:300, 100:300],
        "read an element": lambda: array[7, 9],
    }


def seconds_of(action: Callable[[], Any]) -> float:
    begin = time.process_time()
    for _ in range(3):
        action()
    return time.process_time() - begin


def compare(action: Callable[[], Any]) -> float:
    """By how much the locks make an operation dearer: 0.01 is one per cent."""
    on, off = [], []
    for _ in range(ROUNDS):
        on.append(seconds_of(action))
        with locking_off():
            off.append(seconds_of(action))
    return min(on) / min(off) - 1


def main() -> None:
    for name, shards in (("plain", None), ("sharded", (512, 512))):
        for place in ("memory", "local"):
            with tempfile.TemporaryDirectory() as folder:
                store = zarr.storage.MemoryStore() if place == "memory" else zarr.storage.LocalStore(folder)
                for what, action in operations(store, shards).items():
                    print(f"{place:8}{name:9}{what:18}{100 * compare(action):+6.1f} %", flush=True)


if __name__ == "__main__":
    main()
