"""The documents of a group, and its consolidated metadata.

Groups contain consolidated metadata and consolidated metadata contains groups, so both classes are in this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self, TypeAlias

from zarr.abc.metadata import Metadata
from zarr.buffer.core import Buffer, BufferPrototype
from zarr.defaults import settings
from zarr.errors import MetadataValidationError, NodeTypeValidationError
from zarr.metadata.cache import has_whole_shards, is_sharable, keep
from zarr.metadata.consolidated import nest_paths, split_zmetadata, tree_order, zmetadata_document
from zarr.metadata.copies import Piece, member_step, write_copy
from zarr.metadata.documents import MetadataTypeError, document_place, dump_document, raise_located, require
from zarr.metadata.fields import AllowedExtraField, parse_attributes, parse_extra_fields
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.types import JSON, ZARR_JSON, ZATTRS_JSON, ZGROUP_JSON, ZMETADATA_V2_JSON, ZarrFormat

GROUP_METADATA_KEYS: Final = frozenset(("attributes", "zarr_format", "consolidated_metadata", "node_type"))


def parse_zarr_format(data: Any) -> ZarrFormat:
    """Check the ``zarr_format`` of a group.

    Raises
    ------
    ValueError
        If it is neither 2 nor 3.
    """
    if type(data) is int and data in (2, 3):
        return data  # type: ignore[return-value]
    raise ValueError(f"Failed to parse input for 'zarr_format': expected Literal[2, 3], got {data!r}.")


def parse_node_type(data: Any) -> Literal["array", "group"]:
    """Check the ``node_type`` of a document.

    Raises
    ------
    MetadataValidationError
        If it is neither ``"array"`` nor ``"group"``.
    """
    if data in ("array", "group"):
        return data  # type: ignore[no-any-return]
    raise MetadataValidationError(
        f"Failed to parse input for 'node_type': expected Literal['array', 'group'], got {data!r}."
    )


@dataclass(frozen=True, init=False)
class GroupMetadata(Metadata):
    """The metadata of a group, of format 2 or 3.

    Parameters
    ----------
    attributes
        The attributes of the user.
    zarr_format
        2 or 3.
    consolidated_metadata
        The consolidated metadata of the group, if it has any.
    extra_fields
        Members that need not be understood; format 3 only.

    Raises
    ------
    TypeError, ValueError
        If a part is malformed.

    Examples
    --------
    >>> from zarr.metadata import GroupMetadata
    >>> GroupMetadata(attributes={"title": "x"}).to_dict()
    {'attributes': {'title': 'x'}, 'zarr_format': 3, 'node_type': 'group'}
    """

    attributes: dict[str, Any] = field(default_factory=dict)
    zarr_format: ZarrFormat = 3
    consolidated_metadata: ConsolidatedMetadata | None = None
    node_type: Literal["group"] = field(default="group", init=False)
    extra_fields: dict[str, AllowedExtraField] = field(default_factory=dict)

    def __init__(
        self,
        attributes: dict[str, Any] | None = None,
        zarr_format: ZarrFormat = 3,
        consolidated_metadata: ConsolidatedMetadata | None = None,
        extra_fields: Mapping[str, AllowedExtraField] | None = None,
    ) -> None:
        parse_zarr_format(zarr_format)
        if extra_fields and zarr_format == 2:
            raise ValueError("Invalid extra fields. Zarr format 2 group metadata does not support extra fields.")
        # The class is frozen, so its fields are set through ``__dict__``, all at once.
        self.__dict__.update(
            attributes=parse_attributes(attributes),
            zarr_format=zarr_format,
            consolidated_metadata=consolidated_metadata,
            extra_fields=parse_extra_fields(extra_fields, reserved_keys=GROUP_METADATA_KEYS, node_type="group"),
        )

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], *, path: str | None = None, name: str | None = None, place: str | None = None
    ) -> Self:
        """Read the parsed document or documents.

        Parameters
        ----------
        data
            The members of ``zarr.json``; or those of ``.zgroup`` and, as ``attributes``, those of ``.zattrs``. Unknown
            members are ignored in format 2, and refused in format 3 if they must be understood.
        path
            Path of the group, for messages.
        name
            The name of its document, ``zarr.json`` or ``.zgroup``: its format must be that of the name.
        place
            The place of the group, for warnings about members of its consolidated metadata; by default its path.

        Returns
        -------
        GroupMetadata

        Raises
        ------
        MetadataValidationError
            If a member is malformed or unknown.
        NodeTypeValidationError
            If it is the document of another kind of node.
        """
        zarr_format = data.get("zarr_format", 3)
        member: str | None = "zarr_format"
        try:
            parse_zarr_format(zarr_format)
            if name is not None:
                _check_format(data, name)
            member = None
            if data.get("node_type") not in ("group", None):
                message = f"Invalid value for 'node_type'. Expected 'group' or None. Got {data['node_type']!r}."
                raise NodeTypeValidationError(message)
            member = "consolidated_metadata"
            # An empty object, and null, which was once written, mean that there is no consolidated metadata.
            raw_copy = data.get(member) or None
            copy = raw_copy if raw_copy is None else ConsolidatedMetadata.from_stored(raw_copy, path, place)
            member = "attributes"
            attributes = parse_attributes(data.get(member))
            member = None
            extra = None
            if zarr_format == 3:
                extra = {key: value for key, value in data.items() if key not in GROUP_METADATA_KEYS}
            return cls(attributes, zarr_format, copy, extra)
        except (ValueError, TypeError) as error:
            name = name or (ZARR_JSON if zarr_format == 3 else ZGROUP_JSON)
            raise_located(error, document_place(name, path, member))

    def replaced(self, **members: Any) -> Self:
        """Return the same metadata with other members, which were checked before.

        Parameters
        ----------
        **members
            Attributes of the object.

        Returns
        -------
        GroupMetadata

        Examples
        --------
        >>> from zarr.metadata import GroupMetadata
        >>> GroupMetadata({"a": 1}).replaced(attributes={}).attributes
        {}
        """
        return self.of_members({**self.__dict__, **members})

    def to_dict(self) -> dict[str, Any]:
        """Return the members of the document, in the order in which they are written."""
        document: dict[str, Any] = {"attributes": dict(self.attributes), "zarr_format": self.zarr_format}
        if self.consolidated_metadata is not None:
            document["consolidated_metadata"] = self.consolidated_metadata.to_dict()
        document["node_type"] = "group"
        document.update(self.extra_fields)
        return document

    def to_buffer_dict(self, prototype: BufferPrototype) -> dict[str, Buffer]:
        """Return the documents as bytes, under their names.

        Parameters
        ----------
        prototype
            The class of the buffers.

        Returns
        -------
        dict
            ``zarr.json``; in format 2 ``.zgroup``, ``.zattrs`` and, with consolidated metadata, ``.zmetadata``.

        Raises
        ------
        TypeError
            If an attribute has no JSON form.
        """
        make = prototype.buffer.from_bytes
        if self.zarr_format == 3:
            return {ZARR_JSON: make(self._text())}
        documents = {
            ZGROUP_JSON: make(dump_document({"zarr_format": 2})),
            ZATTRS_JSON: make(dump_document(self.attributes)),
        }
        if self.consolidated_metadata is not None:
            nodes = self.consolidated_metadata.to_documents()
            copy = zmetadata_document(self.attributes, nodes)
            documents[ZMETADATA_V2_JSON] = make(dump_document(copy, indent=None))
        return documents

    def _text(self) -> bytes:
        copy, indent = self.consolidated_metadata, settings.get("json_indent", 2)
        if copy is None or type(indent) is not int or indent < 1:
            return dump_document(self.to_dict())
        empty = _with_copy(self, ConsolidatedMetadata({})).to_dict()
        return write_copy(empty, copy.to_texts(member_step(indent)), indent)


NodeMetadata: TypeAlias = ArrayV2Metadata | ArrayV3Metadata | GroupMetadata


@dataclass(frozen=True)
class ConsolidatedMetadata:
    """Consolidated metadata: copies of the documents of the nodes below a group.

    Parameters
    ----------
    metadata
        The members of the group, by name; groups among them have the consolidated metadata of their own members. A node
        whose parent cannot be read is listed under its longer relative path.
    kind
        ``"inline"``, the only one.
    must_understand
        False: readers that do not know it may ignore it.

    Examples
    --------
    >>> from zarr.metadata import ConsolidatedMetadata, GroupMetadata
    >>> copy = ConsolidatedMetadata({"g": GroupMetadata(consolidated_metadata=ConsolidatedMetadata({}))})
    >>> list(copy.flattened_metadata)
    ['g']
    """

    metadata: dict[str, NodeMetadata]
    kind: Literal["inline"] = "inline"
    must_understand: Literal[False] = False

    @classmethod
    def from_dict(cls, data: Mapping[str, JSON], *, path: str | None = None) -> ConsolidatedMetadata:
        """Read the object ``consolidated_metadata``.

        Parameters
        ----------
        data
            The parsed object.
        path
            Path of the group, for messages.

        Returns
        -------
        ConsolidatedMetadata
            A member whose document cannot be read is not in ``metadata`` but in ``unreadable``.

        Raises
        ------
        TypeError, ValueError
            If the object itself is malformed, or a member of it is no document at all.
        """
        documents = data.get("metadata") if isinstance(data, Mapping) else None
        for key, document in documents.items() if isinstance(documents, Mapping) else ():
            if not isinstance(document, Mapping | Piece):
                raise TypeError(f"Invalid value for metadata items. key='{key}', type='{type(document).__name__}'")
        return cls.from_stored(data, path)

    @classmethod
    def from_stored(
        cls, data: Mapping[str, JSON], path: str | None = None, place: str | None = None
    ) -> ConsolidatedMetadata:
        """Do the same for a stored document: unreadable members do not prevent the reading of the others.

        Parameters
        ----------
        data : mapping
            The object ``consolidated_metadata``.
        path : str, optional
            The path of the group, for messages.
        place : str, optional
            The place of the group, for warnings; by default its path.

        Raises
        ------
        TypeError, ValueError
            If the object itself is malformed.
        """
        if not isinstance(data, Mapping):
            raise TypeError(f"Expected consolidated metadata to be an object, got {type(data)}")
        kind = data.get("kind")
        if kind != "inline":
            raise ValueError(f"Consolidated metadata kind='{kind}' is not supported.")
        documents = data.get("metadata")
        if not isinstance(documents, Mapping):
            raise TypeError(f"Unexpected type for 'metadata': {type(documents)}")
        return cls.from_documents(documents, path, place)

    @classmethod
    def from_zmetadata(
        cls, document: Mapping[str, Any], path: str | None = None, place: str | None = None
    ) -> ConsolidatedMetadata:
        """Read the document ``.zmetadata`` of format 2; parameters, result and errors as `from_dict`.

        Parameters
        ----------
        document : mapping
            The parsed document.
        path : str, optional
            The path of the group, for messages.
        place : str, optional
            The place of the group, for warnings; by default its path.
        """
        return cls.from_documents(split_zmetadata(document)[1], path, place)

    @classmethod
    def from_documents(
        cls, documents: Mapping[str, Any], path: str | None = None, place: str | None = None
    ) -> ConsolidatedMetadata:
        """Read the parsed documents of nodes.

        Parameters
        ----------
        documents
            Members of the documents, by relative path, in any order.
        path
            Path of the group, for messages.
        place
            The place of the group, for warnings; by default its path.
        """
        nodes: dict[str, NodeMetadata] = {}
        unreadable: dict[str, tuple[Any, Exception]] = {}
        for key, document in documents.items():
            name = key.strip("/")
            if not name:
                # The group itself, which has its own document.
                continue
            try:
                where = f"{path}/{name}" if path else name
                nodes[name] = parse_member(document, where, f"{place}/{name}" if place else where)
            except (ValueError, TypeError, KeyError, OverflowError) as error:
                unreadable[name] = (document.document if type(document) is Piece else document, error)
        return nest(nodes, unreadable)

    @staticmethod
    def _flat_to_nested(metadata: dict[str, NodeMetadata]) -> None:
        """Put the nodes below a group, by path, into the groups that hold them; programs for zarr-python call it."""
        below = {path: node for path, node in metadata.items() if path}
        metadata.clear()
        metadata.update(nest(below, {}).metadata)

    @property
    def unreadable(self) -> Mapping[str, tuple[Any, Exception]]:
        """Documents that could not be read, with their errors, by path below the group.

        They are kept so that they are written back as they were.
        """
        found: Mapping[str, tuple[Any, Exception]] = self.__dict__.get("_unreadable", {})
        return found

    @property
    def flattened_metadata(self) -> dict[str, NodeMetadata]:
        """All nodes below the group, by path. Groups among them that have consolidated metadata have empty ones."""
        flat: dict[str, NodeMetadata] = {}
        for name, node in self.metadata.items():
            if not isinstance(node, GroupMetadata) or node.consolidated_metadata is None:
                flat[name] = node
                continue
            flat[name] = _with_copy(node, ConsolidatedMetadata({}))
            for below, member in node.consolidated_metadata.flattened_metadata.items():
                flat[f"{name}/{below}"] = member
        return flat

    def with_member(self, path: str, node: NodeMetadata | None) -> ConsolidatedMetadata | None:
        """Return the copy with another document of one node, or without that node and all nodes below it.

        Parameters
        ----------
        path
            Of the node, below the group.
        node
            None takes it away.

        Returns
        -------
        ConsolidatedMetadata or None
            None where a group above the node is not in the copy.
        """
        name, _, rest = path.partition("/")
        members = dict(self.metadata)
        there = members.get(name)
        if not rest or path in members:
            members.pop(path, None)
            if isinstance(node, GroupMetadata) and node.consolidated_metadata is None:
                node = _with_copy(node, ConsolidatedMetadata({}))
            if node is not None:
                members[path] = node
                members = dict(sorted(members.items()))
            return ConsolidatedMetadata(members)
        if not isinstance(there, GroupMetadata) or there.consolidated_metadata is None:
            return None
        below = there.consolidated_metadata.with_member(rest, node)
        if below is None:
            return None
        members[name] = _with_copy(there, below)
        return ConsolidatedMetadata(members)

    def _nodes(self) -> dict[str, Any]:
        """All nodes below the group, parents first; the stored document of one that was repaired when it was read."""
        # The first write of that node corrects both.
        found = self.flattened_metadata.items()
        nodes = {path: getattr(node, "_stored_document", None) or node for path, node in found}
        nodes.update({path: document for path, (document, _) in self.unreadable.items()})
        return {path: nodes[path] for path in sorted(nodes, key=tree_order)}

    def to_documents(self) -> dict[str, dict[str, Any]]:
        """Return the members of the documents of all nodes, parents first, by path.

        Returns
        -------
        dict
        """
        return {path: node.to_dict() if isinstance(node, Metadata) else node for path, node in self._nodes().items()}

    def to_texts(self, indent: int | None) -> dict[str, bytes]:
        """Return the documents of all nodes as bytes, parents first, by path.

        Parameters
        ----------
        indent : int or None
            Spaces for each level; None: on one line.

        Returns
        -------
        dict of str to bytes
        """
        return {
            path: node.to_text(indent)
            if type(node) is ArrayV3Metadata
            else dump_document(node.to_dict() if isinstance(node, Metadata) else node, indent=indent)
            for path, node in self._nodes().items()
        }

    def to_dict(self) -> dict[str, JSON]:
        """Return the object ``consolidated_metadata``: all nodes in one table, parents first.

        Returns
        -------
        dict
        """
        return {"kind": self.kind, "must_understand": self.must_understand, "metadata": self.to_documents()}


def _check_format(document: Mapping[str, Any], name: str) -> None:
    """Refuse a document of another format than its name: the members of its group have other names."""
    found = document.get("zarr_format", 3) if name == ZARR_JSON else require(document, "zarr_format")
    if found != (2 if name == ZGROUP_JSON else 3):
        raise ValueError(f"a document {name} cannot be of format {found!r}")


def parse_member(document: Any, path: str | None = None, place: str | None = None) -> NodeMetadata:
    """Read the parsed document of a node of any kind.

    Parameters
    ----------
    document
        The members, or a piece of a larger document; in format 2 with the attributes.
    path
        Path of the node, for messages.
    place
        The place of the node, for warnings; by default its path.

    Raises
    ------
    MetadataValidationError
        If it is no such document.

    Examples
    --------
    >>> parse_member({"zarr_format": 3, "node_type": "group"}).zarr_format
    3
    """
    if type(document) is Piece:
        return _parse_piece(document, path, place)
    if not isinstance(document, Mapping):
        raise MetadataTypeError(f"The document of the node {path!r} is not an object but {type(document)}.")
    zarr_format = document.get("zarr_format")
    if zarr_format == 2:
        if "shape" in document:
            return ArrayV2Metadata.from_dict(document, path=path, place=place)
        return GroupMetadata.from_dict(document, path=path)
    if zarr_format != 3:
        older = ".zarray" if "shape" in document else ZGROUP_JSON
        where = document_place(ZARR_JSON if "node_type" in document else older, path, "zarr_format")
        raise MetadataValidationError(f"Expected the integer 2 or 3, got {zarr_format!r} (in {where})")
    if parse_node_type(document.get("node_type")) == "array":
        return ArrayV3Metadata.from_dict(document, path=path, place=place)
    return GroupMetadata.from_dict(document, path=path)


def _parse_piece(piece: Piece, path: str | None, place: str | None) -> NodeMetadata:
    if piece.members is not None:
        return ArrayV3Metadata.of_members(piece.members)
    node = parse_member(piece.document, path, place)
    if isinstance(node, ArrayV3Metadata) and not has_whole_shards(node.codecs) and is_sharable(node.__dict__):
        keep(piece.known, node.__dict__, (piece.key, node.attributes))
    return node


def _with_copy(group: GroupMetadata, copy: ConsolidatedMetadata) -> GroupMetadata:
    return group.replaced(consolidated_metadata=copy)


def nest(nodes: dict[str, NodeMetadata], unreadable: dict[str, tuple[Any, Exception]]) -> ConsolidatedMetadata:
    """Nest all nodes below a group, by path: each group among them gets the consolidated metadata of its own members.

    Raises
    ------
    MissingParentError
        If a group between is missing.
    """
    # The deepest groups are made first, because they cannot be changed afterwards.
    members = nest_paths(nodes, {path: isinstance(node, GroupMetadata) for path, node in nodes.items()}, unreadable)
    copies: dict[str, ConsolidatedMetadata] = {}
    for group in sorted(members, key=tree_order, reverse=True):
        # The root's key "" sorts with the first level but must come last.
        if group:
            copies[group] = ConsolidatedMetadata(_members_of(members[group], nodes, copies))
            if unreadable:
                above = f"{group}/"
                below = {path.removeprefix(above): each for path, each in unreadable.items() if path.startswith(above)}
                copies[group].__dict__["_unreadable"] = below
    root = ConsolidatedMetadata(_members_of(members[""], nodes, copies))
    root.__dict__["_unreadable"] = unreadable
    return root


def _members_of(
    table: dict[str, str], nodes: dict[str, NodeMetadata], copies: dict[str, ConsolidatedMetadata]
) -> dict[str, NodeMetadata]:
    members: dict[str, NodeMetadata] = {}
    for name, path in table.items():
        node = nodes[path]
        members[name] = _with_copy(node, copies[path]) if isinstance(node, GroupMetadata) else node
    return members
