"""The documents of an open array: their keys, how they are stored, and their repair before the first write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarr.arrays.handle import ArrayHandle
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.metadata.documents import load_document
from zarr.notices import without_warnings
from zarr.steps.consolidated import record_changes_steps
from zarr.steps.documents import hold_node, node_key
from zarr.steps.requests import Gather, Get, Put, Steps


def node_keys(handle: ArrayHandle) -> dict[str, str]:
    """Return the documents of the array by name, and their keys."""
    path = handle.store_path.path
    if handle.state.metadata.zarr_format == 3:
        return {"zarr.json": node_key(path, "zarr.json")}
    return {name: node_key(path, name) for name in (".zarray", ".zattrs")}


def record_steps(handle: ArrayHandle, documents: Mapping[str, Buffer]) -> Steps[None]:
    """Update the consolidated metadata of the groups above."""
    path = handle.store_path.path
    if path:
        yield from record_changes_steps(handle.store_path.store, {path: documents}, locking=handle.config.locking)


def store_repaired_steps(handle: ArrayHandle) -> Steps[None]:
    """Store the document as it was read, so that readers who follow the old one literally do not miss the chunks.

    A document that another program has stored since is kept, if its chunks have the same places as those of the array.

    Raises
    ------
    ValueError
        If its chunks have other places: open the array again then.
    """
    (documents,) = yield Gather((_store_steps(handle),))
    if documents:
        yield from record_steps(handle, documents)


def _store_steps(handle: ArrayHandle) -> Steps[dict[str, Buffer]]:
    yield hold_node(handle.store_path.path, handle.config.locking)
    known = handle.metadata
    stored = known._stored_document
    if stored is None:
        return {}
    name, key = next(iter(node_keys(handle).items()))
    raw = yield Get(key)
    current: dict[str, Any] = {} if raw is None else load_document(raw.to_bytes(), key)
    found: Any = known
    if raw is not None:
        attributes = {"attributes": known.attributes} if known.zarr_format == 2 else {}
        with without_warnings():
            found = type(known).from_dict({**current, **attributes}, path=handle.store_path.path)
    if _places(found) != _places(known):
        raise ValueError(
            f"The document of the array at {handle.store_path.label} has changed since this array was opened; reopen "
            "it before writing, as its chunks lie elsewhere now."
        )
    documents: dict[str, Buffer] = {}
    if raw is not None and found._stored_document is not None:
        documents = {name: found.to_buffer_dict(default_buffer_prototype())[name]}
        yield Put(key, documents[name])
    handle.state = handle.state.reshaped(known.as_stored())
    return documents


def _places(metadata: Any) -> tuple[Any, ...]:
    """Return the part of the metadata that determines the places and the contents of chunks, without the shape."""
    if metadata.zarr_format == 2:
        return (metadata.chunks, metadata.dimension_separator, metadata.dtype, metadata.order)
    return (metadata.chunk_grid, metadata.chunk_key_encoding, metadata.data_type, metadata.codecs)
