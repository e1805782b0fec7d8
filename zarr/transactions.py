"""Transactions: a store that stages changes until all of them are stored together, or none of them.

May import: everything up to ``zarr.api``. The changes themselves are kept by ``zarr.storage.wrappers.overlay``.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Self

from zarr._lazy import asyncio, instance_of
from zarr.abc.store import ByteRequest, Store, SyncStore, is_synchronous, takes_contents_first
from zarr.abc.stores.changes import Changes, TakenError, is_document, moves_in_one_step
from zarr.api.synchronous import open_array, open_group
from zarr.arrays.io.selection import elements_of
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.chunks.spec import parse_array_config
from zarr.errors import TransactionConflictError
from zarr.groups.group import Group
from zarr.runners.choose import runner_for
from zarr.runners.concurrency import concurrency, wait_until_done, windowed
from zarr.runners.inline import parts_of
from zarr.runners.locks.operation import Holder, lock_prefix, releasing
from zarr.runners.locks.processes import in_order, lock_folder, lock_paths
from zarr.runners.sync import collect_aiterator, sync
from zarr.steps.consolidated import NotedNodes, note_change, settle, touch
from zarr.steps.requests import GetParts, LockScope, Steps, ask_steps
from zarr.storage import MemoryStore, StoreLike
from zarr.storage.keys import METADATA_NAMES, is_below_any, nearest_above
from zarr.storage.resolve import resolve_store
from zarr.storage.wrappers.overlay import OverlayStore, check_expected


class Transaction(OverlayStore):
    """A store that shows staged changes to the groups and arrays opened on it, and to no others.

    Made by :func:`zarr.transaction`. At the end of the ``with`` block all changes are stored; after an exception none.

    Parameters
    ----------
    store : Store
        The store that receives the changes.
    """

    def __init__(self, store: Store) -> None:
        base = store if isinstance(store, SyncStore) and is_synchronous(store) else BlockingView(store)
        self._target = store
        super().__init__(base, f"transaction:{id(self)}", watch=True, read_only=store.read_only)
        # For all views. An event would not do: Ctrl-C in its ``set`` leaves its lock held for ever.
        self._enders: list[int] = []
        """The thread that ends it: that one may still change consolidated metadata; then 0, and nobody changes any."""
        self._scopes: dict[str, LockScope] = {}
        """The lock scopes of changed nodes, as their arrays and groups require them."""
        self.noted_nodes = NotedNodes(runner_for(self).run)

    @property
    def read_only(self) -> bool:
        """True if the store refuses every change: it was opened so, or the transaction is being stored or has ended."""
        return self._read_only or self._enders not in ([], [get_ident()])

    def get_parts_sync(self, request: GetParts) -> list[Buffer | None] | None:
        """Return parts of one value, never a mixture with one that replaces it meanwhile.

        Parameters
        ----------
        request : GetParts

        Returns
        -------
        list of Buffer, or None if there is no such key
        """
        key = request.key
        first: list[Buffer] = []
        ranges: list[ByteRequest] = []
        if key in self._values or self._is_removed(key):
            value = self.get_sync(key)
            return None if value is None else parts_of(value, request)

        def choose(raw: Buffer, stamp: Any) -> Sequence[ByteRequest]:
            places = request.choose(raw, stamp)
            first[:], ranges[:] = [raw], places
            return places

        limits = (request.max_gap_bytes, request.max_coalesced_bytes, request.strict)
        asking: Steps[list[Buffer | None] | None] = ask_steps(GetParts(key, request.first, choose, *limits))
        found = runner_for(self._target).run(asking)
        if not self._is_noted(key):
            if found is None:
                self._note(key, None)
            else:
                for place, part in zip([request.first, *ranges], [*first, *found], strict=True):
                    self._note_part(key, place, part)
        return found

    def note_locking(self, path: str, folder: str | None) -> None:
        """Note that other processes must be kept out of a node while the changes are stored."""
        self._scopes[path] = LockScope(path, folder)

    @property
    def compares_at_commit(self) -> bool:
        """True if values are replaced on condition that they are still those read here, and others are not kept out."""
        return self._base.supports_set_if_match and not moves_in_one_step(self._target)

    def __str__(self) -> str:
        return f"{'ended ' if self._enders else ''}transaction {id(self._values):x} on {self._target}"

    def __repr__(self) -> str:
        state = "it has ended: begin another" if self._enders else f"changes={len(self._values)}"
        return f"{type(self).__name__}({self._target!r}, {state})"

    def group(self, path: str = "", **options: Any) -> Group:
        """Return the group at a path, with the staged changes; create it if there is none.

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
        """Store all changes now and end the transaction.

        Raises
        ------
        TransactionConflictError
            If another writer changed a metadata document that the transaction read, a value that it read and then
            wrote, or a node that it moved. Nothing was stored; run the transaction again.
        """
        with self._lock:
            self._check_writable()
            self._enders.append(get_ident())
        try:
            settle(self)
            with self._lock:
                self._enders.append(0)
                changes = self.changes()
            if changes.values or changes.removed:
                self._store_held(changes)
        except TakenError as error:
            raise TransactionConflictError(
                f"{self._target}: key {error.key!r} was changed by another writer since the transaction read it; "
                "nothing was stored: run the transaction again"
            ) from error
        finally:
            self.rollback()

    def _store_held(self, changes: Changes) -> None:
        """Store the changes while the locks of their keys are held."""
        documents = [key for key in {*changes.values, *changes.digests} if is_document(key)]
        chunks = [key for key in {*changes.values, *changes.digests} if not is_document(key)]
        with releasing(Holder(lock_prefix(self._target))) as holder:
            holder.acquire(documents, "node", (), changes.removed)
            holder.acquire(chunks, "chunk")
            holder.acquire((), "chunk", lock_files(self._target, documents, chunks, changes.removed, self._scopes))
            self._check_listed()
            note_change()
            self._apply(changes)
        for key in documents:
            touch(self._target, key.rpartition("/")[0])

    def _apply(self, changes: Changes) -> None:
        if moves_in_one_step(self._target):
            self._target.apply_sync(changes)  # type: ignore[attr-defined]
            if instance_of(self._target, "zarr.storage.zip.store", "ZipStore"):
                self._target.commit()  # type: ignore[attr-defined]
        else:
            apply_in_order(self._base, changes)

    def rollback(self) -> None:
        """Discard all changes and end the transaction."""
        with self._lock:
            self._enders.append(0)
            self._removed.clear()  # first: a reader meanwhile must not take a node that was made anew for a removed one
            self._values.clear()
            self._seen.clear()
            self._parts.clear()
            self._listed.clear()
            self.noted_nodes.taken()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exc_type: type[BaseException] | None, *exception: Any) -> None:
        if not self.read_only:
            self.commit() if exc_type is None else self.rollback()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: Any) -> None:
        end = asyncio.ensure_future(asyncio.to_thread(self.__exit__, *exception))
        try:
            await asyncio.shield(end)
        except asyncio.CancelledError:
            await wait_until_done(end)  # the thread cannot be cancelled: it would store the changes later
            raise


