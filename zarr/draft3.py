"""Hierarchies in the layout of the format 3 drafts of 2019 and 2020: create, open, migrate.

``zarr.open`` reads such hierarchies without this module. Nothing writes them by default. May import everything below
the command line; read first: ``zarr/storage/layouts/draft3.py``.
"""

from __future__ import annotations

import logging

from zarr.abc.stores.changes import in_node_order
from zarr.api.opening import open_group
from zarr.buffer.core import default_buffer_prototype
from zarr.errors import ContainsGroupError, GroupNotFoundError
from zarr.groups.group import Group
from zarr.runners.choose import runner_for
from zarr.steps.layouts import layout_of, parsed_or_none
from zarr.steps.requests import DeletePrefix, Get, Hold, List, Put, Steps, ask_steps
from zarr.storage.keys import join
from zarr.storage.layouts.base import to_bytes
from zarr.storage.layouts.draft3 import Draft3Layout, Draft3Store, bootstrap_document, is_bootstrap
from zarr.storage.path import StorePath
from zarr.storage.resolve import StoreLike, resolve_store_path

__all__ = ["Draft3Layout", "Draft3Store", "create", "is_draft3", "migrate", "open_store"]

_logger = logging.getLogger(__name__)


def create(store: StoreLike, *, path: str = "", metadata_key_suffix: str = "", overwrite: bool = False) -> Group:
    """Create a hierarchy in the layout of the draft of 2019, or of the draft of 2020.

    Parameters
    ----------
    store : StoreLike
    path : str
        The path of the hierarchy in the store.
    metadata_key_suffix : str
        If given (usually ``".json"``), the layout is that of 2020: ``meta/root/a.array.json``, ``data/root/a/c0/0``.
    overwrite : bool
        If True, first delete what is stored at the path.

    Returns
    -------
    Group
        The root. All that is created in it is stored in that layout: arrays with a regular grid, one compressor, the
        memory layouts C and F, numbers, booleans and times. Anything else raises an error.

    Raises
    ------
    ContainsGroupError
        If there is a hierarchy already, and ``overwrite`` is false.

    Examples
    --------
    >>> store = {}
    >>> root = create(store)
    >>> array = root.create_array("foo/bar", shape=4, chunks=2, dtype="<f8", compressors=None)
    >>> array[:2] = 1
    >>> [key for key in sorted(store) if "bar" in key]
    ['data/foo/bar/0', 'meta/root/foo/bar.array']
    """
    place = resolve_store_path(store, path=path, mode="a")
    layout = Draft3Layout(metadata_key_suffix, rooted=bool(metadata_key_suffix))
    runner_for(place.store).run(_begin_steps(place, metadata_key_suffix, overwrite))
    return open_group(Draft3Store(place.store, place.path, layout, read_only=False), mode="r+")


def _begin_steps(place: StorePath, suffix: str, overwrite: bool) -> Steps[None]:
    key = join(place.path, "zarr.json")
    if overwrite:
        yield Hold((key,), "node", below=(place.path,))
        yield DeletePrefix(place.path)
    elif (yield Get(key)) is not None:
        raise ContainsGroupError(place.store, place.path)
    yield Put(key, default_buffer_prototype().buffer.from_bytes(to_bytes(bootstrap_document(suffix))))


def is_draft3(store: StoreLike, *, path: str = "") -> bool:
    """Return True if a hierarchy of a draft of format 3 is stored there.

    Examples
    --------
    >>> is_draft3({})
    False
    """
    place = resolve_store_path(store, path=path)
    raw = runner_for(place.store).run(ask_steps(Get(join(place.path, "zarr.json"))))
    return raw is not None and is_bootstrap(parsed_or_none(raw))


def open_store(store: StoreLike, *, path: str = "") -> Draft3Store:
    """Open a hierarchy of a draft of format 3 for reading, as a store that presents it as format 3.

    Parameters
    ----------
    store : StoreLike
    path : str
        The path of the hierarchy in the store.

    Raises
    ------
    GroupNotFoundError
        If there is no such hierarchy.

    Examples
    --------
    >>> data = {}
    >>> _ = create(data).create_array("a", data=[1, 2], compressors=None)
    >>> sorted(open_store(data).list_sync())
    ['a/c/0', 'a/zarr.json', 'zarr.json']
    """
    place = resolve_store_path(store, path=path)
    key = join(place.path, "zarr.json")
    opened = layout_of([(key, runner_for(place.store).run(ask_steps(Get(key))))], place)
    if not isinstance(opened, Draft3Store):
        raise GroupNotFoundError(place.store, place.path)
    return opened


def migrate(
    source: StoreLike,
    target: StoreLike | None = None,
    *,
    path: str = "",
    remove_draft: bool = False,
    dry_run: bool = False,
) -> list[str]:
    """Migrate a hierarchy of a draft to format 3: rewrite the metadata documents, copy the chunks byte by byte.

    Parameters
    ----------
    source : StoreLike
    target : StoreLike, optional
        The store of the hierarchy of format 3; by default the same one, beside the folders ``meta`` and ``data``.
    path : str
        The path of the hierarchy in the source, and in the same store; in another target it begins at the root.
    remove_draft : bool
        If True, delete the folders ``meta`` and ``data`` at the end; only without another target.
    dry_run : bool
        If True, only log what would be written.

    Returns
    -------
    list of str
        The keys that were written, or would be.

    Raises
    ------
    GroupNotFoundError
        If there is no such hierarchy.
    ContainsGroupError
        If there is something at the root of the target.
    ValueError
        If the path of a node would lie in one of the draft's own folders, and the target is the same store; or if
        ``remove_draft`` is True with another target.

    Examples
    --------
    >>> import zarr
    >>> old, new = {}, {}
    >>> _ = create(old).create_array("a", data=[1, 2], compressors=None)
    >>> migrate(old, new)
    ['a/c/0', 'a/zarr.json', 'zarr.json']
    >>> zarr.open_array(new, path="a")[:]
    array([1, 2])
    """
    if remove_draft and target is not None:
        raise ValueError("remove_draft is for a migration within one store; the source is left as it is otherwise")
    shown = open_store(source, path=path)
    place = resolve_store_path(shown._store if target is None else target, path=shown.path if target is None else "")
    reader, writer = runner_for(shown), runner_for(place.store)
    keys = in_node_order(place.store, reader.run(ask_steps(List(""))))
    if target is None:
        _check_names(keys, shown)
    elif writer.run(ask_steps(Get("zarr.json"))) is not None:
        raise ContainsGroupError(place.store, place.path)
    for key in keys:
        _logger.info("Writing %s to %s", key, place)
        if not dry_run:
            value = reader.run(ask_steps(Get(key)))
            if value is not None:
                writer.run(ask_steps(Put(join(place.path, key), value)))
    if remove_draft and not dry_run:
        for name in ("meta", "data"):
            writer.run(ask_steps(DeletePrefix(join(place.path, name))))
    return keys


def _check_names(keys: list[str], shown: Draft3Store) -> None:
    taken = [key for key in keys if key.partition("/")[0] in ("meta", "data")]
    if taken:
        raise ValueError(f"{taken[0]!r} would lie in a folder of the draft in {shown}: migrate into another store")
