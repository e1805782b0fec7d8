"""A hierarchy in a store against another one in memory."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
from hypothesis import assume, note
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.strategies import DataObject

from zarr.abc.store import Store
from zarr.api.opening import create_group, open_array, open_group
from zarr.arrays.array import Array
from zarr.groups.group import Group
from zarr.runners.sync import SyncMixin
from zarr.storage import MemoryStore
from zarr.testing.machines.rules import split_prefix_name, with_frequency
from zarr.testing.strategies import (
    basic_indices,
    chunk_paths,
    node_names,
    np_array_and_chunks,
    numpy_arrays,
    orthogonal_indices,
)


class ZarrHierarchyStateMachine(SyncMixin, RuleBasedStateMachine):
    """Makes, changes and removes arrays and groups in a store, and the same ones in memory, and compares.

    Parameters
    ----------
    store : Store
        Empty it is at the beginning.
    """

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store
        self.model = MemoryStore()
        create_group(store=self.model, zarr_format=3)
        self.all_groups: set[str] = set()
        self.all_arrays: set[str] = set()

    @initialize()
    def init_store(self) -> None:
        """Begin with an empty root group on both sides."""
        self._sync(self.store.clear())
        create_group(store=self.store, zarr_format=3)

    def can_add(self, path: str) -> bool:
        """Whether a node may be made at a path."""
        return path not in self.all_groups and path not in self.all_arrays

    def _path_in_a_group(self, data: DataObject, name: str) -> str:
        parent = data.draw(st.sampled_from(sorted(self.all_groups | {""})), label="parent")
        path = f"{parent}/{name}".lstrip("/")
        assume(self.can_add(path))
        return path

    @rule(name=node_names, data=st.data())
    def add_group(self, name: str, data: DataObject) -> None:
        """Make a group."""
        path = self._path_in_a_group(data, name)
        note(f"group {path!r}")
        self.all_groups.add(path)
        for store in (self.store, self.model):
            create_group(store=store, path=path)

    @rule(data=st.data(), name=node_names)
    def add_array(self, data: DataObject, name: str) -> None:
        """Make an array."""
        path = self._path_in_a_group(data, name)
        values, chunks = data.draw(np_array_and_chunks(arrays=numpy_arrays()), label="array and chunks")
        note(f"array {path!r} shape {values.shape} chunks {chunks}")
        for store in (self.store, self.model):
            array = open_group(store).create_array(path, shape=values.shape, dtype=values.dtype, chunks=chunks)
            array[...] = values
        self.all_arrays.add(path)

    @precondition(lambda self: bool(self.all_arrays))
    @rule(data=st.data())
    def check_array(self, data: DataObject) -> None:
        """Read an array whole on both sides."""
        path = data.draw(st.sampled_from(sorted(self.all_arrays)), label="array")
        ours, theirs = open_array(self.store, path=path), open_array(self.model, path=path)
        assert ours.metadata == theirs.metadata
        np.testing.assert_equal(ours[...], theirs[...])

    @precondition(lambda self: bool(self.all_arrays))
    @rule(data=st.data())
    def overwrite_array_basic_indexing(self, data: DataObject) -> None:
        """Write to a part of an array, by integers and slices."""
        path = data.draw(st.sampled_from(sorted(self.all_arrays)), label="array")
        ours, theirs = open_array(self.store, path=path), open_array(self.model, path=path)
        where = data.draw(basic_indices(shape=ours.shape), label="selection")
        shape = np.shape(np.broadcast_to(np.zeros((), dtype="i1"), ours.shape)[where])
        values = data.draw(npst.arrays(shape=shape, dtype=ours.dtype), label="values")
        ours[where] = values
        theirs[where] = values
        np.testing.assert_equal(ours[...], theirs[...])

    @precondition(lambda self: bool(self.all_arrays))
    @rule(data=st.data())
    def overwrite_array_orthogonal_indexing(self, data: DataObject) -> None:
        """Write to a part of an array, by one selection an axis."""
        path = data.draw(st.sampled_from(sorted(self.all_arrays)), label="array")
        ours, theirs = open_array(self.store, path=path), open_array(self.model, path=path)
        assume(all(ours.shape) and ours.ndim > 0)
        where, points = data.draw(orthogonal_indices(shape=ours.shape), label="selection")
        assume(all(np.unique(item % length).size == item.size for item, length in _arrays_of(where, ours.shape)))
        shape = np.broadcast_shapes(*(item.shape for item in points))
        values = data.draw(npst.arrays(shape=shape, dtype=ours.dtype), label="values")
        ours.oindex[where] = values
        theirs.oindex[where] = values
        np.testing.assert_equal(ours[...], theirs[...])

    @precondition(lambda self: bool(self.all_arrays))
    @rule(data=st.data())
    def resize_array(self, data: DataObject) -> None:
        """Give an array another shape."""
        path = data.draw(st.sampled_from(sorted(self.all_arrays)), label="array")
        ours, theirs = open_array(self.store, path=path), open_array(self.model, path=path)
        lengths = npst.array_shapes(max_side=10, min_dims=ours.ndim, max_dims=ours.ndim)
        new_shape = data.draw(lengths, label="shape") if ours.ndim else ()
        ours.resize(new_shape)
        theirs.resize(new_shape)
        np.testing.assert_equal(ours[...], theirs[...])

    @precondition(lambda self: bool(self.all_arrays) and self.store.supports_deletes)
    @rule(data=st.data())
    def delete_array_using_del(self, data: DataObject) -> None:
        """Remove an array."""
        path = data.draw(st.sampled_from(sorted(self.all_arrays)), label="array")
        self._delete_member(path)
        self.all_arrays.remove(path)

    @precondition(lambda self: bool(self.all_groups) and self.store.supports_deletes)
    @rule(data=st.data())
    def delete_group_using_del(self, data: DataObject) -> None:
        """Remove a group with all below it."""
        path = data.draw(st.sampled_from(sorted(self.all_groups)), label="group")
        self._delete_member(path)
        self._forget_below(path)

    def _delete_member(self, path: str) -> None:
        note(f"delete {path!r}")
        parent, name = split_prefix_name(path)
        for store in (self.store, self.model):
            group = open_group(store, path=parent)
            assert name in group
            del group[name]
            assert name not in group

    def _forget_below(self, path: str) -> None:
        prefix = f"{path}/" if path else ""
        self.all_groups = {name for name in self.all_groups if name != path and not name.startswith(prefix)}
        self.all_arrays = {name for name in self.all_arrays if name != path and not name.startswith(prefix)}

    def draw_directory(self, data: DataObject) -> str:
        """Choose the path of a node that is there."""
        return data.draw(st.sampled_from(sorted(self.all_groups | self.all_arrays)), label="directory")

    @precondition(lambda self: bool(self.all_groups | self.all_arrays) and self.store.supports_deletes)
    @with_frequency(0.25)
    @rule(data=st.data())
    def delete_dir(self, data: DataObject) -> None:
        """Remove a node by its prefix."""
        path = self.draw_directory(data)
        note(f"delete_dir {path!r}")
        self._sync(self.model.delete_dir(path))
        self._sync(self.store.delete_dir(path))
        self._forget_below(path)

    @precondition(lambda self: bool(self.all_arrays) and self.store.supports_deletes)
    @rule(data=st.data())
    def delete_chunk(self, data: DataObject) -> None:
        """Remove a chunk behind an array's back; it reads as the fill value afterwards."""
        path = data.draw(st.sampled_from(sorted(self.all_arrays)), label="array")
        array = open_array(self.model, path=path)
        coords = data.draw(chunk_paths(ndim=array.ndim, numblocks=array.cdata_shape, subset=False), label="chunk")
        key = f"{path}/c/{coords}" if coords else f"{path}/c"
        self._sync(self.model.delete(key))
        self._sync(self.store.delete(key))

    @precondition(lambda self: bool(self.all_groups | self.all_arrays))
    @rule(data=st.data())
    def check_list_dir(self, data: DataObject) -> None:
        """List the names below a node on both sides."""
        path = self.draw_directory(data)
        expected = set(self._sync_iter(self.model.list_dir(path)))
        listed = set(self._sync_iter(self.store.list_dir(path)))
        assert expected <= listed
        # A folder may outlive its last file; there must be nothing in it then.
        for name in listed - expected:
            assert self._sync(self.store.is_empty(f"{path}/{name}"))

    @precondition(lambda self: self.store.supports_deletes)
    @with_frequency(0.1)
    @rule()
    def clear(self) -> None:
        """Remove everything."""
        for store in (self.store, self.model):
            self._sync(store.clear())
            create_group(store=store, zarr_format=3)
        self.all_groups.clear()
        self.all_arrays.clear()

    @invariant()
    def check_list_prefix_from_root(self) -> None:
        """Both sides hold the same keys, and the nodes that were made."""
        ours = sorted(self._sync_iter(self.store.list_prefix("")))
        assert ours == sorted(self._sync_iter(self.model.list_prefix("")))
        nodes = {name for name, _ in self._members()}
        assert nodes == self.all_groups | self.all_arrays

    def _members(self) -> tuple[tuple[str, Array[Any] | Group], ...]:
        key = "zarr.json"
        if not self._sync(self.store.exists(key)):
            return ()
        return open_group(self.store, mode="r").members(max_depth=None)


def _arrays_of(selection: Any, shape: tuple[int, ...]) -> list[tuple[np.ndarray[Any, Any], int]]:
    return [(item, length) for item, length in zip(selection, shape, strict=True) if isinstance(item, np.ndarray)]
