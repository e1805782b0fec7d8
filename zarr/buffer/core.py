"""The contract of the two kinds of memory: ``Buffer`` (bytes) and ``NDBuffer`` (array elements)."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    SupportsIndex,
    TypeAlias,
    cast,
    runtime_checkable,
)

import numpy as np

from zarr.defaults import settings
from zarr.registry.tables import Changes, _buffer_registry, _ndbuffer_registry, configured_class
from zarr.types import BytesLike, ScalarType

if TYPE_CHECKING:
    import numpy.typing as npt


@runtime_checkable
class ArrayLike(Protocol):
    """The array of a ``Buffer``: a one-dimensional array of bytes in any library.

    Examples
    --------
    >>> from zarr.buffer import ArrayLike
    >>> import numpy as np
    >>> isinstance(np.zeros(3), ArrayLike)
    True
    """

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def ndim(self) -> int: ...

    @property
    def size(self) -> int: ...

    def __getitem__(self, key: slice) -> Self: ...

    def __setitem__(self, key: slice, value: Any) -> None: ...

    def copy(self) -> Self: ...


@runtime_checkable
class NDArrayLike(Protocol):
    """The array of an ``NDBuffer``: an array of any shape in any library with numpy's methods.

    Examples
    --------
    >>> from zarr.buffer import NDArrayLike
    >>> import numpy as np
    >>> isinstance(np.zeros(3), NDArrayLike)
    True
    """

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def ndim(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __len__(self) -> int: ...

    def __getitem__(self, key: slice) -> Self: ...

    def __setitem__(self, key: slice, value: Any) -> None: ...

    def __array__(self) -> npt.NDArray[Any]: ...

    def reshape(
        self, shape: tuple[int, ...], /, *, order: Literal["A", "C", "F"] | None = ..., copy: bool | None = ...
    ) -> NDArrayLike: ...

    def view(self, dtype: npt.DTypeLike) -> Self: ...

    def astype(self, dtype: npt.DTypeLike, order: Literal["K", "A", "C", "F"] = ..., *, copy: bool = ...) -> Self: ...

    def fill(self, value: Any) -> None: ...

    def copy(self) -> Self: ...

    def transpose(self, axes: SupportsIndex | Sequence[SupportsIndex] | None) -> Self: ...

    def ravel(self, order: Literal["K", "A", "C", "F"] = ...) -> Self: ...

    def all(self) -> np.bool_: ...

    def __eq__(self, other: object) -> Self: ...  # type: ignore[override]


NDArrayLikeOrScalar: TypeAlias = ScalarType | NDArrayLike


def check_item_key_is_1d_contiguous(key: Any) -> None:
    """Refuse every key but a slice with step 1.

    Raises
    ------
    TypeError
        If the key is no slice.
    ValueError
        If the slice has another step.

    Examples
    --------
    >>> check_item_key_is_1d_contiguous(slice(0, 4))
    """
    if not isinstance(key, slice):
        raise TypeError(f"Item key has incorrect type (expected slice, got {type(key).__name__})")
    if not (key.step is None or key.step == 1):
        raise ValueError("slice must be contiguous")


class Buffer(ABC):
    """A sequence of bytes in memory of some kind.

    Parameters
    ----------
    array_like
        A one-dimensional array of unsigned bytes. The buffer does not copy it.

    Raises
    ------
    ValueError
        If the array has another number of dimensions or another dtype.

    Examples
    --------
    >>> from zarr.buffer.cpu import Buffer
    >>> Buffer.from_bytes(b"abcd")[1:3].to_bytes()
    b'bc'
    """

    _data: Any

    def __init__(self, array_like: ArrayLike) -> None:
        if array_like.ndim != 1:
            raise ValueError("array_like: only 1-dim allowed")
        # Structured dtypes have no byte code that equals "B", and comparing codes is cheaper than comparing dtypes.
        if array_like.dtype.char != "B":
            raise ValueError("array_like: only byte dtype allowed")
        self._data = array_like

    @classmethod
    @abstractmethod
    def create_zero_length(cls) -> Self:
        """Return a buffer without bytes."""
        raise NotImplementedError("Cannot call abstract method on the abstract class 'Buffer'")

    @classmethod
    def from_array_like(cls, array_like: ArrayLike) -> Self:
        """Wrap a one-dimensional array of bytes, without a copy.

        Parameters
        ----------
        array_like : ArrayLike
            An array of bytes, or of elements.

        Examples
        --------
        >>> from zarr.buffer.cpu import Buffer
        >>> len(Buffer.from_array_like(np.zeros(3, dtype="u1")))
        3
        """
        return cls(array_like)

    @classmethod
    @abstractmethod
    def from_buffer(cls, buffer: Buffer) -> Self:
        """Return the bytes of another buffer, moved to this class's memory if they lie elsewhere.

        Parameters
        ----------
        buffer : type
            The buffer whose bytes are taken.
        """
        raise NotImplementedError("Cannot call abstract method on the abstract class 'Buffer'")

    @classmethod
    @abstractmethod
    def from_bytes(cls, bytes_like: BytesLike) -> Self:
        """Return a buffer from a bytes-like object.

        Parameters
        ----------
        bytes_like : BytesLike
            The bytes.
        """
        raise NotImplementedError("Cannot call abstract method on the abstract class 'Buffer'")

    def as_array_like(self) -> ArrayLike:
        """Return the array inside, without a copy.

        Returns
        -------
        ArrayLike
            The array itself, not a copy.
        """
        return cast("ArrayLike", self._data)

    @abstractmethod
    def as_numpy_array(self) -> npt.NDArray[Any]:
        """Return the bytes as a numpy array, copied to CPU memory if they lie elsewhere."""

    def as_buffer_like(self) -> BytesLike:
        """Return the bytes as an object with the buffer protocol.

        Returns
        -------
        BytesLike
            The memory itself, without a copy, if it is CPU memory.
        """
        return memoryview(cast("Any", self.as_numpy_array()))

    def to_bytes(self) -> bytes:
        """Return the bytes, without a copy if the buffer is all of a `bytes` object.

        Returns
        -------
        bytes
            The bytes.
        """
        # A copy of a large document needs new memory from the operating system, which costs as much as parsing a part.
        array = self.as_numpy_array()
        base: object = array.base
        if type(base) is bytes and len(base) == array.size and array.strides == (1,):
            return base
        return bytes(array.tobytes())

    def __getitem__(self, key: slice) -> Self:
        check_item_key_is_1d_contiguous(key)
        return type(self)(self._data[key])

    def __setitem__(self, key: slice, value: Any) -> None:
        check_item_key_is_1d_contiguous(key)
        self._data[key] = value._data if isinstance(value, Buffer) else value

    def __len__(self) -> int:
        return int(self._data.size)

    def __add__(self, other: Buffer) -> Self:
        return self.combine([other])

    @abstractmethod
    def combine(self, others: Iterable[Buffer]) -> Self:
        """Return one buffer with these bytes and then those of the others.

        Parameters
        ----------
        others : Iterable[Buffer]
            The buffers that follow.
        """

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Buffer):
            return False
        return bool(np.array_equal(self.as_numpy_array(), other.as_numpy_array()))

    __hash__ = None  # type: ignore[assignment]


class NDBuffer:
    """Array elements somewhere in memory.

    Parameters
    ----------
    array
        An array. The buffer does not copy it.

    Examples
    --------
    >>> from zarr.buffer.cpu import NDBuffer
    >>> NDBuffer.create(shape=(2, 3), dtype="int32", fill_value=7).shape
    (2, 3)
    """

    _data: Any

    def __init__(self, array: NDArrayLike) -> None:
        # Object arrays are permitted too: variable-length elements live in them until they are encoded.
        self._data = array

    @classmethod
    @abstractmethod
    def create(
        cls,
        *,
        shape: Iterable[int],
        dtype: npt.DTypeLike,
        order: Literal["C", "F"] = "C",
        fill_value: Any | None = None,
    ) -> Self:
        """Return new elements: all ``fill_value``, or all zero if it is None.

        Parameters
        ----------
        shape : Iterable[int]
            The number of elements along each axis.
        dtype : npt.DTypeLike
            The data type of the elements.
        order : Literal['C', 'F']
            The order of the elements in memory: ``"C"`` or ``"F"``.
        fill_value : object or None
            The value of all elements. Default: zero.
        """
        raise NotImplementedError("Cannot call abstract method on the abstract class 'NDBuffer'")

    @classmethod
    def empty(cls, shape: tuple[int, ...], dtype: npt.DTypeLike, order: Literal["C", "F"] = "C") -> Self:
        """Return new elements of any value.

        Parameters
        ----------
        shape : tuple[int, ...]
            The number of elements along each axis.
        dtype : npt.DTypeLike
            The data type of the elements.
        order : Literal['C', 'F']
            The order of the elements in memory: ``"C"`` or ``"F"``.

        Examples
        --------
        >>> from zarr.buffer.cpu import NDBuffer
        >>> NDBuffer.empty((2,), "int8").dtype
        dtype('int8')
        """
        return cls.create(shape=shape, dtype=dtype, order=order)

    @classmethod
    def from_ndarray_like(cls, ndarray_like: NDArrayLike) -> Self:
        """Wrap an array, without a copy.

        Parameters
        ----------
        ndarray_like : NDArrayLike
            The array that is kept.
        """
        return cls(ndarray_like)

    @classmethod
    @abstractmethod
    def from_numpy_array(cls, array_like: npt.ArrayLike) -> Self:
        """Return the elements of a NumPy array, or of an object that NumPy can turn into one.

        Parameters
        ----------
        array_like : npt.ArrayLike
            An array of bytes, or of elements.
        """
        raise NotImplementedError("Cannot call abstract method on the abstract class 'NDBuffer'")

    def as_ndarray_like(self) -> NDArrayLike:
        """Return the array inside, without a copy.

        Returns
        -------
        NDArrayLike
            The array itself, not a copy.
        """
        return cast("NDArrayLike", self._data)

    @abstractmethod
    def as_numpy_array(self) -> npt.NDArray[Any]:
        """Return the elements as a numpy array, copied to CPU memory if they lie elsewhere."""
        raise NotImplementedError("Cannot call abstract method on the abstract class 'NDBuffer'")

    def as_scalar(self) -> ScalarType:
        """Return the only element.

        Returns
        -------
        scalar

        Raises
        ------
        ValueError
            If there is not exactly one.
        """
        if self._data.size != 1:
            raise ValueError("Buffer does not contain a single scalar value")
        return cast("ScalarType", self.as_numpy_array()[()])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy dtype of the elements."""
        return cast("np.dtype[Any]", self._data.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return cast("tuple[int, ...]", self._data.shape)

    @property
    def byteorder(self) -> Literal["little", "big"]:
        """The byte order of the elements; that of the machine if they have none."""
        order = self.dtype.byteorder
        if order == "<":
            return "little"
        if order == ">":
            return "big"
        return sys.byteorder

    def reshape(self, newshape: tuple[int, ...] | Literal[-1]) -> Self:
        """Return the elements in another shape.

        Parameters
        ----------
        newshape : tuple[int, ...] or Literal[-1]
            The new shape.

        Returns
        -------
        NDBuffer
        """
        return type(self)(self._data.reshape(newshape))

    def squeeze(self, axis: tuple[int, ...]) -> Self:
        """Return the elements without the given axes of length 1.

        Parameters
        ----------
        axis : tuple[int, ...]
            The axes to remove, of length 1.

        Returns
        -------
        NDBuffer
        """
        shape = tuple(length for i, length in enumerate(self.shape) if i not in axis)
        return type(self)(self._data.reshape(shape))

    def astype(self, dtype: npt.DTypeLike, order: Literal["K", "A", "C", "F"] = "K") -> Self:
        """Return the elements in another dtype; without a copy if it is the same.

        Parameters
        ----------
        dtype : npt.DTypeLike
            The new data type.
        order : Literal['K', 'A', 'C', 'F']
            The order of the elements in memory: ``"C"``, ``"F"``, ``"A"`` or ``"K"``.

        Returns
        -------
        NDBuffer
        """
        return type(self)(self._data.astype(dtype, order=order, copy=False))

    @abstractmethod
    def __getitem__(self, key: Any) -> Self: ...

    @abstractmethod
    def __setitem__(self, key: Any, value: Any) -> None: ...

    def __len__(self) -> int:
        return int(self._data.__len__())

    def __repr__(self) -> str:
        return f"<NDBuffer shape={self.shape} dtype={self.dtype} {self._data!r}>"

    def all_equal(self, other: Any, equal_nan: bool = True) -> bool:
        """Return True if every element is the same value as ``other``.

        Parameters
        ----------
        other
            A scalar, or an array that broadcasts.
        equal_nan
            If True, two NaN are equal. Negative zero differs from the zero of floating-point numbers; an integer 0 has
            no sign, and both are equal to it.

        Returns
        -------
        bool

        Examples
        --------
        >>> from zarr.buffer.cpu import NDBuffer
        >>> NDBuffer.from_numpy_array(np.zeros(3)).all_equal(0)
        True
        """
        if other is None:
            return False
        data = self.as_numpy_array()
        same_type = data.dtype.hasobject or data.dtype.fields is not None
        data, wanted = np.broadcast_arrays(data, np.asarray(other, dtype=data.dtype if same_type else None))
        try:
            same = np.array_equal(data, wanted, equal_nan=equal_nan and data.dtype.kind in "fcMm")
        except TypeError:  # values that numpy cannot compare are not the same
            return False
        if same and {data.dtype.kind, wanted.dtype.kind} <= {"f", "c"}:
            # Zeros of different sign differ, because to replace one by the other would lose the sign.
            parts = ((data.real, wanted.real), (data.imag, wanted.imag))
            same = all(np.array_equal(np.signbit(one[one == 0]), np.signbit(two[two == 0])) for one, two in parts)
        return same

    def fill(self, value: Any) -> None:
        """Set every element to one value.

        Parameters
        ----------
        value : object
            The value of all elements.
        """
        self._data.fill(value)

    def copy(self) -> Self:
        """Return a copy.

        Returns
        -------
        NDBuffer
        """
        return type(self)(self._data.copy())

    def transpose(self, axes: SupportsIndex | Sequence[SupportsIndex] | None) -> Self:
        """Return the elements with permuted axes, as a view.

        Parameters
        ----------
        axes : SupportsIndex or Sequence[SupportsIndex] or None
            The new order of the axes. Default: reversed.

        Returns
        -------
        NDBuffer
        """
        return type(self)(self._data.transpose(axes))


class BufferPrototype(NamedTuple):
    """The two classes that hold bytes and elements.

    Parameters
    ----------
    buffer : type
        The class for bytes.
    nd_buffer : type
        The class for elements.

    Examples
    --------
    >>> import zarr
    >>> zarr.buffer.default_buffer_prototype().buffer.from_bytes(b"abc").to_bytes()
    b'abc'
    """

    buffer: type[Buffer]
    nd_buffer: type[NDBuffer]


def default_buffer_prototype() -> BufferPrototype:
    """Return the classes that the configuration names.

    Returns
    -------
    BufferPrototype

    Examples
    --------
    >>> from zarr.buffer import default_buffer_prototype
    >>> default_buffer_prototype().buffer.__name__
    'Buffer'
    """
    values = settings.values
    state = (values.get("buffer"), values.get("ndbuffer"), Changes.count)
    known = _Named.last
    if known[0] != state:  # called for every value that is read, while the result hardly ever changes
        known = _Named.last = (state, BufferPrototype(buffer=get_buffer_class(), nd_buffer=get_ndbuffer_class()))
    prototype: BufferPrototype = known[1]
    return prototype


class _Named:
    """The names in the configuration at the last look-up, and their classes."""

    last: tuple[Any, Any] = (None, None)


def register_buffer(cls: type[Buffer], qualname: str | None = None) -> None:
    """Add a class of bytes; ``zarr.config``'s ``buffer`` names the one to use.

    Parameters
    ----------
    qualname : str or None
        The name in the settings. Default: that of the class.

    Examples
    --------
    >>> from zarr.registry import register_buffer
    >>> from zarr.buffer import cpu
    >>> register_buffer(cpu.Buffer, qualname="example.Buffer")
    """
    _buffer_registry.register(cls, qualname)


def get_buffer_class(reload_config: bool = False) -> type[Buffer]:
    """Return the class of bytes that the configuration names.

    Parameters
    ----------
    reload_config : bool
        If True, read the settings again. Default: False.

    Returns
    -------
    type

    Examples
    --------
    >>> from zarr.registry import get_buffer_class
    >>> get_buffer_class().__name__
    'Buffer'
    """
    return configured_class(_buffer_registry, "buffer", "Buffer", "buffers", reload_config)


def register_ndbuffer(cls: type[NDBuffer], qualname: str | None = None) -> None:
    """Add a class of array elements; ``zarr.config``'s ``ndbuffer`` names the one to use.

    Parameters
    ----------
    qualname : str or None
        The name in the settings. Default: that of the class.

    Examples
    --------
    >>> from zarr.registry import register_ndbuffer
    >>> from zarr.buffer import cpu
    >>> register_ndbuffer(cpu.NDBuffer, qualname="example.NDBuffer")
    """
    _ndbuffer_registry.register(cls, qualname)


def get_ndbuffer_class(reload_config: bool = False) -> type[NDBuffer]:
    """Return the class of array elements that the configuration names.

    Parameters
    ----------
    reload_config : bool
        If True, read the settings again. Default: False.

    Returns
    -------
    type

    Examples
    --------
    >>> from zarr.registry import get_ndbuffer_class
    >>> get_ndbuffer_class().__name__
    'NDBuffer'
    """
    return configured_class(_ndbuffer_registry, "ndbuffer", "NDBuffer", "ndbuffers", reload_config)
