"""Accept calls in the way of zarr-python 2: by position, and by its names where zarr-python 3 wants keywords."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

COPY: Final = ".zmetadata"
IN_ORDER_OF_CREATE: Final = (
    "chunks", "dtype", "compressor", "fill_value", "order", "store", "synchronizer", "overwrite", "path",
    "chunk_store", "filters", "cache_metadata", "cache_attrs", "read_only", "object_codec", "dimension_separator",
    "write_empty_chunks",
)  # fmt: skip
IN_ORDER_OF_OPEN_ARRAY: Final = (
    "mode", "shape", "chunks", "dtype", "compressor", "fill_value", "order", "synchronizer", "filters",
    "cache_metadata", "cache_attrs", "path", "object_codec", "chunk_store", "storage_options", "partial_decompress",
    "write_empty_chunks",
)  # fmt: skip

IN_ORDER_OF_ARRAY: Final = (
    "path", "read_only", "chunk_store", "synchronizer", "cache_metadata", "cache_attrs", "partial_decompress",
    "write_empty_chunks", "zarr_version", "meta_array",
)  # fmt: skip
IN_ORDER_OF_GROUP: Final = ("path", "read_only", "chunk_store", "cache_attrs", "synchronizer", "zarr_version")


def also_in_order(*names: str, **renamed: str) -> Callable[[F], F]:
    """Accept the calls of zarr-python 2 too; the signature stays that of zarr-python 3.

    Parameters
    ----------
    *names : str
        Names of the further positional arguments, in the order of zarr-python 2.
    **renamed : str
        Former name of a parameter = its name now.

    Returns
    -------
    decorator

    Examples
    --------
    >>> @also_in_order("mode", zarr_version="zarr_format")
    ... def open(store, *, mode="a", zarr_format=None):
    ...     return store, mode, zarr_format
    >>> open("here", "w", zarr_version=2)
    ('here', 'w', 2)
    >>> open("here", "w", mode="r")
    Traceback (most recent call last):
        ...
    TypeError: open() got multiple values for argument 'mode'
    """

    def decorate(function: F) -> F:
        taken = function.__code__.co_argcount

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) > taken:
                named(function.__name__, names, args[taken:], kwargs)
                args = args[:taken]
            for former in renamed:
                if former in kwargs:
                    named(function.__name__, (renamed[former],), (kwargs.pop(former),), kwargs)
            return function(*args, **kwargs)

        return cast("F", call)

    return decorate


def without_positions(function: F) -> F:
    """Hide the parameter ``in_order`` from a function's signature, without a wrapper, which would cost a frame."""
    shown = inspect.signature(function)
    parameters = [parameter for parameter in shown.parameters.values() if parameter.name != "in_order"]
    function.__signature__ = shown.replace(parameters=parameters)  # type: ignore[attr-defined]
    return function


def named(function: str, names: tuple[str, ...], values: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Add positional values to the arguments by name, and return these; ignore None where a name has a value already.

    Raises
    ------
    TypeError
        If there are more values than names, or a name has a value already.

    Examples
    --------
    >>> named("open", ("mode",), ("w",), {"path": "a"})
    {'path': 'a', 'mode': 'w'}
    """
    if len(values) > len(names):
        raise TypeError(f"{function}() takes {len(names)} arguments more by position, {len(values)} were given")
    for name, value in zip(names, values, strict=False):
        if given.get(name) is None:
            given[name] = value
        elif value is not None:
            raise TypeError(f"{function}() got multiple values for argument {name!r}")
    return given


def named_of_node(kind: str, names: tuple[str, ...], values: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Add the positional values that follow a store to the arguments by name, if the first one is a path.

    Raises
    ------
    TypeError
        If the first one is no path.

    Examples
    --------
    >>> named_of_node("Group", IN_ORDER_OF_GROUP, ("a/b", True), {})
    {'path': 'a/b', 'read_only': True}
    """
    if values[0] is not None and not isinstance(values[0], str):
        raise TypeError(f"{kind}() takes the path of the node after a store, got {type(values[0]).__name__!r}")
    return named(kind, names, values, given)


def key_of_copy(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Return the arguments of ``open_consolidated``, where metadata key and mode may follow the store.

    Returns
    -------
    (args, kwargs, use_consolidated)

    Examples
    --------
    >>> key_of_copy(("store", ".zmetadata", "r"), {})
    (('store',), {'mode': 'r'}, True)
    """
    kwargs = named("open_consolidated", ("metadata_key", "mode"), args[1:], dict(kwargs))
    key = kwargs.pop("metadata_key", None)
    return args[:1], kwargs, True if key in (None, COPY) else key


def without_metadata_key(function: F) -> F:
    """Accept ``metadata_key``, as the second argument or by name; only one value is valid.

    Raises
    ------
    ValueError
        For any other key.
    """

    @wraps(function)
    def call(*args: Any, metadata_key: str = COPY, **kwargs: Any) -> Any:
        if metadata_key != COPY:
            raise ValueError(f"the copy of the documents is kept under {COPY!r}, not under {metadata_key!r}")
        if args[1:2] == (COPY,):
            args = (args[0], *args[2:])
        return function(*args, **kwargs)

    return cast("F", call)
