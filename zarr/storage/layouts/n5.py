"""Show hierarchies of N5 as format 3, for reading.

A block is decoded by the codec ``n5_default``; keys and axes are in reverse order in N5.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from zarr._lazy import load
from zarr.steps.requests import List, ListDir, Steps
from zarr.storage.checks import parse_object, require
from zarr.storage.keys import check_prefix, child_names, dir_prefix, join
from zarr.storage.layouts.base import LayoutStore, read_steps, to_bytes

N5_KEYS: Final = frozenset(("dimensions", "blockSize", "dataType", "compression", "compressionType", "n5"))
"""Members of ``attributes.json`` that are not attributes of a user."""

_TYPES: Final = {"float32", "float64", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64))}


def is_n5_array(attributes: Mapping[str, Any]) -> bool:
    """Return True if attributes describe a dataset.

    Examples
    --------
    >>> is_n5_array({"n5": "2.0.0"})
    False
    """
    return all(key in attributes for key in ("dimensions", "blockSize", "dataType"))


def is_n5(attributes: object) -> bool:
    """Return True if a document ``attributes.json`` is one of N5: of the root, which has its version, or of a dataset.

    Examples
    --------
    >>> is_n5({"n5": "2.0.0"}), is_n5({"resolution": [1, 1]})
    (True, False)
    """
    return isinstance(attributes, Mapping) and (isinstance(attributes.get("n5"), str) or is_n5_array(attributes))


def n5_group_document(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a group in format 3."""
    return {"zarr_format": 3, "node_type": "group", "attributes": users_attributes(attributes)}


def users_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a user."""
    return {key: value for key, value in attributes.items() if key not in N5_KEYS}


def compression_of(attributes: Mapping[str, Any]) -> Any:
    """Return the description of the compression of a dataset; older writers give its type only."""
    given = attributes.get("compression", attributes.get("compressionType", "raw"))
    return {"type": given} if isinstance(given, str) else given


def n5_array_document(attributes: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the document of an array in format 3.

    N5 lists the fastest dimension first, NumPy the slowest: the shape is N5's dimensions reversed, as in other readers
    of N5 in Python.

    Raises
    ------
    MetadataValidationError
        If a member is malformed, or the data type or the compression is unknown.
    """
    dimensions, block = attributes["dimensions"], attributes["blockSize"]
    for key, value in (("dimensions", dimensions), ("blockSize", block)):
        good = isinstance(value, list) and value and all(type(n) is int and n >= 0 for n in value)
        require(good, f"{name}: {key} must be a list of sizes, got {value!r}")
    require(len(dimensions) == len(block), f"{name}: {len(dimensions)} dimensions, but a blockSize of {len(block)}")
    data_type = attributes["dataType"]
    known = isinstance(data_type, str) and data_type in _TYPES
    require(known, f"{name}: N5's dataType {data_type!r} is not known; it has {sorted(_TYPES)}")
    reverse = list(range(len(block)))[::-1]
    transpose = {"name": "transpose", "configuration": {"order": reverse}}
    inner = [transpose, {"name": "bytes", "configuration": {"endian": "big"}}, *_compression(attributes, name)]
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": dimensions[::-1],
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": block[::-1]}},
        # Give each chunk key a name that cannot be the name of a node; the store translates it.
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
        "fill_value": 0,
        "codecs": [transpose, {"name": "n5_default", "configuration": {"codecs": inner}}],
        "attributes": users_attributes(attributes),
    }


