"""Carrying out changes one by one, over stores that have no transactions of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from zarr.abc.store import takes_contents_first
from zarr.abc.stores.changes import Changes, TakenError
from zarr.storage.keys import METADATA_NAMES
from zarr.storage.wrappers.overlay import check_expected, digest_of

if TYPE_CHECKING:
    from zarr.abc.store import SyncStore
    from zarr.buffer.core import Buffer


def is_document(key: str) -> bool:
    """Whether a key is that of a document of a node.

    Examples
    --------
    >>> is_document("a/zarr.json"), is_document("a/c/0")
    (True, False)
    """
    return key.rpartition("/")[2] in METADATA_NAMES


def apply_in_order(store: SyncStore, changes: Changes) -> None:
    """Carry out changes in an order in which no reader meets a chunk of a shape that the document does not have.

    What is replaced goes first, its document before all else; then chunks, then documents, parents first; at the end
    what was deleted. A crash on the way leaves some of it done. Stores that do not take contents first get deletions of
    chunks before the documents, and chunks behind them.

    Parameters
    ----------
    store : SyncStore
    changes : Changes

    Raises
    ------
    TakenError
        If a key does not hold what it was expected to hold. Where the store can compare and swap, that is seen for
        each document as it is written, too.
    """

    def read(key: str) -> object:
        value = store.get_sync(key)
        return None if value is None else value.as_numpy_array()

    check_expected(changes, read)
    for folder in changes.removed:
        for name in sorted(METADATA_NAMES):
            store.delete_sync(f"{folder}/{name}" if folder else name)
        store.delete_dir_sync(folder)
    put = {key: value for key, value in changes.values.items() if value is not None}
    gone = sorted((key for key in changes.values if key not in put), key=is_document, reverse=True)
    early = takes_contents_first(store)
    if early:
        _put_chunks(store, put)
    else:
        _delete(store, (key for key in gone if not is_document(key)))
    for key in sorted(filter(is_document, put), key=lambda key: (key.count("/"), key)):
        _put_document(store, key, put[key], changes)
    if not early:
        _put_chunks(store, put)
    _delete(store, (key for key in gone if early or is_document(key)))


def _put_chunks(store: SyncStore, values: Mapping[str, Buffer]) -> None:
    for key, value in values.items():
        if not is_document(key):
            store.set_sync(key, value)


def _delete(store: SyncStore, keys: Iterable[str]) -> None:
    for key in keys:
        store.delete_sync(key)


def _put_document(store: SyncStore, key: str, value: Buffer, changes: Changes) -> None:
    if not store.supports_set_if_match or key not in changes.digests:
        store.set_sync(key, value)
        return
    found = store.get_sync(key)
    removed = any(not folder or key.startswith(f"{folder}/") for folder in changes.removed)
    expected = None if removed else changes.digests[key]
    same = digest_of(None if found is None else found.as_numpy_array()) == expected
    if not same or not store.set_if_match_sync(key, value, found):
        raise TakenError(key)
