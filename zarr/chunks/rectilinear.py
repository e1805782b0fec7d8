"""The ``rectilinear`` grid: along each axis either one chunk length, or a list of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from typing_extensions import TypedDict

import zarr_core
from zarr.chunks.base import ChunkGridMetadata, check_rectilinear_enabled
from zarr.chunks.base import RectilinearChunksDisabledError as RectilinearChunksDisabledError
from zarr.chunks.dimensions import DimensionGrid, make_dimension
from zarr.chunks.shapes import MAX_LENGTH, parse_chunk_edge, parse_member
from zarr.types import NamedRequiredConfig, parse_named_configuration

# A run-length pair of a few bytes can define any number of chunks; beyond this the list is refused, not built.
MAX_EDGES_PER_AXIS = 2**24


class RectilinearChunksConfiguration(TypedDict):
    """The configuration of the grid in a document."""

    kind: Literal["inline"]
    chunk_shapes: Sequence[int | Sequence[int | Sequence[int]]]


RectilinearChunkGridMetadataJSON: TypeAlias = NamedRequiredConfig[
    Literal["rectilinear"], RectilinearChunksConfiguration
]
"""The grid in a document."""


@dataclass(frozen=True, kw_only=True)
class RectilinearChunkGridMetadata(ChunkGridMetadata):
    """Chunks whose lengths vary along an axis.

    Parameters
    ----------
    chunk_shapes
        For each axis the length of every chunk as an integer, or a tuple of all lengths.

    Raises
    ------
    TypeError
        If a length is not an integer.
    ValueError
        If a length is smaller than 1, or an axis has no chunks.

    Examples
    --------
    >>> from zarr.chunks import RectilinearChunkGridMetadata
    >>> RectilinearChunkGridMetadata(chunk_shapes=((2, 2, 6), 5)).to_dict()["configuration"]["chunk_shapes"]
    ([[2, 2], 6], 5)
    """

    chunk_shapes: tuple[int | tuple[int, ...], ...]

    def __post_init__(self) -> None:
        shapes = tuple([_parse_axis(edges, axis) for axis, edges in enumerate(self.chunk_shapes)])
        object.__setattr__(self, "chunk_shapes", shapes)

    @cached_property
    def _runs(self) -> tuple[Any, ...]:
        """The lengths as the document has them."""
        return tuple([edges if isinstance(edges, int) else compress_runs(edges) for edges in self.chunk_shapes])

    @cached_property
    def _lengths(self) -> tuple[Any, ...]:
        """The lengths as one integer or as an array of int64, for each axis."""
        return tuple([e if isinstance(e, int) else np.array(e, dtype=np.int64) for e in self.chunk_shapes])

    @cached_property
    def ends(self) -> tuple[Any, ...]:
        """The sum of the lengths along each axis; None for an axis of equal chunks."""
        return tuple([None if isinstance(edges, int) else int(edges.sum()) for edges in self._lengths])

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.chunk_shapes)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read the JSON object; a pair ``[length, count]`` among the lengths of an axis is a run."""
        check_rectilinear_enabled()
        configuration: Any = parse_named_configuration(data, "rectilinear")[1]
        if "kind" not in configuration:
            raise ValueError(
                "Rectilinear chunk grid configuration requires a 'kind' field. Only 'inline' is currently supported."
            )
        if configuration["kind"] != "inline":
            raise ValueError(
                f"Unsupported rectilinear chunk grid kind: {configuration['kind']!r}. "
                "Only 'inline' is currently supported."
            )
        shapes = parse_member(configuration, "chunk_shapes", "rectilinear")
        if isinstance(shapes, str) or not isinstance(shapes, Sequence):
            raise TypeError(f"Rectilinear 'chunk_shapes' must be an array, got {shapes!r}")
        return cls(
            chunk_shapes=tuple(
                [edges if _is_bare(edges) else expand_runs(edges, axis) for axis, edges in enumerate(shapes)]
            )
        )

    def to_dict(self) -> Any:
        """Return the JSON object; runs of equal lengths are written as pairs."""
        shapes = tuple([each if isinstance(each, int) else _copied(each) for each in self._runs])
        return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": shapes}}

    def dimensions(self, shape: tuple[int, ...]) -> tuple[DimensionGrid, ...]:
        """Return the axes of the grid over an array of shape ``shape``."""
        return tuple([make_dimension(edges, extent) for edges, extent in zip(self.chunk_shapes, shape, strict=True)])

    def to_core(self, shape: tuple[int, ...]) -> zarr_core.Grid:
        """Return the grid of the compiled core over an array of shape ``shape``.

        Parameters
        ----------
        shape : tuple of int
            The shape of the array.

        Returns
        -------
        zarr_core.Grid
        """
        try:
            axes = [
                zarr_core.RegularAxis(extent, edges) if isinstance(edges, int) else zarr_core.VaryingAxis(extent, edges)
                for edges, extent in zip(self._lengths, shape, strict=True)
            ]
        except ValueError:
            return super().to_core(shape)  # its error names the edges
        return zarr_core.Grid(axes)

    def update_shape(self, old_shape: tuple[int, ...], new_shape: tuple[int, ...]) -> Self:
        """Return the grid after a resize: one chunk is added along an axis whose end the old ones do not reach.

        Parameters
        ----------
        old_shape, new_shape : tuple of int
            The shapes of the array before and after.

        Returns
        -------
        RectilinearChunkGridMetadata
        """
        shapes, runs, lengths = list(self.chunk_shapes), list(self._runs), list(self._lengths)
        for axis, (edges, extent) in enumerate(zip(self.chunk_shapes, new_shape, strict=True)):
            missing = 0 if isinstance(edges, int) else extent - self.ends[axis]
            if missing > 0 and not isinstance(edges, int):
                shapes[axis] = (*edges, missing)
                runs[axis] = longer_runs(runs[axis], missing)
                lengths[axis] = np.append(lengths[axis], missing)
        made = object.__new__(type(self))  # the old lengths are checked already
        made.__dict__.update(chunk_shapes=tuple(shapes), _runs=tuple(runs), _lengths=tuple(lengths))
        return made

    resized = update_shape


