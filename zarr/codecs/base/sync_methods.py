"""The public methods of a codec, written once: its JSON form, and ``_decode_sync`` and the like on top of ``bind``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from zarr._lazy import LazyModule
from zarr._records import field_names
from zarr.buffer.cpu import Buffer as CpuBuffer
from zarr.codecs.base.bound import as_bytes
from zarr.codecs.base.parsing import INNER_CODECS, configuration_of

if TYPE_CHECKING:
    import asyncio
    from typing import Self

    from zarr.abc.codec import BoundCodec
    from zarr.buffer import Buffer, NDBuffer
    from zarr.chunks.spec import ArraySpec
    from zarr.codecs.base.bound import AnyArray
    from zarr.types import JSON
else:
    asyncio = LazyModule("asyncio")


def wrap_array(array: AnyArray, spec: ArraySpec) -> NDBuffer:
    """Return an array in the buffer class that a description asks for."""
    return spec.prototype.nd_buffer.from_numpy_array(array)


def wrap_bytes(data: AnyArray, spec: ArraySpec) -> Buffer:
    """Return bytes in the buffer class that a description asks for."""
    buffer = spec.prototype.buffer
    # Memory of the CPU is wrapped as it is; other classes move the bytes to where they keep theirs.
    return buffer(as_bytes(data)) if buffer is CpuBuffer else buffer.from_bytes(as_bytes(data).data)


class ArrayArrayMethods:
    """The JSON form, and methods on buffers, of array-to-array codecs that can be bound.

    Attributes
    ----------
    _name
        The name of the codec in metadata.
    _requires_configuration
        Whether the JSON form must have a configuration when it is read.
    _omits_empty
        Whether an empty configuration is left out when the JSON form is made.
    _in_thread
        Whether the coroutines run in another thread.
    """

    _name: ClassVar[str]
    _requires_configuration: ClassVar[bool] = True
    _omits_empty: ClassVar[bool] = False
    _in_thread: ClassVar[bool] = False
    is_fixed_size: bool

    @classmethod
    def from_dict(cls, data: dict[str, JSON]) -> Self:
        """Return the codec that a JSON object describes."""
        return cls(**configuration_of(data, cls._name, required=cls._requires_configuration))

    def to_dict(self) -> dict[str, JSON]:
        """Return the JSON object that describes this codec."""
        configuration = self._configuration()
        if self._omits_empty and not configuration:
            return {"name": self._name}
        return {"name": self._name, "configuration": configuration}

    def _configuration(self) -> dict[str, JSON]:
        """Return the parameters that are stored: all fields but those that are None."""
        given = {name: getattr(self, name) for name in field_names(self) if not name.startswith("_")}
        return {
            name: tuple(codec.to_dict() for codec in value) if name in INNER_CODECS else value
            for name, value in given.items()
            if value is not None
        }

    def bind(self, spec: ArraySpec) -> BoundCodec:
        """Make the codec ready for chunks of one description."""
        raise TypeError(f"{type(self).__name__} does not define bind")

    def compute_encoded_size(self, input_byte_length: int, _chunk_spec: ArraySpec) -> int:
        """Return the same size for a codec of fixed size.

        Raises
        ------
        NotImplementedError
            When the size depends on the data.
        """
        if not self.is_fixed_size:
            raise NotImplementedError(f"{type(self).__name__}: the encoded size depends on the data")
        return input_byte_length

    def _unwrap(self, chunk: Any) -> AnyArray:
        array: AnyArray = chunk.as_numpy_array()
        return array

    def _wrap_decoded(self, data: AnyArray, spec: ArraySpec) -> Any:
        return wrap_array(data, spec)

    def _wrap_encoded(self, data: AnyArray, spec: ArraySpec) -> Any:
        return wrap_array(data, spec)

    def _decode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        return self._wrap_decoded(self.bind(chunk_spec).decode(self._unwrap(chunk_data)), chunk_spec)

    def _encode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        return self._wrap_encoded(self.bind(chunk_spec).encode(self._unwrap(chunk_data)), chunk_spec)

    async def _decode_single(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        if self._in_thread:
            return await asyncio.to_thread(self._decode_sync, chunk_data, chunk_spec)
        return self._decode_sync(chunk_data, chunk_spec)

    async def _encode_single(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        if self._in_thread:
            return await asyncio.to_thread(self._encode_sync, chunk_data, chunk_spec)
        return self._encode_sync(chunk_data, chunk_spec)


class ArrayBytesMethods(ArrayArrayMethods):
    """Methods on buffers for array-to-bytes codecs that can be bound."""

    def _wrap_encoded(self, data: AnyArray, spec: ArraySpec) -> Any:
        return wrap_bytes(data, spec)


class BytesBytesMethods(ArrayBytesMethods):
    """Methods on buffers for bytes-to-bytes codecs that can be bound."""

    _in_thread = True

    def compute_encoded_size(self, _input_byte_length: int, _chunk_spec: ArraySpec) -> int:
        """Return the same size for a codec of fixed size; raise NotImplementedError for others."""
        return super().compute_encoded_size(_input_byte_length, _chunk_spec)

    def _wrap_decoded(self, data: AnyArray, spec: ArraySpec) -> Any:
        return wrap_bytes(data, spec)
