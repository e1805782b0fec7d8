"""The JSON forms of data types, and checks that something has such a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard

from zarr.types import JSON, DTypeJSON, EndiannessStr, ZarrFormat

if TYPE_CHECKING:
    from zarr.typed_dicts import DTypeName_V2, DTypeSpec_V2, DTypeSpec_V3
    from zarr.types import DTypeConfig_V2

__all__ = [
    "ENDIANNESS_STR",
    "OBJECT_CODEC_IDS",
    "DTypeJSON",
    "EndiannessStr",
    "JSON",
    "ObjectCodecID",
    "ZarrFormat",
    "check_dtype_name_v2",
    "check_dtype_spec_no_object_codec_v2",
    "check_dtype_spec_v2",
    "check_dtype_spec_v3",
    "split_dtype_spec_v3",
]

ENDIANNESS_STR: Final = "little", "big"
# Filters of format 2 that make bytes of objects; the first filter of an object array is one of these.
OBJECT_CODEC_IDS: Final = (
    "vlen-utf8",
    "vlen-bytes",
    "vlen-array",
    "pickle",
    "json2",
    "json",
    "msgpack2",
    "msgpack",
    "categorize",
    "base64",
)
ObjectCodecID: TypeAlias = str


def check_dtype_name_v2(data: object) -> TypeGuard[DTypeName_V2]:
    """Return whether something looks like the ``dtype`` of format 2: a string, or a list of fields.

    Examples
    --------
    >>> check_dtype_name_v2("<i4"), check_dtype_name_v2([["a", "<i4"]]), check_dtype_name_v2(4)
    (True, True, False)
    """
    if isinstance(data, str):
        return True
    return isinstance(data, Sequence) and all(
        isinstance(field, Sequence)
        and not isinstance(field, str)
        and len(field) in (2, 3)
        and isinstance(field[0], str)
        and check_dtype_name_v2(field[1])
        for field in data
    )


def check_dtype_spec_v2(data: object) -> TypeGuard[DTypeSpec_V2]:
    """Return whether something is a name of format 2 together with the id of an object codec, or None.

    Examples
    --------
    >>> check_dtype_spec_v2({"name": "|O", "object_codec_id": "vlen-utf8"})
    True
    """
    return (
        isinstance(data, Mapping)
        and set(data) == {"name", "object_codec_id"}
        and check_dtype_name_v2(data["name"])
        and (data["object_codec_id"] is None or isinstance(data["object_codec_id"], str))
    )


def check_dtype_spec_no_object_codec_v2(data: object) -> TypeGuard[DTypeConfig_V2[DTypeName_V2, None]]:
    """Return whether something is a name of format 2 without an object codec.

    Examples
    --------
    >>> check_dtype_spec_no_object_codec_v2({"name": "|O", "object_codec_id": "vlen-utf8"})
    False
    """
    return check_dtype_spec_v2(data) and data["object_codec_id"] is None


def check_dtype_spec_v3(data: object) -> TypeGuard[DTypeSpec_V3]:
    """Return whether something is a name, or a name with a configuration.

    Examples
    --------
    >>> check_dtype_spec_v3("int8"), check_dtype_spec_v3({"configuration": {}})
    (True, False)
    """
    if isinstance(data, str):
        return True
    return (
        isinstance(data, Mapping)
        and isinstance(data.get("name"), str)
        and isinstance(data.get("configuration", {}), Mapping)
    )


def split_dtype_spec_v3(data: object) -> tuple[str, Mapping[str, Any]] | None:
    """Return the name and the configuration (empty if there is none) of a ``data_type`` of format 3.

    Returns
    -------
    None when the object is no ``data_type``.

    Examples
    --------
    >>> split_dtype_spec_v3("int8"), split_dtype_spec_v3({"name": "int8"})
    (('int8', {}), ('int8', {}))
    """
    if not check_dtype_spec_v3(data):
        return None
    if isinstance(data, str):
        return data, {}
    return data["name"], data.get("configuration", {})
