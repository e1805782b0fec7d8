"""Metadata documents: arrays of both formats, groups, consolidated copies; JSON in, objects out, and back.

May import floor 1 and, on floor 2, `dtype`, `chunks` and `codecs`.
Read first: `v3.py`, the document of an array; then `documents.py`, how bytes become JSON. `fields.py` has the fields
that several kinds of document share, `names.py` says which names nodes may have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_door

if TYPE_CHECKING:
    from zarr.metadata.consolidated import split_zmetadata as split_zmetadata
    from zarr.metadata.consolidated import zmetadata_document as zmetadata_document
    from zarr.metadata.convert import ArrayMetadata as ArrayMetadata
    from zarr.metadata.convert import convert_array_metadata as convert_array_metadata
    from zarr.metadata.group import ConsolidatedMetadata as ConsolidatedMetadata
    from zarr.metadata.group import GroupMetadata as GroupMetadata
    from zarr.metadata.group import NodeMetadata as NodeMetadata
    from zarr.metadata.names import check_node_name as check_node_name
    from zarr.metadata.v2 import ArrayV2Metadata as ArrayV2Metadata
    from zarr.metadata.v3 import ArrayV3Metadata as ArrayV3Metadata

__getattr__, __dir__, __all__ = lazy_door(
    __name__,
    {
        "zarr.metadata.consolidated": "split_zmetadata zmetadata_document",
        "zarr.metadata.convert": "ArrayMetadata convert_array_metadata",
        "zarr.metadata.group": "ConsolidatedMetadata GroupMetadata NodeMetadata",
        "zarr.metadata.names": "check_node_name",
        "zarr.metadata.v2": "ArrayV2Metadata",
        "zarr.metadata.v3": "ArrayV3Metadata",
    },
)
