"""The contract of every data type, and the traits that some have."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, Self, TypeAlias, TypeVar, cast

import numpy as np

from zarr._records import field_names, record, set_values
from zarr.dtype.scalars import ENDIANNESS_STR, JSON, DTypeJSON, EndiannessStr, ZarrFormat, split_dtype_spec_v3
from zarr.errors import (
    ArrayTooLargeError,
    DataTypeValidationError,
    UnstableSpecificationWarning,
    WrongTypeError,
)
from zarr.notices import warn_once

if TYPE_CHECKING:
    from zarr.typed_dicts import DTypeSpec_V2, DTypeSpec_V3

# Numpy's stubs have no type that covers user-defined dtypes and text of variable length.
TBaseScalar: TypeAlias = np.generic | str | bytes
TBaseDType: TypeAlias = np.dtype[np.generic]

TScalar_co = TypeVar("TScalar_co", bound="np.generic | str | bytes", covariant=True)
TDType_co = TypeVar("TDType_co", bound="np.dtype[Any]", covariant=True)


class ScalarTypeValidationError(ValueError):
    """A JSON value is no scalar of the data type."""


@record(frozen=True, kw_only=True)
class ZDType(ABC, Generic[TDType_co, TScalar_co]):
    """A data type of an array: its form in NumPy, its form in array metadata, and its scalars in JSON.

    Instances are immutable, hashable and equal if they describe the same type. A subclass is a frozen dataclass; to use
    it in arrays, register it by ``data_type_registry.register``.

    Attributes
    ----------
    dtype_cls
        The class of the numpy dtype.
    _zarr_v3_name
        The name in format 3.

    Examples
    --------
    >>> import zarr
    >>> isinstance(zarr.dtype.Bool(), zarr.dtype.ZDType)
    True
    """

    __slots__ = ()

    dtype_cls: ClassVar[Any]
    _zarr_v3_name: ClassVar[str]

    def __getstate__(self) -> list[Any]:
        return [getattr(self, name) for name in field_names(self)]

    def __setstate__(self, state: list[Any]) -> None:
        set_values(self, **dict(zip(field_names(self), state, strict=True)))

    @property
    def value(self) -> str:
        """The name of the data type in format 3, as zarr-python 3.0 gave it, where data types were an enumeration."""
        return self._zarr_v3_name

    @classmethod
    def _check_native_dtype(cls: type[Self], dtype: TBaseDType) -> bool:
        return type(dtype) is cls.dtype_cls

    @classmethod
    @abstractmethod
    def from_native_dtype(cls: type[Self], dtype: TBaseDType) -> Self:
        """Return the data type of a numpy dtype.

        Parameters
        ----------
        dtype : TBaseDType
            A data type of NumPy.

        Raises
        ------
        DataTypeValidationError
            If the NumPy dtype is another one.
        """

    @abstractmethod
    def to_native_dtype(self: Self) -> TDType_co:
        """Return the numpy dtype of the elements in memory."""

    @classmethod
    @abstractmethod
    def _from_json_v2(cls: type[Self], data: DTypeJSON) -> Self: ...

    @classmethod
    @abstractmethod
    def _from_json_v3(cls: type[Self], data: DTypeJSON) -> Self: ...

    @classmethod
    def from_json(cls: type[Self], data: DTypeJSON, *, zarr_format: ZarrFormat) -> Self:
        """Return the data type of a JSON form.

        Parameters
        ----------
        data
            In format 2 the object ``{"name": <dtype>, "object_codec_id": <id or None>}``, in format 3 the
            ``data_type`` of the array.
        zarr_format
            The format.

        Raises
        ------
        DataTypeValidationError
            If the JSON form is that of another data type.
        ValueError
            If the format is neither 2 nor 3.
        """
        if zarr_format == 2:
            return cls._from_json_v2(data)
        if zarr_format == 3:
            return cls._from_json_v3(data)
        raise ValueError(f"zarr_format must be 2 or 3, got {zarr_format}")

    @abstractmethod
    def to_json(self, zarr_format: ZarrFormat) -> DTypeSpec_V2 | DTypeSpec_V3:
        """Return the JSON form; see ``from_json``.

        Parameters
        ----------
        zarr_format : ZarrFormat
            The format: 2 or 3.
        """

    @abstractmethod
    def _check_scalar(self, data: object) -> bool:
        """Return True if an object can become a scalar of this type."""

    @abstractmethod
    def cast_scalar(self, data: object) -> TScalar_co:
        """Make a scalar of a Python object.

        Parameters
        ----------
        data : object
            A scalar of Python or NumPy.

        Raises
        ------
        TypeError
            If that is impossible.
        """

    @abstractmethod
    def default_scalar(self) -> TScalar_co:
        """Return the default fill value."""

    @abstractmethod
    def from_json_scalar(self: Self, data: JSON, *, zarr_format: ZarrFormat) -> TScalar_co:
        """Return the scalar of a JSON value, such as the fill value of an array.

        Parameters
        ----------
        data : JSON
            The scalar in its JSON form.
        zarr_format : ZarrFormat
            The format: 2 or 3.

        Raises
        ------
        TypeError, ValueError
            If the JSON value is no scalar of this type.
        """

    @abstractmethod
    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> JSON:
        """Return the JSON value of a scalar, or of an object that can be cast to one.

        Parameters
        ----------
        data : object
            The scalar.
        zarr_format : ZarrFormat
            The format: 2 or 3.
        """


@record(frozen=True, kw_only=True)
class LibraryType(ZDType[TDType_co, TScalar_co]):
    """The base of the data types of this library, with the common parts of their JSON forms and scalars.

    Attributes
    ----------
    _zarr_v3_aliases
        Further names that are accepted when format 3 is read.
    _is_specified
        True if format 3 has a specification of the data type; without one, a warning is given where it is stored.
    """

    __slots__ = ()

    _zarr_v3_aliases: ClassVar[tuple[str, ...]] = ()
    _is_specified: ClassVar[bool] = True

    @classmethod
    def from_native_dtype(cls, dtype: TBaseDType) -> Self:
        """Return the data type of a numpy dtype of this kind."""
        if isinstance(dtype, np.dtype) and cls._check_native_dtype(dtype):
            return cls._of_native(dtype)
        raise wrong_dtype(cls, dtype)

    @classmethod
    def _of_native(cls, dtype: Any) -> Self:
        """Return the data type of a NumPy dtype that is known to be of this kind."""
        return cls()

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        spec, names = split_dtype_spec_v3(data), (cls._zarr_v3_name, *cls._zarr_v3_aliases)
        if spec is not None and spec[0] in names and not spec[1]:
            return cls()
        raise wrong_json(cls, data, f"one of the strings {names}" if names[1:] else f"the string {names[0]!r}")

    def to_json(self, zarr_format: ZarrFormat) -> DTypeSpec_V2 | DTypeSpec_V3:
        """Return the name, with the configuration or the object codec if there is one."""
        check_zarr_format(zarr_format)
        if zarr_format == 2:
            return {"name": self._v2_name(), "object_codec_id": getattr(self, "object_codec_id", None)}
        if not self._is_specified:
            v3_unstable_dtype_warning(self)
        return self._v3_json()

    def _v2_name(self) -> Any:
        """Return the ``dtype`` of format 2."""
        return self.to_native_dtype().str

    def _v3_json(self) -> DTypeSpec_V3:
        """Return the ``data_type`` of format 3."""
        return self._zarr_v3_name

    def cast_scalar(self, data: object) -> TScalar_co:
        """Make a scalar of a value."""
        if self._check_scalar(data):
            return self._cast_scalar_unchecked(data)
        raise wrong_scalar(self, data)

    def _cast_scalar_unchecked(self, data: Any) -> TScalar_co:
        raise NotImplementedError(type(self).__name__)


def is_unset_fill(data: object, zarr_format: ZarrFormat) -> bool:
    """Return True if a fill value of format 2 stands for the default: null or 0, for any data type.

    Examples
    --------
    >>> is_unset_fill(0, 2), is_unset_fill(0, 3), is_unset_fill("0", 2)
    (True, False, False)
    """
    return zarr_format == 2 and (data is None or (data == 0 and not isinstance(data, (str, bool))))


MAX_ITEM_BYTES: Final = 2**31 - 1
"""NumPy does not have larger elements, or gives them a wrong size."""


@record(frozen=True, kw_only=True)
class HasLength:
    """A data type whose elements have a given length.

    Parameters
    ----------
    length : int
        The number of characters or bytes of an element.

    Examples
    --------
    >>> import zarr
    >>> zarr.dtype.FixedLengthUTF32(length=3).length
    3
    """

    length: int

    def __init__(self, *, length: int) -> None:
        set_values(self, length=length)
        self.__post_init__()

    def __post_init__(self) -> None:
        if self.length < 1:
            raise ValueError(f"length must be >= 1, got {self.length}.")
        most = MAX_ITEM_BYTES // getattr(self, "code_point_bytes", 1)
        if self.length > most:
            raise ValueError(f"length must be <= {most}, got {self.length}: numpy has no larger elements.")


@record(frozen=True, kw_only=True)
class HasEndianness:
    """A data type with a byte order.

    Parameters
    ----------
    endianness : "little" or "big"
        The order of the bytes of an element: ``"little"`` or ``"big"``. Default: the byte order of the machine.

    Examples
    --------
    >>> import zarr
    >>> isinstance(zarr.dtype.Int16(endianness="big"), zarr.dtype.HasEndianness)
    True
    """

    endianness: EndiannessStr = "little"

    def __init__(self, *, endianness: EndiannessStr = "little") -> None:
        set_values(self, endianness=endianness)


class HasItemSize:
    """A data type whose elements all have the same number of bytes.

    Examples
    --------
    >>> import zarr
    >>> zarr.dtype.Int16().item_size
    2
    """

    @property
    def item_size(self) -> int:
        """The number of bytes of one element."""
        return int(cast("Any", self).to_native_dtype().itemsize)


class HasObjectCodec:
    """A data type that format 2 stores as objects, by a filter with this id.

    Examples
    --------
    >>> import zarr
    >>> zarr.dtype.VariableLengthUTF8().object_codec_id
    'vlen-utf8'
    """

    object_codec_id: ClassVar[str]


def wrong_dtype(cls: type[ZDType[Any, Any]], dtype: object) -> DataTypeValidationError:
    """Return the error for a NumPy dtype of a wrong class.

    Examples
    --------
    >>> class Example:
    ...     dtype_cls = int
    >>> wrong_dtype(Example, "float")
    DataTypeValidationError("Invalid data type: float. Expected an instance of <class 'int'>")
    """
    return DataTypeValidationError(f"Invalid data type: {dtype}. Expected an instance of {cls.dtype_cls}")


def wrong_json(cls: type, data: object, expected: object) -> DataTypeValidationError:
    """Return the error for a JSON form of a wrong class.

    Examples
    --------
    >>> wrong_json(int, "x", "the string 'int'")
    DataTypeValidationError("Invalid JSON representation of int. Got 'x', expected the string 'int'")
    """
    return DataTypeValidationError(f"Invalid JSON representation of {cls.__name__}. Got {data!r}, expected {expected}")


def wrong_scalar(dtype: object, data: object) -> WrongTypeError:
    """Return the error for an object that cannot become a scalar.

    Examples
    --------
    >>> wrong_scalar("int8", "x")
    WrongTypeError("Cannot convert object 'x' with type <class 'str'> to a scalar compatible with the data type int8.")
    """
    return WrongTypeError(
        f"Cannot convert object {data!r} with type {type(data)} to a scalar compatible with the data type {dtype}."
    )


def check_zarr_format(zarr_format: object) -> None:
    """Raise an error unless the format is 2 or 3.

    Examples
    --------
    >>> check_zarr_format(3)
    """
    if zarr_format not in (2, 3):
        raise ValueError(f"zarr_format must be 2 or 3, got {zarr_format}")


def byte_order_of(dtype: np.dtype[Any]) -> EndiannessStr:
    """Return the byte order of a NumPy dtype, "little" for elements without one.

    Examples
    --------
    >>> byte_order_of(np.dtype(">i4"))
    'big'
    """
    if dtype.byteorder == ">" or (dtype.byteorder == "=" and sys.byteorder == "big"):
        return "big"
    return "little"


def endianness_mark(endianness: EndiannessStr) -> Literal["<", ">"]:
    """Return the mark of a byte order in NumPy's type strings.

    Raises
    ------
    ValueError
        If it is neither "little" nor "big".

    Examples
    --------
    >>> endianness_mark("big")
    '>'
    """
    if endianness not in ENDIANNESS_STR:
        raise ValueError(f"Invalid endianness: {endianness!r}. Expected one of {ENDIANNESS_STR}")
    return "<" if endianness == "little" else ">"


@cache
def native_dtype(code: str) -> Any:
    """Return the numpy dtype of a type string; the same object every time.

    Examples
    --------
    >>> native_dtype("<i4")
    dtype('int32')
    """
    return np.dtype(code)


def empty_array(shape: tuple[int, ...], dtype: np.dtype[Any], order: Literal["C", "F"] = "C") -> np.ndarray[Any, Any]:
    """Return a new array of a dtype, without values.

    NumPy replaces times without a unit by a found unit, and forgets byte order and multiple.

    Raises
    ------
    ArrayTooLargeError
        If it does not fit in memory, or its size cannot be counted.

    Examples
    --------
    >>> empty_array((2,), np.dtype(">i4")).dtype
    dtype('>i4')
    """
    try:
        array = np.empty(shape, dtype=dtype, order=order)
    except (MemoryError, ValueError, OverflowError) as error:
        raise ArrayTooLargeError(
            f"an array of shape {shape} and data type {dtype} takes {math.prod(shape) * dtype.itemsize} bytes, more "
            "than there is memory for; read or write a part of it at a time"
        ) from error
    return array if array.dtype is dtype or dtype.kind not in "mM" else array.view(np.int64).view(dtype)


def canonical(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the usual dtype for dtypes that are the same under another C name, like ``long long``.

    Examples
    --------
    >>> type(canonical(np.dtype("q"))).__name__
    'Int64DType'
    """
    if dtype.kind not in "iufc" or dtype.type.__module__ != "numpy":
        return dtype
    return cast("np.dtype[Any]", native_dtype(dtype.str))


def v3_unstable_dtype_warning(dtype: ZDType[Any, Any]) -> None:
    """Warn, by default once in the life of the process, that format 3 does not specify a data type yet.

    Parameters
    ----------
    dtype
        The data type.
    """
    warn_once(
        f"The data type ({dtype}) does not have a Zarr V3 specification. Other implementations may be unable to read "
        "arrays that are saved with it, and the way in which it is saved may still change. "
        "If others shall read them, use a data type that is specified, such as float64 or uint8.",
        UnstableSpecificationWarning,
    )
