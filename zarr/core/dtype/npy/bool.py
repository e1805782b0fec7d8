"""Booleans; re-exports."""

from __future__ import annotations

from zarr.dtype.types.numbers import Bool as Bool
