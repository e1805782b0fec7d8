"""Guess the shapes of chunks and shards that the user does not give.

``normalize.py`` calls it. The result depends only on the shape of the array, its item size and the given limits.
"""

from __future__ import annotations

import math

from zarr.chunks.grid import ChunkGrid
from zarr.chunks.shapes import parse_shape

KIBIBYTE = 1024
MEBIBYTE = 1024 * KIBIBYTE
# A reader fetches inner chunks of a shard one by one, so they are smaller than chunks that are files.
SHARDED_INNER_CHUNK_MAX_BYTES = MEBIBYTE
# Below this number of chunks along an axis, automatic sharding does not join chunks of the axis.
MIN_CHUNKS_TO_SHARD_AXIS = 9


def guess_regular_chunks(
    shape: tuple[int, ...] | int,
    typesize: int,
    *,
    increment_bytes: int = 256 * KIBIBYTE,
    min_bytes: int = 128 * KIBIBYTE,
    max_bytes: int = 64 * MEBIBYTE,
) -> tuple[int, ...]:
    """Choose a chunk shape: about ``increment_bytes``, doubled for every tenfold size of the array beyond 1 MiB.

    The shape is found by halving the axes in turn, so chunks keep roughly the proportions of the array.

    Parameters
    ----------
    shape
        Shape of the array.
    typesize
        Bytes of an element.
    increment_bytes, min_bytes, max_bytes
        Size of a chunk for an array of 1 MiB, and the bounds.

    Returns
    -------
    tuple of int

    Raises
    ------
    ValueError
        If ``min_bytes`` exceeds ``max_bytes``.

    Examples
    --------
    >>> from zarr.chunks import guess_regular_chunks
    >>> guess_regular_chunks((10000, 20000), 8)
    (313, 1250)
    """
    if min_bytes > max_bytes:
        raise ValueError(f"Cannot have more min_bytes ({min_bytes}) than max_bytes ({max_bytes})")
    chunks = [max(length, 1) for length in parse_shape(shape)]
    if not chunks:
        return ()
    total_bytes = math.prod(chunks) * typesize
    target = float(min_bytes)
    if total_bytes > 0:
        target = increment_bytes * 2.0 ** math.log10(total_bytes / MEBIBYTE)
        target = min(max(target, min_bytes), max_bytes)
    axis, ndim = 0, len(chunks)
    while True:
        count = math.prod(chunks)
        nbytes = count * typesize
        if nbytes < max_bytes and (nbytes < target or abs(nbytes - target) / target < 0.5):
            break
        if count == 1:
            break
        chunks[axis % ndim] = -(-chunks[axis % ndim] // 2)
        axis += 1
    return tuple(chunks)


def guess_chunks(shape: tuple[int, ...], typesize: int, *, max_bytes: int | None = None) -> ChunkGrid:
    """Choose the chunk grid of an array.

    Parameters
    ----------
    shape
        Shape of the array.
    typesize
        Bytes of an element.
    max_bytes
        Upper bound of a chunk; 64 MiB by default.

    Returns
    -------
    ChunkGrid

    Examples
    --------
    >>> from zarr.chunks import guess_chunks
    >>> guess_chunks((100, 200), 8)
    ChunkGrid(chunk_sizes=(100, 200), array_shape=(100, 200))
    """
    if max_bytes is None:
        return ChunkGrid.from_sizes(shape, guess_regular_chunks(shape, typesize))
    return ChunkGrid.from_sizes(shape, guess_regular_chunks(shape, typesize, max_bytes=max_bytes))


def guess_shard_shape(
    array_shape: tuple[int, ...], chunk_shape: tuple[int, ...], item_size: int, target_bytes: int | None = None
) -> tuple[int, ...]:
    """Choose a shard shape for inner chunks of shape ``chunk_shape``.

    Parameters
    ----------
    array_shape
        Shape of the array.
    chunk_shape
        Shape of the inner chunks.
    item_size
        Bytes of an element.
    target_bytes
        Upper bound of a shard (uncompressed). By default two chunks along every axis with more than eight chunks.

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> guess_shard_shape((1000, 20), (10, 10), 8)
    (20, 10)
    """
    if target_bytes is not None:
        factor = chunks_per_shard_axis(chunk_shape, item_size, target_bytes, array_shape)
        return tuple([factor * length for length in chunk_shape])
    return tuple(
        [
            2 * length if extent // length >= MIN_CHUNKS_TO_SHARD_AXIS else length
            for length, extent in zip(chunk_shape, array_shape, strict=True)
        ]
    )


def chunks_per_shard_axis(
    chunk_shape: tuple[int, ...], item_size: int, max_bytes: int, array_shape: tuple[int, ...]
) -> int:
    """Return the largest number n such that n chunks along every axis fit both ``max_bytes`` and the array.

    Examples
    --------
    >>> chunks_per_shard_axis((10, 10), 8, 8000, (100, 100))
    3
    """
    chunk_bytes = math.prod(chunk_shape) * item_size
    if chunk_bytes <= 0 or max_bytes < chunk_bytes or not chunk_shape:
        return 1
    limit = min([extent // length for length, extent in zip(chunk_shape, array_shape, strict=True)])
    ndim = len(chunk_shape)
    root = int((max_bytes / chunk_bytes) ** (1 / ndim))
    # The root is found in floating point; the integers next to it decide.
    while (root + 1) ** ndim * chunk_bytes <= max_bytes:
        root += 1
    while root > 1 and root**ndim * chunk_bytes > max_bytes:
        root -= 1
    return max(1, min(root, limit))
