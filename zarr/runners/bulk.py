"""Bulk transfers: run a job of the compiled core over a store.

A job walks over many chunks with the GIL released. This module chooses the size of its batches and the number of its
threads. The store decides if a job opens files itself or works on buffers (``bulk_kind`` of
``zarr/abc/stores/abilities.py``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from zarr._lazy import LazyModule, asyncio
from zarr.abc.store import BulkAccess, Store
from zarr.buffer.core import default_buffer_prototype
from zarr.errors import label_of
from zarr.runners.sync import get_executor, max_workers, run_helpers
from zarr.steps.requests import Transfer

if TYPE_CHECKING:
    from zarr.runners import concurrency
else:
    concurrency = LazyModule("zarr.runners.concurrency")

T = TypeVar("T")

MIN_BYTES_PER_THREAD = 1 << 20
"""Below this number of decoded bytes for each thread, another thread costs more than it saves."""

MIN_KEYS_PER_THREAD = 64
"""This number of small files keeps a second thread busy, however few bytes they hold: opening a file costs, too."""

BATCH_BYTES = 16 << 20
"""Decoded bytes that one thread fetches or encodes at a time if a store cannot be read in place."""

MAX_BATCHES_BYTES = 64 << 20
"""Decoded bytes that all threads fetch or encode at a time: with many processors each thread takes less."""


def thread_count(request: Transfer) -> int:
    """Return the number of threads, the caller's included, for a transfer."""
    worth = max(request.nbytes // MIN_BYTES_PER_THREAD, request.count // MIN_KEYS_PER_THREAD)
    return 1 if worth < 2 else int(min(worth, request.count * parts_of(request), max_workers()))


def parts_of(request: Transfer) -> int:
    """Return the number of threads for one key: more than one for a large shard, or for few shards to read."""
    return int(getattr(request.job, "parts", 1))


def share_keys(request: Transfer, threads: int) -> bool:
    """Let the threads encode each shard together, if there are too few to keep all busy; return True if they do."""
    if request.direction == "read" or parts_of(request) < 2 or threads < 2 or request.count >= 2 * threads:
        return False
    request.job.share()
    return True


def batch_count(request: Transfer, threads: int) -> int:
    """Return the number of keys in a batch."""
    each = max(1, request.nbytes // max(1, request.count))
    return int(max(1, min(request.count, min(BATCH_BYTES, MAX_BATCHES_BYTES // threads) // each, 4096)))


def transfer_files(request: Transfer, root: str, fsync: bool) -> None:
    """Let the job open the files itself, from several threads if that is faster."""
    job, keys = request.job, request.keys
    reads = request.direction == "read"
    work = partial(job.from_files, root, keys) if reads else partial(job.to_files, root, keys, fsync)
    threads = thread_count(request)
    share_keys(request, threads)
    if threads > 1:
        run_helpers(work, threads - 1, job.stop)
    else:
        work()


def transfer_buffers(
    request: Transfer,
    get_many: Callable[[list[str]], Sequence[Any]],
    set_many: Callable[[list[tuple[str, Any]]], None],
    in_place: bool = False,
) -> None:
    """Move the bytes by the store's own calls, batch by batch; several threads decode the batches.

    Values that a store returns ``in_place`` take no memory: few large values are requested at once, and read in parts.
    """
    names, threads = request.names(), thread_count(request)
    if in_place and request.direction == "read" and parts_of(request) > 1 and threads > 1:
        payloads = get_many(names)
        run_helpers(lambda: request.job.from_buffers(payloads), threads - 1, request.job.stop)
        return

    def move(first: int, stop: int) -> None:
        if request.direction == "read":
            request.job.from_buffers(get_many(names[first:stop]), first)
            return
        payloads = request.job.encode(first, stop - first)
        # Chunks that could not be encoded are left out: the steps write them the plain way, or raise the error.
        pairs = zip(names[first:stop], payloads, strict=True)
        set_many([(name, payload) for name, payload in pairs if payload is not ...])

    total, size = len(names), batch_count(request, threads)
    shared = share_keys(request, threads)
    if threads > 1 and not shared:
        size = max(1, min(size, -(-total // (4 * threads))))
    batches = deque((first, min(first + size, total)) for first in range(0, total, size))
    if threads > 1 and not shared:
        _move_in_threads(request, move, batches, threads)
        return
    for first, stop in batches:
        if threads > 1:
            run_helpers(partial(request.job.prepare, first, stop - first), threads - 1, request.job.stop)
        move(first, stop)


def _move_in_threads(
    request: Transfer, move: Callable[[int, int], None], pending: deque[tuple[int, int]], threads: int
) -> None:
    def work() -> None:
        while pending:
            try:
                batch = pending.popleft()
            except IndexError:
                return
            move(*batch)

    def give_up() -> None:
        pending.clear()
        request.job.stop()

    run_helpers(work, threads - 1, give_up)


def transfer(request: Transfer, access: BulkAccess | None, get_many: Any, set_many: Any) -> None:
    """Run a bulk job over a synchronous store.

    Parameters
    ----------
    request : Transfer
    access : BulkAccess or None
        The direct access of the core to the store, if there is one.
    get_many, set_many : callable
        The calls for a store without it.
    """
    if access is not None and access.kind == "files" and access.root is not None:
        transfer_files(request, access.root, access.fsync)
        return
    if access is not None and access.get_many is not None:
        get_many = access.get_many
    if access is not None and access.set_many is not None:
        set_many = access.set_many
    transfer_buffers(request, get_many, set_many, access is not None and access.in_place)


def note_keys(error: Exception, request: Transfer, store: object) -> None:
    """Add a note with the keys and the store of the transfer."""
    names = request.names()
    keys = f"{names[0]!r} to {names[-1]!r}" if len(names) > 1 else repr(names[0])
    error.add_note(f"while {'reading' if request.direction == 'read' else 'writing'} {keys} of {label_of(store)}")


# Over a store of coroutines: many requests at a time, while the core decodes or encodes

DIRECT_BYTES = 256 << 10
"""Up to this number of decoded bytes, the core works in the loop's thread: another thread would cost more."""

IN_FLIGHT_BYTES = 512 << 20
"""Decoded bytes that may be under way: of large chunks fewer are in memory at a time."""

MIN_IN_FLIGHT = 8
"""Number of requests under way even for the largest chunks."""


def width_of(request: Transfer) -> int:
    """Return the number of chunks of a transfer that are fetched or sent at a time."""
    return min(concurrency.concurrency(), max(MIN_IN_FLIGHT, IN_FLIGHT_BYTES // max(1, _each(request))))


def _each(request: Transfer) -> int:
    """Return the decoded bytes of one key."""
    return request.nbytes // max(1, request.count)


async def apart(work: Callable[[], T], stop: Callable[[], None]) -> T:
    """Run the core in a thread. If the task is cancelled, stop that work and wait for its end."""
    future = asyncio.get_running_loop().run_in_executor(get_executor(), work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        stop()
        await concurrency.wait_until_done(future)
        raise


async def receive(request: Transfer, store: Store) -> None:
    """Fetch the keys of a job and decode each value when it arrives."""
    names, gate, get = request.names(), concurrency.request_gate(), store.get
    prototype, decode = default_buffer_prototype(), request.job.from_buffers
    direct = _each(request) <= DIRECT_BYTES

    async def receive_one(index: int, key: str) -> None:
        try:
            async with gate:
                buffer = await get(key, prototype)
        except Exception as error:
            error.add_note(f"while reading {key!r} of {label_of(store)}")
            raise
        payloads = (None if buffer is None else buffer.as_numpy_array(),)
        if direct:
            decode(payloads, index)
        else:
            await apart(partial(decode, payloads, index), request.job.stop)

    await _each_key(receive_one, names, width_of(request))


async def send(request: Transfer, store: Store) -> None:
    """Encode each chunk of a job and store it."""
    names, gate = request.names(), concurrency.request_gate()
    wrap, encode = default_buffer_prototype().buffer.from_bytes, request.job.encode
    direct, threads = _each(request) <= DIRECT_BYTES, thread_count(request)
    shared = share_keys(request, threads)

    def encode_together(index: int) -> Any:
        run_helpers(partial(request.job.prepare, index, 1), threads - 1, request.job.stop)
        return encode(index, 1)

    async def send_one(index: int, key: str) -> None:
        work: Callable[[], Any] = partial(encode_together, index) if shared else partial(encode, index, 1)
        (payload,) = work() if direct else await apart(work, request.job.stop)
        if payload is ...:
            return  # chunks that could not be encoded stay as they are until the steps write them the plain way
        try:
            async with gate:
                if payload is None:
                    await concurrency.completed(store.delete(key))
                else:
                    await concurrency.completed(store.set(key, wrap(payload)))
        except Exception as error:
            error.add_note(f"while writing {key!r} of {label_of(store)}")
            raise

    await _each_key(send_one, names, width_of(request))


async def _each_key(move: Callable[[int, str], Awaitable[None]], names: list[str], width: int) -> None:
    await concurrency.windowed((partial(move, index, key) for index, key in enumerate(names)), width)
