"""The runner of event loops: it answers requests by awaiting the store, in the loop of the caller.

The store decides between three ways. A store of coroutines is awaited, with one gate for requests and a window of
running steps. A synchronous store that never blocks is called directly. For a synchronous store that blocks, the whole
operation runs in a thread: one change of threads for each operation, not for each chunk.
"""

from __future__ import annotations

import random
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextvars import copy_context
from functools import partial
from types import CoroutineType
from typing import Any, ClassVar, TypeVar

from zarr._lazy import asyncio
from zarr.abc.store import ByteRequest, Store, goes_by, is_synchronous, versioned_of
from zarr.abc.stores.abilities import compares_versions, opens_itself, put_if_absent_of
from zarr.abc.stores.async_store import ranges_of
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.errors import StoreUnavailableError, ValueReplacedError, label_of
from zarr.logs import MODULES, SWITCH, TRACING, is_tracing
from zarr.notices import CALLER
from zarr.runners import caches
from zarr.runners.bulk import DIRECT_BYTES, apart, receive, send
from zarr.runners.concurrency import completed, concurrency, request_gate, wait_until_done, windowed
from zarr.runners.inline import InlineRunner, error_for_steps, first_error, parts_of, range_limits, staged
from zarr.runners.locks.folders import root_of
from zarr.runners.locks.leases import Fence, Seen
from zarr.runners.locks.operation import Holder, lock_prefix, releasing
from zarr.runners.locks.processes import lock_folder, lock_paths, paths_of
from zarr.runners.locks.table import LOCKS, MAX_READINGS, CalledOff, wait_async
from zarr.runners.sync import get_executor, sync
from zarr.runners.tracing import traced
from zarr.steps import requests
from zarr.steps.requests import Steps
from zarr.storage.keys import LOCKS_FOLDER, is_lock

T = TypeVar("T")

CONFLICT_SECONDS = 0.02
"""The longest pause after another process has changed a value first: about the time of a request."""

CONFLICTS = 20
"""So many times a store may refuse to replace a value that nobody has changed: it may be about to."""

_SCOPED = frozenset({requests.Hold, requests.Gather, requests.Await, requests.GetParts, requests.Transfer})
"""Requests that the driver answers itself, without the store."""


class _CallOff(threading.Event):
    """Set when a task is cancelled whose steps run in a thread; it also stops a running job of the core."""

    def __init__(self) -> None:
        super().__init__()
        self.job: Any = None

    def set(self) -> None:
        super().set()
        job = self.job
        if job is not None:
            job.stop()


def _checked(steps: Steps[T], called_off: _CallOff, loop: asyncio.AbstractEventLoop) -> Steps[T]:
    """Return the same steps for a runner in a thread: they stop when cancelled; coroutines run in the caller's loop."""
    try:
        request = next(steps)
        while True:
            called_off.job = request.job if type(request) is requests.Transfer else None
            if called_off.is_set():
                raise CalledOff
            try:
                if type(request) is requests.Await:
                    reply = asyncio.run_coroutine_threadsafe(_call(request.factory), loop).result()
                elif type(request) is requests.Gather:
                    reply = yield requests.Gather(_checked(child, called_off, loop) for child in request.steps)
                elif type(request) is requests.Staged:
                    reply = yield request.with_steps(_checked(request.steps, called_off, loop))
                else:
                    reply = yield request
            except Exception as error:
                request = steps.throw(error)
            else:
                request = steps.send(reply)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        steps.close()


async def _call(factory: Callable[[], Awaitable[T]]) -> T:
    return await factory()


