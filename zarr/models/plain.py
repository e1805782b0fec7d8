"""JSON values of models: made, compared, selected, and read from stored nodes."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, Literal

import numpy as np

from zarr import Array, Group, create_array
from zarr.errors import MetadataValidationError


def plain(value: Any) -> Any:
    """Return a value as JSON: dicts, lists, strings, numbers, booleans, None.

    NumPy scalars and arrays, tuples, dataclasses and objects with ``model_dump`` are converted.

    Examples
    --------
    >>> plain({"a": (np.int8(1), [2.5])})
    {'a': [1, [2.5]]}
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if hasattr(value, "model_dump"):
        return plain(value.model_dump())
    return value


def plain_fill(value: Any, data_type: Any = None) -> Any:
    """Return a fill value as JSON: NaN and infinities as strings, complex numbers as pairs.

    The fill value of booleans is a boolean, also if a number is given.

    Examples
    --------
    >>> plain_fill(float("nan")), plain_fill(1 + 2j), plain_fill(np.int8(3))
    ('NaN', [1.0, 2.0], 3)
    """
    if data_type in ("bool", "|b1") and type(value) is int and value in (0, 1):
        return bool(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return int(value.astype("i8"))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, complex):
        return [plain_fill(value.real), plain_fill(value.imag)]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return plain(value)


def parsed(document: str | bytes | Mapping[str, Any]) -> dict[str, Any]:
    """Return a document as a dictionary; text is read as JSON.

    Raises
    ------
    MetadataValidationError
        If it is no JSON, or no object.
    """
    if isinstance(document, (str, bytes)):
        try:
            document = json.loads(document)
        except ValueError as error:
            raise MetadataValidationError(f"a model is no JSON: {error}") from error
    if not isinstance(document, Mapping):
        raise MetadataValidationError(f"a model is a JSON object, not a {type(document).__name__}")
    return dict(document)


def frozen(value: Any) -> Any:
    """Return JSON with tuples for lists, as models keep it.

    Examples
    --------
    >>> frozen({"chunk_shape": [2, 3]})
    {'chunk_shape': (2, 3)}
    """
    if isinstance(value, Mapping):
        return {key: frozen(item) for key, item in value.items()}
    return tuple(frozen(item) for item in value) if isinstance(value, (list, tuple)) else value


NAME = "members"


def to_model_names(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Rename the properties of a group's own document to the names in a model.

    A property ``members`` of the document becomes ``_members``, with as many further underscores as are needed for a
    free name.

    Examples
    --------
    >>> to_model_names({"members": 1})
    {'_members': 1}
    >>> to_model_names({"members": 1, "_members": 2})
    {'__members': 1, '_members': 2}
    """
    return {_free(properties) if name == NAME else name: value for name, value in properties.items()}


def _free(properties: Mapping[str, Any]) -> str:
    name = f"_{NAME}"
    while name in properties:
        name = f"_{name}"
    return name


def from_model_names(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Undo :func:`to_model_names`: the name with the most leading underscores is ``members``.

    Examples
    --------
    >>> from_model_names({"__members": 1, "_members": 2})
    {'members': 1, '_members': 2}
    """
    last = _free(properties)[1:]
    return {NAME if name == last and last != NAME else name: value for name, value in properties.items()}


Chosen = Mapping[str, Any] | set[str] | None
"""Members of a document to take: their names, or names with the part of each to take (True for all of it)."""


def same(first: Any, second: Any) -> bool:
    """Return True if two JSON values are equal; true is not 1, but 1 is 1.0.

    Examples
    --------
    >>> same({"a": [1]}, {"a": [1.0]}), same(True, 1)
    (True, False)
    """
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    return isinstance(first, bool) == isinstance(second, bool) and bool(
        first == second or (first != first and second != second)
    )


def chosen(document: Any, include: Chosen, exclude: Chosen) -> Any:
    """Return the selected members of a document.

    Examples
    --------
    >>> chosen({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c"}}, None)
    {'b': {'c': 2}}
    """
    if not isinstance(document, dict) or (include is None and exclude is None):
        return document
    found = {}
    for key, value in document.items():
        wanted, unwanted = _part(include, key), _part(exclude, key)
        if (include is not None and wanted is False) or unwanted is True:
            continue
        found[key] = chosen(value, wanted if isinstance(wanted, Mapping | set) else None, unwanted or None)
    return found


def _part(names: Chosen, key: str) -> Any:
    """Return the selection of one member: True, False, or a nested selection."""
    if names is None:
        return False
    if isinstance(names, Mapping):
        part = names.get(key, names.get("__all__", False))
        return True if part is ... else part
    return key in names


def group_model(model_of: Callable[[Any], Any], group: Group, depth: int) -> dict[str, Any]:
    """Return the document of a stored group and of its members.

    Parameters
    ----------
    model_of : callable
        From metadata to the model of one node.
    group : Group
    depth : int
        The number of levels to read; -1 reads all.
    """
    root: dict[str, Any] = model_of(group.metadata).to_json()
    if depth == 0:
        return root
    documents = {"": root}
    records = sorted(group.members(max_depth=None if depth < 0 else depth - 1), key=lambda record: record[0].count("/"))
    root["members"] = {}
    for path, node in records:
        document = documents[path] = model_of(node.metadata).to_json()
        if not isinstance(node, Array) and path.count("/") + 1 != depth:
            document["members"] = {}
        above, _, name = path.rpartition("/")
        documents[above]["members"][name] = document
    return root


def metadata_for(array: Any, zarr_format: Literal[2, 3]) -> Any:
    """Return the metadata of an array like another one, without compression."""
    shape = tuple(array.shape)
    known = getattr(array, "chunksize", None) or getattr(array, "chunks", None)
    regular = isinstance(known, tuple) and len(known) == len(shape) and all(isinstance(n, int) for n in known)
    chunks = known if regular else tuple(max(1, n) for n in shape)
    made = create_array(
        {}, shape=shape, dtype=array.dtype, chunks=chunks, compressors=None, filters=None, zarr_format=zarr_format
    )
    attributes = getattr(array, "attrs", None)
    metadata = made.metadata
    return metadata.update_attributes(dict(attributes)) if isinstance(attributes, Mapping) else metadata
