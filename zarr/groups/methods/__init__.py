"""The methods of ``Group`` and ``AsyncGroup``, by subject: mixins of the two classes.

May import: floors 1 to 4, ``zarr.groups``.
Read first: ``members.py``.
"""
