"""The locks of one operation: taken in one order by all, let go when the operation ends.

The table of all locks of the process is in :mod:`zarr.runners.locks.table`.

A finalizer may run in the middle of any operation, in the same thread, and write to what that operation has locked.
The one cannot wait for the other, so the finalizer's work is deferred as a whole: see
:mod:`zarr.runners.locks.deferred`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from zarr._lazy import LazyModule
from zarr.runners.locks.deferred import PutOff, do_all, known_to_callers
from zarr.runners.locks.table import LOCKS, Claim
from zarr.steps.requests import FAMILY_RANK

if TYPE_CHECKING:
    import asyncio

    from zarr.runners.locks import leases, processes, subtree
    from zarr.runners.locks.leases import Fence, Lease
    from zarr.runners.locks.processes import LockedFile
    from zarr.steps.requests import LockScope, Transfer
else:
    asyncio = LazyModule("asyncio")
    leases = LazyModule("zarr.runners.locks.leases")
    processes = LazyModule("zarr.runners.locks.processes")
    subtree = LazyModule("zarr.runners.locks.subtree")

_holding: dict[Holder, None] = {}
"""Who holds keys now, the first first."""

STORING: dict[str, int] = {}
"""The keys that are held for one call of a store only, without a :class:`Holder`, and the threads that hold them.

