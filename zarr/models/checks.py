"""Validation of models, their type parameters, and repair of documents of the draft of the object models.

The draft writes data types in NumPy's notation (``"|u1"``), codecs under other names (``"GZip"``) and without the
array-to-bytes codec, ``null`` for missing members, and in its format 2 ``zarr_version``, ``"filters": {}`` and no
defaults.
"""

from __future__ import annotations

import copyreg
import types
import typing
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from operator import getitem
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from zarr.dtype import parse_dtype
from zarr.errors import MetadataValidationError
from zarr.metadata import check_node_name
from zarr.models.plain import plain


def lengths(value: Any, name: str, least: int = 0) -> tuple[int, ...]:
    """Return a shape, validated.

    Raises
    ------
    MetadataValidationError
        If a length is no integer, or less than ``least``.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = (value,)
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise MetadataValidationError(f"{name} must be a list of integers, got {value!r}")
    for length in value:
        if isinstance(length, bool) or not hasattr(length, "__index__") or length.__index__() < least:
            raise MetadataValidationError(f"{name} must hold integers of at least {least}, got {tuple(value)!r}")
    return tuple(length.__index__() for length in value)


def check_rank(name: str, count: int, ndim: int) -> None:
    """Check that a sequence has one entry for each dimension.

    Raises
    ------
    MetadataValidationError
    """
    if count != ndim:
        raise MetadataValidationError(f"{name} has {count} entries for an array of {ndim} dimensions")


def check_grid(grid: Mapping[str, Any] | str, ndim: int) -> None:
    """Check the rank and the lengths of a chunk grid whose name is known."""
    if isinstance(grid, str) or grid.get("name") not in ("regular", "rectilinear"):
        return
    configuration = grid.get("configuration") or {}
    if grid["name"] == "regular":
        chunks = lengths(configuration.get("chunk_shape"), "chunk_shape", 1)
        check_rank("chunk_shape", len(chunks), ndim)
    else:
        check_rank("chunk_shapes", len(configuration.get("chunk_shapes", ())), ndim)


def check_names(names: Any, ndim: int) -> tuple[str | None, ...] | None:
    """Check dimension names: as many as dimensions, each a string or None."""
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise MetadataValidationError(f"dimension_names must be a list of strings and nulls, got {names!r}")
    check_rank("dimension_names", len(names), ndim)
    for name in names:
        if name is not None and not isinstance(name, str):
            raise MetadataValidationError(f"dimension_names must hold strings and nulls, got {name!r}")
    return tuple(names)


def check_member_name(name: Any) -> str:
    """Check that a string may be the name of a node.

    Raises
    ------
    MetadataValidationError
    """
    if not isinstance(name, str):
        raise MetadataValidationError(f"the name of a member must be a string, got {name!r}")
    try:
        check_node_name(name)
    except ValueError as error:
        raise MetadataValidationError(str(error)) from error
    return name


def named(value: Any, what: str) -> dict[str, Any] | str:
    """Return an extension of format 3: a name, or an object with a name and a configuration.

    Raises
    ------
    MetadataValidationError
        If it is neither.
    """
    if isinstance(value, str):
        return value
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
        raise MetadataValidationError(f"{what} must be a name, or an object with a name, got {value!r}")
    unknown = sorted(set(value) - {"name", "configuration", "must_understand"})
    if unknown:
        raise MetadataValidationError(f"{what} {value['name']!r} has members that it must not have: {unknown}")
    if not isinstance(value.get("configuration", {}), Mapping):
        raise MetadataValidationError(f"the configuration of {what} {value['name']!r} must be an object")
    return dict(value)


def check_literal(name: str, value: Any, wanted: Any) -> None:
    """Check a member that has only one valid value."""
    if value != wanted or isinstance(value, bool):
        raise MetadataValidationError(f"{name} must be {wanted!r}, got {value!r}")


def required(document: Mapping[str, Any], names: Sequence[str]) -> None:
    """Check that no member is missing."""
    missing = [name for name in names if name not in document]
    if missing:
        raise MetadataValidationError(f"the document of a model lacks {', '.join(missing)}")


_CODEC_NAMES = {"endian": "bytes", "transposecodec": "transpose", "sharding": "sharding_indexed"}
_ARRAY_CODECS = frozenset(("transpose", "reshape", "bitround", "scale_offset", "cast_value"))
_SERIALIZERS = frozenset(("bytes", "sharding_indexed", "vlen-utf8", "vlen-bytes", "packbits", "zfp", "pcodec"))


def repair_v3(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document of format 3, with its members, in the form of the final specification.

    Examples
    --------
    >>> repair_v3({"zarr_format": 3, "node_type": "group", "attributes": None, "members": None})["attributes"]
    {}
    """
    found = {**document, "attributes": document.get("attributes") or {}}
    found.setdefault("zarr_format", 3)
    found.setdefault("node_type", "array" if "shape" in found else "group")
    if found["node_type"] == "group":
        return _with_members(found, repair_v3)
    return _repair_array_v3(found)