def _compression(attributes: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    options = compression_of(attributes)
    require(isinstance(options, Mapping), f"{name}: compression must be an object with a type, got {options!r}")
    kind = options.get("type")
    if kind == "raw":
        return []
    codec = "zlib" if kind == "gzip" and options.get("useZlib") else str(kind)
    known = "raw, gzip, bzip2, xz, lz4, blosc and zstd"
    require(codec in _CODECS, f"{name}: N5's compression {kind!r} is not known; {known} are")
    found, configuration = _CODECS[codec]
    return [{"name": found, "configuration": {**configuration}}]


_CODECS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "gzip": ("gzip", {"level": 5}),
    "zlib": ("numcodecs.zlib", {"level": 1}),
    "bzip2": ("numcodecs.bz2", {"level": 9}),
    "xz": ("numcodecs.lzma", {"format": 1, "preset": 6}),
    "lzma": ("numcodecs.lzma", {"format": 1, "preset": 6}),
    "lz4": ("zarr.n5_lz4", {}),
    "zstd": ("zstd", {"level": 3, "checksum": False}),
    "blosc": ("blosc", {"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "blocksize": 0}),
}
"""Codecs of format 3 that read the compressions of N5; levels matter only to writers."""


DOCUMENT = "attributes.json"

_CHUNK = re.compile(r"\d+(\.\d+)*")
_BLOCK = re.compile(r"\d+")


def attributes_steps(path: str) -> Steps[dict[str, Any] | None]:
    """Read the attributes of a node at a path of the store below; None if there are none."""
    key = join(path, DOCUMENT)
    raw = yield from read_steps(key)
    return None if raw is None else parse_object(raw, key)


class N5Store(LayoutStore):
    """A hierarchy of N5, for reading: every folder is a group, or an array if its attributes have dimensions.

    For a path, the class returns the store of zarr-python 2 (``zarr.N5Store``), which writes, too.

    Axes are in NumPy's order: the shape of an array is N5's ``dimensions`` reversed. Missing blocks read as zero.

    Parameters
    ----------
    store : Store
        The store that holds the hierarchy.
    path : str
        The place of the hierarchy in the store.

    Notes
    -----
    https://github.com/saalfeldlab/n5

    Examples
    --------
    >>> from zarr.storage import MemoryStore, N5Store
    >>> N5Store(MemoryStore()).read_only
    True
    """

    supports_writes: bool = False
    supports_deletes: bool = False

    def __new__(cls, store: Any = None, *args: Any, **options: Any) -> Any:
        """Return the store; for a path, that of zarr-python 2, which writes N5."""
        if isinstance(store, str | os.PathLike):
            return load("zarr.storage.version2.n5").N5Store(store, *args, **options)
        return super().__new__(cls)

    def chunk_key(self, key: str) -> str | None:
        """Return the key of a block: coordinates in N5's order, a folder for each."""
        path, _, name = key.rpartition("/")
        if not _CHUNK.fullmatch(name):
            return None
        return self._below(path, *reversed(name.split(".")))

    def document_steps(self, path: str) -> Steps[bytes | None]:
        """Return the document of an array, or of a group: of any folder that is not empty."""
        attributes = yield from attributes_steps(self._below(path))
        if attributes is None:
            if path and not (yield ListDir(dir_prefix(self._below(path)))):
                return None
            attributes = {}
        if is_n5_array(attributes):
            return to_bytes(n5_array_document(attributes, self._below(path, DOCUMENT)))
        return to_bytes(n5_group_document(attributes))

    def list_dir_steps(self, prefix: str) -> Steps[list[str]]:
        """Return the names below a group; below an array, those of its chunks."""
        path = check_prefix(prefix).strip("/")
        attributes = yield from attributes_steps(self._below(path))
        if attributes is not None and is_n5_array(attributes):
            return child_names((yield from self.list_prefix_steps(dir_prefix(path))), path)
        found = yield ListDir(dir_prefix(self._below(path)))
        return sorted({*(name for name in found if name != DOCUMENT), "zarr.json"})

    def list_prefix_steps(self, prefix: str) -> Steps[list[str]]:
        """Return all keys as format 3 has them."""
        start, folder = dir_prefix(self.path), check_prefix(prefix).rpartition("/")[0]
        found = yield List(self._below(folder))
        split = [key[len(start) :].rpartition("/")[::2] for key in found]
        nodes = {path for path, name in split if name == DOCUMENT}
        keys = {join(path, "zarr.json") for path in nodes}
        for path, name in split:
            if name != DOCUMENT:
                keys.update(_chunks_of(join(path, name), nodes))
        return sorted(key for key in keys if key.startswith(prefix))


def _chunks_of(key: str, nodes: set[str]) -> list[str]:
    """Return the key of a chunk for the key of a block; yield nothing for other files."""
    parts = key.split("/")
    for depth in range(len(parts) - 1, -1, -1):
        path, coords = "/".join(parts[:depth]), parts[depth:]
        if path in nodes:
            return [join(path, ".".join(reversed(coords)))] if all(map(_BLOCK.fullmatch, coords)) else []
    return []
