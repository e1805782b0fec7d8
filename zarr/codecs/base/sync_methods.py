"""The public methods of a codec (``_decode_sync``, ``_decode_single``, ...), written once on top of ``bind``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from zarr._lazy import LazyModule
from zarr.buffer.cpu import Buffer as CpuBuffer
from zarr.codecs.base.bound import as_bytes

if TYPE_CHECKING:
    import asyncio

    from zarr.abc.codec import BoundCodec
    from zarr.buffer import Buffer, NDBuffer
    from zarr.chunks.spec import ArraySpec
    from zarr.codecs.base.bound import AnyArray
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
    """Methods on buffers for array-to-array codecs that can be bound."""

    _in_thread: ClassVar[bool] = False
    is_fixed_size: bool

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

    def _wrap_decoded(self, data: AnyArray, spec: ArraySpec) -> Any:
        return wrap_bytes(data, spec)
