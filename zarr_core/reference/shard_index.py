"""The index of a shard: for each inner chunk its offset and length, in C order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.decoders import decode, encode
from zarr_core.reference.shuffle import as_bytes

MISSING = (1 << 64) - 1


class IndexFormat:
    """Where a shard's index stands and whether a checksum follows it."""

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
    """An index as an array of (offset, length); missing chunks have 2**64 - 1 twice."""
    data = as_bytes(raw)
    if len(data) != fmt.nbytes(nchunks):
        raise ValueError(f"a shard index of {nchunks} chunks takes {fmt.nbytes(nchunks)} bytes, got {len(data)}")
    if fmt.checksum:
        data = decode("crc32c", data, 16 * nchunks)
    return np.frombuffer(data.tobytes(), "<u8").astype(np.uint64).reshape(nchunks, 2)


def build_index(pairs: Any, fmt: IndexFormat) -> bytes:
    """The stored form of an array of (offset, length)."""
    array = np.asarray(pairs, dtype=np.uint64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"pairs must have shape (chunks, 2), got {array.shape}")
    raw = array.astype("<u8").tobytes()
    return encode("crc32c", raw) if fmt.checksum else raw


def coalesce_ranges(
    offsets: Sequence[int] | NDArray[Any],
    lengths: Sequence[int] | NDArray[Any],
    max_gap_bytes: int,
    max_bytes: int,
) -> list[tuple[int, int, NDArray[np.int64]]]:
    """Ranges worth reading in one request: (start, stop, indexes of the ranges inside, by offset)."""
    starts = np.asarray(offsets, dtype=np.int64)
    sizes = np.asarray(lengths, dtype=np.int64)
    if starts.shape != sizes.shape or starts.ndim != 1:
        raise ValueError(f"offsets and lengths must be equally long, got shapes {starts.shape} and {sizes.shape}")
    if np.any(starts < 0) or np.any(sizes < 0) or np.any(starts > np.iinfo(np.int64).max - sizes):
        raise ValueError("offsets and lengths must not be negative or end past 2**63 - 1")
    groups: list[tuple[int, int, list[int]]] = []
    for i in np.argsort(starts, kind="stable").tolist():
        start, stop = int(starts[i]), int(starts[i] + sizes[i])
        if groups:
            low, high, members = groups[-1]
            if start - high <= max_gap_bytes and max(stop, high) - low <= max_bytes:
                groups[-1] = (low, max(stop, high), [*members, i])
                continue
        groups.append((start, stop, [i]))
    return [(low, high, np.array(members, dtype=np.int64)) for low, high, members in groups]
