"""Hierarchies of format 2, shown as hierarchies of format 3: documents are converted, chunks keep their keys."""

from __future__ import annotations

import json
from typing import Any, Final

from zarr.abc.store import Store
from zarr.buffer.core import default_buffer_prototype
from zarr.errors import MetadataValidationError
from zarr.metadata.convert import convert_array_metadata, convert_group_metadata
from zarr.metadata.group import GroupMetadata, parse_member
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.serving.values import ask
from zarr.steps.layouts import layout_of
from zarr.steps.requests import GetMany, List, ListDir, Steps
from zarr.storage.checks import parse_object
from zarr.storage.keys import check_prefix, dir_prefix, join
from zarr.storage.layouts.base import LayoutStore, read_steps, to_bytes
from zarr.storage.layouts.n5 import DOCUMENT
from zarr.storage.path import StorePath
from zarr.types import METADATA_NAMES, ZARR_JSON, ZARRAY_JSON, ZATTRS_JSON, ZGROUP_JSON, ZMETADATA_V2_JSON

_NODES: Final = (ZARRAY_JSON, ZGROUP_JSON)
_DIMENSIONS: Final = "_ARRAY_DIMENSIONS"


def show_as_format_3(place: StorePath) -> LayoutStore:
    """Return a store that shows a place as a hierarchy of format 3, with the place as its root.

    Parameters
    ----------
    place : StorePath
        A place where a hierarchy of N5 or of a draft of format 3 begins, or with a node of format 2 or 3.

    Examples
    --------
    >>> import zarr
    >>> old = zarr.create_array({}, shape=(4,), chunks=(2,), dtype="i4", zarr_format=2)
    >>> zarr.open(show_as_format_3(old.store_path)).metadata.zarr_format
    3
    """
    keys = [join(place.path, name) for name in (ZARR_JSON, DOCUMENT)]
    found = layout_of(zip(keys, ask(place.store, GetMany(keys)), strict=True), place)
    return Format2Store(place.store, place.path) if found is None else found


def convert_document(members: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the document of a node of format 2 as one of format 3, with names of dimensions if it has them.

    Parameters
    ----------
    members : dict
        The members of ``.zarray`` or ``.zgroup``, and ``attributes``.
    path : str
        The path of the node, for messages.

    Raises
    ------
    MetadataValidationError
        If it is malformed, or has a codec that format 3 does not have.

    Examples
    --------
    >>> convert_document({"zarr_format": 2, "attributes": {"a": 1}}, "x")
    {'attributes': {'a': 1}, 'zarr_format': 3, 'node_type': 'group'}
    """
    try:
        node = parse_member(members, path)
        assert isinstance(node, (ArrayV2Metadata, GroupMetadata))
        made = convert_array_metadata(node) if isinstance(node, ArrayV2Metadata) else convert_group_metadata(node)
        text = made.to_buffer_dict(default_buffer_prototype())[ZARR_JSON].to_bytes()
    except (ValueError, TypeError) as error:
        raise MetadataValidationError(f"/{path} cannot be shown in format 3: {error}") from error
    document: dict[str, Any] = json.loads(text)
    names = document["attributes"].get(_DIMENSIONS)
    if isinstance(names, list) and len(names) == len(document.get("shape", ())) and set(map(type, names)) <= {str}:
        if names or document["node_type"] == "array":
            document["dimension_names"] = document["attributes"].pop(_DIMENSIONS)
    return document


class Format2Store(LayoutStore):
    """A hierarchy of format 2 shown as format 3, read-only; its nodes of format 3 stay the same.

    Parameters
    ----------
    store : Store
        The store that holds the hierarchy.
    path : str
        The place of the hierarchy in the store.

    Examples
    --------
    >>> from zarr.serving import Format2Store
    >>> from zarr.storage import MemoryStore
    >>> Format2Store(MemoryStore()).read_only
    True
    """

    supports_writes: bool = False
    supports_deletes: bool = False

    def __init__(self, store: Store, path: str = "") -> None:
        super().__init__(store, path)

    def chunk_key(self, key: str) -> str:
        """Return the key below: the key of a chunk is the same in both formats."""
        return self._below(key)

    def document_steps(self, path: str) -> Steps[bytes | None]:
        """Return the document of a node in format 3; None if there is no node."""
        own = yield from read_steps(self._below(path, ZARR_JSON))
        if own is not None:
            return own
        for name in _NODES:
            raw = yield from read_steps(self._below(path, name))
            if raw is None:
                continue
            members = parse_object(raw, join(path, name))
            attributes = yield from read_steps(self._below(path, ZATTRS_JSON))
            members["attributes"] = {} if attributes is None else parse_object(attributes, join(path, ZATTRS_JSON))
            document = convert_document(members, path)
            if name == ZGROUP_JSON:
                document |= yield from self._consolidated_steps(path)
            return to_bytes(document)
        return None

    def _consolidated_steps(self, path: str) -> Steps[dict[str, Any]]:
        """Return the member for consolidated metadata, if the group has any."""
        raw = yield from read_steps(self._below(path, ZMETADATA_V2_JSON))
        if raw is None:
            return {}
        stored = parse_object(raw, join(path, ZMETADATA_V2_JSON)).get("metadata", {})
        try:
            copies = {
                node: convert_document({**stored[key], "attributes": stored.get(join(node, ZATTRS_JSON), {})}, node)
                for key, (node, _, name) in ((key, key.rpartition("/")) for key in stored)
                if name in _NODES and node
            }
        except (MetadataValidationError, AttributeError, TypeError):
            return {}  # readers then list the group, and get an error for the faulty node
        return {"consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": copies}}

    def list_dir_steps(self, prefix: str) -> Steps[list[str]]:
        """Return the names directly below a folder."""
        names = set((yield ListDir(dir_prefix(self._below(check_prefix(prefix).strip("/"))))))
        is_node = not names.isdisjoint((ZARR_JSON, *_NODES))
        return sorted(names - METADATA_NAMES | ({ZARR_JSON} if is_node else set()))

    def list_prefix_steps(self, prefix: str) -> Steps[list[str]]:
        """Return all keys that begin with a prefix."""
        start, folder = dir_prefix(self.path), check_prefix(prefix).rpartition("/")[0]
        found: set[str] = set()
        for key in (yield List(self._below(folder))):
            path, _, name = key[len(start) :].rpartition("/")
            if name in (ZARR_JSON, *_NODES):
                found.add(join(path, ZARR_JSON))
            elif name not in METADATA_NAMES:
                found.add(join(path, name))
        return sorted(key for key in found if key.startswith(prefix))
