"""Rows on reads without shards."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from growth_rows.places import new_folder
from growth_rows.row import Call, Row, sizes
from growth_rows.shards import memory, sqlite, zip_file


def one_chunk(count: int) -> Call:
    """Return what reads one element of an array of so many chunks, of which one is stored."""
    import zarr

    array = zarr.create_array(memory(), shape=(10 * count,), chunks=(10,), dtype="i4")
    array[70:80] = 1
    return lambda: array[75]


def all_chunks(count: int) -> Call:
    """Return what reads an array of so many chunks, all stored."""
    array = chunks(count)
    array[:] = np.arange(10 * count)
    return lambda: array[:]


def write_all(count: int) -> Call:
    """Return what writes an array of so many chunks."""
    array, values = chunks(count), np.arange(1, 10 * count + 1)

    def call() -> None:
        array[:] = values

    return call


def chunks(count: int) -> Any:
    """Return an array of so many chunks of ten elements, in memory."""
    import zarr

    return zarr.create_array(memory(), shape=(10 * count,), chunks=(10,), dtype="i4", compressors=None)


def points(count: int) -> Call:
    """Return what reads so many points at random places."""
    import zarr

    array = zarr.create_array(memory(), shape=(10_000_000,), chunks=(100_000,), dtype="i4")
    array[:] = np.arange(10_000_000)
    places = np.random.default_rng(0).integers(0, 10_000_000, count)
    return lambda: array.vindex[places]


def strings(count: int) -> Call:
    """Return what reads so many strings."""
    import zarr

    array = zarr.create_array(memory(), shape=(count,), chunks=(100_000,), dtype=str)
    array[:] = np.arange(count).astype(str)
    return lambda: array[:]


def mask(count: int) -> Call:
    """Return what reads by a mask of so many elements, of which a hundred are wanted."""
    import zarr

    array = zarr.create_array(memory(), shape=(count,), chunks=(count // 10,), dtype="i1")
    wanted = np.zeros(count, bool)
    wanted[:: count // 100] = True
    return lambda: array.vindex[wanted]


def large_chunk(count: int) -> tuple[Any, np.ndarray[Any, Any]]:
    """Return an array of one chunk of so many bytes in a folder, and values that compress well."""
    import zarr

    values = np.resize(np.arange(1, 1000, dtype="i4"), count // 4)
    return zarr.create_array(new_folder(), shape=values.shape, chunks=values.shape, dtype="i4"), values


def read_large(count: int) -> Call:
    """Return what reads one chunk of so many bytes."""
    array, values = large_chunk(count)
    array[:] = values
    return lambda: array[:]


def write_large(count: int) -> Call:
    """Return what writes one chunk of so many bytes."""
    array, values = large_chunk(count)

    def call() -> None:
        array[:] = values

    return call


def entries(make: Callable[[], Any]) -> Callable[[int], Call]:
    """Return what makes the reading of an element in a store of so many entries."""

    def made(count: int) -> Call:
        import zarr

        array = zarr.create_array(make(), shape=(10 * count,), chunks=(10,), dtype="i4", compressors=None)
        array[:] = np.arange(1, 10 * count + 1)
        return lambda: array[7 * count + 5]

    return made


def threads(count: int) -> Call:
    """Return what reads 3,200 elements in so many threads."""
    import zarr

    array = zarr.create_array(memory(), shape=(1000,), chunks=(10,), dtype="i4")
    array[:] = np.arange(1000)

    def read() -> None:
        for place in range(3200 // count):
            array[place % 1000]

    def call() -> None:
        workers = [threading.Thread(target=read) for _ in range(count)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    return call


ROWS = {
    "an element; chunks in an array": Row(one_chunk, sizes(10_000)),
    "read all; chunks in an array": Row(all_chunks, sizes(10_000)),
    "write all; chunks in an array": Row(write_all, sizes(10_000)),
    "an element; entries of a zip file": Row(entries(zip_file), sizes(1_000)),
    "an element; entries of an SQLite file": Row(entries(sqlite), sizes(1_000)),
    "vindex; points": Row(points, sizes(100_000)),
    "read all; strings": Row(strings, sizes(100_000)),
    "vindex by a mask; elements": Row(mask, sizes(10_000_000)),
    "read a chunk; bytes": Row(read_large, sizes(10_000_000)),
    "write a chunk; bytes": Row(write_large, sizes(10_000_000)),
    "3,200 elements; threads": Row(threads, (1, 8, 32)),
}
