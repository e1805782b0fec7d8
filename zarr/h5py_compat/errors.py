"""Errors and warnings of this room that are not builtins."""

from __future__ import annotations

__all__ = ["H5pyDeprecationWarning", "UnsupportedFeature"]


class UnsupportedFeature(TypeError):
    """A feature of HDF5 that a zarr hierarchy has no place for (hard links, references, drivers …).

    The message names the feature and what to use instead.
    """


class H5pyDeprecationWarning(UserWarning):
    """A use that h5py itself warns about, such as a dataset created with neither ``dtype`` nor ``data``."""
