"""Small functions, for programs that import them from zarr-python 2's ``zarr.util``.

May import: everything; nothing below imports from here.
"""

from __future__ import annotations

import json
import numbers
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from keyword import iskeyword
from time import sleep
from typing import Any

import numpy as np

from zarr.arrays.create.objects import implied_object_codec
from zarr.arrays.show.info import human_readable_size as human_readable_size
from zarr.chunks.guesses import guess_regular_chunks
from zarr.storage.keys import normalize_path
from zarr.types import parse_shapelike

NoLock = nullcontext
nolock = NoLock()
normalize_storage_path = normalize_path
CHUNK_BASE, CHUNK_MIN, CHUNK_MAX = 256 * 1024, 128 * 1024, 64 * 1024 * 1024


class NumberEncoder(json.JSONEncoder):
    """A JSON encoder for the integers and floats of other libraries."""

    def default(self, o: Any) -> Any:
        """Return the number for an object without a JSON form."""
        if isinstance(o, numbers.Integral):
            return int(o)
        if isinstance(o, numbers.Real):
            return float(o)
        return json.JSONEncoder.default(self, o)


def json_dumps(o: Any) -> bytes:
    """Return a document as zarr-python 2 wrote it: sorted, indented by four.

    Examples
    --------
    >>> json_dumps({"a": 1})
    b'{\\n    "a": 1\\n}'
    """
    text = json.dumps(o, indent=4, sort_keys=True, ensure_ascii=True, separators=(",", ": "), cls=NumberEncoder)
    return text.encode("ascii")


def json_loads(s: bytes | str) -> dict[str, Any]:
    """Return the document in bytes.

    Examples
    --------
    >>> json_loads(b'{"a": 1}')
    {'a': 1}
    """
    found: dict[str, Any] = json.loads(s if isinstance(s, str) else bytes(s))
    return found


