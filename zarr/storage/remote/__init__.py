"""Stores behind a network, over fsspec and over obstore.

May import: errors, types, buffer, abc, ``zarr.storage`` (keys, ranges, url).
Read first: ``fsspec.py``.
"""
