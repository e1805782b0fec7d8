"""The import path that other libraries use for keys and URLs."""

from __future__ import annotations

from zarr.storage.keys import normalize_path
from zarr.storage.url import ParsedStoreUrl, parse_store_url

__all__ = ["ParsedStoreUrl", "normalize_path", "parse_store_url"]
