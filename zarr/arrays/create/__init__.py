"""New arrays: parameters checked and completed, codecs chosen, the document written.

May import: floors 1 to 3, ``zarr.arrays``.
Read first: ``steps.py``, then ``codecs.py``.
"""
