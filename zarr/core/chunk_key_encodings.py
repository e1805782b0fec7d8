"""Chunk key encodings; re-exports."""

from __future__ import annotations

from zarr.chunks.keys import *
