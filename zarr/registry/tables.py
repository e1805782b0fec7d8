"""The tables of implementations: one a kind, filled with what the library brings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from zarr.defaults import CODEC_CLASSES, EXTENSION_CODECS, STORES, BadConfigError, settings
from zarr.registry.table import Changes, Registry, entry_points_by_group, entry_points_for

# Where the classes live that the configuration names by the paths of zarr-python.
_MOVED: Final[dict[str, str]] = {
    "zarr.core.codec_pipeline.BatchedCodecPipeline": "zarr.codecs.base.pipeline.BatchedCodecPipeline",
    "zarr.core.codec_pipeline.FusedCodecPipeline": "zarr.codecs.base.pipeline.FusedCodecPipeline",
    "zarr.core.buffer.cpu.Buffer": "zarr.buffer.cpu.Buffer",
    "zarr.core.buffer.cpu.NDBuffer": "zarr.buffer.cpu.NDBuffer",
    "zarr.core.buffer.gpu.Buffer": "zarr.buffer.gpu.Buffer",
    "zarr.core.buffer.gpu.NDBuffer": "zarr.buffer.gpu.NDBuffer",
}


def _registry_of(*paths: str) -> Registry[Any]:
    registry: Registry[Any] = Registry()
    registry.builtins = {path: _MOVED.get(path, path) for path in paths}
    return registry


def _flat_codec_table(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, value in table.items():
        flat.update(_flat_codec_table(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value})
    return flat


_codec_registries: dict[str, Registry[Any]] = {
    name: _registry_of(path) for name, path in {**_flat_codec_table(CODEC_CLASSES), **EXTENSION_CODECS}.items()
}
_pipeline_registry: Registry[Any] = _registry_of(
    "zarr.core.codec_pipeline.BatchedCodecPipeline", "zarr.core.codec_pipeline.FusedCodecPipeline"
)
_buffer_registry: Registry[Any] = _registry_of(
    "zarr.buffer.cpu.Buffer", "zarr.buffer.gpu.Buffer", "zarr.core.buffer.cpu.Buffer", "zarr.core.buffer.gpu.Buffer"
)
_ndbuffer_registry: Registry[Any] = _registry_of(
    "zarr.buffer.cpu.NDBuffer",
    "zarr.buffer.gpu.NDBuffer",
    "zarr.core.buffer.cpu.NDBuffer",
    "zarr.core.buffer.gpu.NDBuffer",
)
_chunk_key_encoding_registry: Registry[Any] = Registry()
_chunk_key_encoding_registry.builtins = {
    "default": "zarr.chunks.keys.DefaultChunkKeyEncoding",
    "v2": "zarr.chunks.keys.V2ChunkKeyEncoding",
    "fanout": "zarr.chunks.key_extensions.FanoutChunkKeyEncoding",
    "suffix": "zarr.chunks.key_extensions.SuffixChunkKeyEncoding",
    "zarrs.default_suffix": "zarr.chunks.key_extensions.DefaultSuffixChunkKeyEncoding",
}
_chunk_grid_registry: Registry[Any] = Registry()
_chunk_grid_registry.builtins = {
    "regular": "zarr.chunks.RegularChunkGridMetadata",
    "rectilinear": "zarr.chunks.RectilinearChunkGridMetadata",
}
_storage_transformer_registry: Registry[Any] = Registry()
_store_registry: Registry[Any] = Registry()
_store_registry.builtins = {
    scheme: f"{module}.{name}" for name, (module, schemes, _, _) in STORES.items() for scheme in schemes.split()
}

_BY_KIND: Final[dict[str, Registry[Any]]] = {
    "codec_pipeline": _pipeline_registry,
    "buffer": _buffer_registry,
    "ndbuffer": _ndbuffer_registry,
    "chunk_key_encoding": _chunk_key_encoding_registry,
    "chunk_grid": _chunk_grid_registry,
    "storage_transformer": _storage_transformer_registry,
    "stores": _store_registry,
}


@cache
def collect_entry_points() -> None:
    """Hand every entry point to the registry of its kind, once in the life of the process."""
    for point in entry_points_for("codecs", plural_names=True):
        name = point.group.removeprefix("zarr.codecs.") if point.group.startswith("zarr.codecs.") else point.name
        _codec_registries.setdefault(name, Registry()).lazy_load_list.append(point)
    for kind, registry in _BY_KIND.items():
        registry.lazy_load_list.extend(entry_points_for(kind))


def recollect_entry_points() -> list[Registry[Any]]:
    """Look again which entry points there are, after packages were installed; return the registries they went to.

    Examples
    --------
    >>> _pipeline_registry in recollect_entry_points()
    True
    """
    entry_points_by_group.cache_clear()
    collect_entry_points.cache_clear()
    Changes.note()
    registries = [*_codec_registries.values(), *_BY_KIND.values()]
    for registry in registries:
        registry.lazy_load_list.clear()
    collect_entry_points()
    return registries


def load_entry_points_of(registry: Registry[Any], *, use_entrypoint_name: bool = False) -> None:
    """Load the entry points of one table that were not loaded yet."""
    collect_entry_points()
    if registry.lazy_load_list:
        registry.lazy_load(use_entrypoint_name)


def configured_class(registry: Registry[Any], key: str, label: str, plural: str, reload_config: bool) -> type[Any]:
    """Return the class that a configuration value names; BadConfigError if it is not registered."""
    if reload_config:
        settings.refresh()
    path = settings.get(key)
    found = registry.find(path) if isinstance(path, str) else None
    if found is None:
        load_entry_points_of(registry)
        found = registry.find(path) if isinstance(path, str) else None
    if found is None:
        raise BadConfigError(f"{label} class {path!r} not found in registered {plural}: {registry.known()}.")
    return found


def named_class(registry: Registry[Any], name: str) -> type[Any] | None:
    """Return the class of a name, from entry points if need be; None if there is none."""
    found = registry.find(name)
    if found is None:
        load_entry_points_of(registry, use_entrypoint_name=True)
        found = registry.find(name)
    return found
