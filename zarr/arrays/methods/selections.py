"""The methods of ``zarr.Array`` that read and write selections of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zarr._lazy import LazyModule
from zarr.arrays.io.selection import Fields
from zarr.arrays.methods.properties import ArrayFace
from zarr.buffer.core import BufferPrototype, NDBuffer

if TYPE_CHECKING:
    import numpy.typing as npt

    from zarr.arrays import interop
    from zarr.arrays.io import read_many, writing
    from zarr.arrays.views import view
    from zarr.arrays.views.view import LazyArray, LazyIndex
else:
    view = LazyModule("zarr.arrays.views.view")
    read_many = LazyModule("zarr.arrays.io.read_many")
    writing = LazyModule("zarr.arrays.io.writing")
    interop = LazyModule("zarr.arrays.interop")


class SelectionMethods(ArrayFace):
    """Reading and writing by kind of selection; brackets find the kind by themselves."""

    @property
    def lazy(self) -> LazyIndex[LazyArray]:
        """Views: ``array.lazy[...]`` selects without reading; the view reads or writes on request.

        Examples
        --------
        >>> import numpy as np, zarr
        >>> array = zarr.array(np.arange(12).reshape(3, 4))
        >>> view = array.lazy[1:, ::-1]
        >>> view.T.shape
        (4, 2)
        >>> view[0]
        array([7, 6, 5, 4])
        """
        return view.LazyIndex(view.LazyArray(self._handle))

    def _set(self, kind: str, selection: Any, value: Any, **options: Any) -> None:
        self._run(writing.set_selection_steps(self._handle, kind, selection, value, **options))

    def get_basic_selection(
        self,
        selection: Any = Ellipsis,
        *,
        out: NDBuffer | npt.NDArray[Any] | None = None,
        prototype: BufferPrototype | None = None,
        fields: Fields = None,
    ) -> Any:
        """Read a selection of integers and slices.

        Parameters
        ----------
        selection : int, slice, Ellipsis, or a tuple of them
            A slice has a step of 1 or more. By default the whole array is selected.
        out : NDBuffer or numpy.ndarray, optional
            An array of the shape of the result. The elements are written to it, and it is returned. By default a new
            array is made.
        prototype : BufferPrototype, optional
            The classes that hold bytes and elements. By default those that the settings ``buffer`` and ``ndbuffer``
            of :data:`zarr.config` name.
        fields : str or list of str, optional
            The fields of a structured data type to read. By default all.

        Returns
        -------
        numpy.ndarray or scalar
            A scalar if one element is selected and ``out`` is not given.

        Raises
        ------
        IndexError
            If an index is out of bounds, if there are more indices than dimensions, if a slice has a negative step,
            if the selection has a list or an array, or if there is no such field.
        ValueError
            If ``out`` has another shape than the result.
        ChunkNotFoundError
            If a chunk is not stored and ``read_missing_chunks`` is False in the configuration of the array.
        ChunkDecodeError
            If a stored chunk is damaged.

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
            As for :meth:`get_basic_selection`.
        value : array-like
            The elements to write, broadcast to the shape of the selection.
        fields : str or list of str, optional
            The fields of a structured data type to write; the others stay as they are.
        prototype : BufferPrototype, optional
            The classes that hold bytes and elements.

        Raises
        ------
        IndexError
            If the selection does not fit the array.
        ValueError
            If the value does not fit the selection, or the store is read-only.

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
        out: NDBuffer | npt.NDArray[Any] | None = None,
        fields: Fields = None,
        prototype: BufferPrototype | None = None,
    ) -> Any:
        """Read a selection that indexes each dimension by itself.

        Parameters
        ----------
        selection : int, slice, list, array of integers or booleans, or a tuple of them
            For each dimension an integer, a slice, or an array of integers or booleans.
        out, fields, prototype
            As for :meth:`get_basic_selection`.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        IndexError
            If the selection does not fit the array.

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
            For each dimension an integer, a slice, or an array of integers or booleans.
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
        out: NDBuffer | npt.NDArray[Any] | None = None,
        fields: Fields = None,
        prototype: BufferPrototype | None = None,
    ) -> Any:
        """Read the elements at the True positions of a mask, in C order.

        Parameters
        ----------
        mask : array of bool, of the array's shape
            True for each element to read.
        out, fields, prototype
            As for :meth:`get_basic_selection`.

        Returns
        -------
        numpy.ndarray, one-dimensional

        Raises
        ------
        IndexError
            If the mask has another shape, or is not boolean.

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
        """Write to the elements at the True positions of a mask.

        Parameters
        ----------
        mask : array of bool, of the array's shape
            True for each element to write.
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
        out: NDBuffer | npt.NDArray[Any] | None = None,
        fields: Fields = None,
        prototype: BufferPrototype | None = None,
    ) -> Any:
        """Read points, given by one array of coordinates per dimension.

        Parameters
        ----------
        selection : tuple of integer arrays
            The coordinates of the points, broadcast against each other.
        out, fields, prototype
            As for :meth:`get_basic_selection`.

        Returns
        -------
        numpy.ndarray
            The shape is that of the broadcast coordinates.

        Raises
        ------
        IndexError
            If there is not one array per dimension, or a point lies outside the array.

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
        """Write to points, given by one array of coordinates per dimension; a point given twice gets its last value.

        Parameters
        ----------
        selection : tuple of integer arrays
            The coordinates of the points, broadcast against each other.
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
        out: NDBuffer | npt.NDArray[Any] | None = None,
        fields: Fields = None,
        prototype: BufferPrototype | None = None,
    ) -> Any:
        """Read whole chunks (shards, if there are any) by their place in the grid.

        Parameters
        ----------
        selection : int, slice of step 1, or a tuple of them
            Integers and slices that count chunks.
        out, fields, prototype
            As for :meth:`get_basic_selection`.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        IndexError
            If a block lies outside the grid.

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
        """Write to whole chunks (shards, if there are any) by their place in the grid.

        Parameters
        ----------
        selection : int, slice of step 1, or a tuple of them
            Integers and slices that count chunks.
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

    def read_many(self, selections: Sequence[Any], *, out: Any = None) -> list[Any]:
        """Read many selections as one operation: a chunk that several of them touch is fetched and decoded once.

        Parameters
        ----------
        selections : sequence
            Each of integers and slices, as between brackets; or with lists and arrays of integers or booleans that
            index each dimension by itself, as ``oindex`` does.
        out : sequence of numpy.ndarray, or numpy.ndarray, optional
            Memory of the caller: for each selection an array of its shape, in any memory layout; or one array whose
            first dimension counts the selections. None in a sequence stands for a new array.

        Returns
        -------
        list of numpy.ndarray
            In the order of the selections; the arrays of ``out`` if it is given. A single element gives a 0-d array.

        Raises
        ------
        IndexError
            If a selection does not fit the array.
        ValueError
            If ``out`` has the wrong length or shape, or is read-only.

        Examples
        --------
        >>> import numpy as np, zarr
        >>> array = zarr.array(np.arange(100), chunks=(10,))
        >>> windows = np.empty((3, 4), dtype=array.dtype)
        >>> _ = array.read_many([slice(i, i + 4) for i in (8, 50, 9)], out=windows)
        >>> windows[:, 0]
        array([ 8, 50,  9])
        """
        requests = [(self._handle, selection) for selection in selections]
        result: list[Any] = self._run(read_many.read_many_steps(requests, read_many.outs_for(out, len(requests))))
        return result

    def to_arrow(self, selection: Any = ...) -> Any:
        """Read a selection as an Arrow array.

        Parameters
        ----------
        selection : int, slice, ..., as between brackets; optional
            The selection, by default the whole array.

        Returns
        -------
        pyarrow.Array or pyarrow.ChunkedArray
            The first dimension is the length of the array, each further one a level of lists of a fixed size; one
            element gives an array of length 1. Strings are ``string``, byte strings ``binary`` (``large_string`` and
            ``large_binary`` if the codec of the array has 64-bit offsets), dates and times ``date32``, ``timestamp``
            and
            ``duration`` with NaT as null, booleans ``bool``, records ``struct``.

            Nothing is copied if the array is stored with `zarr.codecs.ArrowVLenCodec` and the selection is rows of
            whole chunks: slices without a step of a one-dimensional array, or any slices if each row lies in one chunk.
            The buffers are then the bytes of the store or of the last decompressor, checked once; several chunks give a
            ``ChunkedArray`` with one piece each.

        Raises
        ------
        ImportError
            If pyarrow is not installed: ``pip install 'zarr[arrow]'``.
        TypeError
            If Arrow has no type for the elements: complex numbers, floats of 4 to 8 bits, times of other units,
            arbitrary Python objects.
        IndexError
            If the selection does not fit the array.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.create_array({}, shape=3, dtype="string", serializer=zarr.codecs.ArrowVLenCodec())
        >>> array[:] = ["a", "", "bcd"]
        >>> array.to_arrow(slice(1, None)).to_pylist()  # doctest: +SKIP
        ['', 'bcd']
        """
        return self._run(interop.to_arrow_steps(self._handle, selection))

    def to_awkward(self, selection: Any = ...) -> Any:
        """Read a selection as an Awkward Array.

        Parameters
        ----------
        selection : int, slice, ..., as between brackets; optional
            The selection, by default the whole array.

        Returns
        -------
        awkward.Array
            Dimensions are regular; one element gives an array of length 1. Nothing is copied if one whole chunk, or
            rows of it, are read from an array stored with `zarr.codecs.ArrowVLenCodec`; several chunks are joined.

        Raises
        ------
        ImportError
            If awkward is not installed: ``pip install 'zarr[awkward]'``.
        IndexError
            If the selection does not fit the array.

        Examples
        --------
        >>> import zarr
        >>> zarr.array([1, 2, 3]).to_awkward(slice(0, 2)).to_list()  # doctest: +SKIP
        [1, 2]
        """
        return self._run(interop.to_awkward_steps(self._handle, selection))
