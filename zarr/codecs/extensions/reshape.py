"""The ``reshape`` and ``zarrs.squeeze`` codecs: the elements of a chunk in the same order, in another shape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

from zarr.abc.codec import ArrayArrayCodec
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import FunctionCodec, replace_spec
from zarr.codecs.base.described import ArrayArrayMethods

Entry = int | tuple[int, ...]


def _parse_entry(entry: Any) -> Entry:
    if isinstance(entry, int) and not isinstance(entry, bool) and (entry == -1 or entry > 0):
        return entry
    whole = isinstance(entry, Sequence) and not isinstance(entry, str)
    if whole and all(isinstance(axis, int) and not isinstance(axis, bool) and axis >= 0 for axis in entry):
        return tuple(entry)
    raise ValueError(
        f"reshape: an entry of `shape` is a positive length, -1, or a list of the axes it is made of; got {entry!r}"
    )


def _parse_shape(shape: Iterable[Any]) -> tuple[Entry, ...]:
    parsed = tuple(_parse_entry(entry) for entry in shape)
    if parsed.count(-1) > 1:
        raise ValueError(f"reshape: -1 may stand in `shape` once, got {parsed}")
    axes = [axis for entry in parsed if isinstance(entry, tuple) for axis in entry]
    if any(later <= earlier for earlier, later in pairwise(axes)):
        raise ValueError(f"reshape: the axes in `shape` must ascend, since no axis changes its place; got {parsed}")
    return parsed


def reshaped(shape: tuple[int, ...], target: tuple[Entry, ...]) -> tuple[int, ...]:
    """Return the new shape of a chunk.

    Parameters
    ----------
    shape
        The shape of the chunk.
    target
        For each axis a length, -1 for the remaining elements, or the axes of ``shape`` that are merged.

    Raises
    ------
    ValueError
        If the numbers of elements differ, or an axis does not contain its elements.

    Examples
    --------
    >>> reshaped((4, 3, 2), ((0, 1), -1))
    (12, 2)
    """
    for entry in target:
        if isinstance(entry, tuple) and entry and entry[-1] >= len(shape):
            raise ValueError(f"reshape: axis {entry[-1]} is none of a chunk of shape {shape}")
    sizes = [prod(shape[axis] for axis in entry) if isinstance(entry, tuple) else entry for entry in target]
    total = prod(shape)
    if -1 in sizes:
        known = prod(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = total // known if known else 0
    if prod(sizes) != total:
        raise ValueError(f"reshape: a chunk of shape {shape} with {total} elements does not fit into {tuple(sizes)}")
    for place, entry in enumerate(target):
        if isinstance(entry, tuple) and entry:
            before, after = prod(shape[: entry[0]]), prod(shape[entry[-1] + 1 :])
            if prod(sizes[:place]) != before or prod(sizes[place + 1 :]) != after:
                raise ValueError(f"reshape: axis {place} of {tuple(sizes)} does not hold the axes {entry} of {shape}")
    return tuple(sizes)


class _ReshapingMethods(ArrayArrayMethods):
    """The methods of codecs that change the shape of a chunk, which :meth:`_shape_of` returns."""

    is_fixed_size = True

    def _shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        raise TypeError("a subclass must define the shape")

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the description with the new shape; raise ValueError if the elements do not fit."""
        return replace_spec(chunk_spec, shape=self._shape_of(chunk_spec.shape))

    def encode_grid(self, chunk_grid: Any) -> Any:
        """Return a regular grid with chunks of the new shape; any other grid unchanged."""
        lengths = getattr(chunk_grid, "chunk_shape", None)
        return chunk_grid if lengths is None else type(chunk_grid)(chunk_shape=self._shape_of(lengths))

    def bind(self, spec: ArraySpec) -> FunctionCodec:
        """Return the codec bound to chunks of one description."""
        out_spec = self.resolve_metadata(spec)
        return FunctionCodec(
            self._name, out_spec, lambda data: data.reshape(spec.shape), lambda data: data.reshape(out_spec.shape)
        )


@dataclass(frozen=True)
class ReshapeCodec(_ReshapingMethods, ArrayArrayCodec):
    """Change the shape of a chunk before it is stored; the elements keep their order.

    Parameters
    ----------
    shape
        For each axis of the stored chunk its length, -1 (once) for the remaining elements, or a list of the axes of the
        chunk that are merged into it.

    Notes
    -----
    https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/reshape

    Examples
    --------
    >>> ReshapeCodec(shape=[[0, 1], -1]).to_dict()
    {'name': 'reshape', 'configuration': {'shape': ((0, 1), -1)}}
    """

    _name = "reshape"

    shape: tuple[Entry, ...]

    def __init__(self, *, shape: Iterable[int | Sequence[int]]) -> None:
        object.__setattr__(self, "shape", _parse_shape(shape))

    def _shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return reshaped(shape, self.shape)


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without its lengths of 1; one of them stays if there are no others.

    Examples
    --------
    >>> squeezed((1, 3, 1, 2)), squeezed((1, 1))
    ((3, 2), (1,))
    """
    return tuple(length for length in shape if length != 1) or (1,)


@dataclass(frozen=True)
class SqueezeCodec(_ReshapingMethods, ArrayArrayCodec):
    """Drop the dimensions of a chunk that have length 1 before it is stored; the elements keep their order.

    The codecs after it see fewer dimensions: a ``transpose`` or a ``sharding_indexed`` after it counts only the
    remaining dimensions. It has no parameters.

    Notes
    -----
    https://codec.zarrs.dev/array_to_array/squeeze

    Examples
    --------
    >>> import zarr
    >>> array = zarr.create_array({}, shape=(4, 6), chunks=(1, 6), dtype="i4", filters=SqueezeCodec())
    >>> array[1] = 7
    >>> array[1, :3].tolist()
    [7, 7, 7]
    """

    _name = "zarrs.squeeze"
    _requires_configuration = False

    def _shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return squeezed(shape)
