"""A store that notes what it is asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

from zarr.storage import MemoryStore


class CountingStore(MemoryStore):
    """Notes the keys that are read and the prefixes that are listed; its coroutines must not be used."""

    def __init__(self, store_dict: Any = None, *, read_only: bool = False) -> None:
        super().__init__(store_dict, read_only=read_only)
        self.read: list[str] = []
        self.listed: list[str] = []

    def get_sync(self, key: str, **more: Any) -> Any:
        self.read.append(key)
        return super().get_sync(key, **more)

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        self.listed.append(prefix)
        return super().list_dir_sync(prefix)

    async def get(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a synchronous store is read synchronously")

    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        raise AssertionError("a synchronous store is listed synchronously")
