"""New members of a group, and whole hierarchies at once.

May import: floors 1 to 4, ``zarr.groups``.
Read first: ``arrays.py``.
"""
