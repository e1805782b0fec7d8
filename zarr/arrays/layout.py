"""The layout of an open array: all that is derived from its metadata, path and configuration, computed once.

A read or a write looks nothing up: grids, keys, codecs and the fill value are in the layout, ready to use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from itertools import count
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

import zarr_core
from zarr._lazy import LazyModule, instance_of
from zarr.abc.codec import Codec, CodecPipeline
from zarr.buffer.core import BufferPrototype, default_buffer_prototype
from zarr.chunks.keys import ChunkKeyEncoding, DefaultChunkKeyEncoding
from zarr.chunks.spec import ArrayConfig, ArraySpec
from zarr.codecs.base.chain import CodecChain
from zarr.codecs.base.shard_level import ShardLevel
from zarr.defaults import BadConfigError, settings
from zarr.dtype.base import ZDType, empty_array
from zarr.errors import UnknownCodecError, label_of
from zarr.metadata.documents import document_place, locate
from zarr.registry import get_pipeline_class
from zarr.registry.tables import OWN_PIPELINES
from zarr.steps.requests import LockScope
from zarr.types import MemoryOrder

if TYPE_CHECKING:
    from zarr.codecs import _v2
    from zarr.dtype.types.nullable import Nullable
    from zarr.metadata.v2 import ArrayV2Metadata
    from zarr.metadata.v3 import ArrayV3Metadata
else:
    _v2 = LazyModule("zarr.codecs._v2")

_numbers = count()

CPU_BUFFER = "zarr.buffer.cpu.Buffer"
CPU_NDBUFFER = "zarr.buffer.cpu.NDBuffer"


def foreign_buffers(bound: type[CodecPipeline] | None) -> bool:
    """Return True if the configuration names other classes for bytes and elements, or another pipeline.

    Also if an array is bound to another pipeline. This runs at every read and write, since a user may change the
    configuration for a few lines only: so it is three look-ups in a dict.
    """
    if bound is not None:
        return True
    values = settings.values
    if values["ndbuffer"] != CPU_NDBUFFER or values["buffer"] != CPU_BUFFER:
        return True
    return values["codec_pipeline"]["path"] not in OWN_PIPELINES


def foreign_pipeline_class() -> type[CodecPipeline] | None:
    """Return the pipeline of another package that the configuration names; None if there is no such class."""
    try:
        return get_pipeline_class()
    except BadConfigError:
        return None  # an error of the read or write, if it is still configured then


def codecs_of(metadata: ArrayV2Metadata | ArrayV3Metadata) -> Iterable[Codec]:
    """Return the codecs of an array in the order of encoding, from a document of either format."""
    codecs: Iterable[Codec] | None = getattr(metadata, "codecs", None)
    if codecs is not None:
        return codecs
    return _v2.v2_chain_codecs(metadata.filters, metadata.compressor, metadata.order)  # type: ignore[union-attr]


def fill_array(dtype: np.dtype[Any], zdtype: ZDType[Any, Any], fill_value: Any) -> np.ndarray[Any, Any]:
    """Return the fill value as a 0-d array; an undefined one (``null`` in format 2) becomes the type's default."""
    if fill_value is None:
        fill_value = zdtype.default_scalar()
    fill = empty_array((), dtype)
    if dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic":  # numpy does not assign times without a unit
        fill.view(dtype.byteorder + "i8")[()] = np.asarray(fill_value).view(np.int64)
    else:
        fill[()] = fill_value
    return fill


def first_chunk_shape(grid: zarr_core.Grid) -> tuple[int, ...]:
    """Return the codec shape of the first chunk, also for an axis without chunks; 0 along an empty irregular axis."""
    return tuple(
        axis.chunk if isinstance(axis, zarr_core.RegularAxis) else (axis.chunk_length(0) if axis.nchunks else 0)
        for axis in grid.axes
    )


def inner_shape_of(metadata: ArrayV2Metadata | ArrayV3Metadata) -> tuple[int, ...] | None:
    """Return the shape of the inner chunks, from the document alone; None without shards."""
    sharding = getattr(metadata, "sharding_codec", None)
    return None if sharding is None else tuple(sharding.chunk_shape)


