"""Parse, check and write the document ``zarr.json`` of an array of format 3: ``ArrayV3Metadata``.

``zarr/steps/documents.py`` parses stored documents by it, and ``zarr/arrays/create/steps.py`` makes new ones. It never
reads a store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, TypeGuard, cast

from zarr._lazy import instance_of
from zarr._records import field, field_names, record
from zarr.abc.codec import Codec
from zarr.abc.metadata import Metadata
from zarr.buffer.core import Buffer, BufferPrototype
from zarr.chunks.base import (
    ChunkGridMetadata,
    RegularChunkGridMetadata,
    check_rectilinear_enabled,
    parse_chunk_grid,
)
from zarr.chunks.keys import ChunkKeyEncoding, ChunkKeyEncodingLike, parse_chunk_key_encoding
from zarr.chunks.shapes import parse_shape, parse_stored_shape
from zarr.defaults import settings
from zarr.dtype.base import ZDType
from zarr.dtype.registry import get_data_type_from_json
from zarr.errors import MetadataValidationError, NodeTypeValidationError
from zarr.metadata import cache, documents, fields, repair
from zarr.metadata.documents import MissingNodeTypeError
from zarr.metadata.fields import AllowedExtraField
from zarr.metadata.repair import Lengths, Repair
from zarr.registry.tables import Changes
from zarr.types import JSON, ZARR_JSON, DimensionNamesLike

if TYPE_CHECKING:
    from zarr.chunks.rectilinear import RectilinearChunkGridMetadata
    from zarr.codecs.sharding import ShardingCodec
    from zarr.types import NamedConfig

_HOME: Final = "zarr.chunks.rectilinear"

_KEYS = ("shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs", "attributes")
ARRAY_METADATA_KEYS: Final = frozenset(("zarr_format", "node_type", *_KEYS, "dimension_names", "storage_transformers"))
_parse_extra_fields = partial(fields.parse_extra_fields, reserved_keys=ARRAY_METADATA_KEYS, node_type="array")


def _is_rectilinear(grid: object) -> TypeGuard[RectilinearChunkGridMetadata]:
    return instance_of(grid, _HOME, "RectilinearChunkGridMetadata")


def parse_zarr_format(data: object) -> Literal[3]:
    """Check the ``zarr_format`` of a document of format 3.

    Raises
    ------
    MetadataValidationError
        If it is not the integer 3.
    """
    if type(data) is int and data == 3:
        return 3
    raise MetadataValidationError(f"Failed to parse input for 'zarr_format': expected Literal[3], got {data!r}.")


def parse_node_type_array(data: object) -> Literal["array"]:
    """Check the ``node_type`` of an array document.

    Raises
    ------
    NodeTypeValidationError
        If it is not ``"array"``.
    """
    if data == "array":
        return "array"
    hint = " This is a group: use open_group." if data == "group" else ""
    message = f"Failed to parse input for 'node_type': expected Literal['array'], got {data!r}.{hint}"
    raise NodeTypeValidationError(message)


@lru_cache(maxsize=256)
def _named_data_type(name: str, changes: int) -> ZDType[Any, Any]:
    """Return the data type of a name, for one state of the registries."""
    return get_data_type_from_json(name, zarr_format=3)


def parse_data_type(data: Any) -> ZDType[Any, Any]:
    """Read the ``data_type`` member: a name, or an object with a name and perhaps a configuration.

    Raises
    ------
    ValueError
        If no data type matches.

    Examples
    --------
    >>> parse_data_type({"name": "int32"})
    Int32(endianness='little')
    """
    if type(data) is str:
        return _named_data_type(data, Changes.count)
    if isinstance(data, Mapping) and isinstance(data.get("name"), str):
        configuration = data.get("configuration")
        # A type without parameters is written as its name, so an object without parameters is read as the name.
        data = {"name": data["name"], "configuration": configuration} if configuration else data["name"]
    return get_data_type_from_json(data, zarr_format=3)


@record(frozen=True, eq=False, kw_only=True)
class ArrayV3Metadata(Metadata):
    """The metadata of an array of format 3.

    Parameters
    ----------
    shape
        The shape of the array.
    data_type
        The data type.
    chunk_grid
        The chunk grid, as an object or in its JSON form.
    chunk_key_encoding
        The rule for the names of chunks, as an object or in its JSON form.
    fill_value
        The value of elements that were never written: a scalar.
    codecs
        Codecs, their JSON forms, or their names.
    attributes
        The attributes of the user.
    dimension_names
        A name or None for each dimension; None for no names at all.
    storage_transformers
        JSON forms of storage transformers; the format defines none.
    extra_fields
        Members that need not be understood.

    Raises
    ------
    TypeError, ValueError
        If a part is malformed, or parts contradict each other.

    Examples
    --------
    >>> from zarr.metadata import ArrayV3Metadata
    >>> from zarr.dtype import UInt8
    >>> metadata = ArrayV3Metadata(
    ...     shape=(10,), data_type=UInt8(), chunk_grid={"name": "regular", "configuration": {"chunk_shape": (5,)}},
    ...     chunk_key_encoding={"name": "default"}, fill_value=0, codecs=["bytes"], attributes={}, dimension_names=None)
    >>> metadata.chunks, metadata.encode_chunk_key((1,))
    ((5,), 'c/1')
    """

    shape: tuple[int, ...]
    data_type: ZDType[Any, Any]
    chunk_grid: ChunkGridMetadata
    chunk_key_encoding: ChunkKeyEncoding
    fill_value: Any
    codecs: tuple[Codec, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    dimension_names: tuple[str | None, ...] | None = None
    zarr_format: Literal[3] = field(default=3, init=False)
    node_type: Literal["array"] = field(default="array", init=False)
    storage_transformers: tuple[dict[str, JSON], ...] = ()
    extra_fields: dict[str, AllowedExtraField] = field(default_factory=dict)
    # The stored document, if it was repaired and must be stored again before chunks are written.
    _stored_document: ClassVar[dict[str, Any] | None] = None
    # The document without its shape and attributes, by indent; shared by arrays that differ only in these.
    _frames: ClassVar[dict[Any, Any] | None] = None

    def __init__(
        self,
        *,
        shape: Iterable[int],
        data_type: ZDType[Any, Any],
        chunk_grid: dict[str, JSON] | ChunkGridMetadata | NamedConfig[str, Any],
        chunk_key_encoding: ChunkKeyEncodingLike,
        fill_value: object,
        codecs: Iterable[Codec | dict[str, JSON] | NamedConfig[str, Any] | str],
        attributes: dict[str, JSON] | None,
        dimension_names: DimensionNamesLike,
        storage_transformers: Iterable[dict[str, JSON]] | None = None,
        extra_fields: Mapping[str, AllowedExtraField] | None = None,
    ) -> None:
        self._check_and_set(
            {
                "shape": parse_shape(shape),
                "data_type": data_type,
                "chunk_grid": parse_chunk_grid(chunk_grid),
                "chunk_key_encoding": parse_chunk_key_encoding(chunk_key_encoding),
                "fill_value": data_type.cast_scalar(fill_value),
                "codecs": fields.parse_codecs(codecs),
                "attributes": fields.parse_attributes(attributes),
                "dimension_names": fields.parse_dimension_names(dimension_names),
                "storage_transformers": fields.check_storage_transformers(storage_transformers),
                "extra_fields": _parse_extra_fields(extra_fields),
            }
        )

    def _check_and_set(self, members: dict[str, Any]) -> None:
        """Check parsed members against each other, and set them."""
        shape, grid, names = members["shape"], members["chunk_grid"], members["dimension_names"]
        if names is not None or type(grid) is not RegularChunkGridMetadata or len(shape) != len(grid.chunk_shape):
            check_ranks(shape, grid, names)
        of_array = {"shape": shape, "dtype": members["data_type"], "fill_value": members["fill_value"]}
        members["codecs"] = fields.complete_codecs(members["codecs"], **of_array, chunk_grid=grid)
        # The class is frozen, so its fields are set through ``__dict__``, all at once.
        self.__dict__.update(members)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayV3Metadata):
            return NotImplemented
        return self._comparable() == other._comparable()

    def __hash__(self) -> int:
        return hash((self.shape, self.data_type, self.chunk_grid, self.chunk_key_encoding, self.dimension_names))

    def _comparable(self) -> tuple[object, ...]:
        # The fill value is compared in its JSON form: then NaN is itself, and -0.0 is not 0.0.
        fill = self.data_type.to_json_scalar(self.fill_value, zarr_format=3)
        return repr(fill), *[getattr(self, name) for name in field_names(self) if name != "fill_value"]

    @classmethod
    def from_dict(
        cls,
        data: Mapping[str, Any],
        *,
        path: str | None = None,
        place: object = None,
        raw: bytes | None = None,
    ) -> Self:
        """Read the parsed document.

        Parameters
        ----------
        data
            The members of ``zarr.json``. Short forms of extensions are accepted everywhere.
        path
            Path of the array, for messages.
        place
            The place of the array, for warnings, if more is known than its path.
        raw
            The parsed bytes; a later document with the same bytes is recognised by them.

        Returns
        -------
        ArrayV3Metadata

        Raises
        ------
        MetadataValidationError
            If a member is missing, malformed, unknown or contradicts another. If a builtin error fits, too
            (`TypeError`, `KeyError`, `OverflowError`), the error is also that.
        UnknownCodecError
            If a codec has no known implementation.
        """
        known, key, lengths = cache.known_documents(), cache.structure_key(data), repair.plain_lengths(data)
        if lengths is not None and key in known:
            found = cache.find_members(known, key)
            if found is not None and _takes_place(found, *lengths, data.get("attributes", {})):
                cache.keep(known, found, (raw, found["attributes"]))
                return cls.of_members(found)
        at: list[str | None] = [None]
        try:
            metadata, stored, repairs = cls._of_document(data, lengths, at)
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            documents.raise_located(error, documents.document_place(ZARR_JSON, path, at[0]))
        if repairs:
            repair.keep_stored(metadata, stored, repairs)
            repair.warn_of_repairs(repairs, place or path)
        if cache.has_whole_shards(metadata.codecs):
            fields.warn_whole_shards()
        elif cache.is_sharable(metadata.__dict__):
            metadata.keep_frames()
            cache.keep(known, metadata.__dict__, (key, None), (raw, metadata.attributes))
        return metadata

    @classmethod
    def _of_document(
        cls, data: Mapping[str, Any], lengths: Lengths | None, at: list[str | None]
    ) -> tuple[Self, Mapping[str, Any], list[Repair]]:
        """Parse the members one by one; ``at`` holds the name of the present one, for the place of an error."""
        if data.get("node_type") != "array" or repr(data.get("zarr_format")) != "3":
            parse_node_type_array(documents.require(data, "node_type", MissingNodeTypeError))
            parse_zarr_format(documents.require(data, "zarr_format"))
        at[0] = "chunk_grid"
        members: dict[str, Any] = {}
        repairs: list[Repair] = []
        named = data.get("data_type")
        implied = type(named) is not str or named in repair.NAMES
        data = stored = repair.with_codecs_member(data) if implied else data
        if lengths is not None:
            members.update(shape=lengths[0], chunk_grid=RegularChunkGridMetadata.of_lengths(lengths[1]))
        if lengths is None or repair.has_shards(data.get("codecs")):
            data, repairs = repair.repair_array_document(stored, 3)
        for member, parse in _PARSERS:
            at[0] = member
            if member not in members:
                members[member] = parse(data[member] if member in data else documents.require(data, member))  # type: ignore[arg-type]
        if implied:
            members["codecs"] = repair.add_string_codec(members["codecs"], data)
        at[0] = "fill_value"
        fill = data["fill_value"] if "fill_value" in data else documents.require(data, "fill_value")
        members["fill_value"] = fields.parse_fill_value(fill, members["data_type"])
        at[0] = "attributes"
        members["attributes"] = fields.parse_attributes(data.get("attributes"))
        for member, optional, absent in _OPTIONAL_PARSERS:
            at[0] = member
            members[member] = optional(data[member]) if member in data else absent
        at[0] = None
        members["extra_fields"] = {}
        if not data.keys() <= ARRAY_METADATA_KEYS:
            unknown = {name: value for name, value in data.items() if name not in ARRAY_METADATA_KEYS}
            members["extra_fields"] = _parse_extra_fields(unknown)
        metadata = object.__new__(cls)
        # The members are parsed already, so the constructor would only do it again.
        metadata._check_and_set(members)
        return metadata, stored, repairs

    def to_dict(self) -> dict[str, JSON]:
        """Return the members of the document, in the order in which they are written."""
        document: dict[str, Any] = {
            "shape": self.shape,
            "data_type": self.data_type.to_json(zarr_format=3),
            "chunk_grid": self.chunk_grid.to_dict(),
            "chunk_key_encoding": self.chunk_key_encoding.to_dict(),
            "fill_value": self.data_type.to_json_scalar(self.fill_value, zarr_format=3),
            "codecs": tuple([codec.to_dict() for codec in self.codecs]),
            "attributes": self.attributes,
        }
        if self.dimension_names is not None:
            document["dimension_names"] = self.dimension_names
        document["zarr_format"] = 3
        document["node_type"] = "array"
        document["storage_transformers"] = self.storage_transformers
        document.update(self.extra_fields)
        return document

    def to_buffer_dict(self, prototype: BufferPrototype) -> dict[str, Buffer]:
        """Return the document as bytes, under its name.

        Parameters
        ----------
        prototype
            The class of the buffers.

        Returns
        -------
        dict
            ``{"zarr.json": buffer}``

        Raises
        ------
        TypeError
            If an attribute has no JSON form.
        RectilinearChunksDisabledError
            If the chunks are rectilinear and the configuration forbids them.
        """
        if type(self.chunk_grid) is not RegularChunkGridMetadata and _is_rectilinear(self.chunk_grid):
            check_rectilinear_enabled()
        return {ZARR_JSON: prototype.buffer.from_bytes(self.to_text(settings.values.get("json_indent", 2)))}

    def to_text(self, indent: int | str | None) -> bytes:
        """Return the document as bytes, with the indent of :func:`dump_document`.

        Parameters
        ----------
        indent : int, str or None
            Spaces for each level, or the text of an indent; None: on one line.

        Returns
        -------
        bytes
        """
        if self.extra_fields:
            return documents.dump_document(self.to_dict(), indent=indent)
        frames = self.__dict__.setdefault("_frames", {})
        kind, (last, text) = (indent, self.shape), frames.get("last", (None, b""))
        if self.attributes or kind != last:
            values = {"shape": self.shape, "attributes": self.attributes}
            text = documents.dump_framed(frames, self.to_dict, values, indent)
            if not self.attributes:
                frames["last"] = kind, text
        return text  # type: ignore[no-any-return]

    def keep_frames(self) -> None:
        """Write the unchanging parts once for all objects that are made of these members."""
        self.__dict__["_frames"] = {}

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> ZDType[Any, Any]:
        """The data type."""
        return self.data_type

    @property
    def sharding_codec(self) -> ShardingCodec | None:
        """The codec of a sharded array; None for any other, and if there are other codecs beside it."""
        first = self.codecs[0]
        sharded = len(self.codecs) == 1 and instance_of(first, "zarr.codecs.sharding", "ShardingCodec")
        return cast("ShardingCodec", first) if sharded else None

    @property
    def inner_codecs(self) -> tuple[Codec, ...]:
        """The codecs of a chunk as the user sees it: with shards, those of the inner chunks."""
        sharding = self.sharding_codec
        return self.codecs if sharding is None else tuple(sharding.codecs)

    @property
    def chunks(self) -> tuple[int, ...]:
        """The chunk shape as the user sees it: with shards, the shape of an inner chunk."""
        sharding = self.sharding_codec
        return self._regular_shape("chunks", "read_chunk_sizes") if sharding is None else sharding.chunk_shape

    @property
    def shards(self) -> tuple[int, ...] | None:
        """The shape of the shards, or None."""
        return None if self.sharding_codec is None else self._regular_shape("shards", "write_chunk_sizes")

    def _regular_shape(self, attribute: str, instead: str) -> tuple[int, ...]:
        if isinstance(self.chunk_grid, RegularChunkGridMetadata):
            return self.chunk_grid.chunk_shape
        kind = "rectilinear" if _is_rectilinear(self.chunk_grid) else "irregular"
        raise NotImplementedError(
            f"The `{attribute}` attribute is only defined for arrays using regular chunk grids. This array has a "
            f"{kind} chunk grid. Use `{instead}` for general access."
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
        return self.chunk_key_encoding.encode_chunk_key(chunk_coords)

    def update_shape(self, shape: tuple[int, ...]) -> Self:
        """Return the metadata of the array after a resize.

        Parameters
        ----------
        shape : tuple of int
            The new shape.

        Returns
        -------
        ArrayV3Metadata

        Raises
        ------
        ValueError
            If it has another number of dimensions.
        """
        if len(tuple(shape)) != len(self.shape):
            raise ValueError("`chunk_grid` and `shape` need to have the same number of dimensions.")
        # The other members are parsed already; only members that depend on the shape are checked again.
        grid = self.chunk_grid.resized(self.shape, shape)
        members = {**self.__dict__, "shape": parse_shape(shape), "chunk_grid": grid}
        members.pop("_stored_document", None)
        members.pop("_frames", None)
        updated = object.__new__(type(self))
        fits = type(self.chunk_grid) is RegularChunkGridMetadata and fields.fits_shapes(self.codecs)
        (updated.__dict__.update if fits else updated._check_and_set)(members)
        if fits or (updated.codecs == self.codecs and updated.chunk_grid == self.chunk_grid):
            updated.__dict__["_frames"] = self.__dict__.setdefault("_frames", {})
        return updated

    def update_attributes(self, attributes: dict[str, JSON]) -> Self:
        """Return the metadata with other attributes in place of the old ones.

        Parameters
        ----------
        attributes : dict
            The new attributes.

        Returns
        -------
        ArrayV3Metadata
        """
        updated = object.__new__(type(self))
        updated.__dict__.update(self.__dict__, attributes=fields.parse_attributes(attributes))
        updated.__dict__.pop("_stored_document", None)
        return updated

    def as_stored(self) -> Self:
        """Return the same metadata, after the repaired document was stored.

        Returns
        -------
        ArrayV3Metadata
        """
        return self.update_attributes(self.attributes)


def _takes_place(members: dict[str, Any], shape: tuple[int, ...], edges: tuple[int, ...], attributes: Any) -> bool:
    """Give members of a known kind the shape, chunk shape and attributes of a document.

    Return False if the document needs a closer look, or codecs depend on shapes and must be validated again.
    """
    old_shape, old_edges = members["shape"], members["chunk_grid"].chunk_shape
    if type(attributes) is not dict or not len(shape) == len(edges) == len(old_shape):
        return False
    if (shape != old_shape or edges != old_edges) and not fields.fits_shapes(members["codecs"]):
        return False
    members.update(shape=shape, attributes=dict(attributes))
    if edges != old_edges:
        members["chunk_grid"] = RegularChunkGridMetadata.of_lengths(edges)
        members.pop("_frames", None)
    return True


def check_ranks(
    shape: tuple[int, ...], chunk_grid: ChunkGridMetadata, dimension_names: tuple[str | None, ...] | None
) -> None:
    """Check that the parts of an array with one entry for each dimension agree.

    Raises
    ------
    ValueError
        If they do not, or listed chunks do not reach the end of the array.
    """
    if len(shape) != chunk_grid.ndim:
        raise ValueError(
            "`chunk_grid` and `shape` need to have the same number of dimensions. "
            f"They have {chunk_grid.ndim} and {len(shape)}."
        )
    if dimension_names is not None and len(shape) != len(dimension_names):
        raise ValueError(
            "`dimension_names` and `shape` need to have the same number of dimensions. "
            f"They have {len(dimension_names)} and {len(shape)}."
        )
    if _is_rectilinear(chunk_grid):
        for axis, (end, extent) in enumerate(zip(chunk_grid.ends, shape)):
            if end is not None and end < extent:
                raise ValueError(
                    f"Rectilinear chunk edges for dimension {axis} sum to {end} but array shape extent is {extent} "
                    "(edge sum must be >= extent)"
                )


_PARSERS: Final = (
    ("shape", parse_stored_shape),
    ("data_type", parse_data_type),
    ("chunk_grid", parse_chunk_grid),
    ("chunk_key_encoding", parse_chunk_key_encoding),
    ("codecs", partial(fields.parse_codecs, stored=True)),
)
_OPTIONAL_PARSERS: Final = (
    ("dimension_names", fields.parse_dimension_names, None),
    ("storage_transformers", fields.check_storage_transformers, ()),
)
