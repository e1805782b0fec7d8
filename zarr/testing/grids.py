"""Strategies for chunk and shard shapes, and for grids of both kinds."""

from __future__ import annotations

import itertools
from typing import Any, Literal

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt

from zarr.chunks import RectilinearChunkGridMetadata, RegularChunkGridMetadata


@st.composite
def chunk_shapes(draw: st.DrawFn, *, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Draw chunk shapes for an array, never longer than it and never empty.

    Parameters
    ----------
    shape : tuple of int
    """
    return tuple(draw(st.integers(min_value=1, max_value=max(1, length))) for length in shape)


@st.composite
def shard_shapes(draw: st.DrawFn, *, shape: tuple[int, ...], chunk_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Draw shard shapes for an array: whole numbers of chunks along each axis.

    Parameters
    ----------
    shape, chunk_shape : tuple of int
    """
    return tuple(
        chunk * draw(st.integers(min_value=1, max_value=max(1, length // chunk)))
        for length, chunk in zip(shape, chunk_shape, strict=True)
    )


@st.composite
def rectilinear_dim_edges(draw: st.DrawFn, *, extent: int, max_chunks: int = 20) -> list[int]:
    """Draw chunk lengths along one axis, which add up to its length; any lengths for an empty axis, to grow into.

    Parameters
    ----------
    extent : int
    max_chunks : int
    """
    if extent == 0:
        return draw(st.lists(st.integers(min_value=1, max_value=10), min_size=1, max_size=min(max_chunks, 3)))
    most = min(max_chunks, extent)
    cuts = draw(st.sets(st.integers(min_value=1, max_value=max(1, extent - 1)), max_size=most - 1))
    places = sorted(cut for cut in cuts if cut < extent)
    return [stop - start for start, stop in itertools.pairwise([0, *places, extent])]


@st.composite
def rectilinear_chunks(draw: st.DrawFn, *, shape: tuple[int, ...]) -> list[list[int]]:
    """Draw chunk lengths along every axis of an array.

    Parameters
    ----------
    shape : tuple of int
    """
    most = max(1, int(200 ** (1 / max(1, len(shape)))))
    return [draw(rectilinear_dim_edges(extent=extent, max_chunks=most)) for extent in shape]


@st.composite
def rectilinear_chunk_shape_declarations(
    draw: st.DrawFn, *, shape: tuple[int, ...]
) -> tuple[list[int | list[int | list[int]]], tuple[int | tuple[int, ...], ...]]:
    """Draw chunk shapes as a document may write them (a number, or lengths with repetitions), and their meaning.

    Parameters
    ----------
    shape : tuple of int
    """
    written: list[int | list[int | list[int]]] = []
    meant: list[int | tuple[int, ...]] = []
    for extent in shape:
        if draw(st.booleans()):
            length = draw(st.integers(min_value=1, max_value=max(1, extent)))
            written.append(length)
            meant.append(length)
        else:
            edges = draw(rectilinear_dim_edges(extent=extent))
            written.append(run_lengths(edges) if draw(st.booleans()) else list(edges))
            meant.append(tuple(edges))
    return written, tuple(meant)


def run_lengths(edges: list[int]) -> list[int | list[int]]:
    """Write repeated lengths as pairs of length and count."""
    runs = [(length, len(list(group))) for length, group in itertools.groupby(edges)]
    return [length if count == 1 else [length, count] for length, count in runs]


@st.composite
def rectilinear_chunk_grids(draw: st.DrawFn, *, shape: tuple[int, ...]) -> RectilinearChunkGridMetadata:
    """Draw rectilinear grids for an array.

    Parameters
    ----------
    shape : tuple of int
    """
    edges = draw(rectilinear_chunks(shape=shape))
    return RectilinearChunkGridMetadata(chunk_shapes=tuple(tuple(lengths) for lengths in edges))


@st.composite
def chunk_grids(draw: st.DrawFn, *, shape: tuple[int, ...]) -> RegularChunkGridMetadata | RectilinearChunkGridMetadata:
    """Draw grids of either kind for an array.

    Parameters
    ----------
    shape : tuple of int
    """
    if shape and all(shape) and draw(st.booleans()):
        return draw(rectilinear_chunk_grids(shape=shape))
    return RegularChunkGridMetadata(chunk_shape=draw(chunk_shapes(shape=shape)))


def chunks_param_from_rectilinear(meta: RectilinearChunkGridMetadata) -> list[int | list[int]]:
    """Return the argument ``chunks`` of ``create_array`` for a grid.

    Parameters
    ----------
    meta : RectilinearChunkGridMetadata
    """
    return [shape if isinstance(shape, int) else list(shape) for shape in meta.chunk_shapes]


@st.composite
def chunk_paths(draw: st.DrawFn, ndim: int, numblocks: tuple[int, ...], subset: bool = True) -> str:
    """Draw chunk coordinates, joined by slashes.

    Parameters
    ----------
    ndim : int
    numblocks : tuple of int
        The number of chunks along each axis.
    subset : bool
        If True, there may be fewer coordinates than axes.
    """
    coords = draw(st.tuples(*(st.integers(min_value=0, max_value=max(0, count - 1)) for count in numblocks)))
    length = draw(st.integers(min_value=0, max_value=ndim)) if subset else ndim
    return "/".join(map(str, coords[:length]))


TrueOrFalse = Literal[True, False]


def is_negative_slice(idx: Any) -> bool:
    """Return True for a slice with a negative step."""
    return isinstance(idx, slice) and idx.step is not None and idx.step < 0


@st.composite
def end_slices(draw: st.DrawFn, *, shape: tuple[int, ...]) -> Any:
    """Draw slices near the end of each axis, where chunks overhang.

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
    """Draw integers, slices and ellipses, none of them with a negative step.

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
    """Draw one selection for each axis, in the form of zarr and in that of numpy.

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
            item: Any = slice(None)  # nothing else selects nothing in both forms
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
    """Return index arrays that numpy crosses with one another; those of integers take no axis of the result."""
    pairs = list(zip(points, kept, strict=True))
    crossed = iter(np.ix_(*(items for items, keep in pairs if keep)))
    return tuple(np.broadcast_arrays(*(next(crossed) if keep else items[0] for items, keep in pairs)))


@st.composite
def block_indices(
    draw: st.DrawFn, *, chunk_sizes: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int | slice, ...], tuple[slice, ...]]:
    """Draw selections of whole chunks, and the equivalent slices of elements.

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
