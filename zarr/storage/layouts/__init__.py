"""Hierarchies in other layouts (N5, the drafts of format 3), shown as hierarchies of format 3.

May import: errors, types, buffer, abc, dtype, ``zarr.storage``.
Read first: ``base.py`` (translate keys, rewrite documents), then ``n5.py``.
"""
