"""The contract of stores: bytes under string keys.

Subclass ``SyncStore`` and write plain methods, or subclass ``Store`` and write coroutines; never both. The library
turns one into the other where it must.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_names

if TYPE_CHECKING:  # what type checkers know of the table
    from zarr.abc.stores.abilities import BulkAccess as BulkAccess
    from zarr.abc.stores.abilities import bulk_access_of as bulk_access_of
    from zarr.abc.stores.abilities import class_goes_by as class_goes_by
    from zarr.abc.stores.abilities import get_many_of as get_many_of
    from zarr.abc.stores.abilities import goes_by as goes_by
    from zarr.abc.stores.abilities import is_synchronous as is_synchronous
    from zarr.abc.stores.abilities import open_value_of as open_value_of
    from zarr.abc.stores.abilities import stamp_of_store as stamp_of_store
    from zarr.abc.stores.abilities import takes_contents_first as takes_contents_first
    from zarr.abc.stores.async_store import Store as Store
    from zarr.abc.stores.partial_stores import ReadListStore as ReadListStore
    from zarr.abc.stores.partial_stores import ReadStore as ReadStore
    from zarr.abc.stores.partial_stores import ReadWriteListStore as ReadWriteListStore
    from zarr.abc.stores.partial_stores import ReadWriteStore as ReadWriteStore
    from zarr.abc.stores.protocols import ByteGetter as ByteGetter
    from zarr.abc.stores.protocols import ByteRequest as ByteRequest
    from zarr.abc.stores.protocols import ByteSetter as ByteSetter
    from zarr.abc.stores.protocols import OffsetByteRequest as OffsetByteRequest
    from zarr.abc.stores.protocols import RangeByteRequest as RangeByteRequest
    from zarr.abc.stores.protocols import SuffixByteRequest as SuffixByteRequest
    from zarr.abc.stores.protocols import SupportsDeleteSync as SupportsDeleteSync
    from zarr.abc.stores.protocols import SupportsGetSync as SupportsGetSync
    from zarr.abc.stores.protocols import SupportsSetSync as SupportsSetSync
    from zarr.abc.stores.protocols import SupportsSyncStore as SupportsSyncStore
    from zarr.abc.stores.protocols import SyncByteGetter as SyncByteGetter
    from zarr.abc.stores.protocols import SyncByteSetter as SyncByteSetter
    from zarr.abc.stores.protocols import _store_supports_sync_io as _store_supports_sync_io
    from zarr.abc.stores.protocols import set_or_delete as set_or_delete
    from zarr.abc.stores.sync_store import SyncStore as SyncStore

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.abc.stores.async_store": "Store",
        "zarr.abc.stores.partial_stores": "ReadListStore ReadStore ReadWriteListStore ReadWriteStore",
        "zarr.abc.stores.abilities": (
            "BulkAccess bulk_access_of class_goes_by get_many_of goes_by is_synchronous open_value_of stamp_of_store "
            "takes_contents_first"
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
