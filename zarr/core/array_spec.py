"""Descriptions of chunks for codecs, and runtime configuration; re-exports."""

from __future__ import annotations

from zarr.chunks.spec import *
