"""Documents as bytes."""

from __future__ import annotations

from zarr.metadata.documents import dump_document, load_document

__all__ = [
    "dump_document",
    "load_document",
]