class _Threaded:
    """For synchronous stores that block: the whole operation runs in a thread."""

    __slots__ = ("_inline", "_prefix")

    def __init__(self, store: Any) -> None:
        self._inline = InlineRunner(store)
        self._prefix = lock_prefix(store)

    async def run(self, steps: Steps[T]) -> T:
        loop = asyncio.get_running_loop()
        called_off = _CallOff()
        work = _checked(steps, called_off, loop)
        above = Holder(self._prefix, None, called_off)
        context = copy_context()  # a warning in the thread names the line that awaits it
        context.run(CALLER.set, CALLER.get() or asyncio.current_task())
        future = loop.run_in_executor(get_executor(), context.run, self._inline.run, work, above, True)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            called_off.set()
            await wait_until_done(future)
            raise


class _Driver:
    """Run steps in an event loop; a subclass answers the requests that are calls of its store.

    ``answer`` returns the reply, or a coroutine that returns it.
    """

    _store: Any
    _prefix: str
    waits: ClassVar[bool] = True
    """True if requests wait for something."""

    async def run(self, steps: Steps[T], above: Holder | None = None) -> T:
        holder = Holder(self._prefix, above)
        answer = self.answer
        try:
            if above is None and not self.waits:
                await asyncio.sleep(0)  # many operations over memory at once must not block the rest of the loop
            request = next(steps)
            while True:
                try:
                    reply = answer(request, holder)
                    if type(reply) is CoroutineType:
                        reply = await reply
                except (Exception, BaseExceptionGroup) as error:
                    request = steps.throw(error_for_steps(error, request, self._store))
                else:
                    request = steps.send(reply)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        finally:
            steps.close()
            try:
                if holder.leases:
                    await holder.end_leases()
            finally:
                holder.release()

    def answer(self, request: Any, holder: Holder) -> Any:
        raise NotImplementedError

    def scoped(self, request: Any, holder: Holder) -> Coroutine[Any, Any, Any]:
        """Answer the requests that need no call of the store."""
        kind = type(request)
        if kind is requests.Hold:
            return self.hold(request, holder)
        if kind is requests.Gather:
            return self.gather(request, holder)
        if kind is requests.Await:
            return _call(request.factory)
        if kind is requests.GetParts:
            return self._get_parts(request, holder)
        if kind is requests.Put:
            return self._put_alone(request, holder)
        if kind is requests.Transfer:
            return self._transfer_locked(request, holder)
        raise TypeError(f"steps yielded {request!r}, which is no request")

    async def hold(self, request: requests.Hold, holder: Holder) -> bool | None:
        files = () if request.scope is None else paths_of(self._store, request)
        await holder.acquire_async(request.keys, request.family, files, request.below)
        return None

    async def gather(self, request: requests.Gather, holder: Holder) -> list[Any]:
        return [await self.run(child, holder) for child in request.steps]

    async def get_parts_once(self, request: requests.GetParts) -> list[Buffer | None] | None:
        raise NotImplementedError

    async def transfer(self, request: requests.Transfer) -> None:
        raise NotImplementedError

    async def _get_parts(self, request: requests.GetParts, above: Holder) -> list[Buffer | None] | None:
        name = f"chunk:{self._prefix}/{request.key}"
        for _ in range(MAX_READINGS):
            moment = LOCKS.moment(name)
            if moment is not None:
                found = await self.get_parts_once(request)
                if LOCKS.moment(name) == moment:
                    return found
        with releasing(Holder(self._prefix, above)) as holder:
            await holder.acquire_async((request.key,), "chunk")
            return await self.get_parts_once(request)

    async def _put_alone(self, request: requests.Put, above: Holder) -> None:
        with releasing(Holder(self._prefix, above)) as holder:
            scope = request.locks
            files = () if isinstance(scope, bool) else lock_paths(self._store, scope, (request.key,), "chunk")
            await holder.acquire_async((request.key,), "chunk", files)
            reply = self.answer(requests.Put(request.key, request.value), above)
            if type(reply) is CoroutineType:
                await reply

    async def _transfer_locked(self, request: requests.Transfer, above: Holder) -> None:
        with releasing(Holder(self._prefix, above)) as holder:
            if request.locks and not holder.claims(request):
                await holder.acquire_async(request.names(), "chunk")
            root = "" if request.scope is None else root_of(self._store, self._prefix)
            await wait_async(holder.sharing(root, request))
            await self.transfer(request)


