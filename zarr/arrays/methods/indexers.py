"""The small objects behind ``oindex``, ``vindex`` and ``blocks``, of both faces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from zarr.arrays.io.selection import elements_of

if TYPE_CHECKING:
    from zarr.arrays.methods.array_api import StandardMethods
    from zarr.arrays.methods.properties import ArrayFace


@dataclass(frozen=True)
class _Index:
    """Brackets that select in one way."""

    array: StandardMethods
    _kind: ClassVar[str]

    def __getitem__(self, selection: Any) -> Any:
        return self.array._get(self._kind, selection)

    def __setitem__(self, selection: Any, value: Any) -> None:
        self.array._set(self._kind, selection, value)


class OIndex(_Index):
    """Orthogonal indexing: each axis by itself, as ``array.oindex[[0, 2], [1, 3]]``."""

    _kind = "orthogonal"


class VIndex(_Index):
    """Vectorized indexing: points, as ``array.vindex[[0, 2], [1, 3]]``, or a mask."""

    _kind = "vectorized"


class BlockIndex(_Index):
    """Block indexing: whole stored chunks by their place in the grid, as ``array.blocks[0, 1:3]``."""

    _kind = "block"


@dataclass(frozen=True)
class AsyncOIndex:
    """Orthogonal indexing of an :class:`AsyncArray`."""

    array: ArrayFace

    async def getitem(self, selection: Any) -> Any:
        """Read a selection that indexes each axis by itself."""
        return await self.array._get("orthogonal", selection)


@dataclass(frozen=True)
class AsyncVIndex:
    """Vectorized indexing of an :class:`AsyncArray`."""

    array: ArrayFace

    async def getitem(self, selection: Any) -> Any:
        """Read points or a mask."""
        return await self.array._get("vectorized", selection)


def iterate_rows(array: StandardMethods, first: int = 0) -> Iterator[Any]:
    """Yield the elements of the first dimension, one after the other; no chunk is read twice.

    Parameters
    ----------
    array : Array
    first : int
        Which element to begin with.

    Yields
    ------
    numpy.ndarray
        A view of rows that were read together; copy it to keep it alone.

    Examples
    --------
    >>> import zarr
    >>> [int(row) for row in iterate_rows(zarr.array([3, 1, 2]))]
    [3, 1, 2]
    """
    if array.ndim == 0:
        return
    axis = array._handle.layout.grid.axes[0]
    for i in range(axis.nchunks):
        span = elements_of(axis, i, i + 1)
        if span.stop <= first:
            continue
        rows = array[span]
        for place in range(max(0, first - span.start), len(rows)):
            yield rows[place, ...]
