"""The locks of one operation: all operations acquire them in one order, and release them at their end.

The table of all locks of the process is in :mod:`zarr.runners.locks.table`.

A *subtree lock* protects a node and all nodes below it while it is removed, replaced or moved. It is a name in the
table that ends with a slash (a *stem*), so that it sorts before the names of all documents below its node, with nothing
else in between, and has its place in the one order of all locks. An operation that needs a document first acquires its
key and then checks for subtree locks above it; if there is one, it releases the key until that lock is released. An
operation that needs a subtree first records it and then waits for holders of keys below: one of the two sees the other.
A holder of a key below an already recorded subtree continues to its end and may acquire further keys. If there is no
subtree lock, a document costs one look at an empty dictionary.

A finalizer may run in the middle of any operation, in the same thread, and need a key that the operation holds. It
cannot wait for that operation, so it gets a :class:`~zarr.errors.LockedByCallerError`.
"""

from __future__ import annotations

import threading
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from zarr._lazy import LazyModule
from zarr.errors import LockedByCallerError
from zarr.notices import CALLER
from zarr.runners.locks import folders
from zarr.runners.locks.table import LOCKS, Claim, Waiting, Waits, wait, wait_async
from zarr.steps.requests import FAMILY_RANK, LockScope, Transfer
from zarr.storage.keys import outermost

if TYPE_CHECKING:
    from zarr.runners.locks import leases, processes
    from zarr.runners.locks.leases import Fence, Lease
    from zarr.runners.locks.processes import LockedFile
    from zarr_core import FolderLock
else:
    leases = LazyModule("zarr.runners.locks.leases")
    processes = LazyModule("zarr.runners.locks.processes")