def _with_members(document: dict[str, Any], repair: Any) -> dict[str, Any]:
    members = document.get("members")
    document["members"] = {name: repair(member) for name, member in (members or {}).items()}
    return document


def _repair_array_v3(found: dict[str, Any]) -> dict[str, Any]:
    data_type, endian = _data_type(found.get("data_type"))
    found["data_type"] = data_type
    found["storage_transformers"] = found.get("storage_transformers") or []
    found.setdefault("chunk_key_encoding", "default")
    found["codecs"] = _codecs(found.get("codecs") or [], endian, data_type)
    for name in ("chunk_grid", "chunk_key_encoding"):
        if isinstance(found.get(name), Mapping):
            found[name] = _extension(found[name])
    if found.get("dimension_names", 0) is None:
        del found["dimension_names"]
    return found


def _data_type(value: Any) -> tuple[Any, str | None]:
    """Return a data type by its name in format 3, and the byte order of its numpy name."""
    if not isinstance(value, str) or value[:1] not in "<>|=":
        return value, None
    try:
        dtype = np.dtype(value)
        document = parse_dtype(dtype, zarr_format=3).to_json(zarr_format=3)
    except (TypeError, ValueError) as error:
        raise MetadataValidationError(f"{value!r} is no data type: {error}") from error
    return plain(document), "big" if dtype.byteorder == ">" else "little"


def _extension(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if not (key == "configuration" and item is None)}


def _codecs(codecs: list[Any], endian: str | None, data_type: Any) -> list[Any]:
    """Return codecs by their registered names, with an array-to-bytes codec among them."""
    found = []
    for codec in codecs:
        document = {"name": codec} if isinstance(codec, str) else _extension(codec)
        name = str(document.get("name"))
        lower = name.lower()
        known = lower in _ARRAY_CODECS | _SERIALIZERS | {"gzip", "zstd", "blosc", "crc32c"}
        document["name"] = _CODEC_NAMES.get(lower, lower if known else name)
        found.append(document)
    names = [document["name"] for document in found]
    if not any(name in _SERIALIZERS or name.startswith("numcodecs.") for name in names):
        at = next((i for i, name in enumerate(names) if name not in _ARRAY_CODECS), len(names))
        found.insert(at, _serializer(endian, data_type))
    return found


def _serializer(endian: str | None, data_type: Any) -> dict[str, Any]:
    name = data_type.get("name") if isinstance(data_type, Mapping) else data_type
    if name in ("string", "variable_length_utf8"):
        return {"name": "vlen-utf8"}
    if name in ("bytes", "variable_length_bytes"):
        return {"name": "vlen-bytes"}
    if name in ("bool", "int8", "uint8"):
        return {"name": "bytes"}
    return {"name": "bytes", "configuration": {"endian": endian or "little"}}


_V2_DEFAULTS: dict[str, Any] = {"compressor": None, "fill_value": None, "order": "C", "dimension_separator": "."}


