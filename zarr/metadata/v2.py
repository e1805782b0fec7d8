"""Parse, check and write the documents ``.zarray`` and ``.zattrs`` of an array of format 2: ``ArrayV2Metadata``.

``zarr/steps/documents.py`` parses stored documents by it, and ``zarr/arrays/create/steps.py`` makes new ones. It never
reads a store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, TypeAlias

from zarr._lazy import LazyModule
from zarr._records import field, field_names, record
from zarr.abc.metadata import Metadata
from zarr.abc.numcodec import Numcodec, _is_numcodec, is_of_numcodecs
from zarr.buffer.core import Buffer, BufferPrototype
from zarr.chunks.keys import V2ChunkKeyEncoding, parse_separator
from zarr.chunks.shapes import parse_shape, parse_stored_shape
from zarr.chunks.spec import ArrayConfig, ArraySpec
from zarr.codecs.base.described import limited
from zarr.defaults import settings
from zarr.dtype.base import ZDType
from zarr.dtype.registry import get_data_type_from_json
from zarr.errors import ZarrUserWarning
from zarr.metadata import cache
from zarr.metadata.documents import (
    MetadataMemberError,
    document_place,
    dump_document,
    dump_framed,
    raise_located,
    require,
)
from zarr.metadata.fields import parse_attributes
from zarr.metadata.repair import Repair, keep_stored, repair_array_document, warn_of_repairs
from zarr.notices import warn_once
from zarr.registry import get_numcodec
from zarr.types import JSON, ZARRAY_JSON, ZATTRS_JSON, MemoryOrder, parse_order

if TYPE_CHECKING:
    from zarr.chunks import grid
    from zarr.chunks.grid import ChunkGrid
else:
    grid = LazyModule("zarr.chunks.grid")


CompressorLikev2: TypeAlias = Mapping[str, JSON] | Numcodec | None

# Filters that turn objects into bytes: they determine the objects of an array of dtype "|O".
OBJECT_CODEC_IDS: Final = ("vlen-utf8", "vlen-bytes", "vlen-array", "pickle", "json2", "msgpack2", "categorize")


def parse_zarr_format(data: object) -> Literal[2]:
    """Check the ``zarr_format`` of a document of format 2.

    Raises
    ------
    ValueError
        If it is not the integer 2.
    """
    if type(data) is int and data == 2:
        return 2
    raise ValueError(f"Failed to parse input for 'zarr_format': expected Literal[2], got {data!r}.")


def parse_compressor(data: object) -> Numcodec | None:
    """Read the ``compressor`` member.

    Parameters
    ----------
    data
        None, a numcodecs codec, or its configuration.

    Raises
    ------
    ValueError
        If it is anything else.
    UnknownCodecError
        If numcodecs has no such codec.

    Examples
    --------
    >>> parse_compressor({"id": "zlib", "level": 1})
    Zlib(level=1)
    """
    if data is None or _is_numcodec(data):
        return data
    if isinstance(data, Mapping):
        return get_numcodec(data)  # type: ignore[arg-type]
    raise ValueError(
        "Invalid compressor. Expected None, a numcodecs.abc.Codec, or a dict representation of a numcodecs.abc.Codec. "
        f"Got {type(data)} instead."
    )


def parse_filters(data: object) -> tuple[Numcodec, ...] | None:
    """Read the ``filters`` member.

    Parameters
    ----------
    data
        None, or an iterable of numcodecs codecs and their configurations. An empty one means the same as None.

    Raises
    ------
    TypeError, ValueError
        If it is anything else, or there are too many.
    UnknownCodecError
        If numcodecs has no such codec.

    Examples
    --------
    >>> parse_filters([]) is None
    True
    """
    if data is None:
        return None
    if _is_numcodec(data):
        return (data,)
    if not isinstance(data, Iterable):
        raise TypeError(
            "Invalid filters. Expected None, an iterable of numcodecs.abc.Codec or dict representations of "
            f"numcodecs.abc.Codec. Got {type(data)} instead."
        )
    filters: list[Numcodec] = []
    for index, entry in enumerate(limited(data, "filters")):
        if _is_numcodec(entry):
            filters.append(entry)
        elif isinstance(entry, Mapping):
            filters.append(get_numcodec(entry))  # type: ignore[arg-type]
        else:
            raise TypeError(
                f"Invalid filter at index {index}. Expected a numcodecs.abc.Codec or a dict representation of "
                f"numcodecs.abc.Codec. Got {type(entry)} instead."
            )
    return tuple(filters) or None


def parse_chunks(chunks: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Read the ``chunks`` member. A length of zero, which was written for empty axes, is read as 1.

    Raises
    ------
    TypeError, ValueError
        If it is malformed or of another rank than ``shape``.

    Examples
    --------
    >>> parse_chunks([0, 5], (0, 10))
    (1, 5)
    """
    lengths = parse_shape(chunks)
    if len(lengths) != len(shape):
        raise ValueError(
            f"The `shape` and `chunks` attributes must have the same length. `chunks` has length {len(lengths)}, but "
            f"`shape` has length {len(shape)}."
        )
    return lengths if 0 not in lengths else tuple([length or 1 for length in lengths])


