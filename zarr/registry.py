"""Names and what they stand for: codecs, pipelines, buffers, chunk key encodings, grids, stores.

A look-up considers what was registered by hand, what installed packages offer as entry points, and the built-ins; the
configuration picks one of several. Built-ins are a table of ``module:attribute``, so naming one imports that one only.
Entry points are read once, when a name is asked for that is not built in. A package that fails to load is named in a
warning and left out. Registries are asked when something is opened, never per read.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.errors import UnknownCodecError, ZarrUserWarning
from zarr.settings import CODEC_CLASSES, BadConfigError, config

if TYPE_CHECKING:
    from zarr.abc.codec import Codec, CodecJSON_V2, CodecPipeline
    from zarr.abc.numcodec import Numcodec
    from zarr.buffer import Buffer, NDBuffer
    from zarr.chunk_keys import ChunkKeyEncoding
    from zarr.dtype import data_type_registry as data_type_registry
    from zarr.types import JSON

__all__ = [
    "Registry",
    "get_buffer_class",
    "get_chunk_grid_class",
    "get_chunk_key_encoding_class",
    "get_codec_class",
    "get_ndbuffer_class",
    "get_pipeline_class",
    "get_storage_transformer_class",
    "get_store_factory",
    "register_buffer",
    "register_chunk_grid",
    "register_chunk_key_encoding",
    "register_codec",
    "register_ndbuffer",
    "register_pipeline",
    "register_storage_transformer",
    "register_store",
]

T = TypeVar("T")

_CODEC_HELP: Final = "https://zarr.readthedocs.io/en/stable/user-guide/extending/#custom-codecs"
_NUMCODEC_HELP: Final = "https://numcodecs.readthedocs.io/en/stable/registry.html#numcodecs.registry.register_codec"
# Which package brings a codec that is not here; a name that ends in "*" is a prefix.
_CODEC_PACKAGES: Final[dict[str, tuple[str, ...]]] = {
    "n5_default": ("zarr-n5",),
    "gribberish": ("gribberish",),
    "imagecodecs_*": ("imagecodecs-zarr", "virtual-tiff"),
    "omfiles.*": ("omfiles",),
    "virtual_tiff.*": ("virtual-tiff",),
    "any-numcodecs.*": ("zarr-any-numcodecs",),
}
_NUMCODEC_PACKAGES: Final[dict[str, tuple[str, ...]]] = {
    "imagecodecs_*": ("imagecodecs-numcodecs",),
    "zfpy": ("numcodecs[zfpy]",),
    "pcodec": ("numcodecs[pcodec]",),
}
# Codecs that the configuration does not list, and where the pipelines that it can name really live.
_UNLISTED_CODECS: Final[dict[str, str]] = {
    "cast_value": "zarr.codecs.cast_value.CastValue",
    "scale_offset": "zarr.codecs.scale_offset.ScaleOffset",
}
_MOVED: Final[dict[str, str]] = {
    "zarr.core.codec_pipeline.BatchedCodecPipeline": "zarr.codecs.pipeline.BatchedCodecPipeline",
    "zarr.core.codec_pipeline.FusedCodecPipeline": "zarr.codecs.pipeline.FusedCodecPipeline",
    "zarr.core.buffer.cpu.Buffer": "zarr.buffer.cpu.Buffer",
    "zarr.core.buffer.cpu.NDBuffer": "zarr.buffer.cpu.NDBuffer",
    "zarr.core.buffer.gpu.Buffer": "zarr.buffer.gpu.Buffer",
    "zarr.core.buffer.gpu.NDBuffer": "zarr.buffer.gpu.NDBuffer",
}
_LAZY_ATTRIBUTES: Final = {"data_type_registry": "zarr.dtype.data_type_registry"}


def fully_qualified_name(cls: type) -> str:
    """Return the dotted path of a class.

    Examples
    --------
    >>> fully_qualified_name(dict)
    'builtins.dict'
    """
    return f"{cls.__module__}.{cls.__qualname__}"


def _import_path(path: str) -> Any:
    module, _, attribute = path.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


@cache
def _entry_points_by_group() -> Mapping[str, tuple[EntryPoint, ...]]:
    found = entry_points()
    names = [group for group in found.groups if group == "zarr" or group.startswith("zarr.")]
    return {group: tuple(found.select(group=group)) for group in names}


def entry_points_for(kind: str, *, plural_names: bool = False) -> list[EntryPoint]:
    """Return the entry points of one kind of extension.

    Parameters
    ----------
    kind
        ``codecs``, ``data_type``, ``buffer`` and so on: the entry points of the group ``zarr.<kind>``, and those of
        the group ``zarr`` that are named ``<kind>``.
    plural_names
        Whether groups ``zarr.<kind>.<name>`` count too.

    Examples
    --------
    >>> entry_points_for("no-such-kind")
    []
    """
    groups = _entry_points_by_group()
    found = list(groups.get(f"zarr.{kind}", ()))
    found += [point for point in groups.get("zarr", ()) if point.name == kind]
    if plural_names:
        for group, points in groups.items():
            if group.startswith(f"zarr.{kind}."):
                found += points
    return found


def load_entry_point(point: EntryPoint) -> Any | None:
    """Load what an entry point names; a failure is a warning that names it, and None.

    Examples
    --------
    >>> load_entry_point(EntryPoint("d", "builtins:dict", "zarr.codecs"))
    <class 'dict'>
    """
    try:
        return point.load()
    except Exception as error:  # a plugin may raise anything when it is imported
        warnings.warn(
            f"The entry point {point.name!r} = {point.value!r} of group {point.group!r} cannot be loaded and is left "
            f"out: {type(error).__name__}: {error}",
            ZarrUserWarning,
            stacklevel=3,
        )
        return None


class Registry(dict[str, type[T]], Generic[T]):
    """Implementations of one thing, by qualified name.

    Entries are classes that were registered. Besides, ``lazy_load_list`` holds entry points that were not loaded yet,
    and ``builtins`` dotted paths that were not imported yet.

    Examples
    --------
    >>> registry = Registry()
    >>> registry.register(dict)
    >>> list(registry)
    ['builtins.dict']
    """

    def __init__(self) -> None:
        super().__init__()
        self.lazy_load_list: list[EntryPoint] = []
        self.builtins: dict[str, str] = {}

    def register(self, cls: type[T], qualname: str | None = None) -> None:
        """Add a class under its qualified name, or under another one."""
        self[fully_qualified_name(cls) if qualname is None else qualname] = cls

    def lazy_load(self, use_entrypoint_name: bool = False) -> None:
        """Load the entry points that wait, under the names of their classes or under their own."""
        waiting, self.lazy_load_list = self.lazy_load_list, []
        for point in waiting:
            cls = load_entry_point(point)
            if cls is not None:
                self.register(cls, point.name if use_entrypoint_name else None)

    def find(self, name: str) -> type[T] | None:
        """Return the class of a qualified name, importing it if it is a built-in; None if there is none."""
        found = self.get(name)
        if found is None and name in self.builtins:
            found = cast("type[T]", _import_path(self.builtins[name]))
            self[name] = found
        return found

    def known(self) -> list[str]:
        """Return the sorted names of all implementations."""
        return sorted({*self, *self.builtins})


def _builtin_registry(*paths: str) -> Registry[Any]:
    registry: Registry[Any] = Registry()
    registry.builtins = {path: _MOVED.get(path, path) for path in paths}
    return registry


def _flat_codec_table(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, value in table.items():
        flat.update(_flat_codec_table(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value})
    return flat


_codec_registries: dict[str, Registry[Any]] = {
    name: _builtin_registry(path) for name, path in {**_flat_codec_table(CODEC_CLASSES), **_UNLISTED_CODECS}.items()
}
_pipeline_registry: Registry[Any] = _builtin_registry(
    "zarr.core.codec_pipeline.BatchedCodecPipeline", "zarr.core.codec_pipeline.FusedCodecPipeline"
)
_buffer_registry: Registry[Any] = _builtin_registry(
    "zarr.buffer.cpu.Buffer", "zarr.buffer.gpu.Buffer", "zarr.core.buffer.cpu.Buffer", "zarr.core.buffer.gpu.Buffer"
)
_ndbuffer_registry: Registry[Any] = _builtin_registry(
    "zarr.buffer.cpu.NDBuffer",
    "zarr.buffer.gpu.NDBuffer",
    "zarr.core.buffer.cpu.NDBuffer",
    "zarr.core.buffer.gpu.NDBuffer",
)
_chunk_key_encoding_registry: Registry[Any] = Registry()
_chunk_key_encoding_registry.builtins = {
    "default": "zarr.chunk_keys.DefaultChunkKeyEncoding",
    "v2": "zarr.chunk_keys.V2ChunkKeyEncoding",
}
_chunk_grid_registry: Registry[Any] = Registry()
_chunk_grid_registry.builtins = {
    "regular": "zarr.grids.RegularChunkGridMetadata",
    "rectilinear": "zarr.grids.RectilinearChunkGridMetadata",
}
_storage_transformer_registry: Registry[Any] = Registry()
_store_registry: Registry[Any] = Registry()


@cache
def _collect_entry_points() -> None:
    """Hand every entry point to the registry of its kind, once in the life of the process."""
    for point in entry_points_for("codecs", plural_names=True):
        name = point.group.removeprefix("zarr.codecs.") if point.group.startswith("zarr.codecs.") else point.name
        _codec_registries.setdefault(name, Registry()).lazy_load_list.append(point)
    for kind, registry in (
        ("codec_pipeline", _pipeline_registry),
        ("buffer", _buffer_registry),
        ("ndbuffer", _ndbuffer_registry),
        ("chunk_key_encoding", _chunk_key_encoding_registry),
        ("chunk_grid", _chunk_grid_registry),
        ("storage_transformer", _storage_transformer_registry),
        ("stores", _store_registry),
    ):
        registry.lazy_load_list.extend(entry_points_for(kind))


def _load_entry_points(registry: Registry[Any], *, use_entrypoint_name: bool = False) -> None:
    _collect_entry_points()
    if registry.lazy_load_list:
        registry.lazy_load(use_entrypoint_name)


def _configured_class(
    registry: Registry[Any], key: str, label: str, plural: str, reload_config: bool
) -> type[Any]:
    if reload_config:
        config.refresh()
    path = config.get(key)
    found = registry.find(path) if isinstance(path, str) else None
    if found is None:
        _load_entry_points(registry)
        found = registry.find(path) if isinstance(path, str) else None
    if found is None:
        raise BadConfigError(f"{label} class {path!r} not found in registered {plural}: {registry.known()}.")
    return cast("type[Any]", found)


def _named_class(registry: Registry[Any], name: str) -> type[Any] | None:
    found = registry.find(name)
    if found is None:
        _load_entry_points(registry, use_entrypoint_name=True)
        found = registry.find(name)
    return cast("type[Any] | None", found)


# Codecs


def register_codec(key: str, codec_cls: type[Codec], *, qualname: str | None = None) -> None:
    """Add an implementation of a codec.

    It is used at once if it is the first one of that name. Where there are others, ``zarr.config``'s ``codecs.<key>``
    names the one to use.

    Parameters
    ----------
    key
        The name of the codec in array metadata.
    codec_cls
        The class.
    qualname
        The name by which the configuration knows the class; its dotted path if None.

    Examples
    --------
    >>> from zarr.abc.codec import BytesBytesCodec
    >>> class Nothing(BytesBytesCodec):
    ...     pass
    >>> register_codec("example.nothing", Nothing)
    >>> get_codec_class("example.nothing").__name__
    'Nothing'
    """
    _codec_registries.setdefault(key, Registry()).register(codec_cls, qualname)


def get_codec_class(key: str, reload_config: bool = False) -> type[Codec]:
    """Return the implementation of a codec.

    Parameters
    ----------
    key
        The name of the codec in array metadata.
    reload_config
        Whether to read the configuration files and the environment again first.

    Raises
    ------
    UnknownCodecError
        When there is none; the message names a package that brings one, if we know of one.
    BadConfigError
        When the configuration names an implementation that is not registered.

    Examples
    --------
    >>> get_codec_class("gzip").__name__  # doctest: +SKIP
    'GzipCodec'
    """
    if reload_config:
        config.refresh()
    if not isinstance(key, str):
        raise TypeError(f"The name of a codec is a string, got {key!r} of {type(key)}.")
    wanted = config.get(f"codecs.{key}", None)
    wanted = wanted if isinstance(wanted, str) else None
    registry = _codec_registries.get(key)
    found = registry.find(wanted) if registry is not None and wanted is not None else None
    if found is None:
        _collect_entry_points()
        found = _choose_codec(key, _codec_registries.get(key), wanted)
    return cast("type[Codec]", found)


def _choose_codec(key: str, registry: Registry[Any] | None, wanted: str | None) -> type[Any]:
    if registry is not None and registry.lazy_load_list:
        registry.lazy_load()
    if registry is None or not (registry or registry.builtins):
        raise UnknownCodecError(_missing_codec_message(key, "zarr", _CODEC_HELP, _CODEC_PACKAGES))
    if wanted is not None:
        found = registry.find(wanted)
        if found is None:
            raise BadConfigError(
                f"Codec {key!r} is configured to use the implementation {wanted!r}, which is not registered. "
                f"Registered implementations of this codec: {registry.known()}."
            )
        return found
    added = [cls for name, cls in registry.items() if name not in registry.builtins]
    if len(set(added)) > 1:
        warnings.warn(
            f"Codec {key!r} not configured in config. Selecting any implementation.", ZarrUserWarning, stacklevel=3
        )
    return added[-1] if added else cast("type[Any]", registry.find(next(iter(registry.builtins))))


def _missing_codec_message(key: str, library: str, help_url: str, packages: Mapping[str, tuple[str, ...]]) -> str:
    message = (
        f"An implementation for codec {key!r} is not available. Register one explicitly using the codec registry "
        f"(see {help_url}), or install a Python package that registers a codec implementation with {library}."
    )
    for name, known in packages.items():
        if key == name or (name.endswith("*") and key.startswith(name[:-1])):
            return f"{message} Known packages supporting this codec: {', '.join(known)}."
    return message


def _resolve_codec(data: Mapping[str, JSON] | str) -> Codec:
    """Make a codec of its JSON form, ``{"name": ..., "configuration": ...}`` or a bare name."""
    document: dict[str, JSON] = {"name": data} if isinstance(data, str) else dict(data)
    name = document.get("name")
    if not isinstance(name, str):
        raise TypeError(f"A codec needs a 'name' that is a string. Got {data!r}.")
    return get_codec_class(name).from_dict(document)


def _parse_codec(data: object, cls: type[T]) -> T:
    article = "a" if cls is BytesBytesCodec else "an"
    if isinstance(data, Mapping):
        codec: object = _resolve_codec(data)
        if not isinstance(codec, cls):
            raise TypeError(
                f"Expected a dict representation of {article} {cls.__name__}; got a dict representation of a "
                f"{type(codec)} instead."
            )
        return codec
    if not isinstance(data, cls):
        raise TypeError(f"Expected {article} {cls.__name__}. Got {type(data)} instead.")
    return data


def _parse_bytes_bytes_codec(data: Mapping[str, JSON] | Codec) -> BytesBytesCodec:
    return _parse_codec(data, BytesBytesCodec)


def _parse_array_bytes_codec(data: Mapping[str, JSON] | Codec) -> ArrayBytesCodec:
    return _parse_codec(data, ArrayBytesCodec)


def _parse_array_array_codec(data: Mapping[str, JSON] | Codec) -> ArrayArrayCodec:
    return _parse_codec(data, ArrayArrayCodec)


def get_numcodec(data: CodecJSON_V2[str]) -> Numcodec:
    """Make a numcodecs codec of the configuration that format 2 stores.

    Parameters
    ----------
    data
        ``{"id": ..., **parameters}``.

    Raises
    ------
    UnknownCodecError
        When numcodecs knows no codec of that id.

    Examples
    --------
    >>> get_numcodec({"id": "zlib", "level": 1})
    Zlib(level=1)
    """
    from numcodecs.registry import codec_registry, get_codec  # compiled, and slow to import

    settings = dict(data)
    name = settings.get("id")
    try:
        return cast("Numcodec", get_codec(settings))
    except ValueError as error:
        if name in codec_registry:
            raise
        message = _missing_codec_message(str(name), "numcodecs", _NUMCODEC_HELP, _NUMCODEC_PACKAGES)
        raise UnknownCodecError(message) from error


# Pipelines, buffers


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
    >>> get_pipeline_class().__name__  # doctest: +SKIP
    'BatchedCodecPipeline'
    """
    return _configured_class(_pipeline_registry, "codec_pipeline.path", "Pipeline", "pipelines", reload_config)


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
    return _configured_class(_buffer_registry, "buffer", "Buffer", "buffers", reload_config)


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
    return _configured_class(_ndbuffer_registry, "ndbuffer", "NDBuffer", "ndbuffers", reload_config)


