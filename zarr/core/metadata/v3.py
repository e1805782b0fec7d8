"""Metadata documents of format 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from zarr.chunks import *
from zarr.chunks.rectilinear import RectilinearChunkGridMetadataJSON as RectilinearChunkGridMetadataJSON
from zarr.core import borrowed_names
from zarr.metadata.fields import *
from zarr.metadata.repair import repair_array_document as repair_array_document
from zarr.metadata.v3 import *
from zarr.types import JSON, NamedConfig
from zarr.types import parse_shapelike as parse_shapelike

if not TYPE_CHECKING:
    from zarr.dtype import parse_data_type

    __getattr__ = borrowed_names(__name__)


class ArrayMetadataJSON_V3(TypedDict):
    """The members of an array's metadata document of format 3."""

    zarr_format: Literal[3]
    node_type: Literal["array"]
    shape: tuple[int, ...]
    data_type: str | NamedConfig[str, Mapping[str, object]]
    chunk_grid: NamedConfig[str, Mapping[str, object]]
    chunk_key_encoding: NamedConfig[str, Mapping[str, object]]
    fill_value: JSON
    codecs: tuple[str | NamedConfig[str, Mapping[str, object]], ...]
    attributes: NotRequired[Mapping[str, JSON]]
    storage_transformers: NotRequired[tuple[Mapping[str, JSON], ...]]
    dimension_names: NotRequired[tuple[str | None, ...]]
