"""Models of groups of both formats: members, the flat form, and stored nodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from zarr import Array, create_array, create_hierarchy
from zarr import open as open_node
from zarr.core.sync import sync
from zarr.errors import ContainsArrayError, ContainsGroupError, MetadataValidationError
from zarr.metadata import ConsolidatedMetadata, GroupMetadata
from zarr.models.checks import check_member_name
from zarr.models.node import NodeSpec, anything, first_fit, is_union, member_types
from zarr.models.plain import nest, normal_paths, plain, walk
from zarr.storage._common import make_store_path

if TYPE_CHECKING:
    from typing import Self

    from zarr import Group
    from zarr.metadata import NodeMetadata
    from zarr.storage import StoreLike


class GroupModel(NodeSpec):
    """A model of a group of either format."""

    node_kind: ClassVar[Literal["array", "group"]] = "group"
    _array_class: ClassVar[type[NodeSpec]]
    _group_class: ClassVar[type[GroupModel]]

    if TYPE_CHECKING:
        members: Any
        attributes: Any
        zarr_format: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", self._attributes_as_asked("the attributes of a group"))
        if self.members is not None:
            object.__setattr__(self, "members", self._checked_members())

    def _checked_members(self) -> dict[str, NodeSpec]:
        if not isinstance(self.members, Mapping):
            raise MetadataValidationError(f"members must be an object of arrays and groups, got {self.members!r}")
        wanted = self._parameters[1] if len(self._parameters) > 1 else None
        asked = member_types(wanted, self.members, "a group")
        return {check_member_name(name): self._member(node, asked[name], name) for name, node in self.members.items()}

    def _member(self, node: Any, wanted: Any, name: str) -> NodeSpec:
        """Return one member as a model of the wanted class."""
        try:
            if is_union(wanted):
                model: NodeSpec = first_fit(
                    node, wanted.__args__, lambda part: self._member(node, part, name), f"the member {name!r}"
                )
                return model
            if anything(wanted) or not (isinstance(wanted, type) and issubclass(wanted, NodeSpec)):
                wanted = None
            if isinstance(node, NodeSpec):
                self._check_format(node)
            if wanted is None:
                return node if isinstance(node, NodeSpec) else self._class_of(node).from_json(node)
            fits: NodeSpec = node if isinstance(node, wanted) else self._converted(node, wanted)
            return fits
        except MetadataValidationError as error:
            error.add_note(f"in the member {name!r} of a group")
            raise

    def _check_format(self, node: NodeSpec) -> None:
        if not isinstance(node, self._array_class | self._group_class):
            raise MetadataValidationError(
                f"a group of format {self.zarr_format} has members of that format, got a {type(node).__name__}"
            )

    def _converted(self, node: Any, wanted: type[NodeSpec]) -> NodeSpec:
        given = type(node) if isinstance(node, NodeSpec) else self._class_of(node)
        if given.node_kind != wanted.node_kind:
            raise MetadataValidationError(f"expected a {wanted.__name__}, got a model of a {given.node_kind}")
        return wanted.model_validate(node)

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
        """Return the metadata of the group itself."""
        return GroupMetadata.from_dict({k: v for k, v in self._own_json().items() if k != "members"})

    def _own_json(self) -> dict[str, Any]:
        """Return the document of the group without its members, in the names of the format."""
        raise TypeError("a GroupModel is made by its subclasses")

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
        found = walk(self, lambda node: getattr(node, "members", None), root_path)
        return {
            path: dataclasses.replace(node, members=None) if isinstance(node, GroupModel) else node  # type: ignore[type-var]
            for path, node in found
        }

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
            An array would have members; or the root is an array.

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
        below: dict[str, NodeMetadata] = {
            path.strip("/"): node.to_metadata() for path, node in self.to_flat().items() if path
        }
        documents = {path: metadata.to_dict() for path, metadata in below.items()}
        copy = ConsolidatedMetadata.from_documents(documents)
        return dataclasses.replace(self.to_metadata(), consolidated_metadata=copy)

    @classmethod
    def _of_copy(cls, metadata: GroupMetadata) -> Self:
        """Return the model of a group and of its consolidated metadata."""
        if metadata.consolidated_metadata is None:
            raise MetadataValidationError("the document carries no consolidated metadata")
        nodes = {"": metadata, **metadata.consolidated_metadata.flattened_metadata}
        flat = {path: cls._model_of(found) for path, found in nodes.items()}
        return cls.from_flat(flat)

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
        depth : int
            The number of levels of members to read; -1 reads all. The members of groups below are None.

        Returns
        -------
        GroupSpec

        Raises
        ------
        MetadataValidationError
            The group, or a node below it, has the other format.

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
        path : str
            The path in the store.
        overwrite : bool
            If True, first delete the node that is there, with all below it. Otherwise a stored group is returned
            if it has this model.
        consolidated : bool
            If True, store consolidated metadata in the group.
        config : ArrayConfig or dict, optional
            With what configuration arrays are opened.

        Returns
        -------
        Group

        Raises
        ------
        ContainsGroupError, ContainsArrayError
            There is another node already; nothing has been made.
        """
        nodes: dict[str, NodeMetadata] = {place: node.to_metadata() for place, node in self.to_flat().items()}
        if consolidated:
            nodes[""] = self._with_copy()
        group: Group = write_model(self, store, path, nodes, overwrite, config)
        return group


