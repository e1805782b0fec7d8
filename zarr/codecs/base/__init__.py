"""The base of all codecs: how they are bound to an array, validated and run as a chain.

May import: ``zarr_core``, the first floor, ``zarr.dtype``, ``zarr.chunks``.
Read first: ``bound.py``, then ``chain.py``.
"""
