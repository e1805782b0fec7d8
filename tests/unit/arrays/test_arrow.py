"""``Array.to_arrow`` and ``Array.to_awkward``: values, types, and whose memory it is."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr
from zarr.codecs import ArrowVLenCodec, ZstdCodec
from zarr.errors import ChunkDecodeError, ChunkNotFoundError
from zarr.storage import MemoryStore

WORDS = [f"é{i}" * (i % 4) for i in range(25)]


def words(store: MemoryStore | None = None, **options: Any) -> Any:
    options = {"compressors": None, "serializer": ArrowVLenCodec(), "chunks": (10,), **options}
    array = zarr.create_array(store or MemoryStore(), shape=(25,), dtype="string", **options)
    array[:] = WORDS
    return array


@pytest.fixture
def pa() -> Any:
    return pytest.importorskip("pyarrow")


def test_a_whole_chunk_is_the_chunk_itself(pa: Any) -> None:
    store = MemoryStore()
    array = words(store)
    got = array.to_arrow(slice(10, 20))
    stored = store._store_dict["c/1"].as_numpy_array()
    assert isinstance(got, pa.StringArray)
    _, offsets, data = got.buffers()
    assert offsets.address == stored.ctypes.data
    assert data.address == stored.ctypes.data + 64
    assert not offsets.is_mutable
    assert not data.is_mutable
    assert got.to_pylist() == WORDS[10:20]


def test_several_chunks_come_in_pieces_of_their_own_memory(pa: Any) -> None:
    store = MemoryStore()
    array = words(store)
    got = array.to_arrow(slice(5, 25))
    assert isinstance(got, pa.ChunkedArray)
    assert got.to_pylist() == WORDS[5:25]
    for piece, key in zip(got.chunks, ("c/0", "c/1", "c/2"), strict=True):
        stored = store._store_dict[key].as_numpy_array()
        assert stored.ctypes.data <= piece.buffers()[1].address < stored.ctypes.data + 64
        assert piece.buffers()[2].address == stored.ctypes.data + 64


def test_later_writes_leave_what_was_handed_out(pa: Any) -> None:
    array = words()
    got = array.to_arrow()
    array[:] = "overwritten"
    assert got.to_pylist() == WORDS


@pytest.mark.parametrize("shards", [None, (20,)])
@pytest.mark.parametrize("compressors", [None, ZstdCodec()])
@pytest.mark.parametrize("offset", ["int32", "int64"])
@given(st.data())
@settings(max_examples=15, deadline=None)
def test_any_selection(shards: Any, compressors: Any, offset: str, data: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    array = words(serializer=ArrowVLenCodec(offset=offset), shards=shards, compressors=compressors)
    selection = data.draw(
        st.one_of(
            st.slices(25).filter(lambda s: s.step is None or s.step > 0),
            st.integers(0, 24),
            st.lists(st.integers(0, 24), min_size=1, max_size=5),
            st.just(...),
        )
    )
    got = array.to_arrow(selection)
    got.validate(full=True)
    expected = np.atleast_1d(np.array(WORDS, dtype=object)[selection]).tolist()
    assert got.to_pylist() == expected
    assert got.type == (pa.string() if offset == "int32" else pa.large_string())


def test_rows_of_chunks_of_more_dimensions(pa: Any) -> None:
    values = np.array([[f"{i},{j}".encode() for j in range(3)] for i in range(7)], dtype=object)
    store = MemoryStore()
    array = zarr.create_array(
        store, shape=(7, 3), chunks=(4, 3), dtype="variable_length_bytes", serializer=ArrowVLenCodec(), compressors=None
    )
    array[:] = values
    got = array.to_arrow()
    assert got.type == pa.list_(pa.binary(), 3)
    assert got.to_pylist() == values.tolist()
    whole = array.to_arrow(slice(0, 4))
    assert whole.values.buffers()[1].address == store._store_dict["c/0/0"].as_numpy_array().ctypes.data
    assert array.to_arrow((slice(1, 5), slice(0, 2))).to_pylist() == values[1:5, :2].tolist()
    assert array.to_arrow((slice(None), 1)).to_pylist() == values[:, 1].tolist()


def test_what_is_not_stored_is_fill_value(pa: Any) -> None:
    array = zarr.create_array(
        {}, shape=(5,), chunks=(2,), dtype="string", fill_value="none", serializer=ArrowVLenCodec()
    )
    array[:2] = ["a", "b"]
    assert array.to_arrow().to_pylist() == ["a", "b", "none", "none", "none"]
    strict = array.with_config({"read_missing_chunks": False})
    with pytest.raises(ChunkNotFoundError):
        strict.to_arrow()


def test_damaged_offsets_are_refused_with_their_place(pa: Any) -> None:
    store = MemoryStore()
    array = words(store)
    raw = bytearray(store._store_dict["c/1"].to_bytes())
    raw[8:12] = (-5).to_bytes(4, "little", signed=True)
    store._store_dict["c/1"] = zarr.core.buffer.cpu.Buffer.from_bytes(bytes(raw))
    for read in (array.to_arrow, lambda: array[:]):
        with pytest.raises(ChunkDecodeError, match="offset 2 of 11 is -5") as caught:
            read()
        assert any("c/1" in note for note in caught.value.__notes__)


CONVERTED: list[tuple[np.ndarray[Any, Any], Callable[[Any], Any], list[Any]]] = [
    (np.arange(6.0).reshape(2, 3), lambda pa: pa.list_(pa.float64(), 3), [[0, 1, 2], [3, 4, 5]]),
    (np.array([True, False]), lambda pa: pa.bool_(), [True, False]),
    (np.array([1, 2], ">i4"), lambda pa: pa.int32(), [1, 2]),
    (np.array(5, "u1"), lambda pa: pa.uint8(), [5]),
    (np.array(["2020-01-01", "NaT"], "M8[ns]"), lambda pa: pa.timestamp("ns"), None),
    (np.array(["2020-01-01", "NaT"], "M8[D]"), lambda pa: pa.date32(), None),
    (np.array([1, "NaT"], "m8[us]"), lambda pa: pa.duration("us"), None),
    (np.array(["a", "bé"]), lambda pa: pa.string(), ["a", "bé"]),
    (np.array([b"a", b"bc"]), lambda pa: pa.binary(), [b"a", b"bc"]),
    (np.array([b"ab"], "V2"), lambda pa: pa.binary(2), [b"ab"]),
    (np.zeros((2, 0, 3), "i1"), lambda pa: pa.list_(pa.list_(pa.int8(), 3), 0), [[], []]),
    (
        np.array([(1, 2.5)], [("a", "i4"), ("b", ">f8")]),
        lambda pa: pa.struct([("a", pa.int32()), ("b", pa.float64())]),
        [{"a": 1, "b": 2.5}],
    ),
]


@pytest.mark.parametrize(("values", "kind", "expected"), CONVERTED, ids=lambda v: getattr(v, "dtype", None))
@pytest.mark.filterwarnings("ignore")
def test_other_data_types(pa: Any, values: Any, kind: Any, expected: Any) -> None:
    got = zarr.array(values).to_arrow()
    got.validate(full=True)
    assert got.type == kind(pa)
    if expected is None:
        assert got.null_count == 1
        assert got[0].as_py() is not None
    else:
        assert got.to_pylist() == expected


@pytest.mark.parametrize("values", [np.array([1j]), np.array([1], "m8[D]"), np.array([1], "M8[25us]")])
def test_what_arrow_has_no_type_for(pa: Any, values: Any) -> None:
    with pytest.raises(TypeError, match="Arrow has no type"):
        zarr.array(values).to_arrow()


def test_objects_that_are_no_strings(pa: Any) -> None:
    numcodecs = pytest.importorskip("numcodecs")
    kind = zarr.dtype.PythonObject(object_codec_id="json2")
    array = zarr.create_array({}, shape=2, dtype=kind, filters=[numcodecs.JSON()], zarr_format=2)
    array[:] = np.array([{"a": 1}, [2]], dtype=object)
    with pytest.raises(TypeError, match="Arrow has no type"):
        array.to_arrow()


def test_the_default_codec_is_converted(pa: Any) -> None:
    array = zarr.create_array({}, shape=(25,), chunks=(10,), dtype="string")
    array[:] = WORDS
    assert array.to_arrow().to_pylist() == WORDS
    assert asyncio.run(array.async_array.to_arrow(slice(3, 5))).to_pylist() == WORDS[3:5]


def test_awkward() -> None:
    ak = pytest.importorskip("awkward")
    store = MemoryStore()
    array = words(store)
    assert array.to_awkward().to_list() == WORDS
    chunk = array.to_awkward(slice(0, 10))
    stored = store._store_dict["c/0"].as_numpy_array()
    assert chunk.layout.offsets.data.ctypes.data == stored.ctypes.data
    assert chunk.layout.content.data.ctypes.data == stored.ctypes.data + 64
    assert ak.type(chunk) == ak.types.from_datashape("10 * string", highlevel=True)
    assert array.to_awkward([3, 1]).to_list() == [WORDS[3], WORDS[1]]
    assert zarr.array(np.arange(6, dtype=">i2").reshape(2, 3)).to_awkward().to_list() == [[0, 1, 2], [3, 4, 5]]
    assert asyncio.run(array.async_array.to_awkward(slice(0, 2))).to_list() == WORDS[:2]


@pytest.mark.parametrize(("package", "method"), [("pyarrow", "to_arrow"), ("awkward", "to_awkward")])
def test_the_extra_is_named(package: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(ImportError, match=r"pip install 'zarr\["):
        getattr(words(), method)()
