"""Make grids from the parameters ``chunks`` and ``shards``."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from zarr.chunks.base import ChunkGridMetadata
from zarr.chunks.dimensions import DimensionGrid, FixedDimension, VaryingDimension
from zarr.chunks.grid import ChunkGrid
from zarr.chunks.guesses import SHARDED_INNER_CHUNK_MAX_BYTES, guess_chunks, guess_shard_shape
from zarr.defaults import settings
from zarr.errors import ZarrUserWarning
from zarr.notices import warn


class ChunkLayout(NamedTuple):
    """The stored chunks of an array and, with shards, the inner chunks.

    Parameters
    ----------
    outer_chunks : ChunkGrid
        The stored chunks: the shards, if there are any.
    inner : ChunkLayout, optional
        What a shard holds.

    Examples
    --------
    >>> from zarr.chunks import ChunkGrid, ChunkLayout
    >>> ChunkLayout(ChunkGrid.from_sizes((10,), (5,))).inner is None
    True
    """

    outer_chunks: ChunkGrid
    inner: ChunkLayout | None = None


def full_span_chunk_size(span: int, unit: int = 1) -> int:
    """Return the smallest positive multiple of ``unit`` that covers ``span`` elements.

    Parameters
    ----------
    span : int
        How many elements there are.
    unit : int, default 1
        The length of an inner chunk.

    Returns
    -------
    int

    Examples
    --------
    >>> from zarr.chunks import full_span_chunk_size
    >>> full_span_chunk_size(10, 4)
    12
    """
    return max(1, -(-span // unit)) * unit


def is_regular_1d(dim_chunks: Iterable[int]) -> bool:
    """Return True if chunk lengths (as dask lists them) are all equal, except for a smaller last one.

    Parameters
    ----------
    dim_chunks : iterable of int
        The lengths along one dimension.

    Returns
    -------
    bool

    Examples
    --------
    >>> from zarr.chunks import is_regular_1d
    >>> is_regular_1d((4, 4, 2)), is_regular_1d((4, 2, 4))
    (True, False)
    """
    lengths = tuple(dim_chunks)
    return all(a == b for a, b in pairwise(lengths[:-1])) and (len(lengths) < 2 or lengths[-1] <= lengths[0])


def is_regular_nd(chunks: Iterable[Iterable[int]]) -> bool:
    """Return True if the chunk lengths of every axis are regular.

    Parameters
    ----------
    chunks : iterable of iterables of int
        The lengths along each dimension.

    Returns
    -------
    bool

    Examples
    --------
    >>> from zarr.chunks import is_regular_nd
    >>> is_regular_nd(((4, 4, 2), (3, 3)))
    True
    """
    return all(is_regular_1d(dim_chunks) for dim_chunks in chunks)


def _as_int(value: object) -> int | None:
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _as_list(value: Any) -> list[object] | None:
    """Return the items of an iterable, or of an object with items and a length; None for anything else."""
    try:
        return list(value)
    except TypeError:
        return None


def normalize_chunks_1d(chunks: object, span: int, unit: int = 1) -> DimensionGrid:
    """Read the value of ``chunks`` for one axis.

    Parameters
    ----------
    chunks
        A positive chunk length; -1 for one chunk that spans the axis; or all chunk lengths, one by one.
    span
        Length of the axis.
    unit
        The length of a spanning chunk is a multiple of this.

    Returns
    -------
    FixedDimension or VaryingDimension

    Raises
    ------
    TypeError
        If it is neither an integer nor a list of integers.
    ValueError
        If a length is not positive, or the lengths do not sum to ``span`` (unless it is 0: then they are the chunks for
        the growth of the axis).

    Examples
    --------
    >>> from zarr.chunks import normalize_chunks_1d
    >>> normalize_chunks_1d(3, 10)
    FixedDimension(size=3, extent=10)
    """
    size = _as_int(chunks)
    if size is not None:
        if size == -1:
            return FixedDimension(full_span_chunk_size(span, unit), span)
        if size < 1:
            raise ValueError(f"Chunk size must be positive or -1, got {size}")
        return FixedDimension(size, span)
    listed = _as_list(chunks)
    if listed is None:
        raise TypeError(
            "Chunk specification must be an integer or an iterable of integers; "
            f"got {chunks!r} of type {type(chunks).__name__}."
        )
    return _listed_chunks(listed, span)


def _listed_chunks(given: list[object], span: int) -> VaryingDimension:
    if not given:
        raise ValueError("Chunk specification must not be empty")
    lengths = [_as_int(item) for item in given]
    bad = tuple([i for i, length in enumerate(lengths) if length is None])
    if bad:
        raise TypeError(
            f"Each chunk size must be an integer; got non-integer element(s) {tuple([given[i] for i in bad])} at "
            f"indices {bad}. Chunk sizes must be declared as a flat sequence of positive integers (e.g. [3, 3, 1])."
        )
    sizes = [length for length in lengths if length is not None]
    if min(sizes) < 1:
        raise ValueError(f"All chunk sizes must be positive, got {sizes}")
    if span and sum(sizes) != span:
        raise ValueError(
            f"Chunk sizes {sizes} do not sum to span {span}. To keep the chunks of an array that was shrunk, pass its "
            "metadata.chunk_grid."
        )
    return VaryingDimension(sizes, span)


def _check_rank(ndim: int, shape: tuple[int, ...]) -> None:
    if ndim != len(shape):
        raise ValueError(f"chunks has {ndim} dimensions but shape has {len(shape)} dimensions")


def _grid_over(chunks: ChunkGrid | ChunkGridMetadata, shape: tuple[int, ...]) -> ChunkGrid:
    """Return all chunks of a grid over a shape: those of a shrunk array reach beyond its end."""
    _check_rank(chunks.ndim, shape)
    if isinstance(chunks, ChunkGridMetadata):
        return chunks.to_grid(shape)
    axes = zip(chunks.dimensions, shape, strict=True)
    return ChunkGrid(dimensions=tuple([dim.with_extent(span) for dim, span in axes]))


def normalize_chunks_nd(chunks: Any, shape: tuple[int, ...], unit: tuple[int, ...] | None = None) -> ChunkGrid:
    """Read the value of ``chunks``.

    Parameters
    ----------
    chunks
        One entry for each axis as for `normalize_chunks_1d`, None for the whole axis; one integer for all axes;
        ``False`` for one chunk; or a chunk grid.
    shape
        Shape of the array.
    unit
        The length of a spanning chunk is a multiple of this, along each axis.

    Returns
    -------
    ChunkGrid

    Raises
    ------
    TypeError, ValueError
        If it is malformed or of the wrong rank.

    Examples
    --------
    >>> from zarr.chunks import normalize_chunks_nd
    >>> normalize_chunks_nd((3, -1), (10, 20))
    ChunkGrid(chunk_sizes=(3, 20), array_shape=(10, 20))
    """
    if chunks is None or chunks is True:
        raise ValueError(
            f'{chunks} is not a valid chunk input. Use chunks="auto" for automatic chunking, or pass an int or a '
            "tuple of ints."
        )
    if isinstance(chunks, ChunkGrid | ChunkGridMetadata):
        return _grid_over(chunks, shape)
    if chunks is False:
        chunks = -1
    listed = None if _as_int(chunks) is not None else _as_list(chunks)
    if listed is None and not shape:
        return ChunkGrid(dimensions=())
    entries: Sequence[object] = (chunks,) * len(shape) if listed is None else listed
    entries = [-1 if entry is None else entry for entry in entries]
    _check_rank(len(entries), shape)
    units = unit if unit is not None else (1,) * len(shape)
    return ChunkGrid(
        dimensions=tuple([normalize_chunks_1d(entry, span, step) for entry, span, step in zip(entries, shape, units)])
    )


def normalize_chunks(chunks: Any, shape: tuple[int, ...], typesize: int, *, sharded: bool = False) -> ChunkGrid:
    """Read the value of ``chunks``, ``"auto"`` (or None or True) included.

    Parameters
    ----------
    chunks
        ``"auto"``, None or True for automatic chunks; else as `normalize_chunks_nd`.
    shape
        Shape of the array.
    typesize
        Bytes of an element, for automatic chunks.
    sharded
        If True, the chunks will lie in shards: then automatic ones are smaller.

    Returns
    -------
    ChunkGrid

    Examples
    --------
    >>> from zarr.chunks import normalize_chunks
    >>> normalize_chunks("auto", (100, 200), 8)
    ChunkGrid(chunk_sizes=(100, 200), array_shape=(100, 200))
    """
    if chunks is None or chunks is True or (isinstance(chunks, str) and chunks == "auto"):
        return guess_chunks(shape, typesize, max_bytes=SHARDED_INNER_CHUNK_MAX_BYTES if sharded else None)
    return normalize_chunks_nd(chunks, shape)


def resolve_outer_and_inner_chunks(
    *,
    array_shape: tuple[int, ...],
    chunks: ChunkGrid,
    shard_shape: Any,
    item_size: int,
    target_shard_size_bytes: int | None = None,
) -> ChunkLayout:
    """Return the stored chunks, and the inner chunks of shards.

    Parameters
    ----------
    array_shape
        Shape of the array.
    chunks
        The chunks that the user works with.
    shard_shape
        None for no shards; ``"auto"``; a mapping with a ``shape``; else as the ``chunks`` of `normalize_chunks_nd`.
    item_size
        Bytes of an element, for automatic shards.
    target_shard_size_bytes
        Upper bound of an automatic shard; by default that of the configuration.

    Returns
    -------
    ChunkLayout

    Raises
    ------
    ValueError
        If ``chunks`` is not regular while there are shards, or ``shard_shape`` is malformed.

    Examples
    --------
    >>> from zarr.chunks import ChunkGrid, resolve_outer_and_inner_chunks
    >>> grid = ChunkGrid.from_sizes((100,), (10,))
    >>> resolve_outer_and_inner_chunks(array_shape=(100,), chunks=grid, shard_shape=(50,), item_size=4).outer_chunks
    ChunkGrid(chunk_sizes=(50), array_shape=(100,))
    """
    if shard_shape is None:
        return ChunkLayout(chunks)
    if not chunks.is_regular:
        raise ValueError(
            "Rectilinear chunks with sharding is not supported. Use rectilinear shards instead: "
            "chunks=(inner_size, ...), shards=[[shard_sizes], ...]"
        )
    inner = chunks.chunk_shape
    if isinstance(shard_shape, Mapping):
        shard_shape = shard_shape["shape"]
    if isinstance(shard_shape, str) and shard_shape == "auto":
        warn(
            "Automatic shard shape inference is experimental and may change without notice.",
            ZarrUserWarning,
        )
        if target_shard_size_bytes is None:
            target_shard_size_bytes = settings.get("array.target_shard_size_bytes")
        shard_shape = guess_shard_shape(array_shape, inner, item_size, target_shard_size_bytes)
    return ChunkLayout(normalize_chunks_nd(shard_shape, array_shape, inner), ChunkLayout(chunks))