def get_object_codec_id(maybe_object_codecs: Sequence[Any]) -> str | None:
    """Return the id of the first filter that turns objects into bytes, or None.

    Examples
    --------
    >>> get_object_codec_id([{"id": "vlen-utf8"}])
    'vlen-utf8'
    """
    for codec in maybe_object_codecs:
        codec_id = codec.get("id") if isinstance(codec, Mapping) else getattr(codec, "codec_id", None)
        if codec_id in OBJECT_CODEC_IDS:
            return str(codec_id)
    return None


def parse_data_type(data: Mapping[str, Any]) -> ZDType[Any, Any]:
    """Read the ``dtype`` member, with the filter or compressor that determines the objects.

    Raises
    ------
    ValueError
        If no data type matches.
    """
    filters = data.get("filters")
    candidates = [*(filters if isinstance(filters, list | tuple) else ()), data.get("compressor")]
    name = require(data, "dtype")
    # A filter that turns objects into bytes may follow another data type, too, and then determines nothing.
    objects = isinstance(name, str) and name.endswith("O")
    spec: Any = {"name": name, "object_codec_id": get_object_codec_id(candidates) if objects else None}
    return get_data_type_from_json(spec, zarr_format=2)


def parse_fill_value(data: Any, dtype: ZDType[Any, Any]) -> Any:
    """Read the ``fill_value`` member; None is an undefined one.

    Parameters
    ----------
    data
        The JSON value.
    dtype
        The data type.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If it is not a value of the data type.
    """
    if data is None:
        return None
    try:
        return dtype.from_json_scalar(data, zarr_format=2)
    except (TypeError, ValueError):
        # Earlier writers stored the number 0 for string, bytes and structured types, and netcdf-c once stored a list of
        # one number; it stores a character itself, which is never base64 of one.
        if type(data) is int and data == 0:
            return dtype.default_scalar()
        if isinstance(data, str) and len(data) == 1 and data.isascii() and dtype.to_native_dtype() == "S1":
            return dtype.cast_scalar(data.encode())
        if isinstance(data, list) and len(data) == 1:
            return dtype.from_json_scalar(data[0], zarr_format=2)
        raise


