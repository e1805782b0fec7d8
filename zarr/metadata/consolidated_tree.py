"""Trees of nodes: from a flat table of paths to members within members, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def tree_order(path: str) -> tuple[int, str]:
    """Return the sorting key of a path: parents before members, and by name within a level.

    Examples
    --------
    >>> sorted(["b", "a/c", "a"], key=tree_order)
    ['a', 'b', 'a/c']
    """
    return path.count("/"), path


def nest_paths(paths: Iterable[str], is_group: Mapping[str, bool]) -> dict[str, dict[str, str]]:
    """Find the members of each group.

    Parameters
    ----------
    paths
        Paths of nodes.
    is_group
        Which of them are groups.

    Returns
    -------
    dict
        For each group, and for the root ``""``, a table from the relative path of a member to its full path. A node
        whose parents are not all among the groups is a member, under its longer relative path, of the nearest group
        above it.

    Examples
    --------
    >>> nest_paths(["g", "g/a", "x/y"], {"g": True})
    {'': {'g': 'g', 'x/y': 'x/y'}, 'g': {'a': 'g/a'}}
    """
    members: dict[str, dict[str, str]] = {"": {}}
    for path in paths:
        if is_group.get(path):
            members.setdefault(path, {})
        above = path.rpartition("/")[0]
        while above and not is_group.get(above):
            above = above.rpartition("/")[0]
        members.setdefault(above, {})[path[len(above) + 1 :] if above else path] = path
    return members


def zmetadata_document(attributes: Mapping[str, Any], nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Build the document ``.zmetadata``: the documents of all nodes of a hierarchy of format 2, by their keys.

    Parameters
    ----------
    attributes
        Those of the group that carries the document.
    nodes
        The members of the documents of the nodes below it, attributes among them, by path.

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
        documents[f"{path}/.zattrs"] = node.get("attributes", {})
        if "shape" in node:
            documents[f"{path}/.zarray"] = {key: value for key, value in node.items() if key != "attributes"}
        else:
            # The format allows no other member; a copy inside of a copy would be one.
            documents[f"{path}/.zgroup"] = {"zarr_format": 2}
    return {"metadata": documents, "zarr_consolidated_format": 1}


def split_zmetadata(document: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Take the document ``.zmetadata`` apart.

    Parameters
    ----------
    document
        The parsed document.

    Returns
    -------
    tuple
        The attributes of the group that carries it, and by path the members of the documents of the nodes below it.
        Documents that belong to no node (attributes of a node that has no document) are left out.

    Raises
    ------
    ValueError
        If it has no object ``metadata``, or is of another version than 1.

    Examples
    --------
    >>> split_zmetadata({"zarr_consolidated_format": 1, "metadata": {"g/.zgroup": {"zarr_format": 2}}})
    ({}, {'g': {'zarr_format': 2, 'attributes': {}}})
    """
    documents = document.get("metadata")
    if not isinstance(documents, Mapping):
        raise ValueError(f"The document '.zmetadata' has no object 'metadata' but {documents!r}.")
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
        elif path and name in (".zarray", ".zgroup") and isinstance(part, Mapping):
            nodes[path] = {key: value for key, value in part.items() if key != "consolidated_metadata"}
    for path, node in nodes.items():
        node["attributes"] = attributes.get(path, {})
    return attributes.get("", {}), nodes
