"""The number of rows of strips in a chunk."""

from __future__ import annotations

from typing import Final

STRIPS: Final = 1 << 20
"""Strips are joined until a chunk has about this number of bytes."""


def joined_rows(rows: int, height: int, row_bytes: int) -> int:
    """Return the number of rows of the strips that form a chunk.

    Parameters
    ----------
    rows : int
        Rows of one strip.
    height : int
        Height of the image.
    row_bytes : int
        The bytes of one row.

    Examples
    --------
    >>> joined_rows(1, 5000, 8192), joined_rows(4096, 5000, 8192), joined_rows(1, 50, 8192)
    (128, 4096, 50)
    """
    return min(rows * max(1, STRIPS // max(rows * row_bytes, 1)), max(height, 1))