def transaction(store: StoreLike, *, storage_options: dict[str, Any] | None = None) -> Transaction:
    """Begin a transaction: changes of many arrays and groups that become visible together, or not at all.

    The result is a store: open groups and arrays on it, read and write them. At the end of the ``with`` block all
    changes are stored; after an exception none. On SQLite and LMDB that is one step for every reader, also in a zip
    file, which is committed. A local store is changed chunks first and metadata documents last, by a journal: if the
    process dies in between, the next program that opens the store completes the changes. Other stores have no journal:
    object stores that compare versions are changed documents first, all others as local ones.

    Until then the changes are kept encoded in memory. If another writer changes a value that the transaction has read
    and changed, a node that it has moved, or a metadata document that it has read, the transaction fails and stores
    nothing.

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


def apply_in_order(store: SyncStore, changes: Changes) -> None:
    """Apply changes in an order in which no reader finds chunks that do not fit the metadata document.

    First replaced nodes are deleted, each beginning with its metadata document; then chunks are stored, then documents,
    parents first; last come deletions. A crash leaves a part of it done. In stores that do not take contents first,
    chunks are deleted before the documents and stored after them.

    In a store that compares and swaps, the values that depend on what was read are stored before all others, each on
    condition that it is unchanged: of two transactions that append to one array only one may store chunks. After an
    error they are put back, unless another writer has replaced them since.

    Raises
    ------
    TakenError
        If a key does not hold its expected value; nothing has changed then.
    """
    keys = [*changes.absent, *changes.digests]
    found = dict(zip(keys, store.get_many_sync(keys, default_buffer_prototype()), strict=True))
    check_expected(changes, lambda key: None if (value := found[key]) is None else value.as_numpy_array())
    put = {key: value for key, value in changes.values.items() if value is not None}
    gone = sorted((key for key in changes.values if key not in put), key=is_document, reverse=True)
    stored: list[str] = []
    try:
        if store.supports_set_if_match:
            _put_compared(store, put, {key: found[key] for key in changes.digests}, changes.removed, stored)
        done = frozenset(stored)
        _put_others(store, {key: value for key, value in put.items() if key not in done}, gone, changes.removed)
    except BaseException:
        with suppress(Exception):  # the first error counts
            for key in reversed(stored):
                _put_back(store, key, put[key], found)
        raise


def _put_others(store: SyncStore, put: Mapping[str, Buffer], gone: list[str], removed: Iterable[str]) -> None:
    """Remove replaced nodes, store the values that were not compared, and delete keys, in the order for the store."""
    for folder in removed:
        for name in sorted(METADATA_NAMES):
            store.delete_sync(f"{folder}/{name}" if folder else name)
        store.delete_dir_sync(folder)
    documents = sorted(filter(is_document, put), key=_depth)
    chunks = [(key, value) for key, value in put.items() if not is_document(key)]
    early = takes_contents_first(store)
    if early:
        store.set_many_sync(chunks)
    else:
        store.set_many_sync([(key, None) for key in gone if not is_document(key)])
    for key in documents:
        store.set_sync(key, put[key])
    if not early:
        store.set_many_sync(chunks)
    for key in gone:
        if early or is_document(key):
            store.delete_sync(key)


def _depth(key: str) -> tuple[int, str]:
    return key.count("/"), key


def _put_compared(
    store: SyncStore,
    values: Mapping[str, Buffer],
    found: Mapping[str, Buffer | None],
    removed: Container[str],
    stored: list[str],
) -> None:
    """Store the values that replace what was read, if it is unchanged; add their keys to ``stored``.

    Documents come first, parents before the nodes below them. Nothing is compared below removed nodes. After an error
    ``stored`` has each key whose value may have been stored.

    Raises
    ------
    TakenError
    """
    keys = [key for key in found if key in values and not is_below_any(key, removed)]
    documents = [[key] for key in sorted(filter(is_document, keys), key=_depth)]
    for together in (*documents, [key for key in keys if not is_document(key)]):
        stored += together
        try:
            answers = _set_if_match(store, [(key, values[key], found[key]) for key in together])
        except NotImplementedError:  # of its class, but over a service that does not compare
            del stored[len(stored) - len(together) :]  # these are replaced as they are, with all others
            return
        refused = [key for key, answer in zip(together, answers, strict=True) if not answer]
        if refused:
            stored[:] = [key for key in stored if key not in refused]
            raise TakenError(refused[0])


def _set_if_match(store: SyncStore, items: list[tuple[str, Buffer, Buffer | None]]) -> list[bool]:
    """Store values on condition that the keys hold the expected ones; return for each if it was stored."""
    if isinstance(store, BlockingView):
        return store.set_many_if_match_sync(items)
    return [store.set_if_match_sync(*item) for item in items]


def _put_back(store: SyncStore, key: str, own: Buffer, found: Mapping[str, Buffer | None]) -> None:
    """Store the earlier value of a key again, unless another writer has replaced the own one.

    A chunk that was not there becomes one of fill values: no store deletes on a condition, and another writer may have
    added its elements. What belongs to a node that was not there is deleted.
    """
    now = store.get_sync(key)
    if now is None or now.to_bytes() != own.to_bytes():
        return
    before = found[key]
    if before is None:
        before = _fill_values(store, key, found)
    if before is None:
        store.delete_sync(key)
    else:
        store.set_if_match_sync(key, before, now)


def _fill_values(store: SyncStore, key: str, found: Mapping[str, Buffer | None]) -> Buffer | None:
    """Return a chunk of fill values for a key; None if it is not the key of a chunk of an array that was there."""
    documents = {name: value is not None for name, value in found.items() if is_document(name)}
    path = nearest_above(key, {name.rpartition("/")[0] for name in documents})
    names = [f"{path}/{name}" if path else name for name in METADATA_NAMES]
    if is_document(key) or path is None or not any(documents.get(name) for name in names):
        return None
    values = zip(names, store.get_many_sync(names), strict=True)
    memory = MemoryStore({name: value for name, value in values if value is not None})
    array = open_array(memory, path=path, mode="r+", config=parse_array_config({"write_empty_chunks": True}))
    layout = array._handle.layout
    coords = layout.coords_of(key)
    if coords is None:
        return None
    array[tuple(elements_of(axis, i, i + 1) for axis, i in zip(layout.outer.axes, coords, strict=True))] = layout.fill
    return memory.get_sync(key)


def _blocking(name: str) -> Any:
    """Return a method that calls a coroutine, or a listing, of the wrapped store and waits for its result."""

    def call(self: BlockingView, *arguments: Any) -> Any:
        answer = getattr(self._store, name)(*arguments)
        return collect_aiterator(answer) if hasattr(answer, "__aiter__") else sync(answer)

    return call


class BlockingView(SyncStore):
    """A synchronous store over a store that has coroutines only."""

    blocking = True

    def __init__(self, store: Store) -> None:
        super().__init__(read_only=store.read_only)
        self._store = store

    def __str__(self) -> str:
        return str(self._store)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BlockingView) and self._store == other._store

    __hash__ = None  # type: ignore[assignment]

    @property
    def contents_first(self) -> bool:
        """Return True if the wrapped store accepts chunks before their metadata document."""
        return takes_contents_first(self._store)

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value of a key, or a part of it; None if there is none."""
        return sync(self._store.get(key, prototype or default_buffer_prototype(), byte_range))

    exists_sync = _blocking("exists")
    getsize_sync = _blocking("getsize")
    set_sync = _blocking("set")
    set_if_match_sync = _blocking("set_if_match")
    delete_sync = _blocking("delete")
    delete_dir_sync = _blocking("delete_dir")
    list_sync = _blocking("list")
    list_prefix_sync = _blocking("list_prefix")
    list_dir_sync = _blocking("list_dir")

    @property
    def supports_set_if_match(self) -> bool:
        """Return True if ``set_if_match`` is atomic for all writers."""
        return self._store.supports_set_if_match

    def get_many_sync(self, keys: Iterable[str], prototype: BufferPrototype | None = None) -> list[Any]:
        """Return the values of many keys, several at a time."""
        wanted = prototype or default_buffer_prototype()
        return sync(windowed((partial(self._store.get, key, wanted) for key in keys), concurrency()))

    def set_many_if_match_sync(self, items: Iterable[tuple[str, Buffer, Buffer | None]]) -> list[bool]:
        """Store values on condition that the keys hold the expected ones, several at a time."""
        return sync(windowed((partial(self._store.set_if_match, *item) for item in items), concurrency()))

    def set_many_sync(self, items: Iterable[tuple[str, Buffer | None]]) -> None:
        """Store many values, several at a time; None removes a key."""
        values = dict(items)
        sync(self._store._set_many([(key, value) for key, value in values.items() if value is not None]))
        for key in [key for key, value in values.items() if value is None]:
            self.delete_sync(key)


