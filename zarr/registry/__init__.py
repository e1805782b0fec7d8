"""Implementations by name: codecs, pipelines, buffers, chunk key encodings, grids, stores.

May import ``zarr.errors``, ``zarr.defaults`` and ``zarr.abc.codec``; implementations are imported at their first use.
Read ``tables.py`` first.

A look-up uses classes registered by hand, entry points of installed packages, and the built-ins; the configuration
chooses one of several. Built-ins are a table of dotted paths, so a look-up imports only one of them. Entry points are
read once, at the first look-up of a name that is not built in. A package that cannot be loaded gives a warning with its
name and is left out. Registries are used when something is opened, never during a read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_names

if TYPE_CHECKING:  # for type checkers
    from zarr.buffer.core import *  # noqa: F403
    from zarr.chunks.keys import *  # noqa: F403
    from zarr.defaults import BadConfigError as BadConfigError
    from zarr.dtype.registry import data_type_registry as data_type_registry
    from zarr.errors import UnknownCodecError as UnknownCodecError
    from zarr.errors import ZarrUserWarning as ZarrUserWarning
    from zarr.registry.codecs import *  # noqa: F403
    from zarr.registry.tables import *  # noqa: F403
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
