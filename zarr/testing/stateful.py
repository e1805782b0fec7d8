"""State machines of hypothesis: a store against a dictionary, a hierarchy against another one in memory.

Authors of stores run them with their own::

    def test_my_store(my_store):
        run_state_machine_as_test(lambda: ZarrStoreStateMachine(my_store))
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, TypeVar, cast

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
from hypothesis import assume, note
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.strategies import DataObject

import zarr
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.api.opening import create_group, open_array, open_group
from zarr.arrays.array import Array
from zarr.buffer import cpu
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.buffer.cpu import Buffer as CPUBuffer
from zarr.codecs import BytesCodec
from zarr.groups.group import Group
from zarr.runners.sync import SyncMixin
from zarr.storage import LocalStore, MemoryStore
from zarr.testing.store import part_of
from zarr.testing.strategies import arrays as zarr_arrays
from zarr.testing.strategies import (
    basic_indices,
    chunk_paths,
    key_ranges,
    node_names,
    np_array_and_chunks,
    numpy_arrays,
    orthogonal_indices,
)
from zarr.testing.strategies import keys as zarr_keys

F = TypeVar("F", bound=Callable[..., Any])


def with_frequency(frequency: float) -> Callable[[F], F]:
    """Run a rule with a probability; decorate the rule below ``@rule``.

    Parameters
    ----------
    frequency : float
        The probability, between 0 and 1.

    Returns
    -------
    callable
        A decorator.

    Examples
    --------
    >>> @with_frequency(0.5)
    ... def clear(self):
    ...     pass
    >>> clear.__name__
    'clear'
    """

    def decorate(function: F) -> F:
        counter = f"_{function.__name__}_turns"

        @functools.wraps(function)
        def sometimes(self: Any, *args: Any, **kwargs: Any) -> Any:
            return function(self, *args, **kwargs)

        def is_due(self: Any) -> bool:
            # Counted, not drawn: hypothesis must get the same decisions when it replays a run.
            turns = getattr(self, counter, 0) + 1
            setattr(self, counter, turns)
            return int(turns * frequency) > int((turns - 1) * frequency)

        return cast("F", precondition(is_due)(sometimes))

    return decorate


def split_prefix_name(path: str) -> tuple[str, str]:
    """Split a path into that of its parent and its last name.

    Examples
    --------
    >>> split_prefix_name("a/b/c"), split_prefix_name("a")
    (('a/b', 'c'), ('', 'a'))
    """
    prefix, _, name = path.rpartition("/")
    return prefix, name


MAX_BINARY_SIZE = 100
"""Maximum number of bytes of a value of the store machine."""


class SyncStoreWrapper(SyncMixin):
    """A store whose coroutines are called like functions.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    read_only = property(attrgetter("store.read_only"))
    supports_deletes = property(attrgetter("store.supports_deletes"))
    supports_writes = property(attrgetter("store.supports_writes"))
    supports_listing = property(attrgetter("store.supports_listing"))

    def set(self, key: str, data_buffer: Buffer) -> None:
        """Store a value."""
        self._sync(self.store.set(key, data_buffer))

    def get(self, key: str, prototype: BufferPrototype) -> Buffer | None:
        """Read a value."""
        return self._sync(self.store.get(key, prototype=prototype))

    def get_partial_values(self, key_ranges: Iterable[Any], prototype: BufferPrototype) -> builtins.list[Buffer | None]:
        """Read many ranges."""
        return self._sync(self.store.get_partial_values(prototype=prototype, key_ranges=key_ranges))

    def list(self) -> builtins.list[str]:
        """List all keys."""
        return self._sync_iter(self.store.list())

    def list_prefix(self, prefix: str) -> builtins.list[str]:
        """List the keys below a prefix."""
        return self._sync_iter(self.store.list_prefix(prefix))

    def list_dir(self, prefix: str) -> builtins.list[str]:
        """List the names directly below a prefix."""
        return self._sync_iter(self.store.list_dir(prefix))

    def delete(self, path: str) -> None:
        """Remove a key."""
        self._sync(self.store.delete(path))

    def exists(self, key: str) -> bool:
        """Return True if a key has a value."""
        return self._sync(self.store.exists(key))

    def is_empty(self, prefix: str) -> bool:
        """Return True if nothing is stored below a prefix."""
        return self._sync(self.store.is_empty(prefix=prefix))

    def clear(self) -> None:
        """Remove everything."""
        self._sync(self.store.clear())

    def getsize_prefix(self, prefix: str) -> int:
        """Return the number of bytes below a prefix."""
        return self._sync(self.store.getsize_prefix(prefix))


