"""Data types that numpy has too, one module for each family; re-exports."""

from __future__ import annotations

from zarr._lazy import lazy_names

# All modules below can be read as attributes, imported or not.
__getattr__, __dir__ = lazy_names(__name__, {})
