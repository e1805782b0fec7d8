"""Pages of arrays and groups in notebooks: tables, attributes, and the grid of stored chunks, as HTML with inline SVG.

Pure functions from numbers and text to text; nothing is read here. All text is escaped, and no page, script, style or
picture of another site is used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr._lazy import html
from zarr.types import printable

MAX_CELLS = 40
"""Number of cells along one side of a drawing; with more chunks, a cell stands for several."""
MAX_ATTRIBUTES, MAX_TEXT = 20, 200
_LONG, _SHORT = 240.0, 36.0
_CELL = "text-align:left;padding:1px 8px 1px 0;vertical-align:top"


def escaped(text: object, limit: int | None = None) -> str:
    """Return text escaped for HTML, cut if it is long.

    Examples
    --------
    >>> escaped("<b>")
    '&lt;b&gt;'
    """
    shown = str(text)
    if limit is not None and len(shown) > limit:
        shown = shown[:limit] + "…"
    return html.escape(printable(shown))


def table(rows: Iterable[tuple[str, object]]) -> str:
    """Return names and values as a table, one pair a line; pairs without a value are left out.

    Examples
    --------
    >>> "<th" in table([("Shape", (3,)), ("Shards", None)])
    True
    """
    lines = [
        f'<tr><th style="{_CELL}">{escaped(name)}</th><td style="{_CELL}">{escaped(value, MAX_TEXT)}</td></tr>'
        for name, value in rows
        if value is not None
    ]
    return f"<table>{''.join(lines)}</table>"


def attributes_table(attributes: Mapping[str, Any]) -> str:
    """Return the first attributes, folded."""
    if not attributes:
        return ""
    names = list(attributes)
    rows: list[tuple[str, object]] = [(name, _as_text(attributes[name])) for name in names[:MAX_ATTRIBUTES]]
    if len(names) > MAX_ATTRIBUTES:
        rows.append(("…", f"{len(names) - MAX_ATTRIBUTES} more"))
    return f"<details><summary>Attributes ({len(names)})</summary>{table(rows)}</details>"


def _as_text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)


def page(*parts: str) -> str:
    """Return parts beside each other."""
    cells = "".join(f'<div style="margin-right:16px">{part}</div>' for part in parts if part)
    return f'<div style="display:flex;flex-wrap:wrap;align-items:flex-start">{cells}</div>'


# ----------------------------------------------------------------------------------------------- the grid


def chunk_counts(
    shape: Sequence[int], stored: NDArray[np.int64], cells: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
    """Return for each cell of a drawing the number of stored chunks, and the number of all chunks.

    Parameters
    ----------
    shape : sequence of int
        Number of chunks along each dimension; the last two are drawn, the others are counted together.
    stored : array of int64, (chunks, dimensions)
        The coordinates of the stored chunks.
    cells : (int, int)
        Rows and columns of the drawing.

    Returns
    -------
    stored, all : array of int64 and array of Python's integers, each of shape ``cells``
        All chunks may be more than 64 bits can count.

    Examples
    --------
    >>> chunk_counts((2, 4), np.array([[0, 3], [1, 0]]), (2, 2))[0].tolist()
    [[0, 1], [1, 0]]
    """
    rows, columns = (1, shape[0]) if len(shape) == 1 else (shape[-2], shape[-1])
    found = np.zeros(cells, dtype=np.int64)
    if len(stored):
        row = np.zeros(len(stored), dtype=np.int64) if len(shape) == 1 else stored[:, -2]
        np.add.at(found, (row * cells[0] // rows, stored[:, -1] * cells[1] // columns), 1)
    every = np.outer(_chunks_per_cell(rows, cells[0]), _chunks_per_cell(columns, cells[1]))
    return found, every * prod(shape[:-2])


def _chunks_per_cell(chunks: int, cells: int) -> NDArray[np.object_]:
    """Return the number of chunks of a dimension in each cell.

    They are counted without a list of the chunks: a document may define 2^62 of them.
    """
    starts = [-(-cell * chunks // cells) for cell in range(cells + 1)]
    return np.array([after - start for start, after in pairwise(starts)], dtype=object)


def chunk_grid_svg(
    lengths: Sequence[int], counts: Sequence[int], names: Sequence[str | None] | None, stored: NDArray[np.int64] | None
) -> str:
    """Return the chunks of the last two dimensions as a grid; stored ones are filled.

    Parameters
    ----------
    lengths : sequence of int
        The shape of the array.
    counts : sequence of int
        Number of chunks along each dimension.
    names : sequence of (str or None), optional
        The names of the dimensions.
    stored : array of int64, (chunks, dimensions), optional
        Coordinates of the stored chunks; None if they are unknown.

    Returns
    -------
    str
        SVG; empty for an array without dimensions or without elements.
    """
    if not lengths or 0 in counts:
        return ""
    rows, columns = (1, counts[0]) if len(counts) == 1 else (counts[-2], counts[-1])
    cells = (min(rows, MAX_CELLS), min(columns, MAX_CELLS))
    width, height = _sides(lengths)
    none = np.empty((0, len(counts)), dtype=np.int64)
    found, every = chunk_counts(counts, none if stored is None else stored, cells)
    drawn = [
        _cell(i, j, (width / cells[1], height / cells[0]), None if stored is None else found[i, j], every[i, j])
        for i in range(cells[0])
        for j in range(cells[1])
    ]
    return (
        f'<svg width="{width + 60:.0f}" height="{height + 34:.0f}" xmlns="http://www.w3.org/2000/svg" '
        f'style="font:11px sans-serif" fill="currentColor">'
        f"{''.join(drawn)}{_labels(lengths, names, width, height)}</svg>"
    )


def _sides(lengths: Sequence[int]) -> tuple[float, float]:
    """Return the width and height of a drawing of an array, in pixels."""
    if len(lengths) == 1:
        return _LONG, _SHORT
    high, wide = max(lengths[-2], 1), max(lengths[-1], 1)
    longest = max(high, wide)
    return max(_LONG * wide / longest, _SHORT), max(_LONG * high / longest, _SHORT)


def _cell(row: int, column: int, size: tuple[float, float], found: int | None, every: int) -> str:
    if found is None:
        fill, said = 'fill="none"', f"{every} chunks"
    else:
        opacity = 0.0 if not found else 0.15 + 0.75 * found / every
        fill, said = f'fill="#2f6fa8" fill-opacity="{opacity:.2f}"', f"{found} of {every} chunks stored"
    return (
        f'<rect x="{column * size[0]:.1f}" y="{row * size[1]:.1f}" width="{size[0]:.1f}" height="{size[1]:.1f}" '
        f'{fill} stroke="#888" stroke-width="0.5"><title>{said}</title></rect>'
    )


def _labels(lengths: Sequence[int], names: Sequence[str | None] | None, width: float, height: float) -> str:
    named = [f"{names[i]} {n}" if names and names[i] else str(n) for i, n in enumerate(lengths)]
    across = f'<text x="{width / 2:.0f}" y="{height + 13:.0f}" text-anchor="middle">{escaped(named[-1], 30)}</text>'
    down = before = ""
    if len(lengths) > 1:
        down = f'<text x="{width + 4:.0f}" y="{height / 2:.0f}">{escaped(named[-2], 30)}</text>'
    if len(lengths) > 2:
        text = escaped("over " + ", ".join(named[:-2]), 60)
        before = f'<text x="0" y="{height + 28:.0f}">{text}</text>'
    return across + down + before
