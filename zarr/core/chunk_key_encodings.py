"""Chunk key encodings; re-exports."""

from __future__ import annotations

from zarr.chunks.keys import (
    ChunkKeyEncoding,
    ChunkKeyEncodingLike,
    ChunkKeyEncodingParams,
    DefaultChunkKeyEncoding,
    V2ChunkKeyEncoding,
    parse_chunk_key_encoding,
    parse_separator,
)

__all__ = [
    "ChunkKeyEncoding", "ChunkKeyEncodingLike", "ChunkKeyEncodingParams", "DefaultChunkKeyEncoding",
    "V2ChunkKeyEncoding", "parse_chunk_key_encoding", "parse_separator",
]
