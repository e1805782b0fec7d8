"""Codecs with coroutines only, codec pipelines and buffers of other libraries."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.abc.codec import BytesBytesCodec
from zarr.buffer import cpu
from zarr.buffer.core import BufferPrototype
from zarr.codecs.base.pipeline import BatchedCodecPipeline
from zarr.errors import ChunkNotFoundError
from zarr.registry import register_codec, register_ndbuffer, register_pipeline

from .conftest import KINDS, open_store


class Inverted(BytesBytesCodec):
    """Turns all bits over; knows coroutines only, as codecs of other libraries do."""

    is_fixed_size = True
    decoded = 0

    @classmethod
    def from_dict(cls, data: Any) -> Inverted:
        return cls()

    def to_dict(self) -> dict[str, Any]:
        return {"name": "test.inverted"}

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        return input_byte_length

    async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        await asyncio.sleep(0)
        type(self).decoded += 1
        return chunk_spec.prototype.buffer.from_array_like(~chunk_bytes.as_numpy_array())

    async def _encode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        return chunk_spec.prototype.buffer.from_array_like(~chunk_bytes.as_numpy_array())


register_codec("test.inverted", Inverted)
DATA = np.arange(100, dtype="i4").reshape(10, 10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shards", [None, (4, 6)])
def test_codecs_with_coroutines_only(kind: str, shards: Any) -> None:
    with open_store(kind) as store:
        array = zarr.create_array(store, data=DATA, chunks=(4, 3), shards=shards, compressors=Inverted())
        before = Inverted.decoded
        assert (array[...] == DATA).all()
        assert Inverted.decoded > before
        array[3:7, 2] = -1
        expected = DATA.copy()
        expected[3:7, 2] = -1
        assert (array[...] == expected).all()
        assert array[4, 2] == -1


class Recording(BatchedCodecPipeline):
    """A pipeline of somebody else, which notes what it was handed."""

    calls: list[tuple[str, int]] = []

    async def read(self, batch_info: Any, out: Any, drop_axes: tuple[int, ...] = ()) -> Any:
        batch = list(batch_info)
        self.calls.append(("read", len(batch)))
        return await super().read(batch, out, drop_axes)

    async def write(self, batch_info: Any, value: Any, drop_axes: tuple[int, ...] = ()) -> None:
        batch = list(batch_info)
        self.calls.append(("write", len(batch)))
        await super().write(batch, value, drop_axes)


@pytest.fixture
def recording() -> Any:
    register_pipeline(Recording)
    Recording.calls.clear()
    with zarr.config.set({"codec_pipeline.path": f"{__name__}.Recording"}):
        yield Recording.calls


def test_the_pipeline_of_an_array_is_one_object_and_may_be_set(recording: Any) -> None:
    array = zarr.create_array({}, data=DATA, chunks=(4, 3))
    face = array.async_array
    pipeline = face.codec_pipeline
    assert isinstance(pipeline, Recording)
    assert face.codec_pipeline is pipeline
    other = Recording.from_codecs(array.metadata.codecs).evolve_from_array_spec(array._handle.layout.outer_chain.spec)
    object.__setattr__(face, "codec_pipeline", other)
    assert face.codec_pipeline is other
    assert (array[...] == DATA).all()
    with zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.BatchedCodecPipeline"}):
        assert face.codec_pipeline is other  # as in zarr-python, the pipeline stays with the open array
        assert not isinstance(zarr.open_array(array.store).async_array.codec_pipeline, Recording)
        assert (array[...] == DATA).all()
    array.resize((12, 10))
    assert isinstance(face.codec_pipeline, Recording)
    assert face.codec_pipeline is not other
    assert (array[:10] == DATA).all()


class Strict(Recording):
    """A pipeline that takes arrays of NumPy only, as compiled ones do."""

    async def write(self, batch_info: Any, value: Any, drop_axes: tuple[int, ...] = ()) -> None:
        assert type(value.as_ndarray_like()) is np.ndarray
        await super().write(batch_info, value, drop_axes)


@pytest.mark.parametrize("value", [7, np.int32(7), np.array(7, "i4"), np.array([[7]], "i4")[0, 0]])
def test_one_element_is_handed_to_a_pipeline_as_an_array(value: Any) -> None:
    register_pipeline(Strict)
    with zarr.config.set({"codec_pipeline.path": f"{__name__}.Strict"}):
        array = zarr.create_array({}, shape=(10, 10), dtype="i4", chunks=(4, 3), shards=(8, 6))
        array[2, 2] = value
        array.vindex[[5], [5]] = value
        assert array[2, 2] == array[5, 5] == 7


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", ["", "one", "new/groups/above"])
def test_a_configured_pipeline_writes_the_data_of_a_new_array(kind: str, path: str, recording: Any) -> None:
    with open_store(kind) as store:
        for overwrite in (False, True):
            values = DATA + overwrite
            array = zarr.create_array(store, name=path or None, data=values, chunks=(4, 3), overwrite=overwrite)
            assert recording[-1] == ("write", 12)
            assert (zarr.open_array(store, path=path, mode="r")[...] == values).all()
            assert (array[...] == values).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shards", [None, (8, 6)])
def test_a_configured_pipeline_does_the_work(kind: str, shards: Any, recording: Any) -> None:
    expected = DATA.copy()
    with open_store(kind) as store:
        array = zarr.create_array(store, shape=(10, 10), dtype="i4", chunks=(4, 3), shards=shards)
        array[...] = DATA
        assert recording == [("write", 4 if shards else 12)]
        assert (array[...] == DATA).all()
        assert recording[-1] == ("read", 4 if shards else 12)
        for selection in [(3, 5), (slice(2, 7, 2), 4), (slice(None), [1, 7]), ([0, 9], [9, 0]), DATA % 3 == 0]:
            array[selection] = 7
            expected[selection] = 7
            assert (array[selection] == 7).all()
        array.oindex[[1, 8], [2, 3]] = [[1, 2], [3, 4]]
        expected[np.ix_([1, 8], [2, 3])] = [[1, 2], [3, 4]]
        array.blocks[0, 1] = 5
        expected[
            array._handle.layout.outer.axes[0].offset(0) : (8 if shards else 4),
            (6 if shards else 3) : (10 if shards else 6),
        ] = 5
        assert (array[...] == expected).all()
        assert asyncio.run(array.async_array.getitem((2, 3))) == expected[2, 3]


def test_a_configured_pipeline_tells_of_missing_chunks(recording: Any) -> None:
    array = zarr.create_array(
        {}, shape=(8,), chunks=(2,), dtype="i4", fill_value=3, config={"read_missing_chunks": False}
    )
    array[0:2] = 1
    assert array[0:2].tolist() == [1, 1]
    with pytest.raises(ChunkNotFoundError, match=r"c/1"):
        array[...]


class MyArray(np.ndarray):  # type: ignore[type-arg]
    """Elements in memory of another kind."""


class MyNDBuffer(cpu.NDBuffer):
    """A buffer over them."""

    @classmethod
    def create(cls, *, shape: Any, dtype: Any, order: Any = "C", fill_value: Any = None) -> MyNDBuffer:
        made = cls(np.empty(shape, dtype=dtype, order=order).view(MyArray))
        if fill_value is not None:
            made.fill(fill_value)
        return made

    @classmethod
    def empty(cls, shape: Any, dtype: Any, order: Any = "C") -> MyNDBuffer:
        return cls(np.empty(shape, dtype=dtype, order=order).view(MyArray))


register_ndbuffer(MyNDBuffer)


@pytest.mark.parametrize("shards", [None, (4, 6)])
def test_another_prototype(shards: Any) -> None:
    array = zarr.create_array({}, data=DATA, chunks=(4, 3), shards=shards)
    prototype = BufferPrototype(buffer=cpu.Buffer, nd_buffer=MyNDBuffer)
    got = array.get_basic_selection((slice(2, 9), 3), prototype=prototype)
    assert isinstance(got, MyArray)
    assert (got == DATA[2:9, 3]).all()
    assert isinstance(array.get_orthogonal_selection(([1, 8], slice(None)), prototype=prototype), MyArray)
    array.set_basic_selection((slice(0, 2), 3), np.array([7, 8]), prototype=prototype)
    assert array[0:2, 3].tolist() == [7, 8]
    assert not isinstance(array[...], MyArray)
    with zarr.config.set({"ndbuffer": f"{__name__}.MyNDBuffer"}):
        assert isinstance(array[...], MyArray)
        array[5] = 1
    assert array[5].tolist() == [1] * 10
