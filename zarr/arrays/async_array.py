"""The asynchronous face of an array, ``zarr.AsyncArray``: each method that reads or writes awaits its steps.

The methods of the same names in ``array.py`` and ``methods/`` have the full documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, cast

from zarr import registry
from zarr._lazy import LazyModule
from zarr._records import constructed_by
from zarr.abc.codec import CodecPipeline
from zarr.abc.nodes import AsynchronousArray
from zarr.arrays.handle import ArrayHandle, open_array_steps, parse_metadata
from zarr.arrays.methods.properties import ArrayFace
from zarr.arrays.methods.selections import SelectionMethods
from zarr.buffer.core import BufferPrototype
from zarr.chunks.spec import ArrayConfig, ArrayConfigLike, config_with, parse_array_config
from zarr.errors import ZarrDeprecationWarning
from zarr.notices import warn
from zarr.runners.choose import async_runner_for, runner_for
from zarr.steps.requests import Steps
from zarr.storage.path import StorePath
from zarr.storage.resolve import make_store_path, resolve_opened, resolve_store_path
from zarr.types import JSON, ShapeLike, ZarrFormat

if TYPE_CHECKING:
    from zarr.arrays import change, stored
    from zarr.arrays.create import unsaved, version2
    from zarr.arrays.io import foreign_pipeline, writing
    from zarr.arrays.io import read_many as many
    from zarr.arrays.methods import indexers
    from zarr.arrays.methods.indexers import AsyncOIndex, AsyncVIndex
    from zarr.arrays.show import info
    from zarr.arrays.show.info import ArrayInfo
    from zarr.arrays.views import view
    from zarr.arrays.views.view import AsyncLazyArray, LazyIndex
    from zarr.runners.locks import synchronizers
    from zarr.storage.resolve import StoreLike
else:
    indexers = LazyModule("zarr.arrays.methods.indexers")
    view = LazyModule("zarr.arrays.views.view")
    info = LazyModule("zarr.arrays.show.info")
    change = LazyModule("zarr.arrays.change")
    stored = LazyModule("zarr.arrays.stored")
    foreign_pipeline = LazyModule("zarr.arrays.io.foreign_pipeline")
    many = LazyModule("zarr.arrays.io.read_many")
    unsaved = LazyModule("zarr.arrays.create.unsaved")
    version2 = LazyModule("zarr.arrays.create.version2")
    writing = LazyModule("zarr.arrays.io.writing")
    synchronizers = LazyModule("zarr.runners.locks.synchronizers")

T = TypeVar("T")
P = ParamSpec("P")
T_ArrayMetadata = TypeVar("T_ArrayMetadata")


def awaited(
    method: Callable[Concatenate[Any, P], T], face: str = "AsyncArray"
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return the asynchronous twin of a method: it calls ``_run``, which returns a coroutine."""

    @wraps(method)
    async def twin(self: Any, /, *args: P.args, **options: P.kwargs) -> T:
        return cast("T", await cast("Any", method)(self, *args, **options))

    twin.__name__ = method.__name__.strip("_")
    twin.__qualname__ = f"{face}.{twin.__name__}"
    return twin


