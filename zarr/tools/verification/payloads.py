"""Faults of payloads: the encoded bytes of a chunk, alone or in a shard, that cannot be decoded."""

from __future__ import annotations

import math
from typing import Any, Final

from zarr.arrays.io.chunks import decode_steps
from zarr.arrays.layout import ArrayLayout
from zarr.buffer.core import Buffer
from zarr.codecs.base.chain import CodecChain
from zarr.errors import ChunkChecksumError
from zarr.steps.requests import Steps
from zarr.tools.verification.report import Fault, Kind
from zarr.tools.verification.survey import error_text

REMEDY: Final = "Put it back from a copy, or write it anew."
"""The advice about a damaged chunk."""

MOST_CHUNK_BYTES: Final = 4 << 30
"""Chunks with a larger decoded size are not decoded: a wrong chunk shape must not use up all memory."""

_SLACK_BYTES: Final = 16 << 20
"""Maximum ratio of a payload to its elements; codecs add a little if they cannot compress."""


def wrong_size(
    layout: ArrayLayout, chain: CodecChain, key: str, size: int, what: str = "the chunk"
) -> Fault | None:
    """Return a fault if the number of stored bytes alone shows that a chunk is damaged."""
    expected = _fixed_size(layout, chain)
    decoded = math.prod(chain.spec.shape) * layout.dtype.itemsize
    kind: Kind
    if (expected is not None and size < expected) or not size:
        kind, than = "chunk-truncated", expected
    elif expected is not None and size > expected:
        kind, than = "chunk-too-long", expected
    elif not layout.dtype.hasobject and layout.dtype.kind != "T" and size > 2 * decoded + _SLACK_BYTES:
        kind, than = "chunk-too-long", decoded
    elif decoded > MOST_CHUNK_BYTES:
        text = f"{what} decodes to {decoded} bytes, more than the {MOST_CHUNK_BYTES} that are checked."
        return Fault("chunk-too-large", key, layout.path, text)
    else:
        return None
    text = f"{what} has {size} stored bytes where {than or 'some'} are needed. {REMEDY}"
    return Fault(kind, key, layout.path, text)


def _fixed_size(layout: ArrayLayout, chain: CodecChain) -> int | None:
    """Return the number of bytes that a chunk always has; None if it depends on the elements."""
    codecs = [getattr(layout.metadata, name, True) for name in ("filters", "compressor")]
    if codecs == [None, None] and not layout.dtype.hasobject and layout.dtype.kind != "T":  # format 2, as in memory
        return math.prod(chain.spec.shape) * layout.dtype.itemsize
    return chain.encoded_size()


def decoding_steps(
    layout: ArrayLayout, chain: CodecChain, key: str, raw: Buffer, what: str = "the chunk"
) -> Steps[Fault | None]:
    """Decode a chunk, and return a fault if it cannot be decoded."""
    try:
        yield from decode_steps(chain, raw)
    except ChunkChecksumError as error:
        return _undecodable("chunk-checksum", layout, key, what, error)
    except Exception as error:  # codecs of other packages raise their own errors
        return _undecodable("chunk-undecodable", layout, key, what, error)
    return None


def _undecodable(kind: Kind, layout: ArrayLayout, key: str, what: str, error: Any) -> Fault:
    text = f"{what} cannot be decoded: {error_text(error)}. {REMEDY}"
    return Fault(kind, key, layout.path, text)
