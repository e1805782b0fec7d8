"""The bulk transfer equals the chunk-by-chunk path: same values read, same bytes stored."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import zarr
from zarr.storage import LocalStore, MemoryStore, WrapperStore

from .strategies import Layout, basic_selections, layouts, orthogonal_selections, point_selections, values_for
from .test_numpy import assert_same

COMMON = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])


class KeyByKey(WrapperStore[Any]):
    """Sees to reads itself, so that nothing but single keys can be asked of it."""

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
        return self._store.get_sync(key, prototype=prototype, byte_range=byte_range)

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        return self.get_sync(key, prototype=prototype, byte_range=byte_range)


def without_bulk(store: Any) -> Any:
    """Wrap a store so that the chunk-by-chunk path runs."""
    wrapped = KeyByKey(store)
    assert wrapped.bulk_access() is None
    return wrapped


def stored(store: Any) -> dict[str, bytes]:
    """Return every key and value of a memory or local store."""
    if isinstance(store, MemoryStore):
        return {key: timeless(value.to_bytes()) for key, value in store._store_dict.items()}
    root = Path(store.root)
    return {p.relative_to(root).as_posix(): timeless(p.read_bytes()) for p in root.rglob("*") if p.is_file()}


def timeless(raw: bytes) -> bytes:
    """Blank the time stamp of a gzip member."""
    return raw[:4] + bytes(4) + raw[8:] if raw[:2] == b"\x1f\x8b" else raw


def pair(kind: str, folder: str) -> tuple[Any, Any]:
    """Return two empty stores of one kind."""
    if kind == "memory":
        return MemoryStore(), MemoryStore()
    return LocalStore(Path(folder) / "bulk"), LocalStore(Path(folder) / "plain")


@pytest.mark.parametrize("kind", ["memory", "local"])
@COMMON
@given(layout=layouts(), seed=st.integers(0, 1000), data=st.data())
def test_same_bytes_and_values(kind: str, layout: Layout, seed: int, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bulk, plain = pair(kind, folder)
        fast = zarr.create_array(bulk, name="a", **layout.options(zarr))
        slow = zarr.create_array(without_bulk(plain), name="a", **layout.options(zarr))
        values = values_for(layout.shape, layout.dtype, seed)
        selection = data.draw(basic_selections(layout.shape))
        for array in (fast, slow):
            array[...] = values
            array[selection] = values_for(np.empty(layout.shape)[selection].shape, layout.dtype, seed + 1)
        assert stored(bulk) == stored(plain)
        compare_reads(fast, zarr.open_array(without_bulk(bulk), path="a", mode="r"), layout, data)


def compare_reads(fast: Any, slow: Any, layout: Layout, data: st.DataObject) -> None:
    """Read the same selections through both paths from the same bytes."""
    assert_same(fast[...], slow[...])
    basic = data.draw(basic_selections(layout.shape))
    assert_same(fast[basic], slow[basic])
    orthogonal = data.draw(orthogonal_selections(layout.shape))
    assert_same(fast.oindex[orthogonal], slow.oindex[orthogonal])
    points = data.draw(point_selections(layout.shape))
    if points is not None:
        assert_same(fast.vindex[points], slow.vindex[points])


@COMMON
@given(layout=layouts(), seed=st.integers(0, 1000), data=st.data())
def test_damage_is_told_alike(layout: Layout, seed: int, data: st.DataObject) -> None:
    """A missing chunk reads as fill, a damaged one as the same error or value, through both paths."""
    store = MemoryStore()
    array = zarr.create_array(store, name="a", **layout.options(zarr))
    array[...] = values_for(layout.shape, layout.dtype, seed)
    keys = [key for key in store._store_dict if not key.endswith((".json", ".zarray", ".zattrs", ".zgroup"))]
    if keys:
        key = data.draw(st.sampled_from(sorted(keys)))
        damage(store, key, data)
    outcomes = [read_outcome(zarr.open_array(s, path="a", mode="r")) for s in (store, without_bulk(store))]
    assert outcomes[0] == outcomes[1]


def damage(store: MemoryStore, key: str, data: st.DataObject) -> None:
    """Remove, cut or flip a stored value."""
    raw = bytearray(store._store_dict[key].to_bytes())
    kind = data.draw(st.sampled_from(["remove", "cut", "flip"]))
    if kind == "remove":
        del store._store_dict[key]
        return
    place = data.draw(st.integers(0, max(len(raw) - 1, 0)))
    if kind == "cut":
        del raw[place:]
    elif raw:
        raw[place] ^= data.draw(st.integers(1, 255))
    store._store_dict[key] = zarr.buffer.cpu.Buffer.from_bytes(bytes(raw))


def read_outcome(array: Any) -> Any:
    """Return what a full read gives: the values, or the error's class."""
    try:
        values = np.asarray(array[...])
    except Exception as error:  # any class counts; both paths must raise the same
        return type(error)
    return values.tolist() if values.dtype.kind in "OT" else values.tobytes()
