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
from zarr.defaults import BadConfigError
from zarr.errors import UnknownCodecError, ZarrUserWarning
from zarr.registry.codecs import (
    _parse_array_array_codec,
    _parse_array_bytes_codec,
    _parse_bytes_bytes_codec,
    _resolve_codec,
    get_codec_class,
    get_numcodec,
    get_pipeline_class,
    register_codec,
    register_pipeline,
)
from zarr.registry.install_hints import CODEC_PACKAGE_PREFIXES as _CODEC_PACKAGE_PREFIXES
from zarr.registry.install_hints import CODEC_PACKAGES as _CODEC_PACKAGES
from zarr.registry.install_hints import NUMCODEC_PACKAGE_PREFIXES as _NUMCODEC_PACKAGE_PREFIXES
from zarr.registry.install_hints import NUMCODEC_PACKAGES as _NUMCODEC_PACKAGES
from zarr.registry.install_hints import NUMCODECS_HELP as _NUMCODECS_CODEC_DOCS_URL
from zarr.registry.install_hints import ZARR_CODEC_HELP as _ZARR_CODEC_DOCS_URL
from zarr.registry.install_hints import missing_codec_message as _missing_codec_message
from zarr.registry.install_hints import packages_for_codec as _packages_for_codec
from zarr.registry.tables import (
    Registry,
    _buffer_registry,
    _chunk_key_encoding_registry,
    _codec_registries,
    _ndbuffer_registry,
    _pipeline_registry,
    entry_points_for,
    failure_of,
    fully_qualified_name,
    get_chunk_grid_class,
    get_storage_transformer_class,
    get_store_factory,
    load_entry_point,
    register_chunk_grid,
    register_storage_transformer,
    register_store,
    store_class,
)
from zarr.registry.tables import recollect_entry_points as _collect_entrypoints

if TYPE_CHECKING:
    from zarr.buffer.core import get_buffer_class, get_ndbuffer_class, register_buffer, register_ndbuffer
    from zarr.chunks.keys import get_chunk_key_encoding_class, register_chunk_key_encoding
    from zarr.dtype.registry import data_type_registry as data_type_registry
    from zarr.settings import config as config

__all__ = [
    "BadConfigError",
    "Registry",
    "UnknownCodecError",
    "_CODEC_PACKAGES",
    "_CODEC_PACKAGE_PREFIXES",
    "_NUMCODECS_CODEC_DOCS_URL",
    "_NUMCODEC_PACKAGES",
    "_NUMCODEC_PACKAGE_PREFIXES",
    "_ZARR_CODEC_DOCS_URL",
    "_buffer_registry",
    "_chunk_key_encoding_registry",
    "_codec_registries",
    "_collect_entrypoints",
    "_missing_codec_message",
    "_ndbuffer_registry",
    "_packages_for_codec",
    "_parse_array_array_codec",
    "_parse_array_bytes_codec",
    "_parse_bytes_bytes_codec",
    "_pipeline_registry",
    "_resolve_codec",
    "ZarrUserWarning",
    "config",
    "data_type_registry",
    "entry_points_for",
    "failure_of",
    "fully_qualified_name",
    "get_buffer_class",
    "get_chunk_grid_class",
    "get_chunk_key_encoding_class",
    "get_codec_class",
    "get_ndbuffer_class",
    "get_numcodec",
    "get_pipeline_class",
    "get_storage_transformer_class",
    "get_store_factory",
    "load_entry_point",
    "register_buffer",
    "register_chunk_grid",
    "register_chunk_key_encoding",
    "register_codec",
    "register_ndbuffer",
    "register_pipeline",
    "register_storage_transformer",
    "register_store",
    "store_class",
]

# Offered here too, but made beside the contract that is registered, or not needed by most.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.buffer.core": "get_buffer_class get_ndbuffer_class register_buffer register_ndbuffer",
        "zarr.chunks.keys": "get_chunk_key_encoding_class register_chunk_key_encoding",
        "zarr.dtype.registry": "data_type_registry",
        "zarr.settings": "config",
    },
)
