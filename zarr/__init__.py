"""Chunked, compressed, N-dimensional arrays."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zarr import _version, types
from zarr.api.opening import create_group
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
    open_array,
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
from zarr.arrays.asynchronous import AsyncArray
from zarr.arrays.synchronous import Array
from zarr.groups.asynchronous import AsyncGroup
from zarr.groups.synchronous import Group
from zarr.logs import debug_lines, set_format, set_log_level
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.runners.synchronizers import ProcessSynchronizer, ThreadSynchronizer
from zarr.settings import config
from zarr.transactions import transaction

if TYPE_CHECKING:
    from zarr._version import version as __version__

# `zarr.types` lies on the first floor and names classes of upper floors: they are handed down from here.
vars(types).update(
    Array=Array,
    AsyncArray=AsyncArray,
    ArrayV2Metadata=ArrayV2Metadata,
    ArrayV3Metadata=ArrayV3Metadata,
    AnyArray=Array[Any],
    AnyAsyncArray=AsyncArray[Any],
    ArrayV2=Array[ArrayV2Metadata],
    ArrayV3=Array[ArrayV3Metadata],
    AsyncArrayV2=AsyncArray[ArrayV2Metadata],
    AsyncArrayV3=AsyncArray[ArrayV3Metadata],
)

_FORMAT_2_STORES = frozenset(
    (
        "ABSStore", "ConsolidatedMetadataStore", "DBMStore", "DirectoryStore", "FSStore", "KVStore", "LMDBStore",
        "LRUStoreCache", "MemoryStore", "MongoDBStore", "N5FSStore", "N5Store", "NestedDirectoryStore", "RedisStore",
        "SQLiteStore", "TempStore", "ZipStore",
    )
)  # fmt: skip
# What zarr-python 2 took over from numcodecs; in `zarr.codecs` some of these names mean codecs of format 3.
_FORMAT_2_CODECS = frozenset(
    (
        "Adler32", "AsType", "BZ2", "Base64", "BitRound", "Blosc", "CRC32", "Categorize", "Delta", "FixedScaleOffset",
        "Fletcher32", "GZip", "JSON", "JenkinsLookup3", "LZ4", "LZMA", "MsgPack", "PackBits", "Pickle", "Quantize",
        "Shuffle", "VLenArray", "VLenBytes", "VLenUTF8", "Zlib", "Zstd",
    )
)  # fmt: skip
# Further names of zarr-python 2, and the modules that have them.
_FORMAT_2_NAMES = {
    "CopyError": "zarr.errors",
    "DictStore": "zarr.storage",
    "MetadataError": "zarr.errors",
    "codec_registry": "numcodecs.registry",
    "get_codec": "numcodecs.registry",
    "register_codec": "numcodecs.registry",
}
_FRONT_ROOMS = frozenset(
    (
        "array_api", "attrs", "context", "convenience", "core", "creation", "draft3", "experimental", "hierarchy",
        "indexing", "meta", "models", "n5", "sync", "testing", "util", "version",
    )
)  # fmt: skip
v3_api_available = False  # the switch of zarr-python 2 for its experiment; here format 3 is the format


def __getattr__(name: str) -> Any:
    # These rooms only repeat names of the others for libraries that ask for them; they are loaded when one does.
    if name in _FRONT_ROOMS:
        return import_module(f"zarr.{name}")
    if name == "__version__":
        return _version.version
    if name in _FORMAT_2_STORES:
        return getattr(import_module("zarr.storage.format2"), name)
    if name in _FORMAT_2_NAMES:
        return getattr(import_module(_FORMAT_2_NAMES[name]), name)
    if name in _FORMAT_2_CODECS:
        return getattr(import_module("numcodecs"), name)
    raise AttributeError(f"module 'zarr' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_FRONT_ROOMS, "__version__"})


def print_debug_info() -> None:
    """Print versions and settings that a bug report should name.

    Examples
    --------
    >>> import zarr
    >>> zarr.print_debug_info()  # doctest: +ELLIPSIS
    platform: ...
    """
    print("\n".join(debug_lines(_version.version)))


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
