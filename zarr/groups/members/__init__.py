"""The nodes below a group: found, moved, and their documents consolidated.

May import: floors 1 to 4, ``zarr.groups``.
Read first: ``walk.py``.
"""
