"""The import path that other libraries use for ``zarr.storage.wrappers.wrapper``."""

from __future__ import annotations

from zarr.storage.wrappers.wrapper import WrapperStore

__all__ = ["WrapperStore"]
