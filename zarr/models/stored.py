"""Between models and stored nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from zarr.api.create import create_array
from zarr.api.opening import create_hierarchy
from zarr.api.synchronous import open as open_node
from zarr.arrays.array import Array
from zarr.errors import ContainsArrayError, ContainsGroupError
from zarr.models.plain import plain
from zarr.runners.sync import sync
from zarr.storage.resolve import make_store_path

if TYPE_CHECKING:
    from zarr.groups.group import Group
    from zarr.metadata.group import NodeMetadata
    from zarr.models.node import NodeSpec
    from zarr.storage.resolve import StoreLike


def group_model(model_of: Callable[[Any], Any], group: Group, depth: int) -> dict[str, Any]:
    """The document of a stored group and of what is below it.

    Parameters
    ----------
    model_of : callable
        From metadata to the model of one node.
    group : Group
    depth : int
        How many levels to go into; -1 for all.
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
    """Make the nodes of a model below a path, and return the first.

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
    """Whether a stored node is as making the model would make it."""
    return same_nodes(model._of_stored(node), model)


def same_nodes(first: NodeSpec, second: NodeSpec) -> bool:
    """Whether two models describe the same metadata, however it is written."""
    mine, theirs = _metadata_of(first), _metadata_of(second)
    return mine == theirs


def _metadata_of(model: NodeSpec) -> dict[str, Any]:
    flat = getattr(model, "to_flat", None)
    return {"": model.to_metadata()} if flat is None else {path: node.to_metadata() for path, node in flat().items()}


def metadata_for(array: Any, zarr_format: Literal[2, 3]) -> Any:
    """The metadata that an array like another one gets, without compression."""
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
    """A metadata document as JSON."""
    document: dict[str, Any] = plain(metadata.to_dict())
    return document


def stated(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was not left to be found."""
    return {name: value for name, value in given.items() if not (isinstance(value, str) and value == "auto")}
