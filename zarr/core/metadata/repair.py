"""Repairs of malformed metadata documents; re-exports."""

from __future__ import annotations

from zarr.metadata.repair import RECREATE_HINT, RESAVE_HINT, repair_array_document

__all__ = ["RECREATE_HINT", "RESAVE_HINT", "repair_array_document"]
