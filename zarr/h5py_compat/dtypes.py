"""h5py's data types: how they are marked and described, how values are converted to them, how zarr stores them.

Special types are NumPy types that carry their meaning as metadata. A variable-length string is an object type marked
``{"vlen": str}`` or ``{"vlen": bytes}``, a ragged array one marked ``{"vlen": dtype}``, an enumeration an integer
marked ``{"enum": {...}}``, a fixed UTF-8 string an ``S`` type marked ``{"h5py_encoding": "utf-8"}``. ``describe`` and
``parse_description`` turn any of them to JSON and back.

``guess`` returns the type of data without a type, ``to_elements`` converts data to the element type of a dataset:
strings are encoded, ragged arrays cut into elements, numbers cast. As in h5py, arrays that do not fit an integer type
are clipped to its range, and Python numbers that do not fit are an OverflowError.

``StoredType`` is the form of an h5py type in a zarr array:

=========  =============================================  =====================================================
kind       h5py's type                                    zarr's data type
=========  =============================================  =====================================================
plain      numbers, bool, complex, ``S``, ``V``, dates,   the same
           packed records of those; enumerations
text       UTF-8 strings of any length                    ``string``
bytes      ASCII strings of any length                    ``variable_length_bytes``
packed     ragged arrays, records with such parts         ``variable_length_bytes``, as ``pack`` writes them
raw        other types of fixed size (long double,        ``raw_bytes`` of the item size
           records with gaps or subarrays)
=========  =============================================  =====================================================

A subarray type adds its axes to those of the zarr array, in one chunk. Where zarr's type lacks a part of the type, a
description (``describe``) is stored in the attributes of the array.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Dtype = np.dtype[Any]


class string_info(NamedTuple):
    """The result of ``check_string_dtype``: the encoding, and the length in bytes or None if it varies."""

    encoding: str
    length: int | None


@dataclass(frozen=True)
class Empty:
    """A dataset or attribute with a data type and no elements.

    Parameters
    ----------
    dtype : dtype
        The data type of the elements that are not there.

    Examples
    --------
    >>> from zarr.h5py_compat import Empty
    >>> Empty("f4")
    Empty(dtype=dtype('float32'))
    """

    dtype: Any
    shape: ClassVar = None
    size: ClassVar = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", np.dtype(self.dtype))


def string_dtype(encoding: str = "utf-8", length: int | None = None) -> Dtype:
    """Return the type of strings of ``length`` bytes, or of any length.

    Parameters
    ----------
    encoding : {"utf-8", "ascii"}
        How characters are stored.
    length : int, optional
        The number of bytes; by default strings have any length.

    Returns
    -------
    dtype

    Raises
    ------
    ValueError
        If the encoding is another one.
    TypeError
        If the length is no integer.

    Examples
    --------
    >>> from zarr.h5py_compat import string_dtype
    >>> string_dtype("ascii", 4)
    dtype('S4')
    """
    normalized = encoding.lower().replace("utf8", "utf-8")
    if normalized not in ("ascii", "utf-8"):
        raise ValueError(f"the encoding of strings is 'ascii' or 'utf-8', not {encoding!r}")
    if isinstance(length, int):
        return np.dtype(f"|S{length}", metadata={"h5py_encoding": normalized})
    if length is not None:
        raise TypeError(f"length is an int or None, not {length!r}")
    return np.dtype("O", metadata={"vlen": bytes if normalized == "ascii" else str})


def vlen_dtype(basetype: Any) -> Dtype:
    """Return the type of arrays of any length, with elements of ``basetype``.

    Parameters
    ----------
    basetype : dtype
        The data type of the elements.

    Returns
    -------
    dtype

    Examples
    --------
    >>> from zarr.h5py_compat import check_vlen_dtype, vlen_dtype
    >>> check_vlen_dtype(vlen_dtype(np.dtype("i4")))
    dtype('int32')
    """
    return np.dtype("O", metadata={"vlen": basetype})


def enum_dtype(values_dict: dict[str, int], basetype: Any = np.uint8) -> Dtype:
    """Return an integer type whose values bear names.

    Parameters
    ----------
    values_dict : dict of str to int
        The values by name.
    basetype : dtype, default uint8
        The integers that are stored.

    Returns
    -------
    dtype

    Raises
    ------
    TypeError
        If the base type is no integer.

    Examples
    --------
    >>> from zarr.h5py_compat import check_enum_dtype, enum_dtype
    >>> check_enum_dtype(enum_dtype({"red": 0, "blue": 1}))
    {'red': 0, 'blue': 1}
    """
    base: Dtype = np.dtype(basetype)
    if base.kind not in "iu":
        raise TypeError(f"only integers can be enumerated, not {base}")
    return np.dtype(base, metadata={"enum": dict(values_dict)})


def opaque_dtype(np_dtype: Any) -> Dtype:
    """Return a type marked as one without a name in HDF5 (dates, for example).

    Parameters
    ----------
    np_dtype : dtype
        The type of NumPy, as "M8[D]".

    Returns
    -------
    dtype

    Raises
    ------
    TypeError
        If it has objects, fields or a shape.

    Examples
    --------
    >>> from zarr.h5py_compat import check_opaque_dtype, opaque_dtype
    >>> check_opaque_dtype(opaque_dtype("M8[D]"))
    True
    """
    dtype: Dtype = np.dtype(np_dtype)
    if dtype.hasobject or dtype.fields is not None or dtype.subdtype is not None:
        raise TypeError(f"{dtype} cannot be stored as opaque bytes: it has objects, fields or a shape")
    return np.dtype(dtype, metadata={"h5py_opaque": True})


def _mark(dtype: Any, key: str) -> Any:
    metadata: Any = dtype.metadata if isinstance(dtype, np.dtype) else None
    return metadata.get(key) if metadata else None


def check_vlen_dtype(dt: Dtype) -> Any:
    """Return the element type of a variable-length type (``str`` or ``bytes`` for strings), or None.

    Parameters
    ----------
    dt : dtype
        The type that is asked about.

    Returns
    -------
    type, dtype or None

    Examples
    --------
    >>> from zarr.h5py_compat import check_vlen_dtype, string_dtype
    >>> check_vlen_dtype(string_dtype())
    <class 'str'>
    """
    return _mark(dt, "vlen")


def check_enum_dtype(dt: Dtype) -> dict[str, int] | None:
    """Return the names and values of an enumeration, or None.

    Parameters
    ----------
    dt : dtype
        The type that is asked about.

    Returns
    -------
    dict of str to int, or None

    Examples
    --------
    >>> from zarr.h5py_compat import check_enum_dtype
    >>> check_enum_dtype(np.dtype("i4")) is None
    True
    """
    names: dict[str, int] | None = _mark(dt, "enum")
    return names


def check_opaque_dtype(dt: Dtype) -> bool:
    """Return True if the type is marked as opaque.

    Parameters
    ----------
    dt : dtype
        The type that is asked about.

    Returns
    -------
    bool

    Examples
    --------
    >>> from zarr.h5py_compat import check_opaque_dtype
    >>> check_opaque_dtype(np.dtype("M8[D]"))
    False
    """
    return bool(_mark(dt, "h5py_opaque"))


def check_string_dtype(dt: Dtype) -> string_info | None:
    """Return encoding and length of a string type, or None.

    Parameters
    ----------
    dt : dtype
        The type that is asked about.

    Returns
    -------
    string_info or None
        With ``encoding`` and ``length``.

    Examples
    --------
    >>> from zarr.h5py_compat import check_string_dtype
    >>> check_string_dtype(np.dtype("S3"))
    string_info(encoding='ascii', length=3)
    """
    kind = check_vlen_dtype(dt)
    if kind is str or kind is bytes:
        return string_info("utf-8" if kind is str else "ascii", None)
    if dt.kind == "S":
        return string_info(_mark(dt, "h5py_encoding") or "ascii", dt.itemsize)
    return None


def special_dtype(**kwds: Any) -> Dtype:
    """Return a special type by one keyword: ``vlen=…`` or ``enum=(basetype, names)``.

    Parameters
    ----------
    **kwds
        ``vlen`` or ``enum``, one of them.

    Returns
    -------
    dtype

    Raises
    ------
    TypeError
        For other keywords, or several.

    Examples
    --------
    >>> from zarr.h5py_compat import check_enum_dtype, special_dtype
    >>> check_enum_dtype(special_dtype(enum=("u1", {"off": 0})))
    {'off': 0}
    """
    if len(kwds) != 1:
        raise TypeError("special_dtype takes exactly one of vlen= and enum=")
    name, value = next(iter(kwds.items()))
    if name == "vlen":
        return string_dtype("ascii" if value is bytes else "utf-8") if value in (str, bytes) else vlen_dtype(value)
    if name == "enum":
        return enum_dtype(value[1], value[0])
    raise TypeError(f"special_dtype knows vlen= and enum=, not {name}=")


def check_dtype(**kwds: Any) -> Any:
    """Return the mark of a type by one keyword, ``vlen=dtype`` or ``enum=dtype``, or None.

    Parameters
    ----------
    **kwds
        ``vlen`` or ``enum``, one of them, with the type that is asked about.

    Returns
    -------
    object or None

    Raises
    ------
    TypeError
        For other keywords, or several.

    Examples
    --------
    >>> from zarr.h5py_compat import check_dtype, special_dtype
    >>> check_dtype(vlen=special_dtype(vlen=str))
    <class 'str'>
    """
    if len(kwds) != 1:
        raise TypeError("check_dtype takes exactly one of vlen= and enum=")
    name, dtype = next(iter(kwds.items()))
    if name not in ("vlen", "enum"):
        raise TypeError(f"check_dtype knows vlen= and enum=, not {name}=")
    return _mark(dtype, name)


def complex_compat_dtype(dtype: Any) -> Dtype:
    """Return the compound type with the fields ``r`` and ``i`` that stands for a complex type.

    Parameters
    ----------
    dtype : dtype
        A complex type.

    Returns
    -------
    dtype

    Raises
    ------
    TypeError
        If it is not complex.

    Examples
    --------
    >>> from zarr.h5py_compat import complex_compat_dtype
    >>> complex_compat_dtype("c8").names
    ('r', 'i')
    """
    complex_type = np.dtype(dtype)
    if complex_type.kind != "c":
        raise TypeError(f"{complex_type} is not complex")
    part = np.dtype(f"{complex_type.byteorder}f{complex_type.itemsize // 2}")
    return np.dtype([("r", part), ("i", part)], metadata={"complex": complex_type})


def check_complex_dtype(dt: Dtype) -> Dtype | None:
    """Return the complex type of a type, or None.

    Parameters
    ----------
    dt : dtype
        The type that is asked about.

    Returns
    -------
    dtype or None

    Examples
    --------
    >>> from zarr.h5py_compat import check_complex_dtype, complex_compat_dtype
    >>> check_complex_dtype(complex_compat_dtype("c16"))
    dtype('complex128')
    """
    return dt if dt.kind == "c" else _mark(dt, "complex")


def describe(dtype: Dtype) -> Any:
    """Return a JSON description of a type, with its special meaning and the offsets of its fields."""
    if dtype.subdtype is not None:
        return {"base": describe(dtype.subdtype[0]), "shape": list(dtype.shape)}
    if (names := check_enum_dtype(dtype)) is not None:
        return {"enum": {name: int(value) for name, value in names.items()}, "base": dtype.str}
    if (vlen := check_vlen_dtype(dtype)) is not None:
        return {"vlen": vlen.__name__ if vlen in (str, bytes) else describe(np.dtype(vlen))}
    if (encoding := _mark(dtype, "h5py_encoding")) is not None:
        return {"string": encoding, "length": dtype.itemsize}
    if check_opaque_dtype(dtype):
        return {"opaque": dtype.str}
    if dtype.names is not None and dtype.fields is not None:
        fields = [[name, describe(dtype.fields[name][0]), dtype.fields[name][1]] for name in dtype.names]
        return {"fields": fields, "itemsize": dtype.itemsize}
    if dtype.hasobject:
        raise TypeError(f"Object dtype {dtype!r} has no native HDF5 equivalent: use string_dtype or vlen_dtype")
    return dtype.str


def parse_description(description: Any) -> Dtype:
    """Return the type that ``describe`` described."""
    if isinstance(description, str):
        return np.dtype(description)
    if "enum" in description:
        return enum_dtype(description["enum"], description["base"])
    if "vlen" in description:
        inner = description["vlen"]
        if inner in ("str", "bytes"):
            return string_dtype("utf-8" if inner == "str" else "ascii")
        return vlen_dtype(parse_description(inner))
    if "string" in description:
        return string_dtype(description["string"], description["length"])
    if "opaque" in description:
        return opaque_dtype(description["opaque"])
    if "base" in description:
        return np.dtype((parse_description(description["base"]), tuple(description["shape"])))
    fields = description["fields"]
    return np.dtype(
        {
            "names": [name for name, _, _ in fields],
            "formats": [parse_description(field) for _, field, _ in fields],
            "offsets": [offset for _, _, offset in fields],
            "itemsize": description["itemsize"],
        }
    )


def as_dtype(dtype: Any) -> Dtype:
    """Return the type of a ``dtype=`` keyword; NumPy's ``StringDType`` is a UTF-8 string of variable length.

    Raises
    ------
    TypeError
        For unicode of fixed length, for which h5py has no type.
    """
    parsed = np.dtype(getattr(dtype, "dtype", dtype) if not isinstance(dtype, type) else dtype)
    if parsed.kind == "T":
        return string_dtype()
    if parsed.names is not None and (stands_for := check_complex_dtype(parsed)) is not None:
        return stands_for
    if parsed.kind == "U":
        raise TypeError(f"No conversion path for dtype: {parsed!r}; use string_dtype() or bytes (S)")
    return parsed


def guess(data: Any) -> Dtype:
    """Return the type of data without a type, as h5py guesses it."""
    array = np.asarray(data)
    if array.dtype.kind == "O" and not array.dtype.metadata:
        return _guess_objects(array)
    if not isinstance(data, np.ndarray | np.generic):
        if array.dtype.kind == "U":
            return string_dtype()
        if array.dtype.kind == "S":
            return string_dtype("ascii")
    return as_dtype(array.dtype)


def _guess_objects(array: Array) -> Dtype:
    kinds = {type(item) for item in array.flat}
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return string_dtype()
    if kinds and all(issubclass(kind, bytes) for kind in kinds):
        return string_dtype("ascii")
    raise TypeError(f"Object dtype {array.dtype!r} has no native HDF5 equivalent (elements: {sorted(map(str, kinds))})")


def to_elements(value: Any, dtype: Dtype, shape: tuple[int, ...] | None) -> Array:
    """Return ``value`` as an array of ``dtype.base``; ``shape`` is that of the target, None for that of the data."""
    element = dtype.base
    if check_string_dtype(element) is not None:
        return _to_strings(value, element)
    if check_vlen_dtype(element) is not None:
        return _to_ragged(value, element, shape)
    if element.names is not None:
        return _to_records(value, element)
    if not hasattr(value, "__array__"):
        return np.asarray(value, dtype=element)
    array = np.asarray(value)
    if element.kind in "iu" and array.dtype.kind in "iuf" and not np.can_cast(array.dtype, element):
        array = _clip(array, element)
    if array.dtype.kind == "U":
        raise TypeError(f"No conversion path for dtype: {array.dtype!r}")
    if array.dtype.kind == "S" and element.kind not in "SV":
        raise TypeError(f"No conversion path from {array.dtype!r} to {element!r}")
    return array.astype(element, copy=False)


def _clip(array: Array, element: Dtype) -> Array:
    limits = np.iinfo(element)
    if array.dtype.kind == "f":
        array = np.trunc(array)
        return np.clip(array, float(limits.min), float(limits.max)).astype(np.float64)
    source = np.iinfo(array.dtype)
    return np.clip(array, max(limits.min, source.min), min(limits.max, source.max))


def _to_records(value: Any, element: Dtype) -> Array:
    if isinstance(value, np.ndarray | np.void) and value.dtype.names is not None:
        return np.asarray(value).astype(element, copy=False)
    if np.isscalar(value):
        raise ValueError(f"a record of {element} is given as a tuple or an np.void, not as {value!r}")
    return np.asarray(value, dtype=element)


def _to_strings(value: Any, element: Dtype) -> Array:
    info = check_string_dtype(element)
    assert info is not None
    if isinstance(value, np.ndarray) and value.dtype.kind == "U":
        raise TypeError(f"No conversion path for dtype: {value.dtype!r}; hand over bytes, objects or StringDType")
    is_array = hasattr(value, "__array__") and not isinstance(value, str | bytes)
    array = np.asarray(np.asarray(value) if is_array else value, dtype=object)
    marked = isinstance(value, np.ndarray) and check_vlen_dtype(value.dtype) is not None
    return map_elements(
        lambda item: b"" if marked and is_unset(item) else to_bytes(item, info.encoding), array, element
    )


def map_elements(change: Callable[[Any], Any], array: Array, dtype: Any) -> Array:
    """Return an array of the results of a function for each element."""
    out = np.empty(array.size, dtype=dtype)
    for position, item in enumerate(array.reshape(-1)):
        out[position] = change(item)
    return out.reshape(array.shape)


def _to_ragged(value: Any, element: Dtype, shape: tuple[int, ...] | None) -> Array:
    base = np.dtype(check_vlen_dtype(element))
    if shape == ():
        return _boxed([value], (), element, base)
    array = value if isinstance(value, np.ndarray) else _outer(value, base)
    depth = array.ndim if shape is None else len(shape)
    if array.dtype.kind == "O" and array.ndim <= max(depth, 1):
        return _boxed(list(array.reshape(-1)), array.shape, element, base)
    if shape is not None and array.ndim == depth:
        return _boxed([array] * 1, (), element, base)
    outer = array.shape[: array.ndim - 1]
    return _boxed(list(array.reshape(-1, array.shape[-1])), outer, element, base)


def _outer(value: Any, base: Dtype) -> Array:
    """Return a sequence as an array of objects, so that rows of one length stay rows."""
    items = list(value)
    if any(np.ndim(item) == 0 for item in items) and not base.hasobject:
        return np.asarray(items)
    out = np.empty(len(items), dtype=object)
    for position, item in enumerate(items):
        out[position] = item
    return out


def _boxed(items: list[Any], shape: tuple[int, ...], element: Dtype, base: Dtype) -> Array:
    out = np.empty(len(items), dtype=element)
    for position, item in enumerate(items):
        flat = np.asarray(item)
        if flat.ndim == 0 and flat.dtype.kind == "O":
            flat = np.asarray(flat[()])
        out[position] = np.atleast_1d(np.asarray(flat, dtype=base)) if flat.dtype != base else np.atleast_1d(flat)
    return out.reshape(shape)


_LEAST_NBYTES = 4
"""The minimum bytes of a value with a part of varying length: the length of that part."""


def to_bytes(value: Any, encoding: str) -> bytes:
    """Return a string as bytes; numbers are refused with a TypeError."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, str):
        return value.encode(encoding)
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    raise TypeError(f"Can't implicitly convert non-string objects to strings: {value!r}")


