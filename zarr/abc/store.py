"""The contract of stores: bytes under string keys.

Subclass ``SyncStore`` and write plain methods, or subclass ``Store`` and write coroutines; never both. The library
derives the other form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_names

if TYPE_CHECKING:  # for type checkers
    from zarr.abc.stores.abilities import *  # noqa: F403
    from zarr.abc.stores.async_store import *  # noqa: F403
    from zarr.abc.stores.partial_stores import *  # noqa: F403
    from zarr.abc.stores.protocols import *  # noqa: F403
    from zarr.abc.stores.sync_store import *  # noqa: F403

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.abc.stores.async_store": "Store",
        "zarr.abc.stores.partial_stores": "ReadListStore ReadStore ReadWriteListStore ReadWriteStore",
        "zarr.abc.stores.abilities": (
            "BulkAccess bulk_access_of class_goes_by get_many_of goes_by is_synchronous open_value_of stamp_of_store "
            "takes_contents_first versioned_of"
        ),
        "zarr.abc.stores.protocols": (
            "ByteGetter ByteRequest ByteSetter OffsetByteRequest RangeByteRequest SuffixByteRequest "
            "SupportsDeleteSync SupportsGetSync SupportsSetSync SupportsSyncStore SyncByteGetter SyncByteSetter "
            "_store_supports_sync_io set_or_delete"
        ),
        "zarr.abc.stores.sync_store": "SyncStore",
    },
)
__all__ = sorted({*__dir__()} - {*globals()})  # noqa: PLE0605  # the names of the table