def shard_starts(grid: zarr_core.Grid, inner: Sequence[int]) -> list[Any]:
    """Return per axis the number of inner chunks in a shard, or, if shards vary, the first inner chunk of each shard.

    The latter has one entry more, for the end of the last shard, which may be beyond the array.
    """
    starts: list[Any] = []
    for axis, length in zip(grid.axes, inner, strict=True):
        if isinstance(axis, zarr_core.RegularAxis):
            starts.append(axis.chunk // length)
            continue
        edges = [0, *(axis.offset(i) + axis.chunk_length(i) for i in range(axis.nchunks))]
        starts.append(np.array(edges, dtype=np.int64) // length)
    return starts


Edges: TypeAlias = tuple[tuple[int, int], ...]


def is_edge(edges: Edges, coords: tuple[int, ...]) -> bool:
    """Return True if a chunk reaches beyond the array: another handle may have appended elements there."""
    for d, last in edges:  # noqa: SIM110 - `any` takes three times as long
        if coords[d] == last:
            return True
    return False


class ArrayLayout:
    """All that reads and writes of one array need, computed when it is opened.

    If a codec of the array is not installed, the layout still has its grids and keys; to read the chain of codecs, or
    anything derived from it, raises `UnknownCodecError`.

    Parameters
    ----------
    metadata : ArrayV2Metadata or ArrayV3Metadata
    path : str
        The path of the array in its store, ``""`` for the root.
    config : ArrayConfig

    Attributes
    ----------
    grid : zarr_core.Grid
        The grid on which selections are planned: chunks, or the inner chunks of shards.
    outer : zarr_core.Grid
        The grid of stored objects; the same as ``grid`` without shards.
    edges, outer_edges : tuple of (int, int)
        The axes along which the last chunk of ``grid``, or of ``outer``, reaches beyond the array, with its index.
    chain : CodecChain
        The codecs of one chunk of ``grid``.
    shard : ShardLevel or None
        The shard level between the two grids.
    fill : numpy.ndarray
        The fill value, 0-d.
    scope : LockScope or None
        The processes that the locks of chunks keep out, besides the threads of this process.
    """

    __slots__ = (
        "_encoding", "_missing_codec", "cache_bytes", "chain", "chunk_nbytes", "config", "dtype", "edges", "fill",
        "grid", "inner", "keys", "metadata", "ndim", "nullable", "order", "outer", "outer_chain", "outer_edges",
        "path", "prefix", "program", "reads_missing", "regular", "retries", "scope", "shape", "shard", "skip_filled",
        "stamp", "starts", "store", "zdtype",
    )  # fmt: skip

    def __init__(self, metadata: ArrayV2Metadata | ArrayV3Metadata, path: str, config: ArrayConfig) -> None:
        self._missing_codec: str | None = None
        self.metadata = metadata
        self.path = path
        self.store: Any = None
        """The store that errors name."""
        self.config = config
        self.shape: tuple[int, ...] = tuple(metadata.shape)
        self.ndim = len(self.shape)
        self.zdtype: ZDType[Any, Any] = metadata.dtype
        self.dtype: np.dtype[Any] = self.zdtype.to_native_dtype()
        missing = instance_of(self.zdtype, "zarr.dtype.types.nullable", "Nullable")
        self.nullable = cast("Nullable", self.zdtype) if missing else None
        """The data type if elements may be missing: users get masked arrays. Otherwise None."""
        self.fill = fill_array(self.dtype, self.zdtype, metadata.fill_value)
        self.skip_filled = not config.write_empty_chunks
        self.retries = config.missing_chunk_retries
        self.reads_missing = config.read_missing_chunks and not self.retries
        self.order: MemoryOrder = getattr(metadata, "order", config.order)
        self.outer: zarr_core.Grid = metadata.chunk_grid.to_core(self.shape)
        self._encoding: ChunkKeyEncoding = metadata.chunk_key_encoding
        self.keys: zarr_core.KeyFormat | None = self._encoding.to_core(path)
        self.prefix = f"{path}/" if path else ""
        self.scope = LockScope.of(config.locking, path)
        self.cache_bytes = config.chunk_cache_bytes
        self.stamp = (f"immutable {next(_numbers)}", True) if config.immutable else None
        """The stamp of all its values, if they do not change; None: the store is asked for that of each."""
        try:
            self._bind_codecs()
        except UnknownCodecError as error:
            self._missing_codec = str(locate(error, self._codecs_place()))
            self.__class__ = _LayoutWithoutCodecs
            self._bind_grid(inner_shape_of(metadata))
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise locate(error, self._codecs_place()) from error

    def _bind_codecs(self) -> None:
        spec = self.spec_for(first_chunk_shape(self.outer), default_buffer_prototype())
        outer_chain = CodecChain.build(codecs_of(self.metadata), spec)
        self.outer_chain = outer_chain
        self.shard: ShardLevel | None = outer_chain.shard
        self.chain = outer_chain if self.shard is None else self.shard.chain
        self._bind_grid(None if self.shard is None else self.shard.chunk_shape)
        self.program: Any = self._bulk_program()
        """The native form of the codecs of one chunk; None if there is none."""
        self.chunk_nbytes = prod(self.chain.spec.shape) * self.dtype.itemsize

    def _codecs_place(self) -> str:
        """Return the place of the codecs in their document."""
        if self.metadata.zarr_format == 2:
            return document_place(".zarray", self.path, "filters' or 'compressor")
        return document_place("zarr.json", self.path, "codecs")

    def require_codecs(self) -> None:
        """Raise an error before chunks are read or written, if a codec is not installed.

        Raises
        ------
        UnknownCodecError
        """
        if self._missing_codec is not None:
            raise UnknownCodecError(self._missing_codec)

    def _bind_grid(self, inner: tuple[int, ...] | None) -> None:
        """Make the grid of the chunks that selections are planned on, within that of the stored objects."""
        self.inner = inner
        """The shape of the inner chunks; None without shards."""
        self.grid: zarr_core.Grid = self.outer
        self.starts: list[Any] = []
        if inner is not None:
            self.grid = zarr_core.Grid([zarr_core.RegularAxis(n, c) for n, c in zip(self.shape, inner, strict=True)])
            self.starts = shard_starts(self.outer, inner)
        self.regular: bool = self.grid.regular
        self.edges: Edges = self.grid.overhangs
        self.outer_edges: Edges = self.edges if inner is None else self.outer.overhangs

    def __copy__(self) -> ArrayLayout:
        # Each change of an array copies: plain assignments take a tenth of the time of a loop over the names.
        new = object.__new__(type(self))
        new.metadata, new.path, new.prefix, new.store, new.config = (
            self.metadata, self.path, self.prefix, self.store, self.config,
        )  # fmt: skip
        new.shape, new.ndim, new.zdtype, new.dtype, new.nullable, new.fill = (
            self.shape, self.ndim, self.zdtype, self.dtype, self.nullable, self.fill,
        )  # fmt: skip
        new.skip_filled, new.retries, new.reads_missing, new.order, new.scope, new.cache_bytes, new.stamp = (
            self.skip_filled, self.retries, self.reads_missing, self.order, self.scope, self.cache_bytes, self.stamp,
        )  # fmt: skip
        new.outer, new.outer_edges, new.grid, new.edges, new.inner, new.starts, new.regular = (
            self.outer, self.outer_edges, self.grid, self.edges, self.inner, self.starts, self.regular,
        )  # fmt: skip
        new._encoding, new.keys, new._missing_codec = self._encoding, self.keys, self._missing_codec
        if self._missing_codec is None:
            new.outer_chain, new.chain, new.shard, new.program, new.chunk_nbytes = (
                self.outer_chain, self.chain, self.shard, self.program, self.chunk_nbytes,
            )  # fmt: skip
        return new

    def reshaped(self, metadata: ArrayV2Metadata | ArrayV3Metadata) -> ArrayLayout:
        """Return the layout after a change of shape or attributes; the codecs stay bound."""
        layout = self.__copy__()
        layout.metadata = metadata
        if metadata.shape == self.shape and metadata.chunk_grid is self.metadata.chunk_grid:
            return layout
        layout.shape = tuple(metadata.shape)
        layout.outer = metadata.chunk_grid.to_core(layout.shape)
        layout._bind_grid(self.inner)
        return layout

    def _bulk_program(self) -> zarr_core.Program | None:
        """Return the native form of the codecs, if keys, items and shard index have one, too."""
        if self.keys is None or self.dtype.hasobject or self.dtype.kind == "T":
            return None
        if self.shard is not None and self.shard.index_format is None:
            return None
        return self.chain.program

    def spec_for(self, shape: tuple[int, ...], prototype: BufferPrototype) -> ArraySpec:
        """Return the public description of a chunk, for foreign codecs and pipelines."""
        return ArraySpec(
            shape=shape, dtype=self.zdtype, fill_value=self.fill[()], config=self.config, prototype=prototype
        )

    def key(self, coords: tuple[int, ...]) -> str:
        """Return the full store key of a chunk (of a shard, if there are shards)."""
        if self.keys is not None:
            return self.keys.key(coords)
        return self.prefix + self._encoding.encode_chunk_key(coords)

    @property
    def key_folder(self) -> str:
        """The path below which all chunk keys lie, for listings: as low as the encoding of keys is known to allow."""
        encoding = self._encoding
        lower = type(encoding) is DefaultChunkKeyEncoding and encoding.separator == "/" and self.ndim > 0
        return f"{self.prefix}c" if lower else self.path

    def coords_of(self, key: str) -> tuple[int, ...] | None:
        """Return the chunk coordinates of a store key; None if it is no chunk key of this grid."""
        counts: tuple[int, ...] = self.outer.cdata_shape
        if self.keys is not None:
            return self.keys.coords(key, counts)
        name = key[len(self.prefix) :]
        if self.ndim == 0:  # in format 2 its one chunk has the name of the first chunk of a line
            return () if key == self.key(()) else None
        try:
            coords = tuple(int(part) for part in self._encoding.decode_chunk_key(name))
        except (ValueError, IndexError, TypeError):
            return None
        if len(coords) != self.ndim or any(not 0 <= c < n for c, n in zip(coords, counts, strict=True)):
            return None
        return coords if self.key(coords) == key else None

    def chain_for(self, shape: tuple[int, ...]) -> CodecChain:
        """Return the codecs bound to one chunk shape."""
        return self.chain if self.regular else self.chain.for_shape(shape)

    @property
    def stored(self) -> ArrayLayout:
        """The same array without its shard level: every stored value is one chunk, and sharding is one codec of it."""
        if self.shard is None:
            return self
        view = copy(self)
        view.shard, view.inner, view.starts = None, None, []
        view.grid, view.chain, view.regular = self.outer, self.outer_chain, self.outer.regular
        view.edges = self.outer_edges
        return view

    def varied(self, **behaviour: Any) -> ArrayLayout:
        """Return the same layout with other values of some attributes, as ``reads_missing`` or ``skip_filled``."""
        layout = copy(self)
        for name, value in behaviour.items():
            setattr(layout, name, value)
        return layout

    @property
    def alone(self) -> ArrayLayout:
        """The same layout for writes beside which nobody else appends: chunks at the edge are whole, too."""
        return self.varied(edges=(), outer_edges=()) if self.outer_edges else self

    def describe(self) -> str:
        """Describe the array for an error message."""
        return f"array /{self.path}" if self.store is None else f"array /{self.path} of {label_of(self.store)}"


class _LayoutWithoutCodecs(ArrayLayout):
    """The layout of an array with a codec that is not installed: it lacks what is derived from its codecs."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise the error that names the codec."""
            if name.startswith("__"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise UnknownCodecError(self._missing_codec)
