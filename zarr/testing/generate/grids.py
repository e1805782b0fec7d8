"""Strategies for chunk and shard shapes, and for grids of both kinds."""

from __future__ import annotations

import itertools
from typing import Any

import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
from hypothesis.strategies import SearchStrategy

from zarr.chunks import RectilinearChunkGridMetadata, RegularChunkGridMetadata
from zarr.testing.generate.types import numpy_arrays

NUMPY_ARRAYS = numpy_arrays()


@st.composite
def chunk_shapes(draw: st.DrawFn, *, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Chunk shapes for an array, never longer than it and never empty.

    Parameters
    ----------
    shape : tuple of int
    """
    return tuple(draw(st.integers(min_value=1, max_value=max(1, length))) for length in shape)


@st.composite
def shard_shapes(draw: st.DrawFn, *, shape: tuple[int, ...], chunk_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shard shapes for an array: whole numbers of chunks along each axis.

    Parameters
    ----------
    shape, chunk_shape : tuple of int
    """
    return tuple(
        chunk * draw(st.integers(min_value=1, max_value=max(1, length // chunk)))
        for length, chunk in zip(shape, chunk_shape, strict=True)
    )


@st.composite
def np_array_and_chunks(
    draw: st.DrawFn, *, arrays: SearchStrategy[npt.NDArray[Any]] = NUMPY_ARRAYS
) -> tuple[np.ndarray[Any, Any], tuple[int, ...]]:
    """Numpy arrays, and a chunk shape for each.

    Parameters
    ----------
    arrays : strategy
    """
    array = draw(arrays)
    return array, draw(chunk_shapes(shape=array.shape))


@st.composite
def rectilinear_dim_edges(draw: st.DrawFn, *, extent: int, max_chunks: int = 20) -> list[int]:
    """Chunk lengths along one axis, which add up to its length; any lengths for an empty axis, to grow into.

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
    """Chunk lengths along every axis of an array.

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
    """Chunk shapes as a document may write them (one number, or lengths with repetitions), and what they mean.

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
    """Rectilinear grids for an array.

    Parameters
    ----------
    shape : tuple of int
    """
    edges = draw(rectilinear_chunks(shape=shape))
    return RectilinearChunkGridMetadata(chunk_shapes=tuple(tuple(lengths) for lengths in edges))


@st.composite
def chunk_grids(draw: st.DrawFn, *, shape: tuple[int, ...]) -> RegularChunkGridMetadata | RectilinearChunkGridMetadata:
    """Grids of either kind for an array.

    Parameters
    ----------
    shape : tuple of int
    """
    if shape and all(shape) and draw(st.booleans()):
        return draw(rectilinear_chunk_grids(shape=shape))
    return RegularChunkGridMetadata(chunk_shape=draw(chunk_shapes(shape=shape)))


def chunks_param_from_rectilinear(meta: RectilinearChunkGridMetadata) -> list[int | list[int]]:
    """What ``create_array(chunks=...)`` is given for a grid.

    Parameters
    ----------
    meta : RectilinearChunkGridMetadata
    """
    return [shape if isinstance(shape, int) else list(shape) for shape in meta.chunk_shapes]


@st.composite
def chunk_paths(draw: st.DrawFn, ndim: int, numblocks: tuple[int, ...], subset: bool = True) -> str:
    """Chunk coordinates, joined by slashes.

    Parameters
    ----------
    ndim : int
    numblocks : tuple of int
        How many chunks there are along each axis.
    subset : bool
        Whether there may be fewer coordinates than axes.
    """
    coords = draw(st.tuples(*(st.integers(min_value=0, max_value=max(0, count - 1)) for count in numblocks)))
    length = draw(st.integers(min_value=0, max_value=ndim)) if subset else ndim
    return "/".join(map(str, coords[:length]))