@record(frozen=True, eq=False, kw_only=True)
class ArrayV2Metadata(Metadata):
    """The metadata of an array of format 2.

    Parameters
    ----------
    shape
        The shape of the array.
    dtype
        The data type.
    chunks
        The chunk shape.
    fill_value
        The value of elements that were never written: a scalar, or None for an undefined one.
    order
        ``"C"`` or ``"F"``: the order of the elements in a chunk.
    dimension_separator
        The separator in the names of chunks.
    compressor
        A numcodecs codec, its configuration, or None.
    filters
        numcodecs codecs or their configurations, or None.
    attributes
        The attributes of the user.

    Raises
    ------
    TypeError, ValueError
        If a part is malformed, or parts contradict each other.

    Examples
    --------
    >>> from zarr.metadata import ArrayV2Metadata
    >>> from zarr.dtype import Int32
    >>> metadata = ArrayV2Metadata(shape=(10,), dtype=Int32(), chunks=(5,), fill_value=0, order="C")
    >>> metadata.encode_chunk_key((1,))
    '1'
    """

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: ZDType[Any, Any]
    fill_value: Any = None
    order: MemoryOrder = "C"
    filters: tuple[Numcodec, ...] | None = None
    dimension_separator: Literal[".", "/"] = "."
    compressor: Numcodec | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    zarr_format: Literal[2] = field(default=2, init=False)
    # The stored document, if it was repaired and must be stored again before chunks are written.
    _stored_document: ClassVar[dict[str, Any] | None] = None
    # The parts of ``.zarray`` that do not depend on the shape, shared by what is made by a change of it.
    _frames: ClassVar[dict[Any, Any] | None] = None

    def __init__(
        self,
        *,
        shape: tuple[int, ...],
        dtype: ZDType[Any, Any],
        chunks: tuple[int, ...],
        fill_value: Any,
        order: MemoryOrder,
        dimension_separator: Literal[".", "/"] = ".",
        compressor: CompressorLikev2 = None,
        filters: Iterable[Numcodec | dict[str, JSON]] | None = None,
        attributes: dict[str, JSON] | None = None,
    ) -> None:
        lengths = parse_shape(shape)
        # The class is frozen, so its fields are set through ``__dict__``, all at once.
        self.__dict__.update(
            shape=lengths,
            chunks=parse_chunks(chunks, lengths),
            dtype=dtype,
            fill_value=None if fill_value is None else dtype.cast_scalar(fill_value),
            order=parse_order(order),
            filters=parse_filters(filters),
            dimension_separator=parse_separator(dimension_separator),
            compressor=parse_compressor(compressor),
            attributes=parse_attributes(attributes),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayV2Metadata):
            return NotImplemented
        return self._comparable() == other._comparable()

    def __hash__(self) -> int:
        return hash((self.shape, self.chunks, self.dtype, self.order, self.dimension_separator))

    def _comparable(self) -> tuple[object, ...]:
        # The fill value is compared in its JSON form: then NaN is itself, and -0.0 is not 0.0.
        fill = self._fill_to_json()
        return repr(fill), *[getattr(self, name) for name in field_names(self) if name != "fill_value"]

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], *, path: str | None = None, place: object = None, raw: bytes | None = None
    ) -> Self:
        """Read the parsed documents: the members of ``.zarray`` and, as ``attributes``, those of ``.zattrs``.

        Parameters
        ----------
        data
            The members. Unknown ones are ignored, as the format requires.
        path
            Path of the array, for messages.
        place
            The place of the array, for warnings, if more is known than its path.
        raw
            The name of the documents among those that are kept: see :func:`zarr.metadata.cache.name_of_v2`.

        Returns
        -------
        ArrayV2Metadata

        Raises
        ------
        MetadataValidationError
            If a member is missing or malformed, or contradicts another. If a builtin error fits, too (`TypeError`,
            `KeyError`, `OverflowError`), the error is also that.
        UnknownCodecError
            If numcodecs does not have a codec.
        """
        member: str | None = "zarr_format"
        repairs: list[Repair] = []
        known = cache.known_documents()
        try:
            parse_zarr_format(require(data, "zarr_format"))
            data, repairs = repair_array_document(stored := data, 2)
            member = "dtype"
            dtype = parse_data_type(data)
            member = "fill_value"
            fill_value = parse_fill_value(require(data, "fill_value", MetadataMemberError), dtype)
            members: dict[str, Any] = {}
            for member, parse, needed in _PARSERS:
                value: Any = require(data, member, MetadataMemberError) if needed else data.get(member)
                members[member] = parse(value)
            complete_shuffles(members, stored, dtype)
            member = None
            metadata = cls(dtype=dtype, fill_value=fill_value, **members)
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise_located(error, document_place(ZARRAY_JSON, path, member))
        warn_of_repairs(repairs, place or path)
        keep_stored(metadata, stored, repairs)
        if raw is not None and not repairs and metadata._is_sharable():
            cache.keep(known, metadata.__dict__, (raw, metadata.attributes))
        return metadata

    def _is_sharable(self) -> bool:
        """Return True if all parts are of this library or numcodecs, and were read without a warning.

        If so, what is made of them once is kept with them.
        """
        codecs = (*(self.filters or ()), self.compressor)
        sharable = cache.is_quiet(self.dtype) and all(codec is None or is_of_numcodecs(codec) for codec in codecs)
        return sharable and bool(self.chunk_grid and self.chunk_key_encoding)

    def _changed(self, **changes: Any) -> Self:
        """Return the same metadata with other members, which were checked."""
        self.__dict__.setdefault("_frames", {})
        members = {**self.__dict__, **changes}
        members.pop("_stored_document", None)
        if members["chunks"] != self.chunks:
            del members["_frames"]
        if "shape" in changes:
            members.pop("chunk_grid", None)
        return self.of_members(members)

    def to_dict(self) -> dict[str, JSON]:
        """Return the members of ``.zarray`` in the order in which they are written, with the attributes."""
        spec: Any = self.dtype.to_json(zarr_format=2)
        document: dict[str, Any] = {
            "shape": self.shape,
            "chunks": self.chunks,
            "dtype": spec["name"],
            "fill_value": self._fill_to_json(),
            "order": self.order,
            "filters": None if self.filters is None else [codec.get_config() for codec in self.filters],
            "dimension_separator": self.dimension_separator,
            "compressor": None if self.compressor is None else _compressor_to_json(self.compressor),
            "attributes": self.attributes,
            "zarr_format": 2,
        }
        return document

    def _fill_to_json(self) -> Any:
        return None if self.fill_value is None else self.dtype.to_json_scalar(self.fill_value, zarr_format=2)

    def to_buffer_dict(self, prototype: BufferPrototype) -> dict[str, Buffer]:
        """Return the documents as bytes, under their names.

        Parameters
        ----------
        prototype
            The class of the buffers.

        Returns
        -------
        dict
            ``{".zarray": buffer, ".zattrs": buffer}``

        Raises
        ------
        TypeError
            If an attribute has no JSON form.
        """
        make, indent = prototype.buffer.from_bytes, settings.values.get("json_indent", 2)
        return {
            ZARRAY_JSON: make(self._to_text(indent)),
            ZATTRS_JSON: make(dump_document(self.attributes, indent=indent)),
        }

    def _to_text(self, indent: int | str | None) -> bytes:
        """Return ``.zarray`` as bytes, with the indent of :func:`dump_document`."""
        frames = self._frames
        if frames is None:
            return dump_document(self._array_members(), indent=indent)
        kind, (last, text) = (indent, self.shape), frames.get("last", (None, b""))
        if kind != last:
            text = dump_framed(frames, self._array_members, {"shape": self.shape}, indent)
            frames["last"] = kind, text
        return text  # type: ignore[no-any-return]

    def _array_members(self) -> dict[str, JSON]:
        return {name: value for name, value in self.to_dict().items() if name != "attributes"}

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def shards(self) -> tuple[int, ...] | None:
        """None: format 2 has no shards."""
        return None

    @cached_property
    def chunk_grid(self) -> ChunkGrid:
        """The grid of chunks."""
        return grid.ChunkGrid.from_sizes(self.shape, self.chunks)

    @cached_property
    def chunk_key_encoding(self) -> V2ChunkKeyEncoding:
        """The rule for the names of chunks."""
        return V2ChunkKeyEncoding(separator=self.dimension_separator)

    def get_chunk_spec(
        self, _chunk_coords: tuple[int, ...], array_config: ArrayConfig, prototype: BufferPrototype
    ) -> ArraySpec:
        """Return the description of a chunk for codecs.

        Parameters
        ----------
        _chunk_coords : tuple of int
            The number of the chunk; all have one shape.
        array_config : ArrayConfig
            How the array is opened.
        prototype : BufferPrototype
            The buffer classes of decoded chunks.

        Returns
        -------
        ArraySpec
        """
        return ArraySpec(
            shape=self.chunks, dtype=self.dtype, fill_value=self.fill_value, config=array_config, prototype=prototype
        )

    def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """Return the key of a chunk, relative to the array.

        Parameters
        ----------
        chunk_coords : tuple of int
            The number of the chunk along each dimension.

        Returns
        -------
        str
        """
        return self.dimension_separator.join([str(int(c)) for c in chunk_coords]) or "0"

    def update_shape(self, shape: tuple[int, ...]) -> Self:
        """Return the metadata of the array after a resize.

        Parameters
        ----------
        shape : tuple of int
            The new shape.

        Returns
        -------
        ArrayV2Metadata
        """
        lengths = parse_shape(shape)
        return self._changed(shape=lengths, chunks=parse_chunks(self.chunks, lengths))

    def update_attributes(self, attributes: dict[str, JSON]) -> Self:
        """Return the metadata with other attributes in place of the old ones.

        Parameters
        ----------
        attributes : dict
            The new attributes.

        Returns
        -------
        ArrayV2Metadata
        """
        return self._changed(attributes=parse_attributes(attributes))

    def as_stored(self) -> Self:
        """Return the same metadata, after the repaired document was stored.

        Returns
        -------
        ArrayV2Metadata
        """
        return self._changed()


