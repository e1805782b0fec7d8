"""The codec ``zarrs.squeeze``: chunks are stored without their dimensions of length 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zarr
from zarr.codecs import ShardingCodec, TransposeCodec
from zarr.codecs.extensions.reshape import SqueezeCodec, squeezed


def made(values: np.ndarray[Any, Any], **options: Any) -> zarr.Array[Any]:
    array = zarr.create_array({}, shape=values.shape, dtype=values.dtype, compressors=None, **options)
    array[...] = values
    return array


def reopened(array: zarr.Array[Any]) -> zarr.Array[Any]:
    return zarr.open_array(array.store, mode="r")


def numbered(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return (1 + np.arange(int(np.prod(shape, dtype=int)), dtype="i4")).reshape(shape)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 3)), max_size=4), st.data())
def test_round_trips_over_shapes_and_chunks(axes: list[tuple[int, int]], data: st.DataObject) -> None:
    shape, chunks = tuple(a for a, _ in axes), tuple(b for _, b in axes)
    values = numbered(shape)
    array = made(values, chunks=chunks, filters=SqueezeCodec())
    np.testing.assert_array_equal(reopened(array)[...], values)
    part = tuple(slice(*sorted((data.draw(st.integers(0, n)), data.draw(st.integers(0, n))))) for n in shape)
    array[part] = -values[part]
    values[part] = -values[part]
    np.testing.assert_array_equal(reopened(array)[...], values)
    np.testing.assert_array_equal(reopened(array)[part], values[part])


@pytest.mark.parametrize(("shape", "stored"), [((1, 3, 1, 2), (3, 2)), ((1, 1), (1,)), ((), (1,)), ((4,), (4,))])
def test_what_is_left_of_a_shape(shape: tuple[int, ...], stored: tuple[int, ...]) -> None:
    assert squeezed(shape) == stored


def test_codecs_after_it_count_the_dimensions_that_are_left() -> None:
    values = numbered((3, 4, 6))
    array = made(values, chunks=(1, 2, 3), filters=[SqueezeCodec(), TransposeCodec(order=(1, 0))])
    np.testing.assert_array_equal(reopened(array)[...], values)
    assert array.store._store_dict["c/0/0/0"].to_bytes() == values[0, :2, :3].T.tobytes()  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="order"):
        made(values, chunks=(1, 2, 3), filters=[SqueezeCodec(), TransposeCodec(order=(2, 1, 0))])


def test_shards_after_it_and_around_it() -> None:
    values = numbered((3, 5, 6))
    after = made(values, chunks=(1, 4, 6), filters=SqueezeCodec(), serializer=ShardingCodec(chunk_shape=(2, 3)))
    inside = made(values, chunks=(1, 2, 3), shards=(3, 4, 6), filters=SqueezeCodec())
    for array in (after, inside):
        np.testing.assert_array_equal(reopened(array)[...], values)
        assert reopened(array)[2, 4, 5] == values[2, 4, 5]


def test_its_document() -> None:
    array = made(numbered((2, 2)), chunks=(1, 2), filters=SqueezeCodec())
    assert reopened(array).metadata.to_dict()["codecs"][0] == {"name": "zarrs.squeeze", "configuration": {}}
    assert SqueezeCodec.from_dict({"name": "zarrs.squeeze"}) == SqueezeCodec()
    with pytest.raises(TypeError):
        SqueezeCodec.from_dict({"name": "zarrs.squeeze", "configuration": {"axes": [0]}})
