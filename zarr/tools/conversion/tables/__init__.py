"""Tables: the columns of parquet and csv files, by pyarrow, as one-dimensional arrays in a group.

May import: ``conversion/contents`` and everything below ``zarr.tools``; pyarrow only inside functions: it is an extra.
Read first: ``columns.py``, then ``arrow_types.py`` (the equivalents of data types) and ``writing.py``.
"""
