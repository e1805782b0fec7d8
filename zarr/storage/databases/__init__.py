"""Stores in one file of a database: SQLite, LMDB and the dbm family.

May import: errors, types, buffer, abc, ``zarr.storage`` (keys, ranges, checks).
Read first: ``sqlite.py``; the other stores have the same shape.
"""
