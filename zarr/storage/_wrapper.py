"""The import path that other libraries use for ``zarr.storage.wrapper``."""

from __future__ import annotations

from zarr.storage.wrapper import WrapperStore

__all__ = ["WrapperStore"]
