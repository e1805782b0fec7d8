"""Changes of an open array besides its elements: resize, append, attributes, repair of its document.

May import: floors 1 to 3, ``zarr.arrays``.
Read first: ``operations.py``.
"""
