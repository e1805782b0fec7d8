"""Threads that share jobs, programs, plans and kept indexes of the core, compared with NumPy; for ThreadSanitizer.

``bash ci/sanitize.sh PYTHON thread`` runs it on a core that is built with it.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import zarr
import zarr_core
from zarr.storage import LocalStore, MemoryStore

THREADS = 6
ROUNDS = 20
CODECS = ({"compressors": None}, {"compressors": zarr.codecs.ZstdCodec()}, {"compressors": zarr.codecs.BloscCodec()})


def together(work: Callable[[int], None]) -> None:
    """Run work in some threads at once, for some rounds; the first error is raised."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(THREADS)

    def run(number: int) -> None:
        try:
            barrier.wait()
            for _ in range(ROUNDS):
                work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def share_arrays(store: Any, **layout: Any) -> None:
    """Read and write one array: each thread its own columns, all of them parts of the same chunks."""
    values = np.arange(256 * 240, dtype="i4").reshape(256, 240)
    array = zarr.create_array(store, data=values, chunks=(16, 20), **layout)
    width = values.shape[1] // THREADS

    def work(number: int) -> None:
        columns = slice(number * width, (number + 1) * width)
        array[:, columns] = values[:, columns]
        np.testing.assert_array_equal(array[...], values)
        np.testing.assert_array_equal(array[7:200:3, columns], values[7:200:3, columns])
        np.testing.assert_array_equal(array[number * 16, number * 20], values[number * 16, number * 20])

    together(work)


def share_program() -> None:
    """Encode and decode by one program."""
    program = zarr_core.Program(4, 0, None, [("shuffle", {"elementsize": 4}), ("zstd", {"level": 1})])
    chunk = np.arange(40_000, dtype="i4")

    def work(number: int) -> None:
        stored = program.encode((chunk + number).tobytes())
        np.testing.assert_array_equal(program.decode(stored, chunk.nbytes).view("i4"), chunk + number)

    together(work)


if __name__ == "__main__":
    share_program()
    for codecs in CODECS:
        for shards in (None, (64, 120)):
            share_arrays(MemoryStore(), shards=shards, **codecs)
            with tempfile.TemporaryDirectory() as folder, zarr.config.set({"threading.max_workers": 3}):
                share_arrays(LocalStore(Path(folder)), shards=shards, **codecs)
    print("shared by threads, and equal to NumPy")
