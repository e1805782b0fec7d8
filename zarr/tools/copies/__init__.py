"""Copies of arrays and hierarchies: as they are stored, into another layout, into coarser levels.

May import: everything below ``zarr.tools``, ``zarr.tools.plans``.
Read first: ``jobs.py`` (the plan of a copy), then ``layouts.py`` (in which regions it goes) and ``rechunking.py``.
"""
