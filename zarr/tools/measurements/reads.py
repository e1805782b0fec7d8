"""Reads of arrays in words: ``time-series``, ``map``, ``window:256``, ``plane:lat,lon``, ``line:depth``, ``all``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from zarr.arrays.array import Array
from zarr.errors import like_names
from zarr.tools.contents.nodes import open_node, refuse_group
from zarr.tools.plans.plan import parse_bytes

Shape = tuple[int, ...]
Selection = tuple[slice, ...]

KINDS: Final = ("time-series", "map", "window:256", "plane:lat,lon", "line:depth", "all")
"""An example of each kind of read."""

_PLACES: Final = ((0.5, 0.5, 0.5), (0.21, 0.83, 0.37), (0.87, 0.13, 0.68))
"""Places where reads begin, as fractions of the axes in turn: the same for each layout, for comparison."""


@dataclass(frozen=True)
class Read:
    """A kind of read of an array.

    Parameters
    ----------
    name : str
        The text of the user.
    spans : tuple of int
        The number of elements along each axis.
    """

    name: str
    spans: Shape

    def selections(self, shape: Shape) -> list[Selection]:
        """Return reads of this kind at some places, each once, cut to an array of a shape.

        Examples
        --------
        >>> Read("row", (1, 8)).selections((5, 4))[0]
        (slice(2, 3, None), slice(0, 4, None))
        """
        found: dict[tuple[tuple[int, int], ...], Selection] = {}
        for place in _PLACES:
            spans = [min(span, length) for span, length in zip(self.spans, shape, strict=True)]
            starts = [int(place[i % 3] * (shape[i] - span + 1)) for i, span in enumerate(spans)]
            pairs = [(start, start + span) for start, span in zip(starts, spans, strict=True)]
            found[tuple(pairs)] = tuple(slice(*pair) for pair in pairs)
        return list(found.values())

    def chunks(self, shape: Shape, chunks: Shape) -> float:
        """Return the average number of chunks of such a read over all places.

        Examples
        --------
        >>> Read("window", (3, 8)).chunks((100, 8), (10, 4))
        2.4
        """
        return math.prod(self._along(shape, chunks))

    def _along(self, shape: Shape, chunks: Shape) -> list[float]:
        """Return the average number of chunks along each axis."""
        return [
            min(1 + (span - 1) / chunk, -(-length // chunk)) if span < length else -(-length // chunk)
            for span, length, chunk in zip(self.spans, shape, chunks, strict=True)
        ]

    def requests(self, shape: Shape, chunks: Shape, shards: Shape | None) -> float:
        """Return the average number of requests: one a chunk; of a shard its index, and each run of chunks in a row.

        Examples
        --------
        >>> Read("map", (1, 8, 8)).requests((9, 8, 8), (3, 2, 2), None)
        16.0
        >>> Read("map", (1, 8, 8)).requests((9, 8, 8), (3, 2, 2), (9, 8, 8))
        2.0
        """
        if shards is None:
            return self.chunks(shape, chunks)
        files, met, runs = self._along(shape, shards), self._along(shape, chunks), 1.0
        in_a_row = True
        for axis in reversed(range(len(shape))):
            inside, count = met[axis] / files[axis], -(-min(shards[axis], shape[axis]) // chunks[axis])
            runs *= 1 if in_a_row else inside
            in_a_row = in_a_row and inside >= count
        return math.prod(files) * (1 + runs)


def chunks_met(selection: Selection, chunks: Shape) -> int:
    """Return the number of chunks of a shape that a selection touches.

    Examples
    --------
    >>> chunks_met((slice(9, 11), slice(0, 8)), (10, 4))
    4
    """
    return math.prod(
        (part.stop - 1) // chunk - part.start // chunk + 1 for part, chunk in zip(selection, chunks, strict=True)
    )


def parse_reads(
    words: str | Iterable[str],
    shape: Shape,
    dimensions: Sequence[str | None],
    others: Mapping[str, Shape] | None = None,
) -> list[Read]:
    """Return the reads of a text for an array.

    Parameters
    ----------
    words : str or iterable of str
        Each as in ``KINDS``; one text may have several with commas between them.
    shape : tuple of int
    dimensions : sequence of str or None
        The names of the axes.
    others : mapping, optional
        The spans of further words.

    Raises
    ------
    ValueError
        If a word has no meaning for this array, or there is none.

    Examples
    --------
    >>> [(read.name, read.spans) for read in parse_reads("map,line:lat", (9, 30, 40), ("time", "lat", "lon"))]
    [('map', (1, 30, 40)), ('line:lat', (1, 30, 1))]
    """
    listed = split_words(words) if isinstance(words, str) else list(words)
    if not listed:
        raise ValueError(f"no reads are named: say which matter, such as {', '.join(KINDS)}")
    known = others or {}
    return [
        Read(word, known[word] if word in known else _spans_of(word, shape, dimensions))
        for word in dict.fromkeys(listed)
    ]


def split_words(text: str) -> list[str]:
    """Return the reads in one text; the comma of a plane does not end it.

    Examples
    --------
    >>> split_words("map, plane:lat,lon, window:256")
    ['map', 'plane:lat,lon', 'window:256']
    """
    words: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if words and words[-1].startswith("plane:") and "," not in words[-1]:
            words[-1] += f",{part}"
        else:
            words.append(part)
    return words


def _spans_of(word: Any, shape: Shape, dimensions: Sequence[str | None]) -> Shape:
    if not isinstance(word, str):
        raise TypeError(f"a read is a text such as {', '.join(KINDS)}, not {word!r}")
    kind, _, detail = word.partition(":")
    reader = _READERS.get(kind)
    takes_detail = kind in ("window", "plane", "line")
    if reader is None or bool(detail) != takes_detail or word.endswith(":"):
        like = like_names(kind, [each.partition(":")[0] for each in KINDS]) if reader is None else ""
        raise ValueError(f"{word!r} is no read{like}: there are {', '.join(KINDS)}")
    lengths = reader(word, detail, shape, dimensions)
    return tuple(max(1, min(lengths.get(axis, 1), length)) for axis, length in enumerate(shape))


def _time_axis(dimensions: Sequence[str | None]) -> int | None:
    named = [axis for axis, name in enumerate(dimensions) if name is not None and name.lower() in ("time", "t")]
    return named[0] if named else None


def _time_series(word: str, detail: str, shape: Shape, dimensions: Sequence[str | None]) -> dict[int, int]:
    axis = _time_axis(dimensions) or 0
    return {axis: shape[axis]}


def _last_two(word: str, shape: Shape, dimensions: Sequence[str | None]) -> list[int]:
    if len(shape) < 2:
        raise ValueError(f"{word!r} needs an array of two dimensions or more; this one has the shape {shape}")
    time = _time_axis(dimensions) if len(shape) > 2 else None
    return [axis for axis in range(len(shape)) if axis != time][-2:]


def _map(word: str, detail: str, shape: Shape, dimensions: Sequence[str | None]) -> dict[int, int]:
    return {axis: shape[axis] for axis in _last_two(word, shape, dimensions)}


def _window(word: str, detail: str, shape: Shape, dimensions: Sequence[str | None]) -> dict[int, int]:
    if not (detail.isascii() and detail.isdecimal() and int(detail) > 0):
        raise ValueError(f"{word!r}: the size of a window is a number of elements, as in window:256")
    return dict.fromkeys(_last_two(word, shape, dimensions), int(detail))


def _named(word: str, detail: str, shape: Shape, dimensions: Sequence[str | None]) -> dict[int, int]:
    names, wanted = detail.split(","), 1 if word.startswith("line") else 2
    axes = [_axis_of(word, name.strip(), dimensions) for name in names]
    if len(axes) != wanted or len(set(axes)) != wanted:
        few = "one dimension, as in line:depth" if wanted == 1 else "two different dimensions, as in plane:lat,lon"
        raise ValueError(f"{word!r} must name {few}")
    return {axis: shape[axis] for axis in axes}


def _axis_of(word: str, name: str, dimensions: Sequence[str | None]) -> int:
    if name in dimensions:
        return list(dimensions).index(name)
    if name.isascii() and name.isdecimal() and int(name) < len(dimensions):
        return int(name)
    known = [each for each in dimensions if each is not None]
    has = f"its dimensions are {', '.join(known)}" if known else f"its {len(dimensions)} dimensions have no names"
    raise ValueError(f"{word!r}: the array has no dimension {name!r}{like_names(name, known)}; {has}, or say 0, 1 …")


_READERS: Final[dict[str, Callable[[str, str, Shape, Sequence[str | None]], dict[int, int]]]] = {
    "time-series": _time_series,
    "map": _map,
    "window": _window,
    "plane": _named,
    "line": _named,
    "all": lambda word, detail, shape, dimensions: dict(enumerate(shape)),
}


# ----------------------------------------------------------------------------------- first checks of both tools


def open_measured(array: Any, path: str | None, storage_options: dict[str, Any] | None, tool: str) -> Array[Any]:
    """Open the array to measure.

    Raises
    ------
    ValueError
        If it is a group, or has no elements to read.
    """
    node = refuse_group(open_node(array, path, storage_options), tool)
    if not node.ndim or not node.size:
        raise ValueError(f"{node.store_path} has the shape {node.shape}: there is nothing to read")
    return node


def parse_limit(value: int | str, name: str) -> int:
    """Return a limit in bytes.

    Raises
    ------
    ValueError
        If it is no number of bytes above 0.

    Examples
    --------
    >>> parse_limit("1 KiB", "memory")
    1024
    """
    found = -1 if isinstance(value, bool) or not isinstance(value, int | str) else parse_bytes(value)
    if found <= 0:
        raise ValueError(f"{name} must be a number of bytes above 0, such as '512 MiB', not {value!r}")
    return found


def check_seconds(seconds: float | None) -> None:
    """Refuse a value that is no time.

    Raises
    ------
    ValueError
    """
    if seconds is None:
        return
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise ValueError(f"seconds must be a number above 0, not {seconds!r}")
