"""Processes that write by xarray and dask lose nothing, with no setting, on local file systems, and leave no file.

Regions overlap, and blocks do not match the chunks. Each round is looked at before the next begins.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
import zarr_core
from tests.trust.together import paths_below, rounds, run_processes

WORKERS = 4
SHAPE = (30, 20)
REGIONS = [slice(0, 12), slice(6, 18), slice(12, 24), slice(18, 30)]
"""One for each process: half of it is written by a second process, too."""
BLOCKS = (7, 9)
LAYOUTS: dict[str, dict[str, Any]] = {
    "chunks": {"chunks": (8, 12)},
    "one chunk": {"chunks": SHAPE},
    "shards": {"chunks": (4, 6), "shards": (16, 12)},
    "one shard": {"chunks": (10, 10), "shards": SHAPE},
}
TIMES = rounds(3, 75)
"""Rounds of dask's workers in each layout: 300 in all. One takes a second where the machine is busy."""
XARRAY = "xarray is not installed"
DASK = "dask with its arrays is not installed"
DISTRIBUTED = "distributed, dask's workers in processes of their own, is not installed"

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="folders have such locks on Linux only"),
    pytest.mark.timeout(900),  # for all rounds
]


@pytest.fixture(autouse=True)
def _trusted(tmp_path: Path) -> None:
    if not zarr_core.trusts_locks(str(tmp_path)):
        pytest.skip("the file system of the temporary folder is not known to keep locks")


@pytest.fixture(params=LAYOUTS if rounds(0, 1) else ["chunks", "one shard"])
def layout(request: pytest.FixtureRequest) -> dict[str, Any]:
    return LAYOUTS[request.param]


def make_array(place: Path, layout: dict[str, Any]) -> Any:
    return zarr.create_array(place, shape=SHAPE, dtype="i4", **layout)


def make_dataset(place: Path, layout: dict[str, Any]) -> None:
    """A matrix in chunks or shards, and a row that is one chunk."""
    import xarray

    empty = xarray.Dataset({"t": (("x", "y"), np.zeros(SHAPE, "i4")), "n": ("x", np.zeros(SHAPE[0], "i4"))})
    empty.to_zarr(place, mode="w-", consolidated=False, encoding={"t": layout, "n": {"chunks": SHAPE[:1]}})


def check_round(number: int, *arrays: Any) -> None:
    """Every element has the number of the round, which all have written."""
    for array in arrays:
        lost = int((array[...] != number).sum())
        assert not lost, f"round {number}: {lost} of {array.size} elements of {array.name!r} are lost"


def check_files(place: Path, alone: Path) -> None:
    """No file is there that one process does not make, when it writes all at once."""
    assert paths_below(place) == paths_below(alone)


# --------------------------------------------------------------------------------------------- xarray


def write_regions(number: int, barrier: Any, place: str, times: int) -> None:
    import xarray

    region = REGIONS[number]
    size = region.stop - region.start
    arrays = [zarr.open_array(place, path=path, mode="r") for path in ("t", "n")]
    for i in range(1, times + 1):
        values = {"t": (("x", "y"), np.full((size, SHAPE[1]), i, "i4")), "n": ("x", np.full(size, i, "i4"))}
        barrier.wait(60)
        xarray.Dataset(values).to_zarr(place, region={"x": region}, mode="r+", consolidated=False)
        barrier.wait(60)
        check_round(i, *arrays)


def test_regions_by_xarray(layout: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("xarray", reason=XARRAY)
    make_dataset(tmp_path / "a", layout)
    run_processes(WORKERS, "fork", write_regions, str(tmp_path / "a"), rounds(6, 300))
    make_dataset(tmp_path / "alone", layout)
    for path in ("t", "n"):
        zarr.open_array(tmp_path / "alone", path=path)[...] = 1
    check_files(tmp_path / "a", tmp_path / "alone")


# --------------------------------------------------------------------------------------------- dask


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Four processes with one thread each, which a client of dask gives its tasks to."""
    pytest.importorskip("dask.array", reason=DASK)
    distributed = pytest.importorskip("distributed", reason=DISTRIBUTED)
    import dask

    # The processes are forked from one that has imported what they need: that takes half the time.
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}),
        distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def workers(client: Any) -> Iterator[Any]:
    """The client; at the end one looks whether all processes had something to do."""
    from distributed import get_task_stream

    with get_task_stream(client) as stream:
        yield client
    assert len({task["worker"] for task in stream.data}) == WORKERS


@pytest.mark.slow
def test_blocks_by_dask(workers: Any, layout: dict[str, Any], tmp_path: Path) -> None:
    import dask.array

    array = make_array(tmp_path / "a", layout)
    for i in range(1, TIMES + 1):
        dask.array.store(dask.array.full(SHAPE, i, chunks=BLOCKS, dtype="i4"), array, lock=False)
        check_round(i, array)
    make_array(tmp_path / "alone", layout)[...] = 1
    check_files(tmp_path / "a", tmp_path / "alone")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The input Dask array will be rechunked")
def test_regions_by_dask(workers: Any, layout: dict[str, Any], tmp_path: Path) -> None:
    """dask warns that its blocks do not match the chunks, and that this is not safe."""
    import dask.array

    array = make_array(tmp_path / "a", layout)
    with dask.config.set({"array.chunk-size": "300 B"}):
        for i in range(1, TIMES + 1):
            value = dask.array.full((12, SHAPE[1]), i, dtype="i4")
            parts = [
                dask.array.to_zarr(value, array, region=(region, slice(None)), compute=False) for region in REGIONS
            ]
            dask.compute(*parts)
            check_round(i, array)
    make_array(tmp_path / "alone", layout)[...] = 1
    check_files(tmp_path / "a", tmp_path / "alone")


@pytest.mark.slow
def test_regions_by_xarray_with_dask(workers: Any, layout: dict[str, Any], tmp_path: Path) -> None:
    """xarray refuses blocks that do not match the chunks, unless it is told not to."""
    xarray = pytest.importorskip("xarray", reason=XARRAY)
    import dask.array

    make_dataset(tmp_path / "a", layout)
    arrays = [zarr.open_array(tmp_path / "a", path=path, mode="r") for path in ("t", "n")]
    for i in range(1, TIMES + 1):
        t, n = (dask.array.full(SHAPE[:axes], i, chunks=BLOCKS[:axes], dtype="i4") for axes in (2, 1))
        whole = xarray.Dataset({"t": (("x", "y"), t), "n": ("x", n)})
        parts = [
            whole.isel(x=region).to_zarr(
                tmp_path / "a", region={"x": region}, compute=False, safe_chunks=False, consolidated=False
            )
            for region in REGIONS
        ]
        dask.compute(*parts)
        check_round(i, *arrays)
    make_dataset(tmp_path / "alone", layout)
    for path in ("t", "n"):
        zarr.open_array(tmp_path / "alone", path=path)[...] = 1
    check_files(tmp_path / "a", tmp_path / "alone")
