"""The methods of ``Array`` and ``AsyncArray``, by subject: mixins of the two classes.

May import: floors 1 to 3, ``zarr.arrays``.
Read first: ``properties.py``, then ``selections.py``.
"""
