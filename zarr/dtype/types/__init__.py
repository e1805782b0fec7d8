"""The data types, one family a file.

May import: errors, types, ``zarr.dtype`` (base, scalars, spec).
Read first: ``numbers.py``.
"""