# Things of array metadata and stores that go by a plain name


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
    >>> get_chunk_key_encoding_class("v2").__name__  # doctest: +SKIP
    'V2ChunkKeyEncoding'
    """
    found = _named_class(_chunk_key_encoding_registry, key)
    if found is None:
        raise KeyError(
            f"Chunk key encoding '{key}' not found in registered chunk key encodings: "
            f"{_chunk_key_encoding_registry.known()}."
        )
    return found


def register_chunk_grid(key: str, cls: type) -> None:
    """Add a chunk grid under its name in array metadata. It must reduce to axes: see ``zarr.grids``.

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
    >>> get_chunk_grid_class("regular").__name__  # doctest: +SKIP
    'RegularChunkGridMetadata'
    """
    found = _named_class(_chunk_grid_registry, key)
    if found is None:
        raise KeyError(f"Chunk grid '{key}' not found in registered chunk grids: {_chunk_grid_registry.known()}.")
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
    found = _named_class(_storage_transformer_registry, key)
    if found is None:
        raise KeyError(f"Storage transformer '{key}' not found: {_storage_transformer_registry.known()}.")
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

    Examples
    --------
    >>> get_store_factory("no-such-scheme") is None
    True
    """
    return _named_class(_store_registry, scheme)


def __getattr__(name: str) -> Any:
    if name in _LAZY_ATTRIBUTES:
        return _import_path(_LAZY_ATTRIBUTES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
