"""Measure how fast arrays are read and written, and find chunks and codecs for the reads of a user.

May import: everything below ``zarr.tools``, ``zarr.tools.plans``, ``zarr.tools.contents``, ``zarr.tools.copies``.
Read first: ``reads.py`` (reads in words), ``candidates.py`` (layouts to try), ``costs.py`` (measurements, and their
meaning for the whole array), ``trials.py`` (what is tried, in which order), then ``tuning.py``.
"""
