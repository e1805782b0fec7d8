"""The import path that other libraries use for ``zarr.storage.wrappers.logging``."""

from __future__ import annotations

from zarr.storage.wrappers.logging import LoggingStore

__all__ = ["LoggingStore"]
