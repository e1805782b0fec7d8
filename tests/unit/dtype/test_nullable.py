"""Elements that may be missing: the data type ``optional`` and its codec."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import zarr
from zarr.buffer.cpu import Buffer
from zarr.codecs.extensions.optional import OptionalCodec
from zarr.dtype import (
    Bool,
    Complex64,
    DateTime64,
    Float32,
    Int16,
    Int32,
    Nullable,
    Struct,
    UInt8,
    VariableLengthBytes,
    VariableLengthUTF8,
    get_data_type_from_json,
)
from zarr.errors import ChunkDecodeError

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")


def document(name: str, levels: int, fill: Any) -> dict[str, Any]:
    """An array document as zarrs writes it: 4 x 4 optional bytes, in so many levels."""
    data_type: Any = {"name": "uint8", "configuration": {}}
    codecs: list[Any] = [{"name": "bytes", "configuration": {"endian": "little"}}]
    for _ in range(levels):
        data_type = {"name": name, "configuration": data_type}
        codecs = [{"name": name, "configuration": {"mask_codecs": [{"name": "packbits"}], "data_codecs": codecs}}]
    return {
        "zarr_format": 3, "node_type": "array", "shape": [4, 4], "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill, "codecs": codecs, "attributes": {}, "dimension_names": ["y", "x"],
    }  # fmt: skip


def parts(mask: bytes, data: bytes) -> bytes:
    """A chunk by the rule: two lengths, then which elements are there, then those."""
    return struct.pack("<QQ", len(mask), len(data)) + mask + data


def open_stored(entries: dict[str, Any]) -> Any:
    raw = {key: value if isinstance(value, bytes) else json.dumps(value).encode() for key, value in entries.items()}
    return zarr.open_array({key: Buffer.from_bytes(value) for key, value in raw.items()})


@pytest.mark.parametrize("name", ["optional", "zarrs.optional"])
def test_an_array_of_the_registry_is_read(name: str) -> None:
    array = open_stored(
        {
            "zarr.json": document(name, 1, None),
            "c/0/0": parts(b"\x09", b"\x00\x05"), "c/0/1": parts(b"\x0b", b"\x02\x03\x07"),
            "c/1/0": parts(b"\x07", b"\x08\x09\x0c"),
        }
    )  # fmt: skip
    none = None
    assert array[...].tolist() == [
        [0, none, 2, 3], [none, 5, none, 7], [8, 9, none, none], [12, none, none, none]
    ]  # fmt: skip
    assert array.dtype == "u1"
    assert array.fill_value is None
    assert array.metadata.to_dict()["data_type"] == document(name, 1, None)["data_type"]
    assert array.metadata.to_dict()["codecs"][0]["name"] == name


def test_a_nested_array_of_the_registry_is_read() -> None:
    array = open_stored(
        {
            "zarr.json": document("zarrs.optional", 2, [None]),
            # N SN / N 5: two are there, of which the second has a value.
            "c/0/0": parts(b"\x0a", parts(b"\x02", b"\x05")),
            "c/0/1": parts(b"\x0b", parts(b"\x07", b"\x02\x03\x07")),
            "c/1/1": parts(b"\x00", b""),
        }
    )
    found = array[...]
    missing, empty = found.mask["valid"], found.mask["value"] & ~found.mask["valid"]
    letters = np.where(missing, "N", np.where(empty, "SN", found.data["value"].astype(str)))
    assert [" ".join(row) for row in letters] == ["N SN 2 3", "N 5 N 7", "SN SN N N", "SN SN N N"]
    assert array.fill_value == [None]
    array[...] = found
    again = zarr.open_array(array.store)[...]
    assert (again.mask == found.mask).all()
    assert (again.data[~missing] == found.data[~missing]).all()
    assert bytes(array.store.get_sync("c/0/0").to_bytes()) == parts(b"\x0a", parts(b"\x02", b"\x05"))


VALUES: dict[str, tuple[Any, list[Any]]] = {
    "int32": (Int32(), [1, None, -3, None, 5]),
    "bool": (Bool(), [True, None, False, None, True]),
    "float32": (Float32(), [1.5, None, float("inf"), None, -0.0]),
    "complex64": (Complex64(), [1j, None, 2, None, 0]),
    "datetime64": (DateTime64(unit="s"), [np.datetime64(0, "s"), None, np.datetime64("2020-01-01", "s"), None, None]),
    "string": (VariableLengthUTF8(), ["a", None, "é", None, ""]),
    "bytes": (VariableLengthBytes(), [b"a", None, b"", None, b"x" * 40]),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("layout", [{"chunks": (2,)}, {"chunks": (2,), "shards": (4,)}])
def test_values_come_back(kind: str, layout: dict[str, Any]) -> None:
    inner, values = VALUES[kind]
    array = zarr.create_array({}, shape=(5,), dtype=Nullable(inner=inner), **layout)
    assert np.ma.getmaskarray(array[...]).all()
    array[...] = values
    found = zarr.open_array(array.store)[...]
    assert np.ma.getmaskarray(found).tolist() == [value is None for value in values]
    present = [value for value in values if value is not None]
    assert found.compressed().tolist() == np.array(present, dtype=found.dtype).tolist()
    assert array[1] is np.ma.masked or np.ma.getmaskarray(array[1]).all()


def test_records_are_there_or_missing_as_a_whole() -> None:
    inner = Struct(fields=(("a", Int16()), ("b", Float32())))
    array = zarr.create_array({}, shape=(2,), dtype=Nullable(inner=inner))
    values = np.ma.array(np.array([(1, 2), (3, 4)], dtype="i2,f4").astype(inner.to_native_dtype()))
    values[1] = np.ma.masked
    array[...] = values
    assert np.ma.getmaskarray(array[...]).tolist() == [(False, False), (True, True)]
    assert array[...].data[0].tolist() == (1, 2)
    values = np.ma.array(values.data, mask=[(True, False), (False, False)])
    with pytest.raises(ValueError, match="only some fields"):
        array[...] = values


@given(
    data=st.data(),
    shape=npst.array_shapes(min_dims=1, max_dims=3, max_side=7),
    order=st.booleans(),
    nested=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_like_a_masked_array(data: st.DataObject, shape: tuple[int, ...], order: bool, nested: bool) -> None:
    """Written in two steps, over chunks, shards and transposition; the model is numpy's masked array."""
    chunks = tuple(data.draw(st.integers(1, side)) for side in shape)
    filters = [zarr.codecs.TransposeCodec(order=tuple(reversed(range(len(shape)))))] if order else []
    inner = Nullable(inner=Int16()) if nested else Int16()
    array = zarr.create_array(
        {}, shape=shape, chunks=chunks, dtype=Nullable(inner=inner), filters=filters, compressors=None,
        fill_value=data.draw(st.sampled_from([None, 3])),
    )  # fmt: skip
    model: Any = np.ma.masked_all(shape, dtype="i2")
    if array.fill_value is not None:
        model[...] = 3
    for _ in range(2):
        where = tuple(slice(*sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))) for n in shape)
        part = np.ma.array(np.arange(np.size(model[where]), dtype="i2").reshape(np.shape(model[where])))
        part[data.draw(npst.arrays(bool, part.shape))] = np.ma.masked
        model[where] = part
        array[where] = part
    found = zarr.open_array(array.store)[...]
    found = found["value"] if nested else found
    assert (np.ma.getmaskarray(found) == np.ma.getmaskarray(model)).all()
    assert found.filled(-1).tolist() == model.filled(-1).tolist()


