"""Stores of zarr-python 2 that have no class of their own any more: they say what to write instead."""

from __future__ import annotations

from typing import Any


class _GoneStore:
    _instead = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(f"there is no {type(self).__name__} any more. {self._instead}")


class ABSStore(_GoneStore):
    """Azure blobs are opened by URL."""

    _instead = (
        "Open Azure blobs with zarr.storage.FsspecStore.from_url('abfs://container/path', storage_options={...}) and "
        "the package adlfs, or with zarr.storage.ObjectStore(obstore.store.AzureStore(...))."
    )


class RedisStore(_GoneStore):
    """A mapping over a Redis client can be used as a store."""

    _instead = (
        "Give any mutable mapping of str to bytes to zarr.storage.KVStore(mapping), such as one over a redis client."
    )


class MongoDBStore(_GoneStore):
    """A mapping over a collection can be used as a store."""

    _instead = (
        "Give any mutable mapping of str to bytes to zarr.storage.KVStore(mapping), such as one over a collection."
    )
