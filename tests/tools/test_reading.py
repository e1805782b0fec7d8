"""Tools that read say the same in whatever executor they run, within whatever memory, and how far they are."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.tools.places import fill, put
from zarr.storage import LocalStore
from zarr.tools import checksum, diff, stats, verify
from zarr.tools.plans import executors

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    store = LocalStore(tmp_path_factory.mktemp("h"))
    fill(store, 3)
    root = zarr.open_group(store)
    large = np.random.default_rng(0).integers(0, 1000, (1500, 2100)).astype("f4")
    root.create_array("large", data=large, chunks=(200, 300))
    root.create_array("partly", shape=(3000, 2000), chunks=(100, 100), dtype="f8")[:50, :50] = np.nan
    root.create_array("nothing", shape=(0, 3), chunks=(1, 3), dtype="f8")
    put(store, "large/c/0/1", b"damaged")
    put(store, "a/c/9", b"stray")
    return str(store.root)


class OneByOne(Executor):
    """Sends each task and each answer through pickle."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        work, words = pickle.loads(pickle.dumps((fn, args)))
        try:
            future.set_result(pickle.loads(pickle.dumps(work(*words))))
        except BaseException as error:
            future.set_exception(error)
        return future


@contextmanager
def executor_of(kind: str) -> Iterator[Any]:
    if kind == "processes":
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            yield pool
    elif kind == "threads":
        with ThreadPoolExecutor(3) as pool:
            yield pool
    else:
        yield OneByOne() if kind == "pickled" else None


def answers(place: str, **how: Any) -> dict[str, Any]:
    other = zarr.create_group({})
    for name, shape in {"partly": (3000, 2000), "nothing": (6, 4), "a": (6, 4)}.items():
        other.create_array(name, shape=shape, chunks=(70, 50), dtype="f8")[1, 1] = 1
    report = verify(place, **how)
    sound: Any = zarr.open_array(place, path="partly", mode="r")
    below: Any = stats(f"{place}/g", **how)
    return {
        "verify": (sorted(map(str, report.faults)), report.nodes, report.chunks),
        "checksum": [str(checksum(place, path=name, **how)) for name in ("a", "partly", "g", "s", "t", "nothing")],
        "stats": [stats(sound, bins=3, **how).histogram, *map(str, [stats(sound, **how), *below])],
        "diff": list(map(str, [*diff(place, other, values=False, **how), *diff(sound, other["partly"], **how)])),
    }


@pytest.mark.parametrize("kind", ["pickled", "threads", "processes"])
def test_executors_say_the_same(kind: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = answers(place)
    assert [len(answer) for answer in wanted.values()] == [3, 6, 3, len(wanted["diff"])]
    assert len(wanted["verify"][0]) == 2
    with executor_of(kind) as executor:
        assert answers(place, executor=executor) == wanted
        if kind == "pickled":
            monkeypatch.setattr(executors, "PIECES_PER_TASK", 1)
            monkeypatch.setattr(executors, "TASK_BYTES", 1)
            monkeypatch.setattr("zarr.tools.contents.blocks.TASK_BYTES", 1)
            monkeypatch.setattr("zarr.tools.contents.statistics.TASK_BYTES", 1)
            assert answers(place, executor=executor, memory=100) == wanted


@pytest.mark.parametrize("executor", [None, OneByOne()])
@pytest.mark.parametrize("tool", [verify, checksum, stats, lambda node, **how: diff(node, node, **how)])
def test_progress_ends_at_the_whole(tool: Callable[..., Any], executor: Any, tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    fill(store, 3)
    zarr.create_array(store, name="empty", shape=(2000, 3000), chunks=(10, 3000), dtype="f8")[:20] = 1
    zarr.create_array(store, name="nothing", shape=0, chunks=1, dtype="f8")
    told: list[tuple[int, int]] = []
    tool(zarr.open_group(store, use_consolidated=False), executor=executor, progress=lambda *each: told.append(each))
    assert told[-1][0] == told[-1][1]
    assert told == sorted(told)
    if tool is stats:
        arrays = zarr.open_group(store).arrays(recurse=True)
        assert told[-1][1] == sum(4 if array.shards else array.nchunks for _, array in arrays)


def test_an_error_of_a_task_is_raised(place: str) -> None:
    with ThreadPoolExecutor(2) as pool, pytest.raises(zarr.errors.ChunkDecodeError):
        checksum(place, executor=pool)
    with pytest.raises(TypeError, match="executor must be"):
        stats(place, executor=3)


def test_dead_workers_cost_their_tasks_only(place: str) -> None:
    class KilledWorker(Exception):
        pass

    class Dying(OneByOne):
        given = 0

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            self.given += 1
            if self.given % 3:
                future: Future[Any] = Future()
                future.set_exception(KilledWorker())
                return future
            return super().submit(fn, *args, **kwargs)

    assert verify(place, executor=Dying()).chunks == verify(place).chunks
