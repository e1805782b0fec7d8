"""The runner of event loops: answers requests by awaiting the store, in whatever loop the caller runs.

Three ways, by what the store is: a store of coroutines is awaited, with one gate on requests and a window of steps
alive at once; a synchronous store that never blocks is called on the spot; a synchronous store that blocks gets the
whole operation run in a thread, which costs one crossing for an operation instead of one for each chunk.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from zarr._lazy import LazyModule
from zarr.abc.store import is_synchronous
from zarr.buffer.core import default_buffer_prototype
from zarr.runners.bulk import batch_count
from zarr.runners.crossing import first_error
from zarr.runners.inline import InlineRunner, range_limits, staged
from zarr.runners.locks import Holder, lock_prefix
from zarr.runners.process_locks import lock_paths
from zarr.runners.resources import get_executor
from zarr.settings import config
from zarr.steps.requests import (
    Await,
    Delete,
    DeletePrefix,
    Gather,
    Get,
    GetRanges,
    Hold,
    List,
    ListDir,
    Put,
    PutIfAbsent,
    Size,
    Staged,
    Steps,
    Transfer,
)

if TYPE_CHECKING:
    import asyncio

    from zarr.abc.store import Store
    from zarr.buffer.core import Buffer
else:
    asyncio = LazyModule("asyncio")

T = TypeVar("T")

DIRECT_BYTES = 256 << 10
"""Up to this much decoded data, work of the core is done on the spot: a trip to a thread would cost more."""

NO_LIMIT = 1000
"""How many requests may be under way where the configuration sets no limit: a store may have millions of keys."""

FETCH_BATCH = 16
"""How many keys are fetched, and then decoded together, by one step of a bulk transfer."""

_GATES: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[int, asyncio.Semaphore]] = (
    weakref.WeakKeyDictionary()
)


def request_gate() -> asyncio.Semaphore:
    """The gate through which all requests of the running loop go, ``async.concurrency`` at a time."""
    loop = asyncio.get_running_loop()
    width = concurrency()
    known = _GATES.get(loop)
    if known is None or known[0] != width:
        known = (width, asyncio.Semaphore(width))
        _GATES[loop] = known
    return known[1]


def concurrency() -> int:
    """How many requests may be under way in one loop."""
    width = config.get("async.concurrency", 64)
    return NO_LIMIT if width is None else max(1, int(width))


async def windowed(jobs: Iterator[Callable[[], Awaitable[T]]], width: int) -> list[T]:
    """Await many jobs, at most ``width`` alive at once; results in order.

    The first error cancels the others, waits until they have stopped, and is raised. A job that is not reached is
    never made.
    """
    results: dict[int, T] = {}
    numbered = enumerate(jobs)

    async def worker(index: int, job: Callable[[], Awaitable[T]]) -> None:
        results[index] = await job()
        for later, following in numbered:
            results[later] = await following()

    tasks: list[asyncio.Task[None]] = []
    try:
        for index, job in islice(numbered, width):
            tasks.append(asyncio.ensure_future(worker(index, job)))
        if tasks:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in tasks:
                if task in done:
                    task.result()
    finally:
        await _stop_all([task for task in tasks if not task.done()])
        for task in tasks:
            if not task.cancelled():
                task.exception()  # looked at, lest a second error be reported as one that nobody saw
    return [results[index] for index in range(len(results))]


async def _stop_all(tasks: list[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they have stopped, even where the waiting task is cancelled once more."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.shield(asyncio.gather(*tasks, return_exceptions=True))


class _CalledOff(BaseException):
    """Thrown into steps that run in a thread when the task that waits for them was cancelled."""


def _checked(steps: Steps[T], called_off: threading.Event, loop: asyncio.AbstractEventLoop) -> Steps[T]:
    """The same steps for a runner in a thread: they stop when called off, and coroutines go to the caller's loop."""
    try:
        request = next(steps)
        while True:
            if called_off.is_set():
                raise _CalledOff
            try:
                if type(request) is Await:
                    reply = asyncio.run_coroutine_threadsafe(_call(request.factory), loop).result()
                elif type(request) is Gather:
                    reply = yield Gather(_checked(child, called_off, loop) for child in request.steps)
                elif type(request) is Staged:
                    reply = yield request.with_steps(_checked(request.steps, called_off, loop))
                else:
                    reply = yield request
            except Exception as error:
                request = steps.throw(error)
            else:
                request = steps.send(reply)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        steps.close()


async def _hold(store: Any, holder: Holder, request: Hold) -> None:
    scope = request.scope
    files = () if scope is None else lock_paths(store, scope, request.keys, request.family)
    await holder.acquire_async(request.keys, request.family, files)


