"""Hypothesis strategies by subject; ``zarr.testing.strategies`` offers them all.

May import: all of ``zarr``, and hypothesis.
Read first: ``names.py``.
"""
