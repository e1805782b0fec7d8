"""Stores and codecs of N5, at the import path of zarr-python 2; re-exports."""

from __future__ import annotations

from zarr.storage.version2.n5 import *  # noqa: F403
from zarr.storage.version2.n5 import compression_from_n5, compression_to_n5

compressor_config_to_n5 = compression_to_n5
compressor_config_to_zarr = compression_from_n5
