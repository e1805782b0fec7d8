"""The bases of all models: JSON in and out, comparison, type parameters, pydantic's names; members, stored nodes.

At run time ``ArraySpec[Attrs]`` or ``GroupSpec[Attrs, Members]`` is a subclass that remembers its parameters; static
type checkers see an ordinary generic class.
"""

from __future__ import annotations

import dataclasses
import json
from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from zarr import Array, Group, create_hierarchy
from zarr import open as open_node
from zarr.core.sync import sync
from zarr.errors import ContainsArrayError, ContainsGroupError, MetadataValidationError
from zarr.metadata import ConsolidatedMetadata, GroupMetadata, NodeMetadata
from zarr.models import checks, schema
from zarr.models.checks import ModelType, check_literal, check_member_name, conform
from zarr.models.plain import Chosen, chosen, frozen, group_model, metadata_for, parsed, plain, same, to_model_names
from zarr.storage import StoreLike
from zarr.storage._common import make_store_path


class NodeSpec(metaclass=ModelType):
    """A model of an array or of a group.

    Two models are equal if their contents are equal, whatever their classes are.

    Examples
    --------
    >>> from zarr.models import GroupSpec, NodeSpec
    >>> isinstance(GroupSpec(attributes={}), NodeSpec)
    True
    """

    node_kind: ClassVar[Literal["array", "group"]]
    _parameters: ClassVar[tuple[Any, ...]] = ()

    if TYPE_CHECKING:
        attributes: Any
        zarr_format: Any

    if not TYPE_CHECKING:

        def __class_getitem__(cls, parameters: Any) -> type:
            return checks.specialize(cls, parameters if isinstance(parameters, tuple) else (parameters,))

    # ------------------------------------------------------------------------------------------- JSON

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return the model as a JSON document: dicts, lists, strings, numbers, booleans, None."""

    @classmethod
    @abstractmethod
    def _members_of_json(cls, document: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the class for a document."""

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON schema (draft 2020-12) of documents of this class."""
        schema_of = schema.schema_v2 if cls.zarr_format == 2 else schema.schema_v3
        return schema_of("ArraySpec" if cls.node_kind == "array" else "GroupSpec", cls._parameters)

    def _head(self) -> dict[str, Any]:
        """Return the members that documents of arrays and groups begin with."""
        kind = {"node_type": self.node_kind} if hasattr(self, "node_type") else {}
        return {"zarr_format": self.zarr_format, **kind, "attributes": plain(self.attributes)}

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
            If the document is not that of such a node.

        Examples
        --------
        >>> from zarr.models import GroupSpec
        >>> GroupSpec.from_json('{"zarr_format": 3, "node_type": "group", "members": {}}').members
        {}
        """
        members = parsed(document)
        if lenient:
            members = checks.repair_v2(members) if cls.zarr_format == 2 else checks.repair_v3(members)
        return cls(**cls._members_of_json(members))

    def validate(self) -> Self:
        """Validate the data types, codecs, their order and configuration, as reading the metadata does.

        The constructor only checks what is independent of the data type and the codecs, so that hierarchies with
        foreign ones can be described.

        Returns
        -------
        NodeSpec
            The model itself.

        Raises
        ------
        MetadataValidationError, UnknownCodecError
            If the node cannot be created.
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
            What this model is compared with.
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
        model: NodeSpec = checks.unspecialized(type(self)).from_zarr(node)
        return model

    def _check_kind(self) -> None:
        """Refuse a format or a type of node that is not that of the class."""
        check_literal("zarr_format", self.zarr_format, type(self).zarr_format)
        if hasattr(self, "node_type"):
            check_literal("node_type", self.node_type, self.node_kind)

    def _attributes_as_asked(self, where: str) -> Any:
        wanted = self._parameters[0] if self._parameters else None
        return conform(self.attributes, None if checks.anything(wanted) else wanted, where)

    def __reduce__(self) -> tuple[Any, ...]:
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        return (partial(type(self), **values), ())

    # ------------------------------------------------------------------------------------------- pydantic's names

    def model_dump(self, *, include: Chosen = None, exclude: Chosen = None) -> dict[str, Any]:
        """Return the document with tuples in place of lists, as the model stores it.

        Parameters
        ----------
        include, exclude : set of str or mapping, optional
            The members that are given, and those that are left out; a mapping selects within a member.

        Returns
        -------
        dict
        """
        document: dict[str, Any] = frozen(chosen(self.to_json(), include, exclude))
        return document

    def model_dump_json(self, *, indent: int | None = None, include: Chosen = None, exclude: Chosen = None) -> str:
        """Return the document as text.

        Parameters
        ----------
        indent : int, optional
            Spaces for each level; by default the text has one line.
        include, exclude : set of str or mapping, optional
            The members that are given, and those that are left out; a mapping selects within a member.

        Returns
        -------
        str
        """
        separators = (",", ":") if indent is None else None
        return json.dumps(chosen(self.to_json(), include, exclude), indent=indent, separators=separators)

    @classmethod
    def model_validate(cls, value: Any) -> Self:
        """Return a model from a document, or from another model that fits this class.

        Parameters
        ----------
        value : mapping, str, bytes or NodeSpec
            The document, or the other model.

        Returns
        -------
        NodeSpec
            Of this class.

        Raises
        ------
        MetadataValidationError
            If it does not fit this class.
        """
        return cls.from_json(value.to_json() if isinstance(value, NodeSpec) else value)

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        """Return a model from JSON text.

        Parameters
        ----------
        text : str or bytes
            A document.

        Returns
        -------
        NodeSpec
            Of this class.

        Raises
        ------
        MetadataValidationError
            If it does not fit this class.
        """
        return cls.from_json(text)

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """Return the same as :meth:`json_schema`."""
        return cls.json_schema()

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return the model with some of its members replaced, and validate the whole.

        Parameters
        ----------
        update : mapping, optional
            New values of members, by name.

        Returns
        -------
        NodeSpec
            Of the same class.
        """
        return dataclasses.replace(self, **dict(update or {}))  # type: ignore[type-var]


