"""The array API standard for stored arrays: what ``array.__array_namespace__()`` returns.

May import everything below. Read ``creation.py`` first. Creation functions give stored arrays. Every other function of
the standard is numpy's: stored arrays among its arguments are read, and its results are arrays of numpy.
Source: Python array API standard, https://data-apis.org/array-api/.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from sys import modules
from typing import Any

import numpy as np

from zarr.api.create import empty, empty_like, full, full_like, ones, ones_like, zeros, zeros_like
from zarr.array_api.creation import arange, asarray, eye, from_dlpack, linspace, meshgrid, tril, triu
from zarr.arrays.methods.properties import ArrayFace

__array_api_version__ = np.__array_api_version__

CREATION = (
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
)  # fmt: skip
"""The functions that give stored arrays."""


def namespace(*, api_version: str | None = None) -> Any:
    """Return this module, if it offers that version of the standard.

    Raises
    ------
    ValueError
        If it does not.

    Examples
    --------
    >>> namespace().__name__
    'zarr.array_api'
    """
    if api_version is not None and api_version > __array_api_version__:
        raise ValueError(
            f"version {api_version!r} of the array API standard is not offered; the newest is {__array_api_version__!r}"
        )
    return modules[__name__]


def _read(value: Any) -> Any:
    """Return the arguments with stored arrays read."""
    if isinstance(value, ArrayFace):
        return np.asarray(value)
    if isinstance(value, list | tuple):
        return type(value)([_read(item) for item in value])
    return value


def _reading(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        return function(*map(_read, args), **{name: _read(value) for name, value in options.items()})

    return call


def __getattr__(name: str) -> Any:
    found = getattr(np, name, None)
    if name.startswith("_") or found is None:
        if name == "__array_namespace_info__":
            return np.__array_namespace_info__
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    plain = isinstance(found, type) or not callable(found)
    return found if plain else globals().setdefault(name, _reading(found))


__all__ = [
    "CREATION", "__array_api_version__", "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full",
    "full_like", "linspace", "meshgrid", "namespace", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]
