"""The store of a folder on a local file system; its changes are atomic and durable.

May import: errors, types, buffer, abc, ``zarr.storage`` (keys, ranges, checks).
Read first: ``store.py``, then ``files.py`` (one file replaced in one step), ``changes.py`` (many).
"""
