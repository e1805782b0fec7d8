"""The tables of implementations: one for each kind, with the built-in ones."""

from __future__ import annotations

import itertools
from _thread import get_ident
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Final, Generic, TypeVar, cast

from zarr._lazy import load, metadata
from zarr.defaults import CODEC_CLASSES, EXTENSION_CODECS, STORES, BadConfigError, settings
from zarr.errors import ZarrUserWarning
from zarr.notices import warn


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
    _numbers = itertools.count(1)

    @classmethod
    def note(cls) -> None:
        """Record that a table has changed."""
        cls.count = next(cls._numbers)  # of two threads, each sets another number


T = TypeVar("T")


def fully_qualified_name(cls: type) -> str:
    """Return the dotted path of a class.

    Returns
    -------
    str

    Examples
    --------
    >>> from zarr.registry import fully_qualified_name
    >>> fully_qualified_name(dict)
    'builtins.dict'
    """
    return f"{cls.__module__}.{cls.__qualname__}"


def import_path(path: str) -> Any:
    module, _, attribute = path.rpartition(".")
    return getattr(load(module), attribute)


@cache
def entry_points_by_group() -> Mapping[str, tuple[metadata.EntryPoint, ...]]:
    """Return all entry points for zarr of installed packages, by group."""
    found = metadata.entry_points()
    names = [group for group in found.groups if group == "zarr" or group.startswith("zarr.")]
    return {group: tuple(found.select(group=group)) for group in names}


def entry_points_for(kind: str, *, plural_names: bool = False) -> list[metadata.EntryPoint]:
    """Return the entry points of one kind of extension.

    Parameters
    ----------
    kind
        ``codecs``, ``data_type``, ``buffer`` and others: the entry points of the group ``zarr.<kind>``, and those of
        the group ``zarr`` with the name ``<kind>``.
    plural_names
        If True, include groups ``zarr.<kind>.<name>``.

    Returns
    -------
    list of EntryPoint

    Examples
    --------
    >>> from zarr.registry import entry_points_for
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


def load_entry_point(point: metadata.EntryPoint) -> Any | None:
    """Load an entry point; a failure gives a warning with its name, and the result None.

    Parameters
    ----------
    point : EntryPoint
        The entry point.

    Returns
    -------
    object or None
        None if it cannot be loaded.

    Examples
    --------
    >>> from zarr.registry import load_entry_point
    >>> from importlib.metadata import EntryPoint
    >>> load_entry_point(EntryPoint("d", "builtins:dict", "zarr.codecs"))
    <class 'dict'>
    """
    try:
        return point.load()
    except Exception as error:  # a plugin may raise any error when it is imported
        package = getattr(getattr(point, "dist", None), "name", None)
        message = (
            f"The entry point {point.name!r} = {point.value!r} of group {point.group!r}"
            f"{f' (package {package!r})' if package else ''} cannot be loaded and is left out: "
            f"{type(error).__name__}: {error}"
        )
        _FAILURES[point.name] = message
        warn(message, ZarrUserWarning)
        return None


_FAILURES: dict[str, str] = {}
_LOADING: set[tuple[int, int]] = set()


def load_waiting(waiting: list[metadata.EntryPoint]) -> Iterator[tuple[metadata.EntryPoint, Any]]:
    """Load entry points and remove each from the list after its class has been registered.

    So another thread that looks for one meanwhile loads it, too, and does not miss it.
    """
    for point in list(waiting):
        mine = (get_ident(), id(point))
        if mine in _LOADING:  # read while its own module is being imported
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
    """Return a text for the message about a missing name if an installed package offers it, but cannot be loaded.

    Parameters
    ----------
    name : str
        The name of a class.

    Returns
    -------
    str
        Empty if it did not fail.

    Examples
    --------
    >>> from zarr.registry import failure_of
    >>> failure_of("no-such-name")
    ''
    """
    return f" {_FAILURES[name]}." if name in _FAILURES else ""


class Registry(dict[str, type[T]], Generic[T]):
    """Implementations of one thing, by qualified name.

    Entries are registered classes. In addition ``lazy_load_list`` has entry points that are not loaded yet, and
    ``builtins`` dotted paths that are not imported yet.

    Parameters
    ----------
    builtins : Mapping[str, str] or None
        The dotted paths of this library's classes, by name.

    Examples
    --------
    >>> from zarr.registry import Registry
    >>> registry = Registry()
    >>> registry.register(dict)
    >>> list(registry)
    ['builtins.dict']
    """

    def __init__(self, builtins: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.lazy_load_list: list[metadata.EntryPoint] = []
        self.builtins = dict(builtins or {})

    def register(self, cls: type[T], qualname: str | None = None) -> None:
        """Add a class under its qualified name, or under another one.

        Parameters
        ----------
        cls : type[T]
            The class to register.
        qualname : str or None
            The name in the settings. Default: that of the class.
        """
        self[fully_qualified_name(cls) if qualname is None else qualname] = cls
        Changes.note()

    def lazy_load(self, use_entrypoint_name: bool = False) -> None:
        """Load the waiting entry points, under the names of their classes or under their own.

        Parameters
        ----------
        use_entrypoint_name : bool
            If True, use the names of the entry points for the classes. Default: False.
        """
        for point, cls in load_waiting(self.lazy_load_list):
            self.register(cls, point.name if use_entrypoint_name else None)

    def find(self, name: str) -> type[T] | None:
        """Return the class of a qualified name, importing it if it is a built-in; None if there is none.

        Parameters
        ----------
        name : str
            The name of the class in metadata documents.

        Returns
        -------
        type or None
        """
        found = self.get(name)
        if found is None and name in self.builtins:
            found = cast("type[T]", import_path(self.builtins[name]))
            self[name] = found
        return found

    def known(self) -> list[str]:
        """Return the sorted names of all implementations.

        Returns
        -------
        list of str
        """
        return sorted({*self, *self.builtins})


_codec_registries: dict[str, Registry[Any]] = {
    name: Registry({path: path}) for name, path in {**CODEC_CLASSES, **EXTENSION_CODECS}.items()
}
# The configuration names pipelines and buffers by the paths of zarr-python or by our own.
OWN_PIPELINES: Final = {
    f"{module}.{name}": f"zarr.codecs.base.pipeline.{name}"
    for module in ("zarr.core.codec_pipeline", "zarr.codecs.base.pipeline")
    for name in ("BatchedCodecPipeline", "FusedCodecPipeline")
}
"""The pipelines that the steps of this library replace; any other one is called by zarr-python's interface."""
_pipeline_registry: Registry[Any] = Registry(OWN_PIPELINES)


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
    """Add every entry point to the registry of its kind, once in the life of the process."""
    for point in entry_points_for("codecs", plural_names=True):
        name = point.group.removeprefix("zarr.codecs.") if point.group.startswith("zarr.codecs.") else point.name
        _codec_registries.setdefault(name, Registry()).lazy_load_list.append(point)
    for kind, registry in _BY_KIND.items():
        registry.lazy_load_list.extend(entry_points_for(kind))


