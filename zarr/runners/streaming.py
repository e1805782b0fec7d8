"""Bulk transfers over a store of coroutines: many requests under way, and the core at work beside them.

Each chunk goes its own way: it is decoded when it has come, while others are still awaited, and sent when it is
encoded, while others still are encoded. Little chunks are worked on in the loop's own thread, where that is quicker
than the trip to another; larger ones in threads, so that the loop stays free for what arrives.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from zarr._lazy import LazyModule
from zarr.buffer.core import default_buffer_prototype
from zarr.errors import label_of
from zarr.runners.bulk import share_keys, thread_count
from zarr.runners.concurrency import completed, concurrency, request_gate, settle, windowed
from zarr.runners.sync import get_executor, run_helpers

if TYPE_CHECKING:
    import asyncio

    from zarr.abc.store import Store
    from zarr.steps.requests import Transfer
else:
    asyncio = LazyModule("asyncio")

T = TypeVar("T")

DIRECT_BYTES = 256 << 10
"""Up to this much decoded data, work of the core is done on the spot: a trip to a thread would cost more."""

IN_FLIGHT_BYTES = 512 << 20
"""The bytes of decoded data that may be under way: of large chunks fewer are held in memory at a time."""

MIN_IN_FLIGHT = 8
"""However large the chunks are, so many requests are under way."""


def width_of(request: Transfer) -> int:
    """Return how many chunks of a transfer are fetched or sent at a time."""
    return min(concurrency(), max(MIN_IN_FLIGHT, IN_FLIGHT_BYTES // max(1, _each(request))))


def _each(request: Transfer) -> int:
    """Return the decoded bytes of one key."""
    return request.nbytes // max(1, request.count)


async def apart(work: Callable[[], T], stop: Callable[[], None]) -> T:
    """Do work of the core in a thread. Where the task is cancelled, the work is stopped, and waited for."""
    future = asyncio.get_running_loop().run_in_executor(get_executor(), work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        stop()
        await settle(future)
        raise


async def receive(request: Transfer, store: Store) -> None:
    """Fetch the keys of a job and have each decoded as it comes."""
    names, gate, get = request.names(), request_gate(), store.get
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
    """Have each chunk of a job encoded and store it."""
    names, gate = request.names(), request_gate()
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
            return  # what could not be encoded stays as it is until the steps write it the plain way
        try:
            async with gate:
                if payload is None:
                    await completed(store.delete(key))
                else:
                    await completed(store.set(key, wrap(payload)))
        except Exception as error:
            error.add_note(f"while writing {key!r} of {label_of(store)}")
            raise

    await _each_key(send_one, names, width_of(request))


async def _each_key(move: Callable[[int, str], Awaitable[None]], names: list[str], width: int) -> None:
    await windowed((partial(move, index, key) for index, key in enumerate(names)), width)
