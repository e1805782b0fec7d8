"""Data types of Arrow and those of Zarr, and columns as arrays."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import numpy as np

from zarr._lazy import load
from zarr.arrays.interop import TIME_UNITS
from zarr.dtype import VariableLengthBytes, VariableLengthUTF8

TYPE: Final = "arrow_type"
"""The attribute with the type of Arrow, if the data type of Zarr does not determine it."""


class Column(NamedTuple):
    """The form of a column in Zarr.

    Parameters
    ----------
    dtype : numpy.dtype or ZDType
    kind : str
        ``"plain"``: as in NumPy; ``"text"`` and ``"bytes"``: of variable length; ``"time"``: with NaT for nulls.
    attributes : dict
        Properties of the column that are not in the data type.
    fill : any
        The value for a null; None if the values have a null of their own, NaN or NaT.
    """

    dtype: Any
    kind: str
    attributes: dict[str, Any]
    fill: Any


def column_of(arrow_type: Any) -> Column | None:
    """Return the form of a column for a type of Arrow; None if Zarr has none.

    Examples
    --------
    >>> import pyarrow
    >>> column_of(pyarrow.timestamp("ms", "UTC"))[:3]
    (dtype('<M8[ms]'), 'time', {'timezone': 'UTC'})
    """
    types: Any = load("pyarrow").types
    if types.is_dictionary(arrow_type):
        inner = column_of(arrow_type.value_type)
        return None if inner is None else inner._replace(attributes={**inner.attributes, TYPE: "dictionary"})
    if types.is_boolean(arrow_type) or types.is_integer(arrow_type):
        return Column(np.dtype(arrow_type.to_pandas_dtype()), "plain", {}, 0)
    if types.is_floating(arrow_type):
        return Column(np.dtype(arrow_type.to_pandas_dtype()), "plain", {}, None)
    if types.is_decimal(arrow_type):
        return Column(VariableLengthUTF8(), "text", {TYPE: str(arrow_type)}, "")
    if any(test(arrow_type) for test in (types.is_string, types.is_large_string, types.is_string_view)):
        return Column(VariableLengthUTF8(), "text", {}, "")
    if any(test(arrow_type) for test in (types.is_binary, types.is_large_binary, types.is_fixed_size_binary)):
        return Column(VariableLengthBytes(), "bytes", {}, b"")
    return _column_of_time(types, arrow_type)


def _column_of_time(types: Any, arrow_type: Any) -> Column | None:
    if types.is_timestamp(arrow_type):
        zone = {"timezone": arrow_type.tz} if arrow_type.tz else {}
        return Column(np.dtype(f"<M8[{arrow_type.unit}]"), "time", zone, None)
    if types.is_date(arrow_type):
        return Column(
            np.dtype("<M8[D]" if types.is_date32(arrow_type) else "<M8[ms]"), "time", _named(arrow_type), None
        )
    if types.is_duration(arrow_type):
        return Column(np.dtype(f"<m8[{arrow_type.unit}]"), "time", {}, None)
    if types.is_time(arrow_type):
        return Column(np.dtype(f"<m8[{arrow_type.unit}]"), "time", _named(arrow_type), None)
    return None


def _named(arrow_type: Any) -> dict[str, Any]:
    name = str(arrow_type)
    return {} if name == "date32[day]" else {TYPE: name}


def elements_of(values: Any, column: Column) -> Any:
    """Return a column of Arrow as an array of NumPy: nulls are NaN, NaT, or their fill value.

    Parameters
    ----------
    values : pyarrow.ChunkedArray
    column : Column
    """
    arrow: Any = load("pyarrow")
    compute: Any = load("pyarrow.compute")
    if arrow.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if column.kind == "time":
        width = 32 if values.type.bit_width == 32 else 64
        numbers = values.cast(arrow.int32() if width == 32 else arrow.int64()).cast(arrow.int64())
        missing = np.iinfo(np.int64).min
        return compute.fill_null(numbers, missing).to_numpy().view(column.dtype)
    if column.kind == "text" and not arrow.types.is_string(values.type):
        values = values.cast(arrow.string())
    if column.fill is not None and values.null_count:
        values = compute.fill_null(values, arrow.scalar(column.fill).cast(values.type))
    return values.to_numpy() if column.kind != "plain" else np.asarray(values.to_numpy(), dtype=column.dtype)


def arrow_type_of(dtype: Any, attributes: dict[str, Any]) -> Any:
    """Return the type of Arrow for a data type of Zarr; None if there is none.

    Examples
    --------
    >>> arrow_type_of(np.dtype("M8[s]"), {"timezone": "UTC"}), arrow_type_of(np.dtype("c16"), {})
    (TimestampType(timestamp[s, tz=UTC]), None)
    """
    arrow: Any = load("pyarrow")
    plain: Any = None
    dtype = dtype.to_native_dtype() if hasattr(dtype, "to_native_dtype") and not _is_bytes(dtype) else dtype
    if _is_bytes(dtype):
        plain = arrow.large_binary()
    elif dtype.kind in "biuf" and dtype.itemsize <= 8:
        plain = arrow.from_numpy_dtype(dtype.newbyteorder("="))
    elif dtype.kind in "UT":
        plain = arrow.string()
    elif dtype.kind in "mM":
        plain = _type_of_time(arrow, dtype, attributes.get("timezone"))
    label = attributes.get(TYPE)
    if plain is None or not isinstance(label, str):
        return plain
    return arrow.dictionary(arrow.int32(), plain) if label == "dictionary" else _type_named(arrow, label) or plain


def _is_bytes(dtype: Any) -> bool:
    """Return True if elements are bytes: of variable length, they are objects of NumPy; texts are StringDType."""
    return isinstance(dtype, VariableLengthBytes) or getattr(dtype, "kind", "") in ("S", "O")


def _type_of_time(arrow: Any, dtype: np.dtype[Any], zone: Any) -> Any:
    unit, count = np.datetime_data(dtype)
    if unit == "D" and count == 1 and dtype.kind == "M":
        return arrow.date32()
    if unit not in TIME_UNITS or count != 1:
        return None
    return arrow.timestamp(unit, zone if isinstance(zone, str) else None) if dtype.kind == "M" else arrow.duration(unit)


def _type_named(arrow: Any, name: str) -> Any:
    """Return the type in the attribute, if this module has written it."""
    if match := re.fullmatch(r"decimal(32|64|128|256)\((\d+), (-?\d+)\)", name):
        return getattr(arrow, f"decimal{match[1]}")(int(match[2]), int(match[3]))
    if match := re.fullmatch(r"time(32|64)\[(s|ms|us|ns)\]", name):
        return getattr(arrow, f"time{match[1]}")(match[2])
    return arrow.date64() if name == "date64[ms]" else None


def values_of(elements: Any, arrow_type: Any, valid: Any) -> Any:
    """Return elements as a column of Arrow.

    Parameters
    ----------
    elements : numpy.ndarray
    arrow_type : pyarrow.DataType
    valid : numpy.ndarray of bool, optional
        False where there is no value. NaT is never a value.
    """
    arrow: Any = load("pyarrow")
    types = arrow.types
    mask = None if valid is None else ~np.asarray(valid, dtype=bool)
    inner = arrow_type.value_type if types.is_dictionary(arrow_type) else arrow_type
    elements = np.asarray(elements)
    if elements.dtype.kind in "mM":
        numbers = elements.astype(elements.dtype.newbyteorder("="), copy=False).view(np.int64)
        made = arrow.array(numbers, mask=np.isnat(elements) if mask is None else mask | np.isnat(elements))
        narrow = made.cast(arrow.int32()) if inner.bit_width == 32 else made
        made = narrow.cast(inner)
    elif elements.dtype.kind in "UTOS":
        plain = arrow.string() if types.is_decimal(inner) else inner
        made = arrow.array(elements.astype(object), type=plain, mask=mask).cast(inner)
    else:
        made = arrow.array(elements.astype(elements.dtype.newbyteorder("="), copy=False), type=inner, mask=mask)
    return made.dictionary_encode() if inner is not arrow_type else made
