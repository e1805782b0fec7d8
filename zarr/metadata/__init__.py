"""Metadata documents: arrays of both formats, groups, consolidated copies; JSON in, objects out, and back.

May import floor 1 and, on floor 2, `dtype`, `array_spec`, `grids`, `chunk_keys` and `codecs`.
Read first: `v3.py`, the document of an array; then `documents.py`, how bytes become members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_names

if TYPE_CHECKING:
    from zarr.metadata.convert import ArrayMetadata
    from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata
    from zarr.metadata.v2 import ArrayV2Metadata
    from zarr.metadata.v3 import ArrayV3Metadata

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.metadata.convert": "ArrayMetadata",
        "zarr.metadata.group": "ConsolidatedMetadata GroupMetadata",
        "zarr.metadata.v2": "ArrayV2Metadata",
        "zarr.metadata.v3": "ArrayV3Metadata",
    },
)

__all__ = ["ArrayMetadata", "ArrayV2Metadata", "ArrayV3Metadata", "ConsolidatedMetadata", "GroupMetadata"]
