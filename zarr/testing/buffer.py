"""Buffers whose class tests can recognize."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarr.abc.buffer import Buffer, BufferPrototype
from zarr.abc.store import ByteRequest
from zarr.buffer import cpu
from zarr.storage.memory import MemoryStore

__all__ = ["NDBufferUsingTestNDArrayLike", "StoreExpectingTestBuffer", "TestBuffer"]


class TestNDArrayLike(np.ndarray[Any, Any]):
    """An array class that tests can recognize."""

    __test__ = False


class TestBuffer(cpu.Buffer):
    """A buffer class that tests can recognize."""

    __test__ = False


class NDBufferUsingTestNDArrayLike(cpu.NDBuffer):
    """An array buffer that creates :class:`TestNDArrayLike` arrays."""

    @classmethod
    def create(
        cls, *, shape: Any, dtype: Any, order: Any = "C", fill_value: Any | None = None
    ) -> NDBufferUsingTestNDArrayLike:
        """Create a buffer over a new :class:`TestNDArrayLike`."""
        array = TestNDArrayLike(shape=tuple(shape), dtype=dtype, order=order)
        if fill_value is not None:
            array.fill(fill_value)
        return cls(array)  # type: ignore[arg-type]

    @classmethod
    def empty(cls, shape: Any, dtype: Any, order: Any = "C") -> NDBufferUsingTestNDArrayLike:
        """Create a buffer over a new :class:`TestNDArrayLike` with arbitrary content."""
        return cls.create(shape=shape, dtype=dtype, order=order)


class StoreExpectingTestBuffer(MemoryStore):
    """A store that accepts and returns only :class:`TestBuffer`, except for metadata."""

    async def set(self, key: str, value: Buffer, byte_range: tuple[int, int] | None = None) -> None:
        """Store a value, which must be a :class:`TestBuffer` unless it is metadata."""
        if "json" not in key:
            assert isinstance(value, TestBuffer), f"{key} was set with a {type(value).__name__}"
        await super().set(key, value)

    async def get(  # type: ignore[override]
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read a value, which must be requested as a :class:`TestBuffer` unless it is metadata."""
        if "json" not in key:
            assert prototype.buffer is TestBuffer, f"{key} was asked for as {prototype.buffer.__name__}"
        return await super().get(key, prototype, byte_range)
