"""Properties that both faces of an array know without reading the store: shape, codecs, configuration, names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

import numpy as np

import zarr_core
from zarr._lazy import LazyModule
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.abc.store import Store
from zarr.arrays.io.reading import get_selection_steps
from zarr.chunks.shapes import block_of, cells
from zarr.chunks.spec import ArrayConfig, ArrayConfigLike, config_with, parse_array_config
from zarr.defaults import BATCH_BYTES
from zarr.errors import ZarrDeprecationWarning, ZarrUserWarning
from zarr.notices import warn
from zarr.types import MemoryOrder, printable

if TYPE_CHECKING:
    from zarr import registry
    from zarr.arrays.handle import ArrayHandle
    from zarr.arrays.io import batch
    from zarr.arrays.io.batch import BatchScope
    from zarr.arrays.show import info
    from zarr.arrays.show.info import ArrayInfo, Stored
    from zarr.chunks import ChunkGrid
    from zarr.dtype import ZDType
    from zarr.dtype.types import nullable
    from zarr.metadata import convert
    from zarr.metadata.v2 import ArrayV2Metadata
    from zarr.metadata.v3 import ArrayV3Metadata
    from zarr.storage.path import StorePath
else:
    batch, convert = LazyModule("zarr.arrays.io.batch"), LazyModule("zarr.metadata.convert")
    info = LazyModule("zarr.arrays.show.info")
    nullable, registry = LazyModule("zarr.dtype.types.nullable"), LazyModule("zarr.registry")


Block = Sequence[int] | None


def regions(grid: zarr_core.Grid, origin: Block = None, selection_shape: Block = None) -> Iterator[tuple[slice, ...]]:
    """Yield the parts of the array in the chunks of a block of a grid, the last axis fastest.

    Parameters
    ----------
    grid : zarr_core.Grid
    origin, selection_shape : sequence of int, optional
        The block; all chunks by default.

    Yields
    ------
    tuple of slice
    """
    for coords in cells(block_of(grid.cdata_shape, origin, selection_shape)):
        yield tuple(
            slice(axis.offset(i), axis.offset(i) + axis.valid_length(i), 1)
            for axis, i in zip(grid.axes, coords, strict=True)
        )


def split_codecs(metadata: ArrayV2Metadata | ArrayV3Metadata) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
    """Return the codecs of the chunks that a user sees, as filters, serializer and compressors."""
    inner = getattr(metadata, "inner_codecs", None)
    if inner is None:
        filters, compressor = metadata.filters, metadata.compressor  # type: ignore[union-attr]
        return tuple(filters or ()), None, () if compressor is None else (compressor,)
    filters = tuple(codec for codec in inner if isinstance(codec, ArrayArrayCodec))
    serializer = next((codec for codec in inner if isinstance(codec, ArrayBytesCodec)), None)
    return filters, serializer, tuple(codec for codec in inner if isinstance(codec, BytesBytesCodec))


class PlacedHandle(Protocol):
    """A handle of a node."""

    store_path: StorePath


class NodeFace:
    """The properties for the place of a node; arrays and groups share them, on both faces."""

    _handle: PlacedHandle

    @property
    def store_path(self) -> StorePath:
        """The store and the path in it."""
        return self._handle.store_path

    @property
    def store(self) -> Store:
        """The store that holds the node."""
        return self._handle.store_path.store

    @property
    def path(self) -> str:
        """The path in the store, without slashes at the ends."""
        return self._handle.store_path.path

    @property
    def name(self) -> str:
        """The path with a slash in front, as h5py writes it."""
        return f"/{self.path}"

    @property
    def basename(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def read_only(self) -> bool:
        """True if the store refuses every change."""
        return self._handle.store_path.read_only


class OlderNodeMembers(NodeFace):
    """The members of nodes in zarr-python 2 that zarr-python 3 no longer has."""

    info: Any

    @property
    def chunk_store(self) -> Store:
        """The store of the chunks: that of the node, unless ``chunk_store`` was given."""
        found: Store = getattr(self.store, "chunk_store", self.store)
        return found

    @property
    def meta_array(self) -> np.ndarray[Any, Any]:
        """An empty array of the kind that reads return."""
        return np.empty(())

    # Names that began with an underscore, and that programs used all the same.

    @property
    def _store(self) -> Store:
        return self.store

    _chunk_store = chunk_store

    _path = NodeFace.path

    def info_items(self) -> list[tuple[str, str]]:
        """Return the rows of ``info``, as pairs of texts.

        Returns
        -------
        list of (str, str)
            Names and values.

        Examples
        --------
        >>> import zarr
        >>> zarr.array([1, 2]).info_items()[0]
        ('Type', 'Array')
        >>> zarr.group().info_items()[0]
        ('Name', '')
        """
        return [(name, str(value)) for name, value in self.info._rows() if value is not None]


def one_numcodec(codecs: Sequence[Any]) -> Any:
    """Return the codec of numcodecs for the one compressor of format 3; None where there is none."""
    if not codecs:
        return None
    found = convert.numcodec_configuration(codecs[0].to_dict()) if len(codecs) == 1 else None
    if found is None:
        warn(f"no codec of numcodecs does what {list(codecs)} do: `compressor` is None", ZarrUserWarning)
        return None
    return registry.get_numcodec(cast("Any", found))


class ArrayFace(NodeFace):
    """The members that :class:`Array` and :class:`AsyncArray` share; both stand before one handle."""

    _handle: ArrayHandle
    _run: Any
    """Runs steps: in ``Array`` it returns their result, in ``AsyncArray`` a coroutine of it."""

    if TYPE_CHECKING:

        @classmethod
        def from_handle(cls, handle: ArrayHandle) -> Self: ...

    def _get(self, kind: str, selection: Any, **options: Any) -> Any:
        return self._run(get_selection_steps(self._handle, kind, selection, **options))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickle of zarr-python 3: the other face, or the fields. Pickles of this library hold the handle."""
        other, make = state.get("_async_array"), cast("Any", type(self)).__init__
        if other is not None:
            make(self, other)
        else:
            make(self, state["metadata"], state["store_path"], state.get("config", state.get("_config")))

    @property
    def read_only(self) -> bool:
        """True if the store refuses every change, or the array was opened with ``immutable=True``."""
        return super().read_only or self._handle.config.immutable

    @property
    def metadata(self) -> Any:
        """The metadata document, parsed."""
        return self._handle.metadata

    @property
    def config(self) -> ArrayConfig:
        """The configuration of reads and writes; not stored."""
        return self._handle.config

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension."""
        return self._handle.metadata.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._handle.metadata.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements in memory, not of the stored chunks."""
        return self.size * self.dtype.itemsize

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy data type of the elements."""
        return nullable.shown_dtype(self._handle.metadata.dtype)

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of a chunk; with shards, of an inner chunk.

        Raises
        ------
        NotImplementedError
            If the chunks differ in shape; see ``read_chunk_sizes``.
        """
        return self._handle.metadata.chunks

    @property
    def shards(self) -> tuple[int, ...] | None:
        """The shape of a shard, None without shards.

        Raises
        ------
        NotImplementedError
            If the shards differ in shape; see ``write_chunk_sizes``.
        """
        return self._handle.metadata.shards

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Per dimension the lengths of all chunks, clipped to the shape; with shards, of all inner chunks."""
        return _sizes(self._handle.layout.grid)

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Per dimension the lengths of all stored objects (chunks or shards), clipped to the shape."""
        return _sizes(self._handle.layout.outer)

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """The number of chunks along each dimension."""
        return self._handle.layout.grid.cdata_shape

    @property
    def nchunks(self) -> int:
        """The number of chunks of the array, stored or not."""
        return prod(self.cdata_shape)

    @property
    def filters(self) -> tuple[Any, ...]:
        """The codecs that run on a chunk before it becomes bytes."""
        return split_codecs(self._handle.metadata)[0]

    @property
    def serializer(self) -> Any:
        """The codec that turns a chunk into bytes; None in format 2."""
        return split_codecs(self._handle.metadata)[1]

    @property
    def compressors(self) -> tuple[Any, ...]:
        """The codecs that run on the bytes of a chunk."""
        return split_codecs(self._handle.metadata)[2]

    @property
    def compressor(self) -> Any:
        """The compressor as a codec of numcodecs, None without one. Deprecated: use ``compressors``.

        In format 3 it is the codec of numcodecs that reads the same bytes. If there is no such codec, or if there are
        several compressors, it is None, with a warning.
        """
        warn(f"Use {type(self).__name__}.compressors instead.", ZarrDeprecationWarning)
        metadata = self._handle.metadata
        if not hasattr(metadata, "codecs"):
            return metadata.compressor
        return one_numcodec(self.compressors)

    @property
    def order(self) -> MemoryOrder:
        """The memory order of the arrays that reads return."""
        return getattr(self._handle.metadata, "order", self._handle.config.order)

    def with_config(self, config: ArrayConfigLike) -> Self:
        """Return the same array with another run-time configuration.

        Parameters
        ----------
        config : ArrayConfig or dict
            A dict may leave out fields; they stay as they are.

        Returns
        -------
        Array or AsyncArray

        Examples
        --------
        >>> import zarr
        >>> zarr.zeros((2, 2)).with_config({"order": "F"}).order
        'F'
        """
        whole = config_with(self.config, **config) if isinstance(config, Mapping) else config
        return self.from_handle(self._handle.with_config(parse_array_config(whole)))

    def batch(self, max_bytes: int = BATCH_BYTES) -> BatchScope:
        """Collect the writes of a ``with`` in memory; each chunk is encoded once and each shard written once.

        Reads inside see the writes. Pending writes are stored when the ``with`` ends, normally or by an error; an error
        ends it as it would end the same writes without a batch. If storing fails, that error is raised and writes that
        could not be stored are lost. A batch inside a batch is part of it. The array may grow inside; an append is
        stored at once. Functions that count stored chunks or bytes count those stored so far.

        Other readers see the writes when they are stored. A chunk of which a batch wrote a part is merged then with the
        stored chunk, element by element; until then, reads inside show the other elements as they were at their first
        read.

        Parameters
        ----------
        max_bytes : int
            Number of bytes in memory above which a batch stores its pending chunks and continues.

        Returns
        -------
        BatchScope
            A context manager.

        Raises
        ------
        ValueError
            If ``max_bytes`` is less than one.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.create_array({}, shape=(100,), chunks=(10,), shards=(100,), dtype="int32")
        >>> with array.batch():
        ...     for i in range(100):
        ...         array[i] = i
        >>> int(array[:].sum())
        4950
        """
        handle = self._handle
        make = partial(batch.Batch, handle)
        return batch.BatchScope(handle, handle.run, handle.async_run, make, max_bytes)

    @property
    def info(self) -> ArrayInfo:
        """A summary to print. It reads nothing from the store."""
        return self._info()

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: the summary, the attributes and the grid of chunks."""
        return info.array_page(self._handle, self.info, None)

    def _info(self, stored: Stored | None = None) -> ArrayInfo:
        metadata = self._handle.metadata
        filters, serializer, compressors = split_codecs(metadata)
        return info.ArrayInfo(
            _zarr_format=metadata.zarr_format,
            _data_type=metadata.dtype,
            _fill_value=nullable.shown_fill(metadata.dtype, metadata.fill_value),
            _shape=self.shape,
            _shard_shape=_shape_or_variable(self, "shards"),
            _chunk_shape=_shape_or_variable(self, "chunks"),
            _order=self.order,
            _read_only=self.read_only,
            _store_type=type(self.store).__name__,
            _filters=filters,
            _serializer=serializer,
            _compressors=compressors,
            _count_bytes=self.nbytes,
            _count_bytes_stored=None if stored is None else stored.nbytes,
            _count_chunks_initialized=None if stored is None else len(stored.chunks),
            _draw=info.drawing_of(self._handle, None if stored is None else stored.chunks),
        )

    def __repr__(self) -> str:
        return printable(f"<{type(self).__name__} {self.store_path} shape={self.shape} dtype={self.dtype}>")


    # ------------------------------------------------------------------------------------------ the grids
    # ``chunk`` is the unit of reads, ``shard`` the unit of stored values; without shards the two are the same.

    @property
    def _zdtype(self) -> ZDType[Any, Any]:
        return self._handle.metadata.dtype

    @property
    def _chunk_grid(self) -> ChunkGrid:
        return self._handle.state.chunk_grid

    _chunk_grid_shape = cdata_shape

    @property
    def _shard_grid_shape(self) -> tuple[int, ...]:
        return self._handle.layout.outer.cdata_shape

    @property
    def _nshards(self) -> int:
        return prod(self._shard_grid_shape)

    def _iter_chunk_coords(self, origin: Block = None, selection_shape: Block = None) -> Iterator[tuple[int, ...]]:
        return cells(block_of(self._chunk_grid_shape, origin, selection_shape))

    def _iter_shard_coords(self, origin: Block = None, selection_shape: Block = None) -> Iterator[tuple[int, ...]]:
        return cells(block_of(self._shard_grid_shape, origin, selection_shape))

    def _iter_shard_keys(self, origin: Block = None, selection_shape: Block = None) -> Iterator[str]:
        encode = self._handle.metadata.encode_chunk_key
        return (encode(coords) for coords in self._iter_shard_coords(origin, selection_shape))

    def _iter_chunk_regions(self, origin: Block = None, selection_shape: Block = None) -> Iterator[tuple[slice, ...]]:
        return regions(self._handle.layout.grid, origin, selection_shape)

    def _iter_shard_regions(self, origin: Block = None, selection_shape: Block = None) -> Iterator[tuple[slice, ...]]:
        return regions(self._handle.layout.outer, origin, selection_shape)


def _sizes(grid: Any) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(axis.valid_length(i) for i in range(axis.nchunks)) for axis in grid.axes)


def _shape_or_variable(face: ArrayFace, name: str) -> tuple[int, ...] | str | None:
    try:
        shape: tuple[int, ...] | None = getattr(face, name)
    except NotImplementedError:
        return "<variable>"
    return shape