class ArrayModel(NodeSpec):
    """A model of an array of either format."""

    node_kind: ClassVar[Literal["array", "group"]] = "array"

    @classmethod
    def from_metadata(cls, metadata: Any) -> Self:
        """Return the model of an array's metadata.

        Parameters
        ----------
        metadata : ArrayV2Metadata or ArrayV3Metadata
            The parsed document of an array.

        Returns
        -------
        ArraySpec

        Raises
        ------
        MetadataValidationError
            If the metadata is of the other format.
        """
        check_literal("zarr_format", metadata.zarr_format, cls.zarr_format)
        return cls.from_json(metadata.to_dict())

    def normalized(self) -> Self:
        """Return the model as it is read back after it was stored, with the defaults of its codecs.

        Returns
        -------
        ArraySpec
        """
        return type(self).from_metadata(self.to_metadata())

    @classmethod
    def from_zarr(cls, array: Array[Any]) -> Self:
        """Return the model of a stored array; no data is read.

        Parameters
        ----------
        array : Array
            The stored array.

        Returns
        -------
        ArraySpec
        """
        return cls.from_metadata(array.metadata)

    @classmethod
    def _of_array(cls, array: Any, metadata_class: Any, given: Mapping[str, Any]) -> Self:
        """Return the model for a copy of an array, with the members that are given and not "auto"."""
        known = getattr(array, "metadata", None)
        made = known if isinstance(known, metadata_class) else metadata_for(array, cls.zarr_format)
        stated = {name: value for name, value in given.items() if not (isinstance(value, str) and value == "auto")}
        return cls(**{**cls._members_of_json(plain(made.to_dict())), **stated})

    def to_zarr(self, store: StoreLike, path: str = "", *, overwrite: bool = False, config: Any = None) -> Array[Any]:
        """Create the array; no data is written.

        Parameters
        ----------
        store : Store, str, Path or dict
            Where the array is created.
        path : str
            The path in the store.
        overwrite : bool
            If True, first delete the node that is there. Otherwise a stored array is returned if it has this model.
        config : ArrayConfig or dict, optional
            With what configuration the array is opened.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            If there is another node already.
        """
        array: Array[Any] = write_model(self, store, path, {"": self.to_metadata()}, overwrite, config)
        return array


