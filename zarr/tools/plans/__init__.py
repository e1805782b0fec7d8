"""Plans of independent tasks: what they are, who runs them, how far they are.

May import: everything below ``zarr.tools``.
Read first: ``plan.py``, then ``executors.py``.
"""
