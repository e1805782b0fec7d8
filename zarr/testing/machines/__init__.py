"""State machines of hypothesis; ``zarr.testing.stateful`` offers them.

May import: all of ``zarr``, and hypothesis.
Read first: ``store.py``.
"""