@constructed_by("metadata", "store_path", "config", frozen=True)
class AsyncArray(ArrayFace, Generic[T_ArrayMetadata]):
    """An array for asynchronous code; the synchronous twin is :class:`zarr.Array`.

    Parameters
    ----------
    metadata : ArrayV2Metadata, ArrayV3Metadata or dict
        The metadata document, parsed.
    store_path : StorePath
        Where the node is stored.
    config : ArrayConfig or dict, optional
        Run-time behaviour of the array, which is not stored; see :func:`zarr.create_array`. By default the settings
        ``array.*`` of :data:`zarr.config`.

    Examples
    --------
    >>> import asyncio, zarr
    >>> array = zarr.array([1, 2, 3]).async_array
    >>> asyncio.run(array.getitem(slice(1, None)))
    array([2, 3])
    """

    def __init__(self, metadata: Any, store_path: StorePath, config: ArrayConfigLike | None = None) -> None:
        self._handle = ArrayHandle(store_path, parse_metadata(metadata, store_path), parse_array_config(config))
        self._handle.perhaps_unstored = True

    @classmethod
    def from_handle(cls, handle: ArrayHandle) -> Self:
        """Return the face of an open array.

        Parameters
        ----------
        handle : ArrayHandle
            The state that both faces of an array share.
        """
        face = cls.__new__(cls)
        face._handle = handle
        return face

    @classmethod
    def from_dict(cls, store_path: StorePath, data: dict[str, JSON]) -> Self:
        """Return the array that a metadata document describes; the store is not read.

        Parameters
        ----------
        store_path : StorePath
            Where the node is stored.
        data : dict
            The metadata document.

        Returns
        -------
        AsyncArray
        """
        return cls(data, store_path)

    @classmethod
    async def open(
        cls, store: StoreLike, zarr_format: ZarrFormat | None = 3, *, config: ArrayConfigLike | None = None
    ) -> Self:
        """Open an array.

        Parameters
        ----------
        store : StoreLike
            A path, a URL, a store or a mapping.
        zarr_format : {2, 3}, optional
            The format; None accepts both. Default: 3.
        config : optional
            Run-time behaviour of the array. Default: the settings ``array.*`` of :data:`zarr.config`.

        Returns
        -------
        AsyncArray

        Raises
        ------
        ArrayNotFoundError
            If there is no array.
        """
        store_path = await make_store_path(store)
        run = async_runner_for(store_path.store).run
        return cls.from_handle(await run(open_array_steps(store_path, zarr_format, config)))

    @classmethod
    async def _create(
        cls, store: StoreLike, *, shape: ShapeLike, dtype: Any, zarr_format: ZarrFormat = 3, **parameters: Any
    ) -> Self:
        """Create an array with parameters of ``zarr.create``; programs for zarr-python call it by this name."""
        store_path = await make_store_path(store)
        steps = version2.legacy_array_steps(store_path, shape, dtype=dtype, zarr_format=zarr_format, **parameters)
        return cls.from_handle(await async_runner_for(store_path.store).run(steps))

    async def save(self, *, overwrite: bool = False) -> None:
        """Store the metadata document and the chunks of an array that was created in memory.

        Parameters
        ----------
        overwrite : bool
            If True, replace a node that is there. Default: False.

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            If a node is there and ``overwrite`` is False.
        """
        await async_runner_for(self.store).run(unsaved.save_steps(self._handle, overwrite))

    def _run(self, steps: Steps[T]) -> Coroutine[Any, Any, T]:
        return self._handle.async_run(steps)

    @property
    def codec_pipeline(self) -> CodecPipeline:
        """The codecs as a pipeline with zarr-python's interface, for programs that call one."""
        return foreign_pipeline.pipeline_of(self._handle, self._handle.layout)

    @codec_pipeline.setter
    def codec_pipeline(self, pipeline: CodecPipeline) -> None:
        cls = self._handle.bound_pipeline or registry.get_pipeline_class()
        self._handle.pipeline = (cls, self._handle.layout.metadata, pipeline)

    @property
    def _config(self) -> ArrayConfig:
        """The former name of :attr:`config`; other packages read it."""
        warn("Use AsyncArray.config instead.", ZarrDeprecationWarning)
        return self.config

    @property
    def attrs(self) -> dict[str, JSON]:
        """The attributes."""
        return self._handle.metadata.attributes

    @property
    def oindex(self) -> AsyncOIndex:
        """Orthogonal indexing."""
        return indexers.AsyncOIndex(self)

    @property
    def vindex(self) -> AsyncVIndex:
        """Vectorized indexing."""
        return indexers.AsyncVIndex(self)

    @property
    def lazy(self) -> LazyIndex[AsyncLazyArray]:
        """Views; ``await view.result()`` reads one."""
        return view.LazyIndex(view.AsyncLazyArray(self._handle))

    async def getitem(self, selection: Any, *, prototype: BufferPrototype | None = None) -> Any:
        """Read a selection of ints and slices, as ``array[selection]`` does.

        Parameters
        ----------
        selection
            Integers and slices.
        prototype : BufferPrototype, optional
            The classes of buffers to read into. Default: those of the settings.

        Returns
        -------
        numpy.ndarray or scalar
        """
        return await self._get("basic", selection, prototype=prototype)

    async def _get_selection(
        self, indexer: Any, *, prototype: BufferPrototype | None = None, out: Any = None, fields: Any = None
    ) -> Any:
        """Read what an indexer selects, chunk by chunk; see ``zarr.core.indexing.Indexer``."""
        read = many.read_indexer_steps
        return await self._run(read(self._handle, indexer, out=out, fields=fields, prototype=prototype))

    to_arrow = awaited(SelectionMethods.to_arrow)
    to_awkward = awaited(SelectionMethods.to_awkward)
    get_orthogonal_selection = awaited(SelectionMethods.get_orthogonal_selection)
    get_mask_selection = awaited(SelectionMethods.get_mask_selection)
    get_coordinate_selection = awaited(SelectionMethods.get_coordinate_selection)
    read_many = awaited(SelectionMethods.read_many)

    async def setitem(self, selection: Any, value: Any, prototype: BufferPrototype | None = None) -> None:
        """Write a selection of ints and slices, as ``array[selection] = value`` does.

        Parameters
        ----------
        selection
            Integers and slices.
        value : array-like or scalar
            The elements to write; broadcast to the selection.
        prototype : BufferPrototype, optional
            The classes of buffers to write from. Default: those of the settings.
        """
        await self._run(writing.set_selection_steps(self._handle, "basic", selection, value, prototype=prototype))

    async def resize(self, new_shape: ShapeLike, delete_outside_chunks: bool = True) -> None:
        """Change the shape; elements inside of both shapes stay.

        Parameters
        ----------
        new_shape : int or tuple of int
            The number of elements along each axis.
        delete_outside_chunks : bool
            If True, the default, delete the chunks outside of the new shape.
        """
        await self._run(change.resize_steps(self._handle, new_shape, delete_outside_chunks))

    async def append(self, data: Any, axis: int = 0) -> tuple[int, ...]:
        """Append elements along an axis; two appends at the same time do not overwrite each other.

        Parameters
        ----------
        data : array-like
            The elements; their shape is that of the array except along the axis.
        axis : int
            The axis that grows. Default: 0.

        Returns
        -------
        tuple of int
            The new shape.
        """
        return await self._run(change.append_steps(self._handle, data, axis))

    async def update_attributes(self, new_attributes: dict[str, JSON]) -> Self:
        """Add or replace attributes in one write.

        Parameters
        ----------
        new_attributes : dict
            Attributes to set; the others stay.

        Returns
        -------
        AsyncArray
            This array.
        """
        await self._run(change.update_attributes_steps(self._handle, new_attributes))
        return self

    async def _change_attributes(
        self, changes: Mapping[str, Any], removed: Iterable[str] = (), replace: bool = False
    ) -> None:
        await self._run(change.update_attributes_steps(self._handle, changes, removed, replace))

    async def _save_metadata(self, metadata: Any, ensure_parents: bool = False) -> None:
        await self._run(change.save_metadata_steps(self._handle, metadata, ensure_parents))

    async def nchunks_initialized(self) -> int:
        """Count the stored chunks; a stored shard counts for all its chunks.

        Returns
        -------
        int
        """
        return await self._run(stored.nchunks_initialized_steps(self._handle))

    async def _nshards_initialized(self) -> int:
        return await self._run(stored.nshards_initialized_steps(self._handle))

    async def nbytes_stored(self) -> int:
        """Add up the bytes of the array in the store, its documents included.

        Returns
        -------
        int
        """
        return await self._run(stored.nbytes_stored_steps(self._handle))

    async def info_complete(self) -> ArrayInfo:
        """Return a summary with the number of stored chunks and bytes.

        Returns
        -------
        ArrayInfo
        """
        return self._info(await self._run(info.stored_steps(self._handle)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AsyncArray):
            return NotImplemented
        same_place = self.metadata == other.metadata and self.store_path == other.store_path
        return bool(same_place and self.config == other.config)

    async def equals(self, other: object) -> bool:
        """Return True if another array is the same one; the twin of ``Array.__eq__``.

        Parameters
        ----------
        other : object
            The object to compare with.

        Returns
        -------
        bool
        """
        return self == other

    def __hash__(self) -> int:
        return hash((type(self).__name__, str(self.store_path)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self).from_handle, (self._handle,))


def unsaved_face(given: Any, parameters: dict[str, Any]) -> AsyncArray[Any]:
    """Make the asynchronous face of a new array in memory.

    Raises
    ------
    TypeError
        If an array is given besides parameters of a new one, or neither a shape nor a data type.
    """
    if given is None and "store" in parameters and not {"shape", "dtype"} & parameters.keys():
        given = parameters.pop("store")  # as zarr-python 2 opened an array
    if given is not None and not parameters.keys() - OPENING:
        return opened_face(given, **parameters)
    missing = [name for name in ("shape", "dtype") if name not in parameters]
    if given is not None or missing:
        raise TypeError(
            "an Array is made of an AsyncArray, or of what a new array is made of: shape=, dtype=, store=, path= …; "
            + (f"missing: {', '.join(missing)}" if given is None else f"got both {given!r} and {sorted(parameters)}")
        )
    store, path, chunks = (parameters.pop(name, None) for name in ("store", "path", "chunk_store"))
    place = resolve_store_path(store, path=path, mode="a", chunk_store=chunks)
    return AsyncArray.from_handle(unsaved.unsaved_handle(place, **parameters))


OPENING = {"path", "read_only", "chunk_store", "synchronizer", "cache_metadata", "cache_attrs", "meta_array"} | {
    "partial_decompress", "write_empty_chunks", "zarr_version",
}  # fmt: skip


def opened_face(store: StoreLike, path: str | None = None, read_only: bool = False, **older: Any) -> AsyncArray[Any]:
    """Open the array in a store by the parameters of ``Array`` in zarr-python 2.

    Raises
    ------
    ArrayNotFoundError
        If there is no array.
    TypeError
        If the value is no store.
    """
    place = resolve_opened(store, path, read_only, older.get("chunk_store"))
    config = synchronizers.with_synchronizer(None, older.get("synchronizer"))
    write_empty = older.get("write_empty_chunks")
    if write_empty is not None:
        config = config_with(config, write_empty_chunks=write_empty)
    handle = runner_for(place.store).run(open_array_steps(place, older.get("zarr_version"), config))
    return AsyncArray.from_handle(handle)


AsynchronousArray.register(AsyncArray)
