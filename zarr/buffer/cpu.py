"""Buffers in CPU memory, held in numpy arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np

from zarr.buffer import core
from zarr.types import BytesLike

if TYPE_CHECKING:
    import numpy.typing as npt

_BYTE = np.dtype(np.uint8)


class Buffer(core.Buffer):
    """Bytes in CPU memory.

    Parameters
    ----------
    array_like
        A one-dimensional array of unsigned bytes, not copied.

    Examples
    --------
    >>> (Buffer.from_bytes(b"ab") + Buffer.from_bytes(b"c")).to_bytes()
    b'abc'
    """

    @classmethod
    def create_zero_length(cls) -> Self:
        """Return a buffer without bytes.

        Examples
        --------
        >>> len(Buffer.create_zero_length())
        0
        """
        return cls(np.empty(0, dtype=np.uint8))

    @classmethod
    def from_buffer(cls, buffer: core.Buffer) -> Self:
        """Return the bytes of another buffer, copied only if they lie in other memory.

        Examples
        --------
        >>> Buffer.from_buffer(Buffer.from_bytes(b"x")).to_bytes()
        b'x'
        """
        return cls.from_array_like(buffer.as_numpy_array())

    @classmethod
    def from_bytes(cls, bytes_like: BytesLike) -> Self:
        """Wrap a bytes-like object, without a copy.

        Raises
        ------
        TypeError
            If the object has no buffer protocol.

        Examples
        --------
        >>> Buffer.from_bytes(b"abc").as_numpy_array()
        array([97, 98, 99], dtype=uint8)
        """
        return cls(np.frombuffer(bytes_like, _BYTE))

    def as_numpy_array(self) -> npt.NDArray[Any]:
        """Return the bytes as a numpy array, without a copy."""
        return np.asanyarray(self._data)

    def combine(self, others: Iterable[core.Buffer]) -> Self:
        """Return one buffer with these bytes and then those of the others.

        Examples
        --------
        >>> len(Buffer.from_bytes(b"ab").combine([Buffer.from_bytes(b"c"), Buffer.from_bytes(b"d")]))
        4
        """
        parts = [self.as_numpy_array(), *(buffer.as_numpy_array() for buffer in others)]
        return type(self)(np.concatenate(parts))


class NDBuffer(core.NDBuffer):
    """Array elements in CPU memory.

    Parameters
    ----------
    array
        An array that numpy understands, not copied.

    Examples
    --------
    >>> NDBuffer.from_numpy_array([1, 2]).shape
    (2,)
    """

    @classmethod
    def create(
        cls,
        *,
        shape: Iterable[int],
        dtype: npt.DTypeLike,
        order: Literal["C", "F"] = "C",
        fill_value: Any | None = None,
    ) -> Self:
        """Return new elements: all ``fill_value``, or all zero if it is None.

        Examples
        --------
        >>> NDBuffer.create(shape=(2,), dtype="int8", fill_value=3).as_numpy_array()
        array([3, 3], dtype=int8)
        """
        shape = tuple(shape)
        # 0 stands for "the empty value" of any dtype: "" for text, b"" for bytes; numpy's zeros makes exactly that.
        zero = fill_value is None or (isinstance(fill_value, int) and fill_value == 0)
        native = np.dtype(dtype)
        if native.kind in "Mm":
            times = np.ndarray(shape, native, order=order)
            times.view(np.int64).fill(0) if zero else times.fill(fill_value)
            return cls(cast("core.NDArrayLike", times))
        if zero and not native.hasobject:
            return cls(cast("core.NDArrayLike", np.zeros(shape=shape, dtype=dtype, order=order)))
        return cls(cast("core.NDArrayLike", np.full(shape, 0 if zero else fill_value, dtype=dtype, order=order)))

    @classmethod
    def empty(cls, shape: tuple[int, ...], dtype: npt.DTypeLike, order: Literal["C", "F"] = "C") -> Self:
        """Return new elements of any value.

        Examples
        --------
        >>> NDBuffer.empty((2, 3), "int8").shape
        (2, 3)
        """
        native = np.dtype(dtype)
        if native.kind in "Mm":  # numpy.empty forgets the byte order and the multiple of times without a unit
            return cls(cast("core.NDArrayLike", np.ndarray(shape, native, order=order)))
        return cls(cast("core.NDArrayLike", np.empty(shape=shape, dtype=native, order=order)))

    @classmethod
    def from_numpy_array(cls, array_like: npt.ArrayLike) -> Self:
        """Wrap a NumPy array, or an object that NumPy can turn into one.

        Examples
        --------
        >>> NDBuffer.from_numpy_array([[1, 2]]).shape
        (1, 2)
        """
        return cls(cast("core.NDArrayLike", np.asanyarray(array_like)))

    def as_numpy_array(self) -> npt.NDArray[Any]:
        """Return the elements as a numpy array, without a copy."""
        return np.asanyarray(self._data)

    def __getitem__(self, key: Any) -> Self:
        item = self._data[key]
        if not isinstance(item, np.ndarray):  # one element is a view too
            item = self._data[(*key, ...) if isinstance(key, tuple) else (key, ...)]
        return type(self)(np.asanyarray(item))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._data[key] = value._data if isinstance(value, NDBuffer) else value


def as_numpy_array_wrapper(
    func: Callable[[npt.NDArray[Any]], bytes], buf: core.Buffer, prototype: core.BufferPrototype
) -> core.Buffer:
    """Apply a function of numpy arrays to a buffer and wrap the bytes that it returns.

    Parameters
    ----------
    func
        Takes the bytes as a numpy array, returns bytes.
    buf
        The bytes.
    prototype
        The class of the result.

    Examples
    --------
    >>> as_numpy_array_wrapper(lambda a: a.tobytes()[::-1], Buffer.from_bytes(b"ab"), buffer_prototype).to_bytes()
    b'ba'
    """
    return prototype.buffer.from_bytes(func(buf.as_numpy_array()))


buffer_prototype = core.BufferPrototype(buffer=Buffer, nd_buffer=NDBuffer)


def numpy_buffer_prototype() -> core.BufferPrototype:
    """Return the prototype of CPU memory, for any configuration.

    Returns
    -------
    BufferPrototype

    Examples
    --------
    >>> from zarr.buffer import cpu, numpy_buffer_prototype
    >>> numpy_buffer_prototype().buffer is cpu.Buffer
    True
    """
    return buffer_prototype
