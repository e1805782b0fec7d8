"""Files made of bytes and ranges of the file before."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.arrays.io.shard_write import SPLICE_TRIES
from zarr.errors import ValueReplacedError
from zarr.storage import LocalStore, WrapperStore
from zarr.storage.local.files import splice_file


def test_parts_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "value"
    path.write_bytes(bytes(range(100)))
    splice_file(str(path), [(90, 100), memoryview(b"abc"), (0, 10), (5, 5)], fsync=True)
    assert path.read_bytes() == bytes(range(90, 100)) + b"abc" + bytes(range(10))
    assert os.listdir(tmp_path) == ["value"]


def test_a_large_range_is_copied_whole(tmp_path: Path) -> None:
    path = tmp_path / "value"
    data = np.random.default_rng(0).integers(0, 256, 3_000_001, dtype="u1").tobytes()
    path.write_bytes(data)
    splice_file(str(path), [(1, len(data))])
    assert path.read_bytes() == data[1:]


@pytest.mark.parametrize("there", [True, False])
def test_a_range_beyond_the_end_changes_nothing(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "value"
    if there:
        path.write_bytes(b"12345")
    with pytest.raises(EOFError):
        splice_file(str(path), [(0, 6)])
    assert (path.read_bytes() == b"12345") if there else not path.exists()


@pytest.mark.parametrize("there", [b"12346index", b"02345INDEX", b"1234", None])
def test_another_file_than_the_known_one_is_not_copied(tmp_path: Path, there: bytes | None) -> None:
    path = tmp_path / "value"
    known = [(lambda size: (max(0, size - 5), size), memoryview(b"INDEX")), (lambda size: (0, 1), memoryview(b"1"))]
    if there is not None:
        path.write_bytes(there)
    with pytest.raises(ValueReplacedError):
        splice_file(str(path), [(0, 2)], known=known)
    assert (path.read_bytes() if path.exists() else None) == there
    path.write_bytes(b"12345INDEX")
    splice_file(str(path), [(0, 2)], known=known)
    assert path.read_bytes() == b"12"


class ReplacedMeanwhile(LocalStore):
    """Another program replaces a shard before each splice, so often as there are other shards."""

    others: list[bytes | None]

    def splice_sync(self, key: str, parts: Any, known: Any = ()) -> None:
        if self.others:
            other = self.others.pop()
            path = self.root / key
            path.unlink() if other is None else path.write_bytes(other)
        super().splice_sync(key, parts, known)


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("index_location", ["start", "end"])
@pytest.mark.parametrize("part", [np.s_[8:16], np.s_[8:13]])
@pytest.mark.parametrize("batch", [True, False])
def test_a_shard_that_another_program_replaces_meanwhile(
    tmp_path: Path, index_location: str, times: int, part: slice, batch: bool
) -> None:
    """Kept inner chunks are those of the shard that is there, and can be decoded."""
    store = ReplacedMeanwhile(tmp_path)
    store.others = []
    serializer = zarr.codecs.ShardingCodec(
        chunk_shape=(8,), codecs=[zarr.codecs.BytesCodec(), zarr.codecs.GzipCodec()], index_location=index_location
    )
    array = zarr.create_array(store, shape=(64,), chunks=(64,), dtype="i4", serializer=serializer, compressors=None)
    contents, others = [], []
    for number in range(6):
        contents.append(np.repeat(np.arange(64 // 2**number) * 1000 + number, 2**number))
        array[...] = contents[-1]
        others.append((tmp_path / "c/0").read_bytes())
    array[...] = np.random.default_rng(0).integers(0, 2**31, 64)
    store.others = others[:times]
    with array.batch() if batch else contextlib.nullcontext():
        array[part] = -5
    assert len(store.others) == max(0, times - sum(SPLICE_TRIES))
    expected = contents[len(store.others)]
    expected[part] = -5
    np.testing.assert_array_equal(array[...], expected)


def test_a_shard_that_another_program_removes_meanwhile(tmp_path: Path) -> None:
    store = ReplacedMeanwhile(tmp_path)
    store.others = []
    array = zarr.create_array(store, shape=(64,), chunks=(8,), shards=(64,), dtype="i4", fill_value=7)
    array[...] = np.arange(64)
    store.others = [None]
    array[8:13] = 1
    expected = np.full(64, 7)
    expected[8:13] = 1
    np.testing.assert_array_equal(array[...], expected)


def test_without_scattered_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "readv", raising=False)
    path = tmp_path / "value"
    path.write_bytes(b"0123456789")
    splice_file(str(path), [(2, 9)])
    assert path.read_bytes() == b"2345678"


@pytest.mark.parametrize("index_location", ["start", "end"])
def test_a_part_of_a_shard_in_a_file_is_what_it_is_in_memory(tmp_path: Path, index_location: str) -> None:
    serializer = zarr.codecs.ShardingCodec(
        chunk_shape=(4, 4), codecs=[zarr.codecs.BytesCodec(), zarr.codecs.ZstdCodec()], index_location=index_location
    )
    stores = LocalStore(tmp_path), zarr.storage.MemoryStore()
    rng = np.random.default_rng(1)
    for store in stores:
        zarr.create_array(
            store, name="a", shape=(20, 20), chunks=(16, 16), dtype="i4", serializer=serializer, compressors=None
        )[...] = 1
    for _ in range(40):
        y, x = (int(i) for i in rng.integers(0, 20, 2))
        height, width = (int(i) for i in rng.integers(1, 9, 2))
        value = int(rng.integers(0, 3))
        for store in stores:
            zarr.open_array(store, path="a")[y : y + height, x : x + width] = value
    for key in ("c/0/0", "c/0/1", "c/1/0", "c/1/1"):
        kept = stores[1].get_sync(f"a/{key}")
        assert (tmp_path / "a" / key).read_bytes() == kept.to_bytes()


def test_a_shard_that_is_too_short_is_named(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path, shape=(64,), chunks=(16,), shards=(64,), dtype="i4", compressors=None)
    array[...] = np.arange(64)
    path = tmp_path / "c/0"
    path.write_bytes(path.read_bytes()[256:])
    with pytest.raises(zarr.errors.ChunkDecodeError, match="shorter than in its index"):
        array[0:16] = 7


def test_a_part_of_a_shard_through_a_wrapper(tmp_path: Path) -> None:
    array = zarr.create_array(WrapperStore(LocalStore(tmp_path)), shape=(6,), chunks=(1,), shards=(6,), dtype="i4")
    array[:] = np.arange(6)
    array[4] = 9
    assert array[:].tolist() == [0, 1, 2, 3, 9, 5]
