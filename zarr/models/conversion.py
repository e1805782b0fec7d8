"""Conversion between models of both formats, and functions for models of either."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

from zarr import Array, Group
from zarr.abc.codec import ArrayBytesCodec
from zarr.codecs import BytesCodec, TransposeCodec
from zarr.errors import MetadataValidationError
from zarr.metadata import convert_array_metadata, numcodec_configuration
from zarr.models import v2, v3
from zarr.models.node import NodeSpec, nested, to_flat, to_zarr
from zarr.models.plain import parsed, plain

DIMENSIONS = "_ARRAY_DIMENSIONS"
"""The attribute in which arrays of format 2 keep the names of their dimensions, by xarray's convention."""



@overload
def to_v3(model: v2.ArraySpec[Any]) -> v3.ArraySpec[Any]: ...
@overload
def to_v3(model: v2.GroupSpec[Any, Any]) -> v3.GroupSpec[Any, Any]: ...
def to_v3(model: NodeSpec) -> NodeSpec:
    """Return the model of format 3 of nodes with the same content; chunks keep their names and bytes.

    Attributes stay unchanged; dimension names among them (``_ARRAY_DIMENSIONS``) also become ``dimension_names``.

    Parameters
    ----------
    model : NodeSpec
        A model of format 2.

    Returns
    -------
    NodeSpec

    Raises
    ------
    ValueError, TypeError
        If a filter or the compressor of an array has no counterpart.

    Examples
    --------
    >>> from zarr.models import to_v3, v2
    >>> old = v2.ArraySpec(attributes={}, shape=(4,), chunks=(2,), dtype="<i4", compressor={"id": "zlib", "level": 1})
    >>> [codec["name"] for codec in to_v3(old).codecs]
    ['bytes', 'numcodecs.zlib']
    """
    return _mapped(model, _array_to_v3, v3.GroupSpec)


@overload
def to_v2(model: v3.ArraySpec[Any]) -> v2.ArraySpec[Any]: ...
@overload
def to_v2(model: v3.GroupSpec[Any, Any]) -> v2.GroupSpec[Any, Any]: ...
def to_v2(model: NodeSpec) -> NodeSpec:
    """Return the model of format 2 of nodes with the same content.

    Names of dimensions are stored in the attribute ``_ARRAY_DIMENSIONS``. Format 2 has only one form of chunk names, so
    chunks under other names are not found.

    Parameters
    ----------
    model : NodeSpec
        A model of format 3.

    Returns
    -------
    NodeSpec

    Raises
    ------
    MetadataValidationError
        If format 2 has no such chunk grid, codec or data type, or not in this order.

    Examples
    --------
    >>> from zarr.models import to_v2, v3
    >>> import numpy as np
    >>> to_v2(v3.ArraySpec.from_array(np.zeros((2, 3), dtype="<f4"))).dtype
    '<f4'
    """
    return _mapped(model, _array_to_v2, v2.GroupSpec)


def _mapped(model: NodeSpec, array: Any, group: Any) -> NodeSpec:
    """Return a model with each of its nodes mapped."""
    flat = {}
    for path, node in to_flat(model).items():
        try:
            flat[path] = array(node) if node.node_kind == "array" else _group(node, group)
        except (ValueError, TypeError) as error:
            error.add_note(f"in the model of {path or '/'}")
            raise
    mapped: NodeSpec = flat[""] if model.node_kind == "array" else group.from_flat(flat)
    return mapped


def _group(node: Any, group: Any) -> NodeSpec:
    if getattr(node, "extra_fields", None):
        raise MetadataValidationError(f"groups of format 2 have no members {sorted(node.extra_fields)}")
    made: NodeSpec = group(attributes=plain(node.attributes), members=None)
    return made


def _array_to_v3(model: v2.ArraySpec[Any]) -> v3.ArraySpec[Any]:
    found: v3.ArraySpec[Any] = v3.ArraySpec.from_metadata(convert_array_metadata(model.to_metadata()))
    names = plain(model.attributes).get(DIMENSIONS)
    if isinstance(names, list) and len(names) == len(model.shape) and all(isinstance(name, str) for name in names):
        found = found.model_copy(update={"dimension_names": tuple(names)})
    return found


def _array_to_v2(model: v3.ArraySpec[Any]) -> v2.ArraySpec[Any]:
    metadata = model.to_metadata()
    if model.extra_fields or model.storage_transformers:
        raise MetadataValidationError("arrays of format 2 have no storage transformers and no further members")
    if metadata.sharding_codec is not None:
        raise MetadataValidationError("arrays of format 2 have no shards")
    at = next(i for i, codec in enumerate(metadata.codecs) if isinstance(codec, ArrayBytesCodec))
    order, before = _order(list(metadata.codecs[:at]), len(model.shape))
    attributes = plain(model.attributes)
    if model.dimension_names is not None and all(model.dimension_names):
        attributes = {**attributes, DIMENSIONS: list(model.dimension_names)}
    dtype, object_filter = _dtype_v2(metadata.data_type, metadata.codecs[at])
    stored: Any = metadata.codecs[at].to_dict().get("configuration") or {}
    endian = ">" if stored.get("endian") == "big" else "<"
    compressed = [_numcodec(codec, endian) for codec in metadata.codecs[at + 1 :]]
    filters = [*(_numcodec(codec, endian) for codec in before), *object_filter, *compressed[:-1]]
    return v2.ArraySpec(
        attributes=attributes,
        shape=model.shape,
        chunks=metadata.chunks,
        dtype=dtype,
        fill_value=metadata.data_type.to_json_scalar(metadata.fill_value, zarr_format=2),
        order="F" if order else "C",
        filters=filters or None,
        dimension_separator=getattr(metadata.chunk_key_encoding, "separator", "."),
        compressor=compressed[-1] if compressed else None,
    )


