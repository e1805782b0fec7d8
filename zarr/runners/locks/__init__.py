"""Locks on store keys: among threads, among processes, on one node or on a whole subtree.

May import: floors 1 to 3.0, ``zarr.runners``.
Read first: ``operation.py`` (the locks of one operation), then ``table.py`` and ``processes.py``.
"""
