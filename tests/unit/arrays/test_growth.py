"""Arrays that grow where chunks beyond their shape are stored, as killed appends and shrinkings leave them."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.arrays import outside
from zarr.storage import LocalStore, MemoryStore


class Counting(MemoryStore):
    """A store in memory that counts listings."""

    listings = 0

    def list_prefix(self, prefix: str) -> Any:
        type(self).listings += 1
        return super().list_prefix(prefix)

    def list_prefix_sync(self, prefix: str) -> Any:
        type(self).listings += 1
        return super().list_prefix_sync(prefix)


class Stuck(MemoryStore):
    """A store in memory that removes nothing while it is stuck."""

    stuck = False

    def delete_sync(self, key: str) -> None:
        if self.stuck:
            raise OSError(f"no removal of {key}")
        super().delete_sync(key)


def set_shape(store: Any, shape: tuple[int, ...]) -> None:
    """Change only the document, as a shrinking that was killed does."""
    document = json.loads(store.get_sync("zarr.json").to_bytes())
    document["shape"] = list(shape)
    store.set_sync("zarr.json", zarr.buffer.cpu.Buffer.from_bytes(json.dumps(document).encode()))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("listed", [0, 16, 10**9], ids=["named", "default", "listed"])
def test_no_element_comes_back(seed: int, listed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies beyond the shape is the fill value after growth, with requests by name and with a listing."""
    if listed == 0:
        monkeypatch.setattr(outside, "LISTED_FOR_ONE_REQUEST", 0.001)
        monkeypatch.setattr(outside, "MAX_NAMED_CHUNKS", 10**6)
    else:
        monkeypatch.setattr(outside, "LISTED_FOR_ONE_REQUEST", listed)
    if seed % 2:  # each border chunk is read alone
        monkeypatch.setattr(outside, "MAX_BYTES_AT_ONCE", 0)
    choose = random.Random(seed)
    full = tuple(choose.randrange(4, 14) for _ in range(choose.choice([1, 2, 3])))
    chunks = tuple(choose.randrange(1, 4) for _ in full)
    store = MemoryStore()
    array = zarr.create_array(store, shape=full, chunks=chunks, dtype="i4", fill_value=-1)
    values = np.arange(np.prod(full), dtype="i4").reshape(full)
    array[...] = values
    cut = tuple(choose.randrange(1, length + 1) for length in full)
    set_shape(store, cut)
    array = zarr.open_array(store)
    assert array.shape == cut
    new = tuple(length + choose.randrange(0, 9) for length in cut)
    array.resize(new)
    expected = np.full(new, -1, dtype="i4")
    inside = tuple(slice(0, length) for length in cut)
    expected[inside] = values[inside]
    np.testing.assert_array_equal(array[...], expected)
    np.testing.assert_array_equal(zarr.open_array(store)[...], expected)


def test_growth_by_a_chunk_lists_nothing() -> None:
    store = Counting()
    array = zarr.create_array(store, shape=(1000,), chunks=(10,), dtype="i4")
    array[:] = 1
    Counting.listings = 0
    for length in range(1005, 1100, 5):
        array.resize(length)
    assert Counting.listings == 0
    array.resize(100_000)  # many more than there are: one listing is cheaper
    assert Counting.listings == 1


def test_growth_beside_many_chunks_opens_few_folders(tmp_path: Any) -> None:
    """Growth by one chunk costs the same beside ten chunks and beside many."""
    array = zarr.create_array(LocalStore(tmp_path), shape=(400, 4), chunks=(1, 4), dtype="i4")
    array[...] = 1
    (tmp_path / "c" / "400").mkdir()
    (tmp_path / "c" / "400" / "0").write_bytes((tmp_path / "c" / "7" / "0").read_bytes())
    array.resize((402, 4))
    assert not array[400:].any()
    assert array[:400].all()


def test_a_shrinking_that_could_not_remove_chunks_names_the_new_shape() -> None:
    store = Stuck()
    array = zarr.create_array(store, shape=(8,), chunks=(2,), dtype="i4")
    array[:] = 1
    store.stuck = True
    with pytest.raises(OSError, match="no removal of c/") as raised:
        array.resize(3)
    assert any("has its new shape (3,)" in note for note in raised.value.__notes__)
    store.stuck = False
    assert array.shape == zarr.open_array(store).shape == (3,)
    array.resize(8)
    assert array[:].tolist() == [1, 1, 1, 0, 0, 0, 0, 0]
