"""The base of all models: JSON in and out, comparison, type parameters, and the method names of pydantic.

At run time ``ArraySpec[Attrs]`` or ``GroupSpec[Attrs, Members]`` is a subclass that remembers its parameters; static
type checkers see an ordinary generic class.
"""

from __future__ import annotations

import copyreg
import dataclasses
import json
import types
import typing
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from zarr.errors import MetadataValidationError
from zarr.models.plain import frozen, parsed, plain

if TYPE_CHECKING:
    from typing import Self

    from zarr.metadata import NodeMetadata


Chosen = Mapping[str, Any] | set[str] | None
"""Which members of a document: their names, or names with what of them (True for all of it)."""


class ModelType(ABCMeta):
    """The metaclass of models, which pickles a specialized model as the model and its parameters."""


def _reduced(cls: Any) -> Any:
    """Return the parts of a pickled class of models."""
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
        """Return the model as a JSON document: dicts, lists, strings, numbers, booleans, None."""

    @classmethod
    @abstractmethod
    def _members_of_json(cls, document: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the class that a document stands for."""

    @classmethod
    @abstractmethod
    def _repaired(cls, document: dict[str, Any]) -> dict[str, Any]:
        """Return a document of the draft as the final specification has it."""

    @classmethod
    @abstractmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON schema (draft 2020-12) of documents of this class."""

    @abstractmethod
    def to_metadata(self) -> NodeMetadata:
        """Return the metadata of the node itself, validated in full."""

    @classmethod
    def from_json(cls, document: str | bytes | Mapping[str, Any], *, lenient: bool = False) -> Self:
        """Return a model from its JSON document.

        Parameters
        ----------
        document : dict, str or bytes
            Text is read as JSON.
        lenient : bool
            If True, also accept documents in the form of the draft of the object models: data types as numpy writes
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
        """Validate the data types, codecs, their order and configuration, as reading the metadata does.

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
        """Return True if another model, or a stored node, agrees in the compared members.

        Parameters
        ----------
        other : NodeSpec, Array or Group
        include, exclude : set of str or mapping, optional
            The members of the documents to compare, and those to ignore. A mapping selects within a member:
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
        """Return the model of a stored node, of this class without parameters."""
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
        """Return the document with tuples for lists, as the model holds it."""
        document: dict[str, Any] = frozen(chosen(self.to_json(), include, exclude))
        return document

    def model_dump_json(self, *, indent: int | None = None, include: Chosen = None, exclude: Chosen = None) -> str:
        """Return the document as text."""
        separators = (",", ":") if indent is None else None
        return json.dumps(chosen(self.to_json(), include, exclude), indent=indent, separators=separators)

    @classmethod
    def model_validate(cls, value: Any) -> Self:
        """Return a model from a document, or from another model that fits this class."""
        return cls.from_json(value.to_json() if isinstance(value, NodeSpec) else value)

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        """Return a model from JSON text."""
        return cls.from_json(text)

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """Return the same as :meth:`json_schema`."""
        return cls.json_schema()

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return the model with some of its members replaced, and validate the whole."""
        return dataclasses.replace(self, **dict(update or {}))  # type: ignore[type-var]


def _rebuilt(cls: Any, values: dict[str, Any]) -> Any:
    return cls(**values)


def _unspecialized(cls: Any) -> Any:
    """Return the class of models without parameters and subclasses."""
    return next((base._plain_class for base in cls.__mro__ if "_plain_class" in vars(base)), cls)


def same(first: Any, second: Any) -> bool:
    """Return True if two JSON values are equal; true is not 1, but 1 is 1.0.

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
    """Return the selected members of a document.

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
    """Return the selection of one member: True, False, or a nested selection."""
    if names is None:
        return False
    if isinstance(names, Mapping):
        part = names.get(key, names.get("__all__", False))
        return True if part is ... else part
    return key in names


def attributes_json(attributes: Any) -> Any:
    """Return attributes of any class as JSON."""
    return plain(attributes)


_KNOWN: dict[tuple[type, Any], type] = {}


def specialize(cls: type, parameters: tuple[Any, ...]) -> type:
    """Return the subclass of a model with parameters; the same one for the same parameters."""
    try:
        known = _KNOWN.get((cls, parameters))
    except TypeError:  # a parameter that cannot be hashed
        return _subclass(cls, parameters)
    if known is None:
        known = _KNOWN[cls, parameters] = _subclass(cls, parameters)
    return known


def _subclass(cls: type, parameters: tuple[Any, ...]) -> type:
    names = ", ".join(getattr(part, "__name__", str(part)) for part in parameters)
    members = {"_parameters": parameters, "_plain_class": cls, "__module__": cls.__module__, "__doc__": cls.__doc__}
    return type(cls)(f"{cls.__name__}[{names}]", (cls,), members)


def anything(wanted: Any) -> bool:
    """Return True if a parameter accepts any value."""
    return wanted is None or wanted is Any or isinstance(wanted, (TypeVar, str, typing.ForwardRef))


def is_union(wanted: Any) -> bool:
    """Return True if a parameter is a union of types."""
    return get_origin(wanted) in (Union, types.UnionType)


def conform(value: Any, wanted: Any, where: str) -> Any:
    """Convert attributes to the wanted type.

    Parameters
    ----------
    value : object
    wanted : type
        A dataclass, a TypedDict, a class with ``model_validate``, a union of such, or a mapping.
    where : str
        For messages.

    Raises
    ------
    MetadataValidationError
        They do not fit.
    """
    if is_union(wanted):
        return first_fit(value, get_args(wanted), lambda part: conform(value, part, where), where)
    if typing.is_typeddict(wanted):
        return _with_keys(value, wanted, where)
    if isinstance(wanted, type) and wanted is not dict and isinstance(value, wanted):
        return value
    if hasattr(wanted, "model_validate"):
        return _called(wanted.model_validate, (value,), {}, where)
    if isinstance(wanted, type) and is_dataclass(wanted):
        if not isinstance(value, Mapping):
            raise MetadataValidationError(f"{where} must be a {wanted.__name__} or an object, got {value!r}")
        return _called(wanted, (), dict(value), where)
    if not isinstance(value, Mapping):
        if is_dataclass(value) or hasattr(value, "model_dump"):
            return value
        raise MetadataValidationError(f"{where} must be an object with strings as keys, got {value!r}")
    return _checked_keys(value, where)


def _checked_keys(value: Mapping[Any, Any], where: str) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise MetadataValidationError(f"{where} must have strings as keys, got {key!r}")
    return dict(value)


def _with_keys(value: Any, wanted: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise MetadataValidationError(f"{where} must be an object, got {value!r}")
    missing = sorted(wanted.__required_keys__ - set(value))
    if missing:
        raise MetadataValidationError(f"{where} must have {', '.join(missing)}, as {wanted.__name__} asks")
    return _checked_keys(value, where)


def _called(make: Callable[..., Any], args: tuple[Any, ...], members: dict[str, Any], where: str) -> Any:
    try:
        return make(*args, **members)
    except (TypeError, ValueError) as error:
        raise MetadataValidationError(f"{where}: {error}") from error


def first_fit(value: Any, offered: tuple[Any, ...], attempt: Callable[[Any], Any], where: str) -> Any:
    """Return the value as the first of several types that it fits.

    Raises
    ------
    MetadataValidationError
        It fits none; says why, for each.
    """
    reasons = []
    for part in offered:
        try:
            return attempt(part)
        except MetadataValidationError as error:
            reasons.append(f"{getattr(part, '__name__', part)}: {error}")
    raise MetadataValidationError(f"{where} fits none of what may be there: {'; '.join(reasons)}")


def member_types(wanted: Any, names: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the type of each member: by its name for a TypedDict, else the same for all.

    Raises
    ------
    MetadataValidationError
        A member that must be there is not.
    """
    if not typing.is_typeddict(wanted):
        return dict.fromkeys(names, wanted)
    missing = sorted(wanted.__required_keys__ - set(names))
    if missing:
        raise MetadataValidationError(f"the members of {where} must have {', '.join(missing)}")
    hints = get_type_hints(wanted)
    return {name: hints.get(name, Any) for name in names}
