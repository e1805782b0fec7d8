"""A chunk key encoding: the coordinates back to front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from zarr.chunks.keys import ChunkKeyEncoding


@dataclass(frozen=True)
class Backwards(ChunkKeyEncoding):
    """Keys like ``k-1-0`` for the chunk (0, 1)."""

    name: ClassVar[str] = "example.backwards"
    letter: str = "k"

    def encode_chunk_key(self, chunk_coords):
        """Return the key of a chunk."""
        return "-".join([self.letter, *(str(int(c)) for c in reversed(chunk_coords))])

    def decode_chunk_key(self, chunk_key):
        """Return the coordinates that a key stands for."""
        return tuple(int(c) for c in reversed(chunk_key.split("-")[1:]))
