"""Make a store, and a place in it, from what a user gives: a path, a URL, a mapping."""

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
from zarr.errors import PlaceNotFoundError, StoreUrlError, like_names
from zarr.registry import get_store_factory, store_class
from zarr.storage.foreign_files import name_foreign_file
from zarr.storage.keys import check_local_path, is_fsmap, is_upath, join, normalize_path
from zarr.storage.local.store import LocalStore
from zarr.storage.path import StorePath, check_mode
from zarr.types import AccessModeLiteral

if TYPE_CHECKING:
    from zarr.storage import url as _url
    from zarr.storage.zip import container as _zip
else:
    _url = LazyModule("zarr.storage.url")
    _zip = LazyModule("zarr.storage.zip.container")

StoreLike: TypeAlias = Store | StorePath | Path | str | MutableMapping[str, Any]
"""The values that can be given for a store: a store or a place in one, a path, a URL, a mapping or an FSMap."""

_ZIP_MODES: Final[dict[str | None, str]] = {"r": "r", "r+": "a", "a": "a", "w": "w", "w-": "x", None: "a"}
_SUFFIXES: Final = {suffix: name for name, (_, _, suffixes, _) in STORES.items() for suffix in suffixes.split()}
"""The stores of files, by the suffixes of file names."""
_ENDS: Final = tuple(_SUFFIXES)


def _refuse_options(storage_options: dict[str, Any] | None) -> None:
    if storage_options:
        raise TypeError(
            "'storage_options' was provided but unused. 'storage_options' is only used when the store is passed as an "
            "FSSpec URI string."
        )


def looks_like_zip(path: str) -> bool:
    """Return True if a path means a zip file: by the first bytes of an existing file, by the suffix of a new one.

    Most paths mean a folder, and no file is read for them.

    Parameters
    ----------
    path : str

    Returns
    -------
    bool

    Examples
    --------
    >>> looks_like_zip("not/there.zip"), looks_like_zip("not/there.zarr")
    (True, False)
    """
    is_named = path.lower().endswith(".zip")
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            start = file.read(4)
    except OSError:
        return is_named and not os.path.exists(path)
    return start in (_zip.LOCAL_SIGNATURE, _zip.END_SIGNATURE) or (is_named and not start)


def _of_suffix(place: str, path: str) -> Any:
    """Return the class of a read-only file store, by the suffix of a path or URL; None for all other places."""
    named = path.rstrip("/").lower()
    name = next((name for suffix, name in _SUFFIXES.items() if named.endswith(suffix)), "ZipStore")
    cls = store_class(name) if name != "ZipStore" else None  # which is recognised by its first bytes, too
    return cls if cls is not None and cls.is_at(place) else None


def _from_local_path(path: str, mode: AccessModeLiteral | None) -> Store:
    """Return the store of a folder; or of a zip file, by its suffix, or by the first bytes of an existing file."""
    check_local_path(path)
    if not looks_like_zip(path):
        return LocalStore(path, read_only=mode == "r")
    zip_mode = _ZIP_MODES[mode]
    if zip_mode == "x" and os.path.exists(path):
        zip_mode = "a"  # the step that opens the node checks if the file has contents
    if zip_mode == "a" and not os.access(path if os.path.exists(path) else os.path.dirname(path) or ".", os.W_OK):
        zip_mode = "r"
    archive: Store = store_class("ZipStore")(path, mode=zip_mode)
    return archive


def _is_plain_folder(path: str, mode: AccessModeLiteral | None) -> bool:
    """Return True if a string is the path of a folder, existing or new, and cannot have another meaning."""
    if "|" in path or ":" in path or path.rstrip("/").lower().endswith(_ENDS):
        return False
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except FileNotFoundError:
        return mode == "a"
    except (OSError, ValueError):
        return False


def _refuse_file(path: str, mode: AccessModeLiteral | None) -> None:
    """Refuse a file where a folder should be."""
    foreign = name_foreign_file(path)
    if mode != "r":
        message = foreign or "a file that is no zip file stands where a folder should be"
        raise FileExistsError(errno.EEXIST, message, path)
    message = foreign or "this is a file of an unknown format; a store is a folder, a zip file or a database"
    raise PlaceNotFoundError(f"{path!r}: {message}")


