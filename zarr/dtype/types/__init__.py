"""The data types, one file for each family.

May import: errors, types, ``zarr.dtype`` (base, scalars, spec).
Read first: ``numbers.py``.
"""
