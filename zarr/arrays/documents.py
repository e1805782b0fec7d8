"""The documents of an open array: where they lie, who may change them, and who else is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from zarr.steps.consolidated import record_changes_steps
from zarr.steps.requests import Put, Steps

if TYPE_CHECKING:
    from zarr.arrays.handle import ArrayHandle
    from zarr.buffer.core import Buffer


def node_keys(handle: ArrayHandle) -> dict[str, str]:
    """The documents of the array by name, and the keys that they lie under."""
    prefix = f"{handle.store_path.path}/" if handle.store_path.path else ""
    names = ("zarr.json",) if handle.metadata.zarr_format == 3 else (".zarray", ".zattrs")
    return {name: prefix + name for name in names}


def put_documents_steps(handle: ArrayHandle, documents: Mapping[str, Buffer]) -> Steps[None]:
    """Write documents of the array, without telling anybody."""
    prefix = f"{handle.store_path.path}/" if handle.store_path.path else ""
    for name, document in documents.items():
        yield Put(prefix + name, document)


def record_steps(handle: ArrayHandle, documents: Mapping[str, Buffer]) -> Steps[None]:
    """Bring the consolidated copies in the groups above up to date."""
    path = handle.store_path.path
    if path:
        yield from record_changes_steps(handle.store_path.store, {path: documents}, locking=handle.config.locking)
