"""Read and write consolidated metadata: one document with copies of the documents of many nodes.

The class ``ConsolidatedMetadata`` is in ``group.py``, beside the group metadata.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, Final, NamedTuple

from zarr.errors import MetadataValidationError
from zarr.metadata.cache import Documents, find_members, known_documents
from zarr.metadata.documents import MAX_DOCUMENT_BYTES, MissingParentError, load_document


def tree_order(path: str) -> tuple[int, str]:
    """Return the sorting key of a path: parents before members, and by name within a level.

    Examples
    --------
    >>> sorted(["b", "a/c", "a"], key=tree_order)
    ['a', 'b', 'a/c']
    """
    return path.count("/"), path


def nest_paths(
    paths: Iterable[str], is_group: Mapping[str, bool], unreadable: Container[str] = ()
) -> dict[str, dict[str, str]]:
    """Find the members of each group.

    Parameters
    ----------
    paths
        Paths of nodes.
    is_group
        The paths among them that are groups.
    unreadable
        Further paths of nodes, whose documents cannot be read.

    Returns
    -------
    dict
        For each group, and for the root ``""``, a table from the relative path of a member to its full path. A node
        whose parent is an array, or cannot be read, is a member of the nearest group above it, under its longer
        relative path.

    Raises
    ------
    MissingParentError
        If the parent of a node is not listed.

    Examples
    --------
    >>> nest_paths(["g", "g/a", "x/y"], {"g": True}, ["x"])
    {'': {'g': 'g', 'x/y': 'x/y'}, 'g': {'a': 'g/a'}}
    """
    members: dict[str, dict[str, str]] = {"": {}}
    for path in paths:
        if is_group.get(path):
            members.setdefault(path, {})
        above = path.rpartition("/")[0]
        while above and not is_group.get(above):
            if above not in is_group and above not in unreadable:
                raise MissingParentError(f"consolidated metadata list the node {path!r} but not its parent {above!r}")
            above = above.rpartition("/")[0]
        members.setdefault(above, {})[path[len(above) + 1 :] if above else path] = path
    return members


def zmetadata_document(attributes: Mapping[str, Any], nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Build the document ``.zmetadata``: the documents of all nodes of a hierarchy of format 2, by their keys.

    Parameters
    ----------
    attributes
        The attributes of the group that has the document.
    nodes
        For each path the members of the documents of a node below it, attributes included.

    Returns
    -------
    dict

    Examples
    --------
    >>> zmetadata_document({}, {})
    {'metadata': {'.zgroup': {'zarr_format': 2}, '.zattrs': {}}, 'zarr_consolidated_format': 1}
    """
    documents: dict[str, Any] = {".zgroup": {"zarr_format": 2}, ".zattrs": attributes}
    for path in sorted(nodes, key=tree_order):
        node = nodes[path]
        if not isinstance(node, Mapping):  # a damaged document is kept as it was found
            documents[f"{path}/.zarray"] = node
            continue
        documents[f"{path}/.zattrs"] = node.get("attributes", {})
        if "shape" in node:
            documents[f"{path}/.zarray"] = {key: value for key, value in node.items() if key != "attributes"}
        else:
            # The format allows no other member; consolidated metadata inside of consolidated metadata would be one.
            documents[f"{path}/.zgroup"] = {"zarr_format": 2}
    return {"metadata": documents, "zarr_consolidated_format": 1}


