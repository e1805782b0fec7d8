"""Chunked, compressed, N-dimensional arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import LazyModule, lazy_names

if TYPE_CHECKING:
    from zarr import _version
    from zarr import logs as _logs
    from zarr.api.synchronous import *  # noqa: F403
    from zarr.arrays.array import Array as Array
    from zarr.arrays.async_array import AsyncArray as AsyncArray
    from zarr.arrays.show.pictures import plot_chunks as plot_chunks
    from zarr.groups.async_group import AsyncGroup as AsyncGroup
    from zarr.groups.group import Group as Group
    from zarr.logs import set_format as set_format
    from zarr.logs import set_log_level as set_log_level
    from zarr.runners.locks.synchronizers import ProcessSynchronizer as ProcessSynchronizer
    from zarr.runners.locks.synchronizers import ThreadSynchronizer as ThreadSynchronizer
    from zarr.settings import config as config
    from zarr.transactions import transaction as transaction

    __version__: str
else:
    _logs, _version = LazyModule("zarr.logs"), LazyModule("zarr._version")

_FORMAT_2_STORES = (
    "ABSStore ConsolidatedMetadataStore DBMStore DirectoryStore FSStore KVStore LMDBStore MemoryStore "
    "MongoDBStore NestedDirectoryStore RedisStore SQLiteStore TempStore ZipStore"
)
# Names that zarr-python 2 took over from numcodecs; in `zarr.codecs` some of these names mean codecs of format 3.
_FORMAT_2_CODECS = (
    "Adler32 AsType BZ2 Base64 BitRound Blosc CRC32 Categorize Delta FixedScaleOffset Fletcher32 GZip JSON "
    "JenkinsLookup3 LZ4 LZMA MsgPack PackBits Pickle Quantize Shuffle VLenArray VLenBytes VLenUTF8 Zlib Zstd"
)
v3_api_available = False  # the switch of zarr-python 2 for its experimental format 3; here format 3 is supported always
_NAMES = {
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
    "zarr.arrays.show.pictures": "plot_chunks",
    "zarr.groups.async_group": "AsyncGroup",
    "zarr.groups.group": "Group",
    "zarr.logs": "set_format set_log_level",
    "zarr.runners.locks.synchronizers": "ProcessSynchronizer ThreadSynchronizer",
    "zarr.settings": "config",
    "zarr.transactions": "transaction",
    "zarr._version": "__version__",
}
# Nothing is loaded before its first use: many programs import this package and use little of it.
__getattr__, __dir__ = lazy_names(
    __name__,
    _NAMES,
    unlisted={
        "zarr.metadata.v2": "ArrayV2Metadata",
        "zarr.metadata.v3": "ArrayV3Metadata",
        "zarr.logs": "debug_lines",
        "zarr.storage.version2.stores": _FORMAT_2_STORES,
        "zarr.storage.version2.n5": "N5FSStore N5Store",
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


if not TYPE_CHECKING:  # type checkers read the imports above
    __all__ = list(" ".join(["print_debug_info", *_NAMES.values()]).split())
