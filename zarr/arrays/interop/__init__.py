"""Selections of an array as arrays of other libraries: Arrow and Awkward Array.

May import: floors 1 to 3, ``zarr.arrays``, and those libraries inside functions.
Read first: ``arrow.py``.
"""
