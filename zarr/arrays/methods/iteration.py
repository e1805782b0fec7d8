"""Going over the first dimension of an array, a row of chunks at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarr.arrays.array import Array


def iterate_rows(array: Array[Any], first: int = 0) -> Iterator[Any]:
    """The elements of the first dimension, one after the other; no chunk is read twice.

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
        start, stop = axis.offset(i), axis.offset(i) + axis.valid_length(i)
        if stop <= first:
            continue
        rows = array[start:stop]
        for place in range(max(0, first - start), len(rows)):
            yield rows[place, ...]
