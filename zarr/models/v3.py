"""Models of arrays and groups of format 3, with the metadata of version 3.1 of its specification.

References
----------
.. [1] Zarr core specification, version 3.1. https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NotRequired, Self, TypeAlias, TypedDict, TypeVar

import numpy as np

from zarr.dtype import parse_dtype
from zarr.errors import MetadataValidationError
from zarr.metadata import ArrayV3Metadata, GroupMetadata
from zarr.models.checks import check_grid, check_names, lengths, named, required
from zarr.models.node import ArrayModel, GroupModel, NodeSpec, nested, to_flat, to_zarr
from zarr.models.plain import from_model_names, frozen, plain, plain_fill

TAttrs = TypeVar("TAttrs")
TMembers = TypeVar("TMembers")
Auto = Literal["auto"]


class NamedConfig(TypedDict):
    """An extension of format 3: a name, and a configuration if it has one.

    Examples
    --------
    >>> from zarr.models import NamedConfig
    >>> NamedConfig(name="bytes", configuration={"endian": "little"})["name"]
    'bytes'
    """

    name: str
    configuration: NotRequired[Mapping[str, Any]]


Extension: TypeAlias = "str | NamedConfig | Mapping[str, Any]"


@dataclass(frozen=True, kw_only=True, eq=False)
class ArraySpec(ArrayModel, Generic[TAttrs]):
    """A model of an array of format 3.

    Parameters
    ----------
    attributes : dict, or the type parameter
        The user's attributes, which JSON can hold.
    shape : sequence of int
        The length of each dimension.
    data_type : str, dict or numpy.dtype
        What the elements are, as a document names it or as NumPy does.
    chunk_grid, chunk_key_encoding : dict or str
        How the array is cut into chunks, and how these are named.
    fill_value : object
        A scalar, or its JSON form.
    codecs : sequence of dict or str
        In the order in which they encode.
    storage_transformers : sequence of dict
        None are defined; an empty sequence.
    dimension_names : sequence of (str or None), optional
        One for each dimension; None if it has no name.
    extra_fields : mapping
        Members that need not be understood.
    zarr_format : int
        3; nothing else is taken.
    node_type : str
        "array"; nothing else is taken.

    Raises
    ------
    MetadataValidationError
        If a part is malformed, or parts contradict each other: ranks of chunks and names, for instance.

    Examples
    --------
    >>> from zarr.models import ArraySpec
    >>> model = ArraySpec(
    ...     attributes={}, shape=(4, 6), data_type="uint8", fill_value=0, codecs=({"name": "bytes"},),
    ...     chunk_grid={"name": "regular", "configuration": {"chunk_shape": (2, 6)}},
    ...     chunk_key_encoding={"name": "default", "configuration": {"separator": "/"}})
    >>> model == ArraySpec.from_json(model.to_json())
    True
    """


    zarr_format: Literal[3] = 3
    node_type: Literal["array"] = "array"
    attributes: TAttrs
    shape: Sequence[int]
    data_type: Any
    chunk_grid: Extension
    chunk_key_encoding: Extension
    fill_value: Any
    codecs: Sequence[Any]
    storage_transformers: Sequence[Any] = ()
    dimension_names: Sequence[str | None] | None = None
    extra_fields: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_kind()
        shape = lengths(self.shape, "shape")
        grid = canonical(self.chunk_grid, "chunk_grid")
        check_grid(grid, len(shape))
        if isinstance(self.codecs, str) or not isinstance(self.codecs, Sequence) or not self.codecs:
            raise MetadataValidationError(f"codecs must be a list of at least one codec, got {self.codecs!r}")
        if isinstance(self.storage_transformers, str) or not isinstance(self.storage_transformers, Sequence):
            raise MetadataValidationError(f"storage_transformers must be a list, got {self.storage_transformers!r}")
        self.__dict__.update(
            attributes=self._attributes_as_asked("the attributes of an array"),
            shape=shape,
            data_type=_data_type(self.data_type),
            chunk_grid=grid,
            chunk_key_encoding=canonical(self.chunk_key_encoding, "chunk_key_encoding"),
            fill_value=frozen(plain_fill(self.fill_value, _data_type(self.data_type))),
            codecs=tuple(canonical(codec, "a codec") for codec in self.codecs),
            storage_transformers=tuple(canonical(part, "a storage transformer") for part in self.storage_transformers),
            dimension_names=check_names(self.dimension_names, len(shape)),
            extra_fields=check_extra(self.extra_fields),
        )

    # ------------------------------------------------------------------------------------------- JSON, metadata

    def to_json(self) -> dict[str, Any]:
        named = ("dimension_names",) if self.dimension_names is not None else ()
        members = {name: getattr(self, name) for name in (*_ARRAY_FIELDS, *named)}
        return {**self._head(), **plain({**members, **self.extra_fields})}

    @classmethod
    def _members_of_json(cls, document: dict[str, Any]) -> dict[str, Any]:
        required(document, ("zarr_format", "node_type", *_ARRAY_FIELDS[:-1]))
        return members_of(document, (*_ARRAY_FIELDS, "dimension_names"))

    def to_metadata(self) -> ArrayV3Metadata:
        return ArrayV3Metadata.from_dict(self.to_json())

    @classmethod
    def from_array(
        cls,
        array: Any,
        *,
        attributes: Any = "auto",
        chunk_grid: Auto | Extension = "auto",
        chunk_key_encoding: Auto | Extension = "auto",
        fill_value: Any = "auto",
        codecs: Auto | Sequence[Any] = "auto",
        storage_transformers: Auto | Sequence[Any] = "auto",
        dimension_names: Auto | Sequence[str | None] | None = "auto",
    ) -> Self:
        """Return the model for a copy of an array, without compression, in the chunks of that array or in one.

        Parameters
        ----------
        array : object with ``shape`` and ``dtype``
            A zarr array gives all its metadata.
        attributes, chunk_grid, chunk_key_encoding, fill_value, codecs, storage_transformers, dimension_names
            Members that differ from those of the array.

        Returns
        -------
        ArraySpec

        Examples
        --------
        >>> from zarr.models import ArraySpec
        >>> import numpy as np
        >>> ArraySpec.from_array(np.zeros((4, 6), dtype="uint8")).codecs
        ({'name': 'bytes'},)
        """
        given = {
            "attributes": attributes,
            "chunk_grid": chunk_grid,
            "chunk_key_encoding": chunk_key_encoding,
            "fill_value": fill_value,
            "codecs": codecs,
            "storage_transformers": storage_transformers,
            "dimension_names": dimension_names,
        }
        return cls._of_array(array, ArrayV3Metadata, given)


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupSpec(GroupModel, Generic[TAttrs, TMembers]):
    """A model of a group of format 3 and of all nodes below it.

    Parameters
    ----------
    attributes : dict, or the first type parameter
        The user's attributes, which JSON can hold.
    members : mapping of str to ArraySpec or GroupSpec, or None
        None: the members are unknown. The second type parameter restricts them: a model, a union of models, or a
        TypedDict with the names and models of members.
    extra_fields : mapping
        Members of the group's document that need not be understood, under their names in the document.
    zarr_format : int
        3; nothing else is taken.
    node_type : str
        "group"; nothing else is taken.

    Raises
    ------
    MetadataValidationError
        If a part is malformed, or does not match the type parameters.

    Examples
    --------
    >>> from zarr.models import GroupSpec
    >>> inner = GroupSpec(attributes={}, members={})
    >>> GroupSpec(attributes={"a": 1}, members={"b": inner}).to_json()["members"]["b"]["node_type"]
    'group'
    """

    zarr_format: Literal[3] = 3
    node_type: Literal["group"] = "group"
    attributes: TAttrs
    members: Mapping[str, TMembers] | None = field(default_factory=dict)
    extra_fields: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "extra_fields", check_extra(self.extra_fields))

    @classmethod
    def _members_of_json(cls, document: dict[str, Any]) -> dict[str, Any]:
        required(document, ("zarr_format", "node_type"))
        document = {key: value for key, value in document.items() if key != "consolidated_metadata"}
        found = members_of(document, ("members",))
        found["extra_fields"] = from_model_names(found["extra_fields"])
        return {"members": None, **found}

    def to_consolidated(self) -> dict[str, Any]:
        """Return the document ``zarr.json`` of the group with consolidated metadata of all nodes below.

        Returns
        -------
        dict

        Examples
        --------
        >>> from zarr.models import GroupSpec
        >>> model = GroupSpec(attributes={}, members={"a": GroupSpec(attributes={})})
        >>> list(model.to_consolidated()["consolidated_metadata"]["metadata"])
        ['a']
        """
        document: dict[str, Any] = plain(self._with_copy().to_dict())
        return document

    @classmethod
    def from_consolidated(cls, document: Mapping[str, Any]) -> Self:
        """Return the model of a whole hierarchy from the ``zarr.json`` with consolidated metadata.

        Parameters
        ----------
        document : mapping
            The parsed document.

        Returns
        -------
        GroupSpec

        Raises
        ------
        MetadataValidationError
            If it has no consolidated metadata, or that is malformed.
        """
        return cls._of_copy(GroupMetadata.from_dict(document))


GroupSpec._array_class = ArraySpec
GroupSpec._group_class = GroupSpec
AnyArraySpec: TypeAlias = ArraySpec[Any]
AnyGroupSpec: TypeAlias = GroupSpec[Any, Any]

_ARRAY_FIELDS = (
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "storage_transformers",
)


def members_of(document: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of a model of format 3 from its document."""
    known = ("zarr_format", "node_type", "attributes", *names)
    found = {key: value for key, value in document.items() if key in known}
    extra = {key: value for key, value in document.items() if key not in known}
    return {"attributes": {}, **found, "extra_fields": extra}