def _compressor_to_json(codec: Numcodec) -> dict[str, Any]:
    config: dict[str, Any] = dict(codec.get_config())
    if config.get("id") == "zstd" and config.get("checksum") is False:
        del config["checksum"]  # readers without a checksum refuse the key, and absent means the same as false
    return config


_EMPTY_FILTERS: Final = (
    "Found an empty list of filters in the array metadata document. Format 2 has null for none: it is read as that."
)


def _parse_stored_filters(data: Any) -> tuple[Numcodec, ...] | None:
    if isinstance(data, list | tuple) and not data:
        warn_once(_EMPTY_FILTERS, ZarrUserWarning)
    return parse_filters(data)


def _parse_separator(data: Any) -> Literal[".", "/"]:
    return "." if data is None else parse_separator(data)


_PARSERS: Final = (
    ("shape", parse_stored_shape, True),
    ("chunks", parse_stored_shape, True),
    ("order", parse_order, True),
    ("filters", _parse_stored_filters, False),
    ("dimension_separator", _parse_separator, False),
    ("compressor", parse_compressor, False),
    ("attributes", parse_attributes, False),
)


# Members of netCDF-C itself: in older releases in the document, since 4.9.3 in the attributes.
_MARKS: Final = ("_nczarr_", "_NCZARR_")
# Without them (pure Zarr, or no names of dimensions) only the order of members shows the writer.
_ORDER: Final = ["zarr_format", "shape", "dtype", "chunks", "fill_value", "order", "compressor", "filters"]


