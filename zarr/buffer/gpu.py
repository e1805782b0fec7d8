"""Buffers in the memory of a CUDA device, held in cupy arrays. cupy is imported when the first one is made."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Literal, Self, cast

import numpy as np
import numpy.typing as npt

from zarr._lazy import load_extra
from zarr.buffer import core
from zarr.errors import ZarrUserWarning
from zarr.notices import warn
from zarr.types import BytesLike


@cache
def _cupy() -> Any:
    return load_extra("cupy", "gpu", "zarr.buffer.gpu")


class Buffer(core.Buffer):
    """Bytes in the memory of a CUDA device.

    Parameters
    ----------
    array_like
        A one-dimensional array of unsigned bytes. One with ``__cuda_array_interface__`` is not copied; another one is
        copied to the device, with a warning.
    """

    def __init__(self, array_like: core.ArrayLike) -> None:
        super().__init__(array_like)
        if not hasattr(array_like, "__cuda_array_interface__"):
            warn(
                "Creating a zarr.buffer.gpu.Buffer with an array that does not support the __cuda_array_interface__ "
                "for zero-copy transfers, falling back to slow copy based path",
                ZarrUserWarning,
            )
        self._data = _cupy().asarray(array_like)

    @classmethod
    def create_zero_length(cls) -> Self:
        """Return a buffer without bytes."""
        return cls(_cupy().empty(0, dtype="B"))

    @classmethod
    def from_buffer(cls, buffer: core.Buffer) -> Self:
        """Return the bytes of another buffer, copied to the device, with a warning, if they lie elsewhere."""
        return cls.from_array_like(buffer.as_array_like())

    @classmethod
    def from_bytes(cls, bytes_like: BytesLike) -> Self:
        """Return a copy of a bytes-like object on the device."""
        return cls.from_array_like(_cupy().asarray(np.frombuffer(bytes_like, dtype="B")))

    def as_numpy_array(self) -> npt.NDArray[Any]:
        """Return a copy of the bytes in CPU memory."""
        return cast("npt.NDArray[Any]", _cupy().asnumpy(self._data))

    def combine(self, others: Iterable[core.Buffer]) -> Self:
        """Return one buffer with these bytes and then those of the others."""
        cp = _cupy()
        return type(self)(cp.concatenate([self._data, *(cp.asarray(buffer.as_array_like()) for buffer in others)]))


class NDBuffer(core.NDBuffer):
    """Array elements in the memory of a CUDA device.

    Parameters
    ----------
    array
        An array of any library; copied to the device if it lies elsewhere.
    """

    def __init__(self, array: core.NDArrayLike) -> None:
        self._data = _cupy().asarray(array)

    @classmethod
    def create(
        cls,
        *,
        shape: Iterable[int],
        dtype: npt.DTypeLike,
        order: Literal["C", "F"] = "C",
        fill_value: Any | None = None,
    ) -> Self:
        """Return new elements: all ``fill_value``, or all zero if it is None."""
        cp = _cupy()
        if fill_value is None:
            return cls(cp.zeros(tuple(shape), dtype=dtype, order=order))
        data = cp.empty(tuple(shape), dtype=dtype, order=order)
        data.fill(fill_value)
        return cls(data)

    @classmethod
    def empty(cls, shape: tuple[int, ...], dtype: npt.DTypeLike, order: Literal["C", "F"] = "C") -> Self:
        """Return new elements of any value."""
        return cls(_cupy().empty(shape=shape, dtype=dtype, order=order))

    @classmethod
    def from_numpy_array(cls, array_like: npt.ArrayLike) -> Self:
        """Return a copy of a numpy array on the device."""
        return cls(_cupy().asarray(array_like))

    def as_numpy_array(self) -> npt.NDArray[Any]:
        """Return a copy of the elements in CPU memory."""
        return cast("npt.NDArray[Any]", _cupy().asnumpy(self._data))

    def __getitem__(self, key: Any) -> Self:
        return type(self)(self._data[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, NDBuffer):
            value = value._data
        elif isinstance(value, core.NDBuffer):
            value = _cupy().asarray(value.as_ndarray_like())
        self._data[key] = value


buffer_prototype = core.BufferPrototype(buffer=Buffer, nd_buffer=NDBuffer)
