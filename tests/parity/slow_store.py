"""A store with only coroutines, as a remote store has, around a memory store."""

from __future__ import annotations

import asyncio
from typing import Any

from zarr.storage import WrapperStore


class SlowStore(WrapperStore[Any]):
    """Answers after a turn of the event loop; overrides only the coroutines."""

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        await asyncio.sleep(0)
        return await super().get(key, prototype, byte_range)

    async def set(self, key: str, value: Any) -> None:
        await asyncio.sleep(0)
        await super().set(key, value)
