"""Errors that programs for zarr-python 2 or 3 catch, and calls that are refused in place of storing nonsense."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.errors import CopyError, NotConsolidatedError
from zarr.storage import MemoryStore, WrapperStore
from zarr.storage._common import make_store


class WithoutView(MemoryStore):
    """A writable store that has no read-only view."""

    def with_read_only(self, read_only: bool = False) -> Any:
        raise NotImplementedError


class Unlisted(WrapperStore[MemoryStore]):
    """A store that cannot list."""

    @property
    def supports_listing(self) -> bool:
        return False


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("caught", [KeyError, ValueError])
def test_missing_consolidated_metadata(caught: Any, zarr_format: Any) -> None:
    store: dict[str, Any] = {}
    zarr.create_group(store, zarr_format=zarr_format).create_array("x", shape=3, dtype="i4")
    with pytest.raises(caught, match=r"^Consolidated metadata") as found:
        zarr.open_consolidated(store)
    assert type(found.value) is NotConsolidatedError
    zarr.consolidate_metadata(store)
    assert list(zarr.open_consolidated(store)) == ["x"]


def test_copies() -> None:
    source = zarr.group({})
    source.create_array("x", shape=3, dtype="i4")
    target = zarr.group({})
    zarr.copy(source["x"], target)
    with pytest.raises(RuntimeError) as found:
        zarr.copy(source["x"], target)
    assert type(found.value) is CopyError


@pytest.mark.parametrize("opener", [zarr.open, zarr.open_group, zarr.open_array])
def test_a_store_without_a_read_only_view(opener: Any) -> None:
    store = WithoutView()
    zarr.create_array(store, shape=3, dtype="i4")
    with pytest.raises(ValueError, match=r"Store is not read-only but mode is 'r'.*define with_read_only"):
        opener(store, mode="r")


def test_a_dictionary_that_is_only_read() -> None:
    assert asyncio.run(make_store({}, mode="r")).read_only
    assert asyncio.run(make_store(None, mode="r")).read_only
    assert not asyncio.run(make_store({}, mode="a")).read_only


def test_a_store_that_cannot_list() -> None:
    store = Unlisted(MemoryStore())
    group = zarr.create_group(store)
    group.create_array("x", shape=3, dtype="i4")
    assert group["x"].shape == (3,)
    for ask in (lambda: list(group.members()), lambda: list(group), lambda: zarr.consolidate_metadata(store)):
        with pytest.raises(ValueError, match="does not support listing"):
            ask()


def test_a_group_is_not_stored_as_an_array() -> None:
    group = zarr.group({})
    with pytest.raises(TypeError, match="a group cannot be stored as the array 'z'"):
        group["z"] = group.create_group("x")
    assert list(group) == ["x"]


@pytest.mark.parametrize("place", range(-3, 3))
def test_an_index_that_was_read_from_an_array(place: int) -> None:
    data = np.arange(12).reshape(3, 4)
    array, index = zarr.array(data, chunks=(2, 2)), zarr.array(np.array([place]))[0]
    np.testing.assert_array_equal(array[index], data[place])
    np.testing.assert_array_equal(array[index, 1:3], data[place, 1:3])
    np.testing.assert_array_equal(array.oindex[index, [0, 2]], data[place, [0, 2]])
    array[index] = 7
    data[place] = 7
    np.testing.assert_array_equal(array[...], data)
