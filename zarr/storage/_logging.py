"""The import path that other libraries use for ``zarr.storage.logging_store``."""

from __future__ import annotations

from zarr.storage.logging_store import LoggingStore

__all__ = ["LoggingStore"]
