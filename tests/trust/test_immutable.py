"""Arrays opened with ``immutable=True``: one request for an inner chunk, the same values, and no writing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.test_index_tables import ITEMS, NCHUNKS, content, make
from zarr.errors import ReadOnlyError
from zarr.storage import FsspecStore, LocalStore, MemoryStore, ObjectStore, SQLiteStore, ZipStore

FIXED: Any = {"immutable": True}
KINDS = ["memory", "local", "zip", "sqlite", "obstore", "fsspec"]


def store_of(kind: str, folder: Path) -> Any:
    match kind:
        case "memory":
            return MemoryStore()
        case "local":
            return LocalStore(folder / "a.zarr")
        case "zip":
            return ZipStore(folder / "a.zip", mode="w")
        case "sqlite":
            return SQLiteStore(folder / "a.db")
        case "obstore":
            return ObjectStore(pytest.importorskip("obstore").store.MemoryStore())
    pytest.importorskip("fsspec")
    return FsspecStore.from_url(f"memory://{folder.name}")


@pytest.mark.parametrize("cache", [0, 1 << 20])
@pytest.mark.parametrize("kind", KINDS)
def test_reads_are_those_of_a_plain_array(kind: str, cache: int, tmp_path: Path) -> None:
    store = store_of(kind, tmp_path)
    make(store)
    plain = zarr.open_array(store, mode="r")
    fixed = zarr.open_array(store, mode="r", config={**FIXED, "chunk_cache_bytes": cache})
    rng = np.random.default_rng(3)
    for _ in range(60):
        start = int(rng.integers(NCHUNKS * ITEMS))
        part = slice(start, start + int(rng.integers(1, 3 * ITEMS)))
        np.testing.assert_array_equal(fixed[part], plain[part])
        np.testing.assert_array_equal(fixed[part], content(0)[part])
    store.close()


def test_an_inner_chunk_is_one_request(tmp_path: Path) -> None:
    store = store_of("obstore", tmp_path)
    make(store)
    asked: list[Any] = []

    class Counting(type(store)):  # type: ignore[misc]
        async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
            asked.append(key)
            return await super().get(key, *arguments, **options)

    counting = Counting(store.store)
    fixed, plain = (zarr.open_array(counting, mode="r", config=config) for config in (FIXED, None))
    fixed[0], plain[0]
    for array, requests in ((fixed, 1), (plain, 2)):
        asked.clear()
        assert array[7 * ITEMS] == content(0)[7 * ITEMS]
        assert len(asked) == requests


def test_each_opening_reads_anew() -> None:
    store = MemoryStore()
    make(store)
    before = zarr.open_array(store, mode="r", config=FIXED)
    assert before[5] == content(0)[5]
    zarr.open_array(store, mode="r+")[:] = content(1)
    np.testing.assert_array_equal(zarr.open_array(store, mode="r", config=FIXED)[:ITEMS], content(1)[:ITEMS])


def test_two_arrays_do_not_share_indexes() -> None:
    stores = [MemoryStore(), MemoryStore()]
    for version, store in enumerate(stores):
        make(store)[:] = content(version)
    first, second = (zarr.open_array(store, mode="r", config=FIXED) for store in stores)
    for place in (5, 500, 2000):
        assert [first[place], second[place]] == [content(0)[place], content(1)[place]]


@pytest.mark.parametrize(
    "write",
    [
        lambda array: array.__setitem__(0, 1),
        lambda array: array.oindex.__setitem__([0, 1], 1),
        lambda array: array.set_mask_selection(np.arange(NCHUNKS * ITEMS) == 2, 1),
        lambda array: array.resize((10,)),
        lambda array: array.append(np.zeros(3, "i4")),
    ],
    ids=["brackets", "oindex", "mask", "resize", "append"],
)
def test_writing_is_refused(write: Any) -> None:
    store = MemoryStore()
    make(store)
    fixed = zarr.open_array(store, mode="r+", config=FIXED)
    with pytest.raises(ReadOnlyError, match="immutable=True"):
        write(fixed)
    assert fixed.read_only
    assert not fixed.with_config({"immutable": False}).read_only
    np.testing.assert_array_equal(fixed[:], content(0))
