"""Functions that create arrays: those of ``zarr`` and those of the array API standard; re-exports."""

from __future__ import annotations

from zarr.api.create import (
    array,
    create,
    create_array,
    empty,
    empty_like,
    from_array,
    full,
    full_like,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from zarr.api.opening import open_array, open_like
from zarr.array_api.creation import arange, asarray, eye, from_dlpack, linspace, meshgrid, tril, triu
from zarr.storage._format2 import normalize_store_arg

__all__ = [
    "arange", "array", "asarray", "create", "create_array", "empty", "empty_like", "eye", "from_array", "from_dlpack",
    "full", "full_like", "linspace", "meshgrid", "normalize_store_arg", "ones", "ones_like", "open_array", "open_like",
    "tril", "triu", "zeros", "zeros_like",
]
