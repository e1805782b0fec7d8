"""``zarr.tools.stats`` against NumPy, over chunks, shards, and what is not stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zarr
from tests.tools.places import fill
from zarr.dtype import Int32
from zarr.dtype.types.nullable import Nullable
from zarr.storage import MemoryStore
from zarr.tools import checksum, diff, stats

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning", "ignore::FutureWarning")
RANDOM = np.random.default_rng(5)
DATA: dict[str, Any] = {
    "f8": RANDOM.normal(size=(17, 11)),
    "f4": np.where(RANDOM.random((17, 11)) < 0.2, np.nan, RANDOM.random((17, 11))).astype("f4"),
    "f2": RANDOM.random((17, 11)).astype("f2"),
    "i4": RANDOM.integers(-99, 99, (17, 11)).astype("i4"),
    ">i2": RANDOM.integers(-99, 99, (17, 11)).astype(">i2"),
    "u8": RANDOM.integers(2**63, 2**64 - 1, (17, 11), dtype="u8"),
    "i8": RANDOM.integers(-(2**63), 2**63 - 1, (17, 11)),
    "bool": RANDOM.integers(0, 2, (17, 11)).astype(bool),
}


def check(found: Any, data: Any, fill_value: Any) -> None:
    known = data[~np.isnan(data)] if data.dtype.kind == "f" else data.ravel()
    assert (found.min, found.max) == (known.min(), known.max())
    exact = [int(each) if data.dtype.kind in "iub" else float(each) for each in known]
    assert found.mean == pytest.approx(sum(exact) / len(exact))
    assert found.missing == data.size - known.size
    assert found.filled == int((data == fill_value).sum())
    counts, edges = np.histogram(known.astype("f8"), 7)
    assert found.histogram[0] == counts.tolist()
    assert found.histogram[1] == pytest.approx(edges.tolist())


@pytest.mark.parametrize("how", [{}, {"shards": (8, 6)}, {"zarr_format": 2}], ids=["chunks", "shards", "format 2"])
@pytest.mark.parametrize("name", DATA)
def test_against_numpy(name: str, how: dict[str, Any]) -> None:
    data = DATA[name]
    array = zarr.create_array({}, shape=data.shape, chunks=(4, 3), dtype=data.dtype, fill_value=1, **how)
    array[:] = data
    check(stats(array, bins=7, memory=16 * 256), data, 1)


def test_what_is_not_stored() -> None:
    array = zarr.create_array({}, shape=(20, 20), chunks=(5, 5), dtype="i4", fill_value=-2, compressors=None)
    array[:5, :5] = 7
    found = stats(array, bins=3)
    assert (found.chunks_stored, found.chunks, found.stored_bytes, found.raw_bytes) == (1, 16, 100, 1600)
    assert (found.min, found.max, found.filled, found.missing) == (-2, 7, 375, 0)
    assert found.mean == (25 * 7 - 375 * 2) / 400
    assert found.histogram == ([375, 0, 25], [-2.0, 1.0, 4.0, 7.0])


def test_huge_and_empty_arrays() -> None:
    array = zarr.create_array({}, shape=(10**12, 10**6), chunks=(1000, 1000), dtype="f4", fill_value=np.nan)
    array[10**11, 3] = 5
    found = stats(array, bins=2)
    assert (found.min, found.max, found.mean, found.missing) == (5, 5, 5.0, 10**18 - 1)
    assert (found.filled, found.chunks_stored) == (10**18 - 1, 1)
    empty = stats(zarr.create_array({}, shape=(0, 4), dtype="i4"), bins=2)
    assert (empty.min, empty.max, empty.mean, empty.histogram, empty.chunks) == (None, None, None, None, 0)


def test_parts_of_shards() -> None:
    data = RANDOM.integers(0, 99, (23, 19)).astype("i4")
    array = zarr.create_array({}, shape=data.shape, chunks=(3, 2), shards=(12, 10), dtype="i4", fill_value=1)
    array[:] = data
    check(stats(array, bins=7, memory=16 * 256), data, 1)


def test_other_kinds_of_elements() -> None:
    root = zarr.create_group({})
    made = {
        "text": np.array(["b", "a", ""], dtype=np.dtypes.StringDType()),
        "time": np.array(["2020-01-01", "NaT", "2020-01-03"], dtype="M8[D]"),
        "span": np.array([1, 2, 6], dtype="m8[s]"),
        "complex": np.array([1j, 1, np.nan]),
        "record": np.array([(1, 2.0)] * 3, dtype="i4,f4"),
    }
    for name, data in made.items():
        root.create_array(name, shape=3, dtype=data.dtype)[:] = data
    found = {each.path: each for each in stats(root, bins=2)}
    assert list(found) == sorted(made)
    assert (found["text"].min, found["text"].max, found["text"].mean, found["text"].filled) == ("", "b", None, 1)
    assert (found["time"].min, found["time"].missing) == (np.datetime64("2020-01-01"), 1)
    assert found["time"].mean == np.datetime64("2020-01-02")
    assert found["span"].mean == np.timedelta64(3, "s")
    assert (found["complex"].mean, found["complex"].min, found["complex"].missing) == (0.5 + 0.5j, None, 1)
    assert (found["record"].min, found["record"].mean, found["record"].histogram) == (None, None, None)
    assert all(str(each).startswith(f"/{each.path} (3,)") for each in found.values())


def test_missing_elements() -> None:
    array = zarr.create_array({}, shape=5, chunks=2, dtype=Nullable(inner=Int32()))
    array[:3] = [4, None, 8]
    found = stats(array, bins=1)
    assert (found.min, found.max, found.mean, found.missing) == (4, 8, 6.0, 3)
    assert found.histogram[0] == [2]


@pytest.mark.parametrize("dtype", ["i4", "str", "U3", "M8[s]", Nullable(inner=Int32()), [("a", "i4")]], ids=str)
def test_no_dimensions(dtype: Any) -> None:
    array = zarr.create_array({}, shape=(), dtype=dtype)
    assert stats(array).filled == 1
    array[...] = 7 if dtype != "M8[s]" else np.datetime64(7, "s")
    assert stats(array).filled == 0
    assert checksum(array).elements == 1
    assert diff(array, array) == []


@pytest.mark.parametrize("name", ["bfloat16", "int4"])
def test_data_types_of_packages(name: str) -> None:
    dtype = getattr(pytest.importorskip("ml_dtypes"), name)
    one, other = (zarr.create_array({}, shape=5, chunks=chunk, dtype=dtype) for chunk in (2, 3))
    one[:3], other[:3] = [1, 2, 3], [1, 2, 6]
    found = stats(one, bins=2)
    assert (found.min, found.max, found.mean, found.filled) == (0, 3, 6 / 5, 2)
    assert [(each.count, each.greatest) for each in diff(one, other) if each.aspect == "values"] == [(1, 3.0)]


def test_infinities() -> None:
    array = zarr.create_array({}, shape=4, dtype="f8")
    array[:] = [np.inf, 1, 2, -np.inf]
    found = stats(array, bins=2)
    assert (found.min, found.max) == (-np.inf, np.inf)
    assert np.isnan(found.mean)
    assert found.histogram == ([1, 1], [1.0, 1.5, 2.0])


def test_groups_and_places() -> None:
    store = MemoryStore()
    fill(store, 3)
    assert [each.path for each in stats(store)] == ["a", "c", "g/b", "s", "t"]
    assert stats(store, path="a").max == 24
    assert stats(store, path="s").chunks == 4
    assert stats(store)[0].histogram is None


@pytest.mark.parametrize("bins", [-1, 1.5, True, "3"])
def test_bins_that_are_none(bins: Any) -> None:
    with pytest.raises(ValueError, match="bins must be"):
        stats(zarr.zeros(3), bins=bins)


def test_a_store_without_listings() -> None:
    class Unlisted(MemoryStore):
        supports_listing = False

    store = Unlisted()
    array = zarr.create_array(store, shape=10, chunks=2, dtype="i4")
    array[3] = 5
    found = stats(array)
    assert (found.max, found.chunks_stored, found.filled) == (5, 1, 9)


@pytest.mark.parametrize("value", [2**63 - 1, -(2**62), 10**18])
@pytest.mark.parametrize("span", [0, 1, 2000])
def test_bins_of_numbers_that_floats_hardly_tell_apart(value: int, span: int) -> None:
    array = zarr.create_array({}, data=np.array([value - span, value, value]))
    counts, edges = stats(array, bins=3).histogram
    assert sum(counts) == 3
    assert sorted(set(edges)) == edges