class Holder:
    """The keys that one running generator holds, with those of the generators above it.

    All locks are acquired in one order, that of (family, name); so no two operations can wait for each other.
    """

    __slots__ = (
        "_above", "_claim", "_files", "_owner", "_prefix", "_top", "_top_file", "_trees",
        "called_off", "fence", "leases", "names",
    )  # fmt: skip

    def __init__(self, prefix: str, above: Holder | None = None, called_off: threading.Event | None = None) -> None:
        self._prefix = prefix
        self._above = above
        self._owner = threading.get_ident()
        self._claim: Claim | None = None
        self._files: list[LockedFile | FolderLock] = []
        self.leases: list[Lease] = []
        self._trees: dict[str, None] | None = None
        self.names: list[str] = []
        self.fence: Fence | None = None
        if above is None:
            self._top: tuple[int, str] = (-1, "")
            self._top_file = False, ""
            self.called_off = called_off
        else:
            self._top, self._top_file, self.called_off = above._top, above._top_file, above.called_off
            if above.fence is not None:
                self.fence = leases.Fence(above.fence)

    def _chain(self) -> Iterator[Holder]:
        """Yield this holder and those above it."""
        holder: Holder | None = self
        while holder is not None:
            yield holder
            holder = holder._above

    def holds_name(self, name: str) -> bool:
        """Return True if a name is held here or above, by itself or in a subtree."""
        holder: Holder | None = self
        while holder is not None:
            if name in holder.names or (holder._trees and any(stems_over(name, holder._trees))):
                return True
            holder = holder._above
        return False

    def _not_held(self, names: list[str]) -> list[str]:
        """Return those of some names that are not held here or above."""
        for holder in self._chain():
            if holder.names and names:
                own, trees = set(holder.names), holder._trees or ()
                names = [name for name in names if not (name in own or (trees and any(stems_over(name, trees))))]
        return names

    def _acquired(self, name: str) -> bool:
        """Return True if a name was acquired here or above; others may still hold one in a subtree just locked."""
        return any(name in holder.names for holder in self._chain())

    @property
    def holds_nodes_only(self) -> bool:
        """Return True if no chunk is held, here or above: then any chunk may be acquired."""
        return self._top[0] < FAMILY_RANK["chunk"] and self._claim is None

    # Acquire

    def acquire(
        self,
        keys: Sequence[str],
        family: str,
        files: Sequence[str] = (),
        below: Sequence[str] = (),
        root: str = "",
        scope: LockScope | None = None,
    ) -> None:
        """Acquire the subtrees of some nodes, the keys, and then the lock files that stand for them in all processes.

        The call blocks the thread.

        Parameters
        ----------
        keys : sequence of str
        family : "node" or "chunk"
        files : sequence of str
        below : sequence of str
        root : str
            The root of the store (``folders.root_of``) if the keys are locked as names in folders, in place of files.
        scope : LockScope, optional
            That of the keys, with ``root``.

        Raises
        ------
        LockedByCallerError
            If it would have to wait inside another operation of this thread that holds locks.
        """
        if len(keys) == 1 and len(files) < 2 and len(below) < 2 and self._top[0] < 0:
            # The order does not matter for a key inside the subtree.
            key = f"{family}:{self._prefix}/{keys[0]}"
            name = stem_of(self._prefix, below[0]) if below else key
            if key.startswith(name) and LOCKS.try_acquire(name, self._owner):
                self.names.append(name)
                self._top = (FAMILY_RANK[family], name)
                if LOCKS.trees and family == "node":
                    wait(self._wait_for_trees((name,)), self.called_off, self._check_can_wait)
                if below:
                    wait(self._close_tree(name), self.called_off, self._check_can_wait)
                if root and scope is not None:
                    lock = folders.try_key(root, scope, keys[0], family, below)
                    if lock is not None:
                        self._top_file = True, lock.path
                        self._files.append(lock)
                        return
                    files = folders.places(root, scope, keys, family, below)
                if files:
                    wait(self._acquire_files(files), self.called_off, self._check_can_wait)
                return
        if root and scope is not None:
            files = folders.places(root, scope, keys, family, below)
        wait(self._acquiring(keys, family, files, below), self.called_off, self._check_can_wait)

    async def acquire_async(
        self, keys: Sequence[str], family: str, files: Sequence[str] = (), below: Sequence[str] = ()
    ) -> None:
        """Acquire the same locks while the event loop runs.

        Raises
        ------
        LockedByCallerError
            If a thread waits for this call that is inside another operation, or runs the event loop of one.
        """
        caller = CALLER.get()
        check = partial(self._check_can_wait, thread=caller) if isinstance(caller, int) else None
        await wait_async(self._acquiring(keys, family, files, below), check)

    def _acquiring(self, keys: Sequence[str], family: str, files: Sequence[str], below: Sequence[str]) -> Waits[None]:
        if below:
            yield from self._acquire_trees(below, keys)
        else:
            names = self._missing(keys, family)
            for name in names:
                yield from self._acquire_name(name)
            if LOCKS.trees and family == "node":
                yield from self._wait_for_trees(names)
        if files:
            yield from self._acquire_files(files)

    def _acquire_files(self, files: Sequence[str]) -> Waits[None]:
        for path in self._missing_files(files):
            yield from self._acquire_file(path)

    def _acquire_name(self, name: str) -> Waits[None]:
        yield from LOCKS.acquiring(name, self._owner)
        self.names.append(name)

    def _drop(self, name: str) -> None:
        """Release one name before the others."""
        names = self.names
        place = names.index(name)
        names[place], names[-1] = names[-1], names[place]
        LOCKS.release_all(names, len(names) - 1)

    def _acquire_file(self, path: str) -> Waits[None]:
        """Lock one file; threads of this process wait in the table, so that only one at a time calls the system."""
        if isinstance(path, folders.Place):
            # The names that the file stands for keep the threads of this process apart.
            lock = yield from folders.locking(path)
            if lock is not None:
                self._files.append(lock)
            return
        if not processes.is_tree(path):
            yield from self._acquire_name(f"file:{path}")
            self._files.append((yield from processes.locking(path)))
            return
        turn = f"file:{path}{processes.TURN}"
        yield from self._acquire_name(turn)
        try:
            if not processes.is_shared(path):
                yield from self._acquire_name(f"file:{path}")
            self._files += yield from processes.locking_tree(path)
        finally:
            self._drop(turn)

    def _check_can_wait(self, wanted: Waiting, thread: int | None = None) -> None:
        """Check that a thread, by default this one, is not inside another operation, whose locks it would wait for.

        That operation may also be the one that waits for the same key, and gets it first.

        Raises
        ------
        LockedByCallerError
        """
        thread = threading.get_ident() if thread is None else thread
        if LOCKS.is_held_by(thread, self._acquired) or LOCKS.is_awaited_by(thread, wanted):
            raise LockedByCallerError(
                "this operation would have to wait for a lock while another operation of the same thread holds locks, "
                "or gets this one first: it was called by __del__ (or by a store, a codec or a signal handler) inside "
                "that operation, or synchronously among tasks of one event loop; call it later, outside of __del__, "
                "and in event loops await the asynchronous twin of the call"
            )

    def _missing(self, keys: Sequence[str], family: str) -> list[str]:
        """Return the names still to acquire, in the one order of all locks.

        Raises
        ------
        RuntimeError
            If one of them sorts before a key that is held already: a wait for it might never end.
        """
        rank = FAMILY_RANK[family]
        prefix = self._prefix
        names = sorted([f"{family}:{prefix}/{key}" for key in set(keys)])
        names = self._not_held(names)
        if names:
            if (rank, names[0]) <= self._top:
                raise RuntimeError(
                    f"cannot hold {family} {keys[0]!r}: these hold {self._top[1]!r} already, which comes later in "
                    "the order of locks; take all keys in one Hold, nodes before chunks, or gather the first in steps "
                    "of their own"
                )
            self._top = (rank, names[-1])
        return names

    def _missing_files(self, paths: Sequence[str]) -> list[str]:
        """Return the lock files still to acquire, in the one order of all: subtrees first, then by name.

        Raises
        ------
        RuntimeError
            If one of them sorts before a file that is held already.
        """
        held = {file.path for holder in self._chain() for file in holder._files}
        held.update(name.removeprefix("file:") for holder in self._chain() for name in holder.names)
        paths = [path for path in paths if path not in held]
        if paths:
            if (not processes.is_tree(paths[0]), paths[0]) <= self._top_file:
                raise RuntimeError(f"cannot lock {paths[0]}: {self._top_file[1]}, which comes later, is locked already")
            self._top_file = not processes.is_tree(paths[-1]), paths[-1]
        return paths

    # Subtree locks

    def _acquire_trees(self, paths: Sequence[str], keys: Sequence[str]) -> Waits[None]:
        """Acquire subtrees, and keys beside them, in one order; wait until no other operation holds a key in them.

        Raises
        ------
        RuntimeError
            If one of them sorts before a lock that is held already.
        """
        stems = dict.fromkeys(self._not_held(sorted(stem_of(self._prefix, path) for path in outermost({*paths}))))
        first = next(iter(stems), "")
        if stems and (0, first) <= self._top:
            raise RuntimeError(f"cannot hold all below {first!r}: these hold {self._top[1]!r} already")
        names = [name for name in self._missing(keys, "node") if not any(stems_over(name, stems))]
        for taken in sorted((*stems, *names)):
            yield from self._acquire_name(taken)
            yield from self._wait_for_trees((taken,))
            if taken in stems:
                self._top = max(self._top, (0, taken))
                yield from self._close_tree(taken)

    def _close_tree(self, stem: str) -> Waits[None]:
        """Keep others from keys in a subtree that was just acquired, and wait for the holders of such keys."""
        if self._trees is None:
            self._trees = {}
        self._trees[stem] = None
        LOCKS.trees[stem] = None  # from now on no operation acquires names that begin with it
        while self._others_hold() and (name := self._other_below(stem)) is not None:
            yield from self._acquire_name(name)
            self._drop(name)

    def _wait_for_trees(self, names: Sequence[str]) -> Waits[None]:
        """Wait until there is no foreign subtree lock above some keys just acquired, and acquire them again."""
        while (stem := self._tree_above(names)) is not None:
            for name in reversed(names):
                self._drop(name)
            yield from self._acquire_name(stem)
            self._drop(stem)
            for name in names:
                yield from self._acquire_name(name)

    def _tree_above(self, names: Sequence[str]) -> str | None:
        """Return a foreign subtree lock that covers one of some names; None if there is nothing to wait for."""
        for stem in {stem: None for name in names for stem in stems_over(name, LOCKS.trees)}:
            own = (name for holder in self._chain() for name in holder.names if name not in names)
            if not (self.holds_name(stem) or any(name.startswith(stem) for name in own)):
                return stem
        return None

    def _others_hold(self) -> bool:
        """Return False if all names that are held now are held here or above."""
        held = len(LOCKS.queues)
        return held > 1 and held > sum(len(holder.names) for holder in self._chain())

    def _other_below(self, stem: str) -> str | None:
        """Return a key in a subtree that another operation holds."""
        own = {name for holder in self._chain() for name in holder.names}
        return next((name for name in LOCKS.held() if name.startswith(stem) and name not in own), None)

    # Leases and claims

    async def lease(self, store: Any, scope: LockScope, keys: Sequence[str], family: str) -> None:
        """Keep other processes out by leases in the store itself, or by comparing values before they are replaced."""
        if self.fence is None:
            self.fence = leases.Fence()
        for key in self._missing_files(leases.lease_keys(scope, keys, family)):
            await wait_async(self._acquire_name(f"file:{self._prefix}/{key}"))
            self.leases.append(await leases.take_lease(store, key))
            self.fence.leases.append(self.leases[-1])

    async def end_leases(self) -> None:
        """Release the leases of this generator; before :meth:`release`."""
        while self.leases:
            await self.leases.pop().end()

    def claims(self, request: Transfer) -> bool:
        """Claim all keys of a bulk write at once; return False if they must be acquired one by one.

        A claim is almost free and never waits: writers of parts of these values wait for it.
        """
        stem = f"chunk:{self._prefix}/"
        # No function is created here: without memory for one, Python 3.13 crashes.
        claim = Claim(stem + request.keys.prefix, request.count, partial(_all_names, stem, request), self._owner)
        self._claim = claim
        if LOCKS.claim(claim, self.holds_name):
            return True
        self._claim = None
        return False

    def sharing(self, root: str, request: Transfer) -> Waits[None]:
        """Keep writers of parts of chunks in other processes out of the chunks of a bulk write.

        ``root`` is that of the store (``folders.root_of``).
        """
        if request.scope is not None and root:
            lock = yield from folders.locking(folders.array_place(root, request.scope, request.names))
            if lock is not None:
                self._files.append(lock)

    # Release

    def release(self) -> None:
        """Release all keys of this generator, last first; after an error, a second call releases the rest."""
        # First the locks among processes: the next thread locks by the same descriptor.
        while self._files:
            self._files[-1].close()
            self._files.pop()
        if self._claim is not None:
            LOCKS.end_claim(self._claim)
            self._claim = None
        while self._trees:
            LOCKS.trees.pop(next(reversed(self._trees)), None)
            self._trees.popitem()
        if self.names:
            LOCKS.release_all(self.names)