class _Direct(_Driver):
    """For synchronous stores that never block: requests are answered directly, between two awaits."""

    waits = False

    __slots__ = ("_inline", "_prefix", "_store")

    def __init__(self, store: Any) -> None:
        self._store = store
        self._inline = InlineRunner(store)
        self._prefix = lock_prefix(store)

    def answer(self, request: Any, holder: Holder) -> Any:
        kind = type(request)
        if kind is requests.Staged:
            return self._run_staged(request, holder)
        if kind in _SCOPED or (kind is requests.Put and request.locks):
            return self.scoped(request, holder)
        return self._inline.answer(request)

    async def _run_staged(self, request: requests.Staged, holder: Holder) -> Any:
        with staged(self._store, request) as store:
            return await _Direct(store).run(request.steps, holder)

    async def get_parts_once(self, request: requests.GetParts) -> list[Buffer | None] | None:
        return self._inline.get_parts_once(request)

    async def transfer(self, request: requests.Transfer) -> None:
        if request.nbytes > DIRECT_BYTES:
            await apart(partial(self._inline.transfer, request), request.job.stop)
        else:
            self._inline.transfer(request)


class _Coroutines(_Driver):
    """For stores of coroutines: requests go through one gate, gathered steps in a window."""

    __slots__ = ("_handlers", "_prefix", "_store")

    def __init__(self, store: Store) -> None:
        self._store: Store = store
        self._prefix = lock_prefix(store)
        self._handlers: dict[type, Callable[[Any], Awaitable[Any]]] = {
            requests.Get: self._get,
            requests.GetRanges: self._get_ranges,
            requests.Put: lambda request: completed(store.set(request.key, request.value)),
            requests.PutIfAbsent: self._put_if_absent,
            requests.Delete: lambda request: completed(store.delete(request.key)),
            requests.DeletePrefix: lambda request: completed(store.delete_dir(request.prefix)),
            requests.Rename: self._rename,
            requests.List: self._list,
            requests.ListDir: self._list_dir,
            requests.Size: self._size,
        }

    def answer(self, request: Any, holder: Holder) -> Any:
        kind = type(request)
        if kind is requests.Stamp or kind is requests.FreshStamp:
            return None
        if kind is requests.LastStamp:
            return caches.TABLES.stamp_of(self._prefix, request.key) if versioned_of(self._store) else None
        if kind is requests.GetMany:
            return self._get_many(request, holder)
        if kind is requests.GetVersions:
            return self._get_versions(request)
        if kind is requests.GetParts and holder.fence is not None and request.key in holder.fence.seen:
            return self._get_parts_compared(request, holder.fence)
        if kind is requests.DeleteMany:
            return self._delete_many(request, holder)
        if kind not in self._handlers or (kind is requests.Put and request.locks):
            return self.scoped(request, holder)
        return self._gated(request) if holder.fence is None else self._fenced(request, holder.fence)

    async def _gated(self, request: Any) -> Any:
        async with request_gate():
            return await self._handlers[type(request)](request)

    async def _fenced(self, request: Any, fence: Fence) -> Any:
        """Answer a request of an operation that keeps other processes out, or compares values before it stores."""
        kind = type(request)
        if kind in (requests.Put, requests.Delete, requests.DeletePrefix, requests.Rename):
            fence.check()
        if kind is requests.Put and fence.seen.get(request.key, Fence.UNREAD) is not Fence.UNREAD:
            await self._replace_seen(request, fence)
            return None
        if kind is requests.Get and request.byte_range is None and request.key in fence.seen:
            return await self._get_compared(request, fence)
        reply = await self._gated(request)
        if kind is requests.Put:
            fence.note(request.key, request.value)
        return reply

    async def _replace_seen(self, request: requests.Put, fence: Fence) -> None:
        """Store a value if the key still holds what was read.

        Raises
        ------
        ChangedMeanwhileError, LockLostError
            If it holds another value.
        StoreUnavailableError
            If the store refuses again and again, though the value is the same.
        """
        key, seen = request.key, fence.seen[request.key]
        for _ in range(CONFLICTS):
            async with request_gate():
                if await completed(self._replace(request, seen)):
                    fence.note(key, request.value)
                    return
            await asyncio.sleep(random.uniform(0, CONFLICT_SECONDS))  # so that many writers do not keep in step
            if not await self._is_still(key, seen):
                raise fence.changed(key, self._store)
        raise StoreUnavailableError(
            f"{label_of(self._store, str)} refused {CONFLICTS} times to replace {key!r}, though its value is still the "
            "one that was read: something between may change entity tags, or a rule of the service protects the "
            "object; config={'locking': 'thread'} stores without a comparison"
        )

    def _goes_by_version(self, seen: Any) -> bool:
        return type(seen) is Seen or (seen is None and compares_versions(self._store))

    async def _is_still(self, key: str, seen: Any) -> bool:
        """Return True if a key has the version that was read; values without versions are not asked for again."""
        if not self._goes_by_version(seen):
            return False
        value, version = await self._get_version(key)
        return value is None if seen is None else value is not None and version == seen.version

    def _replace(self, request: requests.Put, seen: Any) -> Awaitable[bool]:
        """Store a value if the key still holds what was read."""
        store: Any = self._store
        if self._goes_by_version(seen):
            change: Awaitable[bool] = store.set_if_version(request.key, request.value, seen and seen.version)
            return change
        return self._store.set_if_match(request.key, request.value, seen)

    async def _get_compared(self, request: requests.Get, fence: Fence) -> Buffer | None:
        """Return a value, and note for the comparison its version, or else the value."""
        value, version = await self._get_version(request.key, request.prototype)
        if version is not None:
            fence.note(request.key, Seen(version))
        else:
            fence.note(request.key, value if value is None or fence.by_value else Fence.UNREAD)
        return value

    async def hold(self, request: requests.Hold, holder: Holder) -> bool | None:
        """Acquire locks; return True if other processes are not kept out, but values are compared instead."""
        scope = request.scope
        if scope is None or not self._excludes(request, scope):
            return await super().hold(request, holder)
        await holder.acquire_async(request.keys, request.family, (), request.below)
        compares = bool(request.compared) and (request.family == "chunk" or not scope.required)
        if compares:
            holder.fence = holder.fence or Fence()
        else:
            await holder.lease(self._store, scope, request.keys, request.family)
        assert holder.fence is not None
        holder.fence.by_value = scope.required
        holder.fence.watch(request.compared if compares else request.keys, compares)
        for key, version in (request.versions or {}).items():
            holder.fence.note(key, Seen(version))
        return compares

    def _excludes(self, request: requests.Hold, scope: requests.LockScope) -> bool:
        """Return True if other processes are kept out by means of the store itself: comparisons or leases.

        Unless it is required, only by comparisons that take no more requests.
        """
        if not self._store.supports_set_if_match or lock_folder(self._store, scope) is not None:
            return False
        return scope.required or (bool(request.compared) and compares_versions(self._store))

    async def gather(self, request: requests.Gather, holder: Holder) -> list[Any]:
        if isinstance(request.steps, list | tuple) and len(request.steps) == 1:
            return [await self.run(request.steps[0], holder)]
        jobs = (partial(self.run, child, holder) for child in request.steps)
        return await windowed(jobs, concurrency() if request.only_requests else 2 * concurrency())

    async def _delete_many(self, request: requests.DeleteMany, holder: Holder) -> None:
        await windowed((partial(self.answer, requests.Delete(key), holder) for key in request.keys), concurrency())

    async def _get_many(self, request: requests.GetMany, holder: Holder) -> list[Buffer | None]:
        return await windowed((partial(self.answer, requests.Get(key), holder) for key in request.keys), concurrency())

    async def _get_versions(self, request: requests.GetVersions) -> list[tuple[Buffer | None, Any]]:
        return await windowed((partial(self._get_version, key) for key in request.keys), concurrency())

    async def _get_version(self, key: str, prototype: BufferPrototype | None = None) -> tuple[Buffer | None, Any]:
        """Return a value and its version; None for each that is not there."""
        if not compares_versions(self._store):
            return await self._gated(requests.Get(key, None, prototype)), None
        store: Any = self._store
        async with request_gate():
            return await store.get_versioned(key, prototype or default_buffer_prototype(), None) or (None, None)

    async def _get(self, request: requests.Get) -> Buffer | None:
        prototype = request.prototype or default_buffer_prototype()
        if request.byte_range is None:
            return await self._store.get(request.key, prototype)
        return await self._store.get(request.key, prototype, request.byte_range)

    async def _get_ranges(self, request: requests.GetRanges) -> list[Buffer | None] | None:
        answers: list[Buffer | None] = [None] * len(request.ranges)
        prototype = request.prototype or default_buffer_prototype()
        try:
            async for group in self._ranges_of(request, prototype):
                for index, value in group:
                    answers[index] = value
        except (FileNotFoundError, BaseExceptionGroup) as error:
            first = first_error(error)
            if isinstance(first, FileNotFoundError):
                return None
            if isinstance(first, ValueReplacedError):
                raise first from None
            raise
        return answers

    def _ranges_of(
        self, request: requests.GetRanges, prototype: BufferPrototype
    ) -> AsyncIterator[Sequence[tuple[int, Buffer | None]]]:
        store: Any = self._store
        limits = range_limits(request)
        if request.version is None:
            return store.get_ranges(request.key, request.ranges, prototype=prototype, **limits)  # type: ignore[no-any-return]

        async def get(byte_range: ByteRequest | None) -> Buffer | None:
            found = await store.get_versioned(request.key, prototype, byte_range, request.version)
            return None if found is None else found[0]

        return ranges_of(get, request.key, request.ranges, **limits)

    async def get_parts_once(self, request: requests.GetParts) -> list[Buffer | None] | None:
        if versioned_of(self._store) is not None:
            return await self._get_parts_of_one_version(request)
        if request.strict:
            return await self._get_parts_of_all(request)
        raw = await self._gated(requests.Get(request.key, request.first))
        return None if raw is None else await self._get_chosen(request.ranges(raw))

    async def _get_chosen(self, ranges: requests.GetRanges) -> list[Buffer | None] | None:
        if not ranges.ranges:
            return []
        async with request_gate():
            return await self._get_ranges(ranges)

    async def _get_parts_compared(self, request: requests.GetParts, fence: Fence) -> list[Buffer | None] | None:
        """Return the parts, and note of which value they are; its key is held."""
        if compares_versions(self._store):
            return await self._get_parts_of_one_version(request, fence)
        return await self._get_parts_of_all(request, fence)

    async def _get_parts_of_one_version(
        self, request: requests.GetParts, fence: Fence | None = None
    ) -> list[Buffer | None] | None:
        """Return the parts; if the value is replaced between two requests, read again, in the end all of it at once."""
        store: Any = self._store
        for _ in range(MAX_READINGS):
            try:
                async with request_gate():
                    first = await store.get_versioned(request.key, default_buffer_prototype(), request.first)
                raw, version = first or (None, None)
                if raw is not None and version is None and (request.strict or fence is not None):
                    break
                if fence is not None:
                    fence.note(request.key, None if raw is None else Seen(version))
                if raw is None:
                    return None
                stamp = None if version is None else (self._prefix, version)
                return await self._get_chosen(request.ranges(raw, stamp))
            except ValueReplacedError:
                continue
        return await self._get_parts_of_all(request, fence)

    async def _get_parts_of_all(
        self, request: requests.GetParts, fence: Fence | None = None
    ) -> list[Buffer | None] | None:
        """Return the parts from the whole value, which is read at once."""
        get = requests.Get(request.key)
        value = await (self._gated(get) if fence is None else self._fenced(get, fence))
        return None if value is None else parts_of(value, request)

    async def _put_if_absent(self, request: requests.PutIfAbsent) -> bool:
        put_if_absent = put_if_absent_of(self._store)
        if put_if_absent is not None:
            return bool(await completed(put_if_absent(request.key, request.value)))
        if await self._store.exists(request.key):
            return False
        by_set = goes_by(self._store, "set", "set_if_not_exists", "put_if_absent")
        put = self._store.set if by_set else self._store.set_if_not_exists
        await completed(put(request.key, request.value))
        return True

    async def _rename(self, request: requests.Rename) -> bool:
        rename = getattr(self._store, "rename_dir_sync", None)
        return rename is not None and await completed(asyncio.to_thread(rename, request.source, request.dest))

    async def _list(self, request: requests.List) -> list[str]:
        prefix = request.prefix
        found = self._store.list_prefix(prefix.rstrip("/") + "/") if prefix else self._store.list()
        return [key async for key in found if not is_lock(key)]

    async def _list_dir(self, request: requests.ListDir) -> list[str]:
        return [name async for name in self._store.list_dir(request.prefix) if name != LOCKS_FOLDER]

    async def _size(self, request: requests.Size) -> int | None:
        try:
            return await self._store.getsize(request.key)
        except FileNotFoundError:
            return None

    async def transfer(self, request: requests.Transfer) -> None:
        move = receive if request.direction == "read" else send
        await move(request, self._store)


