"""What all codecs share: how they are bound to an array, checked and run as a chain.

May import: ``zarr_core``, the first floor, ``zarr.dtype``, ``zarr.chunks``.
Read first: ``bound.py``, then ``chain.py``.
"""
