"""h5py's special data types: NumPy types that carry their meaning as metadata.

A variable-length string is an object type marked ``{"vlen": str}`` or ``{"vlen": bytes}``, a ragged array one marked
``{"vlen": dtype}``, an enumeration an integer marked ``{"enum": {...}}``, a fixed UTF-8 string an ``S`` type marked
``{"h5py_encoding": "utf-8"}``. ``describe`` and ``parse_description`` turn any of them to JSON and back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Dtype = np.dtype[Any]


class string_info(NamedTuple):
    """The result of ``check_string_dtype``: the encoding, and the length in bytes or None if it varies."""

    encoding: str
    length: int | None


class Empty:
    """A dataset or attribute with a data type and no elements.

    Example
    -------
    >>> Empty("f4").shape is None
    True
    """

    shape = None
    size = None

    def __init__(self, dtype: Any) -> None:
        self._dtype: Dtype = np.dtype(dtype)

    @property
    def dtype(self) -> Dtype:
        """The data type."""
        return self._dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Empty) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(("Empty", self._dtype))

    def __repr__(self) -> str:
        return f"Empty(dtype={self.dtype!r})"


def string_dtype(encoding: str = "utf-8", length: int | None = None) -> Dtype:
    """Return the type of strings of ``length`` bytes, or of any length.

    Example
    -------
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
    """Return the type of arrays of any length, with elements of ``basetype``."""
    return np.dtype("O", metadata={"vlen": basetype})


def enum_dtype(values_dict: dict[str, int], basetype: Any = np.uint8) -> Dtype:
    """Return an integer type whose values bear names."""
    base: Dtype = np.dtype(basetype)
    if base.kind not in "iu":
        raise TypeError(f"only integers can be enumerated, not {base}")
    return np.dtype(base, metadata={"enum": dict(values_dict)})


def opaque_dtype(np_dtype: Any) -> Dtype:
    """Return a type marked as one that HDF5 has no name for (dates, for example)."""
    dtype: Dtype = np.dtype(np_dtype)
    if dtype.hasobject or dtype.fields is not None or dtype.subdtype is not None:
        raise TypeError(f"{dtype} cannot be stored as opaque bytes: it has objects, fields or a shape")
    return np.dtype(dtype, metadata={"h5py_opaque": True})


def _mark(dtype: Any, key: str) -> Any:
    metadata: Any = dtype.metadata if isinstance(dtype, np.dtype) else None
    return metadata.get(key) if metadata else None


def check_vlen_dtype(dt: Dtype) -> Any:
    """Return the element type of a variable-length type (``str`` or ``bytes`` for strings), or None."""
    return _mark(dt, "vlen")


def check_enum_dtype(dt: Dtype) -> dict[str, int] | None:
    """Return the names and values of an enumeration, or None."""
    names: dict[str, int] | None = _mark(dt, "enum")
    return names


def check_opaque_dtype(dt: Dtype) -> bool:
    """Say whether the type is marked as opaque."""
    return bool(_mark(dt, "h5py_opaque"))


def check_string_dtype(dt: Dtype) -> string_info | None:
    """Return encoding and length of a string type, or None.

    Example
    -------
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
    """Return a special type by one keyword: ``vlen=…`` or ``enum=(basetype, names)``."""
    if len(kwds) != 1:
        raise TypeError("special_dtype takes exactly one of vlen= and enum=")
    name, value = next(iter(kwds.items()))
    if name == "vlen":
        return string_dtype("ascii" if value is bytes else "utf-8") if value in (str, bytes) else vlen_dtype(value)
    if name == "enum":
        return enum_dtype(value[1], value[0])
    raise TypeError(f"special_dtype knows vlen= and enum=, not {name}=")


def check_dtype(**kwds: Any) -> Any:
    """Return the mark of a type by one keyword, ``vlen=dtype`` or ``enum=dtype``, or None."""
    if len(kwds) != 1:
        raise TypeError("check_dtype takes exactly one of vlen= and enum=")
    name, dtype = next(iter(kwds.items()))
    if name not in ("vlen", "enum"):
        raise TypeError(f"check_dtype knows vlen= and enum=, not {name}=")
    return _mark(dtype, name)


def complex_compat_dtype(dtype: Any) -> Dtype:
    """Return the compound type with the fields ``r`` and ``i`` that stands for a complex type."""
    complex_type = np.dtype(dtype)
    if complex_type.kind != "c":
        raise TypeError(f"{complex_type} is not complex")
    part = np.dtype(f"{complex_type.byteorder}f{complex_type.itemsize // 2}")
    return np.dtype([("r", part), ("i", part)], metadata={"complex": complex_type})


def check_complex_dtype(dt: Dtype) -> Dtype | None:
    """Return the complex type that a type is or stands for, or None."""
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
    return _parse_compound(description)


def _parse_compound(description: dict[str, Any]) -> Dtype:
    fields = description["fields"]
    formats = [parse_description(field) for _, field, _ in fields]
    packed = np.dtype([(name, format_) for (name, _, _), format_ in zip(fields, formats, strict=True)])
    offsets = [offset for _, _, offset in fields]
    if packed.fields is not None and packed.itemsize == description["itemsize"]:
        if [packed.fields[name][1] for name, _, _ in fields] == offsets:
            return packed
    names = [name for name, _, _ in fields]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": description["itemsize"]})
