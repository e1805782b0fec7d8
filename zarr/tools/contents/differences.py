"""Find the differences of two hierarchies: nodes, metadata, and values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import merge
from itertools import groupby, repeat
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

import zarr_core
from zarr.arrays.array import Array
from zarr.tools.contents.blocks import (
    block_counts,
    block_shape,
    block_slices,
    count_blocks,
    cut_numbers,
    read_blocks,
    size_of,
    touched_blocks,
)
from zarr.tools.contents.canonical import (
    codec_text,
    filled_block,
    in_types_of_numpy,
    json_line,
    one_line,
    plain_document,
    type_name,
    value_bytes,
)
from zarr.tools.contents.checksums import dimension_names
from zarr.tools.contents.nodes import Node, arrays_of, open_node, walk
from zarr.tools.plans.executors import Piece, part_bytes, run_pieces
from zarr.tools.plans.plan import MEMORY, parse_bytes
from zarr.tools.plans.progress import Progress, reporting

Aspect: TypeAlias = Literal[
    "node", "node type", "format", "shape", "data type", "chunks", "shards", "codecs", "fill value", "attribute",
    "dimension names", "values",
]  # fmt: skip
Values: TypeAlias = np.ndarray[Any, Any]

_LONGEST_SHOWN: Final = 120


class _Absent:
    """Stand for a missing node or attribute of one side."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT: Final = _Absent()
"""The value of a difference for the side without the node or attribute."""


@dataclass(frozen=True)
class Difference:
    """One difference of two hierarchies; printed, it is one line.

    Parameters
    ----------
    path : str
        Path of the node, relative to the compared nodes.
    aspect : str
        The kind of difference: ``"node"`` (on one side only), ``"node type"``, ``"format"``, ``"shape"``, ``"data
        type"``, ``"chunks"``, ``"shards"``, ``"codecs"``, ``"fill value"``, ``"attribute"``, ``"dimension names"`` or
        ``"values"``.
    left, right
        The values of both sides; for ``"values"``, the first two elements that differ.
    name : str
        For ``"attribute"``: its name.
    count : int
        For ``"values"``: the number of elements that differ.
    first : tuple of int, optional
        For ``"values"``: the place of the first of them.
    greatest : optional
        For ``"values"``: the greatest absolute difference; None if elements are no numbers or times.

    Examples
    --------
    >>> import zarr
    >>> (found,) = zarr.tools.diff(zarr.array([1, 2]), zarr.array([1, 3]))
    >>> isinstance(found, zarr.tools.Difference)
    True
    """

    path: str
    aspect: Aspect
    left: Any
    right: Any
    name: str = ""
    count: int = 0
    first: tuple[int, ...] | None = None
    greatest: Any = None

    def __str__(self) -> str:
        what = f"{self.aspect} {self.name!r}" if self.name else self.aspect
        where = one_line(f"/{self.path}: {what}")
        line = f"{where}: {_shown(self.left)} on the left, {_shown(self.right)} on the right"
        if self.aspect != "values":
            return line
        line += f" at {self.first}; {self.count} elements differ"
        return line if self.greatest is None else f"{line}, by at most {self.greatest}"


