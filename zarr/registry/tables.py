"""The tables of implementations: one a kind, filled with what the library brings."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from zarr._lazy import LazyModule, load
from zarr.defaults import CODEC_CLASSES, EXTENSION_CODECS, STORES, BadConfigError, settings
from zarr.errors import ZarrUserWarning
from zarr.notices import warn

if TYPE_CHECKING:
    from importlib import metadata
    from importlib.metadata import EntryPoint
else:
    metadata = LazyModule("importlib.metadata")


class Changes:
    """One counter for all tables of the process.

    Examples
    --------
    >>> before = Changes.count
    >>> Changes.note()
    >>> Changes.count > before
    True
    """

    count: int = 0

    @classmethod
    def note(cls) -> None:
        """Say that a table has changed."""
        cls.count += 1


T = TypeVar("T")


def fully_qualified_name(cls: type) -> str:
    """Return the dotted path of a class.

    Examples
    --------
    >>> fully_qualified_name(dict)
    'builtins.dict'
    """
    return f"{cls.__module__}.{cls.__qualname__}"


def import_path(path: str) -> Any:
    module, _, attribute = path.rpartition(".")
    return getattr(load(module), attribute)


@cache
def entry_points_by_group() -> Mapping[str, tuple[EntryPoint, ...]]:
    """All entry points for zarr that installed packages offer, by group."""
    found = metadata.entry_points()
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
    groups = entry_points_by_group()
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
    >>> from importlib.metadata import EntryPoint
    >>> load_entry_point(EntryPoint("d", "builtins:dict", "zarr.codecs"))
    <class 'dict'>
    """
    try:
        return point.load()
    except Exception as error:  # a plugin may raise anything when it is imported
        package = getattr(getattr(point, "dist", None), "name", None)
        told = (
            f"The entry point {point.name!r} = {point.value!r} of group {point.group!r}"
            f"{f' (package {package!r})' if package else ''} cannot be loaded and is left out: "
            f"{type(error).__name__}: {error}"
        )
        _FAILURES[point.name] = told
        warn(told, ZarrUserWarning)
        return None


_FAILURES: dict[str, str] = {}
_LOADING: set[tuple[int, int]] = set()


def load_waiting(waiting: list[EntryPoint]) -> Iterator[tuple[EntryPoint, Any]]:
    """Load entry points and take them off their list, each when its class has been registered.

    So a thread that looks for one meanwhile loads it, too, and does not miss it.
    """
    for point in list(waiting):
        mine = (get_ident(), id(point))
        if mine in _LOADING:  # asked for while its own module is being imported
            continue
        _LOADING.add(mine)
        try:
            cls = load_entry_point(point)
            if cls is not None:
                yield point, cls
        finally:
            _LOADING.discard(mine)
        with suppress(ValueError):
            waiting.remove(point)


def failure_of(name: str) -> str:
    """Return what to add to the message that there is nothing of a name: an installed package offers it, but is broken.

    Examples
    --------
    >>> failure_of("no-such-name")
    ''
    """
    return f" {_FAILURES[name]}." if name in _FAILURES else ""


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

    def __init__(self, builtins: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.lazy_load_list: list[EntryPoint] = []
        self.builtins = dict(builtins or {})

    def register(self, cls: type[T], qualname: str | None = None) -> None:
        """Add a class under its qualified name, or under another one."""
        self[fully_qualified_name(cls) if qualname is None else qualname] = cls
        Changes.note()

    def lazy_load(self, use_entrypoint_name: bool = False) -> None:
        """Load the entry points that wait, under the names of their classes or under their own."""
        for point, cls in load_waiting(self.lazy_load_list):
            self.register(cls, point.name if use_entrypoint_name else None)

    def find(self, name: str) -> type[T] | None:
        """Return the class of a qualified name, importing it if it is a built-in; None if there is none."""
        found = self.get(name)
        if found is None and name in self.builtins:
            found = cast("type[T]", import_path(self.builtins[name]))
            self[name] = found
        return found

    def known(self) -> list[str]:
        """Return the sorted names of all implementations."""
        return sorted({*self, *self.builtins})


_codec_registries: dict[str, Registry[Any]] = {
    name: Registry({path: path}) for name, path in {**CODEC_CLASSES, **EXTENSION_CODECS}.items()
}
# The configuration names pipelines and buffers by the paths of zarr-python, buffers by our own, too.
_pipeline_registry: Registry[Any] = Registry(
    {
        f"zarr.core.codec_pipeline.{name}": f"zarr.codecs.base.pipeline.{name}"
        for name in ("BatchedCodecPipeline", "FusedCodecPipeline")
    }
)


def _buffer_classes(name: str) -> dict[str, str]:
    rooms, kinds = ("zarr.buffer", "zarr.core.buffer"), ("cpu", "gpu")
    return {f"{room}.{kind}.{name}": f"zarr.buffer.{kind}.{name}" for room in rooms for kind in kinds}


_buffer_registry: Registry[Any] = Registry(_buffer_classes("Buffer"))
_ndbuffer_registry: Registry[Any] = Registry(_buffer_classes("NDBuffer"))
_chunk_key_encoding_registry: Registry[Any] = Registry(
    {
        "default": "zarr.chunks.keys.DefaultChunkKeyEncoding",
        "v2": "zarr.chunks.keys.V2ChunkKeyEncoding",
        "fanout": "zarr.chunks.key_extensions.FanoutChunkKeyEncoding",
        "suffix": "zarr.chunks.key_extensions.SuffixChunkKeyEncoding",
        "zarrs.default_suffix": "zarr.chunks.key_extensions.DefaultSuffixChunkKeyEncoding",
    }
)
_chunk_grid_registry: Registry[Any] = Registry(
    {name: f"zarr.chunks.{name.title()}ChunkGridMetadata" for name in ("regular", "rectilinear")}
)
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


def _collect_entrypoints() -> list[Registry[Any]]:
    """Look again which entry points there are, after packages were installed; return the registries they went to.

    Examples
    --------
    >>> _pipeline_registry in _collect_entrypoints()
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


def configured_class(registry: Registry[Any], key: str, label: str, plural: str, reload_config: bool) -> type[Any]:
    """Return the class that a configuration value names; BadConfigError if it is not registered."""
    if reload_config:
        settings.refresh()
    path = settings.get(key)
    found = named_class(registry, path, use_entrypoint_name=False) if isinstance(path, str) else None
    if found is None:
        raise BadConfigError(f"{label} class {path!r} not found in registered {plural}: {registry.known()}.")
    return found


def named_class(registry: Registry[Any], name: str, *, use_entrypoint_name: bool = True) -> type[Any] | None:
    """Return the class of a name, from entry points if need be; None if there is none."""
    found = registry.find(name)
    if found is None:
        collect_entry_points()
        registry.lazy_load(use_entrypoint_name)
        found = registry.find(name)
    return found


def required_class(registry: Registry[Any], name: str, message: str) -> type[Any]:
    """Return the class of a name; KeyError with a message, the names that are known and a plugin's failure if none."""
    found = named_class(registry, name)
    if found is None:
        raise KeyError(f"{message}: {registry.known()}.{failure_of(name)}")
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
    return required_class(_chunk_grid_registry, key, f"Chunk grid '{key}' not found in registered chunk grids")


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
    return required_class(_storage_transformer_registry, key, f"Storage transformer '{key}' not found")


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
