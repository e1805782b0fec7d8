"""The version, where zarr-python 2 has it; re-exports only."""

from __future__ import annotations

from zarr._version import version

__all__ = ["version"]