class AsyncRunner:
    """Run steps in the caller's event loop, over any store.

    Examples
    --------
    >>> import asyncio
    >>> from zarr.storage import MemoryStore
    >>> from zarr.steps.requests import ListDir
    >>> def names_steps():
    ...     return (yield ListDir(""))
    >>> asyncio.run(AsyncRunner(MemoryStore()).run(names_steps()))
    []
    """

    __slots__ = ("__weakref__", "_driver", "_opens", "_own", "_size_of_own", "store")

    def __init__(self, store: Store) -> None:
        self.store = store
        self._driver: _Coroutines | _Direct | _Threaded
        self._own = getattr(store, "__dict__", {})
        self._opens = opens_itself(store)
        self._choose_driver(store)

    def _choose_driver(self, store: Store) -> None:
        """Choose a driver for the present methods of the store: tests may replace them later."""
        self._size_of_own = len(self._own)
        if not is_synchronous(store):
            self._driver = _Coroutines(store)
        elif getattr(store, "blocking", True):
            self._driver = _Threaded(store)
        else:
            self._driver = _Direct(store)

    async def run(self, steps: Steps[T]) -> T:
        """Run ``steps`` to their end and return their result.

        If the awaiting task is cancelled, the steps are closed; nothing continues in the background.
        """
        if len(self._own) != self._size_of_own:
            self._choose_driver(self.store)
        if "logging" in MODULES and SWITCH.get(TRACING) is not False and is_tracing():
            steps = traced(steps)
        try:
            if self._opens and not self.store._is_open:
                await self.store._ensure_open()
            return await self._driver.run(steps)
        finally:
            steps.close()


class LoopRunner:
    """Run steps over a store that has only coroutines: each operation runs on the background loop.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> from zarr.steps.requests import ListDir
    >>> def names_steps():
    ...     return (yield ListDir(""))
    >>> LoopRunner(MemoryStore()).run(names_steps())
    []
    """

    __slots__ = ("__weakref__", "_runner", "store")

    def __init__(self, store: Store) -> None:
        self.store = store
        self._runner = AsyncRunner(store)

    def run(self, steps: Steps[T]) -> T:
        """Run ``steps`` to their end on the background loop and return their result.

        Raises
        ------
        SyncError
            If called on the background loop's own thread.
        """
        return sync(self._runner.run(steps))
