"""The two faces of a view: :class:`LazyArray` for ``array.lazy[...]``, :class:`AsyncLazyArray` for its async twin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.reading import get_selection_steps, iterate_rows
from zarr.arrays.io.selection import Fields, as_items, field_dtype, is_bool_array, pop_fields
from zarr.arrays.io.writing import as_elements, prepare_value, set_selection_steps
from zarr.arrays.views import composition
from zarr.arrays.views.composition import ViewSelection
from zarr.dtype.types.nullable import shown_dtype
from zarr.errors import BoundsCheckError
from zarr.steps.requests import Steps
from zarr.types import printable


def check_inside(handle: ArrayHandle, selection: ViewSelection) -> None:
    """Refuse a view whose elements are outside the array.

    Raises
    ------
    BoundsCheckError
        If the array was made smaller after the view was created.
    """
    for axis, (item, length) in enumerate(zip(selection.items, handle.metadata.shape, strict=True)):
        last = item if isinstance(item, int) else int(max(item[0], item[-1])) if isinstance(item, range) and item else 0
        if isinstance(item, np.ndarray) and item.size:
            last = int(np.max(item))
        if last >= length and (isinstance(item, int) or len(item)):
            raise BoundsCheckError(
                f"index out of bounds for dimension with length {length}: the view goes to index {last} of dimension "
                f"{axis}; {handle.describe()} was made smaller after the view was made"
            )


def read_view_steps(handle: ArrayHandle, selection: ViewSelection, fields: Fields) -> Steps[Any]:
    """Read all elements of a view."""
    check_inside(handle, selection)
    data = yield from get_selection_steps(handle, "orthogonal", composition.stored_items(selection), fields=fields)
    return composition.arranged(data, selection)


def write_view_steps(handle: ArrayHandle, selection: ViewSelection, value: Any, fields: Fields) -> Steps[None]:
    """Write to the elements of a view only."""
    check_inside(handle, selection)
    nullable = handle.layout.nullable
    value = value if nullable is None or fields is not None else nullable.from_values(value)
    elements = as_elements(value, field_dtype(handle.layout.dtype, fields))
    if elements.ndim:
        elements = composition.rearranged(prepare_value(elements, elements.dtype, selection.shape), selection)
    yield from set_selection_steps(handle, "orthogonal", composition.stored_items(selection), elements, fields=fields)


def as_points(selection: ViewSelection, points: Any) -> tuple[Any, ...]:
    """Return points or a mask for ``vindex`` as points of the stored array."""
    items = as_items(points)
    if len(items) == 1 and is_bool_array(items[0]):
        if items[0].shape != selection.shape:
            raise IndexError(f"a mask of a view has its shape {selection.shape}, got {items[0].shape}")
        items = np.nonzero(np.asarray(items[0]))
    return composition.stored_points(selection, items)


TView = TypeVar("TView", bound="ViewFace")


class ViewFace:
    """The properties of both faces of a view that need no read of the store.

    Parameters
    ----------
    handle : ArrayHandle
        The array below the view.
    selection : ViewSelection, optional
        The selection, by default the whole array.
    fields : str or list of str, optional
        The fields of a structured data type to select.
    """

    def __init__(self, handle: ArrayHandle, selection: ViewSelection | None = None, fields: Fields = None) -> None:
        self._handle = handle
        self._selection = composition.whole(handle.metadata.shape) if selection is None else selection
        self._fields = fields

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension of the view."""
        return self._selection.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions of the view."""
        return len(self._selection.axes)

    @property
    def size(self) -> int:
        """The number of elements of the view."""
        return prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy data type of the elements."""
        dtype = self._handle.metadata.dtype
        return shown_dtype(dtype) if self._fields is None else field_dtype(dtype.to_native_dtype(), self._fields)

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements in memory."""
        return self.size * self.dtype.itemsize

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Per dimension the lengths of the pieces that lie in one chunk of the array each; dask uses them as chunks.

        Examples
        --------
        >>> import numpy as np, zarr
        >>> array = zarr.array(np.arange(25), chunks=(10,))
        >>> array.lazy[4:].read_chunk_sizes
        ((6, 10, 5),)
        """
        axes = self._handle.layout.grid.axes
        along, bases = self._selection.along, self._selection.axes
        return tuple(composition.run_lengths(_edges(axes[base]), along(i)) for i, base in enumerate(bases))

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The shape of a chunk of the view; a piece of this shape never needs a part of a chunk.

        None if these pieces differ in length other than in the last: see :attr:`read_chunk_sizes`.

        Examples
        --------
        >>> import numpy as np, zarr
        >>> array = zarr.array(np.arange(100), chunks=(10,))
        >>> array.lazy[20::2].chunks, array.lazy[5:].chunks
        ((5,), None)
        """
        lengths = [composition.regular_length(sizes) for sizes in self.read_chunk_sizes]
        return None if None in lengths else tuple(n for n in lengths if n is not None)

    @property
    def lazy(self) -> LazyIndex[Self]:
        """A view of this view: ``view.lazy[...]`` reads nothing."""
        return LazyIndex(self)

    @property
    def T(self) -> Self:
        """The view with its dimensions in reverse; nothing is read."""
        return self.transpose()

    def transpose(self, *axes: Any) -> Self:
        """Return the view with its dimensions in another order; nothing is read.

        Parameters
        ----------
        *axes : int
            The dimensions in their new order, also as one tuple; by default the reverse order.

        Returns
        -------
        LazyArray

        Examples
        --------
        >>> import zarr
        >>> zarr.zeros((2, 3, 4)).lazy[...].transpose(2, 0, 1).shape
        (4, 2, 3)
        """
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            axes = () if axes[0] is None else tuple(axes[0])
        return self._with(composition.permute(self._selection, axes or None), self._fields)

    def _with(self, selection: ViewSelection, fields: Fields) -> Self:
        return type(self)(self._handle, selection, fields)

    def _narrowed(self, selection: Any, *, orthogonal: bool = False) -> Self:
        """Return a view of a part of this view."""
        fields, selection = pop_fields(selection)
        if fields is not None:
            field_dtype(self.dtype, fields)
        composed = composition.compose(self._selection, selection, orthogonal=orthogonal)
        return self._with(composed, self._fields if fields is None else fields)

    def __repr__(self) -> str:
        return printable(f"<{type(self).__name__} of {self._handle.store_path} shape={self.shape} dtype={self.dtype}>")


@dataclass(frozen=True)
class LazyIndex(Generic[TView]):
    """The object ``array.lazy``: its brackets create views.

    Examples
    --------
    >>> import numpy as np, zarr
    >>> array = zarr.array(np.arange(12).reshape(3, 4))
    >>> array.lazy[1:].lazy[:, ::-2].result()
    array([[ 7,  5],
           [11,  9]])
    >>> array.lazy.oindex[[2, 0], [1, 3]].T[...]
    array([[ 9,  1],
           [11,  3]])
    """

    view: TView
    orthogonal: bool = False

    def __getitem__(self, selection: Any) -> TView:
        return self.view._narrowed(selection, orthogonal=self.orthogonal)

    @property
    def oindex(self) -> LazyIndex[TView]:
        """Orthogonal selections: each dimension by itself."""
        return LazyIndex(self.view, orthogonal=True)

    @property
    def T(self) -> TView:
        """A view with the dimensions in reverse."""
        return self.view.T

    def transpose(self, *axes: Any) -> TView:
        """Return a view with the dimensions in another order."""
        return self.view.transpose(*axes)


class LazyArray(ViewFace):
    """A view of an array: the selected elements are read on request, and writes go to the array.

    Created by ``array.lazy[...]``. Brackets read, as those of an array do; ``view.lazy[...]`` is a view of the view. A
    view has no elements of its own: it shows the elements of the array at the time of reading.

    Examples
    --------
    >>> import numpy as np, zarr
    >>> array = zarr.array(np.arange(12).reshape(3, 4), chunks=(1, 4))
    >>> view = array.lazy[::2, 1:3]
    >>> view.shape, view[1]
    ((2, 2), array([ 9, 10]))
    >>> view[...] = 0
    >>> array[0]
    array([0, 0, 0, 3])
    """

    def __getitem__(self, selection: Any) -> Any:
        """Read a part of the view; slices may have a negative step."""
        return self._narrowed(selection).result()

    def __setitem__(self, selection: Any, value: Any) -> None:
        """Write to a part of the view: to the selected elements of the array only."""
        part = self._narrowed(selection)
        steps = write_view_steps(self._handle, part._selection, value, part._fields)
        self._handle.run(steps)

    def result(self) -> Any:
        """Read the view.

        Returns
        -------
        numpy.ndarray
            An array of the view's shape.

        Raises
        ------
        BoundsCheckError
            If the array was made smaller after the view was created.

        Examples
        --------
        >>> import zarr
        >>> zarr.array([1, 2, 3]).lazy[::-1].result()
        array([3, 2, 1])
        """
        return self._handle.run(read_view_steps(self._handle, self._selection, self._fields))

    def compute(self) -> Any:
        """Read the view; another name of :meth:`result`, for dask."""
        return self.result()

    @property
    def oindex(self) -> ViewOIndex:
        """Orthogonal indexing of the view: each dimension by itself."""
        return ViewOIndex(self)

    @property
    def vindex(self) -> ViewVIndex:
        """Points of the view, or a mask of its shape."""
        return ViewVIndex(self)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Any:
        """Return the elements of the view as a numpy array.

        Raises
        ------
        ValueError
            ``copy=False``: elements are never in memory already.
        """
        if copy is False:
            raise ValueError("`copy=False` is not supported. This method always creates a copy.")
        data = np.asarray(self.result())
        return data if dtype is None else data.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-dimensional view")
        return self.shape[0]

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the first dimension; the elements of one row of chunks are read together."""
        if not self.ndim:
            raise TypeError("iteration over a 0-dimensional view")
        return iterate_rows(self)


