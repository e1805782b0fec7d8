"""The runner of synchronous stores: it answers each request at once, in the caller's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from zarr._lazy import LazyModule
from zarr.abc.store import bulk_access_of, class_goes_by, get_many_of, is_synchronous, open_value_of, stamp_of_store
from zarr.abc.stores.async_store import as_folder
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.errors import LockedByCallerError, label_of
from zarr.logs import MODULES, SWITCH, TRACING, is_tracing
from zarr.runners.locks import folders
from zarr.runners.locks.operation import Holder, lock_prefix, releasing
from zarr.runners.locks.table import GIL, LOCKS, MAX_READINGS, wait
from zarr.steps import requests
from zarr.steps.requests import Gather, Get, Hold, Put, Steps, Transfer

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest, SyncStore
    from zarr.abc.stores import protocols
    from zarr.runners import bulk, tracing
    from zarr.runners import sync as runner_threads
    from zarr.runners.locks import processes
    from zarr.storage import ranges
else:
    protocols = LazyModule("zarr.abc.stores.protocols")
    bulk = LazyModule("zarr.runners.bulk")
    runner_threads = LazyModule("zarr.runners.sync")
    processes = LazyModule("zarr.runners.locks.processes")
    ranges = LazyModule("zarr.storage.ranges")
    tracing = LazyModule("zarr.runners.tracing")

T = TypeVar("T")

_LIMITS = {"max_gap_bytes": 1 << 20, "max_coalesced_bytes": 16 << 20}
"""Limits for joining ranges of an open value, if a request has none."""


def first_error(error: BaseException) -> BaseException:
    """Return the first plain error inside (nested) exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def error_for_steps(error: BaseException, request: Any, store: object) -> BaseException:
    """Return the error for the steps: the first plain one; an error of a full or failing disk names its key.

    The function is in this module, which is always loaded: a process without a free descriptor cannot import a file.
    """
    error = first_error(error)
    if type(error) is not OSError:
        return error
    key = request.keys[0] if type(request) is Hold and request.keys else getattr(request, "key", None)
    folder = getattr(request, "path", None) or getattr(request, "prefix", None)
    if key is not None:
        error.add_note(f"at the key {key!r} of {label_of(store)}")
    elif folder is not None and not hasattr(error, "__notes__"):
        error.add_note(f"at or below the key {folder!r} of {label_of(store)}")
    return error


def range_limits(request: requests.GetRanges) -> dict[str, int]:
    """Return the limits of joining ranges that a request sets, as keyword arguments of the store's method."""
    limits: dict[str, int] = {}
    if request.max_gap_bytes is not None:
        limits["max_gap_bytes"] = request.max_gap_bytes
    if request.max_coalesced_bytes is not None:
        limits["max_coalesced_bytes"] = request.max_coalesced_bytes
    return limits


def read_parts(read: Callable[[ByteRequest], bytes], request: requests.GetParts) -> list[Buffer | None]:
    """Return parts of an open value."""
    return read_ranges(read, request.ranges(default_buffer_prototype().buffer.from_bytes(read(request.first))))


def parts_of(value: Buffer, request: requests.GetParts) -> list[Buffer | None]:
    """Return parts of a value that was read as a whole."""
    return read_parts(lambda part: value[slice(*ranges.bounds_of(part, len(value)))].to_bytes(), request)


def read_ranges(read: Callable[[ByteRequest], bytes], wanted: requests.GetRanges) -> list[Buffer | None]:
    """Return ranges of an open value; near ones are read together."""
    make = (wanted.prototype or default_buffer_prototype()).buffer.from_bytes
    answers: list[Buffer | None] = [None] * len(wanted.ranges)
    if not answers:
        return answers
    for merged in protocols.merge_requests(wanted.ranges, **{**_LIMITS, **range_limits(wanted)}):
        assert merged.byte_range is not None
        for index, value in merged.split(make(read(merged.byte_range))):
            answers[index] = value
    return answers


@contextmanager
def staged(store: Any, request: requests.Staged) -> Iterator[Any]:
    """Yield the store for staged steps; publish their changes at the end, or discard them on an error."""
    stage = store.stage_sync(request.path, replace=request.replace, absent=request.absent)
    try:
        yield stage.store
        stage.publish()
    except BaseException:
        stage.discard()
        raise


