"""Bounds on what a stored chunk may decode to, against decompression bombs.

May import: ``zarr_core``, the first floor, ``zarr.dtype``, ``zarr.codecs.base``.
Read first: ``size_hints.py``.
"""
