"""The ``transpose`` codec: the axes of a chunk in another order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from zarr.abc.codec import ArrayArrayCodec
from zarr.chunks import ChunkGridMetadata
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import FunctionCodec, NativeForm, replace_spec
from zarr.codecs.base.described import ArrayArrayMethods
from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType
from zarr.types import JSON


def parse_transpose_order(data: JSON | Iterable[int]) -> tuple[int, ...]:
    """Return an order of axes as a tuple of ints.

    Raises
    ------
    TypeError
        If it is no iterable of ints.

    Examples
    --------
    >>> parse_transpose_order([1, 0])
    (1, 0)
    """
    if not isinstance(data, Iterable):
        raise TypeError(f"Expected an iterable. Got {data} instead.")
    if data in ("C", "F"):
        raise TypeError(
            f"Expected an iterable of integers. Got {data} instead. The order lists the axes: (0, 1) is what 'C' once "
            "meant for two of them, (1, 0) what 'F' did."
        )
    order = tuple(data)
    if not all(isinstance(axis, (int, np.integer)) and not isinstance(axis, bool) for axis in order):
        raise TypeError(f"Expected an iterable of integers. Got {data} instead.")
    return tuple(int(axis) for axis in order)  # type: ignore[arg-type]


def check_order(order: tuple[int, ...], ndim: int) -> None:
    """Refuse an order that is no permutation of the axes.

    Raises
    ------
    ValueError
        If it is none; the message has the order.

    Examples
    --------
    >>> check_order((1, 0), 2)
    """
    if len(order) != ndim:
        raise ValueError(
            f"The `order` tuple must have as many entries as there are dimensions in the array. Got {order}."
        )
    if len(order) != len(set(order)):
        raise ValueError(f"There must not be duplicates in the `order` tuple. Got {order}.")
    if not all(0 <= axis < ndim for axis in order):
        raise ValueError(
            "All entries in the `order` tuple must be between 0 and the number of dimensions in the array. "
            f"Got {order}."
        )


class BoundTranspose(FunctionCodec):
    """Views of a chunk with its axes in another order; nothing is copied."""

    def __init__(self, out_spec: ArraySpec, order: tuple[int, ...]) -> None:
        inverse = tuple(int(axis) for axis in np.argsort(order))
        super().__init__(
            "transpose", out_spec, lambda data: data.transpose(inverse), lambda data: data.transpose(order)
        )
        self._order = order

    def extend(self, form: NativeForm) -> NativeForm | None:
        """Return the native form with this order on top."""
        return form.with_order(self._order)


@dataclass(frozen=True)
class TransposeCodec(ArrayArrayMethods, ArrayArrayCodec):
    """Put the axes of a chunk in another order before it is stored.

    Parameters
    ----------
    order
        For each stored axis the number of the axis of the array.

    Examples
    --------
    >>> from zarr.codecs import TransposeCodec
    >>> TransposeCodec(order=(1, 0)).to_dict()
    {'name': 'transpose', 'configuration': {'order': (1, 0)}}
    """

    _name = "transpose"
    is_fixed_size = True

    order: tuple[int, ...]

    def __init__(self, *, order: Iterable[int]) -> None:
        object.__setattr__(self, "order", parse_transpose_order(order))

    def _order_for(self, ndim: int) -> tuple[int, ...]:
        check_order(self.order, ndim)
        return self.order

    def validate(
        self, shape: tuple[int, ...], dtype: ZDType[TBaseDType, TBaseScalar], chunk_grid: ChunkGridMetadata
    ) -> None:
        """Raise ValueError if the order is no permutation of the array's axes."""
        self._order_for(len(shape))

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return the codec itself.

        Raises
        ------
        ValueError
            If the order is no permutation of the axes.
        """
        self._order_for(array_spec.ndim)
        return self

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the description with the axes in order."""
        order = self._order_for(chunk_spec.ndim)
        return replace_spec(chunk_spec, shape=tuple(chunk_spec.shape[axis] for axis in order))

    def encode_grid(self, chunk_grid: Any) -> Any:
        """Return a regular or rectilinear grid with its axes in order; any other grid unchanged.

        Parameters
        ----------
        chunk_grid : object
            The chunk grid.

        Returns
        -------
        chunk grid
        """
        for field in ("chunk_shape", "chunk_shapes"):
            lengths = getattr(chunk_grid, field, None)
            if lengths is not None:
                moved = tuple(lengths[axis] for axis in self._order_for(len(lengths)))
                return type(chunk_grid)(**{field: moved})
        return chunk_grid

    def bind(self, spec: ArraySpec) -> BoundTranspose:
        """Return the codec bound to chunks of one description."""
        return BoundTranspose(self.resolve_metadata(spec), self._order_for(spec.ndim))
