"""Copies of arrays and hierarchies: unchanged, in another layout, or with coarser levels.

May import: everything below ``zarr.tools``, ``zarr.tools.plans``.
Read first: ``jobs.py`` (the plan of a copy), then ``layouts.py`` (the regions of a copy) and ``rechunking.py``.
"""
