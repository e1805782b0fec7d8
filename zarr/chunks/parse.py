"""From a document to a grid description by name, and from a grid back to its description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from zarr._lazy import LazyModule
from zarr.chunks.base import ChunkGridMetadata, RegularChunkGridMetadata
from zarr.registry.tables import failure_of, get_chunk_grid_class
from zarr.types import parse_named_configuration

if TYPE_CHECKING:
    from zarr.chunks import dimensions, rectilinear
    from zarr.chunks.grid import ChunkGrid
else:
    rectilinear = LazyModule("zarr.chunks.rectilinear")
    dimensions = LazyModule("zarr.chunks.dimensions")


_BUILTIN = ("rectilinear", "regular")


def parse_chunk_grid(data: object) -> ChunkGridMetadata:
    """Read the ``chunk_grid`` member of an array document.

    Parameters
    ----------
    data
        A grid description (returned as it is), or its JSON form.

    Returns
    -------
    ChunkGridMetadata

    Raises
    ------
    TypeError, ValueError
        If it is malformed, or no grid of that name is known.

    Examples
    --------
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
        return rectilinear.RectilinearChunkGridMetadata.from_dict({"name": "rectilinear", "configuration": renamed})
    if name == "regular":
        return RegularChunkGridMetadata.from_dict(cast("dict[str, Any]", data))
    if name == "rectilinear":
        return rectilinear.RectilinearChunkGridMetadata.from_dict(cast("dict[str, Any]", data))
    grid: ChunkGridMetadata = _look_up(name).from_dict(data)
    return grid


def _look_up(name: str) -> Any:
    try:
        return get_chunk_grid_class(name)
    except KeyError as error:
        raise ValueError(
            f"Unknown chunk grid name: {name!r}. Known are {list(_BUILTIN)} and the grids registered under "
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

    Examples
    --------
    >>> from zarr.chunks import ChunkGrid
    >>> create_chunk_grid_metadata(ChunkGrid.from_sizes((10,), (4,)))
    RegularChunkGridMetadata(chunk_shape=(4,))
    """
    if chunks.is_regular:
        return RegularChunkGridMetadata(chunk_shape=chunks.chunk_shape)
    rectilinear.check_rectilinear_enabled()
    shapes: list[int | tuple[int, ...]] = []
    for dim in chunks.dimensions:
        if isinstance(dim, dimensions.FixedDimension):
            shapes.append(dim.size)
        elif isinstance(dim, dimensions.VaryingDimension):
            shapes.append(dim.edges)
        else:
            shapes.append(tuple([dim.chunk_size(i) for i in range(dim.ngridcells)]))
    return rectilinear.RectilinearChunkGridMetadata(chunk_shapes=tuple(shapes))
