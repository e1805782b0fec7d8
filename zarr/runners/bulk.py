"""Bulk transfers: how a job of the compiled core and a store come together.

A job walks over many chunks with the GIL released. Here is decided in batches of what size it goes, and with how many
threads. Whether it opens files itself or works on buffers is what the store says (``bulk_kind`` of
``zarr/abc/stores/abilities.py``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from zarr.errors import label_of
from zarr.runners.sync import max_workers, run_helpers

if TYPE_CHECKING:
    from zarr.abc.store import BulkAccess
    from zarr.steps.requests import Transfer

MIN_BYTES_PER_THREAD = 1 << 20
"""Below this much decoded data for each thread, handing work to another thread costs more than it saves."""

MIN_KEYS_PER_THREAD = 64
"""As many small files keep a second thread busy, however few bytes they hold: opening a file costs too."""

BATCH_BYTES = 16 << 20
"""The bytes of decoded data that a thread fetches or encodes at a time where a store cannot be read in place."""

MAX_BATCHES_BYTES = 64 << 20
"""The bytes of decoded data that all threads fetch or encode at a time: on many processors each takes less."""


def thread_count(request: Transfer) -> int:
    """Return how many threads, the caller's included, a transfer is worth."""
    worth = max(request.nbytes // MIN_BYTES_PER_THREAD, request.count // MIN_KEYS_PER_THREAD)
    return 1 if worth < 2 else int(min(worth, request.count * parts_of(request), max_workers()))


def parts_of(request: Transfer) -> int:
    """Return how many threads can work on one key: more than one for a large shard, or one of few to be read."""
    return int(getattr(request.job, "parts", 1))


def share_keys(request: Transfer, threads: int) -> bool:
    """Have threads encode each shard together, where there are too few to keep all busy; return whether they do."""
    if request.direction == "read" or parts_of(request) < 2 or threads < 2 or request.count >= 2 * threads:
        return False
    request.job.share()
    return True


def batch_count(request: Transfer, threads: int) -> int:
    """Return how many keys make a batch."""
    each = max(1, request.nbytes // max(1, request.count))
    return int(max(1, min(request.count, min(BATCH_BYTES, MAX_BATCHES_BYTES // threads) // each, 4096)))


def transfer_files(request: Transfer, root: str, fsync: bool) -> None:
    """Let the job open the files itself, from several threads at once where that is worth it."""
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
    """Move the bytes through the store's own calls, batch by batch; the batches are decoded by several threads.

    What a store hands out ``in_place`` takes no memory: few large values are asked for at once, and read in parts.
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
        # What could not be encoded is left as it is: the steps write it the plain way, or say what is wrong with it.
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
        The store's own shortcut, if it has one.
    get_many, set_many : callable
        The way round for a store that has none.
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
    """Say in a note which keys of which store were at work."""
    names = request.names()
    keys = f"{names[0]!r} to {names[-1]!r}" if len(names) > 1 else repr(names[0])
    error.add_note(f"while {'reading' if request.direction == 'read' else 'writing'} {keys} of {label_of(store)}")
