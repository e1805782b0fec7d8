"""One form for equal things: data types by their values, elements as bytes, documents as text.

Things that differ only in their storage (byte order, format, codec, pattern of a NaN) have the same form here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from zarr.arrays.layout import ArrayLayout
from zarr.dtype.base import ZDType, empty_array

Values = np.ndarray[Any, Any]


def json_line(value: Any) -> str:
    """Return a JSON value as one line of ASCII: members in the order of their names, no blanks.

    Examples
    --------
    >>> json_line({"b": (1, 2.5), "a": None})
    '{"a":null,"b":[1,2.5]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def one_line(text: str) -> str:
    """Return a text with escapes for characters that cannot be printed: names in a store may have any characters.

    Examples
    --------
    >>> one_line("a" + chr(10))
    'a\\\\n'
    """
    return text if text.isprintable() else "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def codec_text(document: Any) -> str:
    """Return a codec as a name and its parameters.

    Examples
    --------
    >>> codec_text({"name": "zstd", "configuration": {"level": 3}}), codec_text({"id": "zlib", "level": 1})
    ('zstd(level=3)', 'zlib(level=1)')
    """
    if not isinstance(document, dict):
        return str(document)
    name, settings = name_and_settings(document)
    given = ", ".join(f"{key}={value}" for key, value in settings.items() if key != "name")
    return f"{name}({given})" if given else str(name)


def name_and_settings(document: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """Return the name and the parameters of a codec from its document of either format."""
    name = document.get("name", document.get("id"))
    return name, document.get("configuration", {key: value for key, value in document.items() if key != "id"})


def plain_document(value: Any) -> Any:
    """Return a document with plain dicts and lists, and with the documents of objects that have one.

    Examples
    --------
    >>> import zarr
    >>> plain_document({"codecs": (zarr.codecs.BytesCodec(),)})
    {'codecs': [{'name': 'bytes', 'configuration': {'endian': 'little'}}]}
    """
    if isinstance(value, Mapping):
        return {name: plain_document(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain_document(member) for member in value]
    return plain_document(value.to_dict()) if hasattr(value, "to_dict") else value


def type_name(zdtype: ZDType[Any, Any]) -> Any:
    """Return the canonical name of a data type, as a JSON value.

    Parameters
    ----------
    zdtype : ZDType

    Examples
    --------
    >>> from zarr.dtype import Int32, VariableLengthUTF8
    >>> type_name(Int32(endianness="big")), type_name(VariableLengthUTF8())
    ('<i4', 'string')
    """
    kind = type(zdtype).__name__
    if kind == "Nullable":
        return {"optional": type_name(zdtype.inner)}  # type: ignore[attr-defined]
    if kind == "VariableLengthBytes":
        return "bytes"
    return _dtype_name(zdtype.to_native_dtype())


def _dtype_name(dtype: np.dtype[Any]) -> Any:
    if dtype.names is not None:
        return [[name, _dtype_name(dtype[name])] for name in dtype.names]
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return {"of": _dtype_name(base), "shape": list(shape)}
    if dtype.kind in "biufcSUmM" and _is_of_numpy(dtype):
        return dtype.newbyteorder("<").str
    if dtype.kind == "V" and dtype.type is np.void:
        return f"|V{dtype.itemsize}"
    return {"T": "string", "O": "object"}.get(dtype.kind, dtype.name)


def _is_of_numpy(dtype: np.dtype[Any]) -> bool:
    """Return True if a data type is one of NumPy itself, not one that a package adds, whose kind says little."""
    return dtype.type.__module__ == "numpy"


def in_types_of_numpy(values: Values) -> Values:
    """Return elements of a data type of another package in a data type of NumPy with all their values.

    Examples
    --------
    >>> in_types_of_numpy(np.array([1, 2], dtype="i2")).dtype
    dtype('int16')
    """
    dtype = values.dtype
    if dtype.kind in "OT" or dtype.names is not None or _is_of_numpy(dtype):
        return values
    return values.astype(np.complex128 if "complex" in dtype.name else np.float64)


def value_bytes(values: Any) -> bytes:
    """Return the elements of an array as bytes, in C order; :func:`zarr.tools.checksum` defines the form.

    Parameters
    ----------
    values : numpy.ndarray
        The elements; they may be a masked array.

    Raises
    ------
    TypeError
        If an element is a Python object without a JSON form.

    Examples
    --------
    >>> value_bytes(np.array([1, 2], dtype=">i2"))
    b'\\x01\\x00\\x02\\x00'
    >>> value_bytes(np.array(["ab"], dtype=object))
    b'\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00ab'
    """
    if isinstance(values, np.ma.MaskedArray):
        return _masked_bytes(values)
    values = np.asarray(values)
    dtype = values.dtype
    if dtype.names is not None:
        return b"".join(value_bytes(values[name]) for name in dtype.names)
    if dtype.kind in "TO":
        return b"".join(_with_length(item) for item in values.ravel().tolist())
    if dtype.kind in "fc" and _is_of_numpy(dtype):
        return _float_bytes(values)
    return bytes(values.astype(dtype.newbyteorder("<"), copy=False).tobytes())


def _masked_bytes(values: Any) -> bytes:
    """Return the values, zero for missing ones, and then one byte for each that marks existing ones."""
    mask: Values = np.ma.getmaskarray(values)
    plain = empty_array(values.shape, values.dtype)
    plain[...] = np.ma.getdata(values)
    if mask.dtype.names is not None:  # an optional optional: its own field marks missing values
        mask = np.asarray(np.array(mask.tolist(), dtype=bool).reshape(*values.shape, -1).all(axis=-1))
    plain[mask] = "" if plain.dtype.kind in "TO" else np.zeros((), plain.dtype)
    return value_bytes(plain) + (~mask).astype(np.uint8).tobytes()


def _float_bytes(values: Values) -> bytes:
    """Return numbers that compare equal as equal bytes: no negative zero, one NaN."""
    width = values.dtype.itemsize // (2 if values.dtype.kind == "c" else 1)
    parts: Values = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).reshape(-1).view(f"<f{width}")
    with np.errstate(invalid="ignore"):
        parts = parts + np.zeros((), parts.dtype)
    parts[np.isnan(parts)] = np.nan
    return bytes(parts.astype(f"<f{width}", copy=False).tobytes())


def _with_length(item: Any) -> bytes:
    if isinstance(item, str):
        data = item.encode("utf-8", "surrogatepass")
    elif isinstance(item, bytes):
        data = item
    else:
        try:
            data = json_line(_plain_object(item)).encode()
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"an element of type {type(item).__name__} has no canonical form: {error}; elements may be text, "
                "bytes, arrays, and JSON values"
            ) from error
    return len(data).to_bytes(8, "little") + data


def _plain_object(item: Any) -> Any:
    if isinstance(item, np.ndarray):
        return {"type": _dtype_name(item.dtype), "values": item.tolist()}
    return item.item() if isinstance(item, np.generic) else item


def filled_block(layout: ArrayLayout, shape: tuple[int, ...]) -> Any:
    """Return a block of fill values, as an array would read it."""
    block = empty_array(shape, layout.dtype)
    block[...] = layout.fill
    if layout.nullable is None:
        return block
    return np.ma.MaskedArray(block["value"], mask=~block["valid"])
