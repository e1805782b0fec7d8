"""Implementations behind ``zarr.core``: functions of zarr-python 3 that this library does not use itself.

May import: everything; only ``zarr.core`` and ``zarr.compat.version2`` import it.
Read first: ``indexing.py`` (tifffile, cubed, xarray), then ``nodes.py`` (pydantic-zarr).
"""
