"""The import path of other libraries for ``StorePath`` and the types of store arguments."""

from __future__ import annotations

import json
from typing import Literal

from zarr.errors import ContainsArrayError, ContainsGroupError
from zarr.storage.path import StorePath as StorePath
from zarr.storage.resolve import StoreLike as StoreLike
from zarr.storage.resolve import make_store as make_store
from zarr.storage.resolve import make_store_path as make_store_path
from zarr.types import ZARR_JSON, ZARRAY_JSON, ZGROUP_JSON, ZarrFormat

Kind = Literal["array", "group", "nothing"]


async def _kind_of(store_path: StorePath, zarr_format: ZarrFormat) -> Kind:
    if zarr_format == 2:
        if await (store_path / ZARRAY_JSON).exists():
            return "array"
        return "group" if await (store_path / ZGROUP_JSON).exists() else "nothing"
    if zarr_format != 3:
        raise ValueError(f"Invalid zarr_format provided. Got {zarr_format}, expected 2 or 3")
    raw = await (store_path / ZARR_JSON).get()
    try:
        document = {} if raw is None else json.loads(raw.to_bytes())
    except (ValueError, RecursionError):
        return "nothing"
    kind = document.get("node_type") if isinstance(document, dict) else None
    return kind if kind in ("array", "group") else "nothing"


async def _contains_node_v3(store_path: StorePath) -> Kind:
    """Return the kind of the node of format 3 at a place, ``"nothing"`` if there is none that can be read."""
    return await _kind_of(store_path, 3)


async def contains_array(store_path: StorePath, zarr_format: ZarrFormat) -> bool:
    """Return True if there is an array of a format at a place.

    Examples
    --------
    >>> import asyncio
    >>> from zarr.storage import MemoryStore, StorePath
    >>> asyncio.run(contains_array(StorePath(MemoryStore(), "a"), 3))
    False
    """
    return await _kind_of(store_path, zarr_format) == "array"


async def contains_group(store_path: StorePath, zarr_format: ZarrFormat) -> bool:
    """Return True if there is a group of a format at a place.

    Examples
    --------
    >>> import asyncio
    >>> from zarr.storage import MemoryStore, StorePath
    >>> asyncio.run(contains_group(StorePath(MemoryStore(), "a"), 3))
    False
    """
    return await _kind_of(store_path, zarr_format) == "group"


async def ensure_no_existing_node(
    store_path: StorePath, zarr_format: ZarrFormat, node_type: Literal["array", "group"] | None = None
) -> None:
    """Check that there is no node of a format at a place, or no node of one kind.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
    """
    kind = await _kind_of(store_path, zarr_format)
    if kind == "array" and node_type != "group":
        raise ContainsArrayError(store_path.store, store_path.path)
    if kind == "group" and node_type != "array":
        raise ContainsGroupError(store_path.store, store_path.path)
