"""Going over the cells of a grid, one after the other and never all at once: a grid may have 2**40 of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def cells(ranges: Sequence[range]) -> Iterator[tuple[int, ...]]:
    """Go through the product of ranges, the last one fastest, without making lists of them.

    Parameters
    ----------
    ranges : sequence of range

    Yields
    ------
    tuple of int

    Examples
    --------
    >>> next(cells([range(2**40), range(3, 5)]))
    (0, 3)
    """
    if not ranges:
        yield ()
        return
    if any(len(part) == 0 for part in ranges):
        return
    places = [part[0] for part in ranges[:-1]]
    turning = [iter(part) for part in ranges[:-1]]
    for turn in turning:
        next(turn)
    while True:
        head = tuple(places)
        for last in ranges[-1]:
            yield (*head, last)
        if not _advance(places, turning, ranges):
            return


def _advance(places: list[int], turning: list[Iterator[int]], ranges: Sequence[range]) -> bool:
    """Turn all but the last dimension one step on; False when each has been through."""
    for axis in reversed(range(len(places))):
        found = next(turning[axis], None)
        if found is not None:
            places[axis] = found
            return True
        turning[axis] = iter(ranges[axis])
        places[axis] = next(turning[axis])
    return False


def block_of(
    grid_shape: Sequence[int], origin: Sequence[int] | None = None, selection_shape: Sequence[int] | None = None
) -> list[range]:
    """The ranges of a block of cells: where it starts, and how many cells it has along each axis.

    Parameters
    ----------
    grid_shape : sequence of int
    origin : sequence of int, optional
        The first cell of the block; the first of the grid by default.
    selection_shape : sequence of int, optional
        How many cells along each axis; all that follow by default.

    Returns
    -------
    list of range

    Raises
    ------
    IndexError
        The block reaches beyond the grid.
    ValueError
        The numbers of dimensions differ.

    Examples
    --------
    >>> block_of((3, 4), origin=(1, 2))
    [range(1, 3), range(2, 4)]
    """
    ndim = len(grid_shape)
    first = (0,) * ndim if origin is None else tuple(origin)
    if len(first) != ndim:
        raise ValueError(f"the grid has {ndim} dimensions, but the origin {first} has {len(first)}")
    counts = tuple(n - o for n, o in zip(grid_shape, first)) if selection_shape is None else tuple(selection_shape)
    if len(counts) != ndim:
        raise ValueError(f"the grid has {ndim} dimensions, but the selection shape {counts} has {len(counts)}")
    for axis, (start, count, size) in enumerate(zip(first, counts, grid_shape)):
        if start < 0 or start + count > size:
            raise IndexError(
                f"Invalid selection shape ({count}) for origin ({start}) and grid shape ({size}) at axis {axis}."
            )
    return [range(start, start + count) for start, count in zip(first, counts)]


def cells_outside(counts: Sequence[int], kept: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The cells of a grid that are not in its kept corner, each once.

    Parameters
    ----------
    counts : sequence of int
        The shape of the grid.
    kept : sequence of int
        The shape of the corner; it may be larger than the grid.

    Examples
    --------
    >>> list(cells_outside((2, 2), (1, 1)))
    [(1, 0), (1, 1), (0, 1)]
    """
    for d in range(len(counts)):
        ranges = [range(min(kept[i], counts[i])) for i in range(d)]
        ranges.append(range(kept[d], counts[d]))
        ranges.extend(range(counts[i]) for i in range(d + 1, len(counts)))
        yield from cells(ranges)
