"""From what a user writes as a dtype to a data type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from zarr._lazy import LazyModule, instance_of
from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType, is_sequence
from zarr.dtype.registry import data_type_registry
from zarr.dtype.spec import DTypeJSON, ZarrFormat

if TYPE_CHECKING:
    import numpy.typing as npt

    from zarr.dtype.json_forms import ZDTypeLike
    from zarr.dtype.types import small, text
else:
    text = LazyModule("zarr.dtype.types.text")
    small = LazyModule("zarr.dtype.types.small")

# What means text of any length; numpy reads these as text of length 0.
VLEN_UTF8_ALIAS: Final = ("str", str, "string")


def get_data_type_from_native_dtype(dtype: npt.DTypeLike) -> ZDType[TBaseDType, TBaseScalar]:
    """Return the data type of a numpy dtype, or of what numpy makes a dtype of.

    Raises
    ------
    ValueError
        When there is none.

    Examples
    --------
    >>> get_data_type_from_native_dtype("<f4")
    Float32(endianness='little')
    """
    native = dtype if isinstance(dtype, np.dtype) else np.dtype(_with_tuples(dtype))
    return data_type_registry.match_dtype(native)


def get_data_type_from_json(dtype_spec: DTypeJSON, *, zarr_format: ZarrFormat) -> ZDType[TBaseDType, TBaseScalar]:
    """Return the data type of its JSON form.

    Parameters
    ----------
    dtype_spec
        In format 2 the object ``{"name": <dtype>, "object_codec_id": <id or None>}``, in format 3 the ``data_type``.
    zarr_format
        The format.

    Raises
    ------
    ValueError
        When there is none.

    Examples
    --------
    >>> get_data_type_from_json("int8", zarr_format=3)
    Int8()
    """
    return data_type_registry.match_json(dtype_spec, zarr_format=zarr_format)


def parse_dtype(dtype_spec: ZDTypeLike, *, zarr_format: ZarrFormat) -> ZDType[TBaseDType, TBaseScalar]:
    """Return the data type that is meant by a data type, a JSON form, a numpy dtype, or what numpy makes a dtype of.

    Parameters
    ----------
    dtype_spec
        What the user wrote.
    zarr_format
        The format in which it will be stored, which decides how names are read.

    Raises
    ------
    TypeError, ValueError
        When nothing is meant by it.

    Examples
    --------
    >>> parse_dtype("i4", zarr_format=3), parse_dtype(str, zarr_format=2)
    (Int32(endianness='little'), VariableLengthUTF8())
    """
    if isinstance(dtype_spec, ZDType):
        return dtype_spec
    if isinstance(dtype_spec, type) and issubclass(dtype_spec, ZDType):
        return cast("ZDType[TBaseDType, TBaseScalar]", dtype_spec())
    if isinstance(dtype_spec, Mapping):
        return get_data_type_from_json(cast("DTypeJSON", dtype_spec), zarr_format=zarr_format)
    if isinstance(dtype_spec, (str, type)) and dtype_spec in VLEN_UTF8_ALIAS:
        return text.VariableLengthUTF8()
    if isinstance(dtype_spec, str) and zarr_format == 3 and not data_type_registry.is_plain_number(dtype_spec):
        try:
            return get_data_type_from_json(dtype_spec, zarr_format=3)
        except ValueError:
            pass  # not a name of format 3, so perhaps one of numpy's
    try:
        native = np.dtype(_with_tuples(dtype_spec))
    except TypeError as error:
        missing = small.missing_message(dtype_spec)
        raise (TypeError(missing) if missing else error) from error.__cause__
    if native.kind == "U" and native.itemsize == 0:
        return text.VariableLengthUTF8()
    parsed = data_type_registry.match_dtype(native)
    if zarr_format == 3:
        _refuse_subarrays(parsed)
    return parsed


parse_data_type = parse_dtype


def _with_tuples(dtype: Any) -> Any:
    """Return a list of fields as numpy wants it; JSON has lists where numpy has tuples."""
    if not isinstance(dtype, list):
        return dtype
    return [
        (field[0], _with_tuples(field[1]), *(tuple(part) if is_sequence(part) else part for part in field[2:]))
        if isinstance(field, list)
        else field
        for field in dtype
    ]


def _refuse_subarrays(dtype: ZDType[Any, Any]) -> None:
    if instance_of(dtype, "zarr.dtype.types.structured", "Structured"):
        for name, inner in cast("Any", dtype).fields:
            if instance_of(inner, "zarr.dtype.types.structured", "SubArray"):
                raise ValueError(
                    f"Cannot convert the structured data type {dtype.to_native_dtype()}: field {name!r} is a subarray "
                    f"with shape {inner.shape}, which zarr_format=3 cannot store. Use zarr_format=2, or one field per "
                    "element."
                )
            _refuse_subarrays(inner)
