"""Read and write consolidated metadata: one document with copies of the documents of many nodes.

The class ``ConsolidatedMetadata`` is in ``group.py``, beside the group metadata.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

from zarr.metadata.documents import MissingParentError


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
    >>> from zarr.metadata import zmetadata_document
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
    >>> from zarr.metadata import split_zmetadata
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