Each is the very object that the function has which lets go of it: see
:func:`~zarr.runners.locks.deferred.known_to_callers`.
"""


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_holding.clear)
    os.register_at_fork(after_in_child=STORING.clear)


class Holder:
    """The keys that one running generator holds, with those that are held above it.

    Everybody takes locks in one order, that of (family, name); so nobody can wait for somebody who waits for them.
    """

    __slots__ = (
        "_above", "_claim", "_files", "_leases", "_loop", "_loop_thread", "_prefix", "_top", "_top_file", "_trees",
        "after", "called_off", "fence", "names", "thread",
    )  # fmt: skip

    def __init__(self, prefix: str, above: Holder | None = None, called_off: threading.Event | None = None) -> None:
        self._prefix = prefix
        self._above = above
        self._claim: Claim | None = None
        self._files: list[LockedFile] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread: threading.Thread | None = None
        self.after: list[Callable[[], Any]] = []
        self.names: list[str] = []
        self.thread = threading.get_ident()
        self._top: tuple[int, str] = (-1, "")
        self._top_file = False, ""
        self._leases: list[Lease] = []
        self._trees: list[str] | None = None
        self.fence: Fence | None = None
        self.called_off = called_off
        if above is not None:
            if above.fence is not None:
                self.fence = leases.Fence(above.fence)
            self._top, self._top_file, self.called_off = above._top, above._top_file, above.called_off

    def _chain(self) -> Iterator[Holder]:
        """This one and those above it."""
        holder: Holder | None = self
        while holder is not None:
            yield holder
            holder = holder._above

    def holds_name(self, name: str) -> bool:
        """Whether a name is held here or above, by itself or in a tree."""
        holder: Holder | None = self
        while holder is not None:
            if name in holder.names or (holder._trees and name.startswith(tuple(holder._trees))):
                return True
            holder = holder._above
        return False

    def all_names(self) -> list[str]:
        """The names that were taken here and above."""
        return [name for holder in self._chain() for name in holder.names]

    def is_inside(self, stem: str, names: Sequence[str]) -> bool:
        """Whether a tree is held here or above, or a name in it other than those that are named."""
        return any(name.startswith(stem) and name not in names for name in self.all_names()) or self.holds_name(stem)

    def wanted(self, keys: Sequence[str], family: str) -> list[str]:
        """The names still to take, in the one order in which all take them.

        Raises
        ------
        RuntimeError
            If one of them comes before, in that order, a key that is held already: waiting for it could never end.
        """
        rank = FAMILY_RANK[family]
        prefix = self._prefix
        names = sorted([f"{family}:{prefix}/{key}" for key in set(keys)])
        names = [name for name in names if not self.holds_name(name)]
        if names:
            if (rank, names[0]) <= self._top:
                raise RuntimeError(
                    f"cannot hold {family} {keys[0]!r}: these hold {self._top[1]!r} already, which comes later in "
                    "the order of locks; take all keys in one Hold, nodes before chunks, or gather the first in steps "
                    "of their own"
                )
            self._top = (rank, names[-1])
        return names

    def wanted_files(self, paths: Sequence[str]) -> list[str]:
        """The lock files still to take, in the one order in which all take them: trees first, then by name.

        Raises
        ------
        RuntimeError
            If one of them comes before one that is held already.
        """
        open_now = {file.path for holder in self._chain() for file in holder._files}
        paths = [path for path in paths if path not in open_now and not self.holds_name(f"file:{path}")]
        if paths:
            if (not processes.is_tree(paths[0]), paths[0]) <= self._top_file:
                raise RuntimeError(f"cannot lock {paths[0]}: {self._top_file[1]}, which comes later, is locked already")
            self._top_file = not processes.is_tree(paths[-1]), paths[-1]
        return paths

    def take_file(self, path: str) -> None:
        """Lock one file; threads of this process queue up in the table, one at a time asks the system."""
        if not processes.is_tree(path):
            self.take(f"file:{path}")
            self._files.append(processes.lock_file(path, self.called_off))
            return
        turn = f"file:{path}{processes.TURN}"
        self.take(turn)
        try:
            if not processes.is_shared(path):
                self.take(f"file:{path}")
            self._files += processes.lock_tree(path, self.called_off)
        finally:
            self.drop(turn)

    async def take_file_async(self, path: str) -> None:
        """The same, letting the event loop run."""
        if not processes.is_tree(path):
            await self.take_async(f"file:{path}")
            self._files.append(await processes.lock_file_async(path))
            return
        turn = f"file:{path}{processes.TURN}"
        await self.take_async(turn)
        try:
            if not processes.is_shared(path):
                await self.take_async(f"file:{path}")
            self._files += await processes.lock_tree_async(path)
        finally:
            self.drop(turn)

    def take(self, name: str) -> None:
        """Take one key of the table, waiting for it unless that could never end.

        Raises
        ------
        PutOff
        """
        if not LOCKS.try_acquire(name):
            self._check_can_wait()
            LOCKS.acquire(name, self.called_off)
        self.names.append(name)

    async def take_async(self, name: str) -> None:
        """The same, letting the event loop run."""
        await LOCKS.acquire_async(name)
        self.names.append(name)

    def drop(self, name: str) -> None:
        """Let go of one name before the others."""
        names = self.names
        place = names.index(name)
        names[place], names[-1] = names[-1], names[place]
        LOCKS.release_all(names, len(names) - 1)

    def note_tree(self, stem: str) -> None:
        """Keep others from taking names that begin with one that is held, from now on."""
        self._trees = [*(self._trees or ()), stem]
        self._top = max(self._top, (0, stem))
        LOCKS.trees[stem] = None

    def end_tree(self, stem: str) -> None:
        """Let others take those names again."""
        LOCKS.trees.pop(stem, None)
        self._trees = [other for other in self._trees or () if other != stem]

    def _wanted_below(self, paths: Sequence[str], keys: Sequence[str]) -> tuple[list[str], list[str]]:
        """The trees still to take, and the documents that do not lie in one of them.

        Raises
        ------
        RuntimeError
            If one of them comes before, in the order of all locks, what is held already.
        """
        stems = [stem for stem in subtree.outermost(self._prefix, paths) if not self.holds_name(stem)]
        if stems and (0, stems[0]) <= self._top:
            raise RuntimeError(f"cannot hold all below {stems[0]!r}: these hold {self._top[1]!r} already")
        return stems, [name for name in self.wanted(keys, "node") if not name.startswith(tuple(stems))]

    def _check_can_wait(self) -> None:
        """See that this thread is not amid another operation, which would have to let go first.

        Raises
        ------
        PutOff
        """
        here = threading.get_ident()
        if LOCKS.interrupted:
            raise PutOff(None)
        if here in list(STORING.values()):
            known = known_to_callers()
            if any(id(name) in known and thread == here for name, thread in list(STORING.items())):
                raise PutOff(None)
        # A list: making a tuple may run the collector, and with it a finalizer that changes what is gone through.
        others = [other for other in list(_holding) if other.thread == here and other not in self._chain()]
        if others:
            known = known_to_callers()
            for other in others:
                if other.is_of_task() or id(other) in known:
                    raise PutOff(None if other.in_loop else other)

    @property
    def holds_nodes_only(self) -> bool:
        """Whether no chunk is held, here or above: then any one may be taken."""
        return self._top[0] < FAMILY_RANK["chunk"] and self._claim is None

    @property
    def in_loop(self) -> bool:
        """Whether the keys are held by a task, which goes on in its own time."""
        return self._loop is not None

    def is_of_task(self) -> bool:
        """Whether only this thread can go on with the task that holds the keys.

        The number of a thread alone does not say so: it is given anew when the thread has ended.
        """
        if self._loop is None or self._loop.is_closed():
            return False
        return self._loop_thread is threading.current_thread()

    @property
    def holds(self) -> bool:
        """Whether there is anything that others may wait for."""
        return bool(self.names or self._files or self._claim is not None or self._leases)

    def pause(self) -> None:
        """The operation is put off: no thread is at work on it now."""
        _holding.pop(self, None)

    def resume(self) -> None:
        """This thread goes on with the operation."""
        self.thread = threading.get_ident()
        _holding[self] = None

    def acquire(
        self, keys: Sequence[str], family: str, files: Sequence[str] = (), below: Sequence[str] = ()
    ) -> None:
        """Take all below some nodes, the keys, and then the lock files that stand for them in all processes.

        It blocks the thread.

        Raises
        ------
        PutOff
            If the operation interrupts one that holds such a key; the same call can be made again later.
        """
        before = self._top, self._top_file
        _holding[self] = None
        if len(keys) == 1 and not files and self._top[0] < 0 and not below:  # one chunk: nothing to be put in order
            name = f"{family}:{self._prefix}/{keys[0]}"
            self.take(name)
            if LOCKS.trees and family == "node":
                subtree.heed(self, (name,))
            self._top = (FAMILY_RANK[family], name)
            return
        try:
            if below:
                subtree.fell(self, *self._wanted_below(below, keys))
            else:
                names = self.wanted(keys, family)
                for name in names:
                    self.take(name)
                if LOCKS.trees and family == "node":
                    subtree.heed(self, names)
            for path in self.wanted_files(files) if files else ():
                self.take_file(path)
        except PutOff:
            self._top, self._top_file = before
            raise

    async def acquire_async(
        self, keys: Sequence[str], family: str, files: Sequence[str] = (), below: Sequence[str] = ()
    ) -> None:
        """The same, letting the event loop run."""
        self._loop, self._loop_thread = asyncio.get_running_loop(), threading.current_thread()
        _holding[self] = None
        if below:
            await subtree.fell_async(self, *self._wanted_below(below, keys))
        else:
            names = self.wanted(keys, family)
            for name in names:
                await self.take_async(name)
            if LOCKS.trees and family == "node":
                await subtree.heed_async(self, names)
        for path in self.wanted_files(files) if files else ():
            await self.take_file_async(path)

    async def lease(self, store: Any, scope: LockScope, keys: Sequence[str], family: str) -> None:
        """Keep other processes out by leases in the store itself, or by watching what is read."""
        if self.fence is None:
            self.fence = leases.Fence()
        for key in self.wanted_files(leases.lease_keys(scope, keys, family)):
            name = f"file:{self._prefix}/{key}"
            await self.take_async(name)
            self._leases.append(await leases.take_lease(store, key))
            self.fence.leases.append(self._leases[-1])

    async def end_leases(self) -> None:
        """Let go of the leases of this generator; before :meth:`release`."""
        while self._leases:
            await self._leases.pop().end()

    @property
    def leased(self) -> bool:
        """Whether this generator has leases of its own."""
        return bool(self._leases)

    def claims(self, request: Transfer) -> bool:
        """Claim all keys of a bulk write at once; False where they have to be taken one by one.

        A claim costs next to nothing and waits for nobody: others who write parts of these values wait for it.
        """
        stem = f"chunk:{self._prefix}/"

        # No function is made here: where there is no memory for one, Python 3.13 does not outlive that.
        claim = Claim(stem + request.keys.prefix, request.count, partial(_all_names, stem, request))
        _holding[self] = None
        self._claim = claim
        if LOCKS.claim(claim, self.holds_name):
            return True
        self._claim = None
        return False

    def release(self) -> None:
        """Let all keys of this generator go, last first; then do what had to wait for that."""
        try:
            self._let_go()
        except BaseException:  # Ctrl-C, or a file that could not be closed: the rest is let go all the same
            self._let_go()
            raise
        finally:
            _holding.pop(self, None)
            if self.after:
                work, self.after = self.after, []
                do_all(work)

    def _let_go(self) -> None:
        if self._claim is not None:
            LOCKS.end_claim(self._claim)
            self._claim = None
        while self._trees:
            self.end_tree(self._trees[-1])
        while self._files:
            self._files[-1].close()
            self._files.pop()
        LOCKS.release_all(self.names)


def _all_names(stem: str, request: Transfer) -> list[str]:
    return [stem + key for key in request.names()]


def lock_prefix(store: Any) -> str:
    """The name under which the keys of a store are locked: equal for two objects that write to the same place.

    Parameters
    ----------
    store : Store

    Returns
    -------
    str
        What the store says of itself by ``lock_prefix``, else a name that is its own.

    Examples
    --------
    >>> from zarr.storage import LocalStore
    >>> lock_prefix(LocalStore("/data/a")) == lock_prefix(LocalStore("/data/a", read_only=True))
    True
    """
    prefix = getattr(store, "lock_prefix", None)
    return prefix if isinstance(prefix, str) else f"object:{id(store)}"
