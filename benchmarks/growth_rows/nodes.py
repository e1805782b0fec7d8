"""Rows on groups, hierarchies, consolidated metadata, and the objects of arrays."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from growth_rows.places import new_folder
from growth_rows.row import Call, Row, sizes
from growth_rows.shards import memory


def hierarchy(count: int, store: Any) -> Any:
    """Return the root of a consolidated hierarchy with so many nodes in groups of 100."""
    import zarr

    array = zarr.create_array(memory(), shape=(100,), chunks=(10,), dtype="i4").metadata
    group = zarr.create_group(memory()).metadata
    groups = max(count // 100, 1)
    nodes: dict[str, Any] = {f"g{number}": group for number in range(groups)}
    nodes |= {f"g{number % groups}/a{number}": array for number in range(count - groups)}
    for _ in zarr.create_hierarchy(store=store, nodes=nodes):
        pass
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return zarr.consolidate_metadata(store)


def local() -> Any:
    """Return a store in an empty folder."""
    import zarr

    return zarr.storage.LocalStore(new_folder())


def create(make: Callable[[], Any]) -> Callable[[int], Call]:
    """Return what makes the creation of an array beside so many consolidated nodes."""

    def made(count: int) -> Call:
        root, numbers = hierarchy(count, make()), itertools.count()
        return lambda: root.create_array(f"g0/new{next(numbers)}", shape=(5,), chunks=(5,), dtype="i4")

    return made


def attribute(make: Callable[[], Any]) -> Callable[[int], Call]:
    """Return what makes the setting of an attribute beside so many consolidated nodes."""

    def made(count: int) -> Call:
        array, numbers = hierarchy(count, make())["g0/a0"], itertools.count()
        return lambda: array.update_attributes({"x": next(numbers)})

    return made


def append(make: Callable[[], Any]) -> Callable[[int], Call]:
    """Return what makes an append beside so many consolidated nodes."""

    def made(count: int) -> Call:
        array = hierarchy(count, make())["g0/a0"]
        return lambda: array.append(np.ones(10, "i4"))

    return made


def delete(make: Callable[[], Any]) -> Callable[[int], Call]:
    """Return what makes the creation of an array and its removal, through one group."""

    def made(count: int) -> Call:
        group = hierarchy(count, make())

        def call() -> None:
            group.create_array("g0/new", shape=(5,), chunks=(5,), dtype="i4", overwrite=True)
            del group["g0/new"]

        return call

    return made


def stale_delete(count: int) -> Call:
    """Return what removes an array through a group that was opened before another group created it."""
    import zarr

    old = hierarchy(count, memory())
    other = zarr.open_group(old.store, mode="r+", use_consolidated=False)

    def call() -> None:
        other.create_array("g0/new", shape=(5,), chunks=(5,), dtype="i4")
        del old["g0/new"]

    return call


def transaction(count: int) -> Call:
    """Return what creates 20 arrays in a transaction."""
    import zarr

    store, numbers = hierarchy(count, memory()).store, itertools.count()

    def call() -> None:
        with zarr.transaction(store) as changes:
            for _ in range(20):
                zarr.create_array(changes, name=f"g0/new{next(numbers)}", shape=(5,), chunks=(5,), dtype="i4")

    return call


def hierarchy_of_20(count: int) -> Call:
    """Return what creates 20 arrays by ``create_hierarchy``."""
    import zarr

    store, numbers = hierarchy(count, memory()).store, itertools.count()
    array = zarr.create_array(memory(), shape=(5,), chunks=(5,), dtype="i4").metadata

    def call() -> None:
        nodes = {f"g0/new{next(numbers)}": array for _ in range(20)}
        for _ in zarr.create_hierarchy(store=store, nodes=nodes):
            pass

    return call


def members(count: int) -> Call:
    """Return what lists the arrays of a group of so many, without consolidated metadata."""
    import zarr

    store = memory()
    array = zarr.create_array(memory(), shape=(100,), chunks=(10,), dtype="i4").metadata
    for _ in zarr.create_hierarchy(store=store, nodes={f"a{number}": array for number in range(count)}):
        pass
    group = zarr.open_group(store, mode="r")
    return lambda: sum(1 for _ in group.arrays())


def deep(count: int) -> Call:
    """Return what creates an array below so many groups, and opens it from the root."""
    import zarr

    def call() -> Any:
        root = zarr.create_group(memory())
        name = "/".join(f"g{number}" for number in range(count))
        root.create_array(f"{name}/x", shape=(5,), chunks=(5,), dtype="i4")
        return root[f"{name}/x"][0], len(list(root.members(max_depth=None)))

    return call


def held(count: int) -> Call:
    """Return what measures the bytes that an array object takes once it was used."""
    import zarr

    root = zarr.create_group(memory())
    array = zarr.create_array(memory(), shape=(100,), chunks=(10,), dtype="i4").metadata
    for _ in zarr.create_hierarchy(store=root.store, nodes={f"a{number}": array for number in range(count + 1)}):
        pass

    def call() -> float:
        root[f"a{count}"][5]
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        arrays = [root[f"a{number}"] for number in range(count)]
        for opened in arrays:
            opened[5]
        taken = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        return taken / 1024

    return call


_FIRST = """
import sys, time, numpy, zarr
start = time.process_time()
for number in range(int(sys.argv[1])):
    array = zarr.create_array(store={}, shape=(100,), chunks=(10,), dtype="i4")
    array[:] = 1
    array[:]
print((time.process_time() - start) * 1000)
"""


def first(count: int) -> Call:
    """Return what creates, writes and reads so many arrays in a new process; its CPU time after the import."""
    command = [sys.executable, "-P", "-W", "ignore", "-c", _FIRST, str(count)]
    # Installed packages have compiled modules: without them the source of each module is compiled at each start.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["OPENBLAS_NUM_THREADS"] = "1"  # NumPy's other threads wait by spinning for a while after its import
    return lambda: float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


CONSOLIDATED = sizes(200)
ROWS = {
    **{
        f"{name}, {place}; consolidated nodes": Row(make(store), CONSOLIDATED)
        for place, store in (("memory", memory), ("local", local))
        for name, make in (
            ("create", create),
            ("set an attribute", attribute),
            ("append", append),
            ("create and delete", delete),
        )
    },
    "delete what another group created; consolidated nodes": Row(stale_delete, CONSOLIDATED),
    "20 creates in a transaction; consolidated nodes": Row(transaction, CONSOLIDATED),
    "20 arrays by create_hierarchy; consolidated nodes": Row(hierarchy_of_20, CONSOLIDATED),
    "list; arrays in a group": Row(members, sizes(1_000)),
    "create and open; groups above an array": Row(deep, (2, 20, 200)),
    "used array objects": Row(held, sizes(10), "KB"),
    "create, write, read in a new process; arrays": Row(first, sizes(1)),
}
