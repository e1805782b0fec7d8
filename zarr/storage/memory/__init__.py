"""Stores in the memory of this process: a dictionary, a dictionary found by name, values on a GPU.

May import: errors, types, buffer, abc, ``zarr.storage`` (keys, ranges, checks).
Read first: ``store.py``, the shortest complete store.
"""
