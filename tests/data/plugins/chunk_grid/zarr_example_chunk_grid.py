"""A chunk grid: along each axis every chunk is twice as long as the one before it."""

from __future__ import annotations

from dataclasses import dataclass

from zarr.chunks import ChunkGridMetadata, VaryingDimension


@dataclass(frozen=True)
class Doubling(ChunkGridMetadata):
    """Chunks of length ``first``, ``2 * first``, ``4 * first`` ..."""

    first: tuple[int, ...]

    @property
    def ndim(self):
        """Number of axes."""
        return len(self.first)

    @classmethod
    def from_dict(cls, data):
        """Read the JSON object."""
        return cls(first=tuple(data["configuration"]["first"]))

    def to_dict(self):
        """Return the JSON object."""
        return {"name": "example.doubling", "configuration": {"first": list(self.first)}}

    def dimensions(self, shape):
        """Return the axes."""
        return tuple(VaryingDimension(_lengths(first, extent), extent) for first, extent in zip(self.first, shape))


def _lengths(first, extent):
    lengths = [first]
    while sum(lengths) < extent:
        lengths.append(2 * lengths[-1])
    return tuple(lengths)
