"""A store with an artificial delay."""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING

from zarr.storage.wrappers.wrapper import WrapperStore

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest, Store
    from zarr.buffer.core import Buffer, BufferPrototype


class LatencyStore(WrapperStore["Store"]):
    """A wrapper that waits before every read and write of a store.

    Parameters
    ----------
    store : Store
    get_latency, set_latency : float or (float, float)
        Seconds; a pair is mean and deviation.

    Examples
    --------
    >>> import asyncio
    >>> from zarr.storage import MemoryStore
    >>> from zarr.buffer import default_buffer_prototype
    >>> slow = LatencyStore(MemoryStore(), get_latency=0.001)
    >>> asyncio.run(slow.get("nothing", default_buffer_prototype())) is None
    True
    """

    synchronous = False

    def __init__(
        self,
        store: Store,
        *,
        get_latency: float | tuple[float, float] = 0,
        set_latency: float | tuple[float, float] = 0,
    ) -> None:
        super().__init__(store)
        self._get_latency = get_latency
        self._set_latency = set_latency

    @property
    def get_latency(self) -> float:
        """The delay of the next read, in seconds."""
        return _drawn(self._get_latency)

    @property
    def set_latency(self) -> float:
        """The delay of the next write, in seconds."""
        return _drawn(self._set_latency)

    def _with_store(self, store: Store) -> LatencyStore:
        return type(self)(store, get_latency=self._get_latency, set_latency=self._set_latency)

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Wait, then read."""
        await asyncio.sleep(self.get_latency)
        return await super().get(key, prototype, byte_range)

    async def set(self, key: str, value: Buffer) -> None:
        """Wait, then write."""
        await asyncio.sleep(self.set_latency)
        await super().set(key, value)

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Wait in the calling thread, then read."""
        time.sleep(self.get_latency)
        return super().get_sync(key, prototype=prototype, byte_range=byte_range)

    def set_sync(self, key: str, value: Buffer) -> None:
        """Wait in the calling thread, then write."""
        time.sleep(self.set_latency)
        super().set_sync(key, value)


def _drawn(latency: float | tuple[float, float]) -> float:
    if isinstance(latency, tuple):
        return max(0.0, random.gauss(*latency))
    return latency
