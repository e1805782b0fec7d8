"""Rows on changes of the shape of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from growth_rows.places import obstore_memory
from growth_rows.row import Call, Row, Timed, sizes
from growth_rows.shards import memory, sqlite


def rectilinear(count: int) -> Call:
    """Return what appends to an array of so many chunks of two lengths."""
    import zarr

    zarr.config.set({"array.rectilinear_chunks": True})
    edges = [10] * (count // 2) + [7] * (count - count // 2)
    array = zarr.create_array(memory(), shape=(sum(edges),), chunks=[edges], dtype="i4")
    return lambda: array.append(np.ones(7, "i4"))


def shrink(make: Callable[[], Any]) -> Callable[[int], Timed]:
    """Return what makes the shrinking of an array by so many stored chunks."""

    def made(count: int) -> Timed:
        import zarr

        array = zarr.create_array(make(), shape=(10 * count + 10,), chunks=(10,), dtype="i4", compressors=None)

        def before() -> None:
            array.resize((10 * count + 10,))
            array[:] = 1

        return Timed(lambda: array.resize((10,)), before)

    return made


def grow(count: int) -> Timed:
    """Return what grows an array by so many chunks in an object store, where it was as long before."""
    import zarr

    array = zarr.create_array(obstore_memory(), shape=(10,), chunks=(10,), dtype="i4")
    return Timed(lambda: array.resize((10 * count,)), lambda: array.resize((10,)))


ROWS = {
    "append; rectilinear chunks": Row(rectilinear, sizes(3_000)),
    "shrink, memory; removed chunks": Row(shrink(memory), sizes(1_000)),
    "shrink, SQLite; removed chunks": Row(shrink(sqlite), sizes(1_000)),
    "grow, obstore; new chunks": Row(grow, sizes(1_000)),
}