async def _call(factory: Callable[[], Awaitable[T]]) -> T:
    return await factory()


class _Threaded:
    """For synchronous stores that block: one operation, one trip to a thread."""

    __slots__ = ("_inline",)

    def __init__(self, store: Any) -> None:
        self._inline = InlineRunner(store)

    async def run(self, steps: Steps[T]) -> T:
        loop = asyncio.get_running_loop()
        called_off = threading.Event()
        work = _checked(steps, called_off, loop)
        future = loop.run_in_executor(get_executor(), self._inline.run, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            called_off.set()
            await _settle(future)
            raise


async def _settle(future: asyncio.Future[Any]) -> None:
    """Wait until a thread has stopped; its own end is of no interest any more."""
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            continue
    if not future.cancelled():
        future.exception()


class _Direct:
    """For synchronous stores that never block: requests are answered on the spot, between two awaits."""

    __slots__ = ("_inline", "_prefix")

    def __init__(self, store: Any) -> None:
        self._inline = InlineRunner(store)
        self._prefix = lock_prefix(store)

    async def run(self, steps: Steps[T], above: Holder | None = None) -> T:
        holder = Holder(self._prefix, above)
        answer = self._inline.answer
        try:
            if above is None:
                await asyncio.sleep(0)  # many operations gathered over memory must not shut out the rest of the loop
            request = next(steps)
            while True:
                try:
                    kind = type(request)
                    if kind is Hold:
                        await _hold(self._inline.store, holder, request)
                        reply: Any = None
                    elif kind is Gather:
                        reply = [await self.run(child, holder) for child in request.steps]
                    elif kind is Await:
                        reply = await request.factory()
                    elif kind is Staged:
                        with staged(self._inline.store, request) as store:
                            reply = await _Direct(store).run(request.steps, holder)
                    elif kind is Transfer and request.nbytes > DIRECT_BYTES:
                        reply = await asyncio.to_thread(answer, request)
                    else:
                        reply = answer(request)
                except Exception as error:
                    request = steps.throw(first_error(error))
                else:
                    request = steps.send(reply)
        except StopIteration as stop:
            result: T = stop.value
            return result
        finally:
            steps.close()
            holder.release()


class _Coroutines:
    """For stores of coroutines: requests go through one gate, gathered steps in a window."""

    __slots__ = ("_handlers", "_prefix", "_store")

    def __init__(self, store: Store) -> None:
        self._store = store
        self._prefix = lock_prefix(store)
        self._handlers: dict[type, Callable[[Any], Awaitable[Any]]] = {
            Get: self._get,
            GetRanges: self._get_ranges,
            Put: self._put,
            PutIfAbsent: self._put_if_absent,
            Delete: self._delete,
            DeletePrefix: self._delete_prefix,
            List: self._list,
            ListDir: self._list_dir,
            Size: self._size,
        }

    async def run(self, steps: Steps[T], above: Holder | None = None) -> T:
        holder = Holder(self._prefix, above)
        handlers = self._handlers
        try:
            request = next(steps)
            while True:
                try:
                    handler = handlers.get(type(request))
                    if handler is None:
                        reply = await self._scoped(request, holder)
                    else:
                        async with request_gate():
                            reply = await handler(request)
                except (Exception, BaseExceptionGroup) as error:
                    request = steps.throw(first_error(error))
                else:
                    request = steps.send(reply)
        except StopIteration as stop:
            result: T = stop.value
            return result
        finally:
            steps.close()
            holder.release()

    async def _scoped(self, request: Any, holder: Holder) -> Any:
        """Answer the requests that are no single call of the store, and so do not pass the gate themselves."""
        kind = type(request)
        if kind is Gather:
            if isinstance(request.steps, list | tuple) and len(request.steps) == 1:
                return [await self.run(request.steps[0], holder)]
            jobs = (partial(self.run, child, holder) for child in request.steps)
            return await windowed(jobs, concurrency() if request.lean else 2 * concurrency())
        if kind is Hold:
            await _hold(self._store, holder, request)
            return None
        if kind is Await:
            return await request.factory()
        if kind is Transfer:
            return await self._transfer(request)
        raise TypeError(f"steps yielded {request!r}, which is no request")

    async def _get(self, request: Get) -> Buffer | None:
        prototype = request.prototype or default_buffer_prototype()
        if request.byte_range is None:
            return await self._store.get(request.key, prototype)
        return await self._store.get(request.key, prototype, request.byte_range)

    async def _get_ranges(self, request: GetRanges) -> list[Buffer | None] | None:
        answers: list[Buffer | None] = [None] * len(request.ranges)
        prototype = request.prototype or default_buffer_prototype()
        try:
            found = self._store.get_ranges(
                request.key, request.ranges, prototype=prototype, **range_limits(request)
            )
            async for group in found:
                for index, value in group:
                    answers[index] = value
        except (FileNotFoundError, BaseExceptionGroup) as error:
            if isinstance(first_error(error), FileNotFoundError):
                return None
            raise
        return answers

    async def _put(self, request: Put) -> None:
        await self._store.set(request.key, request.value)

    async def _put_if_absent(self, request: PutIfAbsent) -> bool:
        put_if_absent = getattr(self._store, "put_if_absent", None)
        if put_if_absent is not None:
            return bool(await put_if_absent(request.key, request.value))
        if await self._store.exists(request.key):
            return False
        await self._store.set_if_not_exists(request.key, request.value)
        return True

    async def _delete(self, request: Delete) -> None:
        await self._store.delete(request.key)

    async def _delete_prefix(self, request: DeletePrefix) -> None:
        await self._store.delete_dir(request.prefix)

    async def _list(self, request: List) -> list[str]:
        prefix = request.prefix
        found = self._store.list_prefix(prefix.rstrip("/") + "/") if prefix else self._store.list()
        return [key async for key in found]

    async def _list_dir(self, request: ListDir) -> list[str]:
        return [name async for name in self._store.list_dir(request.prefix)]

    async def _size(self, request: Size) -> int | None:
        try:
            return await self._store.getsize(request.key)
        except FileNotFoundError:
            return None

    async def _transfer(self, request: Transfer) -> None:
        """Fetch many keys at once and let the job decode each batch while the next ones are on their way."""
        names = request.names()
        size = max(1, min(batch_count(request), FETCH_BATCH))
        move = self._fetch if request.direction == "read" else self._send
        jobs = (partial(move, request, names, first, size) for first in range(0, len(names), size))
        await windowed(jobs, -(-concurrency() // size) + 2)

    async def _fetch(self, request: Transfer, names: list[str], first: int, size: int) -> None:
        wanted = names[first : first + size]
        payloads = await windowed((partial(self._fetch_one, key) for key in wanted), size)
        await _apart(request, partial(request.job.from_buffers, payloads, first), len(payloads))

    async def _fetch_one(self, key: str) -> Any:
        async with request_gate():
            buffer = await self._store.get(key, default_buffer_prototype())
        return None if buffer is None else buffer.as_numpy_array()

    async def _send(self, request: Transfer, names: list[str], first: int, size: int) -> None:
        wanted = names[first : first + size]
        payloads = await _apart(request, partial(request.job.encode, first, len(wanted)), len(wanted))
        pairs = zip(wanted, payloads, strict=True)
        await windowed((partial(self._send_one, key, payload) for key, payload in pairs), size)

    async def _send_one(self, key: str, payload: Any) -> None:
        async with request_gate():
            if payload is None:
                await self._store.delete(key)
            else:
                await self._store.set(key, default_buffer_prototype().buffer.from_bytes(payload))


async def _apart(request: Transfer, work: Callable[[], T], count: int) -> T:
    """Do work of the core in a thread, or on the spot where it is too small for the trip."""
    if request.nbytes * count <= DIRECT_BYTES * max(1, request.count):
        return work()
    return await asyncio.get_running_loop().run_in_executor(get_executor(), work)


class AsyncRunner:
    """Runs steps in the caller's event loop, over any store.

    Parameters
    ----------
    store : Store

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

    __slots__ = ("__weakref__", "_driver", "_own", "_size_of_own", "store")

    def __init__(self, store: Store) -> None:
        self.store = store
        self._driver: _Coroutines | _Direct | _Threaded
        self._own = getattr(store, "__dict__", {})
        self._choose_driver(store)

    def _choose_driver(self, store: Store) -> None:
        """By what the store is now: its methods may be replaced one day, as tests do."""
        self._size_of_own = len(self._own)
        if not is_synchronous(store):
            self._driver = _Coroutines(store)
        elif getattr(store, "blocking", True):
            self._driver = _Threaded(store)
        else:
            self._driver = _Direct(store)

    async def run(self, steps: Steps[T]) -> T:
        """Drive ``steps`` to their end and return what they return.

        Cancelling the awaiting task closes the steps; nothing goes on behind its back.
        """
        if len(self._own) != self._size_of_own:
            self._choose_driver(self.store)
        try:
            return await self._driver.run(steps)
        finally:
            steps.close()
