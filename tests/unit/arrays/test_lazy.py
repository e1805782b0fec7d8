"""Views against numpy: whatever is selected of whatever was selected, reading and writing through it."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr
from zarr.arrays.views.composition import compose, permute, regular_length, run_lengths, whole
from zarr.errors import BoundsCheckError
from zarr.storage import LocalStore, MemoryStore


@st.composite
def layouts(draw: st.DrawFn) -> tuple[zarr.Array[Any], np.ndarray[Any, Any]]:
    shape = tuple(draw(st.lists(st.integers(1, 7), min_size=1, max_size=3)))
    chunks = tuple(draw(st.integers(1, n)) for n in shape)
    shards = tuple(c * draw(st.integers(1, 3)) for c in chunks) if draw(st.booleans()) else None
    data = np.arange(int(np.prod(shape)), dtype="int32").reshape(shape)
    return zarr.create_array({}, data=data, chunks=chunks, shards=shards), data


def slices(length: int) -> st.SearchStrategy[slice]:
    bound = st.none() | st.integers(-length - 2, length + 2)
    return st.builds(slice, bound, bound, st.none() | st.integers(1, 3) | st.integers(-3, -1))


@st.composite
def indices(draw: st.DrawFn, length: int, arrays: bool) -> Any:
    kinds = ["slice", "slice", "slice"] + (["int"] if length else []) + (["array", "mask"] if arrays else [])
    kind = draw(st.sampled_from(kinds))
    if kind == "int":
        return draw(st.integers(-length, length - 1))
    if kind == "array":
        places = st.integers(-length, length - 1) if length else st.nothing()
        return draw(st.lists(places, max_size=6 if length else 0))
    if kind == "mask":
        return np.array(draw(st.lists(st.booleans(), min_size=length, max_size=length)), dtype=bool)
    return draw(slices(length))


def take(data: np.ndarray[Any, Any], items: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """Orthogonal selection by numpy, one axis after the other; a view where there are slices alone."""
    for axis in reversed(range(len(items))):
        item = np.asarray(items[axis], dtype=np.intp) if isinstance(items[axis], list) else items[axis]
        data = data[(slice(None),) * axis + (item,)]
    return data


@st.composite
def chains(draw: st.DrawFn, shape: tuple[int, ...], arrays: bool = True) -> list[tuple[str, Any]]:
    """Selections and transpositions to be applied one after the other."""
    steps: list[tuple[str, Any]] = []
    seen = np.empty(shape, dtype=bool)
    for _ in range(draw(st.integers(0, 4))):
        if seen.ndim and draw(st.integers(0, 3)) == 0:
            axes = tuple(draw(st.permutations(range(seen.ndim))))
            steps.append(("transpose", axes))
            seen = seen.transpose(axes)
        else:
            items = tuple(draw(indices(n, arrays)) for n in seen.shape)
            steps.append(("oindex", items))
            seen = take(seen, items)
    return steps


def apply(view: Any, data: np.ndarray[Any, Any], chain: list[tuple[str, Any]]) -> tuple[Any, np.ndarray[Any, Any]]:
    for kind, argument in chain:
        if kind == "transpose":
            view, data = view.transpose(argument), data.transpose(argument)
        else:
            view, data = view.lazy.oindex[argument], take(data, argument)
    return view, data


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_a_view_of_views_reads_what_numpy_reads(draw: st.DataObject) -> None:
    array, data = draw.draw(layouts())
    chain = draw.draw(chains(data.shape))
    view, expected = apply(array.lazy[...], data, chain)
    assert view.shape == expected.shape
    assert (view.ndim, view.size, view.dtype) == (expected.ndim, expected.size, expected.dtype)
    np.testing.assert_array_equal(view.result(), expected)
    np.testing.assert_array_equal(np.asarray(view), expected)
    assert tuple(sum(sizes) for sizes in view.read_chunk_sizes) == view.shape
    if view.chunks is not None:
        for chunk, sizes in zip(view.chunks, view.read_chunk_sizes, strict=True):
            assert all(n == chunk for n in sizes[:-1])
    if view.ndim:
        rows = list(view)
        assert len(rows) == len(expected)
        for row, wanted in zip(rows, expected, strict=True):
            np.testing.assert_array_equal(row, wanted)


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_writing_through_a_view_changes_the_selected_elements_alone(draw: st.DataObject) -> None:
    array, data = draw.draw(layouts())
    data = data.copy()
    chain = draw.draw(chains(data.shape, arrays=False))
    view, target = apply(array.lazy[...], data, chain)
    if not isinstance(target, np.ndarray) or (target.base is None and target is not data):
        return  # integers alone: numpy hands out a copy, not a view
    value = draw.draw(st.sampled_from(["scalar", "row", "full"]))
    new: Any = -1
    if value == "row" and target.ndim:
        new = -1 - np.arange(target.shape[-1])
    elif value == "full":
        new = -1 - np.arange(target.size).reshape(target.shape)
    view[...] = new
    target[...] = new
    np.testing.assert_array_equal(array[...], data)


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_writing_through_index_arrays(draw: st.DataObject) -> None:
    array, data = draw.draw(layouts())
    places = np.arange(data.size).reshape(data.shape)
    view, where = apply(array.lazy[...], places, draw.draw(chains(data.shape)))
    where = np.asarray(where)
    unique, first = np.unique(where, return_index=True)
    if len(unique) != where.size:
        return  # which of several values stays is tested for selections of the array itself
    new = -1 - np.arange(where.size).reshape(where.shape)
    view[...] = new
    expected = data.copy()
    expected.flat[unique] = new.reshape(-1)[first]
    np.testing.assert_array_equal(array[...], expected)


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_points_and_masks_of_a_view(draw: st.DataObject) -> None:
    array, data = draw.draw(layouts())
    view, expected = apply(array.lazy[...], data, draw.draw(chains(data.shape)))
    if not view.ndim or not view.size:
        return
    points = tuple(np.array(draw.draw(st.lists(st.integers(-n, n - 1), min_size=3, max_size=3))) for n in view.shape)
    np.testing.assert_array_equal(view.vindex[points], expected[points])
    mask = expected % 2 == 0
    np.testing.assert_array_equal(view.vindex[mask], expected[mask])


def test_brackets_read_and_lazy_brackets_do_not() -> None:
    store = MemoryStore()
    array = zarr.create_array(store, data=np.arange(20), chunks=(5,))
    view = array.lazy[2:18]
    store._store_dict.clear()  # whoever reads finds fill values from here on
    for narrower in (view.lazy[::-1], view.T, view.lazy[3], array.lazy.T, array.lazy.oindex[[1, 5]]):
        assert isinstance(narrower, type(view))
    assert view[1:3].tolist() == [0, 0]


def test_a_view_shows_what_the_array_holds_when_it_is_read() -> None:
    array = zarr.create_array({}, data=np.zeros(6, dtype="int8"))
    view = array.lazy[1:3]
    array[2] = 7
    assert view[...].tolist() == [0, 7]


def test_a_view_of_elements_that_are_gone_says_so() -> None:
    array = zarr.create_array({}, data=np.arange(10), chunks=(3,))
    view, front, none = array.lazy[4:9], array.lazy[:2], array.lazy[9:9]
    array.resize(5)
    for use in (view.result, lambda: view.__setitem__(..., 1), lambda: view.vindex[[0]]):
        with pytest.raises(BoundsCheckError, match="made smaller"):
            use()
    assert front[...].tolist() == [0, 1]
    assert none[...].size == 0


def test_errors_name_the_index() -> None:
    array = zarr.zeros((3, 4))
    with pytest.raises(BoundsCheckError, match="length 2: index 2 of dimension 1"):
        array.lazy[:, 1:3].lazy[0:1, 2]
    with pytest.raises(IndexError, match="oindex"):
        array.lazy[[0, 1], [1, 2]]
    with pytest.raises(IndexError, match="too many"):
        array.lazy[0].lazy[0, 0]
    with pytest.raises(IndexError, match="unsupported"):
        array.lazy[1.5]
    with pytest.raises(IndexError, match="wrong length"):
        array.lazy[np.array([True, False])]
    with pytest.raises(ValueError, match="each of the 2 axes"):
        array.lazy[...].transpose(0, 0)
    with pytest.raises(ValueError, match="shape mismatch"):
        array.lazy[...][:2] = np.zeros((3, 3))
    with pytest.raises(TypeError):
        len(array.lazy[0, 0])
    with pytest.raises(ValueError, match="copy=False"):
        np.array(array.lazy[...], copy=False)


def test_fields_of_structures() -> None:
    data = np.zeros(6, dtype=[("x", "i4"), ("y", "f8")])
    data["x"] = np.arange(6)
    array = zarr.create_array({}, data=data, chunks=(2,), zarr_format=2)
    view = array.lazy["x"].lazy[::-2]
    assert view.dtype == np.dtype("i4")
    assert view[...].tolist() == [5, 3, 1]
    view[0] = 50
    assert array[5].tolist() == (50, 0.0)
    with pytest.raises(IndexError, match="field not found"):
        array.lazy["z"]


@pytest.mark.parametrize("dtype", ["U5", "S3", "M8[s]", np.dtypes.StringDType()])
def test_data_types_that_are_no_numbers(dtype: Any) -> None:
    data = np.array([[str(10 * i + j) for j in range(4)] for i in range(3)])
    data = data.astype("i8").astype(dtype) if dtype == "M8[s]" else data.astype(dtype)
    array = zarr.create_array({}, data=data, chunks=(2, 3))
    view = array.lazy[::-1, 1:].T
    np.testing.assert_array_equal(view[...], data[::-1, 1:].T)
    view[0] = data[0, 0]
    data[::-1, 1:].T[0] = data[0, 0]
    np.testing.assert_array_equal(array[...], data)


def test_the_async_face() -> None:
    async def use() -> None:
        array = zarr.create_array({}, data=np.arange(12).reshape(3, 4), chunks=(2, 2)).async_array
        view = array.lazy[::-1].T
        np.testing.assert_array_equal(await view.result(), np.arange(12).reshape(3, 4)[::-1].T)
        await view.setitem(0, 0)
        assert (await view.getitem((0, slice(None)))).tolist() == [0, 0, 0]
        assert (await view.lazy[1].compute()).tolist() == [9, 5, 1]

    asyncio.run(use())


def test_a_view_goes_to_another_process_by_pickle(tmp_path: Any) -> None:
    array = zarr.create_array(LocalStore(tmp_path), data=np.arange(12).reshape(3, 4))
    view = array.lazy[1:, ::-1]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(view))[...], np.arange(12).reshape(3, 4)[1:, ::-1])


def test_rectilinear_chunks_of_a_view() -> None:
    with zarr.config.set({"array.rectilinear_chunks": True}):
        array = zarr.create_array({}, shape=(10,), chunks=[[3, 3, 4]], dtype="int8")
        assert array.lazy[1:].read_chunk_sizes == ((2, 3, 4),)
        assert array.lazy[::-1].read_chunk_sizes == ((4, 3, 3),)
        assert array.lazy[1:].chunks is None
        assert array.lazy[3:6].chunks == (3,)


@pytest.mark.parametrize(("selection", "requests"), [((slice(20, 80),), 6), ((slice(None, None, -1),), 10)])
def test_dask_reads_each_chunk_once(selection: Any, requests: int) -> None:
    dask_array = pytest.importorskip("dask.array")

    class Counting(MemoryStore):
        asked: list[str] = []

        def get_sync(self, key: str, *args: Any, **kwargs: Any) -> Any:
            self.asked.append(key)
            return super().get_sync(key, *args, **kwargs)

    store = Counting()
    data = np.arange(100)
    array = zarr.create_array(store, data=data, chunks=(10,))
    view = array.lazy[selection]
    lazy = dask_array.from_array(view, chunks=view.read_chunk_sizes)
    assert lazy.numblocks == (requests,)
    Counting.asked.clear()
    np.testing.assert_array_equal(lazy.compute(scheduler="sync"), data[selection])
    chunks = [key for key in Counting.asked if key.startswith("c/")]
    assert len(chunks) == len(set(chunks)) == requests


def test_dask_takes_the_chunks_of_a_view() -> None:
    dask_array = pytest.importorskip("dask.array")
    array = zarr.create_array({}, data=np.arange(120).reshape(10, 12), chunks=(5, 4))
    view = array.lazy[:, 4:].T
    lazy = dask_array.from_array(view, chunks=view.chunks)
    assert lazy.chunks == ((4, 4), (5, 5))
    np.testing.assert_array_equal((lazy + 1).compute(scheduler="sync"), np.arange(120).reshape(10, 12)[:, 4:].T + 1)
    np.testing.assert_array_equal(dask_array.from_array(view).sum(axis=0).compute(scheduler="sync"), view[...].sum(0))


def test_dask_stores_through_a_view() -> None:
    dask_array = pytest.importorskip("dask.array")
    array = zarr.create_array({}, shape=(10, 12), chunks=(5, 4), dtype="int64")
    view = array.lazy[::-1, 4:8]
    dask_array.store(dask_array.ones((10, 4), chunks=(5, 4), dtype="int64"), view, scheduler="sync")
    assert array[...].sum() == 40
    assert array[:, 4:8].all()


def test_composition_is_pure_numbers() -> None:
    outer = whole((10, 20))
    inner = compose(compose(outer, (slice(None, None, 2), slice(15, 3, -3))), (slice(1, 3), 1))
    assert inner.items == (range(2, 6, 2), 12)
    assert inner.shape == (2,)
    assert permute(compose(outer, Ellipsis)).axes == (1, 0)
    assert run_lengths(np.array([0, 3, 6]), np.array([0, 4, 5, 1])) == (1, 2, 1)
    assert [regular_length(sizes) for sizes in ((4, 4, 2), (1, 4), ())] == [4, None, 1]