class GroupModel(NodeSpec):
    """A model of a group of either format."""

    node_kind: ClassVar[Literal["array", "group"]] = "group"
    _array_class: ClassVar[type[NodeSpec]]
    _group_class: ClassVar[type[GroupModel]]

    if TYPE_CHECKING:
        members: Any

    def __post_init__(self) -> None:
        self._check_kind()
        object.__setattr__(self, "attributes", self._attributes_as_asked("the attributes of a group"))
        if self.members is not None:
            object.__setattr__(self, "members", self._checked_members())

    def _checked_members(self) -> dict[str, NodeSpec]:
        if not isinstance(self.members, Mapping):
            raise MetadataValidationError(f"members must be an object of arrays and groups, got {self.members!r}")
        wanted = self._parameters[1] if len(self._parameters) > 1 else None
        asked = checks.member_types(wanted, self.members)
        return {check_member_name(name): self._member(node, asked[name], name) for name, node in self.members.items()}

    def _member(self, node: Any, wanted: Any, name: str) -> NodeSpec:
        """Return one member as a model of the wanted class."""
        try:
            if checks.is_union(wanted):
                model: NodeSpec = checks.first_fit(
                    node, wanted.__args__, lambda part: self._member(node, part, name), f"the member {name!r}"
                )
                return model
            given = type(node) if isinstance(node, NodeSpec) else self._class_of(node)
            if not issubclass(given, self._array_class | self._group_class):
                raise MetadataValidationError(
                    f"a group of format {self.zarr_format} has members of that format, got a {given.__name__}"
                )
            cls = wanted if isinstance(wanted, type) and issubclass(wanted, NodeSpec) else given
            if isinstance(node, cls):
                return node
            if given.node_kind != cls.node_kind:
                raise MetadataValidationError(f"expected a {cls.__name__}, got a model of a {given.node_kind}")
            return cls.model_validate(node)
        except MetadataValidationError as error:
            error.add_note(f"in the member {name!r} of a group")
            raise

    @classmethod
    def _class_of(cls, document: Any) -> type[NodeSpec]:
        """Return the class of model for a document."""
        if not isinstance(document, Mapping):
            raise MetadataValidationError(f"a member must be a model or its document, got {document!r}")
        kind = document.get("node_type", "array" if "shape" in document else "group")
        if kind not in ("array", "group"):
            raise MetadataValidationError(f"node_type must be 'array' or 'group', got {kind!r}")
        return cls._array_class if kind == "array" else cls._group_class

    def to_metadata(self) -> GroupMetadata:
        return GroupMetadata.from_dict(self._own_json())

    @classmethod
    def from_metadata(cls, metadata: GroupMetadata) -> Self:
        """Return the model of a group's own metadata; ``members`` is None.

        Parameters
        ----------
        metadata : GroupMetadata
            The parsed document of a group.

        Returns
        -------
        GroupSpec
        """
        check_literal("zarr_format", metadata.zarr_format, cls.zarr_format)
        extra = {"extra_fields": metadata.extra_fields} if hasattr(cls, "node_type") else {}
        return cls(attributes=metadata.attributes, members=None, **extra)  # type: ignore[call-arg]

    def _own_json(self) -> dict[str, Any]:
        """Return the document of the group without its members, in the names of the format."""
        return {**self._head(), **plain(getattr(self, "extra_fields", {}))}

    def to_json(self) -> dict[str, Any]:
        members = None if self.members is None else {name: node.to_json() for name, node in self.members.items()}
        return {**self._head(), "members": members, **to_model_names(plain(getattr(self, "extra_fields", {})))}

    def validate(self) -> Self:
        for path, node in self.to_flat().items():
            try:
                node.to_metadata()
            except ValueError as error:
                error.add_note(f"in the model of {path or '/'}")
                raise
        return self

    # ------------------------------------------------------------------------------------------- flat form

    def to_flat(self, root_path: str = "") -> dict[str, NodeSpec]:
        """Return all nodes in one table; the groups in it have ``members=None``.

        Parameters
        ----------
        root_path : str
            The path of this group in the table.

        Returns
        -------
        dict
            Paths begin with a slash, that of the group itself is ``root_path``. Parents come first.

        Examples
        --------
        >>> from zarr.models import GroupSpec
        >>> list(GroupSpec(attributes={}, members={"a": GroupSpec(attributes={})}).to_flat())
        ['', '/a']
        """
        found: dict[str, NodeSpec] = {root_path: dataclasses.replace(self, members=None)}  # type: ignore[type-var]
        for name, node in (self.members or {}).items():
            found |= to_flat(node, f"{root_path}/{name}")
        return found

    @classmethod
    def from_flat(cls, data: Mapping[str, NodeSpec]) -> Self:
        """Return a model from a table of paths and nodes; missing groups are added.

        Parameters
        ----------
        data : mapping of path to model
            The path of the group itself is ``""``.

        Returns
        -------
        GroupSpec

        Raises
        ------
        MetadataValidationError
            If an array would have members; or the root is an array.

        Examples
        --------
        >>> from zarr.models import GroupSpec
        >>> list(GroupSpec.from_flat({"/a/b": GroupSpec(attributes={})}).members["a"].members)
        ['b']
        """
        root = nested(data, cls)
        return root if isinstance(root, cls) else cls.model_validate(root)

    # ------------------------------------------------------------------------------------------- consolidated

    def _with_copy(self) -> GroupMetadata:
        """Return the metadata of the group with consolidated metadata."""
        documents = {path.strip("/"): metadata.to_dict() for path, metadata in metadata_of(self).items() if path}
        copy = ConsolidatedMetadata.from_documents(documents)
        return dataclasses.replace(self.to_metadata(), consolidated_metadata=copy)

    @classmethod
    def _of_copy(cls, metadata: GroupMetadata) -> Self:
        """Return the model of a group and of its consolidated metadata."""
        if metadata.consolidated_metadata is None:
            raise MetadataValidationError("the document carries no consolidated metadata")
        nodes = {"": metadata, **metadata.consolidated_metadata.flattened_metadata}
        return cls.from_flat({path: cls._model_of(found) for path, found in nodes.items()})

    @classmethod
    def _model_of(cls, metadata: Any) -> NodeSpec:
        model = cls._group_class if isinstance(metadata, GroupMetadata) else cls._array_class
        made: NodeSpec = model.from_metadata(metadata)  # type: ignore[attr-defined]
        return made

    # ------------------------------------------------------------------------------------------- stored

    @classmethod
    def from_zarr(cls, group: Group, *, depth: int = -1) -> Self:
        """Return the model of a stored group; no data is read.

        Parameters
        ----------
        group : Group
            The stored group.
        depth : int
            The number of levels of members to read; -1 reads all. The members of groups below are None.

        Returns
        -------
        GroupSpec

        Raises
        ------
        MetadataValidationError
            If the group, or a node below it, has the other format.

        Examples
        --------
        >>> import zarr
        >>> from zarr.models import GroupSpec
        >>> group = zarr.group(attributes={"a": 1})
        >>> GroupSpec.from_zarr(group)
        GroupSpec(zarr_format=3, node_type='group', attributes={'a': 1}, members={}, extra_fields={})
        """
        return cls.model_validate(group_model(cls._model_of, group, depth))

    def to_zarr(
        self,
        store: StoreLike,
        path: str = "",
        *,
        overwrite: bool = False,
        consolidated: bool = False,
        config: Any = None,
    ) -> Group:
        """Create the hierarchy; no data is written.

        Parameters
        ----------
        store : Store, str, Path or dict
            Where the hierarchy is created.
        path : str
            The path in the store.
        overwrite : bool
            If True, first delete the node that is there, with all below it. Otherwise a stored group is returned
            if it has this model.
        consolidated : bool
            If True, store consolidated metadata in the group.
        config : ArrayConfig or dict, optional
            The configuration with which arrays are opened.

        Returns
        -------
        Group

        Raises
        ------
        ContainsGroupError, ContainsArrayError
            If there is another node already; nothing is created then.
        """
        nodes = metadata_of(self)
        if consolidated:
            nodes[""] = self._with_copy()
        group: Group = write_model(self, store, path, nodes, overwrite, config)
        return group


