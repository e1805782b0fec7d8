"""Transactions: a store that keeps changes to itself until all of them are stored in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from zarr._lazy import LazyModule
from zarr.abc.store import SyncStore, is_synchronous
from zarr.abc.stores.changes import Changes, TakenError, stages
from zarr.api.synchronous import open_group
from zarr.errors import TransactionConflictError
from zarr.runners.locks.operation import Holder, lock_prefix
from zarr.steps.consolidated import note_change, touch
from zarr.steps.requests import LockScope
from zarr.storage.resolve import resolve_store
from zarr.storage.wrappers.overlay import OverlayStore
from zarr.transactions.applying import apply_in_order, is_document
from zarr.transactions.blocking import BlockingView
from zarr.transactions.locking import lock_files

if TYPE_CHECKING:
    import asyncio
    from types import TracebackType

    from zarr.abc.store import Store
    from zarr.groups.group import Group
    from zarr.storage import StoreLike
    from zarr.storage.zip import store as zip_store
else:
    asyncio = LazyModule("asyncio")
    zip_store = LazyModule("zarr.storage.zip.store")


class Transaction(OverlayStore):
    """A store as it will be: groups and arrays that are opened on it show the changes, all others do not yet.

    Made by :func:`zarr.transaction`. At the end of the ``with`` block all changes are stored; after an exception none.

    Parameters
    ----------
    store : Store
        Where the changes go.
    """

    def __init__(self, store: Store) -> None:
        base = store if isinstance(store, SyncStore) and is_synchronous(store) else BlockingView(store)
        self._target = store
        super().__init__(base, f"transaction:{id(self)}", watch=True, read_only=store.read_only)
        self._scopes: dict[str, LockScope] = {}
        """Of which nodes other processes are to be kept out, as the arrays and groups ask that were changed."""

    def note_locking(self, path: str, folder: str | None) -> None:
        """Keep other processes from a node when the changes are stored."""
        self._scopes[path] = LockScope(path, folder)

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return a view of the same changes that may, or may not, be written to."""
        other = type(self)(self._target)
        other._lock, other._values, other._removed, other._seen = self._lock, self._values, self._removed, self._seen
        other._lock_prefix, other._read_only, other._scopes = self._lock_prefix, read_only, self._scopes
        return other

    def __str__(self) -> str:
        return f"transaction {id(self._values):x} on {self._target}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._target!r}, changes={len(self._values)})"

    def group(self, path: str = "", **options: Any) -> Group:
        """The group at a path, as it will be; it is made where there is none.

        Parameters
        ----------
        path : str
        **options
            As for :func:`zarr.open_group`.

        Examples
        --------
        >>> import zarr
        >>> store = zarr.storage.MemoryStore()
        >>> with zarr.transaction(store) as tx:
        ...     _ = tx.group("a").create_array("x", shape=(2,), dtype="i4")
        >>> zarr.open_group(store, path="a", mode="r")["x"].shape
        (2,)
        """
        return open_group(self, path=path, **{"mode": "a", **options})

    def commit(self) -> None:
        """Store all changes now; the transaction is over then.

        Raises
        ------
        TransactionConflictError
            If a document that was read, or a value that was read and then written, was changed by somebody else in
            the meantime. Nothing was stored; begin anew.
        """
        self._check_writable()
        changes = self.changes()
        if changes.values or changes.removed:
            try:
                self._store_held(changes)
            except TakenError as error:
                raise TransactionConflictError(
                    f"{self._target}: key {error.key!r} was changed by somebody else since the transaction read it; "
                    "nothing was stored: run the transaction again"
                ) from error
            finally:
                self.rollback()
        else:
            self.rollback()

    def _store_held(self, changes: Changes) -> None:
        """Store changes while nobody else in this process, or in any where that is asked for, changes the same keys."""
        holder = Holder(lock_prefix(self._target))
        documents = [key for key in {*changes.values, *changes.digests} if is_document(key)]
        chunks = [key for key in {*changes.values, *changes.digests} if not is_document(key)]
        try:
            holder.acquire(documents, "node", (), changes.removed)
            holder.acquire(chunks, "chunk")
            holder.acquire((), "chunk", lock_files(self._target, documents, chunks, changes.removed, self._scopes))
            note_change()
            self._apply(changes)
        finally:
            try:
                holder.release()
            except BaseException:  # Ctrl-C just here: what is left is let go now
                holder.release()
                raise
        for key in documents:
            touch(self._target, key.rpartition("/")[0])

    def _apply(self, changes: Changes) -> None:
        apply = getattr(self._target, "apply_sync", None)
        if apply is not None and stages(self._target):
            apply(changes)
            if isinstance(self._target, zip_store.ZipStore):
                self._target.commit()
        else:
            apply_in_order(self._base, changes)

    def rollback(self) -> None:
        """Forget all changes; the transaction is over then."""
        with self._lock:
            self._values.clear()
            self._removed.clear()
            self._seen.clear()
        self._read_only = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.read_only:
            return
        if exc_type is None:
            self.commit()
        else:
            self.rollback()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.__exit__, exc_type, exc_value, traceback)


def transaction(store: StoreLike, *, storage_options: dict[str, Any] | None = None) -> Transaction:
    """Begin a transaction: changes of many arrays and groups that become visible together, or not at all.

    What it gives is a store: open groups and arrays on it, read and write them. At the end of the ``with`` block all is
    stored; on an exception nothing is. On SQLite and LMDB that is one step for every reader, and so it is in a zip
    file, which is committed. A local store is changed chunks first and documents after, by a journal: should the
    process die on the way, whoever opens the store next does the rest. Other stores are changed in the same order,
    without a journal.

    Changes are kept in memory until then, encoded. If somebody else changes what the transaction has read and
    changed, or a document that it has read, it fails and stores nothing.

    Parameters
    ----------
    store : StoreLike
        A store, a path, a URL, a mapping.
    storage_options : dict, optional
        For URLs.

    Returns
    -------
    Transaction
        For ``with`` and ``async with``.

    Raises
    ------
    ReadOnlyError
        If the store cannot be written to.

    Examples
    --------
    >>> import zarr
    >>> store = zarr.storage.MemoryStore()
    >>> x = zarr.create_array(store, name="x", shape=(2,), dtype="i4")
    >>> y = zarr.create_array(store, name="y", shape=(2,), dtype="i4")
    >>> with zarr.transaction(store) as tx:
    ...     root = tx.group()
    ...     root["x"][:] = 1
    ...     root["y"][:] = 2
    ...     before = x[:].tolist()
    >>> before, x[:].tolist(), y[:].tolist()
    ([0, 0], [1, 1], [2, 2])
    """
    target = resolve_store(store, mode="a", storage_options=storage_options)
    target._check_writable()
    return Transaction(target)
