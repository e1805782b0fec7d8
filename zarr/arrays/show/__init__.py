"""The display of an array: ``info``, the HTML for a notebook, pictures of values and chunks.

May import: floors 1 to 3, ``zarr.arrays``.
Read first: ``info.py``; ``pictures.py`` draws by matplotlib, ``cf.py`` reads CF conventions.
"""
