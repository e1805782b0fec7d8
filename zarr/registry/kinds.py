"""Pipelines, buffers, chunk key encodings, chunk grids, storage transformers and stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from zarr.registry.table import failure_of
from zarr.registry.tables import (
    _buffer_registry,
    _chunk_grid_registry,
    _chunk_key_encoding_registry,
    _ndbuffer_registry,
    _pipeline_registry,
    _storage_transformer_registry,
    _store_registry,
    configured_class,
    named_class,
)

if TYPE_CHECKING:
    from zarr.abc.codec import CodecPipeline
    from zarr.buffer import Buffer, NDBuffer
    from zarr.chunks.keys import ChunkKeyEncoding


def register_pipeline(pipe_cls: type[CodecPipeline]) -> None:
    """Add a codec pipeline; ``zarr.config``'s ``codec_pipeline.path`` names the one to use.

    Examples
    --------
    >>> from zarr.abc.codec import CodecPipeline
    >>> class Mine(CodecPipeline):
    ...     pass
    >>> register_pipeline(Mine)
    """
    _pipeline_registry.register(pipe_cls)


def get_pipeline_class(reload_config: bool = False) -> type[CodecPipeline]:
    """Return the codec pipeline that the configuration names.

    Raises
    ------
    BadConfigError
        When it is not registered.

    Examples
    --------
    >>> get_pipeline_class().__name__
    'BatchedCodecPipeline'
    """
    return configured_class(_pipeline_registry, "codec_pipeline.path", "Pipeline", "pipelines", reload_config)


def register_buffer(cls: type[Buffer], qualname: str | None = None) -> None:
    """Add a class of bytes; ``zarr.config``'s ``buffer`` names the one to use.

    Examples
    --------
    >>> from zarr.buffer import cpu
    >>> register_buffer(cpu.Buffer, qualname="example.Buffer")
    """
    _buffer_registry.register(cls, qualname)


def get_buffer_class(reload_config: bool = False) -> type[Buffer]:
    """Return the class of bytes that the configuration names.

    Examples
    --------
    >>> get_buffer_class().__name__
    'Buffer'
    """
    return configured_class(_buffer_registry, "buffer", "Buffer", "buffers", reload_config)


def register_ndbuffer(cls: type[NDBuffer], qualname: str | None = None) -> None:
    """Add a class of array elements; ``zarr.config``'s ``ndbuffer`` names the one to use.

    Examples
    --------
    >>> from zarr.buffer import cpu
    >>> register_ndbuffer(cpu.NDBuffer, qualname="example.NDBuffer")
    """
    _ndbuffer_registry.register(cls, qualname)


def get_ndbuffer_class(reload_config: bool = False) -> type[NDBuffer]:
    """Return the class of array elements that the configuration names.

    Examples
    --------
    >>> get_ndbuffer_class().__name__
    'NDBuffer'
    """
    return configured_class(_ndbuffer_registry, "ndbuffer", "NDBuffer", "ndbuffers", reload_config)


def register_chunk_key_encoding(key: str, cls: type) -> None:
    """Add a chunk key encoding under its name in array metadata.

    Examples
    --------
    >>> register_chunk_key_encoding("example.keys", dict)
    """
    _chunk_key_encoding_registry.register(cls, key)


def get_chunk_key_encoding_class(key: str) -> type[ChunkKeyEncoding]:
    """Return the chunk key encoding of a name.

    Raises
    ------
    KeyError
        When there is none.

    Examples
    --------
    >>> get_chunk_key_encoding_class("v2").__name__
    'V2ChunkKeyEncoding'
    """
    found = named_class(_chunk_key_encoding_registry, key)
    if found is None:
        raise KeyError(
            f"Chunk key encoding '{key}' not found in registered chunk key encodings: "
            f"{_chunk_key_encoding_registry.known()}.{failure_of(key)}"
        )
    return found


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
    return found