def normalize_shape(shape: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """Return a shape as a tuple.

    Raises
    ------
    TypeError
        If it is None.

    Examples
    --------
    >>> normalize_shape(5)
    (5,)
    """
    if shape is None:
        raise TypeError("shape is None")
    return parse_shapelike(shape)


def guess_chunks(
    shape: tuple[int, ...],
    typesize: int,
    increment_bytes: int = CHUNK_BASE,
    min_bytes: int = CHUNK_MIN,
    max_bytes: int = CHUNK_MAX,
) -> tuple[int, ...]:
    """Return a chunk shape for an array, with about its proportions.

    Examples
    --------
    >>> guess_chunks((1000, 1000), 8)
    (250, 250)
    """
    limits = {"increment_bytes": increment_bytes, "min_bytes": min_bytes, "max_bytes": max_bytes}
    return guess_regular_chunks(shape, typesize, **limits)


def normalize_chunks(chunks: Any, shape: tuple[int, ...], typesize: int) -> tuple[int, ...]:
    """Return the chunk shape: None and True guess, False is one chunk, -1 and None span an axis.

    Raises
    ------
    ValueError
        If there are more lengths than axes.

    Examples
    --------
    >>> normalize_chunks((2, None), (10, 12), 8)
    (2, 12)
    """
    if chunks is None or chunks is True:
        return guess_chunks(shape, typesize)
    if chunks is False:
        return shape
    if isinstance(chunks, numbers.Integral):
        chunks = (int(chunks),) * len(shape)
    if len(chunks) > len(shape):
        raise ValueError(f"too many dimensions in chunks: {len(chunks)}, the array has {len(shape)}")
    chunks = (*chunks, *shape[len(chunks) :])
    return tuple(n if c == -1 or c is None else int(c) for n, c in zip(shape, chunks, strict=True))


def normalize_dtype(dtype: Any, object_codec: Any) -> tuple[np.dtype[Any], Any]:
    """Return the numpy data type, and the object codec that the given type implies.

    Raises
    ------
    ValueError
        Objects need a codec.

    Examples
    --------
    >>> normalize_dtype("i4", None)
    (dtype('int32'), None)
    """
    if dtype is str:
        return np.dtype(object), {"id": "vlen-utf8"} if object_codec is None else object_codec
    meant, implied = implied_object_codec({"dtype": dtype, "filters": None})
    found = np.dtype(meant["dtype"])
    codec = implied if object_codec is None else object_codec
    if found.kind != "O":
        return found, None
    if codec is None:
        raise ValueError("missing object_codec for object array")
    return found, codec


def normalize_order(order: Any) -> str:
    """Return the memory order as "C" or "F".

    Raises
    ------
    ValueError
        If it is neither.

    Examples
    --------
    >>> normalize_order("f")
    'F'
    """
    found = str(order).upper()
    if found not in ("C", "F"):
        raise ValueError(f"order must be either 'C' or 'F', found: {order!r}")
    return found


def normalize_dimension_separator(sep: str | None) -> str | None:
    """Return a valid separator, or None.

    Raises
    ------
    ValueError
        If it is none.
    """
    if sep not in (".", "/", None):
        raise ValueError(f"dimension_separator must be either '.' or '/', found: {sep!r}")
    return sep


def normalize_fill_value(fill_value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the fill value as a scalar of the data type; None, and 0 for objects, stay.

    Raises
    ------
    ValueError
        If it is none of the data type.

    Examples
    --------
    >>> normalize_fill_value(3, np.dtype("int32"))
    np.int32(3)
    """
    if fill_value is None or dtype.hasobject:
        return fill_value
    try:
        if isinstance(fill_value, int) and fill_value == 0 and dtype.kind in "VUS":
            return np.zeros((), dtype=dtype)[()]
        return np.array(fill_value, dtype=dtype)[()]
    except (TypeError, ValueError) as error:
        raise ValueError(f"fill_value {fill_value!r} is not valid for dtype {dtype}; {error}") from error


def normalize_resize_args(old_shape: tuple[int, ...], *args: Any) -> tuple[int, ...]:
    """Return the new shape; None leaves an axis unchanged.

    Raises
    ------
    ValueError
        If it has another number of dimensions.

    Examples
    --------
    >>> normalize_resize_args((10, 10), 5, None)
    (5, 10)
    """
    given = args[0] if len(args) == 1 else args
    new_shape = (int(given),) if isinstance(given, numbers.Integral) else tuple(given)
    if len(new_shape) != len(old_shape):
        raise ValueError("new shape must have same number of dimensions")
    return tuple(old if new is None else int(new) for old, new in zip(old_shape, new_shape, strict=True))


def is_total_slice(item: Any, shape: tuple[int, ...]) -> bool:
    """Return True if a selection is all of an array of a shape.

    Raises
    ------
    TypeError
        If a part of it is neither a slice nor an integer.

    Examples
    --------
    >>> is_total_slice((slice(0, 5), ...), (5, 3))
    True
    """
    if item is Ellipsis or item == slice(None):
        return True
    items = item if isinstance(item, tuple) else (item,)
    items = tuple(part for part in items if part is not Ellipsis)
    if not all(isinstance(part, slice | numbers.Integral) for part in items):
        raise TypeError(f"expected slices and integers, got {item!r}")
    return all(
        (isinstance(part, slice) and (part.step in (1, None)) and part.indices(n)[:2] == (0, n)) or (part, n) == (0, 1)
        for part, n in zip(items, shape, strict=False)
    )


def is_valid_python_name(name: str) -> bool:
    """Return True if a name can be written as an attribute.

    Examples
    --------
    >>> is_valid_python_name("foo"), is_valid_python_name("class")
    (True, False)
    """
    return name.isidentifier() and not iskeyword(name)


def check_array_shape(param: str, array: Any, shape: tuple[int, ...]) -> None:
    """Raise unless an object is an array of a shape.

    Raises
    ------
    TypeError
        If it has no shape.
    ValueError
        If it has another one.
    """
    if not hasattr(array, "shape"):
        raise TypeError(f"parameter {param!r}: expected an array-like object, got {type(array)!r}")
    if array.shape != shape:
        raise ValueError(f"parameter {param!r}: expected array with shape {shape!r}, got {array.shape!r}")


def buffer_size(v: Any) -> int:
    """Return the number of bytes of an object with a buffer.

    Examples
    --------
    >>> buffer_size(b"abc")
    3
    """
    return memoryview(v).nbytes


def all_equal(value: Any, array: Any) -> bool:
    """Return True if all elements equal a value; NaN equals NaN.

    Examples
    --------
    >>> all_equal(np.nan, np.full(3, np.nan))
    True
    """
    if value is None:
        return False
    data = np.asarray(array)
    if data.dtype.hasobject or data.dtype.names:
        return bool(all(item == value for item in data.ravel().tolist()))
    fill = np.array(value).astype(data.dtype)[()]
    return bool(np.all((data == fill) | ((data != data) & (fill != fill))))


def retry_call(
    callabl: Callable[..., Any],
    args: Iterable[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    exceptions: Any = (),
    retries: int = 10,
    wait: float = 0.1,
) -> Any:
    """Call a function again, after a pause, when it raises one of some errors.

    Examples
    --------
    >>> retry_call(int, ("5",))
    5
    """
    for number in range(1, retries + 1):
        try:
            return callabl(*args, **(kwargs or {}))
        except exceptions:
            if number == retries:
                raise
            sleep(wait)
    return None


def flatten(arg: Iterable[Any]) -> Iterable[Any]:
    """Iterate over the items of nested lists.

    Examples
    --------
    >>> list(flatten([1, [2, [3]]]))
    [1, 2, 3]
    """
    for element in arg:
        if isinstance(element, Iterable) and not isinstance(element, str | bytes):
            yield from flatten(element)
        else:
            yield element


def info_text_report(items: Iterable[tuple[Any, Any]]) -> str:
    """Return names and values, one line each.

    Examples
    --------
    >>> info_text_report([("Type", "Array")])
    'Type : Array\\n'
    """
    pairs = [(str(name), str(value)) for name, value in items]
    width = max((len(name) for name, _ in pairs), default=0)
    return "".join(f"{name:<{width}} : {value}\n" for name, value in pairs)


class InfoReporter:
    """The text of an object's ``info_items``."""

    def __init__(self, obj: Any) -> None:
        self.obj = obj
        self.items = obj.info_items()

    def __repr__(self) -> str:
        return info_text_report(self.items)
