"""Object codecs of numcodecs whose payloads say by themselves how large they are: read only as far as the chunk goes.

JSON and MessagePack lists name a data type and a shape, arrays of any length their number, zfp streams their field.
All of these are checked against the chunk before anything is allocated.
"""

from __future__ import annotations

import json
import math
from importlib import import_module
from typing import Any

import numpy as np

import zarr_core
from zarr.codecs.base.bound import AnyArray, Bytes, as_bytes
from zarr.errors import ChunkDecodeError

# So many bytes of elements may stand behind a stored byte, and so many behind none.
_ROOM, _EXPANSION = 1 << 16, 4


class CheckedObjects:
    """An object codec of numcodecs whose ``decode`` believes nothing that the payload says of its size.

    Parameters
    ----------
    codec
        The numcodecs object: ``json2``, ``msgpack2`` or ``vlen-array``.
    count
        The number of elements of a chunk.
    nbytes
        The size of a chunk, for elements of a fixed size.
    """

    def __init__(self, codec: Any, count: int, nbytes: int | None) -> None:
        self.codec_id: str = codec.codec_id
        self._codec, self._config = codec, codec.get_config()
        self._count, self._nbytes = count, nbytes or 0

    def decode(self, data: Any) -> AnyArray:
        """Return the elements.

        Raises
        ------
        ValueError
            When the payload is damaged, or says that it holds something else than this chunk.
        """
        stored = as_bytes(data)
        if self.codec_id == "vlen-array":
            return self._arrays(stored)
        if self.codec_id == "json2":
            text = stored.tobytes().decode(self._config["encoding"])
            items = json.JSONDecoder(strict=bool(self._config.get("strict", True))).decode(text)
        else:
            items = import_module("msgpack").unpackb(stored, raw=bool(self._config.get("raw", False)))
        return self._filled(items, stored.size)

    def _arrays(self, stored: Bytes) -> AnyArray:
        dtype = np.dtype(self._config["dtype"])
        elements = np.empty(self._count, dtype=object)
        for place, raw in enumerate(zarr_core.unpack_bytes(stored, self._count)):
            elements[place] = np.frombuffer(raw, dtype=dtype).copy()
        return elements

    def _filled(self, items: Any, stored_nbytes: int) -> AnyArray:
        """Return the elements of a list that ends with their data type and their shape."""
        if not isinstance(items, list) or len(items) < 2:
            raise ValueError("not a list of elements, their data type and their shape")
        values, kind, shape = items[:-2], items[-2], items[-1]
        if not isinstance(shape, list) or not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError(f"the shape is {str(shape)[:100]}")
        if math.prod(shape) != self._count or len(values) != (shape[0] if shape else 1):
            raise ValueError(f"{len(values)} items of shape {str(shape)[:100]} where {self._count} elements are needed")
        dtype = np.dtype(kind.decode() if isinstance(kind, bytes) else kind)
        most = max(self._nbytes, _EXPANSION * stored_nbytes + _ROOM)
        if not dtype.hasobject and dtype.itemsize * self._count > most:
            raise ValueError(f"{stored_nbytes} bytes do not hold {self._count} elements of {dtype}")
        elements = np.empty(shape, dtype=dtype)
        elements[...] = values if shape else values[0]
        return elements


def decode_zfpy(codec: Any, data: Any, nbytes: int | None, limit: int) -> AnyArray:
    """Return the elements of a zfp stream with a header.

    Parameters
    ----------
    codec
        The numcodecs object.
    data
        The stored bytes.
    nbytes
        The size that the elements must have, or None.
    limit
        The most that they may have where ``nbytes`` is None.

    Raises
    ------
    ValueError
        When the header is damaged or tells of another size.
    ChunkDecodeError
        When the stream is too short for its rate.
    """
    zfpy = import_module("zfpy")
    stored = as_bytes(data)
    header = zfpy.header(np.concatenate([stored[:_HEADER_NBYTES], np.zeros(_HEADER_NBYTES, np.uint8)]))
    field = [int(header[name]) for name in ("nx", "ny", "nz", "nw") if header[name]]
    itemsize = np.dtype(header["type"]).itemsize
    size = math.prod(field) * itemsize
    if size != nbytes if nbytes is not None else size > limit:
        raise ValueError(f"the header tells of {field} elements of {itemsize} bytes; {nbytes} bytes are needed")
    blocks = math.prod(-(-length // 4) for length in field)
    fixed = {"rate": "maxbits", "expert": "minbits"}.get(header["mode"])
    bits = int(header["config"]["expert"][fixed]) if fixed else 1
    if fixed and blocks * bits // 8 > stored.size + itemsize:
        raise ChunkDecodeError(f"{stored.size} bytes are too few for {blocks} blocks of {bits} bits")
    # zfp does not know where a stream ends: what it may touch must be there.
    beyond = blocks * (-(-bits // 8)) + 2 * itemsize * 4 ** len(field) + _HEADER_NBYTES
    array: AnyArray = np.asarray(codec.decode(np.concatenate([stored, np.zeros(beyond, np.uint8)])))
    return array


_HEADER_NBYTES = 64
