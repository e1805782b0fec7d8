"""Views of an array for people: ``info``, and the HTML of a notebook.

May import: floors 1 to 3, ``zarr.arrays``.
Read first: ``info.py``.
"""
