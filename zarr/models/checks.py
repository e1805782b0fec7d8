"""Checks that need the values of a model, and those of several of its members together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zarr.errors import MetadataValidationError
from zarr.metadata.members import check_node_name


def lengths(value: Any, name: str, least: int = 0) -> tuple[int, ...]:
    """A shape, checked.

    Raises
    ------
    MetadataValidationError
        A length is no integer, or less than ``least``.
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
    """Check that something with one entry a dimension has as many as the shape.

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
    """An extension of format 3: a name, or an object with a name and a configuration.

    Raises
    ------
    MetadataValidationError
        It is neither.
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
    """Check a member that has one value only."""
    if value != wanted or isinstance(value, bool):
        raise MetadataValidationError(f"{name} must be {wanted!r}, got {value!r}")


def required(document: Mapping[str, Any], names: Sequence[str]) -> None:
    """Check that members are there."""
    missing = [name for name in names if name not in document]
    if missing:
        raise MetadataValidationError(f"the document of a model lacks {', '.join(missing)}")