class ZarrStoreStateMachine(RuleBasedStateMachine):
    """A state machine that changes a store and a dictionary alike, and compares them.

    Parameters
    ----------
    store : Store
        It is empty at the beginning.
    """

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.model: dict[str, Buffer] = {}
        self.store = SyncStoreWrapper(store)
        self.prototype = default_buffer_prototype()

    @initialize()
    def init_store(self) -> None:
        """Begin with an empty store."""
        self.store.clear()

    def _conflicts(self, key: str) -> bool:
        """Return True if a key is a prefix of another one: no file can also be a folder."""
        return any(other.startswith(f"{key}/") or key.startswith(f"{other}/") for other in self.model)

    @rule(key=zarr_keys(max_num_nodes=3), data=st.binary(min_size=0, max_size=MAX_BINARY_SIZE))
    def set(self, key: str, data: bytes) -> None:
        """Store a value."""
        assume(not self._conflicts(key))
        assert not self.store.read_only
        value = CPUBuffer.from_bytes(data)
        self.store.set(key, value)
        self.model[key] = value

    @precondition(lambda self: bool(self.model))
    @rule(key=zarr_keys(max_num_nodes=3), data=st.data())
    def get(self, key: str, data: DataObject) -> None:
        """Read an existing value."""
        key = data.draw(st.sampled_from(sorted(self.model)), label="key")
        found = self.store.get(key, self.prototype)
        assert found is not None
        assert found.to_bytes() == self.model[key].to_bytes()

    @rule(key=zarr_keys(max_num_nodes=3), data=st.data())
    def get_invalid_zarr_keys(self, key: str, data: DataObject) -> None:
        """Read a missing value."""
        assume(key not in self.model)
        assert self.store.get(key, self.prototype) is None

    @precondition(lambda self: bool(self.model))
    @rule(data=st.data())
    def get_partial_values(self, data: DataObject) -> None:
        """Read ranges of existing values, each within its value."""
        known = st.sampled_from(sorted(self.model))
        asked = data.draw(key_ranges(keys=known, max_size=MAX_BINARY_SIZE), label="ranges")
        inside = [(key, part) for key, part in asked if _lies_within(part, len(self.model[key]))]
        found = self.store.get_partial_values(inside, self.prototype)
        for value, (key, part) in zip(found, inside, strict=True):
            assert value is not None
            assert value.to_bytes() == part_of(self.model[key].to_bytes(), part)

    @precondition(lambda self: bool(self.model) and self.store.supports_deletes)
    @rule(data=st.data())
    def delete(self, data: DataObject) -> None:
        """Remove a key."""
        key = data.draw(st.sampled_from(sorted(self.model)), label="key")
        self.store.delete(key)
        del self.model[key]

    @precondition(lambda self: self.store.supports_deletes)
    @with_frequency(0.1)
    @rule()
    def clear(self) -> None:
        """Remove everything."""
        self.store.clear()
        self.model.clear()
        assert self.store.is_empty("")

    @rule()
    def is_empty(self) -> None:
        """Check that the store is empty when the dictionary is."""
        assert self.store.is_empty("") == (not self.model)

    @rule(key=zarr_keys(max_num_nodes=3))
    def exists(self, key: str) -> None:
        """Check that a key exists when the dictionary has it."""
        assert self.store.exists(key) == (key in self.model)

    @precondition(lambda self: bool(self.model))
    @rule(data=st.data())
    def getsize_prefix(self, data: DataObject) -> None:
        """Check that the size of a prefix is the sum over the values below it."""
        key = data.draw(st.sampled_from(sorted(self.model)), label="key")
        prefix = key.partition("/")[0]
        assume(prefix != key)
        expected = sum(len(value) for name, value in self.model.items() if name.startswith(f"{prefix}/"))
        assert self.store.getsize_prefix(prefix) == expected

    @invariant()
    def check_paths_equal(self) -> None:
        """Check that all keys are listed, each once."""
        assert sorted(self.store.list()) == sorted(self.model)

    @invariant()
    def check_vals_equal(self) -> None:
        """Check that all values are those that were stored."""
        for key, value in self.model.items():
            found = self.store.get(key, self.prototype)
            assert found is not None
            assert found.to_bytes() == value.to_bytes()

    @invariant()
    def check_num_zarr_keys_equal(self) -> None:
        """Check that there are as many keys as were stored."""
        assert len(self.store.list()) == len(self.model)

    @invariant()
    def check_zarr_keys(self) -> None:
        """Check that the listing of its parent finds every key."""
        for key in self.model:
            parent, name = split_prefix_name(key)
            assert name in self.store.list_dir(parent)