def split_zmetadata(document: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Split the document ``.zmetadata``.

    Parameters
    ----------
    document
        The parsed document.

    Returns
    -------
    tuple
        The attributes of the group, and by path the members of the documents of the nodes below it. Documents that
        belong to no node (attributes of a node without a document) are left out.

    Raises
    ------
    ValueError, TypeError
        If it has no object ``metadata``, or is of another version than 1.

    Examples
    --------
    >>> split_zmetadata({"zarr_consolidated_format": 1, "metadata": {"g/.zgroup": {"zarr_format": 2}}})
    ({}, {'g': {'zarr_format': 2, 'attributes': {}}})
    """
    documents = document.get("metadata")
    if not isinstance(documents, Mapping):
        kind = ValueError if documents is None else TypeError
        found = "" if documents is None else f" but {type(documents)}"
        raise kind(f"The document '.zmetadata' has no object 'metadata'{found}.")
    version = document.get("zarr_consolidated_format", 1)
    if version != 1:
        raise ValueError(
            f"The document '.zmetadata' has zarr_consolidated_format {version!r}; only version 1 can be read."
        )
    nodes: dict[str, dict[str, Any]] = {}
    attributes: dict[str, Any] = {}
    for key, part in documents.items():
        path, _, name = key.rpartition("/")
        if name == ".zattrs":
            attributes[path] = part
        elif path and name in (".zarray", ".zgroup"):
            nodes[path] = part  # a damaged one, too: opening that node raises the error
            if isinstance(part, Mapping):
                nodes[path] = {key: value for key, value in part.items() if key != "consolidated_metadata"}
                nodes[path]["attributes"] = documents.get(f"{path}/.zattrs", {})
    return attributes.get("", {}), nodes


MIN_BYTES: Final = 4096
"""Smaller documents are parsed as a whole."""

_MOST_BRACKETS: Final = 400  # a piece with more of them could be nested deeper than documents may be
_HOLDER: Final = b'"consolidated_metadata": {'
_TABLE: Final = b'"metadata": {\n'


class Piece(NamedTuple):
    """One member of consolidated metadata.

    Attributes
    ----------
    key : bytes
        Its text between the braces.
    members : dict or None
        Its parsed members, if they are in the cache.
    document : dict or None
        Its JSON object, if they are not.
    known : dict
        The cache for its members.
    """

    key: bytes
    members: dict[str, Any] | None
    document: dict[str, Any] | None
    known: Documents


def load_with_copy(raw: bytes, name: str) -> dict[str, Any]:
    """Parse the document of a group; consolidated metadata with many entries may be parsed as pieces.

    Parameters
    ----------
    raw, name
        As for :func:`zarr.metadata.documents.load_document`.

    Returns
    -------
    dict
        The values of ``document["consolidated_metadata"]["metadata"]`` are either all :class:`Piece` or all plain.

    Raises
    ------
    MetadataValidationError
        As for :func:`zarr.metadata.documents.load_document`.

    Examples
    --------
    >>> load_with_copy(b'{"zarr_format": 3}', "zarr.json")
    {'zarr_format': 3}
    """
    found = _in_pieces(raw, name) if MIN_BYTES <= len(raw) <= MAX_DOCUMENT_BYTES and _HOLDER in raw else None
    return load_document(raw, name) if found is None else found


def _in_pieces(raw: bytes, name: str) -> dict[str, Any] | None:
    opening = raw.find(_TABLE, raw.find(_HOLDER) + len(_HOLDER)) + len(_TABLE)
    if opening < len(_TABLE):
        return None
    indent = raw[opening : opening + 64].partition(b'"')[0]
    closing = raw.find(b"\n" + indent + b"}\n", opening)
    if indent.strip(b" \t") or closing < 0:
        return None
    tail = raw[closing + len(indent) + 2 :]
    pieces = _pieces(raw[opening + len(indent) + 1 : closing].split(b"\n" + indent + b"},\n" + indent + b'"'))
    return None if pieces is None else _with_table(raw[:opening], pieces, tail, name)


def _pieces(texts: list[bytes]) -> dict[str, Piece] | None:
    """Return the pieces by name; None if one of them is no JSON object by itself."""
    known = known_documents()
    pieces: dict[str, Piece] = {}
    try:
        for text in texts:
            name, separator, key = text.partition(b'": {')
            if not separator or b'"' in name or b"\\" in name or not (decoded := name.decode()).isprintable():
                return None
            members = find_members(known, key)
            pieces[decoded] = Piece(key, members, None if members is not None else _parsed(key), known)
    except ValueError:
        return None
    return pieces


def _parsed(key: bytes) -> dict[str, Any]:
    if key.count(b"{") + key.count(b"[") > _MOST_BRACKETS:
        raise ValueError("possibly nested too deeply")
    return load_document(b"{" + key + b"}", "a piece")


def _with_table(head: bytes, pieces: dict[str, Piece], tail: bytes, name: str) -> dict[str, Any] | None:
    """Return the document around the pieces; None if they were cut out at a wrong place."""
    token = "pieces"
    while token.encode() in head or token.encode() in tail:
        token += "'"
    try:
        document = load_document(head + b'"' + token.encode() + b'": 0' + tail, name)
    except MetadataValidationError:
        return None
    holder = document.get("consolidated_metadata")
    if not isinstance(holder, dict) or holder.get("metadata") != {token: 0}:
        return None
    holder["metadata"] = pieces
    return document