def check_extra(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Check that the unspecified members of a document may be ignored.

    Raises
    ------
    MetadataValidationError
    """
    for name, value in extra.items():
        if not isinstance(value, Mapping) or value.get("must_understand") is not False:
            raise MetadataValidationError(
                f"{name!r} is no member of a model, and does not say that it need not be understood: {value!r}"
            )
    return dict(extra)


def canonical(value: Any, what: str) -> Any:
    """Return an extension as an object, with its configuration unless that is empty."""
    document = named(value, what)
    if isinstance(document, str):
        return {"name": document}
    return frozen({key: item for key, item in plain(document).items() if not (key == "configuration" and not item)})


def _data_type(value: Any) -> Any:
    if isinstance(value, str):
        if value[:1] in "<>|=":
            raise MetadataValidationError(
                f"{value!r} is a data type of format 2; format 3 calls it {np.dtype(value).name!r} "
                "(from_json(..., lenient=True) takes both)"
            )
        return value
    if isinstance(value, Mapping):
        return _short(canonical(value, "data_type"))
    return _short(frozen(plain(parse_dtype(value, zarr_format=3).to_json(zarr_format=3))))


def _short(value: Any) -> Any:
    return value["name"] if isinstance(value, Mapping) and set(value) == {"name"} else value


def from_zarr(element: Any, *, depth: int = -1) -> Any:
    """Return the model of a stored array or group of this format; see ``zarr.models.from_zarr``."""
    return GroupSpec.from_zarr(element, depth=depth) if hasattr(element, "members") else ArraySpec.from_zarr(element)


def from_flat(data: Mapping[str, NodeSpec]) -> NodeSpec:
    """Return the model of a table of paths and nodes."""
    return nested(data, GroupSpec)


__all__ = [
    "AnyArraySpec", "AnyGroupSpec", "ArraySpec", "GroupSpec", "NamedConfig", "from_flat", "from_zarr", "to_flat",
    "to_zarr",
]
