"""The search for faults in stored hierarchies; ``zarr.tools.verify`` is its door.

May import: everything below ``zarr.tools``, ``zarr.tools.contents``.
Read first: ``run.py``, the order of the search; then ``survey.py``, what is known of a hierarchy while it goes on. Each
other file finds one family of faults: ``documents.py``, ``copies.py`` (consolidated metadata), ``chunks.py``,
``shards.py``, ``payloads.py`` (of both), ``left_overs.py``. ``report.py`` lists all kinds of faults.
"""