def _shown(value: Any) -> str:
    value = value.item() if isinstance(value, np.number | np.bool) else value
    if isinstance(value, list) and value and all(isinstance(each, dict) and "name" in each for each in value):
        return one_line(", ".join(map(codec_text, value)))
    text = one_line(" ".join(repr(value).split()))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def diff(
    left: Any,
    right: Any,
    *,
    values: bool = True,
    memory: int | str = MEMORY,
    executor: Any = None,
    progress: Progress = "auto",
) -> list[Difference]:
    """Find the differences of two arrays, or of two groups with all below them.

    Parameters
    ----------
    left, right : Array, Group or StoreLike
        Nodes, or paths, URLs, stores, mappings.
    values : bool, default True
        If True, compare elements, except of arrays of different shapes, or of data types that cannot be compared.
    memory : int or str, default "512 MiB"
        The memory that a task may use: bytes, or a text with a unit. A block of at most 1048576 elements is in memory
        in any case.
    executor : concurrent.futures.Executor, dask.distributed.Client, "dask" or None
        Runs the tasks. Default: this thread.
    progress : "auto", bool or callable, default "auto"
        A bar on a terminal or in a notebook if the work takes more than two seconds; True: always; False: none. A
        callable gets the number of finished blocks, and that of all.

    Returns
    -------
    list of Difference
        In the order of the paths; empty if nothing differs.

    Raises
    ------
    FileNotFoundError
        If there is no node on one side.

    Notes
    -----
    Attributes are compared by key. Codecs are compared if both sides have the same format. NaN equals NaN, NaT equals
    NaT, a missing element a missing one, and -0.0 equals 0.0. Blocks that neither side has stored are not read.

    Examples
    --------
    >>> from zarr.tools import diff
    >>> import zarr
    >>> one, other = zarr.array([1, 2, 3]), zarr.array([1, 2, 5])
    >>> for difference in diff(one, other):
    ...     print(difference)
    /: values: 3 on the left, 5 on the right at (2,); 1 elements differ, by at most 2
    >>> diff(one, one)
    []
    """
    tops, at_once = (open_node(left), open_node(right)), part_bytes(parse_bytes(memory))
    found: list[Difference] = []
    with reporting(progress, "diff", lambda: sum(count_blocks(array) for _, array in arrays_of(tops[0]))) as report:
        pieces = _pieces(_pairs(*map(walk, tops)), values, at_once)
        results = run_pieces(partial(_compare_blocks, at_once=at_once), pieces, executor, report)
        for path, same in groupby(results, key=lambda result: result[0].path):
            tally = _Tally()
            for piece, part in same:
                found += piece.differences
                tally.merge(part)
            if tally.count:
                ends = {"count": tally.count, "first": tally.first, "greatest": tally.greatest}
                found.append(Difference(path, "values", *tally.pair, **ends))
    return found


def _pairs(
    lefts: Iterator[tuple[str, Node]], rights: Iterator[tuple[str, Node]]
) -> Iterator[tuple[str, Node | None, Node | None]]:
    """Yield the nodes of both sides by their paths, in the order of the paths."""
    tagged = [zip(nodes, repeat(side)) for side, nodes in enumerate((lefts, rights))]
    for path, same in groupby(merge(*tagged, key=lambda each: each[0][0]), key=lambda each: each[0][0]):
        nodes = {side: node for (_, node), side in same}
        yield path, nodes.get(0), nodes.get(1)


def _kind(node: Node | None) -> Any:
    if node is None:
        return ABSENT
    return "array" if isinstance(node, Array) else "group"


class _Piece(NamedTuple):
    """Some blocks of two arrays; the last piece of two nodes has no block, and lists the other differences."""

    path: str
    left: Node | None = None
    right: Node | None = None
    numbers: Sequence[int] = ()
    outside: tuple[int, ...] | None = None
    """The place of the first element that neither side has stored."""
    weight: int = 0
    """The number of such elements."""
    differences: Sequence[Difference] = ()


def _pieces(
    pairs: Iterator[tuple[str, Node | None, Node | None]], values: bool, at_once: int
) -> Iterator[Piece[_Piece]]:
    """Compare documents, and divide the blocks of arrays whose values are compared into pieces."""
    for path, left, right in pairs:
        left_over = count_blocks(left) if isinstance(left, Array) else 0
        if left is None or right is None:
            differences = [Difference(path, "node", _kind(left), _kind(right))]
            yield left_over, 0, _Piece(path, differences=differences)
            continue
        last = _Piece(path, left, right, differences=tuple(_compare(path, left, right)))
        if values and isinstance(left, Array) and isinstance(right, Array) and _are_comparable(left, right):
            block = block_shape(left.shape)
            touched = touched_blocks([left, right], block)
            left_over -= len(touched)
            for part, nbytes, numbers in cut_numbers(left, touched, at_once):
                yield part, 2 * nbytes, _Piece(path, left, right, numbers)
            outside = int(left.size) - sum(size_of(block_slices(number, left.shape, block)) for number in touched)
            if outside:
                last = last._replace(outside=_first_outside(touched, left.shape, block), weight=outside)
        yield left_over, 0, last


