"""Records: named fields of other data types, packed without gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from zarr.dtype import base, scalars
from zarr.dtype.base import HasEndianness, HasItemSize, TBaseDType, TBaseScalar, ZDType
from zarr.dtype.registry import data_type_registry
from zarr.errors import DataTypeValidationError, ZarrUserWarning
from zarr.notices import warn_once
from zarr.types import JSON, DTypeJSON, ZarrFormat

if TYPE_CHECKING:
    from zarr.dtype.json_forms import DTypeSpec_V2, DTypeSpec_V3
    Field: TypeAlias = tuple[str, ZDType[TBaseDType, TBaseScalar]]
    Fields: TypeAlias = tuple[Field, ...]
    Match: TypeAlias = Callable[..., ZDType[TBaseDType, TBaseScalar]]


@dataclass(frozen=True, kw_only=True)
class SubArray(ZDType[Any, Any], HasItemSize):
    """A small array of a fixed shape as one field of a record; format 2 only, and in records only.

    Parameters
    ----------
    base
        The data type of its elements.
    shape
        Its shape.

    Examples
    --------
    >>> from zarr.dtype import Float32, SubArray
    >>> SubArray(base=Float32(), shape=(2, 2)).item_size
    16
    """

    dtype_cls: ClassVar[Any] = np.dtypes.VoidDType
    _zarr_v3_name: ClassVar[str] = "subarray"

    base: ZDType[TBaseDType, TBaseScalar]
    shape: tuple[int, ...]

    @classmethod
    def from_native_dtype(cls, dtype: TBaseDType) -> Self:
        """Return the data type of a numpy dtype with a shape."""
        if dtype.subdtype is None:
            raise base.wrong_dtype(cls, dtype)
        element, shape = dtype.subdtype
        return cls(base=data_type_registry.match_dtype(element), shape=shape)

    def to_native_dtype(self) -> Any:
        """Return the numpy dtype with a shape."""
        return np.dtype((self.base.to_native_dtype(), self.shape))

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        raise base.wrong_json(cls, data, "a field of a record with a shape")

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        raise base.wrong_json(cls, data, "nothing: it exists in format 2 only")

    def to_json(self, zarr_format: ZarrFormat) -> DTypeSpec_V2 | DTypeSpec_V3:
        """Refuse: only a record in format 2 can write it."""
        raise ValueError(
            f"A field of shape {self.shape} can only be stored as part of a record in format 2. "
            "Use one field per element, or zarr_format=2."
        )

    def _check_scalar(self, data: object) -> bool:
        return True

    def cast_scalar(self, data: object) -> Any:
        """Return an array of this shape from an object."""
        return np.broadcast_to(np.asarray(data, dtype=self.base.to_native_dtype()), self.shape)

    def default_scalar(self) -> Any:
        """Return an array of default scalars."""
        return self.cast_scalar(self.base.default_scalar())

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> Any:
        """Return the array of nested lists of JSON values, or of one value for all places."""
        if scalars.is_sequence(data):
            return np.array(
                [self.base.from_json_scalar(item, zarr_format=zarr_format) for item in _flatten(data)],
                dtype=self.base.to_native_dtype(),
            ).reshape(self.shape)
        return self.cast_scalar(self.base.from_json_scalar(data, zarr_format=zarr_format))

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> JSON:
        """Return the elements as a flat list."""
        return [self.base.to_json_scalar(item, zarr_format=zarr_format) for item in self.cast_scalar(data).flat]


def _flatten(data: Iterable[Any]) -> Iterable[Any]:
    for item in data:
        if scalars.is_sequence(item):
            yield from _flatten(item)
        else:
            yield item


@dataclass(frozen=True, kw_only=True)
class Structured(ZDType["np.dtype[np.void]", np.void], HasItemSize):
    """Records under their name in format 3 before ``struct`` was specified.

    Parameters
    ----------
    fields
        Pairs of a name and a data type.

    Examples
    --------
    >>> from zarr.dtype import Int8, Structured
    >>> Structured(fields=(("a", Int8()),)).item_size
    1
    """

    dtype_cls: ClassVar[Any] = np.dtypes.VoidDType
    _zarr_v3_name: ClassVar[str] = "structured"

    fields: tuple[tuple[str, ZDType[TBaseDType, TBaseScalar]], ...]

    def __post_init__(self) -> None:
        if len(self.fields) < 1:
            raise ValueError(f"must have at least one field. Got {self.fields!r}")
        names = [name for name, _ in self.fields]
        if len(set(names)) < len(names):
            raise ValueError(f"fields must have names of their own, got {names}")
        # Not the size of the whole: numpy adds the sizes in 32 bits.
        nbytes = sum(dtype.to_native_dtype().itemsize for _, dtype in self.fields)
        if nbytes > base.MAX_ITEM_BYTES:
            raise ValueError(f"a record has at most {base.MAX_ITEM_BYTES} bytes, got fields of {nbytes}")

    @classmethod
    def _check_native_dtype(cls, dtype: TBaseDType) -> bool:
        return type(dtype) is cls.dtype_cls and dtype.fields is not None

    @classmethod
    def from_native_dtype(cls, dtype: TBaseDType) -> Self:
        """Return the data type of a NumPy dtype with fields. Gaps between the fields are dropped, with a warning."""
        if not cls._check_native_dtype(dtype) or dtype.fields is None or dtype.names is None:
            raise base.wrong_dtype(cls, dtype)
        for name in dtype.names:
            field: tuple[Any, ...] = dtype.fields[name]
            if len(field) > 2:
                raise ValueError(
                    f"Cannot convert the structured data type {dtype}: field {name!r} has a title, "
                    f"{field[2]!r}, which cannot be stored. Rename the fields without titles."
                )
        if sum(dtype.fields[name][0].itemsize for name in dtype.names) != dtype.itemsize:
            warn_once(
                f"The fields of {dtype} will be stored packed, without the gaps between them: arrays read back will "
                "have another layout than this dtype, with the same values.",
                ZarrUserWarning,
            )
        return cls(fields=tuple((name, _match_field(dtype.fields[name][0])) for name in dtype.names))

    def to_native_dtype(self) -> np.dtype[np.void]:
        """Return the numpy dtype with fields."""
        return np.dtype([(name, dtype.to_native_dtype()) for name, dtype in self.fields])

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        return cls._from_json_within(data, 2, data_type_registry.match_json)

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        return cls._from_json_within(data, 3, data_type_registry.match_json)

    @classmethod
    def _from_json_within(cls, data: DTypeJSON, zarr_format: ZarrFormat, match: Match) -> Self:
        """Return the data type of a JSON form; ``match`` finds the data types of the fields."""
        if zarr_format == 3:
            return cls(fields=cls._fields_from_v3(data, match))
        if scalars.check_dtype_spec_no_object_codec_v2(data) and scalars.is_sequence(data["name"]):
            return cls(fields=tuple(_field_from_v2(field, i, match) for i, field in enumerate(data["name"])))
        raise base.wrong_json(cls, data, "a list of fields, each a name and a data type")

    @classmethod
    def _fields_from_v3(cls, data: DTypeJSON, match: Match) -> Fields:
        spec = scalars.split_dtype_spec_v3(data)
        if spec is None or spec[0] not in ("struct", "structured") or not scalars.is_sequence(spec[1].get("fields")):
            raise base.wrong_json(cls, data, "an object with the name 'struct' and a list of fields")
        fields = tuple(_field_from_v3(field, i, match) for i, field in enumerate(spec[1]["fields"]))
        seen: set[str] = set()
        for name, _ in fields:
            if name in seen:
                raise DataTypeValidationError(f"The field {name!r} occurs more than once in {data!r}.")
            seen.add(name)
        return fields

    def to_json(self, zarr_format: ZarrFormat) -> DTypeSpec_V2 | DTypeSpec_V3:
        """Return the name with the fields, or the list of fields in format 2."""
        base.check_zarr_format(zarr_format)
        if zarr_format == 2:
            return {"name": [_field_to_v2(name, dtype) for name, dtype in self.fields], "object_codec_id": None}
        return self._to_json_v3()

    def _to_json_v3(self) -> DTypeSpec_V3:
        base.v3_unstable_dtype_warning(self)
        fields = [[name, dtype.to_json(3)] for name, dtype in self.fields]
        return {"name": self._zarr_v3_name, "configuration": {"fields": fields}}

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (np.void, bytes, bytearray, int, np.integer, tuple, list)) or (
            isinstance(data, np.ndarray) and data.ndim == 0
        )

    def cast_scalar(self, data: object) -> np.void:
        """Make a record from a tuple, a mapping of names, a record, its bytes, or a number for all fields."""
        if isinstance(data, Mapping):
            return self._from_mapping(data, lambda dtype, value: dtype.cast_scalar(value))
        if not self._check_scalar(data):
            raise base.wrong_scalar(self, data)
        dtype = self.to_native_dtype()
        if isinstance(data, (bytes, bytearray)):
            return self._from_bytes(bytes(data))
        if isinstance(data, list):
            data = tuple(data)
        return np.array([data], dtype=dtype)[0]  # type: ignore[no-any-return]

    def _from_bytes(self, raw: bytes) -> np.void:
        dtype = self.to_native_dtype()
        if len(raw) != dtype.itemsize:
            raise ValueError(f"The record has {len(raw)} bytes; {self} needs {dtype.itemsize}.")
        return np.frombuffer(raw, dtype=dtype).copy()[0]  # type: ignore[no-any-return]

    def _from_mapping(self, data: Mapping[str, Any], convert: Any) -> np.void:
        unknown = set(data) - {name for name, _ in self.fields}
        values = tuple(
            convert(dtype, data[name]) if name in data else dtype.default_scalar() for name, dtype in self.fields
        )
        if unknown:
            error = base.wrong_scalar(self, data)
            error.add_note(f"It has no fields {sorted(unknown, key=str)}.")
            raise error
        record = np.zeros(1, dtype=self.to_native_dtype())
        for (name, _), value in zip(self.fields, values):
            record[name][0] = value
        return record[0]  # type: ignore[no-any-return]

    def default_scalar(self) -> np.void:
        """Return a record of zeros."""
        return np.zeros(1, dtype=self.to_native_dtype())[0]  # type: ignore[no-any-return]

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> np.void:
        """Return the record of the base64 string of its bytes. In format 2, 0 or null is a record of zeros."""
        if base.is_unset_fill(data, zarr_format):
            return self.default_scalar()
        if not isinstance(data, str):
            raise TypeError(f"Invalid type: {data}. Expected a string.")
        raw = scalars.bytes_from_json(data)
        if zarr_format == 2 or len(raw) != self.item_size:
            return self._from_bytes(raw)
        stored = np.frombuffer(raw, dtype=self.to_native_dtype().newbyteorder("<"))
        return stored.astype(self.to_native_dtype())[0]  # type: ignore[no-any-return]

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> JSON:
        """Return the bytes of the record as a base64 string; in format 3 those of a little-endian one."""
        record = self.cast_scalar(data)
        if zarr_format == 3:
            record = np.array([record]).astype(record.dtype.newbyteorder("<"))[0]
        return scalars.bytes_to_json(record.tobytes())

    def has_multi_byte_fields(self) -> bool:
        """Return True if the byte order matters for some field.

        Returns
        -------
        bool
        """
        return any(
            inner.has_multi_byte_fields() if isinstance(inner, Structured) else isinstance(inner, HasEndianness)
            for inner in (_innermost(dtype) for _, dtype in self.fields)
        )


@dataclass(frozen=True, kw_only=True)
class Struct(Structured):
    """Records.

    Parameters
    ----------
    fields
        Pairs of a name and a data type.

    Examples
    --------
    >>> from zarr.dtype import Int8, Struct
    >>> Struct(fields=(("a", Int8()),)).to_json(3)
    {'name': 'struct', 'configuration': {'fields': [{'name': 'a', 'data_type': 'int8'}]}}
    """

    _zarr_v3_name: ClassVar[str] = "struct"

    def _to_json_v3(self) -> DTypeSpec_V3:
        fields = [{"name": name, "data_type": dtype.to_json(3)} for name, dtype in self.fields]
        return {"name": self._zarr_v3_name, "configuration": {"fields": fields}}

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> np.void:
        """Return the record of an object with the values of the fields, or of the base64 string of its bytes."""
        if isinstance(data, Mapping):
            return self._from_mapping(data, lambda dtype, value: dtype.from_json_scalar(value, zarr_format=zarr_format))
        if isinstance(data, str) or zarr_format == 2:
            return super().from_json_scalar(data, zarr_format=zarr_format)
        raise TypeError(f"Invalid type: {data}. Expected a dict or base64-encoded string.")

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> JSON:
        """Return an object with the values of the fields; in format 2 the bytes as a base64 string."""
        if zarr_format == 2:
            return super().to_json_scalar(data, zarr_format=zarr_format)
        record = self.cast_scalar(data)
        return {name: dtype.to_json_scalar(record[name], zarr_format=3) for name, dtype in self.fields}


def check_fields(dtype: ZDType[Any, Any], stored: JSON) -> None:
    """Refuse the fill value of a document that lacks a value for a field, as the format does; also in inner records.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> from zarr.dtype import Int8
    >>> check_fields(Struct(fields=(("a", Int8()),)), {"a": 1})
    """
    if not isinstance(dtype, Structured) or not isinstance(stored, Mapping):
        return
    missing = [name for name, _ in dtype.fields if name not in stored]
    if missing:
        raise ValueError(f"The fill value {stored!r} has no value for the fields {missing} of the data type {dtype}.")
    for name, inner in dtype.fields:
        check_fields(inner, stored[name])


def _innermost(dtype: ZDType[Any, Any]) -> ZDType[Any, Any]:
    return _innermost(dtype.base) if isinstance(dtype, SubArray) else dtype


def _match_field(dtype: np.dtype[Any]) -> ZDType[TBaseDType, TBaseScalar]:
    if dtype.subdtype is not None:
        return SubArray.from_native_dtype(dtype)
    return data_type_registry.match_dtype(dtype)


def _field_from_v2(field: Any, index: int, match: Match) -> Field:
    spec = {"name": field[1], "object_codec_id": None}
    dtype = _match_inner(spec, field[0], 2, f"/{index}/1", match)
    if len(field) == 3:
        shape = field[2] if scalars.is_sequence(field[2]) else [field[2]]
        if not all(isinstance(length, int) and length > 0 for length in shape):
            raise DataTypeValidationError(f"The shape of the field {field!r} must be a list of positive integers.")
        dtype = SubArray(base=dtype, shape=tuple(shape))
    return field[0], dtype


def _field_to_v2(name: str, dtype: ZDType[Any, Any]) -> list[Any]:
    if isinstance(dtype, SubArray):
        return [*_field_to_v2(name, dtype.base), list(dtype.shape)]
    spec: Any = dtype.to_json(2)
    if spec["object_codec_id"] is not None:
        raise ValueError(f"Format 2 cannot store the field {name!r} of the data type {dtype} in a record.")
    return [name, spec["name"]]


def _field_from_v3(field: Any, index: int, match: Match) -> Field:
    place = f"/configuration/fields/{index}"
    if isinstance(field, Mapping) and isinstance(field.get("name"), str) and "data_type" in field:
        return field["name"], _match_inner(field["data_type"], field["name"], 3, f"{place}/data_type", match)
    if scalars.is_sequence(field) and len(field) == 2 and isinstance(field[0], str):
        return field[0], _match_inner(field[1], field[0], 3, f"{place}/1", match)
    raise DataTypeValidationError(f"Invalid field {field!r}. Expected an object with a 'name' and a 'data_type'.")


class FieldTypeError(DataTypeValidationError):
    """The data type of a field is invalid.

    Parameters
    ----------
    reason
        The reason.
    pointer
        The place: a JSON pointer from the data type of the record to that of the field.
    """

    def __init__(self, reason: str, pointer: str) -> None:
        super().__init__(f"{reason} at {pointer}")
        self.reason = reason
        self.pointer = pointer

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.pointer)


def _match_inner(
    spec: Any, name: str, zarr_format: ZarrFormat, pointer: str, match: Match
) -> ZDType[TBaseDType, TBaseScalar]:
    try:
        return match(spec, zarr_format=zarr_format)
    except FieldTypeError as error:
        raise FieldTypeError(f"in the field {name!r}: {error.reason}", pointer + error.pointer) from error
    except ValueError as error:
        raise FieldTypeError(f"in the field {name!r}: {error}", pointer) from error
