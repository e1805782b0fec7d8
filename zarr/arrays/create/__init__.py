"""New arrays: parameters checked and completed, codecs chosen, the document written.

May import: floors 1 to 3, ``zarr.arrays``.
Read first: ``steps.py`` (format, data type, fill value, order of steps), then ``codecs.py``; ``parameters.py`` has
signatures only.
"""
