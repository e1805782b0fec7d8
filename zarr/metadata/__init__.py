"""Metadata documents: arrays of both formats, groups, consolidated copies; JSON in, objects out, and back.

May import floor 1 and, on floor 2, `dtype`, `array_spec`, `grids`, `chunk_keys` and `codecs`.
Read first: `v3.py`, the document of an array; then `documents.py`, how bytes become members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_names

if TYPE_CHECKING:
    from zarr.metadata.consolidated import split_zmetadata, zmetadata_document
    from zarr.metadata.convert import ArrayMetadata, convert_array_metadata
    from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata, NodeMetadata
    from zarr.metadata.members import check_node_name
    from zarr.metadata.v2 import ArrayV2Metadata
    from zarr.metadata.v3 import ArrayV3Metadata

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.metadata.consolidated": "split_zmetadata zmetadata_document",
        "zarr.metadata.convert": "ArrayMetadata convert_array_metadata",
        "zarr.metadata.group": "ConsolidatedMetadata GroupMetadata NodeMetadata",
        "zarr.metadata.members": "check_node_name",
        "zarr.metadata.v2": "ArrayV2Metadata",
        "zarr.metadata.v3": "ArrayV3Metadata",
    },
)

__all__ = [
    "ArrayMetadata",
    "ArrayV2Metadata",
    "ArrayV3Metadata",
    "ConsolidatedMetadata",
    "GroupMetadata",
    "NodeMetadata",
    "check_node_name",
    "convert_array_metadata",
    "split_zmetadata",
    "zmetadata_document",
]