def nested(data: Mapping[str, NodeSpec], cls: type[GroupModel]) -> NodeSpec:
    """Return the root node of a table of paths and nodes; groups that the table lacks are added.

    Raises
    ------
    MetadataValidationError
        If an array would have members, two paths mean the same, or there is no node.
    """
    made: dict[str, NodeSpec] = {}
    children: dict[str, dict[str, None]] = {}
    for key, node in data.items():
        path = f"/{name}" if (name := key.strip("/")) else ""
        if path in made:
            raise MetadataValidationError(f"more than one key means the path {path!r}")
        if not isinstance(node, NodeSpec):
            raise MetadataValidationError(f"the node at {path or '/'!r} is a {type(node).__name__}, not a model")
        made[path] = node
        if isinstance(node, GroupModel) and node.members is None:
            children.setdefault(path, {})
        while path:
            child, path = path, path.rpartition("/")[0]
            children.setdefault(path, {})[child] = None
    if not made:
        raise MetadataValidationError("a hierarchy needs at least one node")
    for path in sorted(children, key=lambda path: path.count("/"), reverse=True):
        group = made.get(path) or cls._group_class(attributes={})  # type: ignore[call-arg]
        if not isinstance(group, GroupModel):
            raise MetadataValidationError(f"the array at {path or '/'!r} must not have members: {list(children[path])}")
        if group.members:
            raise MetadataValidationError(f"the group at {path or '/'!r} has members of its own beside those listed")
        members = {child.rpartition("/")[2]: made[child] for child in children[path]}
        made[path] = dataclasses.replace(group, members=members)  # type: ignore[type-var]
    return made[""]


