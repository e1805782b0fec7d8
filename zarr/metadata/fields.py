"""Fields of metadata documents that several kinds of node share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from zarr._lazy import LazyModule
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BaseCodec, BytesBytesCodec, Codec
from zarr.buffer.cpu import buffer_prototype
from zarr.chunks.spec import ArrayConfig, ArraySpec
from zarr.codecs.base.chain import validate_codecs
from zarr.codecs.base.described import MOST_CODECS, limited
from zarr.codecs.base.order import sort_codecs
from zarr.dtype.base import ZDType
from zarr.errors import MetadataValidationError, WrongTypeError, ZarrUserWarning
from zarr.metadata.documents import plain
from zarr.notices import warn
from zarr.registry import failure_of, get_codec_class, get_storage_transformer_class
from zarr.types import JSON, NodeType, parse_named_configuration

if TYPE_CHECKING:
    from zarr.dtype.types import structured
else:
    structured = LazyModule("zarr.dtype.types.structured")


class AllowedExtraField(TypedDict):
    """An unknown member that declares that it need not be understood."""

    must_understand: Literal[False]


def parse_extra_fields(
    data: Mapping[str, object] | None, *, reserved_keys: AbstractSet[str], node_type: NodeType
) -> dict[str, Any]:
    """Check the unknown members of a document.

    Parameters
    ----------
    data
        The members; None for none.
    reserved_keys
        Names with a meaning in the format.
    node_type
        The kind of node, for the message.

    Raises
    ------
    ValueError
        If a name is reserved.
    MetadataValidationError
        If a member must be understood.

    Examples
    --------
    >>> parse_extra_fields({"x": {"must_understand": False}}, reserved_keys={"shape"}, node_type="array")
    {'x': {'must_understand': False}}
    """
    if not data:
        return {}
    collisions = sorted(reserved_keys & data.keys())
    if collisions:
        raise ValueError(
            f"Invalid extra fields. The following keys: {collisions} are invalid because they collide with keys "
            f"reserved for use by the {node_type} metadata document."
        )
    fields = data.items()
    ignored = {key for key, value in fields if isinstance(value, Mapping) and value.get("must_understand") is False}
    disallowed = sorted(data.keys() - ignored)
    if disallowed:
        raise MetadataValidationError(
            f"Got Zarr V3 {node_type} metadata with the following disallowed extra fields: {disallowed}. Extra fields "
            'are not allowed unless they are an object with a "must_understand" key which is assigned the value '
            "`false`."
        )
    return dict(data)


def parse_attributes(data: Any) -> dict[str, JSON]:
    """Return attributes as a new dict, which shares its values; None means none.

    Raises
    ------
    TypeError
        If they are not a mapping.

    Examples
    --------
    >>> parse_attributes(None)
    {}
    """
    if data is None:
        return {}
    if type(data) is not dict and not isinstance(data, Mapping):
        raise TypeError(f"Expected attributes to be a dict with string keys. Got {type(data)} instead.")
    return dict(data)


def as_attributes(changes: Any) -> dict[str, JSON]:
    """Return changes of attributes as a new dict; they may be given as pairs, too.

    Raises
    ------
    WrongTypeError
        If they cannot be made into a dict.

    Examples
    --------
    >>> as_attributes([("unit", "m")])
    {'unit': 'm'}
    """
    try:
        return dict(changes)
    except (TypeError, ValueError):
        raise WrongTypeError(f"Expected dict with string keys. Got {type(changes)} instead.") from None


def named_attributes(data: Any) -> dict[str, JSON]:
    """Return the attributes of a user as a new dict. JSON only has strings as names.

    Raises
    ------
    TypeError
        If they are not a mapping, or a name is no string.

    Examples
    --------
    >>> named_attributes({"unit": "m"})
    {'unit': 'm'}
    """
    if data is None:
        return {}
    if not isinstance(data, Mapping):
        raise TypeError(f"Expected dict with string keys. Got {type(data)} instead.")
    for name in data:
        if not isinstance(name, str):
            raise TypeError(f"Expected dict with string keys. Got {type(data)} with the key {name!r} instead.")
    return dict(plain(dict(data)))


def parse_dimension_names(data: object) -> tuple[str | None, ...] | None:
    """Check dimension names.

    Parameters
    ----------
    data
        None, or an iterable of strings and None.

    Raises
    ------
    TypeError
        If it is anything else.

    Examples
    --------
    >>> parse_dimension_names(["x", None])
    ('x', None)
    """
    if data is None:
        return None
    if type(data) is list or isinstance(data, Iterable):
        names = tuple(data)
        if all([name is None or isinstance(name, str) for name in names]):  # noqa: C419  (half the time)
            return names
    raise TypeError(f"Expected either None or an iterable of str, got {type(data)}")


def parse_storage_transformers(data: object) -> tuple[dict[str, JSON], ...]:
    """Return the storage transformers of an array.

    Parameters
    ----------
    data
        None, or an iterable of JSON objects.

    Raises
    ------
    TypeError
        If it is not an iterable of objects.

    Examples
    --------
    >>> parse_storage_transformers([])
    ()
    """
    if data is None:
        return ()
    if not isinstance(data, Iterable) or isinstance(data, str):
        raise TypeError(f"Invalid storage_transformers. Expected an iterable of dicts. Got {type(data)} instead.")
    return tuple([dict(item) if isinstance(item, Mapping) else {"name": item} for item in data])


def check_storage_transformers(data: object) -> tuple[dict[str, JSON], ...]:
    """Return the storage transformers of an array, all of which can be applied.

    Parameters
    ----------
    data
        None, or an iterable of JSON objects. The format defines no transformer; others can be registered under
        ``zarr.storage_transformer``.

    Raises
    ------
    TypeError
        If it is not an iterable of objects.
    MetadataValidationError
        If a transformer is not registered.
    """
    if data is None or (type(data) in (list, tuple) and not data):
        return ()
    transformers = parse_storage_transformers(data)
    for transformer in transformers:
        name, _ = parse_named_configuration(transformer, require_configuration=False)
        try:
            get_storage_transformer_class(name)
        except KeyError as error:
            raise MetadataValidationError(
                "Arrays with storage transformers are not supported in zarr-python at this time, and no implementation "
                f"of {name!r} is registered here under 'zarr.storage_transformer'.{failure_of(name)}"
            ) from error
    return transformers


def parse_fill_value(data: Any, dtype: ZDType[Any, Any]) -> Any:
    """Read the ``fill_value`` member of format 3.

    Raises
    ------
    TypeError, ValueError
        If it is no value of the data type, or a record without one of its fields.
    """
    if type(data) is dict:
        structured.check_fields(dtype, data)
    return dtype.from_json_scalar(data, zarr_format=3)


_LONG_FORM = frozenset(("name", "configuration"))
_KINDS = (ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec)


def parse_codecs(data: object, *, stored: bool = False) -> tuple[Codec, ...]:
    """Read the codecs of an array.

    Parameters
    ----------
    data
        An iterable of codecs, of their JSON forms and of their bare names.
    stored
        If True, they come from a document, in which blosc must have the item size for its shuffle.

    Raises
    ------
    TypeError
        If it is not an iterable, or an entry is neither a codec nor its JSON form.
    ValueError
        If there are more codecs than a chain may have, or stored blosc shuffles items of unknown size.
    UnknownCodecError
        If a name has no known implementation.

    Examples
    --------
    >>> parse_codecs([{"name": "gzip", "configuration": {"level": 1}}])
    (GzipCodec(level=1),)
    """
    if stored:
        _check_stored(data)
    if type(data) is not list and isinstance(data, str | Mapping):
        data = [data]
    if type(data) is not list and not isinstance(data, Iterable):
        raise TypeError(f"Expected iterable, got {type(data)}")
    found: list[Codec] = []
    for entry in data if type(data) is list and len(data) <= MOST_CODECS else limited(data):
        if isinstance(entry, _KINDS):
            found.append(entry)
            continue
        if type(entry) is not dict or type(entry.get("name")) is not str or not entry.keys() <= _LONG_FORM:
            name, configuration = parse_named_configuration(entry, require_configuration=False)
            entry = {"name": name} if configuration is None else {"name": name, "configuration": configuration}
        name = entry["name"]
        cls = get_codec_class(name)
        try:
            found.append(cls.from_dict(entry))
        except MetadataValidationError:
            raise
        except KeyError as error:
            # A KeyError of a codec's constructor must not look like a missing node.
            what = f"KeyError {error.args[0]!r}" if error.args else "KeyError"
            raise MetadataValidationError(f"{what} while parsing the configuration for codec {name!r}.") from error
    return tuple(found)


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


def validate_array_bytes_codec(codecs: tuple[Codec, ...]) -> ArrayBytesCodec:
    """Return the one array-to-bytes codec.

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


