"""Documents of format 2."""

from __future__ import annotations

from zarr.metadata.v2 import ArrayV2Metadata

__all__ = [
    "ArrayV2Metadata",
]
