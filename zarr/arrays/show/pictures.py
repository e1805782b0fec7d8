"""Pictures of an array by matplotlib: of its values (a line, or an image with coordinates), and of its chunks."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from zarr._lazy import load_extra
from zarr.arrays.show.cf import coordinate, decode, dimension_names, label_of
from zarr.arrays.stored import stored_chunks_steps
from zarr.arrays.views.composition import Index, ViewSelection, compose, stored_items, whole
from zarr.dtype.scalars import is_small

MAX_ELEMENTS: Final = 4_000_000
"""Maximum number of elements in a picture; of larger selections, every second, every fourth … is read."""


def parse_items(shape: tuple[int, ...], selection: Any) -> tuple[int | range, ...]:
    """Return the index or the indices of a selection along each dimension.

    Raises
    ------
    IndexError
        If it has too many items, an index is out of bounds, or an item cannot select.
    TypeError
        If an item is an array or a list.
    ValueError
        If a slice has a negative step.

    Examples
    --------
    >>> parse_items((10, 20, 30), (..., -1, slice(0, 20, 5)))
    (range(0, 10), 19, range(0, 20, 5))
    """
    parsed = compose(whole(shape), () if selection is None else selection).items
    items = tuple(item for item in parsed if not isinstance(item, np.ndarray))
    if len(items) < len(parsed):
        raise TypeError(f"a selection to be shown has integers and slices, got {selection!r}")
    if any(isinstance(item, range) and item.step < 1 for item in items):
        raise ValueError(f"the step of a selection to draw must be positive, got {selection!r}")
    return items


def choose_shown(shape: tuple[int, ...], selection: Any, max_elements: int = MAX_ELEMENTS) -> ViewSelection:
    """Choose the shown part: the last two dimensions of the selection, the middle of others, with steps if large.

    Raises
    ------
    ValueError
        If there is nothing to draw: a single value, or none.

    Examples
    --------
    >>> choose_shown((9, 100, 200), None, max_elements=10_000).items
    (4, range(0, 100), range(0, 200, 2))
    """
    items = parse_items(shape, selection)
    several = [(axis, item) for axis, item in enumerate(items) if isinstance(item, range)]
    if not several or not all(item for _, item in several):
        raise ValueError(f"a selection of shape {tuple(len(item) for _, item in several)} shows no picture")
    middles, ranges = {axis: item[len(item) // 2] for axis, item in several[:-2]}, dict(several[-2:])
    while math.prod(map(len, ranges.values())) > max_elements:
        longest = max(ranges, key=lambda axis: len(ranges[axis]))
        ranges[longest] = ranges[longest][::2]
    shown: dict[int, Index] = {**middles, **ranges}
    return ViewSelection(tuple(shown.get(axis, item) for axis, item in enumerate(items)), tuple(ranges))


def plot(
    array: Any, selection: Any = None, ax: Any = None, *, max_elements: int = MAX_ELEMENTS, **options: Any
) -> Any:
    """Draw values of an array: one dimension as a line, two as an image with a colour bar; needs matplotlib.

    Names of dimensions and CF attributes are used: ``scale_factor``, ``add_offset``, ``_FillValue``, ``long_name``,
    ``units``, dates. An array beside this one with the name of a dimension gives its coordinates. Of more than two
    dimensions, the last two are shown, in the middle of the others. Of a selection of more than ``max_elements``, every
    second, fourth … element is kept, so that a picture takes little memory; all chunks are read.

    Parameters
    ----------
    array : Array
        An array of numbers, booleans or (one dimension) dates.
    selection : int, slice, ... or tuple of such, optional
        The selection to show. By default all.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on. By default those of a new figure.
    max_elements : int, default 4,000,000
        Maximum number of elements shown.
    **options
        Options of matplotlib: of ``Axes.plot``, ``Axes.imshow`` or (if coordinates are not evenly spaced)
        ``Axes.pcolormesh``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed; the extra ``plot`` has it.
    IndexError, ValueError
        If the selection does not fit, or there is nothing to draw.
    TypeError
        If the elements cannot be drawn.

    Examples
    --------
    >>> import numpy as np, zarr
    >>> array = zarr.array(np.arange(12).reshape(3, 4))
    >>> ax = plot(array)  # doctest: +SKIP
    >>> ax.images[0].get_array().shape  # doctest: +SKIP
    (3, 4)
    """
    shown = choose_shown(array.shape, selection, max_elements)
    kinds = "biufmM" if len(shown.axes) == 1 else "biuf"
    if array.dtype.kind not in kinds and not is_small(array.dtype):
        dimensions = f"{len(shown.axes)} dimension{'s'[: len(shown.axes) - 1]}"
        raise TypeError(f"elements of {array.dtype} cannot be drawn in {dimensions}: convert them first")
    pyplot = load_extra("matplotlib.pyplot", "plot", "a picture") if ax is None else None
    values = decode(array, _drawable(np.asarray(array[stored_items(shown)])))
    if pyplot is not None:
        _, ax = pyplot.subplots(layout="constrained")
    label = label_of(array, values, getattr(array, "basename", "") or "value")
    draw = _draw_line if len(shown.axes) == 1 else _draw_image
    draw(ax, array, shown, values, label, options)
    ax.set_title(_title_of(array, shown))
    return ax


def _drawable(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype.kind == "m":
        return values.astype("m8[ns]").astype("f8") / 1e9
    return values.astype("f4") if values.dtype.kind == "V" or values.dtype == np.float16 else values


@dataclass(frozen=True)
class Places:
    """The places of elements along a dimension.

    Parameters
    ----------
    values : ndarray
        Coordinates, or indices.
    label : str
        The label of the axis.
    given : bool
        True if the values are coordinates, False if they are indices.
    """

    values: npt.NDArray[Any]
    label: str
    given: bool

    @property
    def is_date(self) -> bool:
        """Return True if the values are dates."""
        return bool(self.values.dtype.kind == "M")

    def numbers(self) -> npt.NDArray[Any]:
        """Return the values as matplotlib counts: dates in days."""
        if self.is_date:
            return np.asarray(load_extra("matplotlib.dates", "plot", "a picture").date2num(self.values))
        return self.values.astype("f8")

    def span(self) -> tuple[float, float] | None:
        """Return the outer edges of the first and the last element; None if they are not evenly spaced."""
        numbers = self.numbers()
        if not np.isfinite(numbers).all():
            return None
        step = (numbers[-1] - numbers[0]) / (len(numbers) - 1) if len(numbers) > 1 else 1.0
        if step == 0 or not np.allclose(np.diff(numbers), step, rtol=1e-3, atol=0):
            return None
        return float(numbers[0] - step / 2), float(numbers[-1] + step / 2)


def _places_of(array: Any, shown: ViewSelection, axis: int) -> Places:
    picked = cast("range", shown.items[axis])
    found = coordinate(array, axis, picked)
    if found is not None:
        return Places(*found, given=True)
    return Places(np.asarray(picked), dimension_names(array)[axis] or f"dimension {axis}", given=False)


def _title_of(array: Any, shown: ViewSelection) -> str:
    """Return the path of the array, and the indices of the dimensions that are not shown."""
    labels = []
    for axis, item in enumerate(shown.items):
        if isinstance(item, int):
            found = coordinate(array, axis, range(item, item + 1))
            name = dimension_names(array)[axis] or f"dimension {axis}"
            value = item if found is None else _written(found[0][0])
            labels.append(f"{name} = {value}")
    return ", ".join([*([array.path] if array.path else []), *labels])


def _written(value: Any) -> str:
    return np.datetime_as_string(value, "s") if value.dtype.kind == "M" else f"{value:g}"


def _draw_line(
    ax: Any, array: Any, shown: ViewSelection, values: npt.NDArray[Any], label: str, options: dict[str, Any]
) -> None:
    places = _places_of(array, shown, shown.axes[0])
    ax.plot(places.values, values, **options)
    ax.set(xlabel=places.label, ylabel=label)


def _draw_image(
    ax: Any, array: Any, shown: ViewSelection, values: npt.NDArray[Any], label: str, options: dict[str, Any]
) -> None:
    if values.dtype.kind == "M":
        raise TypeError("dates cannot be drawn as an image: select one dimension")
    y, x = (_places_of(array, shown, axis) for axis in shown.axes)
    image = values.astype("u1") if values.dtype.kind == "b" else values
    masked = np.ma.masked_invalid(image) if image.dtype.kind == "f" else image
    high, wide = y.span(), x.span()
    if high is None or wide is None:
        drawn = ax.pcolormesh(x.numbers(), y.numbers(), masked, **{"shading": "nearest", **options})
    elif y.given or x.given:
        given = {"origin": "lower", "extent": (*wide, *high), "aspect": "auto", "interpolation": "nearest"}
        drawn = ax.imshow(masked, **{**given, **options})
        ax.set(xlim=sorted(wide), ylim=sorted(high))
    else:
        given = {"extent": (*wide, *high[::-1]), "interpolation": "nearest"}
        drawn = ax.imshow(masked, **{**given, **options})
    for places, axis in ((y, ax.yaxis), (x, ax.xaxis)):
        if places.is_date:
            axis.axis_date()
    ax.set(xlabel=x.label, ylabel=y.label)
    ax.figure.colorbar(drawn, ax=ax, label=label)


# ------------------------------------------------------------------------------------------------------------- chunks


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
