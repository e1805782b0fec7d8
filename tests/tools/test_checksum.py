"""``zarr.tools.checksum``: equal for equal content in whatever form, another one for any other content."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.tools.places import STORES, make_store, put
from zarr.dtype import Int32, VariableLengthBytes
from zarr.dtype.types.nullable import Nullable
from zarr.storage import MemoryStore
from zarr.tools import checksum
from zarr.tools.contents.blocks import block_shape, block_slices

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning", "ignore::FutureWarning")
RANDOM = np.random.default_rng(3)
VALUES: dict[str, Any] = {
    "integers": RANDOM.integers(-100, 100, (13, 7)).astype("i4"),
    "bytes": RANDOM.integers(0, 255, 50).astype("u1"),
    "floats": RANDOM.normal(size=(5, 6, 7)),
    "halves": np.array([1.5, np.nan, np.inf, -0.0], "f2"),
    "complex": RANDOM.normal(size=9) * (1 + 2j),
    "truth": RANDOM.integers(0, 2, (3, 3)).astype(bool),
    "text": np.array(["a", "", "žluť", "x" * 40], dtype=np.dtypes.StringDType()),
    "letters": np.array(["ab", "c", ""], dtype="U4"),
    "octets": np.array([b"ab", b"c\0d", b""], dtype="S4"),
    "times": np.array(["2020-01-01", "NaT", "1969-12-31"], dtype="M8[s]"),
    "spans": np.array([1, -5, 7], dtype="m8[ms]"),
    "records": np.array([(1, 2.5), (3, -0.0)], dtype=[("a", "i2"), ("b", "f8")]),
    "raw": np.array([b"abcd", b"\0\1\2\3"], dtype="V4"),
    "scalar": np.array(7, dtype="i8"),
    "nothing": np.empty((0, 3), dtype="f4"),
}


def store_of(data: Any, **how: Any) -> Any:
    """An array in a group, in some form."""
    store = MemoryStore()
    zarr.create_group(store, zarr_format=how.get("zarr_format", 3))
    made = zarr.create_array(store, name="x", shape=data.shape, dtype=how.pop("dtype", data.dtype), **how)
    if data.size:
        made[...] = data
    return store


@pytest.mark.parametrize("name", VALUES)
def test_one_content_in_many_forms(name: str) -> None:
    data = VALUES[name]
    whole, cut = data.shape, tuple(max(1, length // 2) for length in data.shape)
    forms: list[dict[str, Any]] = [
        {},
        {"zarr_format": 2},
        {"chunks": cut} if cut else {"compressors": None},
        {"chunks": cut, "zarr_format": 2, "order": "F"} if cut else {"zarr_format": 2, "compressors": None},
        {"chunks": tuple(max(1, length) for length in whole), "compressors": None} if cut else {},
        {"compressors": zarr.codecs.GzipCodec(level=1)},
        {"chunks": (1,) * len(whole), "shards": cut} if cut and data.size else {},
        {"config": {"write_empty_chunks": True}},
    ]
    if data.dtype.kind in "iufc" and data.dtype.itemsize > 1:
        forms.append({"zarr_format": 2, "dtype": data.dtype.newbyteorder(">")})
        forms.append({"serializer": zarr.codecs.BytesCodec(endian="big")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        digests = {checksum(store_of(data, **form)) for form in forms}
    assert len(digests) == 1
    assert digests.pop().elements == data.size


@pytest.mark.parametrize("name", [name for name in VALUES if VALUES[name].size])
def test_one_element_counts(name: str) -> None:
    data = VALUES[name]
    changed = np.array(data)
    others = [each for each in data.reshape(-1) if each != data.reshape(-1)[-1]]
    changed.reshape(-1)[-1] = others[0] if others else 8
    assert checksum(store_of(data)) != checksum(store_of(changed))


def group(**how: Any) -> MemoryStore:
    store = MemoryStore()
    root = zarr.create_group(store, attributes=how.get("attributes", {"a": 1, "b": [1, 2]}))
    root.create_group(how.get("name", "g"))
    parameters = {"shape": (4, 3), "dtype": "i4", "fill_value": 1, "dimension_names": ("y", "x")} | how.get("array", {})
    root.create_array("x", **parameters)
    return store


OTHER: list[dict[str, Any]] = [
    {"attributes": {"a": 2, "b": [1, 2]}},
    {"attributes": {"a": 1}},
    {"attributes": {"a": 1, "b": [2, 1]}},
    {"name": "h"},
    {"array": {"shape": (3, 4)}},
    {"array": {"shape": (4, 3, 1), "dimension_names": None}},
    {"array": {"dtype": "i8"}},
    {"array": {"dtype": "u4"}},
    {"array": {"fill_value": 2}},
    {"array": {"dimension_names": ("x", "y")}},
    {"array": {"dimension_names": None}},
    {"array": {"attributes": {"units": "m"}}},
]


@pytest.mark.parametrize("other", OTHER, ids=str)
def test_all_else_counts(other: dict[str, Any]) -> None:
    assert checksum(group(**other)).hexdigest != checksum(group()).hexdigest


def test_order_of_members_and_of_attributes_does_not_count() -> None:
    one = zarr.create_group({}, attributes={"a": 1, "b": 2})
    other = zarr.create_group({}, attributes={"b": 2, "a": 1})
    for root, names in ((one, "xyz"), (other, "zyx")):
        for name in names:
            root.create_array(name, shape=3, dtype="i1")
    assert checksum(one) == checksum(other)
    assert checksum(one).nodes == 4


@pytest.mark.parametrize("kind", STORES)
def test_stores(kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    zarr.create_array(store, name="g/x", shape=10, chunks=3, dtype="i4")[:] = range(10)
    memory = MemoryStore()
    zarr.create_array(memory, name="g/x", shape=10, chunks=4, dtype="i4")[:] = range(10)
    assert checksum(store) == checksum(memory)
    assert checksum(store, path="g") == checksum(zarr.open_group(memory)["g"])
    assert checksum(store, path="g") != checksum(memory)


def test_patterns_of_nan_and_zero() -> None:
    nans = np.array([0x7FF8000000000001, 0xFFF0000000000001], dtype="u8").view("f8")
    assert checksum(store_of(nans)) == checksum(store_of(np.array([np.nan, np.nan])))
    assert checksum(store_of(np.array([-0.0, 1]))) == checksum(store_of(np.array([0.0, 1])))
    parts = np.array([complex(np.nan, -0.0)])
    assert checksum(store_of(parts)) == checksum(store_of(np.array([complex(-np.nan, 0)])))


def test_missing_elements() -> None:
    one, other = (zarr.create_array({}, shape=4, chunks=2, dtype=Nullable(inner=Int32())) for _ in range(2))
    one[:2] = [7, None]
    other[:] = [7, None, None, None]
    assert checksum(one) == checksum(other)
    other[3] = 0
    assert checksum(one) != checksum(other)


def test_byte_strings_of_any_length() -> None:
    one, other = (zarr.create_array({}, shape=3, chunks=c, dtype=VariableLengthBytes()) for c in (1, 2))
    for array in (one, other):
        array[:] = np.array([b"a", b"", b"cc"], dtype=object)
    assert checksum(one) == checksum(other)
    other[:] = np.array([b"a", b"c", b"c"], dtype=object)
    assert checksum(one) != checksum(other)


def test_as_it_is_documented() -> None:
    """The definition in the docstring, once more and by other means."""
    data = RANDOM.integers(0, 3, (1500, 1100)).astype("i2")
    data[:400] = 0
    store = MemoryStore()
    zarr.create_group(store, attributes={"t": "é"})
    zarr.create_array(store, name="x", shape=data.shape, chunks=(100, 100), dtype="i2")[:] = data
    values = hashlib.sha256()
    for number, start in enumerate((0, 750)):
        block = data[start : start + 750].astype("<i2").tobytes()
        values.update(f'[{number},"{hashlib.sha256(block).hexdigest()}"]\n'.encode())
    lines = [
        '{"zarr_checksum":1}',
        '{"attributes":{"t":"\\u00e9"},"kind":"group","path":""}',
        '{"attributes":{},"data_type":"<i2","dimension_names":null,"fill_value":"0000","kind":"array","path":"x",'
        f'"shape":[1500,1100],"values":"{values.hexdigest()}"}}',
    ]
    expected = hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
    assert checksum(store).hexdigest == expected
    assert all(json.loads(line) for line in lines)
    assert str(checksum(store)) == f"sha256:{expected}"


@pytest.mark.parametrize("shape", [(), (5,), (3_000_000,), (2000, 3000), (7, 1, 10**7), (10**12, 10**12), (0, 5)])
def test_blocks_cover_an_array(shape: tuple[int, ...]) -> None:
    block = block_shape(shape)
    assert int(np.prod(block, dtype=object)) <= 1 << 20
    counts = [-(-n // b) for n, b in zip(shape, block, strict=True)]
    total = int(np.prod(counts, dtype=object))
    if 0 < total < 10_000:
        sizes = [[s.stop - s.start for s in block_slices(number, shape, block)] for number in range(total)]
        assert sum(int(np.prod(size, dtype=object)) for size in sizes) == int(np.prod(shape, dtype=object))
    if total:
        assert [s.stop for s in block_slices(total - 1, shape, block)] == list(shape)


def test_huge_arrays_of_which_little_is_stored() -> None:
    array = zarr.create_array({}, shape=(10**12, 10**6), chunks=(1000, 1000), dtype="f4")
    empty = checksum(array)
    array[5 * 10**11, 5] = 3
    assert checksum(array) != empty
    array[5 * 10**11, 5] = 0
    assert checksum(array) == empty


def test_flat_memory(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "x", shape=(8 << 20,), chunks=(1 << 18,), dtype="u1", compressors=None)
    array[:] = 1
    wide = zarr.create_array(tmp_path / "y", shape=(64 << 20,), chunks=(1 << 18,), dtype="u1", compressors=None)
    wide[:] = 1
    peaks = []
    for each in (array, wide):
        tracemalloc.start()
        checksum(each)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(peaks) < 48 << 20


def test_what_has_no_checksum() -> None:
    store = MemoryStore()
    with pytest.raises(FileNotFoundError):
        checksum(store)
    array = zarr.create_array(store, shape=4, chunks=2, dtype="i4", compressors=None)
    array[:] = 1
    put(store, "c/0", b"xx")
    with pytest.raises(ValueError, match="truncated or damaged"):
        checksum(store)