def is_unset(value: Any) -> bool:
    """Return True for a part of an object array that was never set (``np.empty``: None, ``np.zeros``: 0)."""
    return value is None or (type(value) is int and value == 0)


def pack(value: Any, dtype: Dtype) -> bytes:
    """Return one value of ``dtype`` as bytes."""
    if dtype.subdtype is not None:
        items = np.asarray(value, dtype=dtype.base).reshape(-1)
        return b"".join(pack(item, dtype.base) for item in items)
    if not dtype.hasobject:
        return np.asarray(value).astype(dtype).tobytes()
    if dtype.names is not None and dtype.fields is not None:
        return b"".join(pack(value[name], dtype.fields[name][0]) for name in dtype.names)
    kind = check_vlen_dtype(dtype)
    if kind is str or kind is bytes:
        text = b"" if is_unset(value) else to_bytes(value, "utf-8" if kind is str else "ascii")
        return len(text).to_bytes(4, "little") + text
    base = np.dtype(kind)
    array = np.zeros(0, base) if value is None or np.ndim(value) == 0 else np.asarray(value, dtype=base)
    body = b"".join(pack(item, base) for item in array) if base.hasobject else array.tobytes()
    return len(array).to_bytes(4, "little") + body


def unpack(raw: bytes, offset: int, dtype: Dtype) -> tuple[Any, int]:
    """Return the value that begins at ``offset``, and where the next one begins.

    Raises
    ------
    ValueError
        If the bytes end before the value does.
    """
    if dtype.subdtype is not None:
        flat, offset = unpack_many(raw, offset, dtype.base, int(np.prod(dtype.shape)))
        return flat.reshape(dtype.shape), offset
    if not dtype.hasobject:
        return np.frombuffer(raw, dtype, 1, offset)[0], offset + dtype.itemsize
    if dtype.names is not None and dtype.fields is not None:
        parts = []
        for name in dtype.names:
            part, offset = unpack(raw, offset, dtype.fields[name][0])
            parts.append(part)
        return np.array(tuple(parts), dtype=dtype)[()], offset
    count = int.from_bytes(raw[offset : offset + 4], "little")
    offset += 4
    kind = check_vlen_dtype(dtype)
    if kind is str or kind is bytes:
        _require(raw, offset, count)
        return raw[offset : offset + count], offset + count
    return unpack_many(raw, offset, np.dtype(kind), count)


