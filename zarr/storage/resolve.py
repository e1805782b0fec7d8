"""Make a store, and a place in it, of what a user gives: a path, a URL, a mapping."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import MutableMapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard, cast

from zarr._lazy import LazyModule, instance_of
from zarr.abc.store import Store
from zarr.errors import PlaceNotFoundError, StoreUrlError
from zarr.registry import get_store_factory
from zarr.storage.keys import check_local_path, is_fsmap, is_upath, join, normalize_path
from zarr.storage.local.store import LocalStore
from zarr.storage.path import StorePath, check_mode

if TYPE_CHECKING:
    from pathlib import Path

    from zarr.storage import payloads, url_chains
    from zarr.storage import url as _url
    from zarr.storage.memory import store as memory
    from zarr.storage.memory.store import ManagedMemoryStore
    from zarr.storage.references import store as reference_store
    from zarr.storage.references import tables
    from zarr.storage.remote import fsspec
    from zarr.storage.zip import store as zip_store
    from zarr.types import AccessModeLiteral

    StoreLike: TypeAlias = Store | StorePath | Path | str | MutableMapping[str, Any]
    """What can be given for a store: a store or a place in one, a path, a URL, a mapping or an FSMap."""
else:

    def __getattr__(name: str) -> Any:
        """Return ``StoreLike``, made when it is asked for: ``pathlib`` is not loaded for it before."""
        if name != "StoreLike":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pathlib import Path

        globals()[name] = Store | StorePath | Path | str | MutableMapping[str, Any]
        return globals()[name]

    zip_store = LazyModule("zarr.storage.zip.store")
    url_chains = LazyModule("zarr.storage.url_chains")
    reference_store = LazyModule("zarr.storage.references.store")
    tables = LazyModule("zarr.storage.references.tables")
    fsspec = LazyModule("zarr.storage.remote.fsspec")
    payloads = LazyModule("zarr.storage.payloads")
    memory = LazyModule("zarr.storage.memory.store")
    _url = LazyModule("zarr.storage.url")


_ZIP_MODES: Final[dict[str | None, str]] = {"r": "r", "r+": "a", "a": "a", "w": "w", "w-": "x", None: "a"}


def is_managed_store(store: object) -> TypeGuard[ManagedMemoryStore]:
    """Return whether a store is one of those in memory that have names."""
    return instance_of(store, "zarr.storage.memory.store", "ManagedMemoryStore")


def _refuse_options(storage_options: dict[str, Any] | None) -> None:
    if storage_options:
        raise TypeError(
            "'storage_options' was provided but unused. 'storage_options' is only used when the store is passed as an "
            "FSSpec URI string."
        )


def _is_zip(path: str) -> bool:
    """Return whether a path means a zip file; most mean a folder, and need no look into a file to tell."""
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            return False
    except (OSError, ValueError):
        if not path.lower().endswith(".zip"):
            return False
    return zip_store.looks_like_zip(path)


def _is_table(path: str) -> bool:
    """Return whether a path means a table of references; few do, and most tell by their name that they do not."""
    if path.lower().endswith(".json"):
        return os.path.isfile(path)
    return path.rstrip("/").endswith((".parq", ".parquet")) and tables.is_parquet(path)


def _from_table(path: str, storage_options: dict[str, Any] | None) -> Store:
    """Return a table of references; whether it is to be trusted is among the options."""
    options = dict(storage_options or {})
    allow = bool(options.pop("allow_outside", False))
    return reference_store.ReferenceStore.from_path(path, allow_outside=allow, storage_options=options)


def _from_local_path(path: str, mode: AccessModeLiteral | None) -> Store:
    """Return the store of a folder; or of a zip file, by its suffix, or by its first bytes where there is one."""
    check_local_path(path)
    if _is_zip(path):
        zip_mode = _ZIP_MODES[mode]
        if zip_mode == "x" and os.path.exists(path):
            zip_mode = "a"  # whoever opens the node looks whether there is something in it
        if zip_mode == "a" and not os.access(path if os.path.exists(path) else os.path.dirname(path) or ".", os.W_OK):
            zip_mode = "r"
        return zip_store.ZipStore(path, mode=zip_mode)  # type: ignore[arg-type]
    return LocalStore(path, read_only=mode == "r")


def _is_plain_folder(path: str, mode: AccessModeLiteral | None) -> bool:
    """Whether a string names a folder, and cannot mean anything else, as most do: it is there, or may be made."""
    if "|" in path or ":" in path or path.rstrip("/").endswith((".parq", ".parquet")):
        return False
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except FileNotFoundError:
        return mode == "a" and not path.lower().endswith(".zip")
    except (OSError, ValueError):
        return False


def _check_place(store: Store, mode: AccessModeLiteral | None, *, opened: bool) -> None:
    """Refuse to read from nothing, and to write below a file."""
    if isinstance(store, LocalStore):
        root = store._base[:-1] or "/"
        if mode == "r":
            if not os.path.exists(root):
                raise PlaceNotFoundError(f"{store.root} does not exist")
        elif os.path.isfile(root):
            raise FileExistsError(errno.EEXIST, "a file that is no zip file stands where a folder should be", root)
    elif mode == "r" and not opened and instance_of(store, "zarr.storage.zip.store", "ZipStore"):
        archive = cast("zip_store.ZipStore", store)
        try:
            archive._sync_open()
        except FileNotFoundError as error:
            raise PlaceNotFoundError(f"{archive.path} does not exist") from error


def _from_url(url: str, mode: AccessModeLiteral | None, storage_options: dict[str, Any] | None) -> Store:
    scheme = _url.parse_store_url(url).scheme if "::" not in url else "chain"
    if scheme != "memory" and _is_table(url.removeprefix("file:").removeprefix("//")):
        return _from_table(url, storage_options)
    if scheme not in {"memory", "chain", "file"} and _url.parse_store_url(url).path.lower().endswith(".json"):
        return _from_table(url, storage_options)
    if scheme in {"memory", "file"}:
        _refuse_options(storage_options)
    if scheme == "memory":
        # A store of that name, if one is in use; else fsspec's memory, which keeps what is in it as long as the process
        # lives; a store of that name where fsspec is not installed.
        name = _url.parse_store_url(url).name
        if memory.is_managed(name) or find_spec("fsspec") is None:
            parsed = _url.parse_store_url(url)
            return memory.ManagedMemoryStore(name, path=parsed.path, read_only=mode == "r")
    if scheme == "file":
        return _from_local_path(url.removeprefix("file:").removeprefix("//") or ".", mode)
    factory = get_store_factory(scheme)
    if factory is not None:
        with _url.naming_url(url):
            store: Store = factory(url, read_only=mode == "r", **(storage_options or {}))
        return store
    return fsspec.FsspecStore.from_url(url, storage_options=storage_options, read_only=mode == "r")


def _from_upath(upath: Any, mode: AccessModeLiteral | None) -> Store:
    """Return a path of universal_pathlib on the disk is a path; any other is one for fsspec."""
    if upath.protocol in {"", "file", "local"}:
        return _from_local_path(upath.path, mode)
    return fsspec.FsspecStore.from_upath(upath, read_only=mode == "r")


def resolve_store(
    store_like: StoreLike | None,
    *,
    mode: AccessModeLiteral | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Store:
    """Make a store of whatever names one, without touching what it stores.

    Parameters
    ----------
    store_like : StoreLike or None
        None is a new store in memory. A path, as a string or as a ``Path``, is looked at: what is there is a folder,
        a zip file, or a table of references (``.json``, or a folder ``.parq``). What is not there yet will be a zip
        file if its name ends in ``.zip``, else a folder. A string may also be a URL (``file://``, ``memory://``, else
        one for fsspec), or a pipeline of such and adapters (``file:///x.zip|zip:inner|zarr3:array``).
    mode : {"r", "r+", "a", "w", "w-"}, optional
    storage_options : dict, optional
        For fsspec URLs only.

    Returns
    -------
    Store

    Raises
    ------
    TypeError
        If ``store_like`` is of another type, or ``storage_options`` are given where they have no use.
    ValueError
        If the mode is none.
    StoreUrlError
        If a URL or a path is malformed, or names what cannot be opened so.

    Examples
    --------
    >>> resolve_store({})  # doctest: +ELLIPSIS
    MemoryStore('memory://...')
    """
    check_mode(mode)
    if isinstance(store_like, str) and "|" in store_like and _url.is_pipeline(store_like):
        store, path = url_chains.open_pipeline(store_like, mode, storage_options, resolve_store)
        if path:
            raise StoreUrlError(f"{store_like!r} names the place {path!r} in a store, where a store is asked for")
        return store
    if isinstance(store_like, str) and (_url.is_uri(store_like) or store_like.startswith("file:")):
        return _from_url(store_like, mode, storage_options)
    location: object = store_like
    if hasattr(store_like, "__fspath__") and instance_of(store_like, "pathlib", "Path") and not is_upath(store_like):
        location = os.fspath(cast("Path", store_like))
    if isinstance(location, str) and _is_table(location):
        return _from_table(location, storage_options)
    _refuse_options(storage_options)
    if is_fsmap(store_like):
        return fsspec.FsspecStore.from_mapper(store_like, read_only=mode == "r")
    if store_like is None:
        return memory.MemoryStore()
    if isinstance(store_like, StorePath):
        return store_like.store
    if isinstance(store_like, Store):
        return store_like
    if is_upath(store_like):
        return _from_upath(store_like, mode)
    if isinstance(location, str):
        return _from_local_path(location, mode)
    if isinstance(store_like, dict):
        return memory.MemoryStore(store_like)
    if isinstance(store_like, MutableMapping):
        return payloads.MappingStore(store_like)
    raise TypeError(f"Unsupported type for store_like: {type(store_like).__name__!r}")


def resolve_store_path(
    store_like: StoreLike | None,
    *,
    path: str | None = "",
    mode: AccessModeLiteral | None = None,
    storage_options: dict[str, Any] | None = None,
) -> StorePath:
    """Make a place in a store of whatever names one, without touching what is stored.

    The steps that open or create a node look for what is there; see ``zarr.steps.nodes.check_mode_steps``.

    Parameters
    ----------
    store_like : StoreLike or None
    path : str, optional
        Below the place that ``store_like`` names.
    mode : {"r", "r+", "a", "w", "w-"}, optional
    storage_options : dict, optional

    Returns
    -------
    StorePath

    Raises
    ------
    FileNotFoundError
        If the mode is ``"r"`` and there is no such folder or file.
    FileExistsError
        If the mode writes and there is a file where the folder would be.

    Examples
    --------
    >>> resolve_store_path({}, path="a/b").path
    'a/b'
    """
    below = normalize_path(path)
    if type(store_like) is str and _is_plain_folder(store_like, mode):
        _refuse_options(storage_options)
        return StorePath.with_mode(LocalStore(store_like, read_only=mode == "r"), below, mode)
    if isinstance(store_like, StorePath):
        _refuse_options(storage_options)
        if not below and mode is None:
            return store_like
        if mode not in (None, "r"):
            # Whose store may not be written to hears of it from the store, when something is written.
            check_mode(mode)
            return StorePath(store_like.store, join(store_like.path, below))
        return StorePath.with_mode(store_like.store, join(store_like.path, below), mode)
    if below and is_fsmap(store_like):
        raise ValueError("'path' was provided but is not used for FSMap store_like objects; put it into the mapper")
    if isinstance(store_like, str) and "|" in store_like and _url.is_pipeline(store_like):
        store, above = url_chains.open_pipeline(store_like, mode, storage_options, resolve_store)
        return StorePath.with_mode(store, join(above, below), mode)
    store = resolve_store(store_like, mode=mode, storage_options=storage_options)
    _check_place(store, mode, opened=store is store_like)
    if isinstance(store_like, str) and is_managed_store(store):
        # The path of the URL is the path of the node: the store itself begins at its root.
        below = join(store.path, below)
        store = memory.ManagedMemoryStore(store.name, read_only=store.read_only)
    return StorePath.with_mode(store, below, mode)


async def make_store(
    store_like: StoreLike | None,
    *,
    mode: AccessModeLiteral | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Store:
    """Make a store of whatever names one, and open it.

    Parameters, exceptions: see :func:`resolve_store`.

    Examples
    --------
    >>> import asyncio
    >>> asyncio.run(make_store({}))  # doctest: +ELLIPSIS
    MemoryStore('memory://...')
    """
    store = resolve_store(store_like, mode=mode, storage_options=storage_options)
    if not isinstance(store_like, StorePath):
        await store._ensure_open()
    return store


async def make_store_path(
    store_like: StoreLike | None,
    *,
    path: str | None = "",
    mode: AccessModeLiteral | None = None,
    storage_options: dict[str, Any] | None = None,
) -> StorePath:
    """Make a place in a store of whatever names one, open the store, and hold the mode against what is there.

    Parameters
    ----------
    store_like : StoreLike or None
    path : str, optional
        Below the place that ``store_like`` names.
    mode : {"r", "r+", "a", "w", "w-"}, optional
    storage_options : dict, optional
        For fsspec URLs only.

    Returns
    -------
    StorePath

    Raises
    ------
    TypeError
        If ``store_like`` is of another type, or ``storage_options`` are given where they have no use.
    ValueError
        If the mode is none, or writes while the store is read-only.
    FileExistsError
        If the mode is ``"w-"`` and there is something at the place.
    FileNotFoundError
        If the mode is ``"r"`` and there is no such folder or file.

    Examples
    --------
    >>> import asyncio
    >>> asyncio.run(make_store_path({}, path="a/b")).path
    'a/b'
    """
    place = resolve_store_path(store_like, path=path, mode=mode, storage_options=storage_options)
    if mode is None and place is store_like:
        return place
    return await StorePath.open(place.store, place.path, mode)
