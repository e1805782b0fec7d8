"""JSON schemas (draft 2020-12) of the documents of models."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_LENGTHS = {"type": "array", "items": {"type": "integer", "minimum": 0}}
_FILL = {
    "anyOf": [
        {"type": ["boolean", "number", "string"]},
        {"type": "array", "items": {"type": ["integer", "number", "string"]}},
        {"type": "object"},
    ]
}
_EXTENSION = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/NamedConfig"}]}
_EXTENSIONS = {"type": "array", "items": _EXTENSION}
_NAMED_CONFIG = {
    "title": "NamedConfig",
    "description": "An extension: its name, and its configuration if it has one",
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "configuration": {"type": "object"},
        "must_understand": {"type": "boolean"},
    },
    "required": ["name"],
    "additionalProperties": False,
}
_MAY_BE_IGNORED = {
    "type": "object",
    "properties": {"must_understand": {"const": False}},
    "required": ["must_understand"],
}
_NODE_NAME = {"allOf": [{"not": {"pattern": "^\\.*$"}}, {"not": {"pattern": "/"}}, {"not": {"const": "zarr.json"}}]}
_CODEC_V2 = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}


def _object(title: str, description: str, properties: dict[str, Any], needed: list[str], other: Any) -> dict[str, Any]:
    return {
        "title": title,
        "description": description,
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": other,
    }


def schema_v3(name: str, parameters: tuple[Any, ...]) -> dict[str, Any]:
    """Return the schema of a model of format 3.

    Parameters
    ----------
    name : "ArraySpec" or "GroupSpec"
    parameters : tuple
        Parameters of the model; the first is that of the attributes of the outermost node.
    """
    array = {
        "zarr_format": {"const": 3},
        "node_type": {"const": "array"},
        "attributes": {"type": "object", "default": {}},
        "shape": _LENGTHS,
        "data_type": _EXTENSION,
        "chunk_grid": _EXTENSION,
        "chunk_key_encoding": _EXTENSION,
        "fill_value": _FILL,
        "codecs": {**_EXTENSIONS, "minItems": 1},
        "storage_transformers": {**_EXTENSIONS, "default": []},
        "dimension_names": {"type": "array", "items": {"type": ["string", "null"]}},
    }
    optional = ("attributes", "storage_transformers", "dimension_names")
    definitions = {
        "ArraySpec": _object(
            "ArraySpec",
            "A model of an array of format 3",
            array,
            [key for key in array if key not in optional],
            _MAY_BE_IGNORED,
        ),
        "GroupSpec": _group(3, {"node_type": {"const": "group"}}, _MAY_BE_IGNORED),
        "NamedConfig": _NAMED_CONFIG,
    }
    return _schema(name, definitions, parameters)


def schema_v2(name: str, parameters: tuple[Any, ...]) -> dict[str, Any]:
    """Return the schema of a model of format 2; parameters as for :func:`schema_v3`."""
    array = {
        "zarr_format": {"const": 2},
        "attributes": {"type": "object", "default": {}},
        "shape": _LENGTHS,
        "chunks": _LENGTHS,
        "dtype": {"type": ["string", "array"]},
        "fill_value": {"anyOf": [*_FILL["anyOf"], {"type": "null"}]},
        "order": {"enum": ["C", "F"]},
        "filters": {"anyOf": [{"type": "array", "items": _CODEC_V2}, {"type": "null"}]},
        "dimension_separator": {"enum": [".", "/"], "default": "."},
        "compressor": {"anyOf": [_CODEC_V2, {"type": "null"}]},
    }
    needed = [key for key in array if key not in ("attributes", "dimension_separator")]
    definitions = {
        "ArraySpec": _object("ArraySpec", "A model of an array of format 2", array, needed, False),
        "GroupSpec": _group(2, {}, False),
    }
    return _schema(name, definitions, parameters)


def _group(zarr_format: int, more: Mapping[str, Any], other: Any) -> dict[str, Any]:
    member = {"anyOf": [{"$ref": "#/$defs/GroupSpec"}, {"$ref": "#/$defs/ArraySpec"}]}
    members = {"type": ["object", "null"], "propertyNames": _NODE_NAME, "additionalProperties": member, "default": {}}
    properties = {"zarr_format": {"const": zarr_format}, **more, "attributes": {"type": "object"}, "members": members}
    needed = [key for key in properties if key not in ("attributes", "members")]
    return _object("GroupSpec", f"A model of a group of format {zarr_format}", properties, needed, other)


def _schema(name: str, definitions: dict[str, Any], parameters: tuple[Any, ...]) -> dict[str, Any]:
    schema: dict[str, Any] = {"$schema": DIALECT, "$defs": definitions, "$ref": f"#/$defs/{name}"}
    asked: dict[str, Any] = {}
    if parameters and (attributes := type_schema(parameters[0])):
        asked["attributes"] = attributes
    if len(parameters) > 1 and (members := _members_schema(parameters[1])):
        asked["members"] = members
    return {**schema, "properties": asked, "required": list(asked)} if asked else schema


def _members_schema(wanted: Any) -> dict[str, Any]:
    if not typing.is_typeddict(wanted):
        return {}
    hints = get_type_hints(wanted)
    kinds = {name: _kind_schema(hint) for name, hint in hints.items()}
    return {"type": "object", "properties": kinds, "required": sorted(wanted.__required_keys__)}


def _kind_schema(hint: Any) -> dict[str, Any]:
    kind = getattr(hint, "node_kind", None)
    if kind is None:
        return {}
    schema: dict[str, Any] = {"$ref": "#/$defs/ArraySpec" if kind == "array" else "#/$defs/GroupSpec"}
    parameters = hint._parameters
    attributes = type_schema(parameters[0]) if parameters else {}
    return {**schema, "properties": {"attributes": attributes}, "required": ["attributes"]} if attributes else schema


_SIMPLE: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    dict: {"type": "object"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    type(None): {"type": "null"},
}


def type_schema(wanted: Any) -> dict[str, Any]:
    """Return the schema of a Python type, empty for a type without a JSON form.

    Examples
    --------
    >>> type_schema(list[str])
    {'type': 'array', 'items': {'type': 'string'}}
    """
    if hasattr(wanted, "model_json_schema"):
        found: dict[str, Any] = wanted.model_json_schema()
        return found
    if wanted in _SIMPLE:
        return _SIMPLE[wanted]
    if typing.is_typeddict(wanted):
        return _record(wanted, sorted(wanted.__required_keys__))
    if isinstance(wanted, type) and is_dataclass(wanted):
        needed = [f.name for f in fields(wanted) if f.default is MISSING and f.default_factory is MISSING]
        return {**_record(wanted, needed), "additionalProperties": False}
    return _generic_schema(get_origin(wanted), get_args(wanted))


def _record(wanted: Any, needed: list[str]) -> dict[str, Any]:
    properties = {name: type_schema(hint) for name, hint in get_type_hints(wanted).items()}
    return {"type": "object", "properties": properties, "required": needed}


def _generic_schema(origin: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [type_schema(part) for part in arguments]}
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is ...):
        parts = [type_schema(part) for part in arguments]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": type_schema(arguments[1])}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": type_schema(arguments[0])}
    return {}
