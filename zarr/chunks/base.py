"""The contract of chunk grids in metadata documents, and their conversion to grids and back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import zarr_core
from zarr._lazy import LazyModule
from zarr._records import record
from zarr.abc.metadata import Metadata
from zarr.chunks.shapes import are_lengths, parse_chunk_edge, parse_member
from zarr.defaults import settings
from zarr.registry.tables import failure_of, get_chunk_grid_class
from zarr.types import parse_named_configuration

if TYPE_CHECKING:
    from zarr.chunks import dimensions, grid
    from zarr.chunks.dimensions import DimensionGrid, FixedDimension
    from zarr.chunks.grid import ChunkGrid
else:
    dimensions = LazyModule("zarr.chunks.dimensions")
    grid = LazyModule("zarr.chunks.grid")


class ChunkGridMetadata(Metadata):
    """The ``chunk_grid`` member of an array document.

    A third party that registers a grid under ``zarr.chunk_grid`` inherits from this class: it has a number of axes,
    reads and writes itself, and reduces to one `DimensionGrid` for each axis. All else follows from the axes.

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
        """Return the axes of the grid over an array of shape ``shape``.

        Parameters
        ----------
        shape : tuple of int
            The shape of the array.

        Returns
        -------
        tuple of DimensionGrid
            One for each dimension.
        """

    def resized(self, old_shape: tuple[int, ...], new_shape: tuple[int, ...]) -> Self:
        """Return the grid of the array after a resize; the same grid, unless chunks must be added.

        Parameters
        ----------
        old_shape, new_shape : tuple of int
            The shapes of the array before and after.

        Returns
        -------
        ChunkGridMetadata
        """
        return self

    def to_grid(self, shape: tuple[int, ...]) -> ChunkGrid:
        """Return the grid over an array of shape ``shape``.

        Parameters
        ----------
        shape : tuple of int
            The shape of the array.

        Returns
        -------
        ChunkGrid
        """
        return grid.ChunkGrid(dimensions=self.dimensions(shape))

    def to_core(self, shape: tuple[int, ...]) -> zarr_core.Grid:
        """Return the grid of the compiled core over an array of shape ``shape``.

        Parameters
        ----------
        shape : tuple of int
            The shape of the array.

        Returns
        -------
        zarr_core.Grid
        """
        return dimensions.core_grid(self.dimensions(shape))


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
    >>> from zarr.chunks import RegularChunkGridMetadata
    >>> RegularChunkGridMetadata(chunk_shape=(10, 10)).to_dict()
    {'name': 'regular', 'configuration': {'chunk_shape': (10, 10)}}
    """

    chunk_shape: tuple[int, ...]

    def __init__(self, *, chunk_shape: tuple[int, ...]) -> None:
        self.__dict__["chunk_shape"] = chunk_shape
        self.__post_init__()

    def __post_init__(self) -> None:
        shape: object = self.chunk_shape
        many = isinstance(shape, list | tuple) or (isinstance(shape, Iterable) and not isinstance(shape, str | Mapping))
        if not many:
            raise TypeError(f"A chunk shape must be an iterable of chunk edge lengths, got {self.chunk_shape!r}")
        edges = tuple(self.chunk_shape)
        # One by one, to find the axis with the fault, which is rare.
        if not are_lengths(edges, 1):
            edges = tuple([parse_chunk_edge(edge, axis) for axis, edge in enumerate(edges)])
        self.__dict__["chunk_shape"] = edges

    @classmethod
    def of_lengths(cls, chunk_shape: tuple[int, ...]) -> Self:
        """Return a grid of chunk lengths that were checked before.

        Parameters
        ----------
        chunk_shape : tuple of int
            The length of a chunk along each dimension.

        Returns
        -------
        RegularChunkGridMetadata
        """
        made = object.__new__(cls)
        made.__dict__["chunk_shape"] = chunk_shape
        return made

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
        # Every opened array comes here, so the axes are made without intermediate objects.
        axis = zarr_core.RegularAxis
        return zarr_core.Grid([axis(extent, size) for size, extent in zip(self.chunk_shape, shape, strict=True)])


class RectilinearChunksDisabledError(ValueError):
    """A rectilinear grid was found while the configuration forbids them.

    Examples
    --------
    >>> from zarr.chunks import RectilinearChunksDisabledError
    >>> issubclass(RectilinearChunksDisabledError, ValueError)
    True
    """


def check_rectilinear_enabled() -> None:
    """Raise `RectilinearChunksDisabledError` if ``array.rectilinear_chunks`` is off."""
    if not settings.get("array.rectilinear_chunks", True):
        raise RectilinearChunksDisabledError(
            "Rectilinear chunk grids are switched off, as where they are experimental and disabled by default. Switch "
            "them on with zarr.config.set({'array.rectilinear_chunks': True}) or the environment variable "
            "ZARR_ARRAY__RECTILINEAR_CHUNKS=True."
        )



def parse_chunk_grid(data: object) -> ChunkGridMetadata:
    """Read the ``chunk_grid`` member of an array document.

    Parameters
    ----------
    data
        A grid description (returned unchanged), or its JSON form.

    Returns
    -------
    ChunkGridMetadata

    Raises
    ------
    TypeError, ValueError
        If it is malformed, or its name is unknown.

    Examples
    --------
    >>> from zarr.chunks import parse_chunk_grid
    >>> parse_chunk_grid({"name": "regular", "configuration": {"chunk_shape": [5]}})
    RegularChunkGridMetadata(chunk_shape=(5,))
    """
    if isinstance(data, ChunkGridMetadata):
        return data
    name, configuration = parse_named_configuration(data, require_configuration=False)  # type: ignore[arg-type]
    if name == "regular" and isinstance(configuration, dict) and "chunk_shape" in configuration:
        return RegularChunkGridMetadata(chunk_shape=configuration["chunk_shape"])
    if name == "rectangular" and isinstance(configuration, dict) and "chunk_shape" in configuration:
        # The name and the member of the proposal (ZEP 3) that became `rectilinear`; read, never written.
        renamed = {"kind": "inline", "chunk_shapes": configuration["chunk_shape"]}
        name, data = "rectilinear", {"name": "rectilinear", "configuration": renamed}
    return _look_up(name).from_dict(data)


def _look_up(name: str) -> type[ChunkGridMetadata]:
    try:
        return get_chunk_grid_class(name)
    except KeyError as error:
        raise ValueError(
            f"Unknown chunk grid name: {name!r}. Known are ['rectilinear', 'regular'] and the grids registered under "
            f"'zarr.chunk_grid'.{failure_of(name)}"
        ) from error


def create_chunk_grid_metadata(chunks: ChunkGrid) -> ChunkGridMetadata:
    """Return the description of a grid: ``regular`` if every axis has one chunk length, else ``rectilinear``.

    Parameters
    ----------
    chunks
        The grid.

    Returns
    -------
    RegularChunkGridMetadata or RectilinearChunkGridMetadata

    Raises
    ------
    RectilinearChunksDisabledError
        If the grid is rectilinear and ``array.rectilinear_chunks`` is off.
    TypeError
        If a dimension is no `DimensionGrid`.

    Examples
    --------
    >>> from zarr.chunks import ChunkGrid, create_chunk_grid_metadata
    >>> create_chunk_grid_metadata(ChunkGrid.from_sizes((10,), (4,)))
    RegularChunkGridMetadata(chunk_shape=(4,))
    """
    if chunks.is_regular:
        return RegularChunkGridMetadata(chunk_shape=chunks.chunk_shape)
    check_rectilinear_enabled()
    shapes: list[int | tuple[int, ...]] = []
    for dim in chunks.dimensions:
        if isinstance(dim, dimensions.FixedDimension):
            shapes.append(dim.size)
        elif isinstance(dim, dimensions.VaryingDimension):
            shapes.append(dim.edges)
        elif isinstance(dim, dimensions.DimensionGrid):
            shapes.append(tuple([dim.chunk_size(i) for i in range(dim.ngridcells)]))
        else:
            raise TypeError(f"Unknown dimension grid type {type(dim)}: it lacks methods of zarr.chunks.DimensionGrid.")
    return _look_up("rectilinear")(chunk_shapes=tuple(shapes))  # type: ignore[call-arg]
