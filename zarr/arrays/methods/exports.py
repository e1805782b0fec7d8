"""What the synchronous face of an array offers to other libraries in their own kind of array."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zarr._lazy import LazyModule

if TYPE_CHECKING:
    from zarr.arrays.handle import ArrayHandle
    from zarr.arrays.interop import arrow, awkward
else:
    arrow = LazyModule("zarr.arrays.interop.arrow")
    awkward = LazyModule("zarr.arrays.interop.awkward")


class ExportMethods:
    """Reading into arrays of pyarrow and awkward."""

    _handle: ArrayHandle
    _run: Callable[..., Any]

    def to_arrow(self, selection: Any = ...) -> Any:
        """Read a selection as an Arrow array.

        Parameters
        ----------
        selection : int, slice, ..., as between brackets; optional
            All of the array by default.

        Returns
        -------
        pyarrow.Array or pyarrow.ChunkedArray
            The first dimension is the length of the array, each further one a level of lists of a fixed size; one
            element makes an array of length 1. Strings are ``string``, byte strings ``binary`` (``large_string`` and
            ``large_binary`` where the array's codec has 64-bit offsets), dates and times ``date32``, ``timestamp`` and
            ``duration`` with NaT as null, booleans ``bool``, records ``struct``.

            Nothing is copied where the array is stored with `zarr.codecs.ArrowVLenCodec` and the selection is rows of
            whole chunks: slices without a step of a one-dimensional array, or any where each row lies in one chunk. The
            buffers are then the bytes that the store or the last decompressor gave, checked once; several chunks come
            as a ``ChunkedArray`` with one piece each.

        Raises
        ------
        ImportError
            pyarrow is not installed: ``pip install 'zarr[arrow]'``.
        TypeError
            Arrow has no type for the elements: complex numbers, floats of 4 to 8 bits, times of other units, arbitrary
            Python objects.
        IndexError
            The selection does not fit the array.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.create_array({}, shape=3, dtype="string", serializer=zarr.codecs.ArrowVLenCodec())
        >>> array[:] = ["a", "", "bcd"]
        >>> array.to_arrow(slice(1, None)).to_pylist()  # doctest: +SKIP
        ['', 'bcd']
        """
        return self._run(arrow.to_arrow_steps(self._handle, selection))

    def to_awkward(self, selection: Any = ...) -> Any:
        """Read a selection as an Awkward Array.

        Parameters
        ----------
        selection : int, slice, ..., as between brackets; optional
            All of the array by default.

        Returns
        -------
        awkward.Array
            Dimensions are regular; one element makes an array of length 1. Nothing is copied where one whole chunk, or
            rows of it, are read from an array stored with `zarr.codecs.ArrowVLenCodec`; several chunks are joined.

        Raises
        ------
        ImportError
            awkward is not installed: ``pip install 'zarr[awkward]'``.
        IndexError
            The selection does not fit the array.

        Examples
        --------
        >>> import zarr
        >>> zarr.array([1, 2, 3]).to_awkward(slice(0, 2)).to_list()  # doctest: +SKIP
        [1, 2]
        """
        return self._run(awkward.to_awkward_steps(self._handle, selection))
