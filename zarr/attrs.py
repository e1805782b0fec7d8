"""Attributes, at the import path of zarr-python 2; re-exports."""

from __future__ import annotations

from zarr.arrays.attributes import Attributes as Attributes
