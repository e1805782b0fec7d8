"""The contract of codecs.

A codec is *described* (its name and configuration: these classes, frozen and comparable), *bound* to the chunks of an
array (``bind``), and then used many times. A codec of another library need not have ``bind``: it may define the plain
functions ``_decode_sync`` and ``_encode_sync``, or the coroutines ``_decode_single`` and ``_encode_single``, or those
for a batch of chunks, ``decode`` and ``encode``, which come first: by default they call the others.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeAlias, TypeGuard, TypeVar, runtime_checkable

from zarr._lazy import lazy_names
from zarr.abc.metadata import Metadata
from zarr.abc.stores.async_store import Store, gather_windowed
from zarr.buffer.core import Buffer, NDBuffer
from zarr.types import SelectorTuple

if TYPE_CHECKING:
    import numpy.typing as npt

    from zarr.abc.stores.protocols import ByteGetter, ByteSetter
    from zarr.chunks.base import ChunkGridMetadata
    from zarr.chunks.spec import ArraySpec
    from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType
    from zarr.typed_dicts import CodecJSON_V2 as CodecJSON_V2
    from zarr.typed_dicts import CodecJSON_V3 as CodecJSON_V3
    from zarr.typed_dicts import GetResult as GetResult
    ArrayMetadata: TypeAlias = Any

__all__ = [
    "ArrayArrayCodec",
    "ArrayBytesCodec",
    "ArrayBytesCodecPartialDecodeMixin",
    "ArrayBytesCodecPartialEncodeMixin",
    "BaseCodec",
    "BoundCodec",
    "BytesBytesCodec",
    "CodecInput",
    "CodecOutput",
    "CodecPipeline",
    "GetResult",
    "SupportsSyncCodec",
]

CodecInput = TypeVar("CodecInput", bound="NDBuffer | Buffer")
CodecOutput = TypeVar("CodecOutput", bound="NDBuffer | Buffer")
CI = TypeVar("CI", bound="NDBuffer | Buffer")
CO = TypeVar("CO", bound="NDBuffer | Buffer")

# Names that extensions import from here although other rooms define them.
__getattr__, __dir__ = lazy_names(
    __name__,
    {},
    {
        "zarr.buffer.core": "Buffer NDBuffer",
        "zarr.settings": "config",
        "zarr.core.json_parse": "_check_codecjson_v2",
        "zarr.core.common": "concurrent_map",
        "zarr.typed_dicts": "CodecJSON_V2 CodecJSON_V3 GetResult NamedConfig",
        "typing_extensions": "ReadOnly TypedDict",
    },
)


CodecJSON: TypeAlias = str | Mapping[str, object]


@runtime_checkable
class SupportsSyncCodec(Protocol[CI, CO]):
    """A codec with plain functions for one chunk, which need no event loop."""

    def _decode_sync(self, chunk_data: CO, chunk_spec: ArraySpec) -> CI: ...

    def _encode_sync(self, chunk_data: CI, chunk_spec: ArraySpec) -> CO | None: ...


def _codec_supports_sync(codec: object) -> TypeGuard[SupportsSyncCodec[Any, Any]]:
    """Return True if a codec has the plain functions for both directions."""
    return isinstance(codec, SupportsSyncCodec)


class BoundCodec(Protocol):
    """A codec ready for the chunks of one array: plain functions of NumPy arrays.

    An array-to-array codec maps arrays to arrays. An array-to-bytes codec encodes an array to a one-dimensional array
    of unsigned bytes, a bytes-to-bytes codec maps such byte arrays to such byte arrays. Decoding goes the other way.

    Attributes
    ----------
    native
        The name and parameters of the same stage in the compiled core, or None.
    out_spec
        The description of the result of ``encode``.
    """

    native: tuple[str, dict[str, Any]] | None
    out_spec: ArraySpec

    def decode(self, data: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Decode one chunk."""
        ...

    def encode(self, data: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Encode one chunk."""
        ...

    def encoded_size(self, nbytes: int) -> int | None:
        """Return the encoded size of ``nbytes`` bytes, or None if it depends on the bytes.

        Parameters
        ----------
        nbytes : int
            The number of bytes before encoding.
        """
        ...


class BaseCodec(Metadata, Generic[CI, CO]):
    """Base of the three kinds of codecs; subclass one of those.

    Attributes
    ----------
    is_fixed_size
        True if the encoded size depends on the decoded size only.
    """

    is_fixed_size: bool = False

    def bind(self, spec: ArraySpec) -> BoundCodec | None:
        """Return the codec bound to chunks of one description.

        Parameters
        ----------
        spec : ArraySpec
            The description of a chunk.

        Returns
        -------
        Plain functions of numpy arrays; None if the codec offers only ``_decode_sync`` and ``_encode_sync``, or only
        the coroutines.

        Examples
        --------
        >>> from zarr.abc.codec import ArrayArrayCodec
        >>> ArrayArrayCodec().bind(None) is None
        True
        """
        return None

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Return the size of a chunk after encoding.

        Parameters
        ----------
        input_byte_length
            Its size before encoding.
        chunk_spec
            The description of the chunk before encoding.

        Raises
        ------
        NotImplementedError
            If it depends on the data.
        """
        raise NotImplementedError(f"The encoded size of {type(self).__name__} depends on the data.")

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the description of chunks after this codec.

        Parameters
        ----------
        chunk_spec : ArraySpec
            The description of a chunk: shape, data type, fill value.

        Returns
        -------
        ArraySpec
            The description after the codec.
        """
        return chunk_spec

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return a codec with the parameters that the array determines."""
        return self

    def validate(
        self, *, shape: tuple[int, ...], dtype: ZDType[TBaseDType, TBaseScalar], chunk_grid: ChunkGridMetadata
    ) -> None:
        """Raise an error if this codec cannot be used for the array."""

    async def _decode_single(self, chunk_data: CO, chunk_spec: ArraySpec) -> CI:
        if _codec_supports_sync(self):
            decoded: CI = self._decode_sync(chunk_data, chunk_spec)
            return decoded
        raise NotImplementedError(f"{type(self).__name__} defines neither _decode_sync nor _decode_single.")

    async def decode(self, chunks_and_specs: Iterable[tuple[CO | None, ArraySpec]]) -> Iterable[CI | None]:
        """Decode a batch of chunks, each with its description; a chunk that is None stays None."""
        decoded: list[CI | None] = await _batched(chunks_and_specs, self._decode_single)
        return decoded

    async def _encode_single(self, chunk_data: CI, chunk_spec: ArraySpec) -> CO | None:
        if _codec_supports_sync(self):
            encoded: CO | None = self._encode_sync(chunk_data, chunk_spec)
            return encoded
        raise NotImplementedError(f"{type(self).__name__} defines neither _encode_sync nor _encode_single.")

    async def encode(self, chunks_and_specs: Iterable[tuple[CI | None, ArraySpec]]) -> Iterable[CO | None]:
        """Encode a batch of chunks, each with its description; a chunk that is None stays None."""
        encoded: list[CO | None] = await _batched(chunks_and_specs, self._encode_single)
        return encoded


class ArrayArrayCodec(BaseCodec["NDBuffer", "NDBuffer"]):
    """Base of the codecs that turn an array into an array."""


class ArrayBytesCodec(BaseCodec["NDBuffer", "Buffer"]):
    """Base of the codecs that turn an array into bytes."""


class BytesBytesCodec(BaseCodec["Buffer", "Buffer"]):
    """Base of the codecs that turn bytes into bytes."""


Codec: TypeAlias = ArrayArrayCodec | ArrayBytesCodec | BytesBytesCodec


class ArrayBytesCodecPartialDecodeMixin:
    """For array-to-bytes codecs that can decode a part of a chunk without fetching all of its bytes."""

    async def _decode_partial_single(
        self, byte_getter: ByteGetter, selection: SelectorTuple, chunk_spec: ArraySpec
    ) -> NDBuffer | None:
        raise NotImplementedError(f"{type(self).__name__} does not define _decode_partial_single.")

    async def decode_partial(
        self, batch_info: Iterable[tuple[ByteGetter, SelectorTuple, ArraySpec]]
    ) -> Iterable[NDBuffer | None]:
        """Decode parts of a batch of chunks: for each its bytes, the wanted part and its description.

        Parameters
        ----------
        batch_info : Iterable[tuple[ByteGetter, SelectorTuple, ArraySpec]]
            For each chunk: where its bytes are, the wanted part, and its description.

        Returns
        -------
        iterable of NDBuffer or None
            None for a shard without a value.
        """
        return await gather_windowed(self._decode_partial_single, list(batch_info))


class ArrayBytesCodecPartialEncodeMixin:
    """For array-to-bytes codecs that can replace a part of a stored chunk."""

    async def _encode_partial_single(
        self, byte_setter: ByteSetter, chunk_array: NDBuffer, selection: SelectorTuple, chunk_spec: ArraySpec
    ) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not define _encode_partial_single.")

    async def encode_partial(self, batch_info: Iterable[tuple[ByteSetter, NDBuffer, SelectorTuple, ArraySpec]]) -> None:
        """Write parts of a batch of chunks: for each its bytes, the elements, the part and its description.

        Parameters
        ----------
        batch_info : Iterable[tuple[ByteSetter, NDBuffer, SelectorTuple, ArraySpec]]
            For each chunk: the place of its bytes, the elements, their place in the chunk, and its description.
        """
        await gather_windowed(self._encode_partial_single, list(batch_info))


class CodecPipeline:
    """The codecs of an array, in order, and how they read and write chunks.

    The library itself does not use this class; a registered class of this contract that the setting
    ``codec_pipeline.path`` names replaces its reads and writes.
    """

    @abstractmethod
    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return a pipeline whose codecs are evolved for the array."""

    @classmethod
    @abstractmethod
    def from_codecs(cls, codecs: Iterable[Codec]) -> Self:
        """Return a pipeline of codecs, in the order of encoding.

        Parameters
        ----------
        codecs : Iterable[Codec]
            The codecs in the order in which they encode.
        """

    @classmethod
    def from_array_metadata_and_store(cls, array_metadata: ArrayMetadata, store: Store) -> Self:
        """Return a pipeline for an array in a store, if the pipeline does its own reads and writes.

        Parameters
        ----------
        array_metadata : ArrayMetadata
            The metadata of an array.
        store : Store
            The store of the array.

        Raises
        ------
        NotImplementedError
            If the class has no such way; then ``from_codecs`` is used.
        """
        raise NotImplementedError(f"'{cls.__name__}' does not implement CodecPipeline.from_array_metadata_and_store.")

    @property
    @abstractmethod
    def supports_partial_decode(self) -> bool:
        """True if a part of a chunk can be read without all of its bytes."""

    @property
    @abstractmethod
    def supports_partial_encode(self) -> bool:
        """True if a part of a stored chunk can be replaced."""

    @abstractmethod
    def validate(
        self, *, shape: tuple[int, ...], dtype: ZDType[TBaseDType, TBaseScalar], chunk_grid: ChunkGridMetadata
    ) -> None:
        """Raise an error if the codecs cannot be used for the array."""

    @abstractmethod
    def compute_encoded_size(self, byte_length: int, array_spec: ArraySpec) -> int:
        """Return the size of a chunk after all codecs."""

    @abstractmethod
    async def decode(
        self, chunk_bytes_and_specs: Iterable[tuple[Buffer | None, ArraySpec]]
    ) -> Iterable[NDBuffer | None]:
        """Decode a batch of chunks, each with its description."""

    @abstractmethod
    async def encode(
        self, chunk_arrays_and_specs: Iterable[tuple[NDBuffer | None, ArraySpec]]
    ) -> Iterable[Buffer | None]:
        """Encode a batch of chunks, each with its description."""

    @abstractmethod
    async def read(
        self,
        batch_info: Iterable[tuple[ByteGetter, ArraySpec, SelectorTuple, SelectorTuple, bool]],
        out: NDBuffer,
        drop_axes: tuple[int, ...] = (),
    ) -> tuple[GetResult, ...]:
        """Read chunks into an array.

        Parameters
        ----------
        batch_info
            For each chunk: where its bytes come from, its description, the wanted part of it, the place of that part in
            ``out``, and True if the part is the whole chunk.
        out
            The array to fill.
        drop_axes
            Axes of the part that ``out`` does not have.

        Returns
        -------
        For each chunk, True if the store has it.
        """

    @abstractmethod
    async def write(
        self,
        batch_info: Iterable[tuple[ByteSetter, ArraySpec, SelectorTuple, SelectorTuple, bool]],
        value: NDBuffer,
        drop_axes: tuple[int, ...] = (),
    ) -> None:
        """Write parts of an array to chunks; the parameters mirror those of ``read``.

        Parameters
        ----------
        batch_info : Iterable[tuple[ByteSetter, ArraySpec, SelectorTuple, SelectorTuple, bool]]
            For each chunk: where it is stored, its description, the selection in it, the selection in ``value``, and
            True if the selection is the whole chunk.
        value : NDBuffer
            The elements to write.
        drop_axes : tuple[int, ...]
            Axes of the selection that ``value`` lacks.
        """


async def _noop_for_none(
    func: Callable[[Any, ArraySpec], Awaitable[Any]], chunk: Any | None, chunk_spec: ArraySpec
) -> Any | None:
    return None if chunk is None else await func(chunk, chunk_spec)


async def _batched(items: Iterable[tuple[Any, ArraySpec]], func: Callable[[Any, ArraySpec], Awaitable[Any]]) -> Any:
    return await gather_windowed(_noop_for_none, [(func, chunk, spec) for chunk, spec in items])