def _collect_entrypoints() -> list[Registry[Any]]:
    """Search entry points again, after packages were installed; return the registries that got new ones.

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
    """Return the class that a configuration value names; raise BadConfigError if it is not registered."""
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
    """Return the class of a name; if there is none, raise KeyError with the known names and failures of plugins."""
    found = named_class(registry, name)
    if found is None:
        raise KeyError(f"{message}: {registry.known()}.{failure_of(name)}")
    return found


def register_chunk_grid(key: str, cls: type) -> None:
    """Add a chunk grid under its name in array metadata. It must reduce to axes: see ``zarr.chunks``.

    Parameters
    ----------
    key : str
        The name in metadata documents.
    cls : type
        The class of the grid.

    Examples
    --------
    >>> from zarr.registry import register_chunk_grid
    >>> register_chunk_grid("example.grid", dict)
    """
    _chunk_grid_registry.register(cls, key)


def get_chunk_grid_class(key: str) -> type[Any]:
    """Return the chunk grid of a name.

    Parameters
    ----------
    key : str
        The name in metadata documents.

    Returns
    -------
    type

    Raises
    ------
    KeyError
        If there is none.

    Examples
    --------
    >>> from zarr.registry import get_chunk_grid_class
    >>> get_chunk_grid_class("regular").__name__
    'RegularChunkGridMetadata'
    """
    return required_class(_chunk_grid_registry, key, f"Chunk grid '{key}' not found in registered chunk grids")


def register_storage_transformer(key: str, cls: type) -> None:
    """Add a storage transformer under its name in array metadata.

    Parameters
    ----------
    key : str
        The name in metadata documents.
    cls : type
        The class of the transformer.

    Examples
    --------
    >>> from zarr.registry import register_storage_transformer
    >>> register_storage_transformer("example.transformer", dict)
    """
    _storage_transformer_registry.register(cls, key)


def get_storage_transformer_class(key: str) -> type[Any]:
    """Return the storage transformer of a name.

    Parameters
    ----------
    key : str
        The name in metadata documents.

    Returns
    -------
    type

    Raises
    ------
    KeyError
        If there is none: the format itself defines no transformer.

    Examples
    --------
    >>> from zarr.registry import get_storage_transformer_class
    >>> get_storage_transformer_class("example.none")
    Traceback (most recent call last):
    KeyError: ...
    """
    return required_class(_storage_transformer_registry, key, f"Storage transformer '{key}' not found")


def register_store(scheme: str, factory: Callable[..., Any]) -> None:
    """Add a function that opens URLs of a scheme: it takes the URL and keyword options and returns a store.

    Parameters
    ----------
    scheme : str
        The scheme of URLs, such as ``"s3"``.
    factory : Callable[..., object]
        A function that makes a store of a URL.

    Examples
    --------
    >>> from zarr.registry import register_store
    >>> register_store("example", lambda url, **options: None)
    """
    _store_registry[scheme] = cast("type[Any]", factory)


def get_store_factory(scheme: str) -> Callable[..., Any] | None:
    """Return the function that opens URLs of a scheme, or None if none is registered.

    Parameters
    ----------
    scheme : str
        The scheme of URLs, such as ``"s3"``.

    Returns
    -------
    callable or None

    Raises
    ------
    ValueError
        If an installed package has one that cannot be loaded.

    Examples
    --------
    >>> from zarr.registry import get_store_factory
    >>> get_store_factory("no-such-scheme") is None
    True
    """
    found = named_class(_store_registry, scheme)
    if found is None and failure_of(scheme):
        raise ValueError(f"There is no store for URLs that begin with '{scheme}:'.{failure_of(scheme)}")
    return getattr(found, "from_url", found)


@cache
def store_class(name: str) -> Any:
    """Return a class of the table of stores (``zarr.defaults.STORES``), imported at its first use.

    Parameters
    ----------
    name : str
        The name of a store.

    Examples
    --------
    >>> from zarr.registry import store_class
    >>> store_class("MemoryStore")().read_only
    False
    """
    return import_path(f"{STORES[name][0]}.{name}")
