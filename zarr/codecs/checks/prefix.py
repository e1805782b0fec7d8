"""What the first decoded bytes of a payload of unknown size tell: whether the rest can be what is looked for.

Elements of any length do not say how many bytes they decode to. A payload that would become large is looked at first:
its first bytes must begin so many elements, or a stream of the codec that comes next.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import zarr_core
from zarr.codecs.base.bound import START_NBYTES, Bytes, check_vlen_start
from zarr.errors import ChunkDecodeError

Check = Callable[[Bytes], None]

LONGEST_RUN = 1 << 16
_PREFIXED = frozenset(("zstd", "gzip", "zlib", "lz4"))
_BLOSC_HEADER_NBYTES = 16
_NOT_JSON = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\s{%d}|[0-9.eE+-]{%d}|[\[{]{1000}" % (LONGEST_RUN, LONGEST_RUN))
_JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\Z)|[\[\]{},]', re.DOTALL)


def object_start_check(codec: Any, count: int) -> Check | None:
    """Return how to tell whether bytes begin so many elements that an object codec of numcodecs stored.

    Parameters
    ----------
    codec
        The numcodecs object.
    count
        The number of elements.

    Returns
    -------
    A function that raises ``ChunkDecodeError``; None for a codec whose beginning says nothing.

    Examples
    --------
    >>> import numcodecs
    >>> object_start_check(numcodecs.Zlib(), 2) is None
    True
    """
    name = getattr(codec, "codec_id", "")
    if name in ("vlen-utf8", "vlen-bytes", "vlen-array"):
        return partial(check_vlen_start, count=count)
    if name == "json2" and str(codec.get_config().get("encoding", "utf-8")).lower() in ("utf-8", "utf8", "ascii"):
        return partial(check_json_start, count=count)
    if name == "msgpack2":
        return partial(check_msgpack_start, count=count)
    return None


def check_json_start(start: Bytes, count: int) -> None:
    """Refuse bytes that cannot begin a JSON list of so many elements, a data type and a shape.

    Parameters
    ----------
    start
        The first bytes; there are more behind them.
    count
        The number of elements; they may be nested in lists.

    Raises
    ------
    ChunkDecodeError
        When they are no JSON, or the list goes on after so many elements.

    Examples
    --------
    >>> import numpy as np
    >>> check_json_start(np.frombuffer(b'["a", "b', dtype="u1"), 2)
    """
    raw = start.tobytes().lstrip(b" \t\r\n")
    if not raw.startswith(b"[") or _NOT_JSON.search(raw):
        raise ChunkDecodeError(f"what is stored does not begin like a JSON list of {count} elements")
    depth = commas = 0
    for token in _JSON_TOKEN.finditer(raw):
        mark = token[0][:1]
        if mark in b"[{":
            depth += 1
        elif mark in b"]}":
            depth -= 1
            if depth == 0:
                raise ChunkDecodeError(f"a JSON list ends at byte {token.end()}, and more bytes follow")
        elif mark == b"," and depth == 1:
            commas += 1
    if commas > count + 1:
        raise ChunkDecodeError(f"a JSON list goes on after {count} elements, their data type and their shape")


def check_msgpack_start(start: Bytes, count: int) -> None:
    """Refuse bytes that cannot begin a MessagePack list of so many elements, a data type and a shape.

    Parameters
    ----------
    start
        The first bytes; there are more behind them.
    count
        The number of elements; they may be nested in lists.

    Raises
    ------
    ChunkDecodeError
        When they are no such list, or it ends before them.
    """
    msgpack = import_module("msgpack")
    unpacker = msgpack.Unpacker(raw=True, strict_map_key=False, max_buffer_size=2 * START_NBYTES)
    unpacker.feed(start.tobytes())
    try:
        length = unpacker.read_array_header()
        if length > count + 2:
            raise ChunkDecodeError(f"a list of {length} items where {count} elements, a type and a shape are needed")
        for _ in range(length):
            unpacker.skip()
    except msgpack.OutOfData:
        return
    except ChunkDecodeError:
        raise
    except Exception as error:
        raise ChunkDecodeError(f"what is stored does not begin like a MessagePack list: {error}") from error
    if unpacker.tell() < start.size:
        raise ChunkDecodeError(f"a MessagePack list ends at byte {unpacker.tell()}, and more bytes follow")


def check_encoded_start(name: str, start: Bytes, check: Check) -> None:
    """Refuse the first bytes of what cannot be a stream of a codec of the core that holds what is looked for.

    Parameters
    ----------
    name
        The name of the codec in the core.
    start
        The first bytes of its stream; there are more behind them.
    check
        Refuses the first bytes of what that stream decodes to.

    Raises
    ------
    ChunkDecodeError
    """
    if name == "blosc":
        stated = int.from_bytes(start[12:16].tobytes(), "little")
        if start.size < _BLOSC_HEADER_NBYTES or start[0] not in (1, 2) or stated < start.size:
            raise ChunkDecodeError(f"{start.size} bytes and more are no frame of codec {name!r}")
    if name == "crc32c":
        check(start)
    if name not in _PREFIXED:
        return
    try:
        decoded = zarr_core.decode_prefix(name, start, START_NBYTES)
    except ValueError as error:
        # The last sequence of lz4 may be cut in the midst of a number; others say what they have.
        if name == "lz4" and int.from_bytes(start[:4].tobytes(), "little") > start.size:
            return
        raise ChunkDecodeError(f"{start.size} bytes and more do not begin like codec {name!r}: {error}") from error
    if decoded.size == 0 and start.size > LONGEST_RUN:
        raise ChunkDecodeError(f"{start.size} bytes and more of codec {name!r} hold nothing")
    if decoded.size:
        check(decoded)
