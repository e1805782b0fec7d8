"""What the description of a chunk grid in a metadata document must offer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import zarr_core
from zarr._lazy import LazyModule
from zarr._records import record, set_values
from zarr.abc.metadata import Metadata
from zarr.chunks.shapes import are_lengths, parse_chunk_edge, parse_member
from zarr.types import parse_named_configuration

if TYPE_CHECKING:
    from zarr.chunks import dimensions, grid
    from zarr.chunks.dimensions import DimensionGrid, FixedDimension
    from zarr.chunks.grid import ChunkGrid
else:
    grid = LazyModule("zarr.chunks.grid")
    dimensions = LazyModule("zarr.chunks.dimensions")


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


@record(frozen=True, kw_only=True)
class RegularChunkGridMetadata(ChunkGridMetadata):
    """Chunks of one shape.

    Parameters
    ----------
    chunk_shape
        The chunk length along each axis, each at least 1.

    Raises
    ------
    TypeError
        If a length is not an integer.
    ValueError
        If a length is smaller than 1.

    Examples
    --------
    >>> RegularChunkGridMetadata(chunk_shape=(10, 10)).to_dict()
    {'name': 'regular', 'configuration': {'chunk_shape': (10, 10)}}
    """

    chunk_shape: tuple[int, ...]

    def __init__(self, *, chunk_shape: tuple[int, ...]) -> None:
        set_values(self, chunk_shape=chunk_shape)
        self.__post_init__()

    def __post_init__(self) -> None:
        shape: object = self.chunk_shape
        many = isinstance(shape, list | tuple) or (isinstance(shape, Iterable) and not isinstance(shape, str | Mapping))
        if not many:
            raise TypeError(f"A chunk shape must be an iterable of chunk edge lengths, got {self.chunk_shape!r}")
        edges = tuple(self.chunk_shape)
        # Parsing one by one finds the axis at fault, which is rarely wanted.
        if not are_lengths(edges, 1):
            edges = tuple([parse_chunk_edge(edge, axis) for axis, edge in enumerate(edges)])
        self.__dict__["chunk_shape"] = edges

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.chunk_shape)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read ``{"name": "regular", "configuration": {"chunk_shape": [...]}}``."""
        _, configuration = parse_named_configuration(data, "regular")
        return cls(chunk_shape=parse_member(configuration, "chunk_shape", "regular"))

    def to_dict(self) -> Any:
        """Return the JSON object."""
        return {"name": "regular", "configuration": {"chunk_shape": self.chunk_shape}}

    def dimensions(self, shape: tuple[int, ...]) -> tuple[FixedDimension, ...]:
        """Return the axes of the grid over an array of shape ``shape``."""
        axis = dimensions.FixedDimension
        return tuple([axis(size, extent) for size, extent in zip(self.chunk_shape, shape, strict=True)])

    def to_core(self, shape: tuple[int, ...]) -> zarr_core.Grid:
        """Return the grid of the compiled core over an array of shape ``shape``."""
        # Every array that is opened comes through here, so the axes are made without the objects in between.
        axis = zarr_core.RegularAxis
        return zarr_core.Grid([axis(extent, size) for size, extent in zip(self.chunk_shape, shape, strict=True)])


_BUILTIN = ("rectilinear", "regular")