def nested(data: Mapping[str, NodeSpec], cls: type[GroupModel]) -> NodeSpec:
    """Return the root node of a table of nodes."""
    table = normal_paths(data)
    for path, node in table.items():
        if not isinstance(node, NodeSpec):
            raise MetadataValidationError(f"the node at {path or '/'!r} is a {type(node).__name__}, not a model")
        if isinstance(node, GroupModel) and node.members and any(p.startswith(f"{path}/") for p in table):
            raise MetadataValidationError(f"the group at {path or '/'!r} has members of its own beside those listed")
    return nest(
        table,
        lambda node: isinstance(node, GroupModel),
        lambda: cls._group_class(attributes={}),  # type: ignore[call-arg]
        lambda group, members: dataclasses.replace(group, members=members),  # type: ignore[type-var]
    )


def to_flat(node: NodeSpec, root_path: str = "") -> dict[str, NodeSpec]:
    """Return all nodes of a model in one table; an array is the one node of its table."""
    return node.to_flat(root_path) if isinstance(node, GroupModel) else {root_path: node}


def to_zarr(spec: Any, store: StoreLike, path: str = "", *, overwrite: bool = False) -> Array[Any] | Group:
    """Create the array or the hierarchy of a model; see ``GroupSpec.to_zarr``."""
    made: Array[Any] | Group = spec.to_zarr(store, path, overwrite=overwrite)
    return made


def group_model(model_of: Callable[[Any], Any], group: Group, depth: int) -> dict[str, Any]:
    """Return the document of a stored group and of its members.

    Parameters
    ----------
    model_of : callable
        From metadata to the model of one node.
    group : Group
    depth : int
        The number of levels to read; -1 reads all.
    """
    root: dict[str, Any] = model_of(group.metadata).to_json()
    if depth == 0:
        return root
    documents = {"": root}
    records = sorted(group.members(max_depth=None if depth < 0 else depth - 1), key=lambda record: record[0].count("/"))
    root["members"] = {}
    for path, node in records:
        document = documents[path] = model_of(node.metadata).to_json()
        if not isinstance(node, Array) and path.count("/") + 1 != depth:
            document["members"] = {}
        above, _, name = path.rpartition("/")
        documents[above]["members"][name] = document
    return root


def write_model(
    model: NodeSpec, store: StoreLike, path: str, nodes: Mapping[str, NodeMetadata], overwrite: bool, config: Any
) -> Any:
    """Create the nodes of a model below a path, and return the first.

    Raises
    ------
    ContainsGroupError, ContainsArrayError
        There is a node already, and it has another model.
    """
    place = sync(make_store_path(store, path=path))
    table = {f"{place.path}{below}".strip("/"): metadata for below, metadata in nodes.items()}
    try:
        made = dict(create_hierarchy(store=place.store, nodes=table, overwrite=overwrite))
        node = made[place.path]
    except (ContainsGroupError, ContainsArrayError):
        node = open_node(place.store, path=place.path, mode="r+", zarr_format=table[place.path].zarr_format)
        if isinstance(node, Array) != (model.node_kind == "array") or not _has_model(node, model):
            raise
    return node.with_config(config) if config is not None and isinstance(node, Array) else node


def _has_model(node: Any, model: NodeSpec) -> bool:
    """Return True if a stored node equals the model."""
    return same_nodes(model._of_stored(node), model)


def same_nodes(first: NodeSpec, second: NodeSpec) -> bool:
    """Return True if two models describe the same metadata."""
    mine, theirs = _metadata_of(first), _metadata_of(second)
    return mine == theirs


def _metadata_of(model: NodeSpec) -> dict[str, Any]:
    flat = getattr(model, "to_flat", None)
    return {"": model.to_metadata()} if flat is None else {path: node.to_metadata() for path, node in flat().items()}


def metadata_for(array: Any, zarr_format: Literal[2, 3]) -> Any:
    """Return the metadata that an array like another one gets, without compression."""
    shape = tuple(array.shape)
    known = getattr(array, "chunksize", None) or getattr(array, "chunks", None)
    regular = isinstance(known, tuple) and len(known) == len(shape) and all(isinstance(n, int) for n in known)
    chunks = known if regular else tuple(max(1, n) for n in shape)
    made = create_array(
        {}, shape=shape, dtype=array.dtype, chunks=chunks, compressors=None, filters=None, zarr_format=zarr_format
    )
    attributes = getattr(array, "attrs", None)
    metadata = made.metadata
    return metadata.update_attributes(dict(attributes)) if isinstance(attributes, Mapping) else metadata


def plain_document(metadata: Any) -> dict[str, Any]:
    """Return a metadata document as JSON."""
    document: dict[str, Any] = plain(metadata.to_dict())
    return document


def stated(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not "auto"."""
    return {name: value for name, value in given.items() if not (isinstance(value, str) and value == "auto")}
