"""The ``rectilinear`` grid: along each axis either one chunk length, or a list of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, Self, TypeAlias

from typing_extensions import TypedDict

from zarr.chunks.base import ChunkGridMetadata, check_rectilinear_enabled
from zarr.chunks.base import RectilinearChunksDisabledError as RectilinearChunksDisabledError
from zarr.chunks.grid import DimensionGrid, make_dimension
from zarr.chunks.shapes import MAX_LENGTH, parse_chunk_edge, parse_member
from zarr.types import NamedRequiredConfig, parse_named_configuration

# A run-length pair of a few bytes can ask for any number of chunks; beyond this the list is refused, not built.
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
        One entry an axis: an integer is the length of every chunk, a tuple lists the lengths one by one.

    Raises
    ------
    TypeError
        If a length is not an integer.
    ValueError
        If a length is smaller than 1, or an axis has no chunks.

    Examples
    --------
    >>> RectilinearChunkGridMetadata(chunk_shapes=((2, 2, 6), 5)).to_dict()["configuration"]["chunk_shapes"]
    ([[2, 2], 6], 5)
    """

    chunk_shapes: tuple[int | tuple[int, ...], ...]

    def __post_init__(self) -> None:
        shapes = tuple([_parse_axis(edges, axis) for axis, edges in enumerate(self.chunk_shapes)])
        object.__setattr__(self, "chunk_shapes", shapes)

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
        shapes = tuple([edges if isinstance(edges, int) else compress_runs(edges) for edges in self.chunk_shapes])
        return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": shapes}}

    def dimensions(self, shape: tuple[int, ...]) -> tuple[DimensionGrid, ...]:
        """Return the axes of the grid over an array of shape ``shape``."""
        return tuple([make_dimension(edges, extent) for edges, extent in zip(self.chunk_shapes, shape, strict=True)])

    def update_shape(self, old_shape: tuple[int, ...], new_shape: tuple[int, ...]) -> Self:
        """Return the grid after a resize: one chunk is added along an axis that the old ones do not reach."""
        shapes: list[int | tuple[int, ...]] = []
        for edges, _, extent in zip(self.chunk_shapes, old_shape, new_shape, strict=True):
            missing = 0 if isinstance(edges, int) else extent - sum(edges)
            shapes.append((*edges, missing) if missing > 0 and not isinstance(edges, int) else edges)
        return type(self)(chunk_shapes=tuple(shapes))

    resized = update_shape


def _is_bare(edges: object) -> bool:
    return not isinstance(edges, Iterable) or isinstance(edges, str)


def _parse_axis(edges: object, axis: int) -> int | tuple[int, ...]:
    if _is_bare(edges):
        return parse_chunk_edge(edges, axis)
    assert isinstance(edges, Iterable)
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
        Which dimension they belong to, for the messages.

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