def test_every_way_in_and_out() -> None:
    array = zarr.create_array({}, shape=(5,), chunks=(2,), dtype=Nullable(inner=Int32()))
    array[1:3] = np.ma.array([7, 8], mask=[False, True])
    array.append([None, 3])
    assert array[...].tolist() == [None, 7, None, None, None, None, 3]
    assert array.oindex[[1, 6]].tolist() == [7, 3]
    assert array.vindex[[6, 0]].tolist() == [3, None]
    array.set_coordinate_selection([0, 1], [1, None])
    assert array.read_many([slice(0, 2), slice(5, 7)])[0].tolist() == [1, None]
    out = np.ma.zeros(7, dtype="i4")
    array.get_basic_selection(slice(None), out=out)
    assert out.tolist() == [1, None, None, None, None, None, 3]
    array[2] = None
    array[3] = 9
    assert zarr.array(array[...], dtype=Nullable(inner=Int32()))[...].tolist() == array[...].tolist()
    with array.batch():
        array[4] = 4
        array[3] = None
        assert array[2:5].tolist() == [None, None, 4]
    assert array[2:5].tolist() == [None, None, 4]


def test_what_is_missing_is_null_in_arrow() -> None:
    pytest.importorskip("pyarrow")
    numbers = zarr.create_array({}, shape=(2, 2), dtype=Nullable(inner=Int32()))
    numbers[0, 1] = 5
    assert numbers.to_arrow().to_pylist() == [[None, 5], [None, None]]
    text = zarr.create_array({}, shape=(2,), dtype=Nullable(inner=VariableLengthUTF8()))
    text[0] = "é"
    assert text.to_arrow().to_pylist() == ["é", None]
    text[...] = text.to_arrow()
    assert text[...].tolist() == ["é", None]


@pytest.mark.parametrize("fill", [None, [42], [0]])
def test_fill_values_are_null_or_a_list_of_one(fill: Any) -> None:
    array = open_stored({"zarr.json": document("optional", 1, fill)})
    assert array.metadata.to_dict()["fill_value"] == fill
    assert array[0, 0].tolist() == (fill[0] if fill else None)


@pytest.mark.parametrize("fill", [42, [], [1, 2], "x", ["x"]])
def test_other_fill_values_are_refused(fill: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="fill_value"):
        open_stored({"zarr.json": document("optional", 1, fill)})


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(ValueError, match="codec 'optional' does"):
        zarr.create_array({}, shape=(2,), dtype=Nullable(inner=Int32()), serializer={"name": "bytes"})
    codec = OptionalCodec(data_codecs=[{"name": "bytes"}])
    with pytest.raises(ValueError, match="may be missing"):
        zarr.create_array({}, shape=(2,), dtype="uint8", serializer=codec)
    with pytest.raises(ValueError, match="format 3 only"):
        zarr.create_array({}, shape=(2,), dtype=Nullable(inner=Int32()), zarr_format=2)
    with pytest.raises(ValueError, match="name of the data type"):
        get_data_type_from_json({"name": "optional", "configuration": {}}, zarr_format=3)
    with pytest.raises(ValueError, match="name must be one of"):
        Nullable(inner=UInt8(), name="nullable")


@pytest.mark.parametrize(
    "raw", [b"", b"\0" * 15, parts(b"\x01", b""), parts(b"\x00", b"\x05"), parts(b"\x01", b"\x05") + b"!", b"\xff" * 40]
)
def test_damaged_chunks_are_refused(raw: bytes) -> None:
    array = open_stored({"zarr.json": document("optional", 1, None), "c/0/0": raw})
    with pytest.raises(ChunkDecodeError):
        array[0, 0]
