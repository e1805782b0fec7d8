"""Candidates for an array: chunk shapes between the extremes for its reads, and codecs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

import numcodecs

import zarr
from zarr.arrays.array import Array
from zarr.codecs import BloscCodec, ZstdCodec
from zarr.tools.contents.canonical import name_and_settings
from zarr.tools.copies.rechunking import chunk_shape, chunk_shape_for
from zarr.tools.measurements.reads import Read, Shape

SIZES: Final = (64 << 10, 512 << 10, 4 << 20)
"""Target number of bytes of a chunk."""

SMALL_SIZES: Final = (4 << 10, 16 << 10)
"""Target number of bytes of a chunk in a shard: for itself a file with so little costs more than its elements."""

LEAST_SIZE: Final = 1 << 10
"""Minimum number of bytes of a chunk in a shard: the index of a shard takes 16 bytes a chunk."""

MOST_SHAPES: Final = 24
"""Maximum number of chunk shapes to try; the least promising are left out."""

MOST_FILES: Final = 10_000
"""An array with more chunks gets shards."""

SHARD_BYTES: Final = 32 << 20

_STEPS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
_FILE_COST: Final = 14 << 10
_CHUNK_COST: Final = 2 << 10
"""Prices of a file and of a chunk in decoded bytes: estimates, only to order candidates before any is measured."""

_NOT_SHOWN: Final = ("bytes", "vlen-utf8", "vlen-bytes")


Grid = tuple[Shape, Shape | None]


@dataclass(frozen=True)
class Layout:
    """Chunks, shards and codecs to try.

    Parameters
    ----------
    chunks : tuple of int
    shards : tuple of int, optional
    codecs : dict
        Parameters of :func:`zarr.from_array`; missing ones are those of the array.
    """

    chunks: Shape
    shards: Shape | None
    codecs: dict[str, Any] = field(default_factory=dict)

    @property
    def grid(self) -> Grid:
        """Chunks and shards."""
        return self.chunks, self.shards

    def parameters(self, shape: Shape) -> dict[str, Any]:
        """Return the parameters of :func:`zarr.from_array` for an array of a shape that may be smaller."""
        chunks = tuple(map(min, self.chunks, shape))
        shards = None
        if self.shards is not None:
            axes = zip(self.shards, self.chunks, chunks, shape, strict=True)
            shards = tuple(cut * min(shard // chunk, -(-length // cut)) for shard, chunk, cut, length in axes)
        return {"chunks": chunks, "shards": shards, **self.codecs}


def own_layout(array: Array[Any]) -> Layout:
    """Return the present layout of an array."""
    try:
        chunks, shards = array.chunks, array.shards
    except NotImplementedError:  # chunks of several shapes
        return Layout(chunk_shape(array), None)
    return Layout(tuple(map(min, chunks, array.shape)) if shards is None else chunks, shards)


def ladder(array: Array[Any], reads: Sequence[Read]) -> list[Layout]:
    """Return layouts between the best ones for each read, the most promising first.

    Parameters
    ----------
    array : Array
    reads : sequence of Read

    Examples
    --------
    >>> array = zarr.zeros((4096, 512, 512), chunks=(1, 512, 512), dtype="f4")
    >>> shapes = [each.chunks for each in ladder(array, [Read("map", (1, 512, 512)), Read("series", (4096, 1, 1))])]
    >>> (1, 256, 512) in shapes, (4096, 4, 8) in shapes, len(shapes)
    (True, True, 24)
    """
    found = dict[Shape, Layout]()
    for size in SIZES:
        for shape in _shapes(array, reads, size):
            found[shape] = Layout(shape, choose_shards(array, shape))
    for size in SMALL_SIZES if array.metadata.zarr_format == 3 else ():
        for shape in _shapes(array, reads, size):
            found.setdefault(shape, Layout(shape, shards_around(array, shape)))
    return sorted(found.values(), key=lambda layout: _promise(layout, array, reads))[:MOST_SHAPES]


def neighbours(array: Array[Any], layout: Layout) -> list[Layout]:
    """Return layouts whose chunks are half or twice as long along one axis, as far as their size is reasonable.

    Parameters
    ----------
    array : Array
    layout : Layout

    Examples
    --------
    >>> array = zarr.create_array({}, shape=(9, 600, 800), chunks=(9, 100, 100), dtype="f4")
    >>> [near.chunks for near in neighbours(array, Layout((9, 100, 100), None))]
    [(5, 100, 100), (9, 50, 100), (9, 200, 100), (9, 100, 50), (9, 100, 200)]
    """
    found = []
    for axis, length in enumerate(array.shape):
        part = layout.chunks[axis]
        for changed in {-(-part // 2): None, min(2 * part, length): None}:
            chunks = (*layout.chunks[:axis], changed, *layout.chunks[axis + 1 :])
            size = math.prod(chunks) * array.dtype.itemsize
            small = size < SIZES[0] // 2 and array.metadata.zarr_format == 3
            shards = shards_around(array, chunks) if small else choose_shards(array, chunks)
            if changed != part and (LEAST_SIZE if shards else SIZES[0] // 2) <= size <= 2 * SIZES[-1]:
                found.append(Layout(chunks, shards, layout.codecs))
    return found


def _shapes(array: Array[Any], reads: Sequence[Read], size: int) -> Iterable[Shape]:
    """Yield chunk shapes of a number of bytes between the best ones for each read."""
    count = max(1, size // array.dtype.itemsize)
    extremes = [_extreme(read, array.shape, count) for read in reads]
    for mixed in _between(list(dict.fromkeys(extremes))):
        yield _fit(mixed, array.shape, size / array.dtype.itemsize)


def _extreme(read: Read, shape: Shape, size: int) -> Shape:
    """Return the chunk shape with a number of elements that is best for one read: along its span first, then beyond."""
    return _grow(_grow((1,) * len(shape), read.spans, size), shape, size)


def _grow(chunks: Shape, limits: Shape, size: int) -> Shape:
    """Double the shortest axes below their limits up to a number of elements."""
    lengths = list(chunks)
    while True:
        axes = [axis for axis in range(len(lengths)) if lengths[axis] < limits[axis]]
        if not axes or 2 * math.prod(lengths) > size:
            return tuple(lengths)
        axis = min(axes, key=lambda axis: (lengths[axis], -axis))
        lengths[axis] = min(2 * lengths[axis], limits[axis])


def _between(extremes: Sequence[Shape]) -> Iterable[tuple[float, ...]]:
    """Yield shapes between each two extremes, and one in the middle of all."""
    logs = [[math.log(length) for length in extreme] for extreme in extremes]
    for first, second in combinations(logs, 2) if len(logs) > 1 else [(logs[0], logs[0])]:
        for step in _STEPS:
            yield tuple(math.exp((1 - step) * a + step * b) for a, b in zip(first, second, strict=True))
    if len(logs) > 2:
        yield tuple(math.exp(sum(axis) / len(logs)) for axis in zip(*logs, strict=True))


def _fit(lengths: Sequence[float], shape: Shape, size: float) -> Shape:
    """Scale a shape to a number of elements, and round it to parts of the array that are about equal."""
    free = set(range(len(shape)))
    scaled = list(lengths)
    for _ in shape:
        factor = (size / math.prod(scaled)) ** (1 / max(1, len(free)))
        for axis in free:
            scaled[axis] = min(max(scaled[axis] * factor, 1.0), float(shape[axis]))
        free = {axis for axis in free if 1 < scaled[axis] < shape[axis]}
        if not free:
            break
    parts = [max(1, round(length / part)) for length, part in zip(shape, scaled, strict=True)]
    return tuple(-(-length // part) for length, part in zip(shape, parts, strict=True))


def _promise(layout: Layout, array: Array[Any], reads: Sequence[Read]) -> tuple[float, Shape]:
    """Return the cost of the read for which a layout is worst, relative to the number of its elements."""
    itemsize = array.dtype.itemsize
    nbytes = math.prod(layout.chunks) * itemsize
    worst = 0.0
    for read in reads:
        files = read.chunks(array.shape, layout.shards or layout.chunks)
        chunks = read.chunks(array.shape, layout.chunks)
        cost = _FILE_COST * files + (_CHUNK_COST + nbytes) * chunks
        worst = max(worst, cost / (_FILE_COST + _CHUNK_COST + math.prod(read.spans) * itemsize))
    return worst, layout.chunks


def choose_shards(array: Array[Any], chunks: Shape) -> Shape | None:
    """Return shards if there would be very many chunks.

    Examples
    --------
    >>> choose_shards(zarr.zeros((1 << 20, 1 << 10), dtype="u1"), (1 << 10, 1 << 5))
    (262144, 128)
    """
    count = math.prod(-(-length // chunk) for length, chunk in zip(array.shape, chunks, strict=True))
    return None if array.metadata.zarr_format == 2 or count <= MOST_FILES else shards_around(array, chunks)


def shards_around(array: Array[Any], chunks: Shape) -> Shape | None:
    """Return the shape of shards of about ``SHARD_BYTES``; None if one chunk is as large.

    Examples
    --------
    >>> shards_around(zarr.zeros((1000, 1000), dtype="u1"), (10, 100))
    (1000, 1000)
    """
    counts = [-(-length // chunk) for length, chunk in zip(array.shape, chunks, strict=True)]
    factors = [1] * len(counts)
    unit = math.prod(chunks) * array.dtype.itemsize
    while True:
        left = [-(-count // factor) for count, factor in zip(counts, factors, strict=True)]
        if max(left) == 1 or 2 * math.prod(factors) * unit > SHARD_BYTES:
            break
        axis = left.index(max(left))
        factors[axis] = min(2 * factors[axis], counts[axis])
    if max(factors) == 1:
        return None
    parts = [-(-count // factor) for count, factor in zip(counts, factors, strict=True)]
    return tuple(-(-count // part) * chunk for count, part, chunk in zip(counts, parts, chunks, strict=True))


def given_layouts(array: Array[Any], chunks: Iterable[Any]) -> list[Layout]:
    """Return the layouts for chunk shapes of the user.

    Raises
    ------
    ValueError
        If a shape does not fit the array.

    Examples
    --------
    >>> given_layouts(zarr.zeros((10, 8)), [(-1, 2), (5, 8)])
    [Layout(chunks=(10, 2), shards=None, codecs={}), Layout(chunks=(5, 8), shards=None, codecs={})]
    """
    entries = list(chunks)
    shapes = [chunk_shape_for("", array, wanted) for wanted in entries]
    for shape, wanted in zip(shapes, entries, strict=True):
        if shape is None or not all(isinstance(length, int) and length > 0 for length in shape):
            raise ValueError(f"chunks: {wanted!r} is no chunk shape of an array of the shape {array.shape}")
    found = dict.fromkeys(tuple(map(min, shape, array.shape)) for shape in shapes if shape is not None)
    return [Layout(shape, choose_shards(array, shape)) for shape in found]


# -------------------------------------------------------------------------------------------------------- codecs


def default_codecs(array: Array[Any]) -> list[Any]:
    """Return codecs to try for an array."""
    if array.metadata.zarr_format == 2:
        blosc = [numcodecs.Blosc(name, 5, numcodecs.Blosc.SHUFFLE) for name in ("lz4", "zstd")]
        return [*(numcodecs.Zstd(level) for level in (1, 9)), *blosc]
    shuffled = [BloscCodec(cname=name, clevel=5, shuffle="shuffle") for name in ("lz4", "zstd")]
    return [*(ZstdCodec(level=level) for level in (1, 9)), *shuffled]


def parse_codecs(array: Array[Any], entries: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the parameters of :func:`zarr.from_array` for codecs of the user, without those of the array itself.

    Parameters
    ----------
    array : Array
    entries : iterable
        Each entry is a compressor or a list of them as in :func:`zarr.create_array`, None for no compression, or a
        mapping with ``compressors``, ``filters`` or ``serializer``.

    Raises
    ------
    ValueError
        If one cannot encode the array.

    Examples
    --------
    >>> parse_codecs(zarr.zeros(4), [None])
    [{'compressors': None}]
    """
    if isinstance(entries, str | Mapping) or not isinstance(entries, Iterable):
        raise ValueError(f"codecs must be a list of codecs to try, not {entries!r}")
    found, known = [], {codec_text(array)}
    for entry in entries:
        named = isinstance(entry, Mapping) and entry and set(entry) <= {"compressors", "filters", "serializer"}
        parameters = dict(entry) if named else {"compressors": entry}
        try:
            text = codec_text(zarr.from_array({}, data=array, write_data=False, **parameters))
        except Exception as error:
            raise ValueError(f"codecs: {entry!r} cannot encode {array.dtype} elements: {error}") from error
        if text not in known:
            known.add(text)
            found.append(parameters)
    return found


def codec_text(array: Array[Any]) -> str:
    """Return the filters and compressors of an array, in the order in which they encode.

    Examples
    --------
    >>> codec_text(zarr.create_array({}, shape=4, dtype="i4", compressors=ZstdCodec(level=5)))
    'zstd(level=5)'
    """
    serializers = [] if array.serializer is None else [array.serializer]
    texts = [_one_text(codec) for codec in (*array.filters, *serializers, *array.compressors)]
    return " + ".join(filter(None, texts)) or "none"


def _one_text(codec: Any) -> str:
    name, settings = name_and_settings(codec.to_dict() if hasattr(codec, "to_dict") else codec.get_config())
    if name in _NOT_SHOWN:
        return ""
    # Leave out settings that are off or follow from the data type.
    omitted = ("typesize", "blocksize")
    shown = {key: value for key, value in settings.items() if key not in omitted and value is not False}
    return f"{name}({', '.join(f'{key}={value}' for key, value in shown.items())})" if shown else str(name)
