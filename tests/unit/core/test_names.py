"""The import paths that other libraries use lead to the same objects."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys

import pytest

import zarr

SAME = {
    "zarr.core.array.Array": "zarr.Array",
    "zarr.core.array.AsyncArray": "zarr.AsyncArray",
    "zarr.core.group.Group": "zarr.Group",
    "zarr.core.group.GroupMetadata": "zarr.metadata.group.GroupMetadata",
    "zarr.core.group.StoreLike": "zarr.storage.StoreLike",
    "zarr.core.buffer.Buffer": "zarr.abc.buffer.Buffer",
    "zarr.core.buffer.cpu.Buffer": "zarr.buffer.cpu.Buffer",
    "zarr.core.buffer.core.default_buffer_prototype": "zarr.buffer.default_buffer_prototype",
    "zarr.core.config.config": "zarr.config",
    "zarr.core.config.deprecations": "zarr.settings.deprecations",
    "zarr.core.metadata.ArrayV3Metadata": "zarr.core.metadata.v3.ArrayV3Metadata",
    "zarr.core.dtype.VariableLengthUTF8": "zarr.dtype.VariableLengthUTF8",
    "zarr.core.dtype.npy.int.Int8": "zarr.dtype.Int8",
    "zarr.core.indexing.AsyncOIndex": "zarr.arrays.methods.indexers.AsyncOIndex",
    "zarr.core.chunk_grids.ChunkGrid": "zarr.experimental.ChunkGrid",
    "zarr.core.BatchedCodecPipeline": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "zarr.storage._common.make_store_path": "zarr.core.group.make_store_path",
}


def resolve(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize("name", SAME)
def test_same_object(name: str) -> None:
    assert resolve(name) is resolve(SAME[name])


def test_sync_helpers() -> None:
    core = zarr.core.sync

    async def answer() -> int:
        return 7

    async def numbers():  # type: ignore[no-untyped-def]
        yield 1
        yield 2

    assert core.sync(answer()) == 7
    assert core.collect_aiterator(numbers()) == (1, 2)
    assert core.sync(core._collect_aiterator(numbers())) == (1, 2)
    assert core._get_loop().is_running()
    assert core._get_executor() is not None
    core.cleanup_resources()
    assert core.sync(answer()) == 7


def test_concurrency_helpers() -> None:
    common = importlib.import_module("zarr.core.common")
    running = most = 0

    async def work(i: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return 2 * i

    assert asyncio.run(common.concurrent_map([(i,) for i in range(8)], work, limit=3)) == [2 * i for i in range(8)]
    assert most <= 3


def test_array_documents() -> None:
    core = importlib.import_module("zarr.core.array")
    array = zarr.create_array({}, shape=(4,), dtype="int8")
    assert asyncio.run(core.get_array_metadata(array.store_path))["shape"] == (4,)
    assert core.parse_array_metadata(array.metadata) is array.metadata
    pipeline = core.create_codec_pipeline(array.metadata)
    assert isinstance(pipeline, zarr.abc.codec.CodecPipeline)
    place = zarr.storage.StorePath(zarr.storage.MemoryStore(), "b")
    made = asyncio.run(core.init_array(store_path=place, shape=(3,), dtype="int8"))
    assert made.shape == (3,)


def test_modules_below_are_attributes_before_anybody_imports_them() -> None:
    program = (
        "import zarr\n"
        "zarr.core.array_spec.ArrayConfig, zarr.core.chunk_key_encodings, zarr.core.metadata.v3, zarr.core.buffer.gpu\n"
        "zarr.core.dtype.npy.int, zarr.core.dtype.common, zarr.storage._common.make_store_path\n"
        "for package in (zarr.core, zarr.core.metadata, zarr.storage):\n"
        "    assert not hasattr(package, 'nothing') and not hasattr(package, '_nothing')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
