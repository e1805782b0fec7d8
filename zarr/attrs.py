"""Attributes, where zarr-python 2 has them; re-exports only."""

from __future__ import annotations

from zarr.arrays.attributes import Attributes

__all__ = ["Attributes"]
