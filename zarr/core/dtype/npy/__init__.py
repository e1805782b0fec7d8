"""Data types that numpy has too, one module for each family; re-exports."""

from __future__ import annotations

from types import ModuleType

from zarr._lazy import submodule


def __getattr__(name: str) -> ModuleType:
    # All modules below can be asked for as attributes, imported or not.
    return submodule(__name__, name)
