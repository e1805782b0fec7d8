"""The part of the Python array API standard's array object that a stored array can offer.

A method that computes reads all elements and returns a NumPy array; one that only changes the view reads nothing.
"""

from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from zarr.arrays.methods.selections import SelectionMethods
from zarr.defaults import settings
from zarr.registry.tables import import_path

if TYPE_CHECKING:
    import numpy.typing as npt

    from zarr.arrays.views.view import LazyArray

NAMESPACE = "zarr.array_api.namespace"
"""The module that ``__array_namespace__`` returns: it is on an upper floor, and is loaded at its first use."""


class StandardMethods(SelectionMethods):
    """Attributes and methods of the array API standard, 2024.12, "Array object"."""

    __getitem__: Any
    _converted: Any
    device: ClassVar[Literal["cpu"]] = "cpu"
    """The device of elements after reading: the memory of the host."""

    @property
    def T(self) -> LazyArray:
        """The array with its dimensions in reverse order, as a view: nothing is read yet.

        Examples
        --------
        >>> import zarr
        >>> zarr.array([[1, 2], [3, 4]]).T[0]
        array([1, 3])
        """
        return self.lazy[...].T

    @property
    def mT(self) -> LazyArray:
        """The stack of matrices in the last two dimensions, each transposed, as a view.

        Raises
        ------
        ValueError
            If the array has fewer than two dimensions.

        Examples
        --------
        >>> import zarr
        >>> zarr.zeros((5, 2, 3)).mT.shape
        (5, 3, 2)
        """
        if self.ndim < 2:
            raise ValueError(f"mT needs at least two dimensions, the array has {self.ndim}")
        return self.lazy[...].transpose(*range(self.ndim - 2), self.ndim - 1, self.ndim - 2)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Return this array: its elements are read to the memory of the host, the only device.

        Parameters
        ----------
        device : object
            Only ``"cpu"``.
        stream : object
            Only None.

        Returns
        -------
        Array
            This array.

        Raises
        ------
        ValueError
            If there is no such device, or a stream is given.

        Examples
        --------
        >>> import zarr
        >>> zarr.array([1, 2]).to_device("cpu").shape
        (2,)
        """
        if device != self.device or stream is not None:
            raise ValueError(f"elements are read to the device 'cpu', without a stream; got {device!r}, {stream!r}")
        return self

    def astype(self, dtype: npt.DTypeLike, /, *, copy: bool | None = None, device: Any = None) -> Any:
        """Return a view of the array in another data type; reads convert the chunks.

        Parameters
        ----------
        dtype : dtype
            The data type of the result.
        copy : bool, optional
            If ``copy`` or ``device`` is given, or if ``array.array_namespace`` is True, all elements are read at once,
            as the array API defines it. The result is then always a new array.
        device : "cpu", optional
            Only ``"cpu"`` or None; part of the array API.

        Returns
        -------
        Array or numpy.ndarray
            A view that refuses writes; by the array API, the elements.

        Raises
        ------
        TypeError
            If elements of one of the two data types have no fixed size.

        Examples
        --------
        >>> import zarr
        >>> view = zarr.array([1.5, 2.5]).astype("int8")
        >>> view.is_view, view[:]
        (True, array([1, 2], dtype=int8))
        >>> zarr.array([1.5, 2.5]).astype("int8", copy=True)
        array([1, 2], dtype=int8)
        """
        self.to_device(self.device if device is None else device)
        if copy is None and device is None and not settings.get("array.array_namespace"):
            return self._converted(np.dtype(dtype))
        return np.asarray(self).astype(dtype, copy=False)

    if not TYPE_CHECKING:  # otherwise every name would be an attribute for type checkers

        def __getattr__(self, name: str) -> Any:
            """Return :mod:`zarr.array_api` for ``__array_namespace__``, if ``array.array_namespace`` is True.

            By default the attribute does not exist: libraries that find it (xarray, anndata) compute with the array
            itself, and otherwise read it into a NumPy array; a stored array has no operators. These libraries also look
            at the class: so this is no property.

            Examples
            --------
            >>> import zarr
            >>> array = zarr.array([1, 2, 3])
            >>> with zarr.config.set({"array.array_namespace": True}):
            ...     xp = array.__array_namespace__()
            >>> int(xp.sum(array))
            6
            """
            if name == "__array_namespace__":
                if settings.get("array.array_namespace"):
                    return import_path(NAMESPACE)
                raise AttributeError(
                    "an array has __array_namespace__ while zarr.config's 'array.array_namespace' is true; "
                    "zarr.array_api is the namespace"
                )
            # Read the attribute again, so that an error inside a property is raised as it is.
            return object.__getattribute__(self, name)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Any:
        """Return all elements as a NumPy array.

        Raises
        ------
        ValueError
            ``copy=False``: elements are never in memory already.
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

    def __dlpack__(self, **options: Any) -> Any:
        """Return all elements as a DLPack capsule over new memory; the parameters are those of NumPy."""
        return np.ascontiguousarray(self).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the device of the capsule: the host, ``(1, 0)``."""
        return (1, 0)

    def _scalar(self, kind: str) -> Any:
        """Return the element of an array without dimensions.

        Raises
        ------
        TypeError
            If the array has dimensions.
        """
        if self.shape:
            raise TypeError(
                f"only an array without dimensions can be converted to {kind}, this one has the shape {self.shape} "
                f"({prod(self.shape)} elements); select an element first"
            )
        return np.asarray(self[()])[()]

    def __bool__(self) -> bool:
        """Return the truth of the element of an array without dimensions; any other array is true."""
        return True if self.shape else bool(self._scalar("a truth value"))

    def __int__(self) -> int:
        """Return the element of an array without dimensions."""
        return int(self._scalar("an integer"))

    def __float__(self) -> float:
        """Return the element of an array without dimensions."""
        return float(self._scalar("a float"))

    def __complex__(self) -> complex:
        """Return the element of an array without dimensions."""
        return complex(self._scalar("a complex number"))

    def __index__(self) -> int:
        """Return the element of an array of integers without dimensions.

        Raises
        ------
        TypeError
            If the array has dimensions, or its elements are no integers.
        """
        return operator.index(self._scalar("an index"))