class InlineRunner:
    """Run steps over a store with synchronous methods.

    Parameters
    ----------
    store : SyncStore
        A ``SyncStore``, or any store for which :func:`zarr.abc.store.is_synchronous` is True.
    otherwise : callable, optional
        Makes the runner to use while a coroutine of the store is replaced by another, as in tests.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> from zarr.steps.requests import ListDir
    >>> def names_steps():
    ...     return (yield ListDir(""))
    >>> InlineRunner(MemoryStore()).run(names_steps())
    []
    """

    __slots__ = (
        "__weakref__", "_compares", "_get", "_get_parts", "_otherwise", "_own", "_prefix", "_put", "_root",
        "_size_of_own", "store",
    )  # fmt: skip

    def __init__(self, store: SyncStore, otherwise: Callable[[Any], Any] | None = None) -> None:
        self.store = store
        self._otherwise = otherwise
        self._own = getattr(store, "__dict__", {})
        self._size_of_own = len(self._own)
        self._prefix: str | None = None  # a store may have to read the file system for it, and reads need none
        self._root: str | None = None  # None until it is looked up; "": processes are not kept out by default
        # The answer to each Hold: True for a transaction that compares values when it is committed.
        self._compares: Any = getattr(store, "compares_at_commit", None)
        self._get_parts = getattr(store, "get_parts_sync", None)  # of a transaction, too: it asks the store below
        self._get = store.get_sync
        self._put = store.set_sync

    def run(self, steps: Steps[T], above: Holder | None = None, inner: bool = False) -> T:
        """Run ``steps`` to their end and return their result.

        Parameters
        ----------
        steps : generator of requests
        above : Holder, optional
            The locks that the steps hold that gathered these; the default is none.
        inner : bool
            If True, these are part of an operation that has begun: the store and the log have been looked at.

        Returns
        -------
        The result of the steps.

        Raises
        ------
        Exception
            Any error that the steps do not catch; errors of the store are thrown into them first.
        """
        if len(self._own) != self._size_of_own and not inner and self._replaced():
            return self._otherwise(self.store).run(steps)  # type: ignore[misc, no-any-return]
        if "logging" in MODULES and SWITCH.get(TRACING) is not False and not inner and is_tracing():
            steps = tracing.traced(steps)
        get, put, handlers, holder = self._get, self._put, _HANDLERS, None
        try:
            request = next(steps)
            while True:
                kind = type(request)
                try:
                    if kind is Get:
                        reply = get(request.key, prototype=request.prototype, byte_range=request.byte_range)
                    elif kind is Put:
                        alone = request.locks
                        reply = self.put_alone(request, holder or above) if alone else put(request.key, request.value)
                    elif kind in handlers and not (kind is Transfer and request.locks):
                        reply = handlers[kind](self, request)
                    elif kind is Gather:
                        reply = self._gather(request, holder or above)
                    else:
                        holder = holder or Holder(self._prefix or self._lock_prefix(), above)
                        if kind is Hold:
                            reply = self._hold(request, holder)
                        else:
                            reply = self._scoped(request, holder)
                except Exception as error:
                    request = steps.throw(error_for_steps(error, request, self.store))
                else:
                    request = steps.send(reply)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        finally:
            try:
                steps.close()
                if holder is not None:
                    holder.release()
            except BaseException:  # for Ctrl-C at this point, as in `releasing`, which costs four calls more
                if holder is not None:
                    holder.release()
                raise

    def _replaced(self) -> bool:
        """Use methods set on the store object itself; return True if some are coroutines, to be awaited."""
        self._get, self._put = self.store.get_sync, self.store.set_sync
        if self._otherwise is not None and not is_synchronous(self.store):
            return True
        self._size_of_own = len(self._own)
        return False

    def answer(self, request: Any) -> Any:
        """Answer one request that needs the store."""
        kind = type(request)
        if kind is Get:
            return self._get(request.key, prototype=request.prototype, byte_range=request.byte_range)
        if kind is Put:
            return self._put(request.key, request.value)
        handler = _HANDLERS.get(kind)
        if handler is None:
            raise TypeError(f"steps yielded {request!r}, which is no request")
        return handler(self, request)

    def _lock_prefix(self) -> str:
        prefix = self._prefix
        if prefix is None:
            prefix = self._prefix = lock_prefix(self.store)
        return prefix

    def _find_root(self) -> str:
        """Look up the folder in which other processes are kept out by default."""
        self._root = folders.root_of(self.store, self._prefix or self._lock_prefix())
        return self._root

    def _hold(self, request: Hold, holder: Holder) -> Any:
        """Acquire locks, and say whether a transaction compares values when it is committed."""
        scope, root = request.scope, self._root
        if scope is None or scope.required:
            files = () if scope is None else processes.paths_of(self.store, request)
            holder.acquire(request.keys, request.family, files, request.below)
        else:
            if root is None:
                root = self._find_root()
            holder.acquire(request.keys, request.family, (), request.below, root, scope)
        return self._compares

    def put_alone(self, request: Put, above: Holder | None) -> Any:
        """Store a value under its lock; this is nearly free without other writers and without other locks."""
        name = f"chunk:{self._prefix or self._lock_prefix()}/{request.key}"
        scope, root = None if isinstance(request.locks, bool) else request.locks, self._root
        if scope is not None and root is None:
            root = self._find_root()
        if (above is None or above.holds_nodes_only) and LOCKS.try_acquire(name, get_ident()):
            lock = None
            try:
                if scope is not None and root:
                    lock = folders.try_key(root, scope, request.key, "chunk") or folders.lock_place(
                        folders.chunk_place(root, scope, request.key), None if above is None else above.called_off
                    )
                return self._put(request.key, request.value)
            finally:
                # First, and in one step: Ctrl-C comes before it or after it. Other threads come last.
                if GIL:
                    queues = LOCKS.queues
                    queue: Any = queues.pop(name, ()) if lock is None else lock.release_with(queues, name)
                    if len(queue) > 1:
                        LOCKS.grant(name, queue)
                else:
                    if lock is not None:
                        lock.close()
                    LOCKS.release(name)
        with releasing(Holder(self._lock_prefix(), above)) as holder:
            holder.acquire((request.key,), "chunk", (), (), root or "", scope)
            return self._put(request.key, request.value)

    def _gather(self, request: Gather, above: Holder | None) -> Any:
        return [self.run(child, above, True) for child in request.steps]

    def _scoped(self, request: Any, holder: Holder) -> Any:
        """Answer the requests that need no call of the store."""
        kind = type(request)
        if kind is requests.Staged:
            with staged(self.store, request) as store:
                return InlineRunner(store).run(request.steps, holder, True)
        if kind is Transfer:
            return self._transfer_locked(request, holder)
        if kind is requests.GetParts:
            return self.get_parts(request, holder)
        raise TypeError(f"steps yielded {request!r}, which is no request")

    def _get_versions(self, request: requests.GetVersions) -> list[tuple[Buffer | None, None]]:
        return [(value, None) for value in self._get_some(requests.GetMany(request.keys))]

    def _get_some(self, request: requests.GetMany) -> Sequence[Buffer | None]:
        get_many = get_many_of(self.store)
        if get_many is not None:
            return get_many(request.keys, None)
        return [self._get(key, prototype=None, byte_range=None) for key in request.keys]

    def _stamp(self, request: requests.Stamp) -> tuple[str, Any] | None:
        stamp_of = stamp_of_store(self.store)
        stamp = None if stamp_of is None else stamp_of(request.key)
        return None if stamp is None else (self._lock_prefix(), stamp)

    def _get_ranges(self, request: requests.GetRanges) -> list[Buffer | None] | None:
        open_value = open_value_of(self.store) if len(request.ranges) > 1 else None
        if open_value is not None:
            with open_value(request.key) as read:
                return None if read is None else read_ranges(read, request)
        limits = range_limits(request)
        answers: list[Buffer | None] = [None] * len(request.ranges)
        prototype = request.prototype or default_buffer_prototype()
        try:
            found = self.store.get_ranges_sync(request.key, request.ranges, prototype=prototype, **limits)
        except (FileNotFoundError, ExceptionGroup) as error:
            if isinstance(first_error(error), FileNotFoundError):
                return None
            raise
        for index, value in found:
            answers[index] = value
        return answers

    def get_parts(self, request: requests.GetParts, above: Holder) -> list[Buffer | None] | None:
        """Return parts of one value, never a mixture with a value that replaces it meanwhile."""
        name = f"chunk:{self._lock_prefix()}/{request.key}"
        for _ in range(MAX_READINGS):
            moment = LOCKS.moment(name)
            if moment is not None:
                found = self.get_parts_once(request)
                if LOCKS.moment(name) == moment:
                    return found
        if above.holds_name(name):
            return self.get_parts_once(request)
        # There are writers all the time: this read waits for its turn among them.
        with releasing(Holder(self._lock_prefix(), above)) as holder:
            with suppress(LockedByCallerError):  # the outer operation of this thread continues after this read
                holder.acquire((request.key,), "chunk")
            return self.get_parts_once(request)

    def get_parts_once(self, request: requests.GetParts) -> list[Buffer | None] | None:
        """Return the ranges, all of one value if the store can open it; else each is read by itself."""
        if self._get_parts is not None:
            return self._get_parts(request)  # type: ignore[no-any-return]
        open_value = open_value_of(self.store)
        if open_value is not None:
            with open_value(request.key) as read:
                return None if read is None else read_parts(read, request)
        if request.strict:
            value = self._get(request.key, prototype=default_buffer_prototype())
            return None if value is None else parts_of(value, request)
        raw = self._get(request.key, prototype=default_buffer_prototype(), byte_range=request.first)
        if raw is None:
            return None
        ranges = request.ranges(raw)
        return self._get_ranges(ranges) if ranges.ranges else []

    def _put_if_absent(self, request: requests.PutIfAbsent) -> bool:
        by_set = class_goes_by(type(self.store), "set", "set_if_not_exists", "put_if_absent")
        put_if_absent = getattr(self.store, "put_if_absent_sync", None)
        if put_if_absent is not None and not by_set:
            return bool(put_if_absent(request.key, request.value))
        if self.store.exists_sync(request.key):
            return False
        put = self.store.set_sync if by_set else self.store.set_if_not_exists_sync
        put(request.key, request.value)
        return True

    def _delete_many(self, request: requests.DeleteMany) -> None:
        access = bulk_access_of(self.store)
        set_many = None if access is None or access.kind != "buffers" else access.set_many
        if set_many is not None:
            set_many([(key, None) for key in request.keys])
            return
        for key in request.keys:
            self.store.delete_sync(key)

    def _delete_prefix(self, request: requests.DeletePrefix) -> None:
        if class_goes_by(type(self.store), "delete", "delete_dir"):
            for key in list(self.store.list_prefix_sync(as_folder(request.prefix))):
                self.store.delete_sync(key)
        self.store.delete_dir_sync(request.prefix)

    def _rename(self, request: requests.Rename) -> bool:
        rename = getattr(self.store, "rename_dir_sync", None)
        return rename is not None and bool(rename(request.source, request.dest))

    def _list(self, request: requests.List) -> list[str]:
        prefix = request.prefix
        return list(self.store.list_prefix_sync(prefix.rstrip("/") + "/") if prefix else self.store.list_sync())

    def _size(self, request: requests.Size) -> int | None:
        try:
            return self.store.getsize_sync(request.key)
        except FileNotFoundError:
            return None

    def _transfer_locked(self, request: Transfer, above: Holder) -> None:
        with releasing(Holder(self._lock_prefix(), above)) as holder:
            if not holder.claims(request):
                holder.acquire(request.names(), "chunk")
            if request.scope is not None:
                root = self._find_root() if self._root is None else self._root
                wait(holder.sharing(root, request), holder.called_off)
            self.transfer(request)

    def transfer(self, request: Transfer) -> None:
        """Run a bulk job; the caller has locked its keys, if that is needed."""
        try:
            bulk.transfer(request, bulk_access_of(self.store), self._get_many, self._set_many)
        except Exception as error:
            bulk.note_keys(error, request, self.store)
            raise

    def _get_many(self, keys: list[str]) -> Sequence[Any]:
        prototype = default_buffer_prototype()
        get_many = getattr(self.store, "get_many_sync", None)
        if get_many is None:
            buffers = [self._get(key, prototype=prototype) for key in keys]
        else:
            buffers = get_many(keys, prototype)
        return [None if buffer is None else buffer.as_numpy_array() for buffer in buffers]

    def _set_many(self, items: list[tuple[str, Any]]) -> None:
        make = default_buffer_prototype().buffer.from_bytes
        for key, payload in items:
            if payload is None:
                self.store.delete_sync(key)
            else:
                self.store.set_sync(key, make(payload))

    def _await(self, request: requests.Await) -> Any:
        async def call() -> Any:
            return await request.factory()

        return runner_threads.sync(call())


_HANDLERS: dict[type, Callable[[InlineRunner, Any], Any]] = {
    requests.GetMany: InlineRunner._get_some,
    requests.GetVersions: InlineRunner._get_versions,
    requests.GetRanges: InlineRunner._get_ranges,
    requests.PutIfAbsent: InlineRunner._put_if_absent,
    requests.DeleteMany: InlineRunner._delete_many,
    requests.Delete: lambda runner, request: runner.store.delete_sync(request.key),
    requests.DeletePrefix: InlineRunner._delete_prefix,
    requests.Rename: InlineRunner._rename,
    requests.List: InlineRunner._list,
    requests.ListDir: lambda runner, request: list(runner.store.list_dir_sync(request.prefix)),
    requests.Size: InlineRunner._size,
    requests.Stamp: InlineRunner._stamp,
    requests.FreshStamp: lambda runner, request: runner.store.fresh_stamp_sync(request.key),  # type: ignore[attr-defined]
    requests.LastStamp: lambda runner, request: None,
    requests.Splice: lambda runner, request: runner.store.splice_sync(request.key, request.parts, request.known),  # type: ignore[attr-defined]
    Transfer: InlineRunner.transfer,
    requests.Await: InlineRunner._await,
}
