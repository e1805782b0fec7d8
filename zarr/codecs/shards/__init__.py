"""Shards as a level of the chain: inner chunks behind an index in one stored object.

May import: ``zarr_core``, the first floor, ``zarr.dtype``, ``zarr.chunks``, ``zarr.codecs.base``.
Read first: ``level.py``.
"""
