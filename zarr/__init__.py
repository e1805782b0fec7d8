"""Chunked, compressed, N-dimensional arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import LazyModule, lazy_names

if TYPE_CHECKING:
    from zarr import _version
    from zarr import logs as _logs
    from zarr._version import version as __version__
    from zarr.api.opening import create_group, open_array
    from zarr.api.synchronous import (
        array,
        consolidate_metadata,
        copy,
        copy_all,
        copy_store,
        create,
        create_array,
        create_hierarchy,
        empty,
        empty_like,
        from_array,
        full,
        full_like,
        group,
        load,
        ones,
        ones_like,
        open,
        open_consolidated,
        open_group,
        open_like,
        read_many,
        save,
        save_array,
        save_group,
        save_many,
        tree,
        zeros,
        zeros_like,
    )
    from zarr.arrays.array import Array
    from zarr.arrays.async_array import AsyncArray
    from zarr.groups.async_group import AsyncGroup
    from zarr.groups.group import Group
    from zarr.logs import set_format, set_log_level
    from zarr.runners.locks.synchronizers import ProcessSynchronizer, ThreadSynchronizer
    from zarr.settings import config
    from zarr.transactions import transaction
else:
    _logs, _version = LazyModule("zarr.logs"), LazyModule("zarr._version")

_FORMAT_2_STORES = (
    "ABSStore ConsolidatedMetadataStore DBMStore DirectoryStore FSStore KVStore LMDBStore MemoryStore "
    "MongoDBStore N5FSStore N5Store NestedDirectoryStore RedisStore SQLiteStore TempStore ZipStore"
)
# What zarr-python 2 took over from numcodecs; in `zarr.codecs` some of these names mean codecs of format 3.
_FORMAT_2_CODECS = (
    "Adler32 AsType BZ2 Base64 BitRound Blosc CRC32 Categorize Delta FixedScaleOffset Fletcher32 GZip JSON "
    "JenkinsLookup3 LZ4 LZMA MsgPack PackBits Pickle Quantize Shuffle VLenArray VLenBytes VLenUTF8 Zlib Zstd"
)
v3_api_available = False  # the switch of zarr-python 2 for its experiment; here format 3 is the format
# Nothing is loaded before it is asked for: many programs import this package and use little of it, or nothing.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.api.create": (
            "array create create_array empty empty_like from_array full full_like ones ones_like zeros zeros_like"
        ),
        "zarr.api.saving": "read_many save_many copy copy_all copy_store load save save_array save_group tree",
        "zarr.api.opening": (
            "consolidate_metadata create_group create_hierarchy group open open_array open_consolidated open_group "
            "open_like"
        ),
        "zarr.arrays.async_array": "AsyncArray",
        "zarr.arrays.array": "Array",
        "zarr.groups.async_group": "AsyncGroup",
        "zarr.groups.group": "Group",
        "zarr.logs": "set_format set_log_level",
        "zarr.runners.locks.synchronizers": "ProcessSynchronizer ThreadSynchronizer",
        "zarr.settings": "config",
        "zarr.transactions": "transaction",
        "zarr._version": "__version__",
    },
    unlisted={
        "zarr.metadata.v2": "ArrayV2Metadata",
        "zarr.metadata.v3": "ArrayV3Metadata",
        "zarr.logs": "debug_lines",
        "zarr.storage.version2.stores": _FORMAT_2_STORES,
        "zarr.storage._format2": "LRUStoreCache",
        "numcodecs": _FORMAT_2_CODECS,
        # Further names of zarr-python 2.
        "numcodecs.registry": "codec_registry get_codec register_codec",
        "zarr.errors": "CopyError MetadataError",
        "zarr.storage": "DictStore",
    },
)


def print_debug_info() -> None:
    """Print versions and settings that a bug report should name.

    Examples
    --------
    >>> import zarr
    >>> zarr.print_debug_info()  # doctest: +ELLIPSIS
    platform: ...
    """
    print("\n".join(_logs.debug_lines(_version.version)))


__all__ = [
    "Array",
    "AsyncArray",
    "AsyncGroup",
    "Group",
    "ProcessSynchronizer",
    "ThreadSynchronizer",
    "__version__",
    "array",
    "config",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "create",
    "create_array",
    "create_group",
    "create_hierarchy",
    "empty",
    "empty_like",
    "from_array",
    "full",
    "full_like",
    "group",
    "load",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "open_like",
    "read_many",
    "print_debug_info",
    "save",
    "save_array",
    "save_group",
    "save_many",
    "set_format",
    "set_log_level",
    "transaction",
    "tree",
    "zeros",
    "zeros_like",
]
