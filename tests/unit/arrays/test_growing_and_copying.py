"""Appending to arrays that were just made, in any byte order; and how much of an array is held while it is copied."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.arrays.create import like as copying
from zarr.arrays.layout import ArrayLayout
from zarr.codecs.base.chain import CodecChain
from zarr.errors import UnknownCodecError
from zarr.storage import MemoryStore


@pytest.mark.parametrize("dtype", [">i2", ">f8", ">m8[s]", ">M8[ns]", ">c8", ">U3", "<i4"])
@pytest.mark.parametrize(("zarr_format", "shards"), [(2, None), (3, None), (3, (4,))])
@pytest.mark.parametrize("compressors", [None, "auto"])
def test_appending_to_what_was_just_made(dtype: str, zarr_format: Any, shards: Any, compressors: Any) -> None:
    store, data = MemoryStore(), np.arange(17).astype(dtype)
    array: Any = zarr.create_array(
        store, data=data[:5], chunks=(2,), shards=shards, zarr_format=zarr_format, compressors=compressors
    )
    array.append(data[5:11])
    zarr.open_array(store).append(data[11:])
    np.testing.assert_array_equal(zarr.open_array(store)[...], data)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_records_of_another_byte_order_are_appended(zarr_format: Any) -> None:
    data = np.array([(n, -n / 2) for n in range(9)], dtype=[("a", ">i2"), ("b", "<f8")])
    array: Any = zarr.create_array({}, data=data[:4], chunks=(2,), zarr_format=zarr_format)
    array.append(data[4:])
    assert array[...].tolist() == data.tolist()


def test_what_is_copied_is_not_held_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "MAX_BLOCK_BYTES", 64)
    monkeypatch.setattr(copying, "MAX_COPIED_BYTES", 256)
    data = np.arange(400, dtype="i4").reshape(20, 20)
    source: Any = zarr.create_array({}, data=data, chunks=(4, 4))
    groups = list(copying._groups_that_fit(copying.blocks_of(source._handle.state.layout), 4))
    held = [sum(data[block].nbytes for block in group) for group in groups]
    assert sum(held) == data.nbytes
    assert max(held) <= 256
    assert len(groups) == 7  # 25 blocks of 64 bytes
    np.testing.assert_array_equal(zarr.from_array({}, data=source)[...], data)  # type: ignore[index]
    large: Any = zarr.create_array({}, data=data, chunks=(20, 20))
    assert [len(group) for group in copying._groups_that_fit(copying.blocks_of(large._handle.state.layout), 4)] == [1]


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown codec"])
def test_a_copied_layout_has_all_that_the_first_has(known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    zarr.create_array(store, shape=(4, 4), chunks=(2, 2), dtype="i4")
    if not known:
        monkeypatch.setattr(CodecChain, "build", without_codec)
    layout = zarr.open_array(store)._handle.layout
    there, copied = slots_of(layout), slots_of(layout.__copy__())
    if not known:
        with pytest.raises(UnknownCodecError, match="no such codec"):
            _ = layout.chain
    assert there.keys() == copied.keys()
    assert all(there[name] is copied[name] for name in there)
    assert ({"chain", "program"} <= there.keys()) == known


def without_codec(*arguments: Any) -> Any:
    raise UnknownCodecError("no such codec")


def slots_of(layout: ArrayLayout) -> dict[str, Any]:
    found = {}
    for name in ArrayLayout.__slots__:
        with suppress(AttributeError):
            found[name] = object.__getattribute__(layout, name)
    return found