def _lies_within(part: Any, size: int) -> bool:
    if isinstance(part, RangeByteRequest):
        return part.start < part.end <= size
    if isinstance(part, OffsetByteRequest):
        return part.offset < size
    return part is None or 0 < part.suffix <= size


class ZarrHierarchyStateMachine(SyncMixin, RuleBasedStateMachine):
    """A state machine that changes arrays and groups in a store and in memory alike, and compares them.

    Parameters
    ----------
    store : Store
        It is empty at the beginning.
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
        """Return True if a node may be created at a path."""
        return path not in self.all_groups and path not in self.all_arrays

    def _path_in_a_group(self, data: DataObject, name: str) -> str:
        parent = data.draw(st.sampled_from(sorted(self.all_groups | {""})), label="parent")
        path = f"{parent}/{name}".lstrip("/")
        assume(self.can_add(path))
        return path

    @rule(name=node_names, data=st.data())
    def add_group(self, name: str, data: DataObject) -> None:
        """Create a group."""
        path = self._path_in_a_group(data, name)
        note(f"group {path!r}")
        self.all_groups.add(path)
        for store in (self.store, self.model):
            create_group(store=store, path=path)

    @rule(data=st.data(), name=node_names)
    def add_array(self, data: DataObject, name: str) -> None:
        """Create an array."""
        path = self._path_in_a_group(data, name)
        values, chunks = data.draw(np_array_and_chunks(arrays=numpy_arrays()), label="array and chunks")
        note(f"array {path!r} shape {values.shape} chunks {chunks}")
        for store in (self.store, self.model):
            array = open_group(store).create_array(path, shape=values.shape, dtype=values.dtype, chunks=chunks)
            array[...] = values
        self.all_arrays.add(path)

    def _draw_array(self, data: DataObject) -> tuple[Array[Any], Array[Any]]:
        path = data.draw(st.sampled_from(sorted(self.all_arrays)), label="array")
        return open_array(self.store, path=path), open_array(self.model, path=path)

    @precondition(lambda self: bool(self.all_arrays))
    @rule(data=st.data())
    def check_array(self, data: DataObject) -> None:
        """Read an array whole on both sides."""
        ours, theirs = self._draw_array(data)
        assert ours.metadata == theirs.metadata
        np.testing.assert_equal(ours[...], theirs[...])

    @precondition(lambda self: bool(self.all_arrays))
    @rule(data=st.data())
    def overwrite_array_basic_indexing(self, data: DataObject) -> None:
        """Write to a part of an array, by integers and slices."""
        ours, theirs = self._draw_array(data)
        where = data.draw(basic_indices(shape=ours.shape), label="selection")
        shape = np.shape(np.broadcast_to(np.zeros((), dtype="i1"), ours.shape)[where])
        values = data.draw(npst.arrays(shape=shape, dtype=ours.dtype), label="values")
        ours[where] = values
        theirs[where] = values
        np.testing.assert_equal(ours[...], theirs[...])

    @precondition(lambda self: bool(self.all_arrays))
    @rule(data=st.data())
    def overwrite_array_orthogonal_indexing(self, data: DataObject) -> None:
        """Write to a part of an array, by one selection for each axis."""
        ours, theirs = self._draw_array(data)
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
        """Resize an array."""
        ours, theirs = self._draw_array(data)
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
        """Choose the path of a stored node."""
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
        """Delete a chunk of an array; it reads as the fill value afterwards."""
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
        """Check that both sides hold the same keys, and the nodes that were created."""
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


__all__ = [
    "Array", "Buffer", "BufferPrototype", "BytesCodec", "LocalStore", "MAX_BINARY_SIZE", "MemoryStore",
    "OffsetByteRequest", "RangeByteRequest", "Store", "SuffixByteRequest", "SyncMixin", "SyncStoreWrapper",
    "ZarrHierarchyStateMachine", "ZarrStoreStateMachine", "basic_indices", "chunk_paths", "cpu",
    "default_buffer_prototype", "key_ranges", "orthogonal_indices", "split_prefix_name", "with_frequency", "zarr",
    "zarr_arrays", "zarr_keys",
]
