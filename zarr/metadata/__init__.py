"""Metadata documents: arrays of both formats, groups, consolidated metadata; from JSON to objects and back.

May import floor 1 and, on floor 2, `dtype`, `chunks` and `codecs`.
Read first: `v3.py`, the document of an array; then `documents.py`, how bytes become JSON. `fields.py` has the fields
that several kinds of document share, `names.py` the rules for names of nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_door

if TYPE_CHECKING:
    from zarr.metadata.consolidated import *  # noqa: F403
    from zarr.metadata.convert import *  # noqa: F403
    from zarr.metadata.group import *  # noqa: F403
    from zarr.metadata.names import *  # noqa: F403
    from zarr.metadata.v2 import *  # noqa: F403
    from zarr.metadata.v3 import *  # noqa: F403

__getattr__, __dir__, __all__ = lazy_door(
    __name__,
    {
        "zarr.metadata.consolidated": "split_zmetadata zmetadata_document",
        "zarr.metadata.convert": "ArrayMetadata convert_array_metadata numcodec_configuration",
        "zarr.metadata.group": "ConsolidatedMetadata GroupMetadata NodeMetadata",
        "zarr.metadata.names": "check_node_name",
        "zarr.metadata.v2": "ArrayV2Metadata",
        "zarr.metadata.v3": "ArrayV3Metadata",
    },
)
