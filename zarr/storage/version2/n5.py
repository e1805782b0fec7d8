"""Hierarchies of N5 as stores of zarr-python 2: read and written, with documents and blocks shown in format 2."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import struct
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_bytes, ndarray_copy
from numcodecs.registry import get_codec, register_codec

from zarr._lazy import load
from zarr._process import forget_closed
from zarr.abc.store import BulkAccess, Store
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.errors import ZarrUserWarning
from zarr.notices import warn
from zarr.steps.requests import Delete, Get, List, ListDir, Put, Steps
from zarr.storage.keys import child_names, dir_prefix, join, nearest_above
from zarr.storage.layouts.n5 import DOCUMENT, N5_KEYS, attributes_steps, compression_of, is_n5_array, users_attributes
from zarr.storage.layouts.n5 import N5Store as CurrentN5Store
from zarr.storage.local.store import LocalStore
from zarr.storage.version2.stores import FoldedStore, Format2Store, FSStore, document_of
from zarr.storage.wrappers.wrapper import Call, StepsStore

# Documents and blocks, translated to and from format 2 and numcodecs

N5_FORMAT: Final = "2.0.0"
n5_keywords: Final = ["n5", "dataType", "dimensions", "blockSize", "compression"]
n5_attrs_key: Final = DOCUMENT
WRAPPER: Final = "n5_wrapper"


def array_to_n5(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of N5 for an array, from its document of format 2.

    Raises
    ------
    ValueError
        If it is of format 3, or N5 has no such order, filters, fill value or objects.
    TypeError
        If N5 has no such data type.

    Examples
    --------
    >>> array_to_n5({"zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<i4", "fill_value": 0,
    ...              "order": "C", "filters": None, "compressor": None})["dimensions"]
    [6, 4]
    """
    if document["zarr_format"] != 2:
        raise ValueError("groups and arrays of N5 are made with zarr_format=2")
    if document["order"] != "C":
        raise ValueError(f"N5 stores arrays in order C only, not in order {document['order']!r}")
    if document.get("filters"):
        raise ValueError(f"N5 has no filters; got {document['filters']}")
    dtype = np.dtype("V" if isinstance(document["dtype"], list) else document["dtype"])
    if dtype.kind == "O":
        raise ValueError("N5 has integers and floats, not objects")
    if dtype.kind not in "iuf":
        raise TypeError(f"N5 has integers and floats, not {document['dtype']!r}")
    if document.get("fill_value") not in (0, None):
        raise ValueError(f"N5 fills with 0 only, not with {document['fill_value']!r}")
    return {
        "dimensions": list(document["shape"])[::-1],
        "blockSize": list(document["chunks"])[::-1],
        "dataType": dtype.name,
        "compression": compression_to_n5(document["compressor"]),
    }


