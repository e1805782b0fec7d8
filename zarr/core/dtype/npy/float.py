"""Floating-point numbers; re-exports."""

from __future__ import annotations

from zarr.dtype.types.numbers import BaseFloat, Float16, Float32, Float64

__all__ = ["BaseFloat", "Float16", "Float32", "Float64"]
