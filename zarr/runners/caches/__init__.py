"""Decoded chunks and shard indexes that are kept in this process within a number of bytes.

May import: floors 1 to 3.0.
Read first: ``chunks.py``.
"""
