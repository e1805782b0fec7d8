"""Codecs beyond the core of the specification: one file each.

May import: ``zarr_core``, the first floor, ``zarr.dtype``, ``zarr.chunks``, ``zarr.codecs.base``.
Read first: ``reshape.py``, a short one.
"""
