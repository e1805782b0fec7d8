"""Chunked, compressed, N-dimensional arrays."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("zarr")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "3.4.2+core.0.1.0"
