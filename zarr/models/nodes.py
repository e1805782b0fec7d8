"""Functions for models of either kind and of either format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zarr.arrays.array import Array
from zarr.errors import MetadataValidationError
from zarr.models import v2, v3
from zarr.models.group import nested, to_flat, to_zarr
from zarr.models.node import NodeSpec
from zarr.models.plain import parsed

if TYPE_CHECKING:
    from zarr.groups.group import Group

ArrayModel = v2.ArraySpec[Any] | v3.ArraySpec[Any]
HierarchyModel = v2.GroupSpec[Any, Any] | v3.GroupSpec[Any, Any]
AnyModel = ArrayModel | HierarchyModel


def _class_for(zarr_format: Any, kind: str) -> Any:
    if zarr_format not in (2, 3) or kind not in ("array", "group"):
        raise MetadataValidationError(f"there are no models of format {zarr_format!r} of a node_type {kind!r}")
    module = v2 if zarr_format == 2 else v3
    return module.ArraySpec if kind == "array" else module.GroupSpec


def from_json(document: str | bytes | Mapping[str, Any], *, lenient: bool = False) -> AnyModel:
    """The model that a JSON document describes, whatever kind and format it has.

    Examples
    --------
    >>> type(from_json({"zarr_format": 2, "attributes": {}, "members": {}})).__module__
    'zarr.models.v2'
    """
    members = parsed(document)
    zarr_format = members.get("zarr_format", members.get("zarr_version") if lenient else None)
    kind = members.get("node_type", "array" if "shape" in members else "group")
    model: AnyModel = _class_for(zarr_format, kind).from_json(members, lenient=lenient)
    return model


def from_zarr(node: Array[Any] | Group, *, depth: int = -1) -> AnyModel:
    """The model of a stored array or group.

    Examples
    --------
    >>> import zarr
    >>> from_zarr(zarr.zeros((3,))).shape
    (3,)
    """
    kind = "array" if isinstance(node, Array) else "group"
    cls = _class_for(node.metadata.zarr_format, kind)
    model: AnyModel = cls.from_zarr(node) if kind == "array" else cls.from_zarr(node, depth=depth)
    return model


def from_flat(data: Mapping[str, NodeSpec]) -> NodeSpec:
    """The model that a table of paths and nodes describes."""
    first = next(iter(data.values()), None)
    return nested(data, v2.GroupSpec if isinstance(first, v2.ArraySpec | v2.GroupSpec) else v3.GroupSpec)


__all__ = ["AnyModel", "ArrayModel", "HierarchyModel", "from_flat", "from_json", "from_zarr", "to_flat", "to_zarr"]
