"""The contract of buffers, under the import path of extensions."""

from zarr.buffer.core import ArrayLike, Buffer, BufferPrototype, NDArrayLike, NDBuffer

__all__ = ["ArrayLike", "Buffer", "BufferPrototype", "NDArrayLike", "NDBuffer"]