def _compare(path: str, left: Node, right: Node) -> Iterator[Difference]:
    """Compare everything but values."""
    if _kind(left) != _kind(right):
        yield Difference(path, "node type", _kind(left), _kind(right))
        return
    formats = left.metadata.zarr_format, right.metadata.zarr_format
    if formats[0] != formats[1]:
        yield Difference(path, "format", *formats)
    if isinstance(left, Array) and isinstance(right, Array):
        yield from _compare_arrays(path, left, right, formats[0] == formats[1])
    yield from _compare_attributes(path, dict(left.attrs), dict(right.attrs))


def _compare_attributes(path: str, left: dict[str, Any], right: dict[str, Any]) -> Iterator[Difference]:
    for name in sorted(left.keys() | right.keys()):
        one, other = left.get(name, ABSENT), right.get(name, ABSENT)
        if one is ABSENT or other is ABSENT or json_line(one) != json_line(other):
            yield Difference(path, "attribute", one, other, name)


def _compare_arrays(path: str, left: Array[Any], right: Array[Any], same_format: bool) -> Iterator[Difference]:
    one, other = _describe(left), _describe(right)
    for aspect in one:
        if aspect == "codecs" and not same_format:
            continue
        if json_line(one[aspect]) != json_line(other[aspect]):
            yield Difference(path, aspect, one[aspect], other[aspect])
    fills = [filled_block(array._handle.layout, ()) for array in (left, right)]
    if value_bytes(fills[0]) != value_bytes(fills[1]) or (left.fill_value is None) != (right.fill_value is None):
        yield Difference(path, "fill value", left.fill_value, right.fill_value)


def _describe(array: Array[Any]) -> dict[Aspect, Any]:
    layout = array._handle.layout
    return {
        "shape": list(array.shape),
        "data type": type_name(layout.zdtype),
        "chunks": _lengths(layout.grid),
        "shards": None if layout.inner is None else _lengths(layout.outer),
        "codecs": _codecs(array.metadata),
        "dimension names": dimension_names(array),
    }


def _lengths(grid: zarr_core.Grid) -> list[Any]:
    return [
        axis.chunk if isinstance(axis, zarr_core.RegularAxis) else [axis.chunk_length(i) for i in range(axis.nchunks)]
        for axis in grid.axes
    ]


def _codecs(metadata: Any) -> Any:
    """Return the codecs as in their document; format 2 has the byte order and the order of elements apart."""
    document = metadata.to_dict()
    if metadata.zarr_format == 2:
        return {name: document[name] for name in ("dtype", "order", "filters", "compressor")}
    return plain_document(document["codecs"])


# ------------------------------------------------------------------------------------------------- values


def _are_comparable(left: Array[Any], right: Array[Any]) -> bool:
    kinds = type_name(left._handle.layout.zdtype), type_name(right._handle.layout.zdtype)
    numbers = left.dtype.kind in "biufc" and right.dtype.kind in "biufc"
    return left.shape == right.shape and bool(left.size) and (kinds[0] == kinds[1] or numbers)


def _compare_blocks(piece: _Piece, at_once: int) -> _Tally:
    tally, left, right = _Tally(), piece.left, piece.right
    if not (isinstance(left, Array) and isinstance(right, Array)):
        return tally
    block = block_shape(left.shape)
    both = (read_blocks(array, piece.numbers, block, at_once) for array in (left, right))
    for (_, slices, one), (_, _, other) in zip(*both, strict=True):
        tally.add(one, other, tuple(part.start for part in slices))
    if piece.outside is not None:
        fills = [filled_block(array._handle.layout, (1,) * left.ndim) for array in (left, right)]
        tally.add(fills[0], fills[1], piece.outside, weight=piece.weight)
    return tally


def _first_outside(touched: list[int], shape: tuple[int, ...], block: tuple[int, ...]) -> tuple[int, ...]:
    """Return the place of the first element outside of all stored chunks."""
    number = next((place for place, found in enumerate(touched) if place != found), len(touched))
    assert number < int(np.prod(block_counts(shape, block), dtype=object))
    return tuple(part.start for part in block_slices(number, shape, block))


