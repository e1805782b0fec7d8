"""Plans of independent tasks: their definition, their execution, their progress.

May import: everything below ``zarr.tools``.
Read first: ``plan.py``, then ``executors.py``.
"""