@contextmanager
def releasing(holder: Holder) -> Iterator[Holder]:
    """Release the locks that a holder acquires inside; also if Ctrl-C comes meanwhile, or a file cannot be closed."""
    try:
        yield holder
    finally:
        try:
            holder.release()
        except BaseException:
            holder.release()
            raise


def _all_names(stem: str, request: Transfer) -> list[str]:
    return [stem + key for key in request.names()]


def stem_of(prefix: str, path: str) -> str:
    """Return the common beginning of the names of the documents of a node and of all nodes below.

    Examples
    --------
    >>> stem_of("memory", "a/b"), stem_of("memory", "")
    ('node:memory/a/b/', 'node:memory/')
    """
    return f"node:{prefix}/{path}/" if path else f"node:{prefix}/"


def stems_over(name: str, stems: Container[str]) -> Iterator[str]:
    """Yield those of some stems that a name begins with, each looked up by name; the longest first.

    Examples
    --------
    >>> list(stems_over("node:memory/a/b/zarr.json", {"node:memory/a/", "node:memory/b/"}))
    ['node:memory/a/']
    """
    end = name.rfind("/") + 1
    while end:
        if name[:end] in stems:
            yield name[:end]
        end = name.rfind("/", 0, end - 1) + 1


def lock_prefix(store: Any) -> str:
    """Return the name under which the keys of a store are locked: equal for two objects that write to the same place.

    Returns
    -------
    str
        The ``lock_prefix`` of the store, else a name of the object itself.

    Examples
    --------
    >>> from zarr.storage import LocalStore
    >>> lock_prefix(LocalStore("/data/a")) == lock_prefix(LocalStore("/data/a", read_only=True))
    True
    """
    prefix = getattr(store, "lock_prefix", None)
    return prefix if isinstance(prefix, str) else f"object:{id(store)}"