def repair_v2(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document of format 2, with its members, in the form of the final specification.

    Examples
    --------
    >>> repair_v2({"zarr_version": 2, "attributess": {"a": 1}, "members": {}})
    {'zarr_format': 2, 'attributes': {'a': 1}, 'members': {}}
    """
    renamed = {"zarr_version": "zarr_format", "attributess": "attributes"}
    found = {"zarr_format": 2, **{renamed.get(key, key): value for key, value in document.items()}}
    found["attributes"] = found.get("attributes") or {}
    if "shape" not in found:
        return _with_members(found, repair_v2)
    found = {**_V2_DEFAULTS, **found}
    found["filters"] = found.get("filters") or None
    if isinstance(found.get("dtype"), str) and found["dtype"][:1] not in "<>|":
        found["dtype"] = np.dtype(found["dtype"]).str
    return found


# ----------------------------------------------------------------------------------------------- type parameters


class ModelType(ABCMeta):
    """The metaclass of models, which pickles a specialized model as the model and its parameters."""


def _reduced(cls: Any) -> Any:
    """Return the parts of a pickled class of models."""
    return (getitem, (cls._plain_class, cls._parameters)) if "_plain_class" in vars(cls) else cls.__qualname__


copyreg.pickle(ModelType, _reduced)


_KNOWN: dict[tuple[type, Any], type] = {}


def specialize(cls: type, parameters: tuple[Any, ...]) -> type:
    """Return the subclass of a model with parameters; the same one for the same parameters."""
    try:
        known = _KNOWN.get((cls, parameters))
    except TypeError:  # a parameter that cannot be hashed
        return _subclass(cls, parameters)
    if known is None:
        known = _KNOWN.setdefault((cls, parameters), _subclass(cls, parameters))
    return known


def _subclass(cls: type, parameters: tuple[Any, ...]) -> type:
    names = ", ".join(getattr(part, "__name__", str(part)) for part in parameters)
    members = {"_parameters": parameters, "_plain_class": cls, "__module__": cls.__module__, "__doc__": cls.__doc__}
    return type(cls)(f"{cls.__name__}[{names}]", (cls,), members)


def unspecialized(cls: Any) -> Any:
    """Return the class of models without parameters and subclasses."""
    return next((base._plain_class for base in cls.__mro__ if "_plain_class" in vars(base)), cls)


def anything(wanted: Any) -> bool:
    """Return True if a parameter accepts any value."""
    return wanted is None or wanted is Any or isinstance(wanted, (TypeVar, str, typing.ForwardRef))


def is_union(wanted: Any) -> bool:
    """Return True if a parameter is a union of types."""
    return get_origin(wanted) in (Union, types.UnionType)


def conform(value: Any, wanted: Any, where: str) -> Any:
    """Convert attributes to the wanted type.

    Parameters
    ----------
    value : object
    wanted : type
        A dataclass, a TypedDict, a class with ``model_validate``, a union of such, or a mapping.
    where : str
        For messages.

    Raises
    ------
    MetadataValidationError
        If they do not fit.
    """
    if is_union(wanted):
        return first_fit(value, get_args(wanted), lambda part: conform(value, part, where), where)
    if typing.is_typeddict(wanted):
        return _with_keys(value, wanted, where)
    if isinstance(wanted, type) and wanted is not dict and isinstance(value, wanted):
        return value
    if hasattr(wanted, "model_validate"):
        return _called(wanted.model_validate, (value,), {}, where)
    if isinstance(wanted, type) and is_dataclass(wanted):
        if not isinstance(value, Mapping):
            raise MetadataValidationError(f"{where} must be a {wanted.__name__} or an object, got {value!r}")
        return _called(wanted, (), dict(value), where)
    if not isinstance(value, Mapping):
        if is_dataclass(value) or hasattr(value, "model_dump"):
            return value
        raise MetadataValidationError(f"{where} must be an object with strings as keys, got {value!r}")
    return _checked_keys(value, where)


def _checked_keys(value: Mapping[Any, Any], where: str) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise MetadataValidationError(f"{where} must have strings as keys, got {key!r}")
    return dict(value)


def _with_keys(value: Any, wanted: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise MetadataValidationError(f"{where} must be an object, got {value!r}")
    missing = sorted(wanted.__required_keys__ - set(value))
    if missing:
        raise MetadataValidationError(f"{where} must have {', '.join(missing)}, as {wanted.__name__} asks")
    return _checked_keys(value, where)


def _called(make: Callable[..., Any], args: tuple[Any, ...], members: dict[str, Any], where: str) -> Any:
    try:
        return make(*args, **members)
    except (TypeError, ValueError) as error:
        raise MetadataValidationError(f"{where}: {error}") from error


def first_fit(value: Any, offered: tuple[Any, ...], attempt: Callable[[Any], Any], where: str) -> Any:
    """Return the value as the first of several types that it fits.

    Raises
    ------
    MetadataValidationError
        If it fits none; the message has the reason for each.
    """
    reasons = []
    for part in offered:
        try:
            return attempt(part)
        except MetadataValidationError as error:
            reasons.append(f"{getattr(part, '__name__', part)}: {error}")
    raise MetadataValidationError(f"{where} fits none of the allowed types: {'; '.join(reasons)}")


def member_types(wanted: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the type of each member of a group: by its name for a TypedDict, else the same for all.

    Raises
    ------
    MetadataValidationError
        If a required member is missing.
    """
    if not typing.is_typeddict(wanted):
        return dict.fromkeys(names, wanted)
    missing = sorted(wanted.__required_keys__ - set(names))
    if missing:
        raise MetadataValidationError(f"the members of a group must have {', '.join(missing)}")
    hints = get_type_hints(wanted)
    return {name: hints.get(name, Any) for name in names}
