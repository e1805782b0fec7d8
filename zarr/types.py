"""Type aliases and small documents that all rooms use, and checks that turn loose input into them."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

import numpy as np

from zarr._lazy import lazy_names

if TYPE_CHECKING:
    from zarr.arrays.array import Array
    from zarr.arrays.async_array import AsyncArray
    from zarr.metadata.v2 import ArrayV2Metadata
    from zarr.metadata.v3 import ArrayV3Metadata
    from zarr.typed_dicts import DTypeConfig_V2 as DTypeConfig_V2
    from zarr.typed_dicts import NamedConfig as NamedConfig
    from zarr.typed_dicts import NamedRequiredConfig as NamedRequiredConfig

    AnyArray: TypeAlias = Array[Any]
    AnyAsyncArray: TypeAlias = AsyncArray[Any]
    ArrayV2: TypeAlias = Array[ArrayV2Metadata]
    ArrayV3: TypeAlias = Array[ArrayV3Metadata]
    AsyncArrayV2: TypeAlias = AsyncArray[ArrayV2Metadata]
    AsyncArrayV3: TypeAlias = AsyncArray[ArrayV3Metadata]

BytesLike: TypeAlias = bytes | bytearray | memoryview
ShapeLike: TypeAlias = Iterable[int | np.integer[Any]] | int | np.integer[Any]
# One int for all dimensions, one int or a list of chunk lengths per dimension, True (guess) or False (one chunk).
ChunksLike: TypeAlias = int | bool | Sequence[int | Sequence[int]] | None
ChunkCoords: TypeAlias = tuple[int, ...]
ZarrFormat: TypeAlias = Literal[2, 3]
NodeType: TypeAlias = Literal["array", "group"]
JSON: TypeAlias = "str | int | float | bool | Mapping[str, JSON] | Sequence[JSON] | None"
MemoryOrder: TypeAlias = Literal["C", "F"]
AccessModeLiteral: TypeAlias = Literal["r", "r+", "a", "w", "w-"]
DimensionNames: TypeAlias = Iterable[str | None] | None
DimensionNamesLike: TypeAlias = Iterable[str | None] | None
EndiannessStr: TypeAlias = Literal["little", "big"]
DTypeJSON: TypeAlias = "str | int | float | Sequence[DTypeJSON] | Mapping[str, object] | None"
ScalarType: TypeAlias = int | float | complex | bytes | str | bool | np.generic
SelectorTuple: TypeAlias = tuple[Any, ...]

ANY_ACCESS_MODE: Final = "r", "r+", "a", "w", "w-"
ZARR_JSON: Final = "zarr.json"
ZARRAY_JSON: Final = ".zarray"
ZGROUP_JSON: Final = ".zgroup"
ZATTRS_JSON: Final = ".zattrs"
ZMETADATA_V2_JSON: Final = ".zmetadata"
# The names of all metadata documents, of both formats.
METADATA_NAMES: Final = frozenset((ZARR_JSON, ZARRAY_JSON, ZGROUP_JSON, ZATTRS_JSON, ZMETADATA_V2_JSON))

E = TypeVar("E", bound=Enum)


def product(values: Iterable[int]) -> int:
    """Return the product of integers; 1 for none.

    Examples
    --------
    >>> product((2, 3))
    6
    """
    return reduce(operator.mul, values, 1)


def ceildiv(a: float, b: float) -> int:
    """Return ``a / b`` rounded up, with the precision of a float; :func:`ceildiv_int` is exact for large integers.

    Examples
    --------
    >>> ceildiv(5, 2)
    3
    """
    return 0 if a == 0 else math.ceil(a / b)


def ceildiv_int(a: int, b: int) -> int:
    """Return ``a / b`` rounded up, in integers of any size.

    Examples
    --------
    >>> ceildiv_int(10**20 + 1, 2) == 5 * 10**19 + 1
    True
    """
    return -(-int(a) // int(b))


def parse_bool(data: Any) -> bool:
    """Return a bool as it is; refuse everything else.

    Raises
    ------
    ValueError
        For anything but True and False.

    Examples
    --------
    >>> parse_bool(True)
    True
    """
    if isinstance(data, bool):
        return data
    raise ValueError(f"Expected instance of bool, got {data!r}.")


def parse_int(data: Any) -> int:
    """Return an int as it is; refuse everything else, bools too.

    Raises
    ------
    ValueError
        For anything but an int.

    Examples
    --------
    >>> parse_int(3)
    3
    """
    if isinstance(data, (int, np.integer)) and not isinstance(data, bool):
        return int(data)
    raise ValueError(f"Expected int, got {data} instead.")


def parse_order(data: Any) -> MemoryOrder:
    """Return a memory order, "C" or "F".

    Raises
    ------
    ValueError
        For anything else.

    Examples
    --------
    >>> parse_order("F")
    'F'
    """
    if data == "C":
        return "C"
    if data == "F":
        return "F"
    raise ValueError(f"Failed to parse input for 'order': expected Literal['C', 'F'], got {data!r}.")


def _parse_one_length(data: object) -> tuple[int, ...]:
    try:
        length = operator.index(data)  # type: ignore[arg-type]
    except TypeError as error:
        raise TypeError(f"Expected an integer or an iterable of integers. Got {data} instead.") from error
    if length < 0:
        raise ValueError(f"Expected a non-negative integer. Got {length} instead")
    return (length,)


def parse_shapelike(data: ShapeLike) -> tuple[int, ...]:
    """Return a shape as a tuple of Python ints.

    Parameters
    ----------
    data
        A length, or an iterable of lengths.

    Raises
    ------
    TypeError
        If something in it is no integer.
    ValueError
        If a length is negative.

    Examples
    --------
    >>> parse_shapelike(4), parse_shapelike([2, 3])
    ((4,), (2, 3))
    """
    if type(data) is not tuple and not isinstance(data, Iterable):
        return _parse_one_length(data)
    items = tuple(data)
    try:
        shape = tuple(map(operator.index, items))
    except TypeError as error:
        raise TypeError(f"Expected an iterable of integers. Got {data} instead.") from error
    if shape and min(shape) < 0:
        raise ValueError(f"Expected all values to be non-negative. Got {items} instead.")
    return shape


def parse_name(data: JSON, expected: str | None = None) -> str:
    """Return a name, which must be the expected one if one is expected.

    Raises
    ------
    TypeError
        If it is no string.
    ValueError
        If it is another name.

    Examples
    --------
    >>> parse_name("zstd", "zstd")
    'zstd'
    """
    if not isinstance(data, str):
        raise TypeError(f"Expected a string, got an instance of {type(data)}.")
    if expected is not None and data != expected:
        raise ValueError(f"Expected '{expected}'. Got {data} instead.")
    return data


def parse_configuration(data: JSON) -> JSON:
    """Return a configuration, which must be a mapping.

    Raises
    ------
    TypeError
        If it is no mapping.

    Examples
    --------
    >>> parse_configuration({"level": 1})
    {'level': 1}
    """
    if type(data) is not dict and not isinstance(data, Mapping):
        raise TypeError(f"Expected dict, got {type(data)}")
    return data


def parse_named_configuration(
    data: JSON | NamedConfig[str, Any], expected_name: str | None = None, *, require_configuration: bool = True
) -> tuple[str, JSON | None]:
    """Split ``{"name": ..., "configuration": ...}``, or a bare name, into its name and configuration.

    Parameters
    ----------
    data
        The object. A bare string stands for ``{"name": <string>}``.
    expected_name
        The only name that is accepted.
    require_configuration
        If True, the configuration may be missing; missing parts are returned as None.

    Raises
    ------
    TypeError
        If ``data`` is neither a mapping nor a string, or a part has the wrong type.
    ValueError
        If a part is absent, or the name is another.

    Examples
    --------
    >>> parse_named_configuration({"name": "gzip", "configuration": {"level": 1}}, "gzip")
    ('gzip', {'level': 1})
    >>> parse_named_configuration("crc32c", require_configuration=False)
    ('crc32c', None)
    """
    if isinstance(data, str):
        data = {"name": data}
    if type(data) is not dict and not isinstance(data, Mapping):
        raise TypeError(f"Expected dict, got {type(data)}")
    if "name" not in data:
        raise ValueError(f"Named configuration does not have a 'name' key. Got {data}.")
    name = parse_name(data["name"], expected_name)
    if "configuration" in data:
        return name, parse_configuration(data["configuration"])
    if require_configuration:
        raise ValueError(f"Named configuration does not have a 'configuration' key. Got {data}.")
    return name, None


def enum_names(enum: type[E]) -> Iterator[str]:
    """Yield the names of an enumeration.

    Examples
    --------
    >>> list(enum_names(Enum("Side", ["left", "right"])))
    ['left', 'right']
    """
    yield from (item.name for item in enum)


def parse_enum(data: object, cls: type[E]) -> E:
    """Return the member of an enumeration with a given name, or the member itself.

    Raises
    ------
    TypeError
        If ``data`` is neither a member nor a string.
    ValueError
        If there is no such name.

    Examples
    --------
    >>> parse_enum("left", Enum("Side", ["left", "right"])).name
    'left'
    """
    if isinstance(data, cls):
        return data
    if not isinstance(data, str):
        raise TypeError(f"Expected str, got {type(data)}")
    if data in enum_names(cls):
        return cls[data]
    raise ValueError(f"Value must be one of {list(enum_names(cls))}. Got {data} instead.")


def printable(text: str) -> str:
    """Return text from a file in a form that is safe to show: characters that are not printable are escaped.

    Control characters, the escape sequences of terminals, marks that turn the direction of writing and lone surrogates
    could make a page or a terminal show a different text.

    Examples
    --------
    >>> printable("a\\x1b[31m\\u202e")
    'a\\\\x1b[31m\\\\u202e'
    """
    if text.isprintable():
        return text
    return "".join([char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text])


def parse_fill_value(data: Any) -> Any:
    """Return the fill value unchanged; the data type checks it.

    Examples
    --------
    >>> parse_fill_value(0)
    0
    """
    return data


_UPPER_ALIASES = {
    "AnyArray": ("Array", None),
    "AnyAsyncArray": ("AsyncArray", None),
    "ArrayV2": ("Array", "ArrayV2Metadata"),
    "ArrayV3": ("Array", "ArrayV3Metadata"),
    "AsyncArrayV2": ("AsyncArray", "ArrayV2Metadata"),
    "AsyncArrayV3": ("AsyncArray", "ArrayV3Metadata"),
}
# Classes of upper floors, and names that few programs use.
_get_upper, _list_names = lazy_names(
    __name__,
    {
        "zarr.arrays.array": "Array",
        "zarr.arrays.async_array": "AsyncArray",
        "zarr.metadata.v2": "ArrayV2Metadata",
        "zarr.metadata.v3": "ArrayV3Metadata",
        "zarr.typed_dicts": "DTypeConfig_V2 NamedConfig NamedRequiredConfig",
    },
)


def __getattr__(name: str) -> Any:
    if name not in _UPPER_ALIASES:
        return _get_upper(name)
    kind, document = _UPPER_ALIASES[name]
    return _get_upper(kind)[Any if document is None else _get_upper(document)]


def __dir__() -> list[str]:
    return sorted({*_list_names(), *_UPPER_ALIASES})
