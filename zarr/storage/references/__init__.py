"""A store whose values are byte ranges of other files, in the format of kerchunk.

May import: errors, types, buffer, abc, ``zarr.storage``.
Read first: ``store.py`` (tables of JSON), then ``parquet.py``.
"""
