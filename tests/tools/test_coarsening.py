"""Coarser levels hold what numpy computes, block by block, and say what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import zarr
from zarr.storage import MemoryStore
from zarr.tools.copies.reductions import METHODS, reduce_blocks


def expected(values: Any, factors: Any, method: str) -> Any:
    """Reduce block by block, as one would by hand."""
    result = np.empty([-(-n // f) for n, f in zip(values.shape, factors, strict=True)], dtype=values.dtype)
    for place in np.ndindex(result.shape):
        block = values[tuple(slice(i * f, (i + 1) * f) for i, f in zip(place, factors, strict=True))].ravel()
        result[place] = one(block, method)
    return result


def one(block: Any, method: str) -> Any:
    kept = block[~np.isnan(block)] if block.dtype.kind == "f" else block
    if method == "nearest":
        return block[0]
    if method == "mode":
        found, counts = np.unique(block, return_counts=True, equal_nan=False)
        return found[counts.argmax()]
    if not kept.size:
        return np.nan
    if method == "mean":
        total = sum(int(each) for each in kept) if block.dtype.kind in "iub" else kept.sum(dtype="f8")
        if block.dtype.kind == "b":
            return total * 2 >= kept.size
        return (2 * total + kept.size) // (2 * kept.size) if block.dtype.kind in "iu" else total / kept.size
    return kept.max() if method == "max" else kept.min()


@given(st.data(), st.sampled_from(METHODS), st.sampled_from(["?", "i1", "u2", "i4", "f4", "f8"]))
@settings(max_examples=200, deadline=None)
def test_blocks(data: st.DataObject, method: Any, dtype: str) -> None:
    if dtype == "?" and method in ("max", "min"):
        method = "mode"
    elements = {"allow_infinity": False, "min_value": -1000, "max_value": 1000} if dtype[0] == "f" else None
    shape = data.draw(npst.array_shapes(min_dims=1, max_dims=3, max_side=7))
    values = data.draw(npst.arrays(dtype, shape, elements=elements))
    factors = data.draw(st.tuples(*(st.integers(1, 4) for _ in shape)))
    found = reduce_blocks(values, factors, method)
    assert found.dtype == values.dtype
    if dtype[0] == "f":
        np.testing.assert_allclose(found, expected(values, factors, method), rtol=1e-5, atol=1e-3)
    else:
        np.testing.assert_array_equal(found, expected(values, factors, method))


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_means_of_large_integers(dtype: str) -> None:
    top = np.iinfo(dtype).max
    values = np.array([top, top, top - 4, top], dtype=dtype)
    assert reduce_blocks(values, (4,), "mean").tolist() == [top - 1]


@pytest.mark.parametrize("memory", ["1 MiB", 4096])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_pyramids(zarr_format: Any, memory: Any, tmp_path: Path) -> None:
    data = np.random.default_rng(0).integers(0, 9, (3, 45, 50)).astype("u2")
    array = zarr.create_array(tmp_path / "a", data=data, chunks=(1, 10, 10), zarr_format=zarr_format)
    convention: Any = "ome" if zarr_format == 3 else None
    pyramid = zarr.tools.coarsen(array, tmp_path / "b", method="max", convention=convention, memory=memory)
    assert sorted(pyramid) == ["0", "1", "2", "3"]
    for level in range(1, 4):
        data = expected(data, (1, 2, 2), "max")
        np.testing.assert_array_equal(pyramid[str(level)][...], data)
        assert pyramid[str(level)].chunks == (1, 10, 10)
        assert pyramid[str(level)].metadata.zarr_format == zarr_format


def test_metadata_of_ome_zarr() -> None:
    array = zarr.create_array({}, shape=(2, 64, 64), chunks=(1, 32, 32), dtype="u1", dimension_names=("c", "y", "x"))
    image = zarr.tools.coarsen(array, {}, factors=(1, 2, 2)).attrs["ome"]["multiscales"][0]
    assert [axis["type"] for axis in image["axes"]] == ["channel", "space", "space"]
    assert image["datasets"][1] == {
        "path": "1",
        "coordinateTransformations": [
            {"type": "scale", "scale": [1.0, 2.0, 2.0]},
            {"type": "translation", "translation": [0.0, 0.5, 0.5]},
        ],
    }


def test_metadata_of_geozarr() -> None:
    array = zarr.create_array({}, shape=(64, 64), chunks=(32, 32), dtype="u1", dimension_names=("lat", "lon"))
    attributes = zarr.tools.coarsen(array, {}, levels=2, convention="geozarr").attrs
    assert attributes["multiscales"]["resampling_method"] == "average"
    assert [entry["asset"] for entry in attributes["multiscales"]["layout"]] == ["0", "1", "2"]
    assert attributes["multiscales"]["layout"][2]["transform"] == {"scale": [2.0, 2.0], "translation": [0.5, 0.5]}


def test_shards_and_levels() -> None:
    array = zarr.create_array({}, shape=(64, 64), chunks=(4, 4), shards=(16, 16), dtype="f4", fill_value=np.nan)
    array[:8] = 3
    pyramid = zarr.tools.coarsen(array, MemoryStore(), levels=1, factors=(4, 2))
    assert (pyramid["1"].shape, pyramid["1"].shards) == ((16, 32), (16, 16))
    assert (pyramid["1"][:2] == 3).all()
    assert np.isnan(pyramid["1"][2:]).all()


def test_levels_have_the_order_and_the_keys_of_format_2() -> None:
    keys = {"name": "v2", "separator": "/"}
    layout = {"chunks": (2, 3), "order": "F", "chunk_key_encoding": keys, "fill_value": 7}
    array = zarr.create_array({}, shape=(8, 6), dtype="i4", zarr_format=2, attributes={"a": 1}, **layout)
    array[:] = np.arange(48).reshape(8, 6)
    pyramid = zarr.tools.coarsen(array, {}, convention=None, method="max", levels=1)
    for level in ("0", "1"):
        found: Any = pyramid[level]
        stored = found.metadata
        assert (stored.order, stored.dimension_separator, stored.chunks, stored.fill_value) == ("F", "/", (2, 3), 7)
        assert dict(found.attrs) == {"a": 1}
    assert np.array_equal(pyramid["1"][:], array[1::2, 1::2])


def test_what_is_refused() -> None:
    array = zarr.create_array({}, shape=(8, 8), chunks=(2, 2), dtype="i4", dimension_names=("a", "b"))
    with pytest.raises(ValueError, match="OME-Zarr"):
        zarr.tools.coarsen(array, {})
    with pytest.raises(ValueError, match="no dimension 'y'"):
        zarr.tools.coarsen(array, {}, factors={"y": 2})
    for factors in ((2,), (0, 2), (1, 1), 1):
        with pytest.raises(ValueError, match="factors"):
            zarr.tools.coarsen(array, {}, factors=factors, convention=None)
    with pytest.raises(ValueError, match="method"):
        zarr.tools.coarsen(array, {}, method="median")  # type: ignore[arg-type]
    text = zarr.create_array({}, shape=(8, 8), chunks=(2, 2), dtype="U2")
    with pytest.raises(TypeError, match="nearest"):
        zarr.tools.coarsen(text, {}, convention=None)
    assert zarr.tools.coarsen(text, {}, convention=None, method="nearest")["1"].shape == (4, 4)
    with pytest.raises(ValueError, match="is a group: coarsen takes one array"):
        zarr.tools.coarsen(zarr.create_group({}), {})


@pytest.mark.parametrize("dtype", ["i2", "u1", "i8", "f4", "f8"])
@pytest.mark.parametrize("method", ["mean", "max", "min"])
@pytest.mark.parametrize("name", ["_FillValue", "missing_value"])
def test_missing_elements_are_left_out(dtype: str, method: Any, name: str) -> None:
    gone = 255 if dtype == "u1" else -999 if dtype[0] == "i" else 1e20
    data = np.array([[1, gone, gone, gone], [5, 7, gone, gone], [gone, 2, 0, 8]], dtype)
    array = zarr.create_array({}, data=data, dimension_names=("y", "x"), attributes={name: gone})
    found = zarr.tools.coarsen(array, {}, method=method, levels=2)
    known = {"mean": [[13 / 3, gone], [2, 4]], "max": [[7, gone], [2, 8]], "min": [[1, gone], [2, 0]]}[method]
    wanted = np.round(known) if dtype[0] != "f" and method == "mean" else known
    np.testing.assert_allclose(found["1"][:], np.array(wanted).astype(dtype), rtol=1e-6)
    assert found["2"][:].item() < 10


@pytest.mark.parametrize("value", ["NaN", float("inf"), -1, 3.5, 1e300, "text", [7, 8], None])
def test_marks_that_no_element_has(value: Any) -> None:
    data = np.arange(16, dtype="u1").reshape(4, 4)
    array = zarr.create_array({}, data=data, dimension_names=("y", "x"), attributes={"_FillValue": value})
    found = zarr.tools.coarsen(array, {}, method="min", levels=1)["1"][:]
    np.testing.assert_array_equal(found, [[0, 2], [9 if value == [7, 8] else 8, 10]])


def described(version: str) -> zarr.Group:
    """Return an image of OME-Zarr with one level, the sizes of its elements and a channel."""
    zarr_format: Any = 3 if version == "0.5" else 2
    group = zarr.create_group({}, zarr_format=zarr_format)
    data = np.arange(2 * 4 * 64 * 64, dtype="u2").reshape(2, 4, 64, 64)
    names = ("c", "z", "y", "x")
    own: dict[str, Any] = {"dimension_names": names} if zarr_format == 3 else {}
    group.create_array("full", data=data, chunks=(1, 4, 32, 32), **own)
    axes = [{"name": name, "type": "space", "unit": "micrometer"} for name in names]
    axes[0] = {"name": "c", "type": "channel"}
    changes = [{"type": "scale", "scale": [1, 2, 0.25, 0.25]}, {"type": "translation", "translation": [0, 9, 0, 0]}]
    image = {"name": "cells", "axes": axes, "datasets": [{"path": "full", "coordinateTransformations": changes}]}
    document = {"multiscales": [image], "omero": {"channels": [{"label": "DAPI"}, {"label": "GFP"}]}}
    group.attrs.update({"ome": {"version": "0.5"} | document} if zarr_format == 3 else document)
    return group


@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("whole", [True, False])
def test_sizes_of_an_image_of_ome_zarr_are_kept(version: str, whole: bool) -> None:
    group = described(version)
    source = group if whole else group["full"]
    ome = zarr.tools.coarsen(source, {}, factors={"y": 2, "x": 2}).attrs["ome"]
    (image,) = ome["multiscales"]
    assert image["name"] == "cells"
    assert [axis.get("unit") for axis in image["axes"]] == [None, "micrometer", "micrometer", "micrometer"]
    assert [dataset["coordinateTransformations"] for dataset in image["datasets"]] == [
        [{"type": "scale", "scale": [1, 2, 0.25, 0.25]}, {"type": "translation", "translation": [0, 9, 0, 0]}],
        [{"type": "scale", "scale": [1, 2, 0.5, 0.5]}, {"type": "translation", "translation": [0, 9, 0.125, 0.125]}],
    ]
    assert [channel["label"] for channel in ome["omero"]["channels"]] == ["DAPI", "GFP"]


def test_a_group_without_metadata_of_ome_zarr_is_no_image() -> None:
    group = zarr.group()
    group.create_array("a", shape=(4, 4), dtype="u1")
    with pytest.raises(ValueError, match="coarsen takes one array; it has a"):
        zarr.tools.coarsen(group, {})


def test_coarser_levels_lie_at_the_same_place_of_the_earth() -> None:
    place = {"spatial:transform": [10.0, 0.0, 3e5, 0.0, -10.0, 5e6], "spatial:shape": [64, 65], "units": "m"}
    names = ("band", "y", "x")
    array = zarr.create_array({}, shape=(1, 64, 65), chunks=(1, 16, 16), dtype="f4", dimension_names=names)
    array.attrs.update(place)
    pyramid = zarr.tools.coarsen(array, {}, convention="geozarr", levels=2)
    assert dict(pyramid["0"].attrs) == place
    assert pyramid["2"].attrs["spatial:transform"] == [40.0, 0.0, 3e5, 0.0, -40.0, 5e6]
    assert pyramid["2"].attrs["spatial:shape"] == [16, 17]
    assert pyramid["2"].attrs["units"] == "m"


@given(st.data(), st.sampled_from(METHODS), st.sampled_from([0, 7, np.nan]))
@settings(max_examples=40, deadline=None)
def test_sparse_arrays(data: st.DataObject, method: Any, fill_value: float) -> None:
    """Levels of an array with few stored chunks are those of the same array with all of them."""
    array = zarr.create_array({}, shape=(40, 33), chunks=(5, 4), dtype="f4", fill_value=fill_value)
    for _ in range(data.draw(st.integers(0, 4))):
        array[data.draw(st.integers(0, 39)), data.draw(st.integers(0, 32))] = 100
    stored = {"fill_value": fill_value, "config": {"write_empty_chunks": True}}
    dense = zarr.create_array({}, data=array[...], chunks=(5, 4), **stored)
    sparse, full = (zarr.tools.coarsen(each, {}, factors=(2, 3), method=method, levels=2) for each in (array, dense))
    for level in "012":
        np.testing.assert_array_equal(sparse[level][...], full[level][...])
