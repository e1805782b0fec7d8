"""Batches among threads and other objects of the same array: no update is lost, and no call meets half of one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.together import rounds, run_together
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.batch import Batch, Budget
from zarr.errors import ArrayNotFoundError
from zarr.storage import MemoryStore

LAYOUTS: dict[str, dict[str, Any]] = {
    "chunks": {"chunks": (4, 4)},
    "shards": {"chunks": (2, 2), "shards": (4, 4)},
    "format 2": {"chunks": (4, 4), "zarr_format": 2},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_others_wrote_after_a_read_inside_stays(layout: str) -> None:
    """The read brings in the whole chunk; at the end only what was written in the batch is put over the stored one."""
    store = MemoryStore()
    array = zarr.create_array(store, shape=(8, 8), dtype="i4", **LAYOUTS[layout])
    other = zarr.open_array(store, mode="r+")
    other[...] = 1
    with array.batch():
        array[0, 0] = 2
        assert array[0, :2].tolist() == [2, 1]
        other[0, 1] = 3
        array[0, 0] = 4
    assert other[0, :3].tolist() == [4, 3, 1]
    with array.batch():
        array[0, 0] = 5
        assert array[0, :2].tolist() == [5, 3]
        other[...] = 0
    assert other[...].sum() == 5


class Seen(MemoryStore):
    """Somebody looks whenever a document has been stored."""

    look: Any = None

    def set_sync(self, key: str, value: Any) -> None:
        super().set_sync(key, value)
        if self.look is not None and key.endswith(("zarr.json", ".zarray")):
            self.look()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("by_group", [False, True])
def test_nobody_sees_an_appended_shape_without_its_data(layout: str, by_group: bool) -> None:
    store = Seen()
    how = {"zarr_format": 3, **LAYOUTS[layout]}
    group = zarr.create_group(store, zarr_format=how["zarr_format"]) if by_group else None
    place = {"name": "a"} if by_group else {}
    array = zarr.create_array(store, shape=(0, 4), dtype="i4", fill_value=-1, **place, **how)
    shapes: list[int] = []

    def look() -> None:
        found = zarr.open_array(Seen(store._store_dict), path="a" if by_group else "", mode="r")
        shapes.append(found.shape[0])
        assert found[...].tolist() == [[i] * 4 for i in range(len(found))]

    store.look = look
    with contextlib.suppress(KeyError), (array if group is None else group).batch():
        inside = array if group is None else group["a"]
        for i in range(9):
            inside.append(np.full((1, 4), i))
            assert inside[i, :].tolist() == [i] * 4
        raise KeyError("an error ends the batch")
    look()
    assert shapes[-1] == 9


def test_what_waits_beside_an_append_is_stored_with_it() -> None:
    """Also what another thread of the same batch puts into the last chunk."""
    store = MemoryStore()
    array = zarr.create_array(store, shape=(0, 2), chunks=(8, 2), dtype="i4", fill_value=-1)
    with array.batch():
        array.append(np.zeros((2, 2), "i4"))
        array[1, 1] = 5
        assert array[0, 0] == 0
        array.append(np.ones((2, 2), "i4"))
        assert array[...].tolist() == [[0, 0], [0, 5], [1, 1], [1, 1]]
        array[3] = 7
        zarr.open_array(store).append(np.full((1, 2), 3))
        array.append(np.full((1, 2), 4))
        assert array[...].tolist() == [[0, 0], [0, 5], [1, 1], [7, 7], [3, 3], [4, 4]]
    assert zarr.open_array(store)[...].tolist() == [[0, 0], [0, 5], [1, 1], [7, 7], [3, 3], [4, 4]]


def test_fields_that_others_wrote_stay() -> None:
    store = MemoryStore()
    array = zarr.create_array(store, shape=8, chunks=4, dtype=[("x", "i4"), ("y", "i4")], zarr_format=2)
    other = zarr.open_array(store, mode="r+")
    with array.batch():
        array.set_basic_selection(0, 1, fields="x")
        other.set_basic_selection(1, 5, fields="y")
    assert array[:2].tolist() == [(1, 0), (0, 5)]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_threads_that_open_and_end_batches_of_one_object(layout: str) -> None:
    array = zarr.create_array(MemoryStore(), shape=(16, 16), dtype="i4", **LAYOUTS[layout])

    def work(number: int) -> None:
        for turn in range(1, rounds(40, 400)):
            with array.batch():
                array[number, :] = turn
                array[8 + number, turn % 16] = turn

    def look() -> None:
        for _ in range(rounds(40, 400)):
            first, second = array.read_many([(0, slice(None)), (slice(0, 4), 3)])
            # Who reads between two batches may meet the end of the next one: its chunks are stored one by one.
            assert set(first.tolist()) <= set(range(rounds(40, 400)))
            assert second.shape == (4,)
            assert array[0, 3] <= array[0, 3]

    run_together([*(lambda number=number: work(number) for number in range(4)), look])
    last = rounds(40, 400) - 1
    assert (array[:4] == last).all()


@pytest.mark.parametrize("whole", ["array", "group"])
def test_a_batch_whose_end_was_skipped_ends_when_its_scope_goes(whole: str) -> None:
    """Ctrl-C may come between the body of ``with`` and the first line of ``__exit__``."""
    group = zarr.create_group({})
    array = group.create_array("a", shape=(10,), chunks=(5,), dtype="i4")
    scope = (array if whole == "array" else group).batch()
    scope.__enter__()
    (array if whole == "array" else group["a"])[:] = 1
    assert zarr.open_array(group.store, path="a")[0] == 0
    del scope
    assert zarr.open_array(group.store, path="a")[:].tolist() == [1] * 10
    (array if whole == "array" else group["a"])[0] = 2
    assert zarr.open_array(group.store, path="a")[0] == 2


def in_a_child(action: Callable[[], Any]) -> None:
    """Run something in a forked child; it must end well."""
    child = os.fork()
    if not child:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on POSIX systems only")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_forked_child_stores_its_own_writes_and_not_those_of_its_parent(layout: str, tmp_path: Path) -> None:
    group = zarr.open_group(tmp_path, mode="w", zarr_format=2 if layout == "format 2" else 3)
    array = zarr.create_array(tmp_path, name="x", shape=(8, 8), dtype="i4", **LAYOUTS[layout])

    def stored() -> list[int]:
        found: list[int] = zarr.open_array(tmp_path, path="x", mode="r")[0].tolist()
        return found

    def write_in_the_child() -> None:
        array[0, 5] = 7
        assert stored() == [0, 0, 0, 0, 0, 7, 0, 0]
        with array.batch():
            array[0, 1] = 6
        assert stored() == [0, 6, 0, 0, 0, 7, 0, 0]

    with array.batch():
        array[0, 0] = 1
        in_a_child(write_in_the_child)
        assert stored() == [0, 6, 0, 0, 0, 7, 0, 0]
    assert stored() == [1, 6, 0, 0, 0, 7, 0, 0]

    def write_by_the_group() -> None:
        inherited[0, 2] = 8
        group["x"][0, 3] = 9
        assert stored() == [1, 6, 8, 9, 0, 7, 0, 0]

    with group.batch():
        inherited = group["x"]
        inherited[0, 4] = 5
        in_a_child(write_by_the_group)
    assert stored() == [1, 6, 8, 9, 5, 7, 0, 0]


@pytest.mark.parametrize("of_group", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_batch_on_an_array_that_was_removed_stores_nothing(layout: str, of_group: bool) -> None:
    store = MemoryStore()
    group = zarr.open_group(store, mode="w", zarr_format=2 if layout == "format 2" else 3)
    array = zarr.create_array(store, name="x", shape=(8, 8), dtype="i4", **LAYOUTS[layout])
    batch = group.batch() if of_group else array.batch()
    with pytest.raises(ArrayNotFoundError, match=r"/x .* was removed .* 1 chunk"), batch:
        node = group["x"] if of_group else array
        node[0, 0] = 1
        del zarr.open_group(store)["x"]
    assert not list(store.list_prefix_sync("x/"))


class EndingHandle(ArrayHandle):
    """A handle whose batch another thread ends as soon as somebody has looked at it."""

    looks = 1

    @property
    def batch(self) -> Any:  # type: ignore[override]
        self.looks -= 1
        return self.mine if self.looks >= 0 else None

    @batch.setter
    def batch(self, batch: Any) -> None:
        self.mine = batch


@pytest.mark.parametrize("looks", range(1, 4))
@pytest.mark.parametrize(
    "change",
    [
        lambda array: array.attrs.update(a=1),
        lambda array: array.resize((5,)),
        lambda array: array.append([1]),
        lambda array: array.__setitem__(0, 2),
        lambda array: array[0],
    ],
    ids=["attributes", "resize", "append", "write", "read"],
)
def test_a_batch_that_ends_while_it_is_looked_at(change: Any, looks: int) -> None:
    made = zarr.create_array(MemoryStore(), shape=(4,), chunks=(2,), dtype="i4")
    handle = EndingHandle(made._handle.store_path, made.metadata, made._handle.config)
    handle.batch, handle.looks = Batch(made._handle, Budget(1 << 20)), looks
    change(zarr.Array.from_handle(handle))
