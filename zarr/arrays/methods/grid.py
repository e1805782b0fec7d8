"""Going over the chunks and the stored objects of an array: their coordinates, their keys, the parts that they hold.

Programs that cut work along the grid of an array (one task a shard) call these by the names of zarr-python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from zarr.chunks.shapes import block_of, cells

if TYPE_CHECKING:
    import zarr_core
    from zarr.arrays.handle import ArrayHandle
    from zarr.chunks import ChunkGrid
    from zarr.dtype import ZDType

Block = Sequence[int] | None


def regions(grid: zarr_core.Grid, origin: Block = None, selection_shape: Block = None) -> Iterator[tuple[slice, ...]]:
    """The parts of the array that the chunks of a block of a grid hold, the last axis fastest.

    Parameters
    ----------
    grid : zarr_core.Grid
    origin, selection_shape : sequence of int, optional
        The block; all chunks by default.

    Yields
    ------
    tuple of slice
    """
    for coords in cells(block_of(grid.cdata_shape, origin, selection_shape)):
        yield tuple(
            slice(axis.offset(i), axis.offset(i) + axis.valid_length(i), 1)
            for axis, i in zip(grid.axes, coords, strict=True)
        )


class ChunkWalks:
    """What both faces of an array tell of its grids. ``chunk`` is what is read, ``shard`` what is stored.

    Without shards the two are the same.
    """

    _handle: ArrayHandle

    @property
    def _zdtype(self) -> ZDType[Any, Any]:
        zdtype: ZDType[Any, Any] = self._handle.metadata.dtype
        return zdtype

    @property
    def _chunk_grid(self) -> ChunkGrid:
        return self._handle.state.chunk_grid

    @property
    def _chunk_grid_shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._handle.layout.grid.cdata_shape
        return shape

    @property
    def _shard_grid_shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._handle.layout.outer.cdata_shape
        return shape

    @property
    def _nshards(self) -> int:
        return prod(self._shard_grid_shape)

    def _iter_chunk_coords(self, origin: Block = None, selection_shape: Block = None) -> Iterator[tuple[int, ...]]:
        return cells(block_of(self._chunk_grid_shape, origin, selection_shape))

    def _iter_shard_coords(self, origin: Block = None, selection_shape: Block = None) -> Iterator[tuple[int, ...]]:
        return cells(block_of(self._shard_grid_shape, origin, selection_shape))

    def _iter_shard_keys(self, origin: Block = None, selection_shape: Block = None) -> Iterator[str]:
        encode = self._handle.metadata.encode_chunk_key
        return (encode(coords) for coords in self._iter_shard_coords(origin, selection_shape))

    def _iter_chunk_regions(self, origin: Block = None, selection_shape: Block = None) -> Iterator[tuple[slice, ...]]:
        return regions(self._handle.layout.grid, origin, selection_shape)

    def _iter_shard_regions(self, origin: Block = None, selection_shape: Block = None) -> Iterator[tuple[slice, ...]]:
        return regions(self._handle.layout.outer, origin, selection_shape)