@dataclass(frozen=True)
class ViewOIndex:
    """Orthogonal indexing of a :class:`LazyArray`."""

    view: LazyArray

    def __getitem__(self, selection: Any) -> Any:
        return self.view._narrowed(selection, orthogonal=True).result()

    def __setitem__(self, selection: Any, value: Any) -> None:
        self.view._narrowed(selection, orthogonal=True)[...] = value


@dataclass(frozen=True)
class ViewVIndex:
    """Points of a :class:`LazyArray`."""

    view: LazyArray

    def __getitem__(self, selection: Any) -> Any:
        handle, points, fields = self._stored(selection)
        return handle.run(get_selection_steps(handle, "coordinate", points, fields=fields))

    def __setitem__(self, selection: Any, value: Any) -> None:
        handle, points, fields = self._stored(selection)
        handle.run(set_selection_steps(handle, "coordinate", points, value, fields=fields))

    def _stored(self, points: Any) -> tuple[ArrayHandle, tuple[Any, ...], Fields]:
        """Return the array, the points in it, and the fields."""
        view = self.view
        check_inside(view._handle, view._selection)
        return view._handle, as_points(view._selection, points), view._fields


class AsyncLazyArray(ViewFace):
    """A view of an :class:`AsyncArray`; see :class:`LazyArray`.

    Examples
    --------
    >>> import asyncio, zarr
    >>> array = zarr.array([1, 2, 3]).async_array
    >>> asyncio.run(array.lazy[::-1].result())
    array([3, 2, 1])
    """

    async def getitem(self, selection: Any) -> Any:
        """Read a part of the view."""
        return await self._narrowed(selection).result()

    async def setitem(self, selection: Any, value: Any) -> None:
        """Write to a part of the view."""
        part = self._narrowed(selection)
        await self._handle.async_run(write_view_steps(self._handle, part._selection, value, part._fields))

    async def result(self) -> Any:
        """Read the view."""
        return await self._handle.async_run(read_view_steps(self._handle, self._selection, self._fields))

    async def compute(self) -> Any:
        """Return the same as :meth:`result`."""
        return await self.result()


def _edges(axis: Any) -> Any:
    """Return the begin of each chunk of an axis, and the end of the last one."""
    count = axis.nchunks
    if hasattr(axis, "chunk"):
        return np.arange(count + 1, dtype=np.int64) * axis.chunk
    begins = [axis.offset(i) for i in range(count)]
    return np.array([*begins, begins[-1] + axis.valid_length(count - 1) if count else 0], dtype=np.int64)