def warn_whole_shards() -> None:
    """Warn that the shards of an array can only be read and written as a whole."""
    warn(
        "Combining a `sharding_indexed` codec disables partial reads and writes, which may lead to inefficient "
        "performance. Another codec stands beside it: give filters and compressors to the codec of the shards instead: "
        "create_array(..., shards=..., compressors=...) does so.",
        ZarrUserWarning,
    )


# Neither the run-time behaviour of an array nor the place of its data changes the result of a codec.
_PLAIN_CONFIG = ArrayConfig(order="C", write_empty_chunks=False)


def complete_codecs(
    codecs: tuple[Codec, ...], *, shape: tuple[int, ...], dtype: ZDType[Any, Any], fill_value: Any, chunk_grid: Any
) -> tuple[Codec, ...]:
    """Fill in the parameters that codecs take from the array, and let each codec validate itself.

    Parameters
    ----------
    codecs
        The codecs of the document.
    shape, dtype, fill_value, chunk_grid
        Members of the array.

    Raises
    ------
    ValueError
        If there is not exactly one array-to-bytes codec, or a codec does not fit the array.
    TypeError
        If their order is impossible.
    """
    # They are validated for the first chunk; for the whole array, if the grid has no chunk shape.
    chunk = getattr(chunk_grid, "chunk_shape", None) or shape
    spec = ArraySpec(tuple(chunk), dtype, fill_value, _PLAIN_CONFIG, buffer_prototype)
    completed = validate_codecs(codecs, spec, shape, chunk_grid)
    # A codec that does not fit the array is reported first: that is more useful than a missing one.
    try:
        sort_codecs(codecs)
    except (TypeError, ValueError):
        validate_array_bytes_codec(codecs)  # reports the missing codec, in any order
        raise
    return completed


def fits_shapes(codecs: Iterable[Codec]) -> bool:
    """Return True if codecs do not depend on the shape of the array: valid for its chunks, valid for any shape.

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
