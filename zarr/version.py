"""The version, at the import path of zarr-python 2; re-exports."""

from __future__ import annotations

from zarr._version import version as version
