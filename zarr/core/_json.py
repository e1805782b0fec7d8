"""JSON in buffers and stores, as virtualizarr imports it."""

from __future__ import annotations

import json
from typing import Any, cast

from zarr.abc.store import ByteRequest, Store
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.metadata.documents import dump_document as dump_document
from zarr.metadata.documents import load_document as load_document
from zarr.storage.path import StorePath
from zarr.types import JSON


def buffer_to_json(buffer: Buffer) -> JSON:
    """Return the JSON value in a buffer."""
    return cast("JSON", json.loads(buffer.to_bytes()))


def buffer_to_json_object(buffer: Buffer) -> dict[str, JSON]:
    """Return the JSON object in a buffer.

    Parameters
    ----------
    buffer : Buffer

    Returns
    -------
    dict

    Raises
    ------
    TypeError
        If it is another JSON value.

    Examples
    --------
    >>> buffer_to_json_object(json_to_buffer({"a": 1}))
    {'a': 1}
    """
    value = buffer_to_json(buffer)
    if not isinstance(value, dict):
        raise TypeError(f"Expected a JSON object, got {type(value).__name__}")
    return value


def json_to_buffer(
    obj: JSON, *, prototype: BufferPrototype | None = None, indent: int | None = None, allow_nan: bool = True
) -> Buffer:
    """Return a buffer with a JSON value.

    Parameters
    ----------
    obj : JSON
    prototype : BufferPrototype, optional
    indent : int, optional
        Number of spaces for each level; by default all is one line.
    allow_nan : bool
        If True, NaN and infinities are written as ``NaN`` and ``Infinity``, which some readers do not know.

    Returns
    -------
    Buffer

    Examples
    --------
    >>> json_to_buffer([1, 2]).to_bytes()
    b'[1, 2]'
    """
    prototype = default_buffer_prototype() if prototype is None else prototype
    return prototype.buffer.from_bytes(json.dumps(obj, indent=indent, allow_nan=allow_nan).encode())


def json_equal(a: Any, b: Any) -> bool:
    """Return True if two JSON values are written alike, apart from the order of members.

    Parameters
    ----------
    a, b : JSON

    Returns
    -------
    bool

    Examples
    --------
    >>> json_equal(1, True), json_equal(float("nan"), float("nan"))
    (False, True)
    """
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


async def get_json(store: Store, key: str, *, byte_range: ByteRequest | None = None) -> JSON | None:
    """Return the JSON value of a key, or None if the key has no value.

    Parameters
    ----------
    store : Store
    key : str
    byte_range : ByteRequest, optional

    Returns
    -------
    The value, or None.

    Examples
    --------
    >>> import asyncio, zarr
    >>> asyncio.run(get_json(zarr.storage.MemoryStore(), "zarr.json")) is None
    True
    """
    return await StorePath(store, key).get_json(byte_range=byte_range)


async def set_json(
    store: Store,
    key: str,
    obj: JSON,
    *,
    prototype: BufferPrototype | None = None,
    indent: int | None = None,
    allow_nan: bool = True,
) -> None:
    """Store a JSON value under a key.

    Parameters
    ----------
    store : Store
    key : str
    obj : JSON
    prototype, indent, allow_nan
        As in `json_to_buffer`.

    Examples
    --------
    >>> import asyncio, zarr
    >>> asyncio.run(set_json(zarr.storage.MemoryStore(), "zarr.json", {"zarr_format": 3}))
    """
    await store.set(key, json_to_buffer(obj, prototype=prototype, indent=indent, allow_nan=allow_nan))
