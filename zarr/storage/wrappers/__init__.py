"""Stores around another store: they log, hold changes back, or transform values.

May import: errors, types, buffer, abc, ``zarr.storage``.
Read first: ``wrapper.py``, the base of all of them.
"""
