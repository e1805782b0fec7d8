"""Indexers of zarr-python 2, for programs that cut selections into chunks themselves.

The indexers take an array, as in zarr-python 2, or a shape and a grid, as ``zarr.core.indexing`` does.
"""

from __future__ import annotations

from typing import Any

from zarr.core import indexing as current
from zarr.core.indexing import *  # noqa: F403
from zarr.types import ceildiv_int

ceildiv = ceildiv_int


class _OfArray(current.Indexer):
    def __init__(self, selection: Any, array: Any, chunk_grid: Any = None) -> None:
        if chunk_grid is None:
            array, chunk_grid = array.shape, array._handle.state.chunk_grid
        super().__init__(selection, array, chunk_grid)


class BasicIndexer(_OfArray, current.BasicIndexer):  # type: ignore[no-redef]
    """The indexer of integers and slices.

    Examples
    --------
    >>> import zarr
    >>> [part.chunk_coords for part in BasicIndexer(slice(2, 5), zarr.zeros(10, chunks=4))]
    [(0,), (1,)]
    """


class OrthogonalIndexer(_OfArray, current.OrthogonalIndexer):  # type: ignore[no-redef]
    """The indexer of one selection for each axis."""


class CoordinateIndexer(_OfArray, current.CoordinateIndexer):  # type: ignore[no-redef]
    """The indexer of points."""


class MaskIndexer(_OfArray, current.MaskIndexer):  # type: ignore[no-redef]
    """The indexer of a mask of the whole array."""


class BlockIndexer(_OfArray, current.BlockIndexer):  # type: ignore[no-redef]
    """The indexer of whole chunks."""


