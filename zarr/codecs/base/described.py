"""Described codecs: their JSON form, and the public methods of all of them (``_decode_sync`` and similar)."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Self, cast

from zarr._lazy import asyncio
from zarr._records import field_names
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BoundCodec, BytesBytesCodec, Codec
from zarr.buffer import Buffer, NDBuffer
from zarr.buffer.cpu import Buffer as CpuBuffer
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import AnyArray, as_bytes
from zarr.dtype.base import ZDType
from zarr.notices import warn
from zarr.registry import get_codec_class
from zarr.types import JSON, parse_named_configuration


def parse_codec(data: Codec | Mapping[str, JSON] | str) -> Codec:
    """Return a codec from its JSON form; return a codec unchanged.

    Raises
    ------
    TypeError
        If it is neither a codec nor an object nor a name.
    UnknownCodecError
        If no codec has that name.

    Examples
    --------
    >>> parse_codec("crc32c")
    Crc32cCodec()
    """
    if isinstance(data, (ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec)):
        return data
    if isinstance(data, str):
        data = {"name": data}
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise TypeError(f"Expected a codec, its name, or an object with a name; got {data!r}.")
    # Here the codec is known, so the mark ``must_understand`` has no further meaning.
    known = {key: value for key, value in data.items() if key != "must_understand"}
    return get_codec_class(cast("str", data["name"])).from_dict(known)


def parse_codecs(data: Iterable[Any]) -> tuple[Codec, ...]:
    """Return codecs from a list of JSON forms.

    Raises
    ------
    TypeError
        If it is no list, or an entry is no codec.
    ValueError
        If there are more codecs than a chain may have.

    Examples
    --------
    >>> parse_codecs(["bytes", {"name": "crc32c"}])
    (BytesCodec(endian=None), Crc32cCodec())
    """
    if isinstance(data, (str, Mapping)) or not isinstance(data, Iterable):
        raise TypeError(f"Expected a list of codecs, got {data!r}.")
    codecs = tuple([parse_codec(entry) for entry in limited(data)])
    check_count(sum(map(_count, codecs)))
    return codecs


# Each codec takes time at every open and for every chunk; a document with more of them is not honest.
MOST_CODECS: Final = 256
INNER_CODECS: Final = ("codecs", "index_codecs", "mask_codecs", "data_codecs")


def check_count(count: int, what: str = "codecs") -> None:
    """Refuse a chain with more codecs than an array may have.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> check_count(256)
    """
    if count > MOST_CODECS:
        raise ValueError(f"a chain has at most {MOST_CODECS} {what}, those inside of others included; got {count}")


def limited(entries: Iterable[Any], what: str = "codecs") -> list[Any]:
    """Return a list with at most the number of codecs that a chain may have.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> limited(("bytes", "crc32c"))
    ['bytes', 'crc32c']
    """
    found = list(entries)
    check_count(len(found), what)
    return found


def _count(codec: Any) -> int:
    """Return the number of codecs in a codec, itself and inner ones included."""
    inner = (entry for name in INNER_CODECS for entry in getattr(codec, name, None) or ())
    return 1 + sum(map(_count, inner))


# Names of codecs in earlier versions, and their present names.
FORMER_NAMES = {"endian": "bytes"}


def configuration_of(data: Any, name: str, *, required: bool = True) -> dict[str, Any]:
    """Return the configuration in a codec's JSON form, which is an object or, without a configuration, a bare name.

    Parameters
    ----------
    data
        The JSON.
    name
        The name that the codec must have.
    required
        If True, there must be a configuration.

    Raises
    ------
    TypeError, ValueError
        If the JSON is no such object, has another name, or lacks the configuration.

    Examples
    --------
    >>> configuration_of({"name": "gzip", "configuration": {"level": 1}}, "gzip")
    {'level': 1}
    """
    if type(data) is dict and data.get("name") == name and type(given := data.get("configuration")) is dict:
        return dict(given)
    given = data if isinstance(data, str) else data.get("name") if isinstance(data, dict) else None
    expected = given if isinstance(given, str) and FORMER_NAMES.get(given) == name else name
    _, configuration = parse_named_configuration(data, expected, require_configuration=required)
    return dict(configuration) if isinstance(configuration, Mapping) else {}


def parse_field_int(data: JSON, field: str) -> int:
    """Return an int; the error for any other value has the name of the field.

    Raises
    ------
    TypeError
        If it is no int.

    Examples
    --------
    >>> parse_field_int(3, "level")
    3
    """
    if isinstance(data, int) and not isinstance(data, bool):
        return data
    raise TypeError(f"Failed to parse input for {field!r}: expected int, got {data!r}.")


class DeprecatedStrEnumMeta(type):
    """Metaclass of classes whose attributes are deprecated names of strings."""

    _members: ClassVar[dict[str, str]]

    def __getattr__(cls, name: str) -> str:
        members: dict[str, str] = type.__getattribute__(cls, "__dict__").get("_members", {})
        if name not in members:
            raise AttributeError(name)
        warn(
            f"{cls.__name__}.{name} is deprecated; pass the string {members[name]!r} instead.",
            DeprecationWarning,
        )
        return members[name]


def representable(dtype: ZDType[Any, Any], value: Any, label: str) -> Any:
    """Return a number or its JSON form as a scalar of a data type, in the machine's byte order.

    Raises
    ------
    ValueError
        If the data type has no such value.

    Examples
    --------
    >>> from zarr.dtype import UInt8
    >>> representable(UInt8(), 255, "offset").item()
    255
    """
    native = dtype.to_native_dtype().newbyteorder("=")
    try:
        scalar = native.type(dtype.from_json_scalar(value, zarr_format=3))
        if isinstance(value, str) or native.kind == "f" or int(scalar) == value:
            return scalar
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{label} {value!r} is not representable in dtype {native}.")


def one_of(value: Any, allowed: tuple[str, ...], field: str, owner: str) -> str:
    """Return a string that must be one of a list; an enumeration member counts as its value.

    Raises
    ------
    ValueError
        If it is not in the list.

    Examples
    --------
    >>> one_of("little", ("little", "big"), "endian", "BytesCodec")
    'little'
    """
    if isinstance(value, enum.Enum):
        warn(
            f"Passing an enum to {owner} for {field!r} is deprecated; pass the string {value.value!r} instead.",
            DeprecationWarning,
        )
    value = getattr(value, "value", value)
    if isinstance(value, str) and value in allowed:
        return value
    raise ValueError(f"{field} must be one of {list(allowed)}. Got {value!r}.")


def wrap_array(array: AnyArray, spec: ArraySpec) -> NDBuffer:
    """Return an array in the buffer class of a description."""
    return spec.prototype.nd_buffer.from_numpy_array(array)


def wrap_bytes(data: AnyArray, spec: ArraySpec) -> Buffer:
    """Return bytes in the buffer class of a description."""
    buffer = spec.prototype.buffer
    # Memory of the CPU is wrapped without a copy; other classes move the bytes to their own memory.
    return buffer(as_bytes(data)) if buffer is CpuBuffer else buffer.from_bytes(as_bytes(data).data)


class ArrayArrayMethods:
    """The JSON form, and methods on buffers, of array-to-array codecs that can be bound.

    Attributes
    ----------
    _name
        The name of the codec in metadata.
    _requires_configuration
        True if a JSON form without a configuration is refused.
    _omits_empty
        True if the JSON form omits an empty configuration.
    _in_thread
        True if the coroutines run in another thread.
    """

    _name: ClassVar[str]
    _requires_configuration: ClassVar[bool] = True
    _omits_empty: ClassVar[bool] = False
    _in_thread: ClassVar[bool] = False
    is_fixed_size: bool

    @classmethod
    def from_dict(cls, data: dict[str, JSON]) -> Self:
        """Return the codec of a JSON object.

        Parameters
        ----------
        data : dict[str, JSON]
            The metadata as a dictionary.
        """
        return cls(**configuration_of(data, cls._name, required=cls._requires_configuration))

    def to_dict(self) -> dict[str, JSON]:
        """Return the JSON object of this codec.

        Returns
        -------
        dict
            JSON names and values.
        """
        configuration = self._configuration()
        if self._omits_empty and not configuration:
            return {"name": self._name}
        return {"name": self._name, "configuration": configuration}

    def _configuration(self) -> dict[str, JSON]:
        """Return the stored parameters: all fields that are not None."""
        given = {name: getattr(self, name) for name in field_names(self) if not name.startswith("_")}
        return {
            name: tuple(codec.to_dict() for codec in value) if name in INNER_CODECS else value
            for name, value in given.items()
            if value is not None
        }

    def bind(self, spec: ArraySpec) -> BoundCodec:
        """Return the codec bound to chunks of one description."""
        raise TypeError(f"{type(self).__name__} does not define bind")

    def compute_encoded_size(self, input_byte_length: int, _chunk_spec: ArraySpec) -> int:
        """Return the same size for a codec of fixed size.

        Raises
        ------
        NotImplementedError
            If the size depends on the data.
        """
        if not self.is_fixed_size:
            raise NotImplementedError(f"{type(self).__name__}: the encoded size depends on the data")
        return input_byte_length

    def _unwrap(self, chunk: Buffer | NDBuffer) -> AnyArray:
        return chunk.as_numpy_array()

    def _wrap_decoded(self, data: AnyArray, spec: ArraySpec) -> Any:
        return wrap_array(data, spec)

    def _wrap_encoded(self, data: AnyArray, spec: ArraySpec) -> Any:
        return wrap_array(data, spec)

    def _decode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        return self._wrap_decoded(self.bind(chunk_spec).decode(self._unwrap(chunk_data)), chunk_spec)

    def _encode_sync(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        return self._wrap_encoded(self.bind(chunk_spec).encode(self._unwrap(chunk_data)), chunk_spec)

    async def _decode_single(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        if self._in_thread:
            return await asyncio.to_thread(self._decode_sync, chunk_data, chunk_spec)
        return self._decode_sync(chunk_data, chunk_spec)

    async def _encode_single(self, chunk_data: Any, chunk_spec: ArraySpec) -> Any:
        if self._in_thread:
            return await asyncio.to_thread(self._encode_sync, chunk_data, chunk_spec)
        return self._encode_sync(chunk_data, chunk_spec)


class ArrayBytesMethods(ArrayArrayMethods):
    """Methods on buffers for array-to-bytes codecs that can be bound."""

    def _wrap_encoded(self, data: AnyArray, spec: ArraySpec) -> Any:
        return wrap_bytes(data, spec)


class BytesBytesMethods(ArrayBytesMethods):
    """Methods on buffers for bytes-to-bytes codecs that can be bound."""

    _in_thread = True

    def compute_encoded_size(self, _input_byte_length: int, _chunk_spec: ArraySpec) -> int:
        """Return the same size for a codec of fixed size; raise NotImplementedError for others."""
        return super().compute_encoded_size(_input_byte_length, _chunk_spec)

    def _wrap_decoded(self, data: AnyArray, spec: ArraySpec) -> Any:
        return wrap_bytes(data, spec)