def _require(raw: bytes, offset: int, nbytes: int) -> None:
    if offset + nbytes > len(raw):
        raise ValueError(f"a packed value needs {nbytes} bytes behind byte {offset}, but there are {len(raw)} in all")


def unpack_many(raw: bytes, offset: int, base: Dtype, count: int) -> tuple[np.ndarray[Any, Any], int]:
    """Return the values that begin at ``offset`` one after the other, and where the next one begins."""
    if not base.hasobject:
        return np.frombuffer(raw, base, count, offset).copy(), offset + count * base.itemsize
    _require(raw, offset, count * _LEAST_NBYTES)  # before memory for so many elements is allocated
    out = np.zeros(count, base)
    for position in range(count):
        out[position], offset = unpack(raw, offset, base)
    return out, offset


@dataclass(frozen=True)
class StoredType:
    """The type of a dataset, and its conversion to and from the type of the zarr array."""

    dtype: Dtype
    kind: str

    @property
    def element(self) -> Dtype:
        """The type of one element, without the axes of a subarray."""
        return self.dtype.base

    @property
    def zarr_dtype(self) -> Any:
        """The type with which the zarr array is created."""
        if self.kind == "plain":
            return np.dtype(self.element.descr) if self.element.names is not None else np.dtype(self.element.str)
        if self.kind == "raw":
            return np.dtype(f"V{self.element.itemsize}")
        return "string" if self.kind == "text" else "variable_length_bytes"

    @property
    def needs_description(self) -> bool:
        """Return True if zarr's type lacks a part of the h5py type."""
        if self.kind in ("text", "bytes"):
            return bool(self.dtype.shape)
        if self.kind != "plain":
            return True
        # Format 3 has no byte order in its types.
        return bool(describe(self.dtype) != describe(np.dtype(self.zarr_dtype).newbyteorder("=")))

    def encode(self, array: Array) -> Any:
        """Return elements as zarr stores them."""
        if self.kind == "plain":
            return array.astype(self.zarr_dtype, copy=False) if array.dtype != self.zarr_dtype else array
        if self.kind == "raw":
            return np.ascontiguousarray(array).reshape(array.shape).view(self.zarr_dtype)
        if self.kind == "text":
            texts = [item.decode("utf-8") if isinstance(item, bytes) else str(item or "") for item in array.reshape(-1)]
            return np.array(texts, dtype=np.dtypes.StringDType()).reshape(array.shape)
        return map_elements(lambda item: item if self.kind == "bytes" else pack(item, self.element), array, object)

    def decode(self, stored: Any) -> Array:
        """Return elements read by zarr as an array of h5py's type."""
        if self.kind in ("plain", "raw"):
            array = np.asarray(stored)
            if self.kind == "plain" and array.dtype != self.element:
                array = array.astype(self.element)
            return array if array.dtype is self.element else array.view(self.element)
        return map_elements(self._decode_one, np.asarray(stored, dtype=object), self.element)

    def _decode_one(self, item: Any) -> Any:
        if self.kind == "text":
            return str(item).encode("utf-8")
        if self.kind == "bytes":
            return bytes(item)
        # Zeros, at least as many as are needed, stand for an element that was never written.
        return unpack(bytes(item) or bytes(self.element.itemsize), 0, self.element)[0]


def stored_type(dtype: Dtype) -> StoredType:
    """Return the stored form of a type."""
    element = dtype.base
    kind = check_vlen_dtype(element)
    if kind is str or kind is bytes:
        return StoredType(dtype, "text" if kind is str else "bytes")
    if element.hasobject:
        return StoredType(dtype, "packed")
    return StoredType(dtype, "plain" if _is_plain(element) else "raw")


def _is_plain(element: Dtype) -> bool:
    if element.subdtype is not None or (element.kind in "fc" and element.itemsize > (16 if element.kind == "c" else 8)):
        return False
    if element.kind == "S" and element.itemsize == 0:
        return False
    if element.fields is None or element.names is None:
        return True
    packed = np.dtype([(name, element[name]) for name in element.names])
    return packed == element and all(_is_plain(element[name]) for name in element.names)


def type_of_array(array: Any) -> Dtype:
    """Return the h5py type of a zarr array without a description."""
    name = getattr(array.metadata, "data_type", None)
    name = getattr(name, "_zarr_v3_name", name)
    if name == "variable_length_bytes":
        return string_dtype("ascii")
    return string_dtype() if name == "string" or array.dtype.kind == "T" else np.dtype(array.dtype)