def complete_shuffles(members: dict[str, Any], document: Mapping[str, Any], dtype: ZDType[Any, Any]) -> None:
    """Give shuffles of elements of size 0 the item size, if netCDF-C wrote the document.

    Parameters
    ----------
    members
        The members with parsed ``filters`` and ``compressor``; changed in place.
    document
        The members of the document, and its attributes.
    dtype
        The data type of the array.

    Examples
    --------
    >>> from numcodecs import Shuffle
    >>> from zarr.dtype import Int32
    >>> members = {"filters": (Shuffle(0),), "compressor": None}
    >>> complete_shuffles(members, {"attributes": {"_nczarr_array": {}}}, Int32())
    >>> members["filters"][0].elementsize
    4
    """
    filters, compressor = members["filters"], members["compressor"]
    if not any(map(_lacks_item_size, (*(filters or ()), compressor))) or not _is_of_netcdf(document):
        return
    size = dtype.to_native_dtype().itemsize
    members["filters"] = None if filters is None else tuple([_with_item_size(codec, size) for codec in filters])
    members["compressor"] = _with_item_size(compressor, size)


def _lacks_item_size(codec: Any) -> bool:
    return getattr(codec, "codec_id", None) == "shuffle" and codec.elementsize == 0


def _with_item_size(codec: Any, size: int) -> Numcodec:
    settings: Any = {"id": "shuffle", "elementsize": size}
    return get_numcodec(settings) if _lacks_item_size(codec) else codec


def _is_of_netcdf(document: Mapping[str, Any]) -> bool:
    attributes = document.get("attributes")
    names = [*document, *(attributes if isinstance(attributes, Mapping) else ())]
    if any(name.startswith(_MARKS) for name in names if isinstance(name, str)):
        return True
    # netCDF-C also writes numbers as text.
    codecs = (*(document.get("filters") or ()), document.get("compressor"))
    text = any(isinstance(codec, Mapping) and isinstance(codec.get("elementsize"), str) for codec in codecs)
    return text or list(islice(document, len(_ORDER))) == _ORDER
