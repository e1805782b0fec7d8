"""The command line: ``zarr info``, ``tree``, ``ls``, ``migrate``, ``remove-metadata``.

May import: everything.
Read first: ``cli.py``.
"""
