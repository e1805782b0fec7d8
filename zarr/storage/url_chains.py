"""URL pipelines of ZEP 8: ``file:///x.zip|zip:inner|zarr3:array``, each part in what the one before opens."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from zarr.errors import StoreUrlError
from zarr.storage.keys import check_local_path, join, normalize_path
from zarr.storage.layouts.n5 import N5Store
from zarr.storage.memory.store import ManagedMemoryStore, is_managed
from zarr.storage.url import FORMATS, Part, naming_url, parse_pipeline, parse_store_url
from zarr.storage.zip.store import ZipStore

if TYPE_CHECKING:
    from zarr.abc.store import Store
    from zarr.types import AccessModeLiteral

_ZIP_MODES: Final[dict[str | None, Any]] = {None: "r", "r": "r", "r+": "a", "a": "a", "w": "w", "w-": "x"}


@dataclass
class _Place:
    """Where a pipeline has come: a URL that nothing was opened of yet, or a store and a path in it."""

    url: str
    store: Store | None = None
    path: str = ""


def open_pipeline(
    url: str,
    mode: AccessModeLiteral | None,
    storage_options: dict[str, Any] | None,
    resolve: Callable[..., Store],
) -> tuple[Store, str]:
    """Open what a pipeline names.

    Parameters
    ----------
    url : str
    mode : {"r", "r+", "a", "w", "w-"}, optional
    storage_options : dict, optional
        For the URL at the beginning.
    resolve : callable
        Makes a store of a URL.

    Returns
    -------
    (Store, str)
        The store, and the path in it.

    Raises
    ------
    StoreUrlError
        If the URL is malformed.
    FileNotFoundError
        If an archive is not there.
    """
    base, parts = parse_pipeline(url)
    place = _Place(base)
    for part in parts:
        try:
            with naming_url(url):
                _STEPS[part.adapter](place, part, mode, storage_options, resolve)
        except (ValueError, FileNotFoundError) as error:
            error.add_note(f"while opening {part.adapter!r}, at position {part.position} of the URL {url!r}")
            raise
    assert place.store is not None
    return place.store, place.path


def _store_of(place: _Place, mode: Any, options: Any, resolve: Callable[..., Store]) -> Store:
    if place.store is None:
        url = place.url
        local = _local_path(url)
        if local is not None:
            place.store = resolve(local, mode=mode)
        else:
            place.store = resolve(url, mode=mode, storage_options=options)
            if isinstance(place.store, ManagedMemoryStore):
                # Its path is that of the node: the store itself begins at its root.
                place.path = place.store.path
                place.store = ManagedMemoryStore(place.store.name, read_only=place.store.read_only)
    return place.store


def _local_path(url: str) -> str | None:
    """Return the path of a file on this computer, percent-encoding undone where it is a URL; None for other URLs."""
    if url.startswith("file:"):
        return unquote(url.removeprefix("file:").removeprefix("//")) or "."
    return None if "://" in url or "::" in url else url


def _open_zarr(place: _Place, part: Part, mode: Any, options: Any, resolve: Callable[..., Store]) -> None:
    _store_of(place, mode, options, resolve)
    place.path = join(place.path, normalize_path(part.path))


def _open_n5(place: _Place, part: Part, mode: Any, options: Any, resolve: Callable[..., Store]) -> None:
    store = _store_of(place, mode, options, resolve)
    place.store, place.path = N5Store(store, place.path), normalize_path(part.path)


def _open_zip(place: _Place, part: Part, mode: Any, options: Any, resolve: Callable[..., Store]) -> None:
    local = _local_path(place.url)
    if place.store is None and local is not None:
        check_local_path(local)
        if mode in (None, "r", "r+") and not os.path.isfile(local):
            raise FileNotFoundError(f"there is no zip file {local!r}")
        if os.path.isdir(local):
            raise StoreUrlError(f"{local!r} is a folder, not a zip file; name it without 'zip:'")
        place.store = ZipStore(local, mode=_ZIP_MODES[mode])
    else:
        place.store = ZipStore(_archive(place, options))
    place.path = normalize_path(part.path)


def _archive(place: _Place, options: Any) -> Any:
    """Return a file to read an archive from, that lies in a store or at a URL."""
    store, path = place.store, place.path
    if store is None and place.url.startswith("memory:") and is_managed(parse_store_url(place.url).name):
        parsed = parse_store_url(place.url)
        store, path = ManagedMemoryStore(parsed.name), parsed.path
    if store is None:
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise ModuleNotFoundError(
                f"fsspec is needed to open {place.url!r}, and is not installed: pip install 'zarr[remote]'",
                name="fsspec",
            ) from error
        fs, path = url_to_fs(place.url, **(options or {}))
        return fs.open(path, "rb")
    get = getattr(store, "get_sync", None)
    if get is None:
        raise StoreUrlError(f"an archive in {store} cannot be opened: the store has coroutines only")
    value = get(path)
    if value is None:
        raise FileNotFoundError(f"there is no archive {path!r} in {store}")
    return io.BytesIO(value.to_bytes())


def _open_icechunk(place: _Place, part: Part, mode: Any, options: Any, resolve: Callable[..., Store]) -> None:
    try:
        import icechunk
    except ImportError as error:
        raise ModuleNotFoundError(
            "icechunk is needed for 'icechunk:', and is not installed: pip install icechunk", name="icechunk"
        ) from error
    if place.store is not None:
        raise StoreUrlError("'icechunk:' opens a folder or a bucket, not what is in an archive")
    local = _local_path(place.url)
    parsed = parse_store_url(place.url)
    if local is not None:
        storage = icechunk.local_filesystem_storage(os.path.abspath(local))
    elif parsed.scheme == "s3":
        storage = icechunk.s3_storage(bucket=parsed.name, prefix=parsed.path, from_env=True, **(options or {}))
    else:
        raise StoreUrlError(f"'icechunk:' is known of folders and of s3://, not of {parsed.scheme}://")
    version, _, path = part.path.partition("/") if part.path.startswith("@") else ("", "", part.path)
    session = icechunk.Repository.open(storage).readonly_session(**_version(version.removeprefix("@")))
    place.store, place.path = session.store, normalize_path(path)


def _version(text: str) -> dict[str, str]:
    """Which version of a repository: ``branch.<name>``, ``tag.<name>`` or a snapshot; by default the branch main."""
    kind, _, name = text.partition(".")
    if kind in ("branch", "tag") and name:
        return {kind: name}
    return {"snapshot_id": text} if text else {"branch": "main"}


_STEPS: Final[dict[str, Callable[..., None]]] = {
    "zip": _open_zip,
    "n5": _open_n5,
    "icechunk": _open_icechunk,
    **dict.fromkeys(FORMATS, _open_zarr),
}