@dataclass
class _Tally:
    """The counts of differing elements so far."""

    count: int = 0
    first: tuple[int, ...] | None = None
    greatest: Any = None
    pair: tuple[Any, Any] = (None, None)

    def merge(self, other: _Tally) -> None:
        """Add the counts of other blocks."""
        self.count += other.count
        if other.first is not None and (self.first is None or other.first < self.first):
            self.first, self.pair = other.first, other.pair
        if other.greatest is not None and (self.greatest is None or other.greatest > self.greatest):
            self.greatest = other.greatest

    def add(self, left: Any, right: Any, origin: tuple[int, ...], weight: int = 0) -> None:
        """Compare two blocks that begin at a place; with a weight, one element stands for many."""
        differs = different(left, right)
        places = np.flatnonzero(differs)
        if not len(places):
            return
        within = tuple(int(at) for at in np.unravel_index(places[0], differs.shape)) if differs.ndim else ()
        first = tuple(start + at for start, at in zip(origin, within, strict=True))
        step = greatest_step(np.ma.getdata(left)[differs], np.ma.getdata(right)[differs])
        self.merge(_Tally(weight or len(places), first, step, (left[within], right[within])))


def different(left: Any, right: Any) -> Values:
    """Return the places where two blocks differ; NaN equals NaN.

    Examples
    --------
    >>> different(np.array([1.0, np.nan]), np.array([2.0, np.nan])).tolist()
    [True, False]
    """
    if isinstance(left, np.ma.MaskedArray) or isinstance(right, np.ma.MaskedArray):
        masks = np.ma.getmaskarray(left), np.ma.getmaskarray(right)
        if masks[0].dtype.names is None:
            within = different(np.ma.getdata(left), np.ma.getdata(right)) & ~masks[0]
            return np.asarray((masks[0] != masks[1]) | within)
    left, right = np.asarray(np.ma.getdata(left)), np.asarray(np.ma.getdata(right))
    if left.dtype.names is not None:
        fields = [different(left[name], right[name]) for name in left.dtype.names]
        folded = [field.reshape(*left.shape, -1).any(axis=-1) for field in fields]
        return np.any(folded, axis=0) if folded else np.zeros(left.shape, bool)
    if left.dtype.kind == "O":
        pairs = zip(left.ravel(), right.ravel(), strict=True)
        found = [value_bytes(_alone(one)) != value_bytes(_alone(other)) for one, other in pairs]
        return np.array(found, dtype=bool).reshape(left.shape)
    differs = np.asarray(left != right)
    if left.dtype.kind not in "TSU" and (left.dtype.kind != "V" or left.dtype.type is not np.void):
        differs &= ~((left != left) & (right != right))
    return differs


def _alone(item: Any) -> Values:
    """Return an array of one object, even if it is a sequence."""
    alone = np.empty(1, dtype=object)
    alone[0] = item
    return alone


def greatest_step(left: Values, right: Values) -> Any:
    """Return the greatest absolute difference of two lists of elements; None if they have no finite numbers.

    Examples
    --------
    >>> greatest_step(np.array([-128], dtype="i1"), np.array([127], dtype="i1"))
    255
    """
    left, right = in_types_of_numpy(left), in_types_of_numpy(right)
    kinds = left.dtype.kind + right.dtype.kind
    if set(kinds) <= set("iub"):
        return max(abs(int(a) - int(b)) for a, b in ((left[at], right[at]) for at in _extremes(left, right)))
    if set(kinds) <= set("biufc"):
        with np.errstate(invalid="ignore", over="ignore"):
            steps = np.abs(left.astype(np.result_type(left, np.float32)) - right)
        known = steps[~np.isnan(steps)]
        return float(known.max()) if len(known) else None
    if set(kinds) <= set("mM"):
        known = ~(np.isnat(left) | np.isnat(right))
        return np.abs(left[known] - right[known]).max() if known.any() else None
    return None


def _extremes(left: Values, right: Values) -> set[int]:
    """Return the integers with the greatest distance: found in floating point, then computed exactly."""
    steps = np.abs(left.astype(np.longdouble) - right.astype(np.longdouble))
    return {int(np.argmax(steps))}