def _order(codecs: list[Any], ndim: int) -> tuple[bool, list[Any]]:
    """Return the memory order that the codecs imply, and the other codecs."""
    if not codecs or not isinstance(codecs[0], TransposeCodec):
        return False, codecs
    order, plain_order = tuple(codecs[0].order), tuple(range(ndim))
    if order not in (plain_order, plain_order[::-1]):
        raise MetadataValidationError(f"format 2 has the orders 'C' and 'F', not {order}")
    return order != plain_order, codecs[1:]


def _dtype_v2(data_type: Any, serializer: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Return the data type with the byte order of its serializer, and the filter for objects."""
    document = serializer.to_dict()
    if document["name"] in ("vlen-utf8", "vlen-bytes"):
        return "|O", [{"id": document["name"]}]
    if not isinstance(serializer, BytesCodec):
        raise MetadataValidationError(f"format 2 has no codec {document['name']!r}")
    name = data_type.to_json(zarr_format=2)["name"]
    endian = document.get("configuration", {}).get("endian", "little")
    if endian == "big" and not isinstance(name, str):
        raise MetadataValidationError("structures whose fields are stored in big-endian order are not mapped")
    if isinstance(name, str) and name[:1] in "<>":
        name = ("<" if endian == "little" else ">") + name[1:]
    return name, []


def _numcodec(codec: Any, byte_order: str) -> dict[str, Any]:
    """Return the configuration of the equivalent codec of numcodecs."""
    document = codec.to_dict()
    configuration = numcodec_configuration(document, byte_order)
    if configuration is None:
        raise MetadataValidationError(f"format 2 has no codec {document['name']!r}")
    return configuration


ArrayModel = v2.ArraySpec[Any] | v3.ArraySpec[Any]
HierarchyModel = v2.GroupSpec[Any, Any] | v3.GroupSpec[Any, Any]
AnyModel = ArrayModel | HierarchyModel


def _class_for(zarr_format: Any, kind: str) -> Any:
    if zarr_format not in (2, 3) or kind not in ("array", "group"):
        raise MetadataValidationError(f"there are no models of format {zarr_format!r} of a node_type {kind!r}")
    module = v2 if zarr_format == 2 else v3
    return module.ArraySpec if kind == "array" else module.GroupSpec


def from_json(document: str | bytes | Mapping[str, Any], *, lenient: bool = False) -> AnyModel:
    """Return the model of a JSON document of any kind and format.

    Parameters
    ----------
    document : str, bytes or mapping
        The document of an array, or of a group with its members.
    lenient : bool, default False
        If True, what older programs have left out or named in another way is taken, too.

    Returns
    -------
    ArraySpec or GroupSpec
        Of the format that the document has.

    Examples
    --------
    >>> from zarr.models import from_json
    >>> type(from_json({"zarr_format": 2, "attributes": {}, "members": {}})).__module__
    'zarr.models.v2'
    """
    members = parsed(document)
    zarr_format = members.get("zarr_format", members.get("zarr_version") if lenient else None)
    kind = members.get("node_type", "array" if "shape" in members else "group")
    model: AnyModel = _class_for(zarr_format, kind).from_json(members, lenient=lenient)
    return model


def from_zarr(node: Array[Any] | Group, *, depth: int = -1) -> AnyModel:
    """Return the model of a stored array or group.

    Parameters
    ----------
    node : Array or Group
        The stored node.
    depth : int, default -1
        Of a group, how many levels of members are read; -1 reads all.

    Returns
    -------
    ArraySpec or GroupSpec

    Examples
    --------
    >>> from zarr.models import from_zarr
    >>> import zarr
    >>> from_zarr(zarr.zeros((3,))).shape
    (3,)
    """
    kind = "array" if isinstance(node, Array) else "group"
    cls = _class_for(node.metadata.zarr_format, kind)
    model: AnyModel = cls.from_zarr(node) if kind == "array" else cls.from_zarr(node, depth=depth)
    return model


def from_flat(data: Mapping[str, NodeSpec]) -> NodeSpec:
    """Return the model of a table of paths and nodes.

    Parameters
    ----------
    data : mapping of str to NodeSpec
        Nodes by path, the root by the empty path.

    Returns
    -------
    ArraySpec or GroupSpec

    Examples
    --------
    >>> from zarr.models import GroupSpec, from_flat
    >>> list(from_flat({"": GroupSpec(attributes={}, members=None), "/a": GroupSpec(attributes={})}).members)
    ['a']
    """
    first = next(iter(data.values()), None)
    return nested(data, v2.GroupSpec if isinstance(first, v2.ArraySpec | v2.GroupSpec) else v3.GroupSpec)


__all__ = ["AnyModel", "ArrayModel", "HierarchyModel", "from_flat", "from_json", "from_zarr", "to_flat", "to_zarr"]