def to_flat(node: NodeSpec, root_path: str = "") -> dict[str, NodeSpec]:
    """Return all nodes of a model in one table; an array is the one node of its table.

    Parameters
    ----------
    node : NodeSpec
        A model of an array or of a hierarchy.
    root_path : str, default ""
        What stands before each path.

    Returns
    -------
    dict of str to NodeSpec
        By path; groups have no members in it.

    Examples
    --------
    >>> from zarr.models import GroupSpec, to_flat
    >>> sorted(to_flat(GroupSpec(attributes={}, members={"a": GroupSpec(attributes={})})))
    ['', '/a']
    """
    return node.to_flat(root_path) if isinstance(node, GroupModel) else {root_path: node}


def to_zarr(spec: Any, store: StoreLike, path: str = "", *, overwrite: bool = False) -> Array[Any] | Group:
    """Create the array or the hierarchy of a model; see ``GroupSpec.to_zarr``.

    Parameters
    ----------
    spec : NodeSpec
        A model of an array or of a group.
    store : StoreLike
        Where the nodes are created.
    path : str, default ""
        The path in the store.
    overwrite : bool, default False
        If True, first delete the node that is there.

    Returns
    -------
    Array or Group

    Examples
    --------
    >>> from zarr.models import GroupSpec, to_zarr
    >>> to_zarr(GroupSpec(attributes={"a": 1}, members={}), {}).attrs["a"]
    1
    """
    made: Array[Any] | Group = spec.to_zarr(store, path, overwrite=overwrite)
    return made


def write_model(
    model: NodeSpec, store: StoreLike, path: str, nodes: Mapping[str, NodeMetadata], overwrite: bool, config: Any
) -> Any:
    """Create the nodes of a model below a path, and return the first.

    Raises
    ------
    ContainsGroupError, ContainsArrayError
        If there is a node already, and it has another model.
    """
    place = sync(make_store_path(store, path=path))
    table = {f"{place.path}{below}".strip("/"): metadata for below, metadata in nodes.items()}
    try:
        made = dict(create_hierarchy(store=place.store, nodes=table, overwrite=overwrite))
        node = made[place.path]
    except (ContainsGroupError, ContainsArrayError):
        node = open_node(place.store, path=place.path, mode="r+", zarr_format=table[place.path].zarr_format)
        same_kind = isinstance(node, Array) == (model.node_kind == "array")
        if not same_kind or metadata_of(model._of_stored(node)) != metadata_of(model):
            raise
    return node.with_config(config) if config is not None and isinstance(node, Array) else node


def metadata_of(model: NodeSpec) -> dict[str, NodeMetadata]:
    """Return the metadata of all nodes of a model, by their paths in it."""
    return {path: node.to_metadata() for path, node in to_flat(model).items()}
