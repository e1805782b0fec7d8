"""What the logger ``zarr.codec`` is told of a chunk: which codecs, how many bytes before and after, how long."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from zarr._lazy import LazyModule

if TYPE_CHECKING:
    from zarr import logs
    from zarr.buffer import Buffer
    from zarr.codecs.base.bound import AnyArray
    from zarr.codecs.base.chain import CodecChain
else:
    logs = LazyModule("zarr.logs")


def tell_decoding(chain: CodecChain, raw: Buffer) -> AnyArray:
    """Decode a chunk, and tell of it."""
    start = perf_counter()
    chunk = chain.decode(raw, told=True)
    _tell("decode", chain, len(raw), chunk.nbytes, start)
    return chunk


def tell_encoding(chain: CodecChain, chunk: AnyArray) -> Buffer:
    """Encode a chunk, and tell of it."""
    start = perf_counter()
    raw = chain.encode(chunk, told=True)
    _tell("encode", chain, len(raw), chunk.nbytes, start)
    return raw


def _tell(doing: str, chain: CodecChain, stored: int, decoded: int, start: float) -> None:
    milliseconds = 1000 * (perf_counter() - start)
    names = ", ".join(chain.names)
    logs.CODEC_LOG.debug(
        "%s %s: %d bytes, %.3f ms, %d bytes decoded",
        doing,
        names,
        stored,
        milliseconds,
        decoded,
        extra={"key": names, "nbytes": stored, "milliseconds": milliseconds},
    )
