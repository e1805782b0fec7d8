"""The synchronous face of an array, ``zarr.Array``: each method that reads or writes is one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from zarr._lazy import LazyModule
from zarr._records import constructed_by
from zarr.abc.nodes import SynchronousArray
from zarr.arrays.async_array import AsyncArray, unsaved_face
from zarr.arrays.handle import ArrayHandle, open_array_steps
from zarr.arrays.io.reading import getitem_steps, iterate_rows
from zarr.arrays.methods.array_api import StandardMethods
from zarr.arrays.methods.version2 import OlderMembers
from zarr.chunks.spec import ArrayConfigLike
from zarr.older_calls import IN_ORDER_OF_ARRAY, named_of_node, without_positions
from zarr.runners.choose import runner_for
from zarr.storage.path import StorePath
from zarr.storage.resolve import make_store_path
from zarr.types import JSON, ShapeLike

if TYPE_CHECKING:
    import numpy.typing as npt

    from zarr.arrays import attributes, change, stored
    from zarr.arrays.attributes import Attributes
    from zarr.arrays.create import unsaved
    from zarr.arrays.io import writing
    from zarr.arrays.methods import indexers
    from zarr.arrays.methods.indexers import BlockIndex, OIndex, VIndex
    from zarr.arrays.show import info, pictures
    from zarr.arrays.show.info import ArrayInfo
    from zarr.dtype.types import nullable
    from zarr.runners import sync as runner_threads
    from zarr.storage.resolve import StoreLike
else:
    indexers, info = LazyModule("zarr.arrays.methods.indexers"), LazyModule("zarr.arrays.show.info")
    pictures = LazyModule("zarr.arrays.show.pictures")
    change = LazyModule("zarr.arrays.change")
    stored = LazyModule("zarr.arrays.stored")
    unsaved = LazyModule("zarr.arrays.create.unsaved")
    writing = LazyModule("zarr.arrays.io.writing")
    nullable = LazyModule("zarr.dtype.types.nullable")
    attributes = LazyModule("zarr.arrays.attributes")
    runner_threads = LazyModule("zarr.runners.sync")

T_ArrayMetadata = TypeVar("T_ArrayMetadata")


@constructed_by("_async_array", frozen=False)
class Array(StandardMethods, OlderMembers, Generic[T_ArrayMetadata]):
    """A chunked, compressed, N-dimensional array in a store.

    Parameters
    ----------
    _async_array : AsyncArray, optional
        The other face of the same array. Or, as in zarr-python 2, a store; then ``path`` is the path of the array in
        it, and ``read_only`` refuses changes; both may follow the store by position.
    **parameters
        Instead of it, the parameters of a new array: ``shape``, ``dtype``, ``store`` and ``path`` (where it will be
        saved), ``config``, and the parameters of :func:`zarr.create_array` for chunks and codecs. The array is in
        memory until :meth:`save` is called, or :func:`zarr.save_many`.

    Examples
    --------
    >>> import zarr
    >>> array = zarr.create_array({}, shape=(4, 6), chunks=(2, 3), dtype="int32")
    >>> array[1, 2:5] = [7, 8, 9]
    >>> array[1]
    array([0, 0, 7, 8, 9, 0], dtype=int32)

    Created in memory and saved later:

    >>> store = zarr.storage.MemoryStore()
    >>> array = zarr.Array(shape=(10, 10), path="foo/bar", dtype="i4", store=store)
    >>> array[0] = 1
    >>> array.save()
    >>> int(zarr.open_array(store, path="foo/bar")[:].sum())
    10
    """

    @without_positions
    def __init__(
        self, _async_array: AsyncArray[T_ArrayMetadata] | None = None, *in_order: Any, **parameters: Any
    ) -> None:
        if in_order:
            parameters = named_of_node("Array", IN_ORDER_OF_ARRAY, in_order, parameters)
        if _async_array is None or parameters or not hasattr(_async_array, "_handle"):
            _async_array = unsaved_face(_async_array, parameters)
        self._async_array = _async_array
        self._handle = _async_array._handle
        self._run = self._handle.bound_run()

    @classmethod
    def from_handle(cls, handle: ArrayHandle) -> Self:
        """Return the face of an open array.

        Parameters
        ----------
        handle : ArrayHandle
            The state that both faces of an array share.

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
        """Create an array from a metadata document; nothing is read or written.

        Parameters
        ----------
        store_path : StorePath
            Where the node is stored.
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
        """Open an existing array.

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
            If there is no array.

        Examples
        --------
        >>> import zarr
        >>> store = zarr.storage.MemoryStore()
        >>> _ = zarr.create_array(store, shape=3, dtype="int8")
        >>> zarr.Array.open(store).shape
        (3,)
        """
        store_path = runner_threads.sync(make_store_path(store))
        return cls.from_handle(runner_for(store_path.store).run(open_array_steps(store_path, None, config)))

    @classmethod
    def _create(cls, store: StoreLike, **parameters: Any) -> Self:
        """Create an array with parameters of ``zarr.create``, as `AsyncArray._create` does."""
        return cls(runner_threads.sync(AsyncArray._create(store, **parameters)))

    def save(self, *, overwrite: bool = False) -> None:
        """Save an array that was created in memory; do nothing if it is saved already.

        What other threads or tasks write to it until the call returns may not be stored.

        Parameters
        ----------
        overwrite : bool
            If True, delete first the node that is at its place.

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            If a node is there and ``overwrite`` is False.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.Array(shape=3, dtype="int8", store=zarr.storage.MemoryStore(), path="x")
        >>> array.save()
        """
        runner_for(self.store).run(unsaved.save_steps(self._handle, overwrite))
        self._run = self._handle.bound_run()

    # ------------------------------------------------------------------------------------------ brackets

    def __getitem__(self, selection: Any) -> Any:
        """Read a selection.

        Parameters
        ----------
        selection : int, slice, Ellipsis, list or array of int, boolean mask, name of a field, or a tuple of them
            A slice has a step of 1 or more. One list (or array) of integers selects elements of its dimension. Lists
            for all dimensions together select points, one for each place in the lists. A mask is an array of booleans
            with the shape of the array, or with the length of its dimension. The name of a field selects that field
            of a structured data type.

        Returns
        -------
        numpy.ndarray
            A new array. It is a masked array if the data type has missing elements. If one element is selected, the
            result is an array without dimensions, or a scalar if the selection has an Ellipsis or a numpy integer.

        Raises
        ------
        IndexError
            If an index is out of bounds, if there are more indices than dimensions, if a slice has a negative step,
            or if there is no such field.
        ChunkNotFoundError
            If a chunk is not stored and ``read_missing_chunks`` is False in the configuration of the array.
        ChunkDecodeError
            If a stored chunk is damaged.

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
        self._run(writing.setitem_steps(self._handle, selection, value))

    @property
    def oindex(self) -> OIndex:
        """Orthogonal indexing: each dimension by itself."""
        return indexers.OIndex(self)

    @property
    def vindex(self) -> VIndex:
        """Vectorized indexing: points or a mask."""
        return indexers.VIndex(self)

    @property
    def blocks(self) -> BlockIndex:
        """Block indexing: whole chunks (shards, if there are any) by their place in the grid."""
        return indexers.BlockIndex(self)

    # ------------------------------------------------------------------------------------------ shape

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension; assigning to it resizes the array."""
        return self._handle.metadata.shape

    @shape.setter
    def shape(self, value: ShapeLike) -> None:
        self.resize(value)

    def resize(self, new_shape: ShapeLike, *more: int) -> None:
        """Change the shape of the stored array.

        New elements have the fill value. Elements outside the new shape are deleted from the store.

        Parameters
        ----------
        new_shape : int or tuple of int
            The new length of each dimension; one int for an array of one dimension.
        *more : int
            Lengths of the second and later dimensions, if ``new_shape`` is that of the first alone:
            ``resize(5, 4)`` does the same as ``resize((5, 4))``.

        Raises
        ------
        ValueError
            If the number of dimensions differs, or a length is negative.
        TypeError
            If a length is no integer.
        ReadOnlyError
            If the store is read-only.
        PermissionError
            If the array is one of :meth:`view`.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.array([1, 2, 3], fill_value=0)
        >>> array.resize(5)
        >>> array[:]
        array([1, 2, 3, 0, 0])
        """
        self._refuse_views()
        self._run(change.resize_steps(self._handle, (new_shape, *more) if more else new_shape))

    def append(self, data: npt.ArrayLike, axis: int = 0) -> tuple[int, ...]:
        """Add data at the end of a dimension, which grows by the length of the data.

        Parameters
        ----------
        data : array-like
            The elements to add. Their shape is that of the array, except for the dimension that grows.
        axis : int
            The dimension that grows, by default the first; -1 is the last.

        Returns
        -------
        tuple of int
            The new shape.

        Raises
        ------
        ValueError
            If the data has other lengths in the other dimensions, or there is no such dimension.
        ReadOnlyError
            If the store is read-only.
        PermissionError
            If the array is one of :meth:`view`.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.array([1, 2])
        >>> array.append([3])
        (3,)
        >>> array[:]
        array([1, 2, 3])
        """
        self._refuse_views()
        return self._handle.run(change.append_steps(self._handle, data, axis))

    # ------------------------------------------------------------------------------------------ attributes, state

    @property
    def attrs(self) -> Attributes:
        """The attributes, as a mapping; each change is written at once."""
        return attributes.Attributes(self)

    def update_attributes(self, new_attributes: dict[str, JSON]) -> Self:
        """Add or replace attributes in one write.

        Parameters
        ----------
        new_attributes : dict
            Attributes to set; the others stay.

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
        self._run(change.update_attributes_steps(self._handle, changes, removed, replace))

    @property
    def async_array(self) -> AsyncArray[T_ArrayMetadata]:
        """The asynchronous face of this array."""
        return self._async_array

    @property
    def fill_value(self) -> Any:
        """The value of elements that were never written."""
        metadata = self._handle.metadata
        return nullable.shown_fill(metadata.dtype, metadata.fill_value)

    # ------------------------------------------------------------------------------------------ stored chunks

    @property
    def nchunks_initialized(self) -> int:
        """The number of stored chunks; a stored shard counts for all its chunks."""
        return self._handle.run(stored.nchunks_initialized_steps(self._handle))

    @property
    def _nshards_initialized(self) -> int:
        return self._handle.run(stored.nshards_initialized_steps(self._handle))

    def nbytes_stored(self) -> int:
        """Return the number of bytes in the store, metadata included.

        Returns
        -------
        int

        Examples
        --------
        >>> import zarr
        >>> zarr.array([1, 2, 3]).nbytes_stored() > 24
        True
        """
        return self._handle.run(stored.nbytes_stored_steps(self._handle))

    def info_complete(self) -> ArrayInfo:
        """Summarize the array and its stored chunks; this lists the store.

        Returns
        -------
        ArrayInfo

        Examples
        --------
        >>> import zarr
        >>> "Chunks Initialized : 1" in repr(zarr.array([1, 2, 3]).info_complete())
        True
        """
        return self._info(self._handle.run(info.stored_steps(self._handle)))

    def plot(self, selection: Any = None, ax: Any = None, **options: Any) -> Any:
        """Draw values as a line or an image, by matplotlib; see :func:`zarr.tools.plot`, also for the parameters.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import zarr
        >>> zarr.array([[1, 2], [3, 4]]).plot().get_title()  # doctest: +SKIP
        ''
        """
        return pictures.plot(self, selection, ax, **options)

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook; it shows the stored chunks if the store is memory or a folder."""
        chunks = self._handle.run(info.chunks_at_hand_steps(self._handle))
        return info.array_page(self._handle, self.info, chunks)

    # ------------------------------------------------------------------------------------------ protocols

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the first dimension; each row of chunks is read once."""
        return iterate_rows(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Array):
            return NotImplemented
        return self._async_array == other._async_array

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._async_array,))


SynchronousArray.register(Array)
