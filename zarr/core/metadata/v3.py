"""Metadata documents of format 3; re-exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.chunks import *
from zarr.chunks.rectilinear import RectilinearChunkGridMetadataJSON as RectilinearChunkGridMetadataJSON
from zarr.compat.version3.json_values import ArrayMetadataJSON_V3 as ArrayMetadataJSON_V3
from zarr.compat.version3.sibling_names import borrowed_names
from zarr.metadata.fields import *
from zarr.metadata.repair import repair_array_document as repair_array_document
from zarr.metadata.v3 import *
from zarr.types import parse_shapelike as parse_shapelike

if not TYPE_CHECKING:
    from zarr.dtype import parse_data_type

    __getattr__ = borrowed_names(__name__)
