"""A store against a dictionary."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

import hypothesis.strategies as st
from hypothesis import assume
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.strategies import DataObject

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.buffer.cpu import Buffer as CPUBuffer
from zarr.runners.sync import SyncMixin
from zarr.testing.machines.rules import split_prefix_name, with_frequency
from zarr.testing.strategies import (
    key_ranges,
)
from zarr.testing.strategies import keys as zarr_keys

MAX_BINARY_SIZE = 100
"""How many bytes a value of the store machine has at most."""


class SyncStoreWrapper(SyncMixin):
    """A store whose coroutines are called like functions.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    @property
    def read_only(self) -> bool:
        """What the store says."""
        return self.store.read_only

    @property
    def supports_deletes(self) -> bool:
        """What the store says."""
        return self.store.supports_deletes

    @property
    def supports_writes(self) -> bool:
        """What the store says."""
        return self.store.supports_writes

    @property
    def supports_listing(self) -> bool:
        """What the store says."""
        return self.store.supports_listing

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
        """Whether there is a key."""
        return self._sync(self.store.exists(key))

    def is_empty(self, prefix: str) -> bool:
        """Whether there is nothing below a prefix."""
        return self._sync(self.store.is_empty(prefix=prefix))

    def clear(self) -> None:
        """Remove everything."""
        self._sync(self.store.clear())

    def getsize_prefix(self, prefix: str) -> int:
        """How many bytes there are below a prefix."""
        return self._sync(self.store.getsize_prefix(prefix))


class ZarrStoreStateMachine(RuleBasedStateMachine):
    """Does to a store what it does to a dictionary, and compares.

    Parameters
    ----------
    store : Store
        Empty it is at the beginning.
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
        """Whether a key is a prefix of another one: no file can be a folder, too."""
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
        """Read a value that is there."""
        key = data.draw(st.sampled_from(sorted(self.model)), label="key")
        found = self.store.get(key, self.prototype)
        assert found is not None
        assert found.to_bytes() == self.model[key].to_bytes()

    @rule(key=zarr_keys(max_num_nodes=3), data=st.data())
    def get_invalid_zarr_keys(self, key: str, data: DataObject) -> None:
        """Read a value that is not there."""
        assume(key not in self.model)
        assert self.store.get(key, self.prototype) is None

    @precondition(lambda self: bool(self.model))
    @rule(data=st.data())
    def get_partial_values(self, data: DataObject) -> None:
        """Read ranges of values that are there, each within its value."""
        known = st.sampled_from(sorted(self.model))
        asked = data.draw(key_ranges(keys=known, max_size=MAX_BINARY_SIZE), label="ranges")
        inside = [(key, part) for key, part in asked if _lies_within(part, len(self.model[key]))]
        found = self.store.get_partial_values(inside, self.prototype)
        for value, (key, part) in zip(found, inside, strict=True):
            assert value is not None
            assert value.to_bytes() == _cut(self.model[key].to_bytes(), part)

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
        """The store is empty when the dictionary is."""
        assert self.store.is_empty("") == (not self.model)

    @rule(key=zarr_keys(max_num_nodes=3))
    def exists(self, key: str) -> None:
        """A key is there when the dictionary has it."""
        assert self.store.exists(key) == (key in self.model)

    @precondition(lambda self: bool(self.model))
    @rule(data=st.data())
    def getsize_prefix(self, data: DataObject) -> None:
        """The size of a prefix is the sum over the values below it."""
        key = data.draw(st.sampled_from(sorted(self.model)), label="key")
        prefix = key.partition("/")[0]
        assume(prefix != key)
        expected = sum(len(value) for name, value in self.model.items() if name.startswith(f"{prefix}/"))
        assert self.store.getsize_prefix(prefix) == expected

    @invariant()
    def check_paths_equal(self) -> None:
        """All keys are listed, each once."""
        assert sorted(self.store.list()) == sorted(self.model)

    @invariant()
    def check_vals_equal(self) -> None:
        """All values are what was stored."""
        for key, value in self.model.items():
            found = self.store.get(key, self.prototype)
            assert found is not None
            assert found.to_bytes() == value.to_bytes()

    @invariant()
    def check_num_zarr_keys_equal(self) -> None:
        """There are as many keys as were stored."""
        assert len(self.store.list()) == len(self.model)

    @invariant()
    def check_zarr_keys(self) -> None:
        """Every key is found by its parent's listing."""
        for key in self.model:
            parent, name = split_prefix_name(key)
            assert name in self.store.list_dir(parent)


def _lies_within(part: Any, size: int) -> bool:
    if isinstance(part, RangeByteRequest):
        return part.start < part.end <= size
    if isinstance(part, OffsetByteRequest):
        return part.offset < size
    return part is None or 0 < part.suffix <= size


def _cut(data: bytes, part: Any) -> bytes:
    if isinstance(part, RangeByteRequest):
        return data[part.start : part.end]
    if isinstance(part, OffsetByteRequest):
        return data[part.offset :]
    return data if part is None else data[-part.suffix :]
