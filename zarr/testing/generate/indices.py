"""Strategies for selections."""

from __future__ import annotations

from typing import Any, Literal

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt

TrueOrFalse = Literal[True, False]


def is_negative_slice(idx: Any) -> bool:
    """Whether it is a slice that goes backwards."""
    return isinstance(idx, slice) and idx.step is not None and idx.step < 0


@st.composite
def end_slices(draw: st.DrawFn, *, shape: tuple[int, ...]) -> Any:
    """Slices near the end of each axis, where chunks overhang.

    Parameters
    ----------
    shape : tuple of int
    """
    slices = []
    for length in shape:
        start = draw(st.integers(min_value=length // 2, max_value=max(length // 2, length - 1)))
        slices.append(slice(start, draw(st.integers(min_value=start, max_value=length))))
    return tuple(slices)


@st.composite
def basic_indices(
    draw: st.DrawFn,
    *,
    shape: tuple[int, ...],
    min_dims: int = 0,
    max_dims: int | None = None,
    allow_newaxis: TrueOrFalse = False,
    allow_ellipsis: TrueOrFalse = True,
) -> Any:
    """Integers, slices and ellipses, none of them going backwards.

    Parameters
    ----------
    shape : tuple of int
    min_dims, max_dims : int, optional
    allow_newaxis, allow_ellipsis : bool
    """
    indices = npst.basic_indices(
        shape=shape,
        min_dims=min_dims,
        max_dims=max_dims,
        allow_newaxis=allow_newaxis,
        allow_ellipsis=allow_ellipsis,
    ).filter(lambda idx: not any(is_negative_slice(item) for item in (idx if isinstance(idx, tuple) else (idx,))))
    if shape and draw(st.integers(min_value=0, max_value=4)) == 0:
        return draw(end_slices(shape=shape))
    return draw(indices)


@st.composite
def orthogonal_indices(
    draw: st.DrawFn, *, shape: tuple[int, ...]
) -> tuple[tuple[int | slice | npt.NDArray[Any], ...], tuple[npt.NDArray[Any], ...]]:
    """One selection an axis, as zarr takes them, and as numpy must be given them for the same.

    Parameters
    ----------
    shape : tuple of int
    """
    ours: list[Any] = []
    theirs: list[npt.NDArray[Any]] = []
    kept: list[bool] = []
    for length in shape:
        kind = draw(st.sampled_from(["integer", "slice", "array"])) if length else "slice"
        if not length:
            item: Any = slice(None)  # nothing else is a selection of nothing for both
            points = np.arange(0)
        elif kind == "integer":
            item = draw(st.integers(min_value=-length, max_value=length - 1))
            points = np.array([item])
        elif kind == "slice":
            item = draw(st.slices(length).filter(lambda s: s.step is None or s.step > 0))
            points = np.arange(*item.indices(length))
        else:
            indices = st.integers(min_value=-length, max_value=length - 1)
            item = points = np.array(draw(st.lists(indices, min_size=1, max_size=2 * length)))
        ours.append(item)
        theirs.append(points)
        kept.append(kind != "integer")
    return tuple(ours), _crossed(theirs, kept)


def _crossed(points: list[npt.NDArray[Any]], kept: list[bool]) -> tuple[npt.NDArray[Any], ...]:
    """Index arrays that numpy crosses with one another; those of integers take no axis of the result."""
    ndim = sum(kept)
    shape = tuple(len(items) for items, keep in zip(points, kept, strict=True) if keep)
    crossed = []
    axis = 0
    for items, keep in zip(points, kept, strict=True):
        places = [1] * ndim
        if keep:
            places[axis] = len(items)
            axis += 1
        crossed.append(np.broadcast_to(items.reshape(places), shape))
    return tuple(crossed)


@st.composite
def block_indices(
    draw: st.DrawFn, *, chunk_sizes: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int | slice, ...], tuple[slice, ...]]:
    """Selections of whole chunks, and the slices of elements that they mean.

    Parameters
    ----------
    chunk_sizes : tuple of tuple of int
        The chunk lengths along each axis.
    """
    blocks: list[int | slice] = []
    elements: list[slice] = []
    for sizes in chunk_sizes:
        edges = [0, *np.cumsum(sizes).tolist()]
        count = len(sizes)
        if draw(st.booleans()):
            index = draw(st.integers(min_value=-count, max_value=count - 1))
            blocks.append(index)
            elements.append(slice(edges[index % count], edges[index % count + 1]))
        else:
            start = draw(st.integers(min_value=0, max_value=count - 1))
            stop = draw(st.integers(min_value=start, max_value=count))
            blocks.append(slice(start, stop))
            elements.append(slice(edges[start], edges[stop]))
    return tuple(blocks), tuple(elements)
