"""The contract of buffers, under the path where extensions look for it."""

from zarr.buffer.core import ArrayLike, Buffer, BufferPrototype, NDArrayLike, NDBuffer

__all__ = ["ArrayLike", "Buffer", "BufferPrototype", "NDArrayLike", "NDBuffer"]
