"""Pictures of the chunks of an array: the grid, the stored chunks, and the chunks that a selection reads."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from zarr._lazy import load_extra
from zarr.arrays.change import stored_chunks_steps
from zarr.arrays.show.cf import dimension_names
from zarr.arrays.show.pictures import parse_items

MAX_CHUNKS: Final = 20_000
"""Maximum number of chunks in a picture: more could not be distinguished."""


@dataclass(frozen=True)
class ChunkAxis:
    """The chunks along one dimension, and those that a selection touches.

    Parameters
    ----------
    borders : tuple of int
        The begin of each chunk, and the end of the last one.
    touched : frozenset of int
        The numbers of the chunks that contain elements of the selection.
    """

    borders: tuple[int, ...]
    touched: frozenset[int]

    def box(self, number: int) -> tuple[int, int]:
        """Return the begin and the end of a chunk."""
        return self.borders[number], self.borders[number + 1]

    def __len__(self) -> int:
        return len(self.borders) - 1


def axis_of(sizes: tuple[int, ...], item: int | range) -> ChunkAxis:
    """Return the chunks of the given lengths, and those that an index or several indices touch.

    Examples
    --------
    >>> axis_of((4, 4, 2), range(3, 10, 5))
    ChunkAxis(borders=(0, 4, 8, 10), touched=frozenset({0, 2}))
    """
    borders = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    indices = np.asarray([item] if isinstance(item, int) else item, dtype=np.int64)
    touched = np.unique(np.searchsorted(borders, indices, side="right") - 1)
    return ChunkAxis(tuple(borders.tolist()), frozenset(touched.tolist()))


def plot_chunks(array: Any, selection: Any = None, ax: Any = None) -> Any:
    """Draw the chunks of an array: shards, inner chunks, stored chunks, and the chunks that a selection reads.

    One dimension is drawn as a row. Of more than two dimensions, the last two are shown, at the first chunk read in the
    others. The title counts the chunks read in all dimensions. The store is listed; no chunk is read. Needs matplotlib.

    Parameters
    ----------
    array : Array
        The array; its chunks are counted, not read.
    selection : int, slice, ... or tuple of such, optional
        As between brackets. By default none: nothing is marked as read.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on. By default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Its collections have the labels "stored", "not stored", "chunks" (with shards) and "read".

    Raises
    ------
    ImportError
        If matplotlib is not installed; the extra ``plot`` has it.
    IndexError, TypeError, ValueError
        If the selection does not fit, or is of another kind.
    ValueError
        If the array has no dimensions or no elements, or more than 20,000 chunks would be shown.

    Examples
    --------
    >>> import zarr
    >>> array = zarr.create_array({}, shape=(10, 10), chunks=(5, 2), dtype="i4")
    >>> ax = zarr.plot_chunks(array, (slice(0, 3), slice(0, 6)))  # doctest: +SKIP
    >>> ax.get_title()  # doctest: +SKIP
    'reads 3 of 10 chunks; 0 of 10 are stored'
    """
    if not array.size:
        raise ValueError(f"an array of shape {array.shape} has no chunks to be shown")
    if not array.ndim:
        raise ValueError("an array without dimensions has one chunk, and no grid to be shown")
    items = parse_items(array.shape, selection)
    inner = [axis_of(sizes, item) for sizes, item in zip(array.read_chunk_sizes, items, strict=True)]
    outer = [axis_of(sizes, item) for sizes, item in zip(array.write_chunk_sizes, items, strict=True)]
    shown = math.prod(len(axis) for axis in inner[-2:])
    if shown > MAX_CHUNKS:
        raise ValueError(f"{shown} chunks would be shown, at most {MAX_CHUNKS} can be distinguished: use larger chunks")
    stored = set(array._handle.run(stored_chunks_steps(array._handle)))
    if ax is None:
        _, ax = load_extra("matplotlib.pyplot", "plot", "a picture").subplots(layout="constrained")
    _draw(ax, inner, outer, stored, sharded=array.shards is not None, marked=selection is not None)
    _label(ax, array)
    ax.set_title(_title(inner, outer, stored, sharded=array.shards is not None, marked=selection is not None))
    return ax


def _draw(
    ax: Any,
    inner: list[ChunkAxis],
    outer: list[ChunkAxis],
    stored: set[tuple[int, ...]],
    *,
    sharded: bool,
    marked: bool,
) -> None:
    above = tuple(min(axis.touched, default=0) for axis in outer[:-2])
    every = list(itertools.product(*(range(len(axis)) for axis in outer[-2:])))
    kept = [coords for coords in every if (*above, *coords) in stored]
    empty = [coords for coords in every if (*above, *coords) not in stored]
    edge = 2.0 if sharded else 0.8
    _add(ax, outer[-2:], empty, label="not stored", facecolor="#f4f4f4", edgecolor="#555555", linewidth=edge)
    _add(ax, outer[-2:], kept, label="stored", facecolor="#9ecae1", edgecolor="#555555", linewidth=edge)
    if sharded:
        chunks = list(itertools.product(*(range(len(axis)) for axis in inner[-2:])))
        _add(ax, inner[-2:], chunks, label="chunks", facecolor="none", edgecolor="#888888", linewidth=0.5)
    if marked:
        read = list(itertools.product(*(sorted(axis.touched) for axis in inner[-2:])))
        _add(ax, inner[-2:], read, label="read", facecolor="#fd8d3cc0", edgecolor="#e6550d", linewidth=1.2)


def _add(ax: Any, axes: list[ChunkAxis], numbers: list[tuple[int, ...]], **look: Any) -> None:
    collection = load_extra("matplotlib.collections", "plot", "a picture").PolyCollection
    corners = []
    for coords in numbers:
        boxes = [axis.box(number) for axis, number in zip(axes, coords, strict=True)]
        (top, bottom), (left, right) = ((0, 1), *boxes)[-2:]
        corners.append([(left, top), (right, top), (right, bottom), (left, bottom)])
    if corners:
        ax.add_collection(collection(corners, **look))


def _label(ax: Any, array: Any) -> None:
    names = [name or f"dimension {axis}" for axis, name in enumerate(dimension_names(array))]
    height = array.shape[-2] if array.ndim > 1 else 1
    ax.set(xlim=(0, array.shape[-1]), ylim=(height, 0), xlabel=names[-1])
    if array.ndim > 1:
        ax.set_ylabel(names[-2])
    else:
        ax.set_yticks([])
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


def _title(
    inner: list[ChunkAxis], outer: list[ChunkAxis], stored: set[tuple[int, ...]], *, sharded: bool, marked: bool
) -> str:
    word = "" if marked and not sharded else " shards" if sharded else " chunks"
    stored_text = f"{len(stored)} of {math.prod(map(len, outer))}{word} are stored"
    if not marked:
        return stored_text
    read = math.prod(len(axis.touched) for axis in inner)
    return f"reads {read} of {math.prod(map(len, inner))} chunks; {stored_text}"
