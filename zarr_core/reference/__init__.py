"""The core again, in plain NumPy: the oracle of the tests, and the page that explains each kernel.

May import: numpy and the standard library.
Read first: ``grid.py``, then ``plan.py``.
"""
