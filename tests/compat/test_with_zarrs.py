"""A user's work with zarrs: its codec pipeline, in Rust, in the place of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import zarr
from zarr.storage import LocalStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

zarrs = pytest.importorskip("zarrs", reason="zarrs is not installed")

DATA = np.random.default_rng(4).integers(0, 1000, (60, 50)).astype("i4")
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {"chunks": (16, 20)},
    "sharded": {"chunks": (8, 10), "shards": (32, 40)},
    "blosc": {"chunks": (16, 20), "compressors": zarr.codecs.BloscCodec(cname="lz4")},
    "bare": {"chunks": (16, 20), "compressors": None},
    "gzip": {"chunks": (16, 20), "compressors": [zarr.codecs.GzipCodec(), zarr.codecs.Crc32cCodec()]},
    "transposed": {"chunks": (16, 20), "filters": zarr.codecs.TransposeCodec(order=(1, 0))},
    "v2": {"chunks": (16, 20), "zarr_format": 2},
}


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Switch to the pipeline of zarrs, and note which of its methods are called."""
    calls: list[str] = []
    for name in ("read", "write"):
        method = getattr(zarrs.ZarrsCodecPipeline, name)

        async def noted(self: Any, *args: Any, _name: str = name, _method: Any = method, **kwargs: Any) -> Any:
            calls.append(_name)
            return await _method(self, *args, **kwargs)

        monkeypatch.setattr(zarrs.ZarrsCodecPipeline, name, noted)
    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
        yield calls


@pytest.mark.parametrize("kind", list(OPTIONS))
def test_writes_what_we_read(pipeline: list[str], tmp_path: Path, kind: str) -> None:
    array = zarr.create_array(LocalStore(tmp_path), shape=DATA.shape, dtype=DATA.dtype, **OPTIONS[kind])
    array[:] = DATA
    array[10:30, 5:45] = DATA[10:30, 5:45] + 1
    expected = DATA.copy()
    expected[10:30, 5:45] += 1
    np.testing.assert_array_equal(array[:], expected)
    assert {"read", "write"} == set(pipeline)
    with zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.BatchedCodecPipeline"}):
        np.testing.assert_array_equal(zarr.open_array(tmp_path, mode="r")[:], expected)


@pytest.mark.parametrize("kind", list(OPTIONS))
def test_reads_what_we_write(pipeline: list[str], tmp_path: Path, kind: str) -> None:
    with zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.BatchedCodecPipeline"}):
        zarr.create_array(tmp_path, data=DATA, **OPTIONS[kind])
    array: Any = zarr.open_array(tmp_path, mode="r")
    np.testing.assert_array_equal(array[:], DATA)
    np.testing.assert_array_equal(array[7:33, 11], DATA[7:33, 11])
    np.testing.assert_array_equal(array[5], DATA[5])
    np.testing.assert_array_equal(array[::7, 3:40:5], DATA[::7, 3:40:5])
    np.testing.assert_array_equal(array.oindex[[50, 2], 10:20], DATA[[50, 2], 10:20])
    np.testing.assert_array_equal(array.vindex[[50, 2, 3], [1, 49, 20]], DATA[[50, 2, 3], [1, 49, 20]])
    assert array[3, 4] == DATA[3, 4]
    assert "read" in pipeline


def test_missing_chunks_are_the_fill_value(pipeline: list[str], tmp_path: Path) -> None:
    array: Any = zarr.create_array(LocalStore(tmp_path), shape=(30, 30), chunks=(10, 10), dtype="f4", fill_value=1.5)
    array[5:15, 5:15] = 2
    expected = np.full((30, 30), 1.5, "f4")
    expected[5:15, 5:15] = 2
    np.testing.assert_array_equal(array[:], expected)
    assert "read" in pipeline


@pytest.mark.parametrize("dtype", ["U5", "S5", "M8[s]", "f8", "?", "c16", "i2"])
def test_data_types_that_it_leaves_to_us(pipeline: list[str], tmp_path: Path, dtype: str) -> None:
    values = np.arange(30).astype(dtype)
    array = zarr.create_array(LocalStore(tmp_path), shape=values.shape, dtype=values.dtype, chunks=(7,))
    array[:] = values
    np.testing.assert_array_equal(array[:], values)
    np.testing.assert_array_equal(array[3:20:2], values[3:20:2])


def test_a_memory_store(pipeline: list[str]) -> None:
    """An array over a store that it does not know may be read in any way, but must work."""
    array = zarr.create_array({}, shape=DATA.shape, dtype=DATA.dtype, chunks=(16, 20))
    array[:] = DATA
    np.testing.assert_array_equal(array[:], DATA)
