"""JSON values of models, and tables of nodes."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

import numpy as np

from zarr.errors import MetadataValidationError


def plain(value: Any) -> Any:
    """Return a value as JSON: dicts, lists, strings, numbers, booleans, None.

    numpy scalars and arrays, tuples, dataclasses and objects that dump themselves (``model_dump``) are taken apart.

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

    That of booleans is one, where a number is given.

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
        It is no JSON, or no object.
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
    """Rename the properties of a group's own document as a model names them.

    A property ``members`` of the document becomes ``_members``, or has as many underscores more as it takes for the
    name to be free.

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
    """Undo :func:`to_model_names`: the name with the most leading underscores stands for ``members``.

    Examples
    --------
    >>> from_model_names({"__members": 1, "_members": 2})
    {'members': 1, '_members': 2}
    """
    last = _free(properties)[1:]
    return {NAME if name == last and last != NAME else name: value for name, value in properties.items()}


T = TypeVar("T")


def walk(node: T, members_of: Callable[[T], Mapping[str, T] | None], path: str = "") -> Iterator[tuple[str, T]]:
    """Iterate over a node and all nodes below it with their paths, parents first; the first has the path ``path``.

    Examples
    --------
    >>> [path for path, _ in walk({"a": {"b": {}}}, lambda node: node)]
    ['', '/a', '/a/b']
    """
    pending = [(path, node)]
    while pending:
        here, current = pending.pop()
        yield here, current
        below = members_of(current) or {}
        pending += [(f"{here}/{name}", member) for name, member in reversed(list(below.items()))]


def normal_paths(table: Mapping[str, T]) -> dict[str, T]:
    """Return a table of nodes with normalized paths: ``""`` for the root, else with a leading slash.

    Raises
    ------
    MetadataValidationError
        Two paths mean the same.
    """
    found: dict[str, T] = {}
    for path, node in table.items():
        name = path.strip("/")
        where = f"/{name}" if name else ""
        if where in found:
            raise MetadataValidationError(f"more than one key means the path {where!r}")
        found[where] = node
    return found


def nest(
    table: Mapping[str, T], is_group: Callable[[T], bool], implicit: Callable[[], T], join: Callable[[T, Any], T]
) -> T:
    """Put the nodes of a table into one another.

    Parameters
    ----------
    table : mapping of path to node
    is_group : callable
    implicit : callable
        Makes a group that the table needs but does not have.
    join : callable
        Gives a group its members.

    Raises
    ------
    MetadataValidationError
        An array would have members; or there is no node at all.
    """
    nodes = normal_paths(table)
    if not nodes:
        raise MetadataValidationError("a hierarchy needs at least one node")
    children: dict[str, dict[str, None]] = {}
    for path in list(nodes):
        while path:
            above = path.rpartition("/")[0]
            listed = children.setdefault(above, {})
            if path in listed:
                break
            listed[path] = None
            path = above
    for path in sorted(children, key=lambda path: path.count("/"), reverse=True):
        group = nodes[path] if path in nodes else implicit()
        if not is_group(group):
            raise MetadataValidationError(f"the array at {path or '/'!r} must not have members: {list(children[path])}")
        nodes[path] = join(
            group, {child.rpartition("/")[2]: _joined(nodes, child, is_group, join) for child in children[path]}
        )
    return _joined(nodes, "", is_group, join)


def _joined(nodes: dict[str, T], path: str, is_group: Callable[[T], bool], join: Callable[[T, Any], T]) -> T:
    node = nodes[path]
    # A group of which the table lists no member has none.
    return join(node, {}) if is_group(node) and getattr(node, "members", None) is None else node
