"""JSON values checked against a type, as ``zarr.core.json_parse`` does.

Needed by programs that parse members of metadata documents with zarr-python's own functions. This library parses its
documents in ``zarr.metadata``.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, Union

_ARRAYS = (list, tuple, set, frozenset)
_OBJECTS = (dict, Mapping)


def convert(value: object, type_: Any, *, strict: bool = True) -> Any:
    """Return a JSON value as a type: an array as a tuple or a list, an integer as a float; others as they are.

    Parameters
    ----------
    value
        The value.
    type_
        A class, a ``Literal``, a union, or a tuple, list or mapping with the types of its members.
    strict
        If False, a string may stand for a number or a boolean.

    Raises
    ------
    ValueError
        If the value has another type; a boolean is no number, and a number no boolean.

    Examples
    --------
    >>> convert([1, 2], tuple[int, ...]), convert("C", Literal["C", "F"])
    ((1, 2), 'C')
    """
    converter = _CONVERTERS.get(typing.get_origin(type_) or type_, _instance)
    with suppress(ValueError):
        for result in converter(value, type_, strict):
            return result
    raise ValueError(f"Expected instance of {_name(type_)}, got {value!r}.")


def parse_field(data: object, type_: Any, field: str, *, error: type[Exception] = ValueError) -> Any:
    """Return a member of a metadata document as a type, as `convert` does.

    Parameters
    ----------
    data
        The member.
    type_
        Its type.
    field
        Its name, for the message.
    error
        The class of the exception for a member of another type.

    Examples
    --------
    >>> parse_field(3, Literal[3], "zarr_format")
    3
    """
    try:
        return convert(data, type_)
    except ValueError as cause:
        raise error(f"Failed to parse input for {field!r}: {cause}") from cause


def _name(type_: Any) -> str:
    name = repr(type_) if typing.get_args(type_) else getattr(type_, "__name__", repr(type_))
    return name.replace("typing.", "")


def _check_codecjson_v2(data: object) -> bool:
    """Return True for a codec as documents of format 2 have it: an object with an ``id``."""
    return isinstance(data, Mapping) and isinstance(data.get("id"), str)


# Each converter yields the result, or nothing for a value of another type.


def _anything(value: Any, type_: Any, strict: bool) -> Iterator[Any]:
    yield value


def _literal(value: Any, type_: Any, strict: bool) -> Iterator[Any]:
    # True equals 1, but the two are different values of JSON.
    yield from (member for member in typing.get_args(type_) if type(member) is type(value) and member == value)


def _union(value: Any, type_: Any, strict: bool) -> Iterator[Any]:
    for member in typing.get_args(type_):
        try:
            yield convert(value, member, strict=strict)
        except ValueError:
            continue


def _array(value: Any, type_: Any, strict: bool) -> Iterator[Any]:
    origin, members = typing.get_origin(type_) or type_, typing.get_args(type_)
    if not isinstance(value, _ARRAYS):
        return
    if origin is tuple and members and members[-1] is not Ellipsis:
        if len(value) == len(members):
            yield tuple(convert(entry, member, strict=strict) for entry, member in zip(value, members, strict=True))
        return
    entries = (convert(entry, members[0], strict=strict) for entry in value) if members else value
    yield origin(entries) if origin in _ARRAYS else list(entries)


def _object(value: Any, type_: Any, strict: bool) -> Iterator[Any]:
    if isinstance(value, Mapping):
        key, member = typing.get_args(type_) or (object, object)
        yield {convert(k, key, strict=strict): convert(v, member, strict=strict) for k, v in value.items()}


def _number(value: Any, type_: Any, strict: bool) -> Iterator[Any]:
    numbers = (int, float) if type_ is float else (int,)
    if not isinstance(value, bool) and isinstance(value, numbers if strict else (*numbers, str)):
        yield type_(value)


def _boolean(value: Any, type_: Any, strict: bool) -> Iterator[Any]:
    if isinstance(value, bool):
        yield value
    elif not strict and str(value).lower() in ("true", "1", "false", "0"):
        yield str(value).lower() in ("true", "1")


def _nothing(value: Any, type_: Any, strict: bool) -> Iterator[Any]:
    if value is None:
        yield None


def _instance(value: Any, type_: Any, strict: bool) -> Iterator[Any]:
    fields = typing.get_type_hints(type_) if typing.is_typeddict(type_) else None
    if fields is None:
        if isinstance(value, type_):
            yield value
    elif isinstance(value, Mapping) and type_.__required_keys__ <= value.keys():
        known = {name: entry for name, entry in value.items() if name in fields}
        yield {name: convert(entry, fields[name], strict=strict) for name, entry in known.items()}


_CONVERTERS: dict[Any, Any] = {
    Any: _anything, object: _anything, Literal: _literal, Union: _union, types.UnionType: _union, int: _number,
    float: _number, bool: _boolean, None: _nothing, type(None): _nothing,
    **dict.fromkeys((*_ARRAYS, Sequence), _array), **dict.fromkeys(_OBJECTS, _object),
}  # fmt: skip
