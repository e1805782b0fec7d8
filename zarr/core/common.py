"""Type aliases and parsers; re-exports."""

from __future__ import annotations

from zarr.chunks.rectilinear import compress_runs
from zarr.chunks.shapes import parse_chunk_edge as parse_chunk_edge
from zarr.compat.version3.nodes import expand_rle as expand_rle
from zarr.compat.version3.requests import *
from zarr.typed_dicts import NamedConfig as NamedConfig
from zarr.typed_dicts import NamedRequiredConfig as NamedRequiredConfig
from zarr.types import *

compress_rle = compress_runs
