"""What the description of a chunk grid in a metadata document must offer."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

import zarr_core
from zarr._lazy import LazyModule
from zarr.abc.metadata import Metadata

if TYPE_CHECKING:
    from zarr.chunks import grid
    from zarr.chunks.dimensions import DimensionGrid
    from zarr.chunks.grid import ChunkGrid
else:
    grid = LazyModule("zarr.chunks.grid")


class ChunkGridMetadata(Metadata):
    """The ``chunk_grid`` member of an array document.

    A third party that registers a grid under ``zarr.chunk_grid`` inherits from this: it says how many axes it has,
    reads and writes itself, and reduces to one `DimensionGrid` an axis. Everything else follows from the axes.

    Examples
    --------
    >>> from zarr.chunks import RegularChunkGridMetadata
    >>> RegularChunkGridMetadata(chunk_shape=(4,)).dimensions((10,))
    (FixedDimension(size=4, extent=10),)
    """

    @property
    @abstractmethod
    def ndim(self) -> int:
        """Number of axes."""

    @abstractmethod
    def to_dict(self) -> Any:
        """Return the JSON object: a name and a configuration."""

    @classmethod
    @abstractmethod
    def from_dict(cls, data: Any) -> Self:
        """Read the JSON object."""

    @abstractmethod
    def dimensions(self, shape: tuple[int, ...]) -> tuple[DimensionGrid, ...]:
        """Return the axes of the grid over an array of shape ``shape``."""

    def resized(self, old_shape: tuple[int, ...], new_shape: tuple[int, ...]) -> Self:
        """Return the grid of the array after a resize; the same grid, unless chunks must be added."""
        return self

    def to_grid(self, shape: tuple[int, ...]) -> ChunkGrid:
        """Return the grid over an array of shape ``shape``."""
        return grid.ChunkGrid(dimensions=self.dimensions(shape))

    def to_core(self, shape: tuple[int, ...]) -> zarr_core.Grid:
        """Return the grid of the compiled core over an array of shape ``shape``."""
        return grid.core_grid(self.dimensions(shape))
