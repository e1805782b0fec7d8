"""Hierarchies in other layouts than formats 2 and 3: recognise them if no node was found."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from zarr.buffer.core import Buffer
from zarr.errors import MetadataValidationError, NodeNotFoundError, label_of
from zarr.steps.documents import NodeMetadata, name_store, parse_v3
from zarr.steps.requests import GetMany, Steps
from zarr.storage.keys import join
from zarr.storage.layouts.base import LayoutStore
from zarr.storage.layouts.draft3 import Draft3Store, is_bootstrap, parse_bootstrap
from zarr.storage.layouts.n5 import DOCUMENT, N5Store, is_n5
from zarr.storage.path import StorePath


def translated_steps(place: StorePath, kind: type[NodeNotFoundError]) -> Steps[tuple[StorePath, NodeMetadata] | None]:
    """Check if a place without a node of format 2 or 3 is in a hierarchy of N5 or of a draft of format 3.

    The hierarchy may begin at the root of the store, or at the place.

    Parameters
    ----------
    place : StorePath
    kind : class of exception
        The class of the error if the hierarchy has no such node.

    Returns
    -------
    (StorePath, metadata) or None
        The place in a store that shows the hierarchy as format 3, and the metadata of the node.

    Raises
    ------
    NodeNotFoundError
        If there is such a hierarchy, but no node at the place: then none can be created either.
    MetadataValidationError
        If a document of the hierarchy is malformed.
    """
    try:
        store = yield from _layout_steps(place)
        if store is None:
            return None
        path = place.path.removeprefix(store.path).strip("/")
        below = StorePath(store, path)
        document = yield from store.document_steps(path)
    except MetadataValidationError as error:
        name_store(error, place)
        raise
    if document is None:
        raise kind(below.store, below.path)
    return below, parse_v3(document, below)


def layout_of(documents: Iterable[tuple[str, Buffer | None]], place: StorePath) -> LayoutStore | None:
    """Return the store that translates a hierarchy, chosen by the first document that belongs to one.

    Parameters
    ----------
    documents : iterable of (str, Buffer or None)
        Keys and their stored values.
    place : StorePath
        The place, for its store and for messages.
    """
    for key, raw in documents:
        root, _, name = key.rpartition("/")
        content: Any = None if raw is None else parsed_or_none(raw)
        if name == DOCUMENT and is_n5(content):
            found: LayoutStore = N5Store(place.store, root)
            return found
        if name == "zarr.json" and is_bootstrap(content):
            return Draft3Store(place.store, root, parse_bootstrap(content, join(label_of(place.store, str), root)))
    return None


def _layout_steps(place: StorePath) -> Steps[LayoutStore | None]:
    roots = ("", place.path) if place.path else ("",)
    keys = [join(root, name) for root in roots for name in ("zarr.json", DOCUMENT)]
    try:
        values = yield GetMany(keys)
    except Exception:
        # A store may refuse keys of other formats, and so has no other layout. An unavailable store raises its error
        # again.
        keys = [join(root, "zarr.json") for root in roots]
        values = yield GetMany(keys)
    return layout_of(zip(keys, values, strict=True), place)


def parsed_or_none(raw: Buffer) -> Any:
    """Return the parsed JSON of a document; None if it is no JSON."""
    try:
        return json.loads(raw.to_bytes())
    except (ValueError, RecursionError):
        return None
