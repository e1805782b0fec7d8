"""Convert files of other formats to Zarr and back, or refer to their bytes in place.

May import: ``tools/plans``, ``tools/copies`` and everything below. The libraries of the formats are extras.
Read first: ``contents.py`` (results of readers, arguments of writers), ``formats.py`` (the table), ``converting.py``.
"""
