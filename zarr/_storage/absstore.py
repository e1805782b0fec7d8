"""The store of Azure blobs; re-exports."""

from __future__ import annotations

from zarr.storage.version2.stores import ABSStore as ABSStore
