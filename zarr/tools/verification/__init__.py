"""The search for faults in stored hierarchies; ``zarr.tools.verify`` starts it.

May import: everything below ``zarr.tools``, ``zarr.tools.contents``.
Read first: ``run.py``, the order of the search; then ``survey.py``, the knowledge about a hierarchy during the search.
Each other file finds one family of faults: ``documents.py``, ``copies.py`` (consolidated metadata), ``chunks.py`` (and
shards), ``left_overs.py``. ``report.py`` lists all kinds of faults.
"""
