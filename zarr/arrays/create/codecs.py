"""Choose the codecs of a new array: those of the user, in any form, or the defaults of the data type."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from zarr._lazy import LazyModule, dataclasses, instance_of, numcodecs
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec
from zarr.abc.numcodec import Numcodec
from zarr.codecs.base import described
from zarr.codecs.bytes import BytesCodec
from zarr.codecs.zstd import ZstdCodec
from zarr.dtype import ZDType
from zarr.errors import UnnamedCodecError, WrongTypeError
from zarr.registry import get_numcodec

if TYPE_CHECKING:
    from zarr.codecs import vlen_utf8
    from zarr.codecs.extensions import optional
    from zarr.codecs.sharding import ShardingCodec
    from zarr.dtype import Nullable
    from zarr.metadata import convert
else:
    convert = LazyModule("zarr.metadata.convert")
    optional, vlen_utf8 = LazyModule("zarr.codecs.extensions.optional"), LazyModule("zarr.codecs.vlen_utf8")

CompressorLike: TypeAlias = dict[str, Any] | BytesBytesCodec | Numcodec | Literal["auto"] | None
CompressorsLike: TypeAlias = Iterable[dict[str, Any] | BytesBytesCodec | Numcodec] | CompressorLike
FiltersLike: TypeAlias = (
    Iterable[dict[str, Any] | str | ArrayArrayCodec | Numcodec] | ArrayArrayCodec | Numcodec | Literal["auto"] | None
)
SerializerLike: TypeAlias = dict[str, Any] | str | ArrayBytesCodec | Literal["auto"]


SELF_SUFFICIENT_OBJECT_CODECS = ("vlen-utf8", "vlen-bytes", "json2", "msgpack2", "pickle")
"""Object codecs that can be made without a parameter."""


def is_numcodec(value: object) -> bool:
    """Return True if a value is a codec of numcodecs; False while that package is not loaded."""
    module = sys.modules.get("numcodecs.abc")
    return module is not None and isinstance(value, module.Codec)


def as_tuple(codecs: Any) -> tuple[Any, ...]:
    """Return one codec in any form, several of them, or none, as a tuple."""
    if codecs is None:
        return ()
    single = isinstance(codecs, Mapping | str | Codec) or is_numcodec(codecs) or not isinstance(codecs, Iterable)
    return (codecs,) if single else tuple(codecs)


def is_auto(value: object) -> bool:
    """Return True if the library chooses the value of a parameter."""
    return isinstance(value, str) and value == "auto"


def default_serializer_v3(dtype: ZDType[Any, Any]) -> ArrayBytesCodec:
    """Return the default serializer of a data type.

    Raises
    ------
    ValueError
        If the data type has objects that no codec of format 3 stores.

    Examples
    --------
    >>> from zarr.dtype import Int8
    >>> default_serializer_v3(Int8())
    BytesCodec(endian=None)
    """
    refuse_unknown_objects(dtype)
    if instance_of(dtype, "zarr.dtype.types.text", "VariableLengthUTF8"):
        return vlen_utf8.VLenUTF8Codec()
    if instance_of(dtype, "zarr.dtype.types.binary", "VariableLengthBytes"):
        return vlen_utf8.VLenBytesCodec()
    if instance_of(dtype, "zarr.dtype.types.nullable", "Nullable"):
        inner = cast("Nullable", dtype)
        return optional.OptionalCodec(data_codecs=[default_serializer_v3(inner.inner)], name=inner.name)
    return BytesCodec() if getattr(dtype, "item_size", 2) > 1 else BytesCodec(endian=None)


def default_filters_v2(dtype: ZDType[Any, Any]) -> tuple[Any, ...] | None:
    """Return the default filters of a format 2 array: only objects need one.

    Raises
    ------
    ValueError
        For objects, if the codec cannot be made without further parameters.
    """
    needed = getattr(dtype, "object_codec_id", None)
    if needed in SELF_SUFFICIENT_OBJECT_CODECS:
        return (numcodecs.get_codec({"id": needed}),)
    refuse_unknown_objects(dtype)
    return None


def refuse_unknown_objects(dtype: ZDType[Any, Any]) -> None:
    """Refuse a data type of objects for which no default codec can be chosen."""
    needed = getattr(dtype, "object_codec_id", None)
    if needed is not None and needed not in SELF_SUFFICIENT_OBJECT_CODECS:
        raise ValueError(f"Data type {dtype} requires an unknown object codec: {needed!r}.")


# ----------------------------------------------------------------------------------------------- format 3


def parse_codec(codec: Any, dtype: ZDType[Any, Any], kind: type, what: str) -> Any:
    """Return one codec of a format 3 array.

    Raises
    ------
    TypeError
        If it is of the wrong kind.
    UnnamedCodecError
        If it is an object without ``name`` and ``id``.
    """
    if isinstance(codec, Mapping):
        if "name" in codec:
            codec = described.parse_codec(codec)
        elif "id" in codec:
            codec = get_numcodec(dict(codec))  # type: ignore[arg-type]
        else:
            raise UnnamedCodecError(f"Expected a 'name' in the configuration of {what}, got {str(dict(codec))[:200]}.")
    if is_numcodec(codec):
        codec = convert.translate_numcodec(codec, dtype)
    if not isinstance(codec, kind):
        hint = f"; by name it is {{'name': {codec!r}, 'configuration': {{…}}}}" if isinstance(codec, str) else ""
        article = "a" if kind is BytesBytesCodec else "an"
        raise TypeError(f"Expected {article} {kind.__name__}. Got {type(codec)} instead, as {what}{hint}.")
    return codec


def parse_codecs(codecs: Any, dtype: ZDType[Any, Any], kind: type, what: str) -> tuple[Any, ...]:
    """Return one codec of a format 3 array, several of them, or none, as a tuple."""
    return tuple(parse_codec(codec, dtype, kind, what) for codec in as_tuple(codecs))


def choose_codecs_v3(
    dtype: ZDType[Any, Any], filters: FiltersLike, serializer: SerializerLike, compressors: CompressorsLike
) -> tuple[Codec, ...]:
    """Return the codecs of a format 3 array, in the order of encoding.

    Parameters
    ----------
    dtype : ZDType
    filters, serializer, compressors
        As for ``create_array``.

    Examples
    --------
    >>> from zarr.dtype import Int16
    >>> [type(codec).__name__ for codec in choose_codecs_v3(Int16(), "auto", "auto", "auto")]
    ['BytesCodec', 'ZstdCodec']
    """
    filters, of_bytes = ((), ()) if is_auto(filters) else _part_filters(filters, dtype)
    before = parse_codecs(filters, dtype, ArrayArrayCodec, "a filter")
    if is_auto(serializer):
        middle = default_serializer_v3(dtype)
    else:
        middle = parse_codec(serializer, dtype, ArrayBytesCodec, "a serializer")
    if is_auto(compressors):
        after = (ZstdCodec(),)
    else:
        after = parse_codecs(compressors, dtype, BytesBytesCodec, "a compressor")
    return (*before, middle, *of_bytes, *after)


def codecs_for(codecs: Iterable[Codec], old: ZDType[Any, Any], new: ZDType[Any, Any]) -> tuple[Codec, ...]:
    """Return the codecs of an array for elements of another data type: only the serializer may become another one.

    Examples
    --------
    >>> from zarr.codecs import GzipCodec
    >>> from zarr.dtype import Int16, VariableLengthUTF8
    >>> codecs_for([BytesCodec(), GzipCodec(level=1)], Int16(), VariableLengthUTF8())
    (VLenUTF8Codec(), GzipCodec(level=1))
    """
    return tuple(_codec_for(codec, old, new) for codec in codecs)


def _codec_for(codec: Codec, old: ZDType[Any, Any], new: ZDType[Any, Any]) -> Codec:
    if instance_of(codec, "zarr.codecs.sharding", "ShardingCodec"):
        sharding = cast("ShardingCodec", codec)
        return dataclasses.replace(sharding, codecs=codecs_for(sharding.codecs, old, new))
    if type(codec) is not type(default_serializer_v3(old)):
        return codec
    serializer = default_serializer_v3(new)
    has_byte_order = isinstance(codec, BytesCodec) and codec.endian is not None
    return codec if has_byte_order and isinstance(serializer, BytesCodec) else serializer


def _part_filters(filters: Any, dtype: ZDType[Any, Any]) -> tuple[Any, tuple[Codec, ...]]:
    """Part filters from codecs of numcodecs that work on bytes, as checksums: in format 2 these are filters, too."""
    others: list[Any] = []
    of_bytes: list[Codec] = []
    for codec in as_tuple(filters):
        found = convert.translate_numcodec(codec, dtype) if is_numcodec(codec) else codec
        (of_bytes if found is not codec and isinstance(found, BytesBytesCodec) else others).append(found)
    return others, tuple(of_bytes)


# ----------------------------------------------------------------------------------------------- format 2


def parse_numcodec(codec: Any, what: str) -> Any:
    """Return one codec of a format 2 array.

    Raises
    ------
    ValueError
        If it is neither a codec of numcodecs nor the JSON form of one.
    """
    if isinstance(codec, Mapping):
        return get_numcodec(dict(codec))  # type: ignore[arg-type]
    if hasattr(codec, "codec_config"):  # one of zarr.codecs, which in zarr-python 2 were those of numcodecs
        return get_numcodec(dict(codec.codec_config))  # type: ignore[arg-type]
    if codec is None or hasattr(codec, "codec_id") or is_numcodec(codec):
        return codec
    raise ValueError(
        f"Invalid {what}. Expected None, a numcodecs.abc.Codec, or a dict representation of a numcodecs.abc.Codec. "
        f"Got {type(codec)} instead."
    )


def choose_codecs_v2(
    dtype: ZDType[Any, Any], filters: FiltersLike, compressors: CompressorsLike
) -> tuple[tuple[Any, ...] | None, Any]:
    """Return the filters and the compressor of a format 2 array.

    Raises
    ------
    TypeError
        If there is more than one compressor.
    """
    chosen = default_filters_v2(dtype) if is_auto(filters) else parse_filters_v2(filters)
    compressor = choose_compressor_v2(compressors)
    check_object_codec(dtype, (*(chosen or ()), compressor))
    return chosen, compressor


def parse_filters_v2(filters: Any) -> tuple[Any, ...] | None:
    """Return one filter of a format 2 array, or several, as a tuple; None for none.

    Raises
    ------
    TypeError
        If one is neither a codec of numcodecs nor the JSON form of one.
    """
    if not isinstance(filters, Iterable | Codec | None) and not is_numcodec(filters):
        raise TypeError(f"Invalid filters. Expected None or numcodecs codecs. Got {type(filters)} instead.")
    given = as_tuple(filters)
    for index, codec in enumerate(given):
        known = hasattr(codec, "codec_id") or hasattr(codec, "codec_config")
        if not isinstance(codec, Mapping) and not known and not is_numcodec(codec):
            raise TypeError(
                "For Zarr format 2 arrays, all elements of `filters` must be numcodecs codecs. "
                f"Element at index {index} has type {type(codec)}, which is not a numcodecs codec."
            )
    return tuple(parse_numcodec(codec, "filter") for codec in given) or None


def check_object_codec(dtype: ZDType[Any, Any], codecs: Iterable[Any]) -> None:
    """Refuse objects that no codec can turn into bytes.

    Raises
    ------
    ValueError
    """
    needed = getattr(dtype, "object_codec_id", None)
    if needed is not None and needed not in {getattr(codec, "codec_id", None) for codec in codecs}:
        known = numcodecs.registry.codec_registry.get(needed)
        named = f"the numcodecs.{known.__name__} codec" if known else f"an unknown object codec with id {needed!r}"
        raise ValueError(
            f"Data type {dtype} requires {named}, but no such codec was specified in the filters or compressor "
            "parameters for this array. "
            f"Put numcodecs.get_codec({{'id': {needed!r}}}) among the filters."
        )


def choose_compressor_v2(compressors: CompressorsLike) -> Any:
    """Return the compressor of a format 2 array."""
    if is_auto(compressors):
        return numcodecs.Zstd(level=0)
    several = as_tuple(compressors)
    if len(several) > 1 or isinstance(compressors, str):
        raise WrongTypeError(
            "For Zarr format 2 arrays, the `compressor` must be a single codec. "
            f"Got an iterable with type {type(compressors)} instead."
        )
    return parse_numcodec(several[0] if several else None, "compressor")
