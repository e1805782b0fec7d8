"""Merged byte ranges; re-exports."""

from __future__ import annotations

from zarr.compat.version3.requests import *