def _is_bare(edges: object) -> bool:
    return not isinstance(edges, Iterable) or isinstance(edges, str)


def _parse_axis(edges: object, axis: int) -> int | tuple[int, ...]:
    if _is_bare(edges):
        return parse_chunk_edge(edges, axis)
    assert isinstance(edges, Iterable)
    if type(edges) is tuple and set(map(type, edges)) == {int} and min(edges) > 0:
        lengths = edges  # their sum is checked
    else:
        lengths = tuple([parse_chunk_edge(edge, axis) for edge in edges])
    if not lengths:
        raise ValueError(f"Dimension {axis} has no chunk edges.")
    if sum(lengths) > MAX_LENGTH:
        raise ValueError(f"Dimension {axis}: the chunk edge lengths sum to {sum(lengths)}, more than 2**63 - 1")
    return lengths


def expand_runs(edges: Iterable[object], axis: int) -> tuple[int, ...]:
    """Replace every pair ``[length, count]`` by that many lengths.

    Parameters
    ----------
    edges
        Integers and pairs of integers.
    axis
        The number of the axis, for the messages.

    Returns
    -------
    tuple of int

    Raises
    ------
    TypeError, ValueError
        If an entry is neither, a count is smaller than 1, or there are more than 2**24 chunks along the axis.

    Examples
    --------
    >>> expand_runs([[2, 3], 1], 0)
    (2, 2, 2, 1)
    """
    lengths: list[int] = []
    for entry in edges:
        if not isinstance(entry, Sequence) or isinstance(entry, str):
            lengths.append(parse_chunk_edge(entry, axis))
            continue
        if len(entry) != 2:
            raise ValueError(f"Dimension {axis}: RLE entries must be an integer or [size, count], got {entry}")
        length, count = parse_chunk_edge(entry[0], axis), entry[1]
        if type(count) is not int:
            raise TypeError(f"Dimension {axis}: RLE repeat count must be an int, got {count!r}")
        if count < 1:
            raise ValueError(f"Dimension {axis}: RLE repeat count must be >= 1, got {count}")
        if len(lengths) + count > MAX_EDGES_PER_AXIS:
            raise ValueError(
                f"Dimension {axis}: {len(lengths) + count} chunks along one axis are more than the limit of "
                f"{MAX_EDGES_PER_AXIS}; write one integer for an axis of equal chunks"
            )
        lengths.extend([length] * count)
    return tuple(lengths)


def compress_runs(edges: Iterable[int]) -> list[int | list[int]]:
    """Write runs of equal lengths as pairs ``[length, count]``.

    Examples
    --------
    >>> compress_runs((2, 2, 2, 1))
    [[2, 3], 1]
    """
    runs: list[int | list[int]] = []
    for length, group in groupby(edges):
        count = len(list(group))
        runs.append([length, count] if count > 1 else length)
    return runs


def _copied(runs: list[int | list[int]]) -> list[int | list[int]]:
    return [run if isinstance(run, int) else [*run] for run in runs]


def longer_runs(runs: list[int | list[int]], length: int) -> list[int | list[int]]:
    """Add one length to runs; the old list stays.

    Examples
    --------
    >>> longer_runs([[2, 3], 1], 1), longer_runs([[2, 3]], 2), longer_runs([2], 5)
    ([[2, 3], [1, 2]], [[2, 4]], [2, 5])
    """
    last = runs[-1]
    before, count = (last, 1) if isinstance(last, int) else last
    return [*runs[:-1], [length, count + 1]] if before == length else [*runs, length]
