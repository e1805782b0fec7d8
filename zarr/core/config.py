"""The configuration; re-exports."""

from __future__ import annotations

from zarr.settings import BadConfigError, Config, config, deprecations
from zarr.types import parse_order

parse_indexing_order = parse_order

__all__ = ["BadConfigError", "Config", "config", "deprecations", "parse_indexing_order"]