def _missing(path: str) -> PlaceNotFoundError:
    """Return the error for a missing path; it names similar ones beside it, or where a link leads."""
    place = path.rstrip("/")
    if os.path.islink(place):
        return PlaceNotFoundError(f"{path} is a link to {os.readlink(place)!r}, which does not exist")
    above, name = os.path.split(place)
    try:
        found = {os.path.splitext(each)[0]: each for each in sorted(os.listdir(above or "."))}
    except OSError:
        found = {}
    like = like_names(os.path.splitext(name)[0], found, lambda stem: os.path.join(above, found[stem]))
    return PlaceNotFoundError(f"{path} does not exist{like}")


def _check_place(store: Store, mode: AccessModeLiteral | None, *, opened: bool) -> None:
    """Refuse to read from a missing place, and to write below a file."""
    if isinstance(store, LocalStore):
        root = store._base[:-1] or "/"
        try:
            is_file = stat.S_ISREG(os.stat(root).st_mode)
        except PermissionError:  # of a folder above: nobody knows if there is something
            if mode == "r":
                raise
            return
        except (OSError, ValueError) as error:
            if mode == "r":
                raise _missing(str(store.root)) from error
            return
        if is_file:
            _refuse_file(root, mode)
    elif mode == "r" and not opened and instance_of(store, "zarr.storage.zip.store", "ZipStore"):
        archive: Any = store
        try:
            archive._sync_open()
        except FileNotFoundError as error:
            raise _missing(str(archive.path)) from error
        if str(archive.path).endswith(".npz") and name_foreign_file(str(archive.path)):
            _refuse_file(str(archive.path), mode)


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
        # A store of that name, if one is in use; else fsspec's memory, which keeps its contents as long as the process
        # lives; a store of that name if fsspec is not installed.
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
    """Make a store from what a user gives, without changing its contents.

    Parameters
    ----------
    store_like : StoreLike or None
        None is a new store in memory. For a path, as a string or as a ``Path``, an existing folder, zip file, or table
        of references (``.json``, or a folder ``.parq``) is opened. A new path becomes a zip file if its name ends in
        ``.zip``, else a folder. A string may also be a URL (``file://``, ``memory://``, else one of fsspec), or a URL
        pipeline (``file:///x.zip|zip:inner|zarr3:array``).
    mode : {"r", "r+", "a", "w", "w-"}, optional
    storage_options : dict, optional
        Options for URLs of fsspec only.

    Raises
    ------
    TypeError
        If ``store_like`` has another type, or ``storage_options`` are given without a use.
    ValueError
        If the mode is unknown.
    StoreUrlError
        If a URL or a path is malformed, or cannot be opened as a store.

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
    if isinstance(store_like, Path) and not is_upath(store_like):
        location = os.fspath(store_like)
    if isinstance(location, str) and (table := _of_suffix(location, location)) is not None:
        return table.from_path(location, storage_options=storage_options)  # type: ignore[no-any-return]
    _refuse_options(storage_options)
    if store_like is None or isinstance(store_like, dict):
        return store_class("MemoryStore")(store_like, read_only=mode == "r")  # type: ignore[no-any-return]
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
    if hasattr(store_like, "__fspath__"):
        return _from_local_path(os.fspath(cast("Path", store_like)), mode)
    if isinstance(store_like, MutableMapping) or _is_like_mapping(store_like):
        return store_class("MappingStore")(store_like)  # type: ignore[no-any-return]
    raise TypeError(f"Unsupported type for store_like: {type(store_like).__name__!r}")


def _is_like_mapping(value: object) -> bool:
    """Return True if a value of any class has the methods that zarr-python 2 needed; tables have these methods, too."""
    needed = ("keys", "__getitem__", "__setitem__", "__delitem__")
    return all(hasattr(value, name) for name in needed) and not hasattr(value, "shape")


def resolve_store_path(
    store_like: StoreLike | None,
    *,
    path: str | None = "",
    mode: AccessModeLiteral | None = None,
    storage_options: dict[str, Any] | None = None,
    chunk_store: StoreLike | None = None,
) -> StorePath:
    """Return a place in a store from what a user gives, without changing its contents.

    The steps that open or create a node check the contents; see ``zarr.steps.nodes.check_mode_steps``.

    Parameters
    ----------
    store_like : StoreLike or None
    path : str, optional
        Path below the place that ``store_like`` names.
    mode : {"r", "r+", "a", "w", "w-"}, optional
    storage_options : dict, optional
    chunk_store : StoreLike, optional
        Another store, for all values but metadata documents.

    Raises
    ------
    FileNotFoundError
        If the mode is ``"r"`` and there is no such folder or file.
    FileExistsError
        If the mode writes and there is a file in place of the folder.
    ValueError
        If ``chunk_store`` is a place in a store.

    Examples
    --------
    >>> resolve_store_path({}, path="a/b").path
    'a/b'
    """
    if chunk_store is not None and chunk_store is not store_like:
        return _split_place(store_like, chunk_store, path, mode, storage_options)
    below = normalize_path(path)
    if type(store_like) is str and _is_plain_folder(store_like, mode):
        _refuse_options(storage_options)
        return StorePath.with_mode(LocalStore(store_like, read_only=mode == "r"), below, mode)
    if isinstance(store_like, StorePath):
        _refuse_options(storage_options)
        if not below and mode is None:
            return store_like
        if mode not in (None, "r"):
            # A read-only store of the user raises its own error when something is written.
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


def mode_over(mode: AccessModeLiteral, *stores: object) -> AccessModeLiteral:
    """Return a default mode, or "r" if one of the stores is a read-only store of zarr-python 2.

    In zarr-python 2 the mode of the store counts where a call gives none. Stores of zarr-python 3 raise an error.

    Examples
    --------
    >>> import zarr
    >>> store = zarr.MemoryStore()
    >>> mode_over("a", store, None), mode_over("a", store.with_read_only(True), None)
    ('a', 'r')
    """
    for store in stores:
        if getattr(store, "read_only", False) and instance_of(store, "zarr.storage.version2.stores", "Format2Store"):
            return "r"
    return mode


def resolve_opened(store: StoreLike, path: str | None, read_only: bool, chunk_store: StoreLike | None) -> StorePath:
    """Return the place of a node that ``Array(store)`` or ``Group(store)`` of zarr-python 2 opens."""
    mode = "r" if read_only else mode_over("r+", store, chunk_store)
    return resolve_store_path(store, path=path, mode=mode, chunk_store=chunk_store)


def _split_place(
    store_like: StoreLike | None,
    chunk_store: StoreLike,
    path: str | None,
    mode: AccessModeLiteral | None,
    storage_options: dict[str, Any] | None,
) -> StorePath:
    """Return a place in two stores: one of documents, and one of all other values."""
    if isinstance(chunk_store, StorePath) and chunk_store.path:
        raise ValueError(f"chunk_store={chunk_store} is a place in a store, where a store is asked for")
    of_chunks = storage_options if isinstance(chunk_store, str) and _url.is_uri(chunk_store) else None
    only_chunks = of_chunks is not None and not (isinstance(store_like, str) and _url.is_uri(store_like))
    of_documents = None if only_chunks else storage_options
    place = resolve_store_path(store_like, path=path, mode=mode, storage_options=of_documents)
    chunks = StorePath.with_mode(resolve_store(chunk_store, mode=mode, storage_options=of_chunks), "", mode).store
    return StorePath(load("zarr.storage.wrappers.split").SplitStore(place.store, chunks), place.path)


async def make_store(
    store_like: StoreLike | None,
    *,
    mode: AccessModeLiteral | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Store:
    """Make a store from what a user gives, and open it.

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
    """Return a place in a store from what a user gives, open the store, and check the mode against its contents.

    Parameters
    ----------
    store_like : StoreLike or None
    path : str, optional
        Path below the place that ``store_like`` names.
    mode : {"r", "r+", "a", "w", "w-"}, optional
    storage_options : dict, optional
        Options for URLs of fsspec only.

    Raises
    ------
    TypeError
        If ``store_like`` has another type, or ``storage_options`` are given without a use.
    ValueError
        If the mode is unknown, or writes while the store is read-only.
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
