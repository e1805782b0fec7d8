"""The index of a shard: for each inner chunk its offset and length, in C order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.decoders import decode, encode
from zarr_core.reference.shuffle import as_bytes

MISSING = (1 << 64) - 1


class IndexFormat:
    """The place of a shard's index, and True if a checksum follows it."""

    def __init__(self, location: str, checksum: bool) -> None:
        if location not in ("start", "end"):
            raise ValueError(f"index location must be 'start' or 'end', got {location!r}")
        self.location = location
        self.checksum = bool(checksum)

    def nbytes(self, nchunks: int) -> int:
        """Bytes of the index of a shard with so many inner chunks."""
        if nchunks < 0:
            raise ValueError(f"the number of chunks must not be negative, got {nchunks}")
        return 16 * nchunks + (4 if self.checksum else 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IndexFormat):
            return NotImplemented
        return (self.location, self.checksum) == (other.location, other.checksum)

    def __hash__(self) -> int:
        return hash((self.location, self.checksum))

    def __reduce__(self) -> tuple[Any, ...]:
        return IndexFormat, (self.location, self.checksum)


def parse_index(raw: Any, nchunks: int, fmt: IndexFormat) -> NDArray[np.uint64]:
    """Parse an index to an array of (offset, length); missing chunks have 2**64 - 1 twice."""
    data = as_bytes(raw)
    if len(data) != fmt.nbytes(nchunks):
        raise ValueError(f"a shard index of {nchunks} chunks takes {fmt.nbytes(nchunks)} bytes, got {len(data)}")
    if fmt.checksum:
        data = decode("crc32c", data, 16 * nchunks)
    return np.frombuffer(data.tobytes(), "<u8").astype(np.uint64).reshape(nchunks, 2)


def build_index(pairs: Any, fmt: IndexFormat) -> bytes:
    """Encode an array of (offset, length)."""
    array = np.asarray(pairs, dtype=np.uint64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"pairs must have shape (chunks, 2), got {array.shape}")
    raw = array.astype("<u8").tobytes()
    return encode("crc32c", raw) if fmt.checksum else raw
