"""Every kind of selection, on every kind of layout and store, read and written as numpy would."""

from __future__ import annotations

import warnings
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import zarr

from .conftest import KINDS, open_store
from .strategies import DTYPES, basic, expand, layouts, orthogonal, points, shapes, values_of

FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def make(store: Any, data: Any, plain: bool, shape: tuple[int, ...], dtype: Any) -> Any:
    """An empty array of a random layout."""
    parameters = data.draw(layouts(shape))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = zarr.create_array(store, shape=shape, dtype=dtype, **parameters)
    if plain:
        array._handle._bulk = None
    return array


def reopen(array: Any, plain: bool) -> Any:
    """The same array, opened from its document."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = zarr.open_array(array.store, mode="r")
    if plain:
        again._handle._bulk = None
    return again


def assert_same(got: Any, expected: Any) -> None:
    """Equal in shape, every element, and dtype.

    A numpy scalar knows neither its byte order nor its length, and a format 3 document has no byte order.
    """
    scalar = np.isscalar(got) or np.isscalar(expected)
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape
    assert scalar or got.dtype.kind == expected.dtype.kind
    assert scalar or got.dtype.itemsize == expected.dtype.itemsize
    assert (got == expected).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("plain", [False, True])
@FEW
@given(data=st.data())
def test_reads_and_writes(kind: str, plain: bool, data: Any) -> None:
    shape = data.draw(shapes())
    dtype = data.draw(st.sampled_from(DTYPES))
    mirror = values_of(dtype, shape, data.draw(st.integers(0, 99)))
    with open_store(kind) as store:
        array = make(store, data, plain, shape, mirror.dtype)
        mirror = mirror.astype(array.dtype)
        array[...] = mirror
        assert_same(array[...], mirror)
        for step in range(3):
            write_something(data, array, mirror, step)
        again = reopen(array, plain)
        assert_same(again[...], mirror)
        read_something(data, again, mirror)


def write_something(data: Any, array: Any, mirror: Any, seed: int) -> None:
    """Write one random selection to both."""
    shape = mirror.shape
    kind = data.draw(st.sampled_from(["basic", "orthogonal", "mask", "points"]))
    dtype = "struct" if mirror.dtype.names else "string" if mirror.dtype.kind == "T" else mirror.dtype.str
    if kind == "basic":
        selection = data.draw(basic(shape))
        values = values_of(dtype, np.shape(mirror[selection]), seed).astype(mirror.dtype)
        array[selection] = values
        mirror[selection] = values
    elif kind == "orthogonal" and shape:
        items = data.draw(orthogonal(shape))
        mesh, drop = expand(items, shape)
        values = values_of(dtype, mirror[mesh].shape, seed).astype(mirror.dtype)
        array.oindex[items] = values.squeeze(drop)
        mirror[mesh] = values
    elif kind == "mask" and shape:
        mask = np.random.default_rng(seed).integers(0, 3, size=shape) == 0
        values = values_of(dtype, (int(mask.sum()),), seed).astype(mirror.dtype)
        array.vindex[mask] = values
        mirror[mask] = values
    elif kind == "points" and shape and min(shape):
        coords = data.draw(points(shape))
        values = values_of(dtype, coords[0].shape, seed).astype(mirror.dtype)
        array.vindex[coords] = values
        for i in range(len(values)):
            mirror[tuple(c[i] for c in coords)] = values[i]


def read_something(data: Any, array: Any, mirror: Any) -> None:
    """Read one selection of each kind from both."""
    shape = mirror.shape
    selection = data.draw(basic(shape))
    assert_same(array[selection], mirror[selection])
    if not shape:
        return
    items = data.draw(orthogonal(shape))
    mesh, drop = expand(items, shape)
    assert_same(array.oindex[items], mirror[mesh].squeeze(drop))
    mask = np.random.default_rng(0).integers(0, 2, size=shape).astype(bool)
    assert_same(array[mask], mirror[mask])
    if min(shape):
        coords = data.draw(points(shape))
        assert_same(array.vindex[coords], mirror[coords])


@FEW
@given(data=st.data())
def test_blocks_are_the_stored_chunks(data: Any) -> None:
    shape = data.draw(shapes(max_ndim=2))
    mirror = values_of("i4", shape, 1)
    with open_store("memory") as store:
        array = make(store, data, False, shape, "i4")
        array[...] = mirror
        if not shape or not min(shape):
            return
        sizes = array.write_chunk_sizes
        places = tuple(data.draw(st.integers(0, len(s) - 1)) for s in sizes)
        region = tuple(slice(sum(s[:p]), sum(s[: p + 1])) for s, p in zip(sizes, places, strict=True))
        assert_same(array.blocks[places], mirror[region])
        array.blocks[places] = 7
        mirror[region] = 7
        assert_same(array[...], mirror)


@pytest.mark.parametrize("kind", ["memory", "local"])
@FEW
@given(data=st.data())
def test_what_is_cut_off_never_comes_back(kind: str, data: Any) -> None:
    shape = data.draw(shapes(max_ndim=2))
    mirror = values_of("i4", shape, 3)
    with open_store(kind) as store:
        array = make(store, data, data.draw(st.booleans()), shape, "i4")
        array[...] = mirror
        for _ in range(3):
            new = tuple(data.draw(st.integers(0, 12)) for _ in shape)
            array.resize(new)
            grown = np.zeros(new, dtype="i4")
            common = tuple(slice(0, min(a, b)) for a, b in zip(new, mirror.shape, strict=True))
            grown[common] = mirror[common]
            mirror = grown
            assert_same(array[...], mirror)
        assert_same(reopen(array, False)[...], mirror)


@FEW
@given(data=st.data())
def test_append_equals_concatenate(data: Any) -> None:
    shape = data.draw(shapes(max_ndim=3))
    if not shape:
        return
    mirror = values_of("i4", shape, 3)
    with open_store("memory") as store:
        array = make(store, data, data.draw(st.booleans()), shape, "i4")
        array[...] = mirror
        for seed in range(3):
            axis = data.draw(st.integers(0, len(shape) - 1))
            length = data.draw(st.integers(0, 5))
            more = values_of("i4", (*mirror.shape[:axis], length, *mirror.shape[axis + 1 :]), seed)
            mirror = np.concatenate([mirror, more], axis=axis)
            assert array.append(more, axis=axis) == mirror.shape
            assert_same(array[...], mirror)
        assert_same(reopen(array, False)[...], mirror)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("code", [">i4", ">f8", ">U2", ">M8[D]"])
def test_text_of_and_as_elements_with_swapped_bytes(code: str, zarr_format: Any) -> None:
    """Not what NumPy makes of them: 2.4 takes the bytes of numbers for those of this machine."""
    texts = {"f": ["1.5", "-2.0"], "M": ["2020-01-01", "1971-12-31"]}.get(code[1], ["7", "12"])
    swapped = np.array(texts).astype(code[1:]).astype(code)
    text = zarr.create_array({}, shape=2, dtype="string", zarr_format=3)
    text[:] = swapped
    text.append(swapped)
    assert text[:].tolist() == texts * 2
    array = zarr.create_array({}, shape=2, dtype=code, zarr_format=zarr_format)
    array[:] = np.array(texts, dtype="T")
    assert array[:].tolist() == swapped.tolist()
