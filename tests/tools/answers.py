"""What each tool says of, and makes of, the hierarchy of ``places.fill``, wherever that lies."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import zarr
from tests.tools.places import fill
from zarr.storage import MemoryStore, StorePath
from zarr.tools import (
    bench,
    checksum,
    coarsen,
    convert,
    copy,
    diff,
    plot,
    rechunk,
    reencode,
    repair,
    stats,
    to_dask,
    tune,
    verify,
)

ROWS = np.arange(1, 25).reshape(6, 4)


@cache
def reference(zarr_format: int) -> MemoryStore:
    store = MemoryStore()
    fill(store, zarr_format)
    return store


def _format(source: Any) -> int:
    return int(zarr.open_group(source, mode="r").metadata.zarr_format)


def _same_values(source: Any, made: Any) -> None:
    assert {each.aspect for each in diff(source, made)} <= {"chunks", "codecs", "shards", "format", "fill value"}


def check_copy(source: Any, target: Any) -> None:
    assert diff(source, copy(source, target)) == []
    assert verify(target)


def check_rechunk(source: Any, target: Any) -> None:
    made = rechunk(source, target, chunks={"a": (3, 4), "g/b": (10,)}, memory="1 MiB")
    _same_values(source, made)
    assert zarr.open_array(target, path="a", mode="r").chunks == (3, 4)


def check_reencode(source: Any, target: Any) -> None:
    _same_values(source, reencode(source, target, compressors=None))
    array: Any = zarr.open_array(target, path="g/b", mode="r")
    assert array.compressors == ()


def check_coarsen(source: Any, target: Any) -> None:
    made: Any = coarsen(zarr.open_array(source, path="a", mode="r"), target, method="max", levels=1)
    level: Any = made["1"]
    np.testing.assert_array_equal(level[...], ROWS.reshape(3, 2, 2, 2).max(axis=(1, 3)))


def check_dask(source: Any, target: Any) -> None:
    pytest.importorskip("dask.array", reason="dask is not installed")
    del target
    np.testing.assert_array_equal(to_dask(zarr.open_array(source, path="a", mode="r")).compute(scheduler="sync"), ROWS)


def check_verify(source: Any, target: Any) -> None:
    del target
    report = verify(source)
    assert report, str(report)
    assert (report.nodes, report.chunks) == ((7, 18) if _format(source) == 3 else (5, 12))


def check_repair(source: Any, target: Any) -> None:
    del target
    assert repair(source) == []


def check_checksum(source: Any, target: Any) -> None:
    del target
    assert checksum(source) == checksum(reference(_format(source)))


def check_diff(source: Any, target: Any) -> None:
    del target
    store = MemoryStore()
    fill(store, _format(source))
    zarr.open_array(store, path="a")[3, 1] = -1
    assert [(each.path, each.aspect, each.first, each.count) for each in diff(source, store)] == [
        ("a", "values", (3, 1), 1)
    ]


def check_stats(source: Any, target: Any) -> None:
    del target
    found: Any = stats(source)
    assert [str(each) for each in found] == [str(each) for each in stats(zarr.open_group(reference(_format(source))))]
    assert found[0].max == 24
    assert found[0].chunks_stored == 6


def check_convert(source: Any, target: Any) -> None:
    other: Any = 5 - _format(source)
    made = convert(source, target, zarr_format=other)
    assert _format(target) == other
    _same_values(source, made.result)


def check_tune(source: Any, target: Any) -> None:
    del target
    array = zarr.open_array(source, path="a", mode="r")
    found = tune(array, reads=["map", "line:0"], chunks=[(6, 4), (1, 4)], codecs=[], seconds=0.05)
    assert {row.chunks for row in found.rows} >= {found.best.chunks}
    assert {row.chunks for row in found.rows} <= {(6, 4), (1, 4), (2, 2)}


def check_bench(source: Any, target: Any) -> None:
    del target
    found = bench(zarr.open_array(source, path="a", mode="r"), reads=["chunks", "all"], write=True, seconds=0.05)
    rows = found.to_json()["rows"]
    assert [row["name"] for row in rows] == ["chunks", "all", "write"]
    assert all(row["count"] and row["seconds"] > 0 for row in rows)


def check_plot(source: Any, target: Any) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    figure = importlib.import_module("matplotlib.figure")
    del target
    axes = plot(zarr.open_array(source, path="a", mode="r"), ax=figure.Figure().subplots())
    np.testing.assert_array_equal(np.asarray(axes.images[0].get_array()), ROWS)


TOOLS: dict[str, Callable[[Any, Any], None]] = {
    name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")
}
"""A check of each tool: it is called with a store that is filled, and with an empty one."""


def _at(source: Any, path: str) -> StorePath:
    return StorePath(source, path)


REFUSED: dict[str, list[tuple[Callable[[Any, Any], Any], str]]] = {
    "copy": [
        (lambda source, target: copy(_at(source, "x"), target), "found"),
        (lambda source, target: copy(source, source, overwrite=True), "overlaps|read-only"),
        (lambda source, target: copy(_at(source, "g"), source, path="g/x"), "overlaps|read-only"),
        (lambda source, target: copy(source, target, memory="much"), "no number of bytes"),
    ],
    "rechunk": [
        (lambda source, target: rechunk(_at(source, "x"), target, chunks=2), "found"),
        (lambda source, target: rechunk(_at(source, "a"), target, chunks=2), "1 dimensions, the array has 2"),
        (lambda source, target: rechunk(source, target, chunks={"z": 2}), "no array and no dimension 'z'"),
        (lambda source, target: rechunk(_at(source, "a"), target, chunks=(6, 4), memory=8), "more memory"),
    ],
    "reencode": [
        (lambda source, target: reencode(_at(source, "x"), target), "found"),
        (lambda source, target: reencode(source, source, overwrite=True), "overlaps|read-only"),
    ],
    "coarsen": [
        (coarsen, "takes one array; it has a, "),
        (lambda source, target: coarsen(_at(source, "a"), target, method="best"), "method must be one of"),  # type: ignore[arg-type]
    ],
    "convert": [
        (lambda source, target: convert(_at(source, "x"), target, zarr_format=2), "found"),
        (lambda source, target: convert(source, target, chunks={"z": 2}, zarr_format=2), "no dimension 'z'"),
    ],
    "verify": [(lambda source, target: verify(source, sample=-1), "sample")],
    "repair": [(lambda source, target: repair(source, path="x"), "nothing to mend at /x")],
    "checksum": [(lambda source, target: checksum(source, path="x"), "found")],
    "diff": [(lambda source, target: diff(source, _at(source, "x")), "found")],
    "stats": [
        (lambda source, target: stats(_at(source, "x")), "found"),
        (lambda source, target: stats(source, bins=-1), "bins"),
    ],
    "tune": [(lambda source, target: tune(source, reads=["map"]), "tune takes one array")],
    "bench": [(lambda source, target: bench(_at(source, "a"), reads=["quickly"]), "is no read")],
    "dask": [(lambda source, target: to_dask(zarr.open_array(source, path="x", mode="r")), "found")],
    "plot": [(lambda source, target: plot(zarr.open_array(source, path="a/c", mode="r")), "found")],
}
"""Of each tool calls that cannot be done, with what the error says."""