def lock_files(
    store: Store,
    documents: Iterable[str],
    chunks: Iterable[str],
    removed: Iterable[str] = (),
    asked: Mapping[str, LockScope] | None = None,
) -> list[str]:
    """Return the files to lock, in the order in which all writers lock them.

    Parameters
    ----------
    store : Store
    documents, chunks : iterable of str
        The keys that were read or are changed.
    removed : iterable of str
        Nodes that are removed, with all below them.
    asked : mapping of path to LockScope
        The lock scopes that changed arrays and groups require; for other nodes ``array.locking`` decides.
    """
    locking, asked = parse_array_config(None).locking, asked or {}
    if locking == "thread" and not asked:
        return []
    gone = set(removed)
    nodes = {key.rpartition("/")[0] for key in documents} | gone
    below: dict[str, list[str]] = {node: [] for node in nodes | set(asked)}
    places = set(below)
    for key in chunks:
        owner = nearest_above(key, places)
        if owner is not None:
            below[owner].append(key)
    found: list[str] = []
    for node, keys in below.items():
        scope = asked.get(node) or LockScope.of(locking, node)
        if scope is not None and lock_folder(store, scope):
            if node in nodes:
                found.extend(lock_paths(store, scope, [node], "node", [node] if node in gone else ()))
            found.extend(lock_paths(store, scope, keys, "chunk"))
    return in_order(found)
