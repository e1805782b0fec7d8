"""Names and what they stand for: codecs, pipelines, buffers, chunk key encodings, grids, stores.

May import ``zarr.errors``, ``zarr.defaults`` and ``zarr.abc.codec``; implementations are named, and imported when asked
for. Read ``tables.py`` first.

A look-up considers what was registered by hand, what installed packages offer as entry points, and the built-ins; the
configuration picks one of several. Built-ins are a table of dotted paths, so naming one imports that one only. Entry
points are read once, when a name is asked for that is not built in. A package that fails to load is named in a warning
and left out. Registries are asked when something is opened, never per read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_names

if TYPE_CHECKING:  # what type checkers know of the table
    from zarr.buffer.core import get_buffer_class as get_buffer_class
    from zarr.buffer.core import get_ndbuffer_class as get_ndbuffer_class
    from zarr.buffer.core import register_buffer as register_buffer
    from zarr.buffer.core import register_ndbuffer as register_ndbuffer
    from zarr.chunks.keys import get_chunk_key_encoding_class as get_chunk_key_encoding_class
    from zarr.chunks.keys import register_chunk_key_encoding as register_chunk_key_encoding
    from zarr.defaults import BadConfigError as BadConfigError
    from zarr.dtype.registry import data_type_registry as data_type_registry
    from zarr.errors import UnknownCodecError as UnknownCodecError
    from zarr.errors import ZarrUserWarning as ZarrUserWarning
    from zarr.registry.codecs import _CODEC_PACKAGE_PREFIXES as _CODEC_PACKAGE_PREFIXES
    from zarr.registry.codecs import _CODEC_PACKAGES as _CODEC_PACKAGES
    from zarr.registry.codecs import _NUMCODEC_PACKAGE_PREFIXES as _NUMCODEC_PACKAGE_PREFIXES
    from zarr.registry.codecs import _NUMCODEC_PACKAGES as _NUMCODEC_PACKAGES
    from zarr.registry.codecs import _NUMCODECS_CODEC_DOCS_URL as _NUMCODECS_CODEC_DOCS_URL
    from zarr.registry.codecs import _ZARR_CODEC_DOCS_URL as _ZARR_CODEC_DOCS_URL
    from zarr.registry.codecs import _missing_codec_message as _missing_codec_message
    from zarr.registry.codecs import _packages_for_codec as _packages_for_codec
    from zarr.registry.codecs import _parse_array_array_codec as _parse_array_array_codec
    from zarr.registry.codecs import _parse_array_bytes_codec as _parse_array_bytes_codec
    from zarr.registry.codecs import _parse_bytes_bytes_codec as _parse_bytes_bytes_codec
    from zarr.registry.codecs import _resolve_codec as _resolve_codec
    from zarr.registry.codecs import get_codec_class as get_codec_class
    from zarr.registry.codecs import get_numcodec as get_numcodec
    from zarr.registry.codecs import get_pipeline_class as get_pipeline_class
    from zarr.registry.codecs import register_codec as register_codec
    from zarr.registry.codecs import register_pipeline as register_pipeline
    from zarr.registry.tables import Registry as Registry
    from zarr.registry.tables import _buffer_registry as _buffer_registry
    from zarr.registry.tables import _chunk_key_encoding_registry as _chunk_key_encoding_registry
    from zarr.registry.tables import _codec_registries as _codec_registries
    from zarr.registry.tables import _collect_entrypoints as _collect_entrypoints
    from zarr.registry.tables import _ndbuffer_registry as _ndbuffer_registry
    from zarr.registry.tables import _pipeline_registry as _pipeline_registry
    from zarr.registry.tables import entry_points_for as entry_points_for
    from zarr.registry.tables import failure_of as failure_of
    from zarr.registry.tables import fully_qualified_name as fully_qualified_name
    from zarr.registry.tables import get_chunk_grid_class as get_chunk_grid_class
    from zarr.registry.tables import get_storage_transformer_class as get_storage_transformer_class
    from zarr.registry.tables import get_store_factory as get_store_factory
    from zarr.registry.tables import load_entry_point as load_entry_point
    from zarr.registry.tables import register_chunk_grid as register_chunk_grid
    from zarr.registry.tables import register_storage_transformer as register_storage_transformer
    from zarr.registry.tables import register_store as register_store
    from zarr.registry.tables import store_class as store_class
    from zarr.settings import config as config

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.buffer.core": "get_buffer_class get_ndbuffer_class register_buffer register_ndbuffer",
        "zarr.chunks.keys": "get_chunk_key_encoding_class register_chunk_key_encoding",
        "zarr.defaults": "BadConfigError",
        "zarr.dtype.registry": "data_type_registry",
        "zarr.errors": "UnknownCodecError ZarrUserWarning",
        "zarr.registry.codecs": (
            "_CODEC_PACKAGES _CODEC_PACKAGE_PREFIXES _NUMCODECS_CODEC_DOCS_URL _NUMCODEC_PACKAGES "
            "_NUMCODEC_PACKAGE_PREFIXES _ZARR_CODEC_DOCS_URL _missing_codec_message _packages_for_codec "
            "_parse_array_array_codec _parse_array_bytes_codec _parse_bytes_bytes_codec _resolve_codec "
            "get_codec_class get_numcodec get_pipeline_class register_codec register_pipeline"
        ),
        "zarr.registry.tables": (
            "Registry _buffer_registry _chunk_key_encoding_registry _codec_registries _collect_entrypoints "
            "_ndbuffer_registry _pipeline_registry entry_points_for failure_of fully_qualified_name "
            "get_chunk_grid_class get_storage_transformer_class get_store_factory load_entry_point "
            "register_chunk_grid register_storage_transformer register_store store_class"
        ),
        "zarr.settings": "config",
    },
)
__all__ = sorted({*__dir__()} - {*globals()})  # noqa: PLE0605  # the names of the table
