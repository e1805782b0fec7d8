"""Make a store, and a place in it, of what a user gives: a path, a URL, a mapping."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import MutableMapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from zarr._lazy import LazyModule, instance_of, load
from zarr.abc.store import Store
from zarr.defaults import STORES
from zarr.errors import PlaceNotFoundError, StoreUrlError
from zarr.registry import get_store_factory, store_class
from zarr.storage.keys import check_local_path, is_fsmap, is_upath, join, normalize_path
from zarr.storage.local.store import LocalStore
from zarr.storage.path import StorePath, check_mode
from zarr.types import AccessModeLiteral

if TYPE_CHECKING:
    from zarr.storage import url as _url
    from zarr.storage.local import foreign as _foreign
    from zarr.storage.zip.store import ZipStore
    StoreLike: TypeAlias = Store | StorePath | Path | str | MutableMapping[str, Any]
    """The values that can be given for a store: a store or a place in one, a path, a URL, a mapping or an FSMap."""
else:
    def __getattr__(name: str) -> Any:
        """Return ``StoreLike``, made when it is asked for: ``pathlib`` is not loaded for it before."""
        if name != "StoreLike":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pathlib import Path

        globals()[name] = Store | StorePath | Path | str | MutableMapping[str, Any]
        return globals()[name]
    _url, _foreign = LazyModule("zarr.storage.url"), LazyModule("zarr.storage.local.foreign")


_ZIP_MODES: Final[dict[str | None, str]] = {"r": "r", "r+": "a", "a": "a", "w": "w", "w-": "x", None: "a"}
_SUFFIXES: Final = {suffix: name for name, (_, _, suffixes, _) in STORES.items() for suffix in suffixes.split()}
"""The stores of files by the ends of their names."""
_ENDS: Final = tuple(_SUFFIXES)


def _refuse_options(storage_options: dict[str, Any] | None) -> None:
    if storage_options:
        raise TypeError(
            "'storage_options' was provided but unused. 'storage_options' is only used when the store is passed as an "
            "FSSpec URI string."
        )


def _is_zip(path: str) -> bool:
    """Return True if a path means a zip file; most mean a folder, and need no look into a file to tell."""
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            return False
    except (OSError, ValueError):
        if not path.lower().endswith(".zip"):
            return False
    return bool(load(STORES["ZipStore"][0]).looks_like_zip(path))


def _of_suffix(place: str, path: str) -> Any:
    """Return the class of a file that is only read, by the end of its path or URL; None for all other places."""
    named = path.rstrip("/").lower()
    name = next((name for suffix, name in _SUFFIXES.items() if named.endswith(suffix)), "ZipStore")
    cls = store_class(name) if name != "ZipStore" else None  # which is known by its first bytes, too
    return cls if cls is not None and cls.is_at(place) else None


def _from_local_path(path: str, mode: AccessModeLiteral | None) -> Store:
    """Return the store of a folder; or of a zip file, by its suffix, or by its first bytes where there is one."""
    check_local_path(path)
    if not _is_zip(path):
        return LocalStore(path, read_only=mode == "r")
    zip_mode = _ZIP_MODES[mode]
    if zip_mode == "x" and os.path.exists(path):
        zip_mode = "a"  # whoever opens the node looks whether there is something in it
    if zip_mode == "a" and not os.access(path if os.path.exists(path) else os.path.dirname(path) or ".", os.W_OK):
        zip_mode = "r"
    archive: Store = store_class("ZipStore")(path, mode=zip_mode)
    return archive


def _is_plain_folder(path: str, mode: AccessModeLiteral | None) -> bool:
    """Return True if a string names a folder that is there, or may be made, and cannot mean anything else."""
    if "|" in path or ":" in path or path.rstrip("/").lower().endswith(_ENDS):
        return False
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except FileNotFoundError:
        return mode == "a"
    except (OSError, ValueError):
        return False


def _refuse_file(path: str, mode: AccessModeLiteral | None) -> None:
    """Refuse a file where a folder should be; whoever only reads and finds an unknown file hears it from the steps."""
    foreign = _foreign.name_foreign_file(path)
    if mode != "r":
        told = foreign or "a file that is no zip file stands where a folder should be"
        raise FileExistsError(errno.EEXIST, told, path)
    if foreign:
        raise PlaceNotFoundError(f"{path!r}: {foreign}")


def _check_place(store: Store, mode: AccessModeLiteral | None, *, opened: bool) -> None:
    """Refuse to read from nothing, and to write below a file."""
    if isinstance(store, LocalStore):
        root = store._base[:-1] or "/"
        try:
            is_file = stat.S_ISREG(os.stat(root).st_mode)
        except (OSError, ValueError) as error:
            if mode == "r":
                raise PlaceNotFoundError(f"{store.root} does not exist") from error
            return
        if is_file:
            _refuse_file(root, mode)
    elif mode == "r" and not opened and instance_of(store, "zarr.storage.zip.store", "ZipStore"):
        archive = cast("ZipStore", store)
        try:
            archive._sync_open()
        except FileNotFoundError as error:
            raise PlaceNotFoundError(f"{archive.path} does not exist") from error


def _from_url(url: str, mode: AccessModeLiteral | None, storage_options: dict[str, Any] | None) -> Store:
    parsed = _url.parse_store_url(url if "::" not in url else "chain:")
    scheme, read_only = parsed.scheme, mode == "r"
    place, path = url, parsed.path
    if scheme == "file":
        place = path = url.removeprefix("file:").removeprefix("//")
    table = _of_suffix(place, path) if scheme != "memory" else None
    if table is not None:
        return table.from_path(url, storage_options=storage_options)  # type: ignore[no-any-return]
    if scheme in {"memory", "file"}:
        _refuse_options(storage_options)
    if scheme == "memory":
        # A store of that name, if one is in use; else fsspec's memory, which keeps what is in it as long as the process
        # lives; a store of that name where fsspec is not installed.
        if load(STORES["ManagedMemoryStore"][0]).is_managed(parsed.name) or find_spec("fsspec") is None:
            named: Store = store_class("ManagedMemoryStore")(parsed.name, path=parsed.path, read_only=read_only)
            return named
    if scheme == "file":
        return _from_local_path(path or ".", mode)
    factory = get_store_factory(scheme)
    if factory is not None:
        with _url.naming_url(url):
            store: Store = factory(url, read_only=read_only, **(storage_options or {}))
        return store
    remote: Store = store_class("FsspecStore").from_url(url, storage_options=storage_options, read_only=read_only)
    return remote


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
        store, path = _url.open_pipeline(store_like, mode, storage_options, resolve_store)
        if path:
            raise StoreUrlError(f"{store_like!r} names the place {path!r} in a store, where a store is asked for")
        return store
    if isinstance(store_like, str) and (_url.is_uri(store_like) or store_like.startswith("file:")):
        return _from_url(store_like, mode, storage_options)
    location: object = store_like
    if hasattr(store_like, "__fspath__") and instance_of(store_like, "pathlib", "Path") and not is_upath(store_like):
        location = os.fspath(cast("Path", store_like))
    if isinstance(location, str) and (table := _of_suffix(location, location)) is not None:
        return table.from_path(location, storage_options=storage_options)  # type: ignore[no-any-return]
    _refuse_options(storage_options)
    if store_like is None or isinstance(store_like, dict):
        return store_class("MemoryStore")(store_like)  # type: ignore[no-any-return]
    if is_fsmap(store_like):
        return store_class("FsspecStore").from_mapper(store_like, read_only=mode == "r")  # type: ignore[no-any-return]
    if isinstance(store_like, StorePath):
        return store_like.store
    if isinstance(store_like, Store):
        return store_like
    if is_upath(store_like):
        upath: Any = store_like
        if upath.protocol not in {"", "file", "local"}:
            return store_class("FsspecStore").from_upath(upath, read_only=mode == "r")  # type: ignore[no-any-return]
        location = upath.path
    if isinstance(location, str):
        return _from_local_path(location, mode)
    if isinstance(store_like, MutableMapping):
        return store_class("MappingStore")(store_like)  # type: ignore[no-any-return]
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
    if isinstance(store_like, Store):
        _refuse_options(storage_options)
        _check_place(store_like, mode, opened=True)
        return StorePath.with_mode(store_like, below, mode)
    if below and is_fsmap(store_like):
        raise ValueError("'path' was provided but is not used for FSMap store_like objects; put it into the mapper")
    if isinstance(store_like, str) and "|" in store_like and _url.is_pipeline(store_like):
        store, above = _url.open_pipeline(store_like, mode, storage_options, resolve_store)
        return StorePath.with_mode(store, join(above, below), mode)
    store = resolve_store(store_like, mode=mode, storage_options=storage_options)
    _check_place(store, mode, opened=False)
    if isinstance(store_like, str) and store_like.startswith("memory:"):
        store, above = _url.from_root(store)
        below = join(above, below)
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
