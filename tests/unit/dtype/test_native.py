"""From numpy dtypes, and from what users write, to data types and back."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import zarr
from zarr.abc.codec import ArrayBytesCodec
from zarr.dtype import (
    DataTypeRegistry,
    DateTime64,
    FixedLengthUTF32,
    Float32,
    Int8,
    Int32,
    NullTerminatedBytes,
    RawBits,
    RawBytes,
    Struct,
    Structured,
    SubArray,
    VariableLengthBytes,
    VariableLengthUTF8,
    ZDType,
    data_type_registry,
    get_data_type_from_json,
    get_data_type_from_native_dtype,
    parse_data_type,
    parse_dtype,
)
from zarr.errors import DataTypeValidationError

flat = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    hnp.complex_number_dtypes(endianness="?", sizes=(64, 128)),
    hnp.byte_string_dtypes(min_len=1),
    hnp.unicode_string_dtypes(endianness="?", min_len=1),
    hnp.datetime64_dtypes(endianness="?"),
    hnp.timedelta64_dtypes(endianness="?"),
    st.integers(1, 20).map(lambda n: np.dtype(f"V{n}")),
)


def _has_titles(dtype: np.dtype[Any]) -> bool:
    if dtype.subdtype is not None:
        return _has_titles(dtype.subdtype[0])
    return dtype.fields is not None and any(len(item) > 2 or _has_titles(item[0]) for item in dtype.fields.values())


nested = st.recursive(flat, lambda inner: hnp.array_dtypes(inner, min_size=1, max_size=3), max_leaves=5).filter(
    lambda dtype: not _has_titles(dtype)
)


@given(nested)
def test_native_round_trip(dtype: np.dtype[Any]) -> None:
    parsed = get_data_type_from_native_dtype(dtype)
    assert parsed.to_native_dtype() == dtype
    assert parsed.item_size == dtype.itemsize  # type: ignore[attr-defined]
    assert get_data_type_from_json(parsed.to_json(2), zarr_format=2) == parsed
    assert parse_dtype(dtype, zarr_format=2) == parsed


@given(nested)
def test_default_scalars_fit(dtype: np.dtype[Any]) -> None:
    parsed = get_data_type_from_native_dtype(dtype)
    default = parsed.default_scalar()
    array = np.full(2, default, dtype=dtype)
    assert array.dtype == dtype
    if dtype.kind in "Mm":
        assert np.isnat(array).all()
    elif dtype.kind != "V" or dtype.fields is None:
        assert not array.view("u1").any()


@pytest.mark.parametrize("name", ["q", "l", "L", "Q", "longlong", "intp", "int", "uint"])
def test_c_names_are_the_fixed_widths(name: str) -> None:
    native = np.dtype(name)
    assert parse_dtype(native, zarr_format=3).to_native_dtype() == native


@pytest.mark.parametrize(
    ("written", "dtype"),
    [
        ("int32", Int32()),
        ("i4", Int32()),
        (">i4", Int32(endianness="big")),
        (np.int32, Int32()),
        (Int32(), Int32()),
        (Int32, Int32()),
        (str, VariableLengthUTF8()),
        ("str", VariableLengthUTF8()),
        ("string", VariableLengthUTF8()),
        ("T", VariableLengthUTF8()),
        ("U", VariableLengthUTF8()),
        (np.str_, VariableLengthUTF8()),
        (np.dtypes.StringDType(), VariableLengthUTF8()),
        ("U4", FixedLengthUTF32(length=4)),
        ("|S4", NullTerminatedBytes(length=4)),
        ("V3", RawBytes(length=3)),
        ("datetime64[s]", DateTime64(unit="s")),
        ([("a", "i1"), ("b", "f4")], Struct(fields=(("a", Int8()), ("b", Float32())))),
        ([["a", "|i1"], ["b", "<f4"]], Struct(fields=(("a", Int8()), ("b", Float32())))),
        ("i1,f4", Struct(fields=(("f0", Int8()), ("f1", Float32())))),
    ],
)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_users_write(written: Any, dtype: ZDType[Any, Any], zarr_format: Any) -> None:
    assert parse_dtype(written, zarr_format=zarr_format) == dtype
    assert parse_data_type(written, zarr_format=zarr_format) == dtype


def test_names_of_one_format() -> None:
    assert parse_dtype("bytes", zarr_format=3) == VariableLengthBytes()
    assert parse_dtype("r16", zarr_format=3) == RawBits(length=2)
    assert parse_dtype({"name": "raw_bytes", "configuration": {"length_bytes": 3}}, zarr_format=3) == RawBytes(length=3)
    assert parse_dtype({"name": "<i4", "object_codec_id": None}, zarr_format=2) == Int32()
    with pytest.raises(ValueError, match="length must be >= 1, got 0"):
        parse_dtype("bytes", zarr_format=2)
    with pytest.raises(ValueError, match="No Zarr data type found"):
        parse_dtype({"name": "int32"}, zarr_format=2)


@pytest.mark.parametrize("written", [object, "O", np.dtype("O"), [("a", "O")]])
def test_objects_are_ambiguous(written: Any) -> None:
    with pytest.raises(ValueError, match=r"resolution from object failed.*ambiguous"):
        parse_dtype(written, zarr_format=3)


@pytest.mark.parametrize(
    ("written", "error"), [("nope", TypeError), (5, TypeError), ("longdouble", ValueError), ("S", ValueError)]
)
def test_what_is_no_dtype(written: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        parse_dtype(written, zarr_format=3)


def test_bytes_are_of_any_length_as_str_is() -> None:
    assert parse_dtype(bytes, zarr_format=3) == VariableLengthBytes()
    with warnings.catch_warnings(action="ignore"):
        array = zarr.create_array({}, shape=3, dtype=bytes)
    array[:] = [b"a", b"", b"abc"]
    assert array[:].tolist() == [b"a", b"", b"abc"]


def test_strings_with_a_missing_object_are_refused() -> None:
    with pytest.raises(ValueError, match="na_object"):
        parse_dtype(np.dtypes.StringDType(na_object=None), zarr_format=3)


def test_subarrays_are_for_format_2() -> None:
    native = np.dtype([("z", "<f4", (2, 2)), ("y", "u1")])
    parsed = parse_dtype(native, zarr_format=2)
    assert isinstance(parsed, Struct)
    assert parsed.fields[0][1] == SubArray(base=Float32(), shape=(2, 2))
    assert parsed.to_native_dtype() == native
    assert parsed.to_json(2)["name"] == [["z", "<f4", [2, 2]], ["y", "|u1"]]  # type: ignore[index]
    with pytest.raises(ValueError, match=r"field 'z' is a subarray with shape \(2, 2\)"):
        parse_dtype(native, zarr_format=3)
    assert parse_dtype([["z", "<f4", [2, 2]], ["y", "|u1"]], zarr_format=2) == parsed


def test_titles_are_refused() -> None:
    with pytest.raises(ValueError, match="field 'b' has a title, 'a'"):
        parse_dtype(np.dtype([(("a", "b"), "i4")]), zarr_format=2)


def test_gaps_in_records_are_dropped() -> None:
    native = np.dtype({"names": ["a", "b"], "formats": ["i1", "f4"], "offsets": [0, 4], "itemsize": 8})
    assert Structured.from_native_dtype(native).to_native_dtype() == np.dtype([("a", "i1"), ("b", "<f4")])


def test_which_records_need_a_byte_order() -> None:
    assert not Struct(fields=(("a", Int8()), ("b", NullTerminatedBytes(length=3)))).has_multi_byte_fields()
    assert Struct(fields=(("a", Int32()),)).has_multi_byte_fields()
    assert Struct(fields=(("a", Struct(fields=(("b", Float32()),))),)).has_multi_byte_fields()
    assert Struct(fields=(("a", SubArray(base=Float32(), shape=(2,))),)).has_multi_byte_fields()


@pytest.mark.parametrize("cls", [Int32, VariableLengthUTF8, FixedLengthUTF32, RawBytes, Struct, DateTime64])
def test_the_wrong_numpy_dtype(cls: type[ZDType[Any, Any]]) -> None:
    with pytest.raises(DataTypeValidationError, match="Invalid data type: float16"):
        cls.from_native_dtype(np.dtype("f2"))


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="length must be >= 1"):
        FixedLengthUTF32(length=0)
    with pytest.raises(ValueError, match="must have at least one field"):
        Struct(fields=())
    with pytest.raises(ValueError, match="Invalid endianness"):
        Int32(endianness="middle").to_native_dtype()  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unit must be one of"):
        DateTime64(unit="year")  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True, slots=True)
class Nibble(ZDType[Any, np.int8]):
    """A data type of another library, in the way that documentation shows."""

    dtype_cls: ClassVar[Any] = np.dtypes.Int8DType
    _zarr_v3_name: ClassVar[str] = "example.nibble"

    @classmethod
    def from_native_dtype(cls, dtype: Any) -> Any:
        raise DataTypeValidationError("an int8 is no nibble")

    def to_native_dtype(self) -> Any:
        return np.dtype("i1")

    @classmethod
    def _from_json_v2(cls, data: Any) -> Any:
        raise DataTypeValidationError("not in format 2")

    @classmethod
    def _from_json_v3(cls, data: Any) -> Any:
        if data == cls._zarr_v3_name:
            return cls()
        raise DataTypeValidationError(f"Invalid JSON representation: {data}")

    def to_json(self, zarr_format: Any) -> Any:
        return self._zarr_v3_name

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, int)

    def cast_scalar(self, data: object) -> np.int8:
        return np.int8(data)  # type: ignore[call-overload, no-any-return]

    def default_scalar(self) -> np.int8:
        return np.int8(0)

    def from_json_scalar(self, data: Any, *, zarr_format: Any) -> np.int8:
        return np.int8(data)

    def to_json_scalar(self, data: object, *, zarr_format: Any) -> int:
        return int(data)  # type: ignore[call-overload, no-any-return]


def test_a_data_type_of_another_library() -> None:
    data_type_registry.register(Nibble._zarr_v3_name, Nibble)
    try:
        assert get_data_type_from_json("example.nibble", zarr_format=3) == Nibble()
        assert parse_dtype("i1", zarr_format=3) == Int8()
        assert parse_dtype(Nibble(), zarr_format=3) == Nibble()
        assert data_type_registry.get("example.nibble") is Nibble
    finally:
        data_type_registry.unregister(Nibble._zarr_v3_name)
    with pytest.raises(KeyError, match=r"example\.nibble"):
        data_type_registry.get("example.nibble")
    with pytest.raises(KeyError, match=r"example\.nibble"):
        data_type_registry.unregister("example.nibble")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ragged(Nibble):
    """A data type of another library whose elements are arrays of any length."""

    dtype_cls: ClassVar[Any] = np.dtypes.ObjectDType
    _zarr_v3_name: ClassVar[str] = "example.ragged"

    def to_native_dtype(self) -> Any:
        return np.dtype(object)

    def default_scalar(self) -> Any:
        return np.zeros(0, dtype="i4")

    def from_json_scalar(self, data: Any, *, zarr_format: Any) -> Any:
        return np.zeros(0, dtype="i4")

    def to_json_scalar(self, data: object, *, zarr_format: Any) -> int:
        return 0


class RaggedCodec(ArrayBytesCodec):
    """The serializer of ragged elements: a list of lists in JSON."""

    is_fixed_size = False

    def to_dict(self) -> dict[str, Any]:
        return {"name": "example.ragged_json", "configuration": {}}

    @classmethod
    def from_dict(cls, data: Any) -> RaggedCodec:
        return cls()

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        raise NotImplementedError

    async def _encode_single(self, chunk_array: Any, chunk_spec: Any) -> Any:
        values = [np.asarray(value).tolist() for value in chunk_array.as_numpy_array().ravel()]
        return chunk_spec.prototype.buffer.from_bytes(json.dumps(values).encode())

    async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        out = np.empty(chunk_spec.shape, dtype=object)
        for position, value in enumerate(json.loads(chunk_bytes.to_bytes())):
            out.ravel()[position] = np.array(value, dtype="i4")
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(out)


def test_one_element_of_a_data_type_of_another_library_may_be_an_array() -> None:
    # As in zarr-python, and as zarr-vlen-ndarray needs it.
    array = zarr.create_array({}, shape=(5,), chunks=(2,), dtype=Ragged(), serializer=RaggedCodec())
    array[1] = np.arange(3)
    array[-1, ...] = np.arange(4).reshape(2, 2)
    array[2] = [7]
    assert [np.asarray(value).tolist() for value in array[:]] == [[], [0, 1, 2], [7], [], [[0, 1], [2, 3]]]
    with pytest.raises(ValueError, match="broadcast"):
        array[0:2] = np.arange(3)


def test_entry_points_are_loaded_when_nothing_else_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    registry = DataTypeRegistry()
    registry._lazy_load_list.append(EntryPoint("whatever", "zarr.dtype:Int8", "zarr.data_type"))
    registry._lazy_load_list.append(EntryPoint("broken", "no_such_module_at_all:X", "zarr.data_type"))
    with pytest.warns(UserWarning, match=r"broken.*no_such_module_at_all"):
        assert registry.match_dtype(np.dtype("i1")) == Int8()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="No Zarr data type found"):
            registry.match_dtype(np.dtype("i2"))
