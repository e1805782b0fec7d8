"""Lists of chunk lengths as documents write them: runs of equal lengths are pairs ``[length, count]``."""

from __future__ import annotations

from collections.abc import Sequence

from zarr.chunks.rectilinear import MAX_EDGES_PER_AXIS
from zarr.chunks.rectilinear import compress_runs as compress_rle


def expand_rle(data: Sequence[object], axis: int | None = None) -> list[int]:
    """Read a list of integers of Python, and pairs of them that are runs.

    Parameters
    ----------
    data : sequence
    axis : int, optional
        Which dimension they belong to, for the messages.

    Returns
    -------
    list of int

    Raises
    ------
    TypeError, ValueError
        If an entry is something else, a length or a count is smaller than 1, or there are more than 2**24 chunks.

    Examples
    --------
    >>> expand_rle([[2, 3], 1])
    [2, 2, 2, 1]
    """
    place = "" if axis is None else f"Dimension {axis}: "
    edge = "Chunk edge length" if axis is None else "chunk edge length"
    lengths: list[int] = []
    for entry in data:
        pair = entry if isinstance(entry, list | tuple) else (entry, 1)
        if len(pair) != 2:
            raise ValueError(f"{place}RLE entries must be an integer or [size, count], got {list(pair)}")
        size, count = pair
        length, times = _positive(size, place + edge), _positive(count, f"{place}RLE repeat count")
        if len(lengths) + times > MAX_EDGES_PER_AXIS:
            raise ValueError(f"{place}{len(lengths) + times} chunks are more than the limit of {MAX_EDGES_PER_AXIS}")
        lengths.extend([length] * times)
    return lengths


def _positive(value: object, what: str) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{what} must be an int, got {value!r}")
    if value < 1:
        raise ValueError(f"{what} must be >= 1, got {value}")
    return int(value)


__all__ = ["compress_rle", "expand_rle"]
