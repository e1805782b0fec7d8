"""The registered chunk grids, storage transformers and stores.

Other kinds stand beside their contracts: codecs and pipelines in ``codecs.py``, buffers in ``zarr.buffer.core``, chunk
key encodings in ``zarr.chunks.keys``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

from zarr.defaults import STORES
from zarr.registry.table import failure_of, import_path
from zarr.registry.tables import (
    _chunk_grid_registry,
    _storage_transformer_registry,
    _store_registry,
    named_class,
)


def register_chunk_grid(key: str, cls: type) -> None:
    """Add a chunk grid under its name in array metadata. It must reduce to axes: see ``zarr.chunks``.

    Examples
    --------
    >>> register_chunk_grid("example.grid", dict)
    """
    _chunk_grid_registry.register(cls, key)


def get_chunk_grid_class(key: str) -> type[Any]:
    """Return the chunk grid of a name.

    Raises
    ------
    KeyError
        When there is none.

    Examples
    --------
    >>> get_chunk_grid_class("regular").__name__
    'RegularChunkGridMetadata'
    """
    found = named_class(_chunk_grid_registry, key)
    if found is None:
        raise KeyError(
            f"Chunk grid '{key}' not found in registered chunk grids: {_chunk_grid_registry.known()}.{failure_of(key)}"
        )
    return found


def register_storage_transformer(key: str, cls: type) -> None:
    """Add a storage transformer under its name in array metadata.

    Examples
    --------
    >>> register_storage_transformer("example.transformer", dict)
    """
    _storage_transformer_registry.register(cls, key)


def get_storage_transformer_class(key: str) -> type[Any]:
    """Return the storage transformer of a name.

    Raises
    ------
    KeyError
        When there is none, which is the case for every name that nobody registered: the format defines none.

    Examples
    --------
    >>> get_storage_transformer_class("example.none")
    Traceback (most recent call last):
    KeyError: ...
    """
    found = named_class(_storage_transformer_registry, key)
    if found is None:
        known = _storage_transformer_registry.known()
        raise KeyError(f"Storage transformer '{key}' not found: {known}.{failure_of(key)}")
    return found


def register_store(scheme: str, factory: Callable[..., Any]) -> None:
    """Add what opens URLs of a scheme: a callable that takes the URL and keyword options and returns a store.

    Examples
    --------
    >>> register_store("example", lambda url, **options: None)
    """
    _store_registry[scheme] = cast("type[Any]", factory)


def get_store_factory(scheme: str) -> Callable[..., Any] | None:
    """Return what opens URLs of a scheme, or None if nothing was registered for it.

    Raises
    ------
    ValueError
        An installed package offers something for it that cannot be loaded.

    Examples
    --------
    >>> get_store_factory("no-such-scheme") is None
    True
    """
    found = named_class(_store_registry, scheme)
    if found is None and failure_of(scheme):
        raise ValueError(f"There is no store for URLs that begin with '{scheme}:'.{failure_of(scheme)}")
    return getattr(found, "from_url", found)


@cache
def store_class(name: str) -> Any:
    """Return a class of the table of stores (``zarr.defaults.STORES``), imported when it is asked for.

    Examples
    --------
    >>> store_class("MemoryStore")().read_only
    False
    """
    return import_path(f"{STORES[name][0]}.{name}")
