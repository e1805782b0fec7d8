"""What every model of a node has: JSON in and out, comparison, and the names that pydantic gives these things."""

from __future__ import annotations

import copyreg
import dataclasses
import json
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from zarr.models.plain import frozen, parsed, plain
from zarr.models.typed import anything, conform, specialize

if TYPE_CHECKING:
    from typing import Self

    from zarr.metadata.group import NodeMetadata

Chosen = Mapping[str, Any] | set[str] | None
"""Which members of a document: their names, or names with what of them (True for all of it)."""


class ModelType(ABCMeta):
    """The type of models: a model with parameters is pickled as the model and its parameters."""


def _reduced(cls: Any) -> Any:
    """How a class of models is pickled."""
    return (_with_parameters, (cls._plain_class, cls._parameters)) if "_plain_class" in vars(cls) else cls.__qualname__


def _with_parameters(cls: Any, parameters: tuple[Any, ...]) -> Any:
    return cls[parameters]


copyreg.pickle(ModelType, _reduced)


class NodeSpec(metaclass=ModelType):
    """A model of an array or of a group.

    Two models are equal where they say the same, whatever classes they are of.
    """

    node_kind: ClassVar[Literal["array", "group"]]
    _parameters: ClassVar[tuple[Any, ...]] = ()

    if not TYPE_CHECKING:

        def __class_getitem__(cls, parameters: Any) -> type:
            return specialize(cls, parameters if isinstance(parameters, tuple) else (parameters,))

    # ------------------------------------------------------------------------------------------- JSON

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The model as a JSON document: dicts, lists, strings, numbers, booleans, None."""

    @classmethod
    @abstractmethod
    def _members_of_json(cls, document: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the class that a document stands for."""

    @classmethod
    @abstractmethod
    def _repaired(cls, document: dict[str, Any]) -> dict[str, Any]:
        """A document of the draft as the final specification has it."""

    @classmethod
    @abstractmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON schema (draft 2020-12) of documents of this class."""

    @abstractmethod
    def to_metadata(self) -> NodeMetadata:
        """The metadata of the node itself, checked in full."""

    @classmethod
    def from_json(cls, document: str | bytes | Mapping[str, Any], *, lenient: bool = False) -> Self:
        """A model from its JSON document.

        Parameters
        ----------
        document : dict, str or bytes
            Text is read as JSON.
        lenient : bool
            Whether documents as the draft of the object models has them are taken, too: data types as numpy writes
            them, codecs by other names, ``null`` and missing members.

        Returns
        -------
        NodeSpec

        Raises
        ------
        MetadataValidationError
            The document is not that of such a node.

        Examples
        --------
        >>> from zarr.models import GroupSpec
        >>> GroupSpec.from_json('{"zarr_format": 3, "node_type": "group", "members": {}}').members
        {}
        """
        members = parsed(document)
        if lenient:
            members = cls._repaired(members)
        return cls(**cls._members_of_json(members))

    def validate(self) -> Self:
        """Check all that reading the model as metadata checks: data types, codecs, their order and configuration.

        Making a model checks what can be checked without knowing its data type and its codecs, so that hierarchies
        with foreign ones can be described.

        Returns
        -------
        NodeSpec
            The model itself.

        Raises
        ------
        MetadataValidationError, UnknownCodecError
            No such node can be made.
        """
        self.to_metadata()
        return self

    # ------------------------------------------------------------------------------------------- comparison

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NodeSpec):
            return NotImplemented
        return same(self.to_json(), other.to_json())

    def __hash__(self) -> int:
        document = self.to_json()
        return hash((self.node_kind, document["zarr_format"], tuple(document.get("shape", ()))))

    def like(self, other: Any, *, include: Chosen = None, exclude: Chosen = None) -> bool:
        """Whether another model, or a stored array or group, says the same in the members that are looked at.

        Parameters
        ----------
        other : NodeSpec, Array or Group
        include, exclude : set of str or mapping, optional
            Which members of the documents are compared, and which are not. A mapping goes into a member:
            ``exclude={"members": {"t": {"shape"}}}``.

        Returns
        -------
        bool

        Examples
        --------
        >>> from zarr.models.v2 import ArraySpec
        >>> small = ArraySpec(attributes={}, shape=(1,), chunks=(1,), dtype="uint8")
        >>> large = ArraySpec(attributes={}, shape=(9,), chunks=(1,), dtype="uint8")
        >>> small.like(large), small.like(large, exclude={"shape"})
        (False, True)
        """
        if not isinstance(other, NodeSpec):
            other = self._of_stored(other)
        mine, theirs = self.to_json(), other.to_json()
        return same(chosen(mine, include, exclude), chosen(theirs, include, exclude))

    def _of_stored(self, node: Any) -> NodeSpec:
        """The model of a stored node, of the class that this one has without parameters."""
        cls: Any = _unspecialized(type(self))
        model: NodeSpec = cls.from_zarr(node)
        return model

    def _attributes_as_asked(self, where: str) -> Any:
        wanted = self._parameters[0] if self._parameters else None
        return conform(self.attributes, None if anything(wanted) else wanted, where)  # type: ignore[attr-defined]

    def __reduce__(self) -> tuple[Any, ...]:
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        return (_rebuilt, (type(self), values))

    # ------------------------------------------------------------------------------------------- pydantic's names

    def model_dump(self, *, include: Chosen = None, exclude: Chosen = None) -> dict[str, Any]:
        """The document with tuples for lists, as the model holds it."""
        document: dict[str, Any] = frozen(chosen(self.to_json(), include, exclude))
        return document

    def model_dump_json(self, *, indent: int | None = None, include: Chosen = None, exclude: Chosen = None) -> str:
        """The document as text."""
        separators = (",", ":") if indent is None else None
        return json.dumps(chosen(self.to_json(), include, exclude), indent=indent, separators=separators)

    @classmethod
    def model_validate(cls, value: Any) -> Self:
        """A model from a document, or from another model that says what this class asks for."""
        return cls.from_json(value.to_json() if isinstance(value, NodeSpec) else value)

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        """A model from JSON text."""
        return cls.from_json(text)

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """The same as :meth:`json_schema`."""
        return cls.json_schema()

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """The model with some of its members replaced; the rest is checked with them."""
        return dataclasses.replace(self, **dict(update or {}))  # type: ignore[type-var]


def _rebuilt(cls: Any, values: dict[str, Any]) -> Any:
    return cls(**values)


def _unspecialized(cls: Any) -> Any:
    """The class of models without what parameters and subclasses ask for."""
    return next((base._plain_class for base in cls.__mro__ if "_plain_class" in vars(base)), cls)


def same(first: Any, second: Any) -> bool:
    """Whether two JSON values are equal; true is not 1, but 1 is 1.0.

    Examples
    --------
    >>> same({"a": [1]}, {"a": [1.0]}), same(True, 1)
    (True, False)
    """
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    return isinstance(first, bool) == isinstance(second, bool) and bool(
        first == second or (first != first and second != second)
    )


def chosen(document: Any, include: Chosen, exclude: Chosen) -> Any:
    """The members of a document that are asked for.

    Examples
    --------
    >>> chosen({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c"}}, None)
    {'b': {'c': 2}}
    """
    if not isinstance(document, dict) or (include is None and exclude is None):
        return document
    found = {}
    for key, value in document.items():
        wanted, unwanted = _part(include, key), _part(exclude, key)
        if (include is not None and wanted is False) or unwanted is True:
            continue
        found[key] = chosen(value, wanted if isinstance(wanted, Mapping | set) else None, unwanted or None)
    return found


def _part(names: Chosen, key: str) -> Any:
    """What is said of one member: True or False, or what of it."""
    if names is None:
        return False
    if isinstance(names, Mapping):
        part = names.get(key, names.get("__all__", False))
        return True if part is ... else part
    return key in names


def attributes_json(attributes: Any) -> Any:
    """Attributes of whatever class, as JSON."""
    return plain(attributes)
