"""What a store must offer: bytes under string keys.

Subclass ``SyncStore`` and write plain methods, or subclass ``Store`` and write coroutines; never both. The library
turns one into the other where it must.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_names
from zarr.abc.stores.async_store import Store
from zarr.abc.stores.overrides import (
    BulkAccess,
    bulk_access_of,
    class_goes_by,
    get_many_of,
    goes_by,
    is_synchronous,
    open_value_of,
    stamp_of_store,
    takes_contents_first,
)
from zarr.abc.stores.sync_store import SyncStore

if TYPE_CHECKING:
    from zarr.abc.stores.kinds import ReadListStore, ReadStore, ReadWriteListStore, ReadWriteStore
    from zarr.abc.stores.protocols import (
        ByteGetter,
        ByteRequest,
        ByteSetter,
        OffsetByteRequest,
        RangeByteRequest,
        SuffixByteRequest,
        SupportsDeleteSync,
        SupportsGetSync,
        SupportsSetSync,
        SupportsSyncStore,
        SyncByteGetter,
        SyncByteSetter,
        _store_supports_sync_io,
        set_or_delete,
    )

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.abc.stores.kinds": "ReadListStore ReadStore ReadWriteListStore ReadWriteStore",
        "zarr.abc.stores.protocols": (
            "ByteGetter ByteRequest ByteSetter OffsetByteRequest RangeByteRequest SuffixByteRequest "
            "SupportsDeleteSync SupportsGetSync SupportsSetSync "
            "SupportsSyncStore SyncByteGetter SyncByteSetter _store_supports_sync_io set_or_delete"
        ),
    },
)

__all__ = [
    "BulkAccess",
    "ByteGetter",
    "ByteRequest",
    "ByteSetter",
    "OffsetByteRequest",
    "RangeByteRequest",
    "ReadListStore",
    "ReadStore",
    "ReadWriteListStore",
    "ReadWriteStore",
    "Store",
    "SuffixByteRequest",
    "SupportsDeleteSync",
    "SupportsGetSync",
    "SupportsSetSync",
    "SupportsSyncStore",
    "SyncByteGetter",
    "SyncByteSetter",
    "SyncStore",
    "_store_supports_sync_io",
    "bulk_access_of",
    "class_goes_by",
    "get_many_of",
    "goes_by",
    "is_synchronous",
    "set_or_delete",
    "open_value_of",
    "stamp_of_store",
    "takes_contents_first",
]
