"""The strategies draw what they say."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.extra import numpy as npst

import zarr.testing.strategies as zrst
from zarr.chunks import RectilinearChunkGridMetadata

quick = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")


@quick
@given(data=st.data())
def test_selections_mean_the_same_to_numpy(data: Any) -> None:
    array = data.draw(zrst.simple_arrays(shapes=npst.array_shapes(max_dims=3, max_side=5)))
    values = array[...]
    where = data.draw(zrst.basic_indices(shape=array.shape))
    np.testing.assert_array_equal(array[where], values[where])
    ours, theirs = data.draw(zrst.orthogonal_indices(shape=array.shape))
    np.testing.assert_array_equal(np.asarray(array.oindex[ours]), values[theirs])


@quick
@given(data=st.data())
def test_blocks_mean_the_same_to_numpy(data: Any) -> None:
    array, values = data.draw(zrst.block_test_arrays())
    blocks, elements = data.draw(zrst.block_indices(chunk_sizes=array.write_chunk_sizes))
    np.testing.assert_array_equal(array.blocks[blocks], values[elements])


@quick
@given(data=st.data())
def test_arrays_of_all_kinds_are_stored(data: Any) -> None:
    values = data.draw(zrst.numpy_arrays())
    array = data.draw(zrst.arrays(arrays=st.just(values)))
    np.testing.assert_array_equal(array[...], values)
    assert data.draw(zrst.sharded_arrays()).shards is not None


@quick
@given(data=st.data())
def test_rectilinear(data: Any) -> None:
    values, array = data.draw(zrst.complex_rectilinear_arrays())
    np.testing.assert_array_equal(array[...], values)
    written, meant = data.draw(zrst.rectilinear_chunk_shape_declarations(shape=(7, 5)))
    document = {"kind": "inline", "chunk_shapes": written}
    grid = RectilinearChunkGridMetadata.from_dict({"name": "rectilinear", "configuration": document})
    assert grid.chunk_shapes == meant
    assert all(sum(lengths) == 9 for lengths in [data.draw(zrst.rectilinear_dim_edges(extent=9))])


@quick
@given(data=st.data())
def test_shapes_fit(data: Any) -> None:
    shape = data.draw(npst.array_shapes(max_dims=3, max_side=9))
    chunks = data.draw(zrst.chunk_shapes(shape=shape))
    shards = data.draw(zrst.shard_shapes(shape=shape, chunk_shape=chunks))
    assert all(0 < c <= n for c, n in zip(chunks, shape, strict=True))
    assert all(s % c == 0 for s, c in zip(shards, chunks, strict=True))


@quick
@given(metadata=zrst.array_metadata())
def test_metadata_survives_its_document(metadata: Any) -> None:
    assert type(metadata).from_dict(metadata.to_dict()) == metadata


@quick
@given(
    dtype=zrst.zdtypes(),
    fields=zrst.structured_dtypes(),
    key=zrst.keys(),
    path=zrst.paths(),
    names=zrst.dimension_names(ndim=2),
)
def test_names_and_types(dtype: Any, fields: Any, key: str, path: str, names: Any) -> None:
    assert dtype.to_native_dtype().itemsize > 0
    assert fields.names
    assert key
    assert not key.startswith("/")
    assert path == "/" or not path.startswith("/")
    assert names is None or len(names) == 2


@quick
@given(ranges=zrst.key_ranges(max_size=20))
def test_ranges_stay_inside(ranges: Any) -> None:
    for _, part in ranges:
        assert getattr(part, "end", 0) <= 20


@quick
@given(data=st.data())
def test_empty_axes_get_chunks_to_grow_into(data: Any) -> None:
    edges = data.draw(zrst.rectilinear_chunks(shape=(0, 5)))
    assert edges[0]
    assert all(length > 0 for length in edges[0])
    assert sum(edges[1]) == 5


@quick
@given(data=st.data())
def test_selections_along_each_axis_also_of_nothing(data: Any) -> None:
    shape = data.draw(zrst.array_shapes)
    array = data.draw(zrst.simple_arrays(shapes=st.just(shape)))
    ours, theirs = data.draw(zrst.orthogonal_indices(shape=shape))
    np.testing.assert_array_equal(array.oindex[ours], array[...][theirs])


@quick
@given(codecs=zrst.sharding_inner_codecs)
def test_codecs_of_inner_chunks_begin_with_a_serializer(codecs: list[Any]) -> None:
    assert codecs[0].to_dict()["name"] == "bytes"
