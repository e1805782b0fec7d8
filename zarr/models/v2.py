"""Models of arrays and groups of format 2.

References
----------
.. [1] Zarr storage specification, version 2. https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar

import numpy as np

from zarr.dtype import parse_dtype
from zarr.errors import MetadataValidationError
from zarr.metadata import ArrayV2Metadata, ConsolidatedMetadata, GroupMetadata, split_zmetadata, zmetadata_document
from zarr.models.checks import check_rank, lengths, required
from zarr.models.node import ArrayModel, GroupModel, NodeSpec, nested, to_flat, to_zarr
from zarr.models.plain import frozen, plain, plain_fill

TAttrs = TypeVar("TAttrs")
TMembers = TypeVar("TMembers")
Auto = Literal["auto"]

_ARRAY_FIELDS = ("shape", "chunks", "dtype", "fill_value", "order", "filters", "dimension_separator", "compressor")


@dataclass(frozen=True, kw_only=True, eq=False)
class ArraySpec(ArrayModel, Generic[TAttrs]):
    """A model of an array of format 2.

    Parameters
    ----------
    attributes : dict, or the type parameter
        The user's attributes, which JSON can hold.
    shape, chunks : sequence of int
        The lengths of the array and of a chunk.
    dtype : str, list or numpy.dtype
        ``"uint8"`` is kept as ``"|u1"``, as in documents.
    fill_value : object
        A scalar, its JSON form, or None.
    order : "C" or "F"
        How the elements of a chunk follow one another: row by row, or column by column.
    filters : sequence of dict or codec, optional
        In the order in which they encode.
    dimension_separator : "." or "/"
        What stands between the numbers in the key of a chunk.
    compressor : dict or codec, optional
        It encodes what the filters give; None: nothing is compressed.
    zarr_format : int
        2; nothing else is taken.

    Raises
    ------
    MetadataValidationError
        If a part is malformed, or parts contradict each other.

    Examples
    --------
    >>> from zarr.models.v2 import ArraySpec
    >>> ArraySpec(attributes={}, shape=(10, 10), dtype="uint8", chunks=(1, 10)).dtype
    '|u1'
    """


    zarr_format: Literal[2] = 2
    attributes: TAttrs
    shape: Sequence[int]
    chunks: Sequence[int]
    dtype: Any
    fill_value: Any = 0
    order: Literal["C", "F"] = "C"
    filters: Sequence[Any] | None = None
    dimension_separator: Literal[".", "/"] = "."
    compressor: Any = None

    def __post_init__(self) -> None:
        self._check_kind()
        shape, chunks = lengths(self.shape, "shape"), lengths(self.chunks, "chunks", 0)
        check_rank("chunks", len(chunks), len(shape))
        if self.order not in ("C", "F"):
            raise MetadataValidationError(f"order must be 'C' or 'F', got {self.order!r}")
        if self.dimension_separator not in (".", "/"):
            raise MetadataValidationError(f"dimension_separator must be '.' or '/', got {self.dimension_separator!r}")
        if self.filters is not None and (isinstance(self.filters, str | Mapping)):
            raise MetadataValidationError(f"filters must be a list or null, got {self.filters!r}")
        self.__dict__.update(
            attributes=self._attributes_as_asked("the attributes of an array"),
            shape=shape,
            chunks=chunks,
            dtype=_dtype(self.dtype),
            fill_value=frozen(plain_fill(self.fill_value, _dtype(self.dtype))),
            filters=[_codec(part) for part in self.filters] if self.filters else None,
            compressor=None if self.compressor is None else _codec(self.compressor),
        )

    def to_json(self) -> dict[str, Any]:
        return {**self._head(), **{name: plain(getattr(self, name)) for name in _ARRAY_FIELDS}}

    @classmethod
    def _members_of_json(cls, document: dict[str, Any]) -> dict[str, Any]:
        required(document, ("zarr_format", *(name for name in _ARRAY_FIELDS if name != "dimension_separator")))
        return known_members(document, ("zarr_format", "attributes", *_ARRAY_FIELDS))

    def to_metadata(self) -> ArrayV2Metadata:
        return ArrayV2Metadata.from_dict(self.to_json())

    @classmethod
    def from_array(
        cls,
        array: Any,
        chunks: Auto | Sequence[int] = "auto",
        attributes: Any = "auto",
        fill_value: Any = "auto",
        order: Auto | Literal["C", "F"] = "auto",
        filters: Auto | Sequence[Any] | None = "auto",
        dimension_separator: Auto | Literal[".", "/"] = "auto",
        compressor: Any = "auto",
    ) -> Self:
        """Return the model for a copy of an array, without compression, in the chunks of that array or in one.

        Parameters
        ----------
        array : object with ``shape`` and ``dtype``
            A zarr array gives all its metadata.
        chunks, attributes, fill_value, order, filters, dimension_separator, compressor
            Members that differ from those of the array.

        Returns
        -------
        ArraySpec

        Examples
        --------
        >>> from zarr.models.v2 import ArraySpec
        >>> import numpy as np
        >>> ArraySpec.from_array(np.arange(10, dtype="<i8")).chunks
        (10,)
        """
        given = {
            "chunks": chunks,
            "attributes": attributes,
            "fill_value": fill_value,
            "order": order,
            "filters": filters,
            "dimension_separator": dimension_separator,
            "compressor": compressor,
        }
        return cls._of_array(array, ArrayV2Metadata, given)


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupSpec(GroupModel, Generic[TAttrs, TMembers]):
    """A model of a group of format 2 and of all nodes below it.

    Parameters
    ----------
    attributes : dict, or the first type parameter
        The user's attributes, which JSON can hold.
    members : mapping of str to ArraySpec or GroupSpec, or None
        None: the members are unknown.
    zarr_format : int
        2; nothing else is taken.

    Raises
    ------
    MetadataValidationError
        If a part is malformed, or does not match the type parameters.

    Examples
    --------
    >>> from zarr.models.v2 import GroupSpec
    >>> model = GroupSpec(attributes={}, members={"a": GroupSpec(attributes={"b": 1})})
    >>> model.to_consolidated()["metadata"]["a/.zattrs"]
    {'b': 1}
    """

    zarr_format: Literal[2] = 2
    attributes: TAttrs
    members: Mapping[str, TMembers] | None = field(default_factory=dict)

    @classmethod
    def _members_of_json(cls, document: dict[str, Any]) -> dict[str, Any]:
        required(document, ("zarr_format",))
        return {"members": None, **known_members(document, ("zarr_format", "attributes", "members"))}

    def to_consolidated(self) -> dict[str, Any]:
        """Return the document ``.zmetadata``: consolidated metadata of all nodes.

        Returns
        -------
        dict
        """
        copy = self._with_copy().consolidated_metadata
        assert copy is not None
        document: dict[str, Any] = plain(zmetadata_document(plain(self.attributes), copy.to_documents()))
        return document

    @classmethod
    def from_consolidated(cls, document: Mapping[str, Any]) -> Self:
        """Return the model of a whole hierarchy from the document ``.zmetadata``.

        Parameters
        ----------
        document : mapping
            The parsed document.

        Returns
        -------
        GroupSpec
        """
        attributes, nodes = split_zmetadata(document)
        copy = ConsolidatedMetadata.from_documents(nodes)
        return cls._of_copy(GroupMetadata(attributes, 2, copy))


GroupSpec._array_class = ArraySpec
GroupSpec._group_class = GroupSpec
AnyArraySpec: TypeAlias = ArraySpec[Any]
AnyGroupSpec: TypeAlias = GroupSpec[Any, Any]


def known_members(document: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of a model of format 2 from its document.

    Raises
    ------
    MetadataValidationError
        If there are members of other names.
    """
    unknown = sorted(set(document) - set(names) - {"node_type"})
    if unknown:
        raise MetadataValidationError(
            f"the document of a model of format 2 has members that it must not have: {unknown}"
        )
    return {"attributes": {}, **{key: value for key, value in document.items() if key in names}}


