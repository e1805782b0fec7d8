"""What a model's parameters ask of its attributes and members: ``ArraySpec[Attrs]``, ``GroupSpec[Attrs, Members]``.

At run time a model with parameters is a subclass that remembers them; static type checkers see an ordinary generic.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from zarr.errors import MetadataValidationError

_KNOWN: dict[tuple[type, Any], type] = {}


def specialize(cls: type, parameters: tuple[Any, ...]) -> type:
    """The subclass of a model that has parameters; the same one for the same parameters."""
    try:
        known = _KNOWN.get((cls, parameters))
    except TypeError:  # a parameter that cannot be hashed
        return _subclass(cls, parameters)
    if known is None:
        known = _KNOWN[cls, parameters] = _subclass(cls, parameters)
    return known


def _subclass(cls: type, parameters: tuple[Any, ...]) -> type:
    names = ", ".join(getattr(part, "__name__", str(part)) for part in parameters)
    members = {"_parameters": parameters, "_plain_class": cls, "__module__": cls.__module__, "__doc__": cls.__doc__}
    return type(cls)(f"{cls.__name__}[{names}]", (cls,), members)


def anything(wanted: Any) -> bool:
    """Whether a parameter asks for nothing in particular."""
    return wanted is None or wanted is Any or isinstance(wanted, (TypeVar, str, typing.ForwardRef))


def is_union(wanted: Any) -> bool:
    """Whether a parameter offers several types."""
    return get_origin(wanted) in (Union, types.UnionType)


def conform(value: Any, wanted: Any, where: str) -> Any:
    """Bring attributes to the type that is asked for.

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
        They do not fit.
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
    """The first of several types that a value fits.

    Raises
    ------
    MetadataValidationError
        It fits none; says why, for each.
    """
    reasons = []
    for part in offered:
        try:
            return attempt(part)
        except MetadataValidationError as error:
            reasons.append(f"{getattr(part, '__name__', part)}: {error}")
    raise MetadataValidationError(f"{where} fits none of what may be there: {'; '.join(reasons)}")


def member_types(wanted: Any, names: Mapping[str, Any], where: str) -> dict[str, Any]:
    """What each member must be: by its name where the parameter is a TypedDict, else the same for all.

    Raises
    ------
    MetadataValidationError
        A member that must be there is not.
    """
    if not typing.is_typeddict(wanted):
        return dict.fromkeys(names, wanted)
    missing = sorted(wanted.__required_keys__ - set(names))
    if missing:
        raise MetadataValidationError(f"the members of {where} must have {', '.join(missing)}")
    hints = get_type_hints(wanted)
    return {name: hints.get(name, Any) for name in names}
