"""Making arrays by the many functions for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numcodecs import Delta, GZip

import zarr
from zarr.codecs import BytesCodec, GzipCodec, TransposeCodec
from zarr.errors import ContainsArrayError, ZarrRuntimeWarning
from zarr.storage import MemoryStore


@pytest.fixture(params=[2, 3], ids=["v2", "v3"])
def zarr_format(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_create_by_default() -> None:
    array = zarr.create(10)
    assert (array.shape, array.dtype, array.chunks, array.metadata.zarr_format) == ((10,), np.dtype("f8"), (10,), 3)
    with zarr.config.set({"default_zarr_format": 2}):
        assert zarr.create(10).metadata.zarr_format == 2


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [(True, (100, 100)), (False, (100, 100)), (10, (10, 10)), ((10, 20), (10, 20)), ((10, -1), (10, 100))],
)
def test_chunks(chunks: Any, expected: tuple[int, ...], zarr_format: Any) -> None:
    assert zarr.create((100, 100), chunks=chunks, zarr_format=zarr_format).chunks == expected
    if not isinstance(chunks, bool):
        assert zarr.create((100, 100), chunk_shape=chunks, zarr_format=zarr_format).chunks == expected
    with pytest.raises(ValueError, match="chunk_shape"):
        zarr.create((100, 100), chunks=chunks, chunk_shape=(5, 5))


def test_words_of_format_2() -> None:
    array = zarr.create(
        (4, 4),
        zarr_format=2,
        compressor=GZip(1),
        filters=[Delta("i4")],
        dtype="i4",
        order="F",
        dimension_separator="/",
        chunks=(2, 2),
    )
    assert array.compressors == (GZip(1),)
    assert array.filters == (Delta("i4"),)
    assert array.order == "F"
    array[:] = np.arange(16).reshape(4, 4)
    assert "1/1" in zarr.core.sync.collect_aiterator(array.store.list())
    np.testing.assert_array_equal(array[:], np.arange(16).reshape(4, 4))
    assert zarr.create(4, zarr_format=2, compressor=None).compressors == ()
    assert zarr.create(4, zarr_format=2, fill_value=None).fill_value is None


def test_words_of_format_3() -> None:
    array = zarr.create(
        (4, 4),
        codecs=[TransposeCodec(order=(1, 0)), BytesCodec(), {"name": "gzip", "configuration": {"level": 1}}],
        chunk_key_encoding=("v2", "."),
        dimension_names=["a", "b"],
        chunks=(2, 2),
    )
    assert array.filters == (TransposeCodec(order=(1, 0)),)
    assert array.compressors == (GzipCodec(level=1),)
    assert array.metadata.dimension_names == ("a", "b")
    array[:] = np.arange(16).reshape(4, 4)
    assert "1.1" in zarr.core.sync.collect_aiterator(array.store.list())
    np.testing.assert_array_equal(array[:], np.arange(16).reshape(4, 4))
    with pytest.raises(ValueError, match="Required ArrayBytesCodec was not found"):
        zarr.create(4, codecs=[GzipCodec()])
    with pytest.raises(TypeError, match="Invalid codec order"):
        zarr.create(4, codecs=[GzipCodec(), BytesCodec()])
    with pytest.raises(TypeError, match="numcodecs"):
        zarr.create(4, codecs=[BytesCodec(), GZip()])


@pytest.mark.parametrize(
    ("zarr_format", "words"),
    [
        (2, {"codecs": [BytesCodec()]}),
        (2, {"chunk_key_encoding": ("v2", ".")}),
        (2, {"dimension_names": ["a"]}),
        (3, {"filters": []}),
        (3, {"dimension_separator": "/"}),
    ],
)
def test_words_of_the_other_format_are_refused(zarr_format: Any, words: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"zarr_format {zarr_format}"):
        zarr.create(4, zarr_format=zarr_format, **words)


def test_compressor_is_a_word_of_format_2() -> None:
    assert zarr.create(4, compressor=None, zarr_format=2).compressors == ()
    for compressor in (None, GzipCodec(), "blosc"):
        with pytest.raises(ValueError, match="compressor cannot be used for arrays with zarr_format 3"):
            zarr.create(4, compressor=compressor, zarr_format=3)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", [str, "string", "datetime64[s]", "f4", "S3"])
def test_data_get_the_type_that_was_asked_for(dtype: Any, zarr_format: Any) -> None:
    made = zarr.array(np.arange(3), dtype=dtype, zarr_format=zarr_format)
    plain = zarr.create(3, dtype=dtype, zarr_format=zarr_format)
    assert made.metadata.dtype == plain.metadata.dtype
    plain[:] = np.arange(3)
    assert made[:].tolist() == plain[:].tolist()


@pytest.mark.parametrize(
    "name",
    ["synchronizer", "cache_metadata", "cache_attrs", "object_codec", "read_only", "meta_array"],
)
def test_parameters_without_effect_say_so(name: str) -> None:
    with pytest.warns(ZarrRuntimeWarning, match=name):
        zarr.create(3, **{name: True})


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises(TypeError, match="foo"):
        zarr.create(3, foo=1)
    with pytest.raises(TypeError, match="foo"):
        zarr.create_array({}, shape=3, dtype="int8", foo=1)  # type: ignore[call-arg]


def test_what_is_there_stays() -> None:
    store = MemoryStore()
    zarr.create(3, store=store)[:] = 1
    with pytest.raises(ContainsArrayError):
        zarr.create(4, store=store)
    assert zarr.open(store)[0] == 1
    assert zarr.create(4, store=store, overwrite=True)[0] == 0
    assert zarr.create(5, store=store, mode="w").shape == (5,)


def test_with_data() -> None:
    np.testing.assert_array_equal(zarr.create(3, data=[1, 2, 3])[:], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(zarr.array([1, 2, 3])[:], [1, 2, 3])
    assert zarr.array([1, 2], dtype="f4").dtype == np.dtype("f4")
    assert zarr.array(["a", "bb"])[1] == "bb"
    assert zarr.array(np.arange(10), chunks=3).chunks == (3,)
    np.testing.assert_array_equal(zarr.array(zarr.array([[1, 2]]))[:], [[1, 2]])
    with pytest.raises(ValueError, match="read_only"):
        zarr.array([1], read_only=True)


@pytest.mark.parametrize("function", ["empty", "zeros", "ones"])
def test_arrays_of_one_value(function: str, zarr_format: Any) -> None:
    value = {"empty": 0, "zeros": 0, "ones": 1}[function]
    made = getattr(zarr, function)((3,), dtype="int8", chunks=2, zarr_format=zarr_format)
    np.testing.assert_array_equal(made[:], np.full(3, value))
    model = zarr.full((4,), 5, dtype="int16", chunks=2, zarr_format=zarr_format, attributes={"k": 1})
    like = getattr(zarr, f"{function}_like")(model)
    np.testing.assert_array_equal(like[:], np.full(4, 5 if function == "empty" else value))
    assert (like.shape, like.chunks, like.dtype) == (model.shape, model.chunks, model.dtype)
    assert like.metadata.zarr_format == zarr_format
    assert like.compressors == model.compressors
    other = getattr(zarr, f"{function}_like")(model, zarr_format=5 - zarr_format)
    assert (other.metadata.zarr_format, other.chunks) == (5 - zarr_format, (2,))


def test_full_like() -> None:
    model = zarr.create((4,), dtype="int16", fill_value=3)
    assert zarr.full_like(model)[0] == 3
    assert zarr.full_like(model, fill_value=9)[0] == 9
    assert zarr.full_like(np.zeros(3), fill_value=9)[0] == 9
    with pytest.raises(TypeError, match="fill_value"):
        zarr.full_like(np.zeros(3))


def test_like_a_sharded_array() -> None:
    model = zarr.create_array({}, shape=(8,), chunks=(2,), shards=(4,), dtype="int8")
    like = zarr.zeros_like(model)
    assert (like.chunks, like.shards) == ((2,), (4,))
    assert zarr.zeros_like(model, zarr_format=2).chunks == (2,)


def test_like_with_changes() -> None:
    model = zarr.create((8,), chunks=(2,), dtype="int8")
    changed = zarr.zeros_like(model, dtype="f8", chunks=(4,), shape=(9,))
    assert (changed.dtype, changed.chunks, changed.shape) == (np.dtype("f8"), (4,), (9,))
    assert zarr.zeros_like([1, 2, 3]).shape == (3,)


@pytest.mark.parametrize("dtype", ["f4", "u1", None, str, "S3", [("a", "i4")]])
def test_like_with_another_data_type_keeps_the_codecs(dtype: Any) -> None:
    packers = [GzipCodec(level=1)]
    model = zarr.create_array({}, shape=(8,), chunks=(2,), shards=(4,), dtype="u1", compressors=packers)
    like = zarr.zeros_like(model, dtype=dtype)
    assert (like.chunks, like.shards, like.compressors) == ((2,), (4,), tuple(packers))
    assert like.serializer == zarr.create_array({}, shape=(8,), dtype=like.dtype).serializer
    like[:] = like[:]
    assert zarr.open_array(like.store)[:].tolist() == like[:].tolist()


def test_like_with_another_data_type_keeps_byte_order_and_filters() -> None:
    filters, serializer = [TransposeCodec(order=(1, 0))], BytesCodec(endian="big")
    model = zarr.create_array({}, shape=(4, 4), dtype="f8", filters=filters, serializer=serializer)
    like = zarr.ones_like(model, dtype="i2")
    assert (like.filters, like.serializer, like.compressors) == (tuple(filters), serializer, model.compressors)


def test_like_a_sharded_array_with_other_codecs_has_its_chunks() -> None:
    model = zarr.create_array({}, shape=(8,), chunks=(2,), shards=(4,), dtype="int8")
    like = zarr.zeros_like(model, codecs=[BytesCodec()])
    assert (like.chunks, like.shards) == ((2,), None)


def test_create_array_after_a_zarr_array() -> None:
    model = zarr.create_array({}, data=np.arange(10), chunks=(3,), compressors=GzipCodec())
    copy = zarr.create_array({}, name="a/b", data=model, chunks=(5,))
    np.testing.assert_array_equal(copy[:], np.arange(10))
    assert (copy.path, copy.chunks) == ("a/b", (5,))
    # As in zarr-python: codecs and chunks are chosen anew, what describes the array comes along.
    assert copy.compressors == zarr.create_array({}, data=np.arange(10)).compressors != model.compressors
    with pytest.raises(ValueError, match="shape"):
        zarr.create_array({}, data=model, shape=(3,))


def test_from_array() -> None:
    model = zarr.create_array({}, data=np.arange(10), chunks=(3,), attributes={"k": 1})
    copy = zarr.from_array({}, data=model)
    np.testing.assert_array_equal(copy[:], np.arange(10))
    assert (copy.chunks, copy.attrs["k"]) == ((3,), 1)
    assert not zarr.from_array({}, data=model, write_data=False)[:].any()
