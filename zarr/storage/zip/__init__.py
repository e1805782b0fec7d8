"""The store of a zip file.

May import: errors, types, buffer, abc, ``zarr.storage`` (keys, ranges, checks).
Read first: ``store.py``, then ``archive.py`` (one open file) and ``container.py`` (the format, and the file itself).
"""
