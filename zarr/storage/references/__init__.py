"""A store whose values are byte ranges of other files, as kerchunk writes them.

May import: errors, types, buffer, abc, ``zarr.storage``.
Read first: ``store.py`` (tables of JSON), then ``parquet.py``.
"""
