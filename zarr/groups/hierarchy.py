"""Create many nodes at once: a whole hierarchy from a dictionary of metadata."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from zarr.abc.stores.changes import TakenError, stages
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.chunks.spec import parse_array_config
from zarr.errors import ContainsArrayError, ContainsGroupError, NodeNotFoundError
from zarr.groups.batch import pending_steps
from zarr.groups.handle import GroupHandle, NodeMetadata, NodeRecord, Nodes
from zarr.metadata.consolidated import tree_order
from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata, nest
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.steps.consolidated import record_changes_steps
from zarr.steps.documents import node_key, node_lock
from zarr.steps.nodes import check_absent_steps, put_documents_steps, read_nodes_steps
from zarr.steps.requests import DeletePrefix, Gather, Hold, LockScope, Staged, Steps, ask_steps
from zarr.storage.keys import ancestors, nearest_above, normalize_path, outermost
from zarr.storage.path import StorePath
from zarr.types import ZarrFormat

_NO_ROOT = (
    "The input does not specify a root node. This function can only create hierarchies that contain a root node, "
    "which is defined as a group that is ancestral to all the other arrays and groups in the hierarchy, or a single "
    "array."
)


class ImplicitGroupMarker(GroupMetadata):
    """A group that only the nodes below it need; it never replaces a node that is there."""


def normalize_nodes(nodes: Nodes, *, one_format: bool = True) -> dict[str, NodeMetadata]:
    """Write all paths in one form, and check that the nodes form a hierarchy.

    Parameters
    ----------
    nodes : mapping of path to metadata
    one_format : bool
        If True, refuse nodes of different formats.

    Raises
    ------
    ValueError
        If two paths mean the same, formats are mixed, or an array would have members.
    """
    normal: dict[str, NodeMetadata] = {}
    for path, metadata in nodes.items():
        if not isinstance(metadata, GroupMetadata | ArrayV2Metadata | ArrayV3Metadata):
            kind = type(metadata).__name__
            raise TypeError(f"the node at {path!r} is a {kind}, not the metadata of an array or group")
        where = normalize_path(path)
        if where in normal:
            other = next(name for name in nodes if normalize_path(name) == where)
            raise ValueError(
                f"After normalization, the value '{path}' collides with '{other}': both mean the path {where!r}"
            )
        normal[where] = metadata
    by_format: dict[int, list[str]] = {2: [], 3: []}
    for path, metadata in normal.items():
        by_format[metadata.zarr_format].append(path)
    if one_format and by_format[2] and by_format[3]:
        raise ValueError(
            "Got data with both Zarr v2 and Zarr v3 nodes, which is invalid. "
            f"The following keys map to Zarr v2 nodes: {by_format[2]}. "
            f"The following keys map to Zarr v3 nodes: {by_format[3]}."
            "Ensure that all nodes have the same Zarr format."
        )
    for path in normal:
        for above in ancestors(path):
            if above in normal and not isinstance(normal[above], GroupMetadata):
                raise ValueError(
                    f"The node at {above} contains other nodes, but it is not a Zarr group. "
                    "This is invalid. Only Zarr groups can contain other nodes."
                )
    return normal


def implicit_groups(nodes: Nodes) -> dict[str, ImplicitGroupMarker]:
    """Return the groups that the nodes need above them and that are not given."""
    found: dict[str, ImplicitGroupMarker] = {}
    for path, metadata in nodes.items():
        for above in ancestors(path):
            if above not in nodes and above not in found:
                found[above] = ImplicitGroupMarker(zarr_format=metadata.zarr_format)
    return found


def create_hierarchy_steps(
    root: StorePath, nodes: Nodes, overwrite: bool = False, config: Mapping[str, Any] | None = None
) -> Steps[list[NodeRecord]]:
    """Create all nodes, and the groups that they need above them.

    Parameters
    ----------
    root : StorePath
        The place that the paths are relative to.
    nodes : mapping of path to metadata
    overwrite : bool
        If True, delete first the nodes that are at these places, with all below them.

    Returns
    -------
    list of NodeRecord
        The new nodes, parents first.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If a node is there. Nothing is created then.
    ValueError
        If the nodes form no hierarchy.
    """
    normal = normalize_nodes(nodes)
    given = {(root / path).path: metadata for path, metadata in normal.items()}
    marked = {path: node for path, node in given.items() if isinstance(node, ImplicitGroupMarker)}
    wanted = {path: node for path, node in given.items() if path not in marked}
    implicit = implicit_groups(given) | marked
    locking = parse_array_config(config).locking
    (made,) = yield Gather([_make_steps(root, wanted, implicit, overwrite, locking)])
    documents = _documents_of(made)
    yield from record_changes_steps(root.store, documents, replaced=documents if overwrite else (), locking=locking)
    return _records(root, made)


def _make_steps(
    root: StorePath, wanted: Nodes, implicit: Mapping[str, ImplicitGroupMarker], overwrite: bool, locking: str
) -> Steps[Nodes]:
    """Create nodes under a lock, and return them with the groups above."""
    tops = outermost(wanted) if overwrite else []
    keys = [node_lock(path) for path in (*wanted, *implicit)]
    scope = LockScope.of(locking, root.path)
    yield Hold(keys, "node", scope, below=[root.path] if scope is not None and scope.required else tops)
    # What lies below a node that is replaced is removed: it is needed anew.
    kept = [path for path in implicit if not overwrite or nearest_above(path, wanted) is None]
    existing = yield from _existing_steps(root, [*wanted, *kept], {**wanted, **implicit})
    for path in kept:
        if path in existing and not isinstance(existing[path], GroupMetadata):
            raise ContainsArrayError(root.store, path)
    taken = [path for path in wanted if path in existing]
    if taken and not overwrite:
        kind = ContainsGroupError if isinstance(existing[taken[0]], GroupMetadata) else ContainsArrayError
        raise kind(root.store, taken[0])
    missing = {path: marker for path, marker in implicit.items() if path not in existing}
    plain = {path: GroupMetadata(zarr_format=marker.zarr_format) for path, marker in missing.items()}
    nodes = _with_true_copies({**wanted, **plain}, alone=True)
    yield from _publish_steps(root, _documents_of(nodes), tops, [] if overwrite else list(wanted))
    return nodes


def _publish_steps(
    root: StorePath, documents: Mapping[str, Mapping[str, Buffer]], replaced: list[str], new: list[str]
) -> Steps[None]:
    """Write many nodes after deleting the nodes that they replace; in one step if the store can do that."""

    def build_steps() -> Steps[None]:
        yield Gather(ask_steps(DeletePrefix(path)) for path in replaced)
        yield from _write_levels_steps(documents)

    if not stages(root.store) or not documents:
        yield from build_steps()
        return
    top = posixpath.commonpath(list(documents)) if "" not in documents else ""
    absent = [node_key(path, name) for path in new for name in documents[path] if name != ".zattrs"]
    try:
        yield Staged(build_steps(), top, replace=replaced, absent=absent)
    except TakenError as error:
        path = error.key.rpartition("/")[0]
        yield from check_absent_steps(StorePath(root.store, path), 3 if error.key.endswith("zarr.json") else 2)
        raise


def _existing_steps(root: StorePath, paths: list[str], nodes: Nodes) -> Steps[dict[str, NodeMetadata]]:
    zarr_format: ZarrFormat = next((metadata.zarr_format for metadata in nodes.values()), 3)
    found = yield from read_nodes_steps([StorePath(root.store, path) for path in paths], zarr_format, copy=False)
    existing: dict[str, NodeMetadata] = {}
    for path, node in zip(paths, found, strict=True):
        if not isinstance(node, Exception):
            existing[path] = node
        elif not isinstance(node, NodeNotFoundError):
            raise node
    return existing


def create_nodes_steps(root: StorePath, nodes: Nodes) -> Steps[list[NodeRecord]]:
    """Write the documents of many nodes, by full paths and without reading the store first; parents first."""
    nodes = _with_true_copies(nodes, alone=False)
    documents = _documents_of(nodes)
    yield from _write_levels_steps(documents)
    yield from record_changes_steps(root.store, documents, locking=parse_array_config(None).locking)
    return _records(root, nodes)


def _with_true_copies(nodes: Nodes, *, alone: bool) -> Nodes:
    """Let the consolidated metadata of each group list the nodes that are created below it.

    Other entries are kept, unless these nodes are ``alone`` there.
    """
    found = dict(nodes)
    for path, metadata in nodes.items():
        if not isinstance(metadata, GroupMetadata):
            continue
        given = metadata.consolidated_metadata
        if not isinstance(given, ConsolidatedMetadata):
            continue
        below: dict[str, NodeMetadata] = {} if alone else dict(given.flattened_metadata)
        prefix = f"{path}/" if path else ""
        below |= {name[len(prefix) :]: node for name, node in nodes.items() if name != path and name.startswith(prefix)}
        found[path] = metadata.replaced(consolidated_metadata=nest(dict(sorted(below.items())), {}))
    return found


def _documents_of(nodes: Nodes) -> dict[str, dict[str, Buffer]]:
    prototype = default_buffer_prototype()
    return {path: dict(metadata.to_buffer_dict(prototype)) for path, metadata in nodes.items()}


def _write_levels_steps(documents: Mapping[str, Mapping[str, Buffer]]) -> Steps[None]:
    """Write the documents of all nodes, those of each level together, parents first."""
    for _, level in groupby(sorted(documents, key=tree_order), key=lambda path: len(ancestors(path))):
        yield Gather([put_documents_steps(path, documents[path]) for path in level])


def _records(root: StorePath, nodes: Nodes) -> list[NodeRecord]:
    return [
        NodeRecord(path[len(root.path) :].strip("/"), StorePath(root.store, path), nodes[path])
        for path in sorted(nodes, key=tree_order)
    ]


def root_of(nodes: Nodes) -> str:
    """Return the path of the node above all others.

    Raises
    ------
    ValueError
        If there is no such node.
    """
    normal = normalize_nodes(nodes)
    shortest = min(normal, key=lambda path: (path != "", path.count("/")), default=None)
    if shortest is None or any(
        path != shortest and not path.startswith(f"{shortest}/" if shortest else "") for path in normal
    ):
        raise ValueError(_NO_ROOT)
    return shortest


def member_hierarchy_steps(handle: GroupHandle, nodes: Nodes, overwrite: bool = False) -> Steps[list[NodeRecord]]:
    """Create nodes below a group.

    Raises
    ------
    ValueError
        If one of the nodes is the group itself, or of another format than the group.
    """
    if any(normalize_path(path) == "" for path in nodes):
        raise ValueError(
            "The input defines a root node, but a root node already exists, namely this Group instance. "
            "It is an error to use this method to create a root node. Remove the root node from the input dict, or use "
            "a function like create_rooted_hierarchy to create a rooted hierarchy."
        )
    for path, metadata in nodes.items():
        if metadata.zarr_format != handle.metadata.zarr_format:
            raise ValueError(
                "The zarr_format of the nodes must be the same as the parent group. "
                f"The node at {path} has zarr_format {metadata.zarr_format}, but the parent group has zarr_format "
                f"{handle.metadata.zarr_format}, at {handle.store_path.label}."
            )
    if overwrite:
        yield from pending_steps(handle, *[(handle.store_path / path).path for path in nodes])
    return (yield from create_hierarchy_steps(handle.store_path, nodes, overwrite, handle.config))