def _dtype(value: Any) -> Any:
    if isinstance(value, str):
        return value if value[:1] in "<>|" else np.dtype(value).str
    if isinstance(value, list | tuple):
        return frozen(plain(value))
    document: Any = parse_dtype(value, zarr_format=2).to_json(zarr_format=2)
    return frozen(plain(document["name"]))


def _codec(value: Any) -> Any:
    """Return a codec as its configuration."""
    if hasattr(value, "get_config"):
        value = value.get_config()
    if not isinstance(value, Mapping) or not isinstance(value.get("id"), str):
        raise MetadataValidationError(f"a codec of format 2 must be an object with an id, got {value!r}")
    return frozen(plain(value))


def from_zarr(element: Any, *, depth: int = -1) -> Any:
    """Return the model of a stored array or group of this format; see ``zarr.models.from_zarr``."""
    return GroupSpec.from_zarr(element, depth=depth) if hasattr(element, "members") else ArraySpec.from_zarr(element)


def from_flat(data: Mapping[str, NodeSpec]) -> NodeSpec:
    """Return the model of a table of paths and nodes."""
    return nested(data, GroupSpec)


__all__ = ["AnyArraySpec", "AnyGroupSpec", "ArraySpec", "GroupSpec", "from_flat", "from_zarr", "to_flat", "to_zarr"]
