"""The ``codecs`` member of an array document: reading it, and settling it for one array."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BaseCodec, BytesBytesCodec, Codec
from zarr.buffer.cpu import buffer_prototype
from zarr.chunks.spec import ArrayConfig, ArraySpec
from zarr.codecs.base.adapters import sort_codecs
from zarr.codecs.base.chain import validate_codecs
from zarr.codecs.base.parsing import limited
from zarr.dtype.base import ZDType
from zarr.errors import MetadataValidationError, ZarrUserWarning
from zarr.metadata.cache import has_whole_shards
from zarr.notices import warn
from zarr.registry import get_codec_class
from zarr.types import parse_named_configuration

_LONG_FORM = frozenset(("name", "configuration"))
_KINDS = (ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec)


def parse_codecs(data: object) -> tuple[Codec, ...]:
    """Read the codecs of an array.

    Parameters
    ----------
    data
        An iterable of codecs, of their JSON forms and of their bare names.

    Returns
    -------
    tuple of codecs

    Raises
    ------
    TypeError
        If it is not an iterable, or an entry is neither.
    ValueError
        If there are more codecs than any chain has.
    UnknownCodecError
        If no implementation of a name is known.

    Examples
    --------
    >>> parse_codecs([{"name": "gzip", "configuration": {"level": 1}}])
    (GzipCodec(level=1),)
    """
    if type(data) is not list and isinstance(data, str | Mapping):
        data = [data]
    if type(data) is not list and not isinstance(data, Iterable):
        raise TypeError(f"Expected iterable, got {type(data)}")
    return tuple([entry if isinstance(entry, _KINDS) else _parse_codec(entry) for entry in limited(data)])


def parse_stored_codecs(data: object) -> tuple[Codec, ...]:
    """Read the codecs of a document: here nothing is left to the array that a codec object may leave to it.

    Raises
    ------
    ValueError
        If blosc is to shuffle and is not told the size of the items, and where `parse_codecs` raises.
    """
    _check_stored(data)
    return parse_codecs(data)


def _check_stored(data: object) -> None:
    for entry in data if isinstance(data, list | tuple) else ():
        configuration = entry.get("configuration") if type(entry) is dict or isinstance(entry, Mapping) else None
        if type(configuration) is not dict and not isinstance(configuration, Mapping):
            continue
        if entry.get("name") == "blosc" and configuration.get("typesize") is None:
            shuffle = configuration.get("shuffle")
            if shuffle in ("shuffle", "bitshuffle"):
                raise ValueError(
                    f"the codec 'blosc' with shuffle {shuffle!r} needs a 'typesize'; add it to the document: the "
                    "item size of the data type"
                )
        if "codecs" in configuration:
            _check_stored(configuration["codecs"])


def _parse_codec(entry: Any) -> Codec:
    if type(entry) is dict and type(entry.get("name")) is str and entry.keys() <= _LONG_FORM:
        return _make_codec(entry["name"], entry)
    name, configuration = parse_named_configuration(entry, require_configuration=False)
    document: dict[str, Any] = {"name": name}
    if configuration is not None:
        document["configuration"] = configuration
    return _make_codec(name, document)


def _make_codec(name: str, document: dict[str, Any]) -> Codec:
    cls = get_codec_class(name)
    try:
        return cls.from_dict(document)
    except KeyError as error:
        if isinstance(error, MetadataValidationError):
            raise
        # A codec that takes its configuration without looking must not seem to be a node that is not there.
        what = f"KeyError {error.args[0]!r}" if error.args else "KeyError"
        raise MetadataValidationError(f"{what} while parsing the configuration for codec {name!r}.") from error


def validate_array_bytes_codec(codecs: tuple[Codec, ...]) -> ArrayBytesCodec:
    """Return the one codec that makes bytes of an array.

    Raises
    ------
    ValueError
        If there is none, or more than one.
    """
    found = [codec for codec in codecs if isinstance(codec, ArrayBytesCodec)]
    if not found:
        raise ValueError("At least one ArrayBytesCodec is required.")
    if len(found) > 1:
        raise ValueError("Only one ArrayBytesCodec is allowed.")
    return found[0]


def warn_whole_shards(codecs: tuple[Codec, ...]) -> None:
    """Tell that the shards of an array can only be read and written as a whole, where that is so."""
    if has_whole_shards(codecs):
        warn(
            "Another codec beside the `sharding_indexed` codec disables partial reads and writes, which may lead to "
            "inefficient performance. Give filters and compressors to the codec of the shards instead: "
            "create_array(..., shards=..., compressors=...) does so.",
            ZarrUserWarning,
        )


# What a codec makes of an array depends neither on how the array behaves at run time nor on where its data lie.
_PLAIN_CONFIG = ArrayConfig(order="C", write_empty_chunks=False)


def settle_codecs(
    codecs: tuple[Codec, ...], *, shape: tuple[int, ...], dtype: ZDType[Any, Any], fill_value: Any, chunk_grid: Any
) -> tuple[Codec, ...]:
    """Fill in what the codecs take from the array, and let each check that it can be used.

    Parameters
    ----------
    codecs
        As the document has them.
    shape, dtype, fill_value, chunk_grid
        Of the array.

    Returns
    -------
    tuple of codecs

    Raises
    ------
    ValueError
        If there is not exactly one array-to-bytes codec, or a codec does not fit the array.
    TypeError
        If they stand in an impossible order.
    """
    chunk = _first_chunk_shape(chunk_grid, shape)
    spec = ArraySpec(shape=chunk, dtype=dtype, fill_value=fill_value, config=_PLAIN_CONFIG, prototype=buffer_prototype)
    settled = validate_codecs(codecs, spec, shape, chunk_grid)
    # A codec that does not fit the array is named first: it says more than that another one is missing.
    validate_array_bytes_codec(codecs)
    sort_codecs(codecs)
    return settled


def fits_shapes(codecs: Iterable[Codec]) -> bool:
    """Return whether codecs have no say in the shape of an array: settled for its chunks, they are so whatever it is.

    Examples
    --------
    >>> from zarr.codecs import BytesCodec, ZstdCodec
    >>> fits_shapes((BytesCodec(), ZstdCodec()))
    True
    """
    for codec in codecs:
        validate = getattr(type(codec), "validate", None)
        if validate is not BaseCodec.validate or "validate" in getattr(codec, "__dict__", ()):
            return False
    return True


def _first_chunk_shape(chunk_grid: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the first chunk, for which codecs are settled; the array's, where the grid does not say."""
    lengths = getattr(chunk_grid, "chunk_shape", None)
    return shape if lengths is None else tuple(lengths)
