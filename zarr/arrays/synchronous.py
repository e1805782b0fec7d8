"""The synchronous face of an array: ``zarr.Array``. Each method of it that reads or writes is one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from zarr.array_spec import ArrayConfigLike
from zarr.arrays.asynchronous import AsyncArray, merged_config
from zarr.arrays.attributes import Attributes
from zarr.arrays.face import ArrayFace
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.indexers import BlockIndex, OIndex, VIndex
from zarr.arrays.info import ArrayInfo
from zarr.arrays.iteration import iterate_rows
from zarr.arrays.opening import open_array_steps
from zarr.arrays.operations import (
    append_steps,
    nbytes_stored_steps,
    nchunks_initialized_steps,
    nshards_initialized_steps,
    resize_steps,
    update_attributes_steps,
)
from zarr.arrays.reading import get_selection_steps, getitem_steps
from zarr.arrays.writing import set_selection_steps, setitem_steps
from zarr.runners.choose import runner_for
from zarr.runners.crossing import sync
from zarr.storage.resolve import make_store_path

if TYPE_CHECKING:
    from typing import Self

    import numpy.typing as npt

    from zarr.arrays.selection import Fields
    from zarr.buffer.core import BufferPrototype, NDBuffer
    from zarr.storage.path import StorePath
    from zarr.storage.resolve import StoreLike
    from zarr.types import JSON, ShapeLike

T_ArrayMetadata = TypeVar("T_ArrayMetadata")


class Array(ArrayFace, Generic[T_ArrayMetadata]):
    """A chunked, compressed, N-dimensional array in a store.

    Parameters
    ----------
    _async_array : AsyncArray
        The other face of the same array.

    Examples
    --------
    >>> import zarr
    >>> array = zarr.create_array({}, shape=(4, 6), chunks=(2, 3), dtype="int32")
    >>> array[1, 2:5] = [7, 8, 9]
    >>> array[1]
    array([0, 0, 7, 8, 9, 0], dtype=int32)
    """

    def __init__(self, _async_array: AsyncArray[T_ArrayMetadata]) -> None:
        self._async_array = _async_array
        self._handle = _async_array._handle
        self._run = self._handle.run

    @classmethod
    def from_handle(cls, handle: ArrayHandle) -> Self:
        """The face of an array that is open already.

        Parameters
        ----------
        handle : ArrayHandle

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> array = zarr.array([1, 2, 3])
        >>> zarr.Array.from_handle(array._handle) == array
        True
        """
        return cls(AsyncArray.from_handle(handle))

    @classmethod
    def from_dict(cls, store_path: StorePath, data: dict[str, JSON]) -> Self:
        """An array over a metadata document that is at hand; nothing is read or written.

        Parameters
        ----------
        store_path : StorePath
        data : dict
            The document, as JSON.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> array = zarr.array([1, 2, 3])
        >>> zarr.Array.from_dict(array.store_path, array.metadata.to_dict())[1:]
        array([2, 3])
        """
        return cls(AsyncArray.from_dict(store_path, data))

    @classmethod
    def open(cls, store: StoreLike, *, config: ArrayConfigLike | None = None) -> Self:
        """Open an array that exists.

        Parameters
        ----------
        store : Store, StorePath, str, Path or dict
        config : ArrayConfig or dict, optional

        Returns
        -------
        Array

        Raises
        ------
        ArrayNotFoundError
            There is no array.

        Examples
        --------
        >>> import zarr
        >>> store = zarr.storage.MemoryStore()
        >>> _ = zarr.create_array(store, shape=3, dtype="int8")
        >>> zarr.Array.open(store).shape
        (3,)
        """
        store_path = sync(make_store_path(store))
        return cls.from_handle(runner_for(store_path.store).run(open_array_steps(store_path, None, config)))

    # ------------------------------------------------------------------------------------------ brackets

    def __getitem__(self, selection: Any) -> Any:
        """Read a selection.

        Integers, slices, Ellipsis, lists and arrays of integers, boolean masks, and names of fields.

        Examples
        --------
        >>> import numpy as np, zarr
        >>> array = zarr.array(np.arange(12).reshape(3, 4))
        >>> array[1:, ::2]
        array([[ 4,  6],
               [ 8, 10]])
        >>> array[[0, 2], [1, 3]]
        array([ 1, 11])
        """
        return self._run(getitem_steps(self._handle, selection))

    def __setitem__(self, selection: Any, value: Any) -> None:
        """Write to a selection; the value is broadcast to its shape.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.zeros((2, 3), dtype="int8")
        >>> array[:, 1] = 5
        >>> array[0]
        array([0, 5, 0], dtype=int8)
        """
        self._run(setitem_steps(self._handle, selection, value))

    def _get(self, kind: str, selection: Any, **options: Any) -> Any:
        return self._run(get_selection_steps(self._handle, kind, selection, **options))

    def _set(self, kind: str, selection: Any, value: Any, **options: Any) -> None:
        self._run(set_selection_steps(self._handle, kind, selection, value, **options))

    @property
    def oindex(self) -> OIndex:
        """Orthogonal indexing: each dimension by itself."""
        return OIndex(self)

    @property
    def vindex(self) -> VIndex:
        """Vectorized indexing: points, or a mask."""
        return VIndex(self)

    @property
    def blocks(self) -> BlockIndex:
        """Block indexing: whole chunks (shards, where there are some) by their place in the grid."""
        return BlockIndex(self)

    # ------------------------------------------------------------------------------------------ selections

    def get_basic_selection(
        self,
        selection: Any = Ellipsis,
        *,
        out: NDBuffer | None = None,
        prototype: BufferPrototype | None = None,
        fields: Fields = None,
    ) -> Any:
        """Read a selection of integers and slices.

        Parameters
        ----------
        selection : int, slice, Ellipsis, or a tuple of them
        out : NDBuffer or numpy.ndarray, optional
            Where the elements are put.
        prototype : BufferPrototype, optional
            Which classes hold bytes and elements.
        fields : str or list of str, optional
            Which fields of a structured data type to read.

        Returns
        -------
        numpy.ndarray, or a scalar where one element is selected

        Raises
        ------
        IndexError
            The selection does not fit the array.

        Examples
        --------
        >>> import numpy as np, zarr
        >>> zarr.array(np.arange(10)).get_basic_selection(slice(2, 5))
        array([2, 3, 4])
        """
        return self._get("basic", selection, out=out, fields=fields, prototype=prototype)

    def set_basic_selection(
        self,
        selection: Any,
        value: npt.ArrayLike,
        *,
        fields: Fields = None,
        prototype: BufferPrototype | None = None,
    ) -> None:
        """Write to a selection of integers and slices.

        Parameters
        ----------
        selection : int, slice, Ellipsis, or a tuple of them
        value : array-like
            Broadcast to the shape of the selection.
        fields : str or list of str, optional
            Which fields of a structured data type to write; the others stay as they are.
        prototype : BufferPrototype, optional
            Which classes hold bytes and elements.

        Raises
        ------
        IndexError
            The selection does not fit the array.
        ValueError
            The value does not fit the selection, or the store is read-only.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.zeros(4, dtype="int8")
        >>> array.set_basic_selection(slice(1, 3), [5, 6])
        >>> array[:]
        array([0, 5, 6, 0], dtype=int8)
        """
        self._set("basic", selection, value, fields=fields, prototype=prototype)

    def get_orthogonal_selection(
        self,
        selection: Any,
        *,
        out: NDBuffer | None = None,
        fields: Fields = None,
        prototype: BufferPrototype | None = None,
    ) -> Any:
        """Read a selection that indexes each dimension by itself.

        Parameters
        ----------
        selection : int, slice, list, array of integers or booleans, or a tuple of them
        out, fields, prototype
            As for :meth:`get_basic_selection`.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        IndexError
            The selection does not fit the array.

        Examples
        --------
        >>> import numpy as np, zarr
        >>> zarr.array(np.arange(12).reshape(3, 4)).get_orthogonal_selection(([0, 2], [1, 3]))
        array([[ 1,  3],
               [ 9, 11]])
        """
        return self._get("orthogonal", selection, out=out, fields=fields, prototype=prototype)

    def set_orthogonal_selection(
        self,
        selection: Any,
        value: npt.ArrayLike,
        *,
        fields: Fields = None,
        prototype: BufferPrototype | None = None,
    ) -> None:
        """Write to a selection that indexes each dimension by itself.

        Parameters
        ----------
        selection : int, slice, list, array of integers or booleans, or a tuple of them
        value, fields, prototype
            As for :meth:`set_basic_selection`.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.zeros((2, 4), dtype="int8")
        >>> array.set_orthogonal_selection(([0, 1], [1, 3]), 5)
        >>> array[1]
        array([0, 5, 0, 5], dtype=int8)
        """
        self._set("orthogonal", selection, value, fields=fields, prototype=prototype)

    def get_mask_selection(
        self,
        mask: Any,
        *,
        out: NDBuffer | None = None,
        fields: Fields = None,
        prototype: BufferPrototype | None = None,
    ) -> Any:
        """Read the elements where a mask is true, in C order.

        Parameters
        ----------
        mask : array of bool, of the array's shape
        out, fields, prototype
            As for :meth:`get_basic_selection`.

        Returns
        -------
        numpy.ndarray, one-dimensional

        Raises
        ------
        IndexError
            The mask has another shape, or is not boolean.

        Examples
        --------
        >>> import numpy as np, zarr
        >>> data = np.arange(6)
        >>> zarr.array(data).get_mask_selection(data % 2 == 1)
        array([1, 3, 5])
        """
        return self._get("mask", mask, out=out, fields=fields, prototype=prototype)

    def set_mask_selection(
        self, mask: Any, value: npt.ArrayLike, *, fields: Fields = None, prototype: BufferPrototype | None = None
    ) -> None:
        """Write to the elements where a mask is true.

        Parameters
        ----------
        mask : array of bool, of the array's shape
        value : array-like
            A scalar, or one value for each element, in C order.
        fields, prototype
            As for :meth:`set_basic_selection`.

        Examples
        --------
        >>> import numpy as np, zarr
        >>> array = zarr.array(np.arange(4))
        >>> array.set_mask_selection(np.arange(4) > 1, 0)
        >>> array[:]
        array([0, 1, 0, 0])
        """
        self._set("mask", mask, value, fields=fields, prototype=prototype)

    def get_coordinate_selection(
        self,
        selection: Any,
        *,
        out: NDBuffer | None = None,
        fields: Fields = None,
        prototype: BufferPrototype | None = None,
    ) -> Any:
        """Read points, given by one array of coordinates per dimension.

        Parameters
        ----------
        selection : tuple of integer arrays
            Broadcast against each other.
        out, fields, prototype
            As for :meth:`get_basic_selection`.

        Returns
        -------
        numpy.ndarray
            Of the shape that the coordinates broadcast to.

        Raises
        ------
        IndexError
            There is not one array per dimension, or a point lies outside the array.

        Examples
        --------
        >>> import numpy as np, zarr
        >>> zarr.array(np.arange(12).reshape(3, 4)).get_coordinate_selection(([0, 2], [1, 3]))
        array([ 1, 11])
        """
        return self._get("coordinate", selection, out=out, fields=fields, prototype=prototype)

    def set_coordinate_selection(
        self,
        selection: Any,
        value: npt.ArrayLike,
        *,
        fields: Fields = None,
        prototype: BufferPrototype | None = None,
    ) -> None:
        """Write to points, given by one array of coordinates per dimension; the last value of a point stays.

        Parameters
        ----------
        selection : tuple of integer arrays
        value : array-like
            A scalar, or one value for each point.
        fields, prototype
            As for :meth:`set_basic_selection`.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.zeros((2, 2), dtype="int8")
        >>> array.set_coordinate_selection(([0, 1], [0, 1]), [5, 6])
        >>> array[:]
        array([[5, 0],
               [0, 6]], dtype=int8)
        """
        self._set("coordinate", selection, value, fields=fields, prototype=prototype)

    def get_block_selection(
        self,
        selection: Any,
        *,
        out: NDBuffer | None = None,
        fields: Fields = None,
        prototype: BufferPrototype | None = None,
    ) -> Any:
        """Read whole chunks (shards, where there are some) by their place in the grid.

        Parameters
        ----------
        selection : int, slice of step 1, or a tuple of them
        out, fields, prototype
            As for :meth:`get_basic_selection`.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        IndexError
            A block lies outside the grid.

        Examples
        --------
        >>> import numpy as np, zarr
        >>> array = zarr.create_array({}, data=np.arange(10), chunks=3)
        >>> array.get_block_selection(1)
        array([3, 4, 5])
        """
        return self._get("block", selection, out=out, fields=fields, prototype=prototype)

    def set_block_selection(
        self,
        selection: Any,
        value: npt.ArrayLike,
        *,
        fields: Fields = None,
        prototype: BufferPrototype | None = None,
    ) -> None:
        """Write to whole chunks (shards, where there are some) by their place in the grid.

        Parameters
        ----------
        selection : int, slice of step 1, or a tuple of them
        value, fields, prototype
            As for :meth:`set_basic_selection`.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.create_array({}, shape=7, chunks=3, dtype="int8")
        >>> array.set_block_selection(2, 9)
        >>> array[5:]
        array([0, 9], dtype=int8)
        """
        self._set("block", selection, value, fields=fields, prototype=prototype)

    # ------------------------------------------------------------------------------------------ shape

    def resize(self, new_shape: ShapeLike) -> None:
        """Change the shape. New elements have the fill value; what is cut off is gone.

        Parameters
        ----------
        new_shape : int or tuple of int

        Raises
        ------
        ValueError
            The number of dimensions differs, or the store is read-only.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.ones(3, dtype="int8")
        >>> array.resize(5)
        >>> array[:]
        array([1, 1, 1, 1, 1], dtype=int8)
        """
        self._run(resize_steps(self._handle, new_shape))

    def append(self, data: npt.ArrayLike, axis: int = 0) -> tuple[int, ...]:
        """Add data at the end of a dimension.

        Parameters
        ----------
        data : array-like
            Its shape is the array's, but for the dimension that grows.
        axis : int

        Returns
        -------
        tuple of int
            The new shape.

        Raises
        ------
        ValueError
            The shape of the data does not go with the array's.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.array([1, 2])
        >>> array.append([3])
        (3,)
        """
        return self._run(append_steps(self._handle, data, axis))

    # ------------------------------------------------------------------------------------------ attributes, state

    @property
    def attrs(self) -> Attributes:
        """The attributes, as a mapping; a change of it is written at once."""
        return Attributes(self)

    def update_attributes(self, new_attributes: dict[str, JSON]) -> Self:
        """Add or replace attributes in one write.

        Parameters
        ----------
        new_attributes : dict

        Returns
        -------
        Array
            This array.

        Examples
        --------
        >>> import zarr
        >>> zarr.array([1]).update_attributes({"unit": "m"}).attrs["unit"]
        'm'
        """
        self._change_attributes(new_attributes)
        return self

    def _change_attributes(
        self, changes: Mapping[str, Any], removed: Iterable[str] = (), replace: bool = False
    ) -> None:
        self._run(update_attributes_steps(self._handle, changes, removed, replace))

    def with_config(self, config: ArrayConfigLike) -> Self:
        """The same array with another run-time configuration.

        Parameters
        ----------
        config : ArrayConfig or dict
            A dict may leave fields out.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.zeros((2, 2)).with_config({"order": "F"}).order
        'F'
        """
        return self.from_handle(self._handle.with_config(merged_config(self._handle, config)))

    @property
    def async_array(self) -> AsyncArray[T_ArrayMetadata]:
        """The asynchronous face of this array."""
        return self._async_array

    @property
    def fill_value(self) -> Any:
        """The value of elements that were never written."""
        return self._handle.metadata.fill_value

    # ------------------------------------------------------------------------------------------ what is stored

    @property
    def nchunks_initialized(self) -> int:
        """The number of chunks that are stored; a stored shard counts for all its chunks."""
        return self._run(nchunks_initialized_steps(self._handle))

    @property
    def _nshards_initialized(self) -> int:
        return self._run(nshards_initialized_steps(self._handle))

    def nbytes_stored(self) -> int:
        """The number of bytes in the store, metadata included.

        Returns
        -------
        int

        Examples
        --------
        >>> import zarr
        >>> zarr.array([1, 2, 3]).nbytes_stored() > 24
        True
        """
        return self._run(nbytes_stored_steps(self._handle))

    def info_complete(self) -> ArrayInfo:
        """A summary with what is stored, for which the store is listed.

        Returns
        -------
        ArrayInfo

        Examples
        --------
        >>> import zarr
        >>> "Chunks Initialized : 1" in repr(zarr.array([1, 2, 3]).info_complete())
        True
        """
        return self._info(self.nbytes_stored(), self._nshards_initialized)

    # ------------------------------------------------------------------------------------------ protocols

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Any:
        """All elements as a numpy array.

        Raises
        ------
        ValueError
            ``copy=False``: the elements are never in memory already.
        """
        if copy is False:
            raise ValueError("`copy=False` is not supported. This method always creates a copy.")
        data = np.asarray(self[...])
        return data if dtype is None else data.astype(dtype, copy=False)

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of a 0-dimensional array")
        return shape[0]

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        """Go over the first dimension; each row of chunks is read once."""
        return iterate_rows(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Array):
            return NotImplemented
        return self._async_array == other._async_array

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._async_array,))
