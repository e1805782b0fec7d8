"""The contents of hierarchies, independent of their layout: checksums, differences, statistics.

May import: everything below ``zarr.tools``.
Read first: ``nodes.py`` and ``blocks.py``, then ``checksums.py``.
"""