def array_from_n5(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of an array in format 2 from its attributes of N5.

    Examples
    --------
    >>> array_from_n5({"dimensions": [6, 4], "blockSize": [3, 2], "dataType": "int32", "compression": {"type": "raw"}})[
    ...     "chunks"]
    [2, 3]
    """
    chunks = attributes["blockSize"][::-1]
    dtype = np.dtype(attributes["dataType"]).str
    codec = compression_from_n5(compression_of(attributes))
    return {
        "zarr_format": 2,
        "shape": attributes["dimensions"][::-1],
        "chunks": chunks,
        "dtype": dtype,
        "fill_value": 0,
        "order": "C",
        "filters": None,
        "dimension_separator": ".",
        "compressor": {"id": WRAPPER, "compressor_config": codec, "dtype": dtype, "chunk_shape": chunks},
    }


def compression_to_n5(config: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return N5's description of a codec of numcodecs.

    Examples
    --------
    >>> compression_to_n5({"id": "zlib", "level": 1})
    {'type': 'gzip', 'level': 1, 'useZlib': True}
    """
    if config is None:
        return {"type": "raw"}
    if config["id"] == WRAPPER:
        return compression_to_n5(config["compressor_config"])
    words = {name: value for name, value in config.items() if name != "id"}
    kind = config["id"]
    if kind == "bz2":
        return {"type": "bzip2", "blockSize": words["level"]}
    if kind in ("gzip", "zlib"):
        return {"type": "gzip", "level": words["level"], "useZlib": kind == "zlib"}
    if kind == "lzma":
        if words.get("format", 1) != 1 or words.get("check", -1) not in (-1, 4) or words.get("filters"):
            warn("N5 knows the format xz of lzma only, with its usual check and no filters", RuntimeWarning)
            return {"type": "lzma", **words}
        return {"type": "xz", "preset": 6 if words.get("preset") is None else words["preset"]}
    if kind in ("lz4", N5LZ4.codec_id):
        return {"type": "lz4", "blockSize": words.get("blockSize", 65536)}
    return {"type": kind, **words}


def compression_from_n5(words: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the codec of numcodecs for N5's description.

    Examples
    --------
    >>> compression_from_n5({"type": "gzip", "level": -1})
    {'id': 'gzip', 'level': 5}
    """
    kind, rest = words["type"], {name: value for name, value in words.items() if name != "type"}
    if kind == "raw":
        return None
    if kind == "bzip2":
        return {"id": "bz2", "level": rest.get("blockSize", 9)}
    if kind == "gzip":
        level = rest.get("level", 5)
        return {"id": "zlib" if rest.get("useZlib") else "gzip", "level": 5 if level < 0 else level}
    if kind == "xz":
        return {"id": "lzma", "format": 1, "check": -1, "preset": rest.get("preset", 6), "filters": None}
    if kind == "lz4" and "acceleration" not in rest:
        return {"id": N5LZ4.codec_id, "blockSize": rest.get("blockSize", 65536)}
    if kind == "blosc":
        known = ("cname", "clevel", "shuffle", "blocksize")
        return {"id": "blosc", **{name: rest[name] for name in known if name in rest}}
    return {"id": kind, **rest}


def with_document(
    attributes: Mapping[str, Any], name: str, document: Mapping[str, Any], is_root: bool
) -> dict[str, Any]:
    """Return the attributes that N5 stores, after a document of format 2 was stored.

    Parameters
    ----------
    attributes : mapping
        The stored attributes.
    name : str
        The name of the document: ``.zarray``, ``.zgroup`` or ``.zattrs``.
    document : mapping
    is_root : bool
        If True, the node is the root, which has the version of N5.
    """
    if name == ".zattrs":
        for key in sorted(N5_KEYS & document.keys()):
            warn(f"the attribute {key!r} is not stored: N5 describes the array by that name", ZarrUserWarning)
        return {**{key: value for key, value in attributes.items() if key in N5_KEYS}, **users_attributes(document)}
    version = {"n5": N5_FORMAT} if is_root or name == ".zgroup" else {}
    found = version | users_attributes(attributes)
    return {**found, **array_to_n5(document)} if name == ".zarray" else found


def document_from(attributes: Mapping[str, Any] | None, name: str) -> dict[str, Any] | None:
    """Return a document of format 2 from the attributes of N5; None if there is none of that name."""
    if attributes is None:
        return None
    if name == ".zattrs":
        return users_attributes(attributes) or None
    if name == ".zarray":
        return array_from_n5(attributes) if is_n5_array(attributes) else None
    return None if is_n5_array(attributes) else {"zarr_format": 2}


class N5ChunkWrapper(Codec):  # type: ignore[misc]
    """The codec of blocks of N5: a header with the shape, elements in big-endian order, compressed.

    Parameters
    ----------
    dtype : dtype
    chunk_shape : tuple of int
    compressor_config : dict, optional
        The configuration of the codec that compresses.
    compressor : codec, optional
        The codec itself, in place of its configuration.

    Raises
    ------
    ValueError
        If both are given.

    Examples
    --------
    >>> codec = N5ChunkWrapper("u1", (2, 2))
    >>> codec.encode(np.ones((2, 2), "u1")).hex()
    '00000002000000020000000201010101'
    """

    codec_id = WRAPPER

    def __init__(
        self, dtype: Any, chunk_shape: Any, compressor_config: Any = None, compressor: Codec | None = None
    ) -> None:
        if compressor is not None and compressor_config is not None:
            raise ValueError("give compressor or compressor_config, not both")
        self.dtype = np.dtype(dtype)
        self.chunk_shape = tuple(chunk_shape)
        self.compressor_config = compressor_config if compressor is None else compressor.get_config()
        self._compressor = None if self.compressor_config is None else get_codec(dict(self.compressor_config))

    def get_config(self) -> dict[str, Any]:
        """Return the parameters, with the ``id``."""
        return {
            "id": self.codec_id,
            "compressor_config": self.compressor_config,
            "dtype": self.dtype.str,
            "chunk_shape": list(self.chunk_shape),
        }

    def encode(self, buf: Any) -> bytes:
        """Return the block of a chunk, or of a part of one."""
        chunk = np.asarray(buf)
        if chunk.ndim != len(self.chunk_shape) or chunk.dtype.itemsize != self.dtype.itemsize:
            chunk = np.frombuffer(ensure_bytes(buf), self.dtype).reshape(self.chunk_shape)
        header = struct.pack(f">HH{chunk.ndim}I", 0, chunk.ndim, *chunk.shape[::-1])
        data = chunk.astype(self.dtype.newbyteorder(">")).tobytes()
        return header + (data if self._compressor is None else ensure_bytes(self._compressor.encode(data)))

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Return the chunk of a block; elements beyond a block that was cut at the edge are 0."""
        data = ensure_bytes(buf)
        mode, ndim = struct.unpack_from(">HH", data)
        shape = struct.unpack_from(f">{ndim}I", data, 4)[::-1]
        start, count = 4 + 4 * ndim, math.prod(shape)
        if mode == 1:  # the number of elements follows
            (count,) = struct.unpack_from(">I", data, start)
            start += 4
        elif mode != 0:
            raise ValueError(f"a block of N5 of mode {mode}; 0 and 1 are known")
        raw = data[start:] if self._compressor is None else ensure_bytes(self._compressor.decode(data[start:]))
        block = np.frombuffer(raw, self.dtype.newbyteorder(">"), count).reshape(shape).astype(self.dtype)
        if shape != self.chunk_shape:
            chunk = np.zeros(self.chunk_shape, self.dtype)
            common = tuple(slice(min(have, want)) for have, want in zip(shape, self.chunk_shape, strict=True))
            chunk[common] = block[common]
            block = chunk
        return block if out is None else ndarray_copy(block, out)


class N5LZ4(Codec):  # type: ignore[misc]
    """LZ4 as Java's ``LZ4BlockOutputStream`` frames it, for blocks of N5.

    Parameters
    ----------
    blockSize : int
        Bytes that are compressed at once.

    Examples
    --------
    >>> codec = N5LZ4()
    >>> bytes(codec.decode(codec.encode(b"a" * 1000))) == b"a" * 1000
    True
    """

    codec_id = "n5_lz4"

    def __init__(self, blockSize: int = 65536) -> None:
        self.blockSize = blockSize

    def encode(self, buf: Any) -> bytes:
        """Return the framed blocks of bytes."""
        encoded: bytes = load("zarr.codecs.extensions.n5").encode_lz4_frames(ensure_bytes(buf), self.blockSize)
        return encoded

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Return the bytes of framed blocks."""
        raw = load("zarr.codecs.extensions.n5").decode_lz4_frames(ensure_bytes(buf))
        return raw if out is None else ndarray_copy(raw, out)


register_codec(N5ChunkWrapper)
register_codec(N5LZ4)


# Stores

_COORDS: Final = re.compile(r"\d+(\.\d+)+")
_NAMES: Final = (".zarray", ".zgroup", ".zattrs")


def block_key(key: str) -> str:
    """Return the key of a block for the key of a chunk; other keys stay the same.

    Examples
    --------
    >>> block_key("a/1.2.3"), block_key("a/7"), block_key("a/b")
    ('a/3/2/1', 'a/7', 'a/b')
    """
    path, _, name = key.rpartition("/")
    return join(path, "/".join(reversed(name.split(".")))) if _COORDS.fullmatch(name) else key


def chunk_key(path: str, block: str) -> str:
    """Return the key of a chunk for the path of an array and the place of a block in it; other files stay the same."""
    parts = block.split("/")
    return join(path, ".".join(reversed(parts)) if all(part.isdigit() for part in parts) else block)


class N5Files(StepsStore):
    """The files of a hierarchy of N5 under the keys of format 2.

    Parameters
    ----------
    store : Store
        The store of the files.
    """

    ROUTED = "get_ranges"

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._guard = threading.RLock()
        self._turns: Any = weakref.WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {"_store": self._store}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["_store"])  # type: ignore[misc]

    def bulk_access(self) -> BulkAccess | None:
        """Return None: keys and documents are translated one by one."""
        return None

    def _route(self, key: str) -> tuple[Store, str]:
        """Return the wrapped store, and the key of the block for the key of a chunk."""
        return self._store, block_key(key)

    def _document_steps(self, key: str) -> Steps[bytes | None]:
        """Return a document of format 2; a folder with something other than blocks in it is a group."""
        path, name = key.rpartition("/")[0], document_of(key) or ""
        attributes = yield from attributes_steps(path)
        if attributes is None and name == ".zgroup":
            found = yield ListDir(dir_prefix(path))
            attributes = {} if any(not part.isdigit() for part in found) else None
        document = document_from(attributes, name)
        return None if document is None else json.dumps(document).encode()

    def get_steps(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: Any = None
    ) -> Steps[Buffer | None]:
        """Read a value."""
        if document_of(key) in _NAMES:
            raw = yield from self._document_steps(key)
            return None if raw is None else (prototype or default_buffer_prototype()).buffer.from_bytes(raw)
        found: Buffer | None = yield Get(block_key(key), byte_range, prototype)
        return found

    def exists_steps(self, key: str) -> Steps[bool]:
        """Return True if there is a value."""
        if document_of(key) in _NAMES:
            return (yield from self._document_steps(key)) is not None
        return bool((yield Call(self._store, "exists", block_key(key))))

    def getsize_steps(self, key: str) -> Steps[int]:
        """Return the bytes of a value."""
        value = yield from self.get_steps(key)
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    def _set_steps(self, key: str, value: Buffer) -> Steps[None]:
        name = document_of(key)
        if name not in _NAMES:
            if name is not None or key.rpartition("/")[2] == "zarr.json":
                raise ValueError(f"N5 has no document {key!r}: its groups and arrays are written as those of format 2")
            yield Put(block_key(key), value)
            return
        path = key.rpartition("/")[0]
        stored = yield from attributes_steps(path)
        yield _put_attributes(path, with_document(stored or {}, name or "", json.loads(value.to_bytes()), not path))

    # All documents of a node are in one file: writers of them take turns.

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store a value."""
        with self._guard:
            self._run(self._set_steps(key, value))

    async def set(self, key: str, value: Buffer) -> None:
        """Store a value."""
        forget_closed(self._turns)
        async with self._turns.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            await self._run_async(self._set_steps(key, value))

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store a value if there is none."""
        if not self.exists_sync(key):
            self.set_sync(key, value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Store a value if there is none."""
        if not await self.exists(key):
            await self.set(key, value)

    def delete_steps(self, key: str) -> Steps[None]:
        """Remove a value; for the attributes of a user, all of them; for another document, the file."""
        name, path = document_of(key), key.rpartition("/")[0]
        if name not in _NAMES:
            yield Delete(block_key(key))
            return
        stored = yield from attributes_steps(path)
        if name == ".zattrs" and stored is not None and users_attributes(stored) != stored:
            left = {word: value for word, value in stored.items() if word not in users_attributes(stored)}
            yield _put_attributes(path, left)
        elif stored is not None:
            yield Delete(join(path, n5_attrs_key))

    def list_prefix_steps(self, prefix: str) -> Steps[list[str]]:
        """Return all keys that begin with a prefix, as format 2 has them."""
        folder = prefix.rpartition("/")[0]
        found = yield List(folder)
        nodes = {key.rpartition("/")[0] for key in found if key.rpartition("/")[2] == n5_attrs_key}
        keys: list[str] = []
        arrays: set[str] = set()
        for path in sorted(nodes):
            attributes = (yield from attributes_steps(path)) or {}
            arrays.update([path] if is_n5_array(attributes) else [])
            keys += [join(path, name) for name in _NAMES if document_from(attributes, name) is not None]
        for key in found:
            if key.rpartition("/")[2] != n5_attrs_key:
                above = nearest_above(key, arrays)
                keys.append(key if above is None else chunk_key(above, key[len(dir_prefix(above)) :]))
        return sorted(key for key in keys if key.startswith(prefix))

    def list_steps(self) -> Steps[list[str]]:
        """Return all keys."""
        return (yield from self.list_prefix_steps(""))

    def list_dir_steps(self, prefix: str) -> Steps[list[str]]:
        """Return the names directly below a folder."""
        path = prefix.strip("/")
        attributes = yield from attributes_steps(path)
        if attributes is not None and is_n5_array(attributes):
            return child_names((yield from self.list_prefix_steps(dir_prefix(path))), path)
        found = yield ListDir(dir_prefix(path))
        documents = [name for name in _NAMES if document_from(attributes, name) is not None]
        return sorted([*(name for name in found if name != n5_attrs_key), *documents])


def _put_attributes(path: str, attributes: Mapping[str, Any]) -> Put:
    """Return the request that stores the attributes of a node."""
    raw = json.dumps(attributes, indent=4, sort_keys=True).encode()
    return Put(join(path, n5_attrs_key), default_buffer_prototype().buffer.from_bytes(raw))


class _N5(Format2Store[N5Files]):
    """The common methods of both stores of N5."""

    _has_folders = True

    def settled_document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the document that is read after one was stored: N5 has fewer members than format 2."""
        return {**document, **array_from_n5(array_to_n5(document))}

    def __delitem__(self, key: str) -> None:
        if document_of(key) in _NAMES:
            key = join(key.rpartition("/")[0], n5_attrs_key)
        super().__delitem__(key)

    def _put(self, key: str, value: Buffer) -> None:
        if document_of(key) in _NAMES:
            self._plain("set", key, value)
        else:
            super()._put(key, value)


class N5Store(_N5):
    """A hierarchy of N5 in a folder, read and written as if it were of format 2.

    Parameters
    ----------
    path : str or Path
    normalize_keys : bool
        If True, keys are folded to lower case.

    Examples
    --------
    >>> import json, tempfile, zarr
    >>> store = zarr.N5Store(tempfile.mkdtemp())
    >>> array = zarr.zeros((4, 6), chunks=(2, 3), dtype="i4", store=store)
    >>> array[:] = 42
    >>> json.loads(store["attributes.json"])["dimensions"], sorted(store)[1:]
    ([6, 4], ['0.0', '0.1', '1.0', '1.1'])
    """

    def __init__(self, path: str | Path, normalize_keys: bool = False) -> None:
        place: Store = LocalStore(os.path.abspath(path))
        super().__init__(N5Files(FoldedStore(place) if normalize_keys else place), ".")
        self.path, self.normalize_keys = str(path), normalize_keys


class N5FSStore(_N5):
    """A hierarchy of N5 at a place of fsspec, read and written as if it were of format 2.

    Parameters
    ----------
    url : str
    *args, **kwargs
        For `zarr.storage.FSStore`; ``dimension_separator`` has no effect.
    """

    def __init__(self, url: str, *args: Any, **kwargs: Any) -> None:
        if kwargs.pop("dimension_separator", None) is not None:
            warn("dimension_separator has no effect: N5 has one way to name its blocks", ZarrUserWarning)
        below = FSStore(url, *args, **kwargs)
        super().__init__(N5Files(below._store), ".")
        self.path, self.mode, self.normalize_keys = below.path, below.mode, below.normalize_keys


CurrentN5Store.register(_N5)
