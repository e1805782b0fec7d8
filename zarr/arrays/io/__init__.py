"""Read and write elements: a selection becomes a plan, the plan becomes requests, chunks are decoded and placed.

May import: floors 1 to 3, ``zarr.arrays.handle`` and ``layout``.
Read first: ``reading.py``, ``selection.py``, then ``chunks.py``, which has all rules about one chunk, for reads and
writes; ``writing.py`` mirrors ``reading.py``, and ``bulk_write.py`` has what is special about chunks at the edge.
"""
